"""The tools of the stand-in, under Hermes' names."""

import json
import os
import signal
import subprocess
import threading
from pathlib import Path

from tools.approval import prompt_dangerous_approval
from tools.terminal_tool import _get_approval_callback, task_cwd


def definition(name, **properties):
    parameters = {"type": "object", "properties": {key: {"type": "string"} for key in properties}}
    return {
        "type": "function",
        "function": {"name": name, "description": f"{name} of the stand-in.", "parameters": parameters},
    }


DEFINITIONS = [
    definition("terminal", command=1),
    definition("write_file", path=1, content=1),
    definition("patch", path=1, old_string=1, new_string=1, mode=1, patch=1),
    definition("read_file", path=1),
    definition("todo", todos=1),
    definition("print", text=1),
]


class Interrupts:
    """Interrupt bits by thread, as Hermes keeps them: who sets one for a thread ends the tool that runs there."""

    def __init__(self):
        self._lock, self._set, self._processes = threading.Lock(), set(), {}

    def set(self, on, thread):
        with self._lock:
            (self._set.add if on else self._set.discard)(thread)
            process = self._processes.get(thread) if on else None
        if process is not None:
            end(process)

    def run(self, process):
        thread = threading.get_ident()
        with self._lock:
            self._processes[thread] = process
            already = thread in self._set
        if already:
            end(process)
        output, _ = process.communicate()
        with self._lock:
            self._processes.pop(thread, None)
            return output, thread in self._set


INTERRUPTS = Interrupts()


def end(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def terminal(task_id, command=""):
    dangerous = "rm -rf" in command
    if dangerous:
        choice = prompt_dangerous_approval(
            command, "recursive delete", approval_callback=_get_approval_callback(), session=task_id
        )
        if choice == "deny":
            return json.dumps({"output": "", "exit_code": -1, "error": "BLOCKED: User denied this command."})
    process = subprocess.Popen(
        ["/bin/sh", "-c", command],
        cwd=task_cwd(task_id),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    output, interrupted = INTERRUPTS.run(process)
    text = output.decode("utf-8", "replace").strip()
    if interrupted:
        return json.dumps({"output": f"{text}\n[Command interrupted]", "exit_code": 130, "error": None})
    return json.dumps({"output": text, "exit_code": process.returncode, "error": None})


def inside(task_id, path):
    return Path(task_cwd(task_id), os.path.expanduser(path))


def write_file(task_id, path="", content=""):
    inside(task_id, path).write_text(content, encoding="utf-8")
    return json.dumps({"bytes_written": len(content), "resolved_path": str(inside(task_id, path))})


def patch(task_id, path="", old_string="", new_string="", **_more):
    file = inside(task_id, path)
    file.write_text(file.read_text(encoding="utf-8").replace(old_string, new_string, 1), encoding="utf-8")
    return json.dumps({"success": True})


def read_file(task_id, path=""):
    try:
        return json.dumps({"content": inside(task_id, path).read_text(encoding="utf-8")})
    except OSError as error:
        return json.dumps({"error": str(error)})


def todo(_task_id, todos=None):
    return json.dumps({"todos": json.loads(todos) if isinstance(todos, str) else todos or []})


def printed(_task_id, text=""):
    """What a careless tool does: it prints, in Python and below it, and it asks for input."""
    print(text, flush=True)
    os.write(1, text.encode())
    try:
        return json.dumps({"answer": input()})
    except EOFError:
        return json.dumps({"answer": None})


TOOLS = {
    "terminal": terminal,
    "write_file": write_file,
    "patch": patch,
    "read_file": read_file,
    "todo": todo,
    "print": printed,
}


def call(task_id, name, arguments):
    from acp_adapter.edit_approval import maybe_require_edit_approval

    blocked = maybe_require_edit_approval(name, arguments)
    if blocked is not None:
        return blocked
    tool = TOOLS.get(name)
    if tool is None:
        return f"Error executing tool '{name}': unknown tool"
    try:
        return tool(task_id, **arguments)
    except Exception as error:
        return f"Error executing tool '{name}': {error}"
