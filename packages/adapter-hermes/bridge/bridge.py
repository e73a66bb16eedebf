"""The Python side of the Hermes adapter: runs Hermes' AIAgent for a Node process.

Started with the interpreter of the user's Hermes, standard library only. The wire is docs/bridge-protocol.md: lines of
JSON, descriptor 3 in, descriptor 4 out. In order: the wire, secrets, a turn and what belongs to it, Hermes' library,
history, slash commands, the sessions, the bridge.

Three rules hold everywhere. A turn is fenced: after its reply nothing of it reaches the wire. A turn ends in one place,
`Turn.finish`, whichever thread comes first. Whatever is unexpected about a permission is a denial.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json
import logging
import os
import queue
import re
import signal
import sys
import threading
from collections import defaultdict, deque
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Callable, Iterator

PROTOCOL = 1
PAGE = 50
READ_FROM, WRITE_TO = 3, 4
BATCH_BYTES = 65_536
MAXIMUM_RESULT = 262_144
MAXIMUM_EDIT = 1_048_576
HISTORY_BATCH = 100
MODEL_LIST_SECONDS = 3.0
MCP_SECONDS = 10.0
CLOSE_SECONDS = 5.0
LAST_SECONDS = 0.4
SHORTEST_SECRET = 6  # shorter ones, a local server's "x", would take words out of every text
SWITCH_INTERVAL = 0.0005  # the default of 5 ms is what a steer would wait for beside one busy thread

ONCE, SESSION, ALWAYS, DENY = "once", "session", "always", "deny"

# What another Hermes process left in the environment and what would turn the question into a silent yes.
LEAKED = (
    "HERMES_EXEC_ASK",
    "HERMES_GATEWAY_SESSION",
    "HERMES_SESSION_PLATFORM",
    "HERMES_SESSION_KEY",
    "HERMES_SESSION_ID",
    "HERMES_CRON_SESSION",
    "HERMES_SINGLE_QUERY_SESSION",
    "HERMES_YOLO_MODE",
)

MODES = (
    {"id": "default", "name": "Default", "description": "Ask before every edit."},
    {
        "id": "accept_edits",
        "name": "Accept edits",
        "description": "Edit files of the workspace without asking; ask for sensitive ones.",
    },
    {"id": "dont_ask", "name": "Don't ask", "description": "Edit files without asking; ask for sensitive ones."},
)
EDIT_POLICY = {"default": "ask", "accept_edits": "workspace_session", "dont_ask": "session"}

log = logging.getLogger("steering_bridge")


class Refusal(Exception):
    """A request that is answered with an error: `code` is one of those in the protocol's page."""

    def __init__(self, code: str, message: str, data: dict | None = None):
        super().__init__(message)
        self.code, self.data = code, data


# ---- the wire ---------------------------------------------------------------------------------------------------


def encode(message: dict) -> bytes:
    try:
        text = json.dumps(message, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError):
        # A tool's arguments may hold what JSON does not know.
        plain = json.loads(json.dumps(message, default=str, skipkeys=True), parse_constant=str)
        text = json.dumps(plain, separators=(",", ":"))
    return text.encode("ascii") + b"\n"


class Outbox:
    """Everything that is written, in the order it was put, by one thread."""

    def __init__(self, descriptor: int):
        self._descriptor = descriptor
        self._lines: queue.SimpleQueue = queue.SimpleQueue()
        threading.Thread(target=self._run, name="bridge-writer", daemon=True).start()

    def put(self, message: dict) -> None:
        self._lines.put(encode(message))

    def flush(self, seconds: float) -> None:
        written = threading.Event()
        self._lines.put(written)
        written.wait(seconds)

    def _run(self) -> None:
        while True:
            batch, size, marks = [], 0, []
            item = self._lines.get()
            while True:
                if isinstance(item, bytes):
                    batch.append(item)
                    size += len(item)
                else:
                    marks.append(item)
                if size >= BATCH_BYTES or self._lines.empty():
                    break
                item = self._lines.get()
            self._write(b"".join(batch))
            for mark in marks:
                mark.set()

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._descriptor, view) :]
            except BlockingIOError:
                # Both ends of a socket pair may share the other side's non-blocking flag.
                os.set_blocking(self._descriptor, True)
            except OSError:
                os._exit(0)  # Node is gone


def read_lines(descriptor: int) -> Iterator[dict]:
    os.set_blocking(descriptor, True)
    with open(descriptor, "rb", buffering=BATCH_BYTES, closefd=False) as stream:
        for line in stream:
            try:
                message = json.loads(line)
            except ValueError:
                log.error("a line that is not JSON was ignored")
                continue
            if isinstance(message, dict):
                yield message


# ---- secrets ----------------------------------------------------------------------------------------------------

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)


_secrets: set[str] = set()


def remember_secret(value: Any) -> None:
    if isinstance(value, str) and len(value) >= SHORTEST_SECRET:
        _secrets.add(value)


def redact(value: Any) -> str:
    """Text without the secrets that this process knows, for what people and logs get to see."""
    text = str(value)
    for name, secret in list(os.environ.items()):
        if _SECRET_NAME.search(name):
            remember_secret(secret)
    for secret in sorted(list(_secrets), key=len, reverse=True):
        text = text.replace(secret, "[redacted]")
    try:
        from agent.redact import redact_sensitive_text

        return str(redact_sensitive_text(text))
    except Exception:
        return text


class RedactedFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


# ---- what belongs to a turn -------------------------------------------------------------------------------------


class Steers:
    """What became of each steer of a turn.

    Hermes keeps one slot of joined text and says nothing when it is read. The slot is therefore watched where Hermes
    drains it: drained and not put back means that it stands in the messages of the next request.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[dict] = []

    def add(self, identifier: str, text: str, state: str) -> None:
        with self._lock:
            self._entries.append({"id": identifier, "text": text.strip(), "state": state})

    def drained(self, text: Any) -> None:
        with self._lock:
            for entry in self._entries:
                if entry["state"] == "waiting" and holds(text, entry["text"]):
                    entry["state"] = "drained"

    def newly_delivered(self, slot: Any, *, redirected: bool = False) -> list[str]:
        """Those that went before the model since the last look. `slot` is what Hermes holds back at this moment."""
        if not self._entries:
            return []
        with self._lock:
            found = []
            for entry in self._entries:
                if entry["state"] == "drained" and holds(slot, entry["text"]):
                    entry["state"] = "waiting"
                elif entry["state"] == "drained" or (redirected and entry["state"] == "redirected"):
                    entry["state"] = "delivered"
                    found.append(entry["id"])
            return found

    def settle(self, leftover: str, *, watched: bool, cancelled: bool) -> tuple[list[str], list[str]]:
        """The last word: (delivered, undelivered). What neither reached the model nor is left over was wiped, and is handed back."""
        with self._lock:
            for entry in self._entries:
                state = entry["state"]
                if state == "delivered":
                    continue
                if holds(leftover, entry["text"]):
                    entry["state"] = "undelivered"
                elif state == "redirected":
                    entry["state"] = "undelivered" if cancelled else "delivered"
                elif state == "waiting" and watched:
                    entry["state"] = "undelivered"
                else:
                    entry["state"] = "delivered"
            return self._ids("delivered"), self._ids("undelivered")

    def delivered_texts(self) -> list[str]:
        with self._lock:
            return [entry["text"] for entry in self._entries if entry["state"] == "delivered"]

    def _ids(self, state: str) -> list[str]:
        return [entry["id"] for entry in self._entries if entry["state"] == state]


def holds(joined: Any, text: str) -> bool:
    return isinstance(joined, str) and f"\n{text}\n" in f"\n{joined}\n"


class ToolCalls:
    """Which calls are open, under ids that are unique within the turn.

    Hermes gives the model's own ids. Some models repeat theirs, some give none: then calls of one name end in the order
    in which they began.
    """

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._used: set[str] = set()
        self._shown: dict[str, str] = {}
        self._unnamed: dict[str, deque] = defaultdict(deque)
        self.open: dict[str, dict] = {}

    def start(self, identifier: Any, name: str, args: dict) -> str:
        shown = str(identifier or f"call-{next(self._numbers)}")
        while shown in self._used:
            shown = f"{identifier or 'call'}#{next(self._numbers)}"
        self._used.add(shown)
        if identifier:
            self._shown[str(identifier)] = shown
        else:
            self._unnamed[name].append(shown)
        self.open[shown] = {"name": name, "args": args}
        return shown

    def end(self, identifier: Any, name: str) -> str | None:
        if identifier:
            shown = self._shown.pop(str(identifier), None)
        else:
            waiting = self._unnamed[name]
            shown = waiting.popleft() if waiting else None
        return shown if shown is not None and self.open.pop(shown, None) is not None else None

    def like(self, names: tuple[str, ...], argument: str, value: Any) -> str | None:
        """The open call that asks for `value`; the only one of these names when it says nothing that can be compared."""
        candidates = [(call, entry) for call, entry in self.open.items() if entry["name"] in names]
        exact = [call for call, entry in candidates if entry["args"].get(argument) == value]
        if exact:
            return exact[-1]
        return candidates[0][0] if len(candidates) == 1 else None


class Ask:
    """One question to the user. The first answer counts; none is a denial."""

    def __init__(self, choices: tuple[str, ...]):
        self.choices = choices
        self._answered = threading.Event()
        self._choice = DENY

    def answer(self, choice: Any) -> None:
        if not self._answered.is_set():
            self._choice = choice if choice in self.choices else DENY
            self._answered.set()

    def wait(self, seconds: float) -> tuple[str, bool]:
        answered = self._answered.wait(seconds)
        return self._choice if answered else DENY, answered


CURRENT_TURN: ContextVar["Turn | None"] = ContextVar("steering_turn", default=None)


class Turn:
    """One `prompt` (or `command`), from its request to its reply."""

    def __init__(self, bridge: "Bridge", session: "Session", request: dict):
        self.bridge, self.session = bridge, session
        self.request_id, self.turn_id = request.get("id"), request.get("turn")
        self.content, self.text = request.get("content"), str(request.get("text") or "")
        self.steers, self.calls = Steers(), ToolCalls()
        # `gate`: steers and the interrupt against the end. `fence`: what is written against the reply. In this order.
        self.gate, self.fence = threading.RLock(), threading.RLock()
        self.running = False
        self.closed = False
        self.interrupted = False
        self.edits_unanswered = False
        self._asks: dict[str, Ask] = {}
        self._has_spoken = False
        self._said_since_tool: list[str] = []
        self._failed_tools: dict[str, deque] = defaultdict(deque)
        self.ended = threading.Event()

    # -- towards Node

    def emit(self, kind: str, /, **fields: Any) -> bool:
        with self.fence:
            if self.closed:
                return False
            self.bridge.event(kind, self.session.id, self.turn_id, **fields)
            return True

    def reply(self, result: dict | None = None, error: dict | None = None) -> bool:
        """Ends the turn on the wire. False when it has ended before."""
        with self.fence:
            if self.closed:
                return False
            self._close_open_calls()
            self.closed = True
            self.deny_open_asks(tell=False)
            # Before the reply: who reads it may prompt again at once.
            self.session.release(self)
            self.bridge.reply(self.request_id, result, error)
            return True

    def _close_open_calls(self) -> None:
        for call, entry in list(self.calls.open.items()):
            self.calls.open.pop(call, None)
            fields = {
                "call": call,
                "name": entry["name"],
                "result": "",
                "length": 0,
                "failed": False,
                "unfinished": True,
            }
            self.bridge.event("tool_end", self.session.id, self.turn_id, **fields)

    # -- callbacks of Hermes, from whatever thread

    def on_text(self, text: Any) -> None:
        if not isinstance(text, str) or not text:
            return
        self.look_for_delivery()
        with self.fence:
            if self.emit("text", text=text):
                self._has_spoken = self._has_spoken or not text.isspace()
                self._said_since_tool.append(text)

    def on_reasoning(self, text: Any) -> None:
        if isinstance(text, str) and text:
            self.look_for_delivery()
            self.emit("reasoning", text=text)

    def on_tool_start(self, identifier: Any, name: Any, args: Any) -> None:
        self.look_for_delivery(redirected=True)
        name, args = str(name), plain_arguments(args)
        paths, edits = self.session.file_facts(name, args)
        with self.fence:
            if self.closed:
                return
            self._said_since_tool.clear()
            call = self.calls.start(identifier, name, args)
            self.emit("tool_start", call=call, name=name, args=args, paths=paths, **({"edits": edits} if edits else {}))

    def on_tool_end(self, identifier: Any, name: Any, _args: Any, result: Any) -> None:
        name, text = str(name), result_text(result)
        with self.fence:
            call = None if self.closed else self.calls.end(identifier, name)
            if call is None:
                return
            told = self._failed_tools[name]
            failed = told.popleft() if told else looks_failed(text)
            self.emit("tool_end", call=call, name=name, result=text[:MAXIMUM_RESULT], length=len(text), failed=failed)

    def on_tool_progress(
        self, kind: Any, name: Any = None, _preview: Any = None, args: Any = None, **more: Any
    ) -> None:
        """The older channel. It alone knows whether a tool failed; an install without the newer one is served from it."""
        if kind == "tool.completed" and isinstance(more.get("is_error"), bool):
            with self.fence:
                self._failed_tools[str(name)].append(more["is_error"])
        if self.session.has_tool_callbacks:
            return
        if kind == "tool.started":
            self.on_tool_start(None, name, args)
        elif kind == "tool.completed":
            self.on_tool_end(None, name, None, more.get("result"))

    def on_step(self, *_arguments: Any) -> None:
        self.look_for_delivery(redirected=True)

    def on_status(self, _kind: Any = None, message: Any = None) -> None:
        if message:
            self.emit("status", text=redact(message))

    def look_for_delivery(self, *, redirected: bool = False) -> None:
        slot = getattr(self.session.agent, "_pending_steer", None)
        found = self.steers.newly_delivered(slot, redirected=redirected)
        if found:
            self.emit("delivered", steers=found)

    # -- questions

    def ask(self, kind: str, choices: tuple[str, ...], /, **fields: Any) -> str:
        identifier = self.bridge.next_ask()
        with self.fence:
            if self.closed or self.interrupted:
                return DENY
            question = self._asks[identifier] = Ask(choices)
            self.emit("ask", ask=identifier, kind=kind, choices=list(choices), **fields)
        choice, answered = question.wait(self.bridge.hermes.approval_seconds())
        with self.fence:
            if self._asks.pop(identifier, None) is not None and not answered:
                self.emit("ask_closed", ask=identifier)
        if kind == "edit" and not answered:
            self.edits_unanswered = True
        return choice

    def answer(self, identifier: Any, choice: Any) -> None:
        with self.fence:
            question = self._asks.pop(identifier, None)
        if question is not None:
            question.answer(choice)

    def deny_open_asks(self, *, tell: bool = True) -> None:
        with self.fence:
            asks, self._asks = self._asks, {}
            for identifier, question in asks.items():
                if tell:
                    self.emit("ask_closed", ask=identifier)
                question.answer(DENY)

    def approve_command(self, command: Any, description: Any = "", **more: Any) -> str:
        """Hermes' approval callback. Newer versions add keywords; none of them may turn the answer into a yes."""
        narrow = bool(more.get("smart_denied")) or more.get("allow_session") is False
        choices = (ONCE, DENY) if narrow else (ONCE, SESSION, ALWAYS, DENY)
        if more.get("allow_permanent") is False:
            choices = tuple(choice for choice in choices if choice != ALWAYS)
        call = self.calls.like(("terminal", "process", "execute_code"), "command", command)
        fields = {"command": str(command), "description": str(description or "")}
        return self.ask("command", choices, **fields, **({"call": call} if call else {}))

    def approve_edit(self, proposal: Any) -> bool:
        """Hermes' edit approval requester. A mode may answer in the user's place, never for a sensitive file."""
        paths = proposed_paths(proposal)
        if self.session.may_edit_unasked(proposal, paths):
            return True
        if self.edits_unanswered:
            return False  # one question without an answer is enough: the same edit would only ask again
        edits = self.session.shown_edits(proposal, paths)
        call = self.calls.like((proposal.tool_name,), "path", proposal.arguments.get("path"))
        fields = {"tool": proposal.tool_name, "edits": edits, "paths": [self.session.absolute(path) for path in paths]}
        return self.ask("edit", (ONCE, DENY), **fields, **({"call": call} if call else {})) == ONCE

    # -- steering

    def steer(self, identifier: str, text: str, now: bool) -> str:
        if self.interrupted or not text.strip():
            return "tooLate" if self.interrupted else "unsupported"
        with self.gate:
            agent = self.session.agent
            if not self.running or self.closed or self.interrupted:
                return "tooLate"
            if not callable(getattr(agent, "steer", None)):
                return "unsupported"
            if now and supports_redirect(agent) and agent.redirect(text):
                in_slot = holds(getattr(agent, "_pending_steer", None), text.strip())
                self.steers.add(identifier, text, "waiting" if in_slot else "redirected")
                return "accepted"
            # Before the call: Hermes may drain the slot in the very moment in which it is filled.
            self.steers.add(identifier, text, "waiting")
            if not agent.steer(text):
                raise Refusal("agentFailed", "Hermes refused the message.")
            return "accepted"

    def interrupt(self) -> bool:
        self.interrupted = True
        self.deny_open_asks()
        with self.gate:
            if not self.running:
                return not self.closed
            agent = self.session.agent
            hard = getattr(agent, "hard_interrupt", None)
            (hard if callable(hard) else agent.interrupt)()
            return True

    # -- the run

    def run(self) -> None:
        token = CURRENT_TURN.set(self)
        try:
            self._run()
        except BaseException as error:  # a SystemExit of a tool must not leave the session busy
            self.fail("agentFailed", f"Hermes failed: {type(error).__name__}: {error}")
        finally:
            CURRENT_TURN.reset(token)
            if not self.closed:
                self.fail("agentFailed", "Hermes ended the turn without a result.")
            self.ended.set()

    def _run(self) -> None:
        session = self.session
        agent = session.agent
        session.attach(self)
        with self.gate:
            # Whatever has set it since the last turn, it was not meant for this one.
            clear_interrupt(agent)
            self.running = not self.interrupted
        if not self.running:
            self.finish({"interrupted": True})
            return
        before = token_counts(agent)
        with self.bridge.hermes.turn_context(self):
            result = agent.run_conversation(
                user_message=self.content,
                conversation_history=session.state.history,
                task_id=session.id,
                persist_user_message=self.text or "[attachment]",
            )
        self.finish(result if isinstance(result, dict) else {}, before)

    def finish(self, result: dict, before: dict | None = None) -> None:
        session, agent = self.session, self.session.agent
        with self.gate:
            self.running = False
            drain = getattr(agent, "_drain_pending_steer", None)
            leftover = [result.get("pending_steer"), drain() if callable(drain) else None]
            clear_interrupt(agent)
            cancelled = self.interrupted or bool(result.get("interrupted"))
            joined = "\n".join(text for text in leftover if isinstance(text, str) and text)
            delivered, undelivered = self.steers.settle(joined, watched=callable(drain), cancelled=cancelled)
        settled = {"delivered": delivered, "undelivered": undelivered}
        session.keep(result, self.steers.delivered_texts())
        reason, error = outcome(result, cancelled)
        if error is not None:
            self.fail(*error, settled)
            return
        if not cancelled:  # Hermes' final text would be its own words about the interrupt
            self._say_the_rest(result)
        session.show_context(self)
        usage = usage_between(before, token_counts(agent)) if before else None
        self.reply({"stopReason": reason, "usage": usage, **settled})
        if not cancelled:
            self.bridge.hermes.name_session(session, self.text, result.get("final_response"))

    def fail(self, code: str, message: str, settled: dict | None = None) -> None:
        if settled is None:
            delivered, undelivered = self.steers.settle(self._left_in_slot(), watched=True, cancelled=True)
            settled = {"delivered": delivered, "undelivered": undelivered}
        self.reply(error={"code": code, "message": redact(message), "data": settled})

    def give_up(self) -> None:
        """Ends a turn whose thread does not come back. What the thread still does is behind the fence."""
        delivered, undelivered = self.steers.settle("", watched=True, cancelled=True)
        self.reply({"stopReason": "cancelled", "usage": None, "delivered": delivered, "undelivered": undelivered})

    def _left_in_slot(self) -> str:
        with self.gate:
            self.running = False
            try:
                drain = getattr(self.session.agent, "_drain_pending_steer", None)
                left = drain() if callable(drain) else None
                clear_interrupt(self.session.agent)
            except Exception:
                left = None
            return left if isinstance(left, str) else ""

    def _say_the_rest(self, result: dict) -> None:
        """Final text that was not streamed: the whole where nothing was, else what Hermes added to it."""
        final = result.get("final_response")
        if not isinstance(final, str) or not final.strip():
            return
        said = "".join(self._said_since_tool).strip()
        if not said:
            self.on_text(("\n\n" if self._has_spoken else "") + final)
        elif final.strip().startswith(said):
            self.on_text(final.strip()[len(said) :])
        elif result.get("response_transformed"):
            self.on_text("\n\n" + final)


def supports_redirect(agent: Any) -> bool:
    return (
        callable(getattr(agent, "redirect", None)) and getattr(agent, "_supports_active_turn_redirect", False) is True
    )


def clear_interrupt(agent: Any) -> None:
    clear = getattr(agent, "clear_interrupt", None)
    if callable(clear):
        clear()


def plain_arguments(args: Any) -> dict:
    if isinstance(args, str):
        try:
            args = json.loads(args)
        except ValueError:
            args = {"raw": args}
    return args if isinstance(args, dict) else {}


def result_text(result: Any) -> str:
    if isinstance(result, str):
        return result
    if isinstance(result, dict) and isinstance(result.get("text_summary"), str):
        return result["text_summary"]
    if isinstance(result, list):
        parts = [part.get("text") for part in result if isinstance(part, dict) and isinstance(part.get("text"), str)]
        return "\n".join(parts)
    return "" if result is None else json.dumps(result, default=str)


def looks_failed(text: str) -> bool:
    """Hermes' tools say so in a JSON object with `error`, its executor in words."""
    if text.startswith(("Error executing tool", "[Tool execution cancelled")):
        return True
    if not text.startswith("{") or len(text) > MAXIMUM_RESULT:
        return False
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and bool(value.get("error"))


def outcome(result: dict, cancelled: bool) -> tuple[str, tuple[str, str] | None]:
    """(stop reason, error). Every key may be missing or None: Hermes has many early returns."""
    if cancelled:
        return "cancelled", None
    said = str(result.get("error") or "")
    if result.get("failure_reason") == "truncated" or "truncated" in said or "output tokens on reasoning" in said:
        return "max_tokens", None
    exit_reason = str(result.get("turn_exit_reason") or "")
    if exit_reason.startswith(("max_iterations_reached", "budget_exhausted")) and not result.get("completed"):
        return "max_turn_requests", None
    if result.get("failed") or (said and not result.get("completed")):
        return "end_turn", failure(said or str(result.get("final_response") or ""), result.get("failure_reason"))
    if exit_reason == "all_retries_exhausted_no_response":
        return "end_turn", failure("the model gave no response", None)
    return "end_turn", None


_UNAUTHORIZED = re.compile(
    r"\b401\b|unauthori[sz]ed|invalid (api|x-api).?key|incorrect api key|authentication", re.IGNORECASE
)


def failure(said: str, reason: Any) -> tuple[str, str]:
    if str(reason or "").startswith("auth") or _UNAUTHORIZED.search(said):
        return (
            "authRequired",
            f"The model provider did not accept Hermes' credentials: {said} Run `hermes model` to set them.",
        )
    return "agentFailed", f"Hermes could not finish the turn: {said or 'no reason given'}"


_COUNTS = {
    "inputTokens": "session_prompt_tokens",
    "outputTokens": "session_completion_tokens",
    "totalTokens": "session_total_tokens",
    "thoughtTokens": "session_reasoning_tokens",
    "cachedReadTokens": "session_cache_read_tokens",
    "cachedWriteTokens": "session_cache_write_tokens",
}


def token_counts(agent: Any) -> dict:
    """Hermes counts per agent, not per turn."""
    return {name: int(getattr(agent, attribute, 0) or 0) for name, attribute in _COUNTS.items()}


def usage_between(before: dict, after: dict) -> dict | None:
    spent = {name: max(after[name] - before.get(name, 0), 0) for name in after}
    if not spent["totalTokens"]:
        return None
    required = ("inputTokens", "outputTokens", "totalTokens")
    return {name: count for name, count in spent.items() if count or name in required}


# ---- edits ------------------------------------------------------------------------------------------------------


def proposed_paths(proposal: Any) -> list[str]:
    paths = getattr(proposal, "paths", None)
    if paths:
        return [str(path) for path in paths]
    patch = proposal.arguments.get("patch")
    if proposal.tool_name == "patch" and isinstance(patch, str):
        found = re.findall(r"^\*\*\*\s+(?:Update|Add|Delete)\s+File:\s*(.+?)\s*$", patch, re.MULTILINE)
        moved = re.findall(r"^\*\*\*\s+Move\s+File:\s*(.+?)\s*->\s*(.+?)\s*$", patch, re.MULTILINE)
        return found + [path for pair in moved for path in pair] or [proposal.path]
    return [str(proposal.path)]


def read_text(path: str) -> str | None:
    """The text of a file, None where there is none; raises for what is not a text of reasonable size."""
    file = Path(path)
    if not file.exists():
        return None
    if file.stat().st_size > MAXIMUM_EDIT:
        raise ValueError("too large to show")
    data = file.read_bytes()
    if b"\0" in data:
        raise ValueError("not a text")
    return data.decode("utf-8", errors="replace")


# ---- Hermes' library --------------------------------------------------------------------------------------------


class Hermes:
    """What is used of the installed package. All of it is imported here, so that another version fails here."""

    def __init__(self) -> None:
        self._models: dict[str, list[dict]] = {}
        self._mcp: threading.Thread | None = None
        self.version = "unknown"

    def load(self) -> None:
        try:
            import hermes_bootstrap

            hermes_bootstrap.harden_import_path()
        except ImportError:
            pass
        from hermes_cli import __version__

        self.version = str(__version__)
        self._load_environment()
        from acp_adapter.session import SessionManager
        from run_agent import AIAgent

        self.agent_class, self.manager = AIAgent, SessionManager()
        self._bind_edits_to_workspace()
        self._ask_the_user()
        self._discover_mcp()

    def home(self) -> str:
        try:
            from hermes_constants import get_hermes_home

            return str(get_hermes_home())
        except ImportError:
            return os.environ.get("HERMES_HOME") or str(Path.home() / ".hermes")

    def _load_environment(self) -> None:
        try:
            from hermes_cli.env_loader import load_hermes_dotenv
        except ImportError:
            return
        load_hermes_dotenv(hermes_home=self.home())
        os.environ["HERMES_INTERACTIVE"] = "1"

    def config(self) -> dict:
        try:
            from hermes_cli.config import load_config

            return load_config() or {}
        except Exception:
            return {}

    def approval_seconds(self) -> float:
        try:
            seconds = float((self.config().get("approvals") or {}).get("timeout", 300))
        except (TypeError, ValueError):
            seconds = 300.0
        return seconds if seconds > 0 else 300.0

    # -- credentials

    def auth(self, *, again: bool = False) -> dict:
        if again:
            self._load_environment()
        provider = self._provider_of_config()
        try:
            from hermes_cli.runtime_provider import resolve_runtime_provider

            runtime = resolve_runtime_provider()
            key, provider = runtime.get("api_key"), runtime.get("provider") or provider
            configured = bool(key.strip() if isinstance(key, str) else key) or bool(runtime.get("command"))
        except Exception as error:
            log.info("no provider: %s", type(error).__name__)
            configured = False
        variables = self._variables(provider)
        message = None
        if not configured:
            ways = f", or set {' or '.join(variables)} in {os.path.join(self.home(), '.env')}" if variables else ""
            message = f"Hermes has no credentials for its model provider ({provider or 'none chosen'}). Run `hermes model` in a terminal{ways}."
        return {"configured": configured, "provider": provider, "variables": variables, "message": message}

    def _provider_of_config(self) -> str | None:
        model = self.config().get("model")
        provider = model.get("provider") if isinstance(model, dict) else None
        return str(provider) if provider and provider != "auto" else None

    def _variables(self, provider: str | None) -> list[str]:
        try:
            from hermes_cli.auth import PROVIDER_REGISTRY

            known = PROVIDER_REGISTRY.get(provider or "")
            return [str(name) for name in getattr(known, "api_key_env_vars", ())]
        except Exception:
            return []

    # -- models

    def models(self, state: Any) -> tuple[str, list[dict]]:
        """(id of the session's model, all that can be chosen). A provider that is slow to list its models is not waited for."""
        provider = str(getattr(state.agent, "provider", None) or "")
        current = model_id(provider, str(state.model or getattr(state.agent, "model", "") or ""))
        models = list(self._models.get(provider) or self._list_models(provider))
        if current not in {model["id"] for model in models}:
            models.insert(0, {"id": current, "name": current.partition(":")[2] or current})
        return current, models

    def _list_models(self, provider: str) -> list[dict]:
        done = threading.Event()

        def look() -> None:
            try:
                from hermes_cli.models import curated_models_for_provider

                listed = [(str(name), str(about or "")) for name, about in curated_models_for_provider(provider)]
                unique = {model_id(provider, name): (name, about) for name, about in listed if name}
                self._models[provider] = [
                    {"id": key, "name": name, **({"description": about} if about else {})}
                    for key, (name, about) in unique.items()
                ]
            except Exception as error:
                log.info("models of the provider cannot be listed: %s", type(error).__name__)
            done.set()

        threading.Thread(target=look, name="bridge-models", daemon=True).start()
        done.wait(MODEL_LIST_SECONDS)
        return self._models.get(provider, [])

    def resolve_model(self, wanted: str, provider: str) -> tuple[str, str]:
        try:
            from hermes_cli.models import detect_provider_for_model, parse_model_input

            target, model = parse_model_input(wanted, provider)
            if target == provider:
                target, model = detect_provider_for_model(model, provider) or (target, model)
            return target, model
        except Exception:
            return provider, wanted

    def switch_model(self, state: Any, wanted: str) -> None:
        current = str(getattr(state.agent, "provider", None) or "")
        provider, model = self.resolve_model(wanted, current)
        same = provider == current
        agent = self.manager._make_agent(
            session_id=state.session_id,
            cwd=state.cwd,
            model=model,
            requested_provider=provider or None,
            base_url=getattr(state.agent, "base_url", None) if same else None,
            api_mode=getattr(state.agent, "api_mode", None) if same else None,
        )
        state.agent, state.model = agent, model
        self.manager.save_session(state.session_id)

    # -- tools

    def _bind_edits_to_workspace(self) -> None:
        """Hermes reads the file of a proposal relative to the process, the tool writes it relative to the session."""
        try:
            from acp_adapter import edit_approval
        except ImportError:
            return
        build = edit_approval.build_edit_proposal

        def build_in_workspace(tool_name: str, arguments: dict) -> Any:
            turn, path = CURRENT_TURN.get(), arguments.get("path")
            if turn is not None and isinstance(path, str) and path:
                arguments = {**arguments, "path": turn.session.absolute(path)}
            return build(tool_name, arguments)

        edit_approval.build_edit_proposal = build_in_workspace

    def _ask_the_user(self) -> None:
        """Hermes' default lets a model answer for the user. That holds where the user has chosen it, not by default."""
        try:
            from hermes_cli.config import read_raw_config
            from tools import approval

            mode = approval._get_approval_mode
        except (ImportError, AttributeError):
            return

        def chosen_or_manual() -> str:
            return mode() if (read_raw_config().get("approvals") or {}).get("mode") else "manual"

        approval._get_approval_mode = chosen_or_manual

    def _discover_mcp(self) -> None:
        if not self.config().get("mcp_servers"):
            return

        def discover() -> None:
            try:
                from tools.mcp_tool import discover_mcp_tools

                discover_mcp_tools()
            except Exception as error:
                log.warning("MCP servers of the configuration are not available: %s", type(error).__name__)

        self._mcp = threading.Thread(target=discover, name="bridge-mcp", daemon=True)
        self._mcp.start()

    def wait_for_mcp(self) -> None:
        if self._mcp is not None:
            self._mcp.join(MCP_SECONDS)

    def add_mcp_servers(self, state: Any, servers: list[dict]) -> str | None:
        """Connects the client's MCP servers. What went wrong, for the log."""
        try:
            from model_tools import get_tool_definitions
            from tools.mcp_tool import register_mcp_servers

            register_mcp_servers({str(server["name"]): mcp_config(server) for server in servers})
            agent = state.agent
            wanted = [f"mcp-{server['name']}" for server in servers]
            toolsets = list(dict.fromkeys([*(getattr(agent, "enabled_toolsets", None) or ["hermes-acp"]), *wanted]))
            agent.enabled_toolsets = toolsets
            disabled = getattr(agent, "disabled_toolsets", None)
            agent.tools = get_tool_definitions(enabled_toolsets=toolsets, disabled_toolsets=disabled, quiet_mode=True)
            agent.valid_tool_names = {tool["function"]["name"] for tool in agent.tools or []}
            self._refresh_prompt(agent)
            return None
        except Exception as error:
            return f"the client's MCP servers are not available in this Hermes: {type(error).__name__}"

    def _refresh_prompt(self, agent: Any) -> None:
        try:
            from agent.memory_manager import inject_memory_provider_tools

            inject_memory_provider_tools(agent)
        except ImportError:
            pass
        invalidate = getattr(agent, "_invalidate_system_prompt", None)
        if callable(invalidate):
            invalidate()

    # -- a turn

    @contextmanager
    def turn_context(self, turn: Turn) -> Iterator[None]:
        """Binds the permissions and the session to the thread of the turn, and puts back what was there."""
        from acp_adapter.edit_approval import reset_edit_approval_requester, set_edit_approval_requester
        from tools import terminal_tool

        previous = terminal_tool._get_approval_callback()
        terminal_tool.set_approval_callback(turn.approve_command)
        sudo = getattr(terminal_tool, "set_sudo_password_callback", None)
        if callable(sudo):
            sudo(lambda *_args, **_more: "")  # nobody types a password here
        token = set_edit_approval_requester(turn.approve_edit)
        interactive = self._interactive()
        variables = self._session_variables(turn.session)
        try:
            yield
        finally:
            variables()
            interactive()
            reset_edit_approval_requester(token)
            terminal_tool.set_approval_callback(previous)

    def _interactive(self) -> Callable[[], None]:
        for module in ("tools.approval", "tools.approval_context"):
            try:
                approval = __import__(module, fromlist=["set_hermes_interactive_context"])
                token = approval.set_hermes_interactive_context(True)
                return lambda: approval.reset_hermes_interactive_context(token)
            except (ImportError, AttributeError):
                continue
        return lambda: None

    def _session_variables(self, session: "Session") -> Callable[[], None]:
        try:
            from gateway.session_context import clear_session_vars, set_session_vars
        except ImportError:
            return lambda: None
        try:
            # Nobody wakes a finished turn here, so tools must not promise to.
            tokens = set_session_vars(
                session_key=session.id, session_id=session.id, cwd=session.state.cwd, async_delivery=False
            )
        except TypeError:
            tokens = set_session_vars(session_key=session.id)
        return lambda: clear_session_vars(tokens)

    def name_session(self, session: "Session", asked: str, answered: Any) -> None:
        try:
            from agent.title_generator import maybe_auto_title
        except ImportError:
            return
        agent = session.agent
        names = ("model", "provider", "base_url", "api_key", "api_mode")
        try:
            maybe_auto_title(
                self.manager._get_db(),
                session.id,
                asked,
                answered,
                session.state.history,
                main_runtime={name: getattr(agent, name, None) for name in names},
                title_callback=lambda title: session.bridge.event("title", session.id, None, title=str(title)),
            )
        except Exception as error:
            log.info("no title: %s", type(error).__name__)


def model_id(provider: str, model: str) -> str:
    return f"{provider.lower()}:{model}" if provider else model


def mcp_config(server: dict) -> dict:
    if server.get("command"):
        variables = {item["name"]: item["value"] for item in server.get("env") or []}
        return {"command": server["command"], "args": list(server.get("args") or []), "env": variables}
    return {"url": server.get("url"), "headers": {item["name"]: item["value"] for item in server.get("headers") or []}}


# ---- history ----------------------------------------------------------------------------------------------------


def steer_marker() -> re.Pattern[str]:
    try:
        from agent.prompt_builder import STEER_MARKER_CLOSE, STEER_MARKER_OPEN
    except Exception:
        STEER_MARKER_OPEN, STEER_MARKER_CLOSE = "[OUT-OF-BAND USER MESSAGE", "[/OUT-OF-BAND USER MESSAGE]"
    return re.compile(
        r"\s*" + re.escape(STEER_MARKER_OPEN) + r"[^\n]*\n(.*?)\n" + re.escape(STEER_MARKER_CLOSE), re.DOTALL
    )


def content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            text = part.get("text") or part.get("content")
            texts.append(text if isinstance(text, str) else "[image]" if "image" in str(part.get("type")) else "")
    return "\n".join(text for text in texts if text)


def history_entries(session: "Session", history: list) -> Iterator[dict]:
    """Hermes' messages as events. A steer stands in a tool's result there; it is shown as what it is, and once."""
    marker, calls, last_steer = steer_marker(), ToolCalls(), None
    for message in history:
        if not isinstance(message, dict):
            continue
        role, text = message.get("role"), content_text(message.get("content"))
        if role == "user":
            steers, rest = split_steers(marker, text)
            for said in steers or [rest]:
                if said and not (steers and said == last_steer):
                    yield {"type": "user", "text": said}
                last_steer = said if steers else None
        elif role == "assistant":
            yield from assistant_entries(session, calls, message, text)
        elif role == "tool":
            steers, rest = split_steers(marker, text)
            call, name = ended_call(calls, message)
            if call:
                fields = {"result": rest[:MAXIMUM_RESULT], "length": len(rest), "failed": looks_failed(rest)}
                yield {"type": "tool_end", "call": call, "name": name, **fields}
            for said in steers:
                if said != last_steer:
                    yield {"type": "user", "text": said}
                last_steer = said
    for call, entry in list(calls.open.items()):
        yield {
            "type": "tool_end",
            "call": call,
            "name": entry["name"],
            "result": "",
            "length": 0,
            "failed": False,
            "unfinished": True,
        }


def split_steers(marker: re.Pattern[str], text: str) -> tuple[list[str], str]:
    return marker.findall(text), marker.sub("", text)


def assistant_entries(session: "Session", calls: ToolCalls, message: dict, text: str) -> Iterator[dict]:
    thought = content_text(message.get("reasoning_content")) or content_text(message.get("reasoning"))
    if thought.strip():
        yield {"type": "reasoning", "text": thought}
    if text.strip():
        yield {"type": "text", "text": text}
    for tool in message.get("tool_calls") or []:
        if not isinstance(tool, dict):
            continue
        function = tool.get("function") if isinstance(tool.get("function"), dict) else {}
        name = str(function.get("name") or tool.get("name") or "tool")
        args = plain_arguments(function.get("arguments") or tool.get("arguments") or {})
        call = calls.start(tool.get("id") or tool.get("call_id"), name, args)
        yield {"type": "tool_start", "call": call, "name": name, "args": args, "paths": session.paths_of(args)}


def ended_call(calls: ToolCalls, message: dict) -> tuple[str | None, str]:
    name = str(message.get("tool_name") or message.get("name") or "tool")
    shown = calls._shown.get(str(message.get("tool_call_id")))
    if shown in calls.open:
        name = calls.open[shown]["name"]
    return calls.end(message.get("tool_call_id"), name), name


# ---- slash commands ---------------------------------------------------------------------------------------------

COMMANDS = (
    {"name": "help", "description": "List the commands"},
    {"name": "model", "description": "Show the model, or change it", "hint": "model"},
    {"name": "tools", "description": "List the tools"},
    {"name": "context", "description": "Show how full the model's window is"},
    {"name": "reset", "description": "Forget the conversation"},
    {"name": "compress", "description": "Summarise the conversation to make room"},
    {"name": "version", "description": "Show the version of Hermes"},
)


def run_command(hermes: Hermes, session: "Session", name: str, args: str) -> str:
    command = {
        "help": command_help,
        "model": command_model,
        "tools": command_tools,
        "context": command_context,
        "reset": command_reset,
        "compress": command_compress,
        "compact": command_compress,
        "version": lambda *_: f"Hermes Agent {hermes.version}",
    }.get(name)
    if command is None:
        raise Refusal("unknownCommand", f"Hermes has no command /{name}.")
    return command(hermes, session, args.strip())


def command_help(*_: Any) -> str:
    lines = [f"- `/{command['name']}`: {command['description']}" for command in COMMANDS]
    return "\n".join(["Commands of Hermes:", "", *lines, "", "Any other `/word` goes to the model."])


def command_model(hermes: Hermes, session: "Session", args: str) -> str:
    if args:
        hermes.switch_model(session.state, args)
    provider = getattr(session.agent, "provider", None) or "automatic"
    return f"{'The model is now' if args else 'The model is'} {session.state.model or session.agent.model} (provider: {provider})."


def command_tools(_hermes: Hermes, session: "Session", _args: str) -> str:
    functions = [tool.get("function", {}) for tool in getattr(session.agent, "tools", None) or []]
    lines = [f"- `{function.get('name')}`: {first_sentence(function.get('description'))}" for function in functions]
    return "\n".join([f"{len(lines)} tools:", "", *lines]) if lines else "Hermes has no tools in this session."


def first_sentence(text: Any) -> str:
    return str(text or "").strip().split("\n")[0].split(". ")[0][:120]


def command_context(_hermes: Hermes, session: "Session", _args: str) -> str:
    history = session.state.history
    counts = {role: sum(message.get("role") == role for message in history) for role in ("user", "assistant", "tool")}
    lines = [f"{len(history)} messages: {', '.join(f'{count} {role}' for role, count in counts.items())}."]
    used, size = session.context()
    if size:
        lines.append(f"About {used:,} of {size:,} tokens are in use ({used / size:.0%}).")
    if getattr(session.agent, "compression_enabled", True) is False:
        lines.append("Compression is off in Hermes' configuration.")
    return "\n".join(lines)


def command_reset(hermes: Hermes, session: "Session", _args: str) -> str:
    session.state.history.clear()
    reset = getattr(session.agent, "reset_session_state", None)
    if callable(reset):
        reset()
    session.rewrite_stored([])
    hermes.manager.save_session(session.id)
    return "The conversation is forgotten."


def command_compress(hermes: Hermes, session: "Session", _args: str) -> str:
    agent, history = session.agent, session.state.history
    compress = getattr(agent, "_compress_context", None)
    if not history:
        return "There is nothing to compress."
    if not callable(compress) or getattr(agent, "compression_enabled", True) is False:
        return "Compression is off in Hermes' configuration."
    used, _ = session.context()
    store, agent._session_db = agent._session_db, None  # with it, Hermes would give the session another id
    try:
        prompt = getattr(agent, "_cached_system_prompt", "") or ""
        compressed, _ = compress(history, prompt, approx_tokens=used, task_id=session.id)
    finally:
        agent._session_db = store
    count = len(history)
    session.state.history = compressed
    archive = getattr(hermes.manager._get_db(), "archive_and_compact", None)
    if callable(archive):
        archive(session.id, copy.deepcopy(compressed))
    hermes.manager.save_session(session.id)
    return f"{count} messages became {len(compressed)}; about {session.context()[0]:,} tokens are in use."


# ---- sessions ---------------------------------------------------------------------------------------------------


class Session:
    """One conversation: Hermes' own state of it, its mode, and the turn that runs."""

    def __init__(self, bridge: "Bridge", state: Any):
        self.bridge, self.state = bridge, state
        self.id = str(state.session_id)
        self.mode = "default"
        self.has_tool_callbacks = True
        self.turn: Turn | None = None
        self._lock = threading.Lock()
        self._mcp_servers: list[dict] = []
        remember_secret(getattr(state.agent, "api_key", None))

    @property
    def agent(self) -> Any:
        return self.state.agent

    def claim(self, turn: Turn) -> None:
        with self._lock:
            if self.turn is not None:
                raise Refusal(
                    "busy", "A turn of this session is still running in Hermes. Cancel it, or wait for its end."
                )
            self.turn = turn

    def release(self, turn: Turn) -> None:
        with self._lock:
            if self.turn is turn:
                self.turn = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keeps turns out while the agent is replaced."""
        hold = Turn(self.bridge, self, {})
        hold.closed = True
        self.claim(hold)
        try:
            yield
        finally:
            self.release(hold)
            hold.ended.set()

    def describe(self) -> dict:
        current, models = self.bridge.hermes.models(self.state)
        provider = str(getattr(self.agent, "provider", None) or "")
        return {
            "session": self.id,
            "cwd": self.state.cwd,
            "model": current,
            "provider": provider,
            "models": models,
            "mode": self.mode,
        }

    def use_mcp_servers(self, servers: Any) -> None:
        if not isinstance(servers, list) or not servers:
            return
        self._mcp_servers = servers
        wrong = self.bridge.hermes.add_mcp_servers(self.state, servers)
        if wrong:
            self.bridge.log("warning", wrong)

    def set_model(self, model: str) -> None:
        _, models = self.bridge.hermes.models(self.state)
        if model not in {known["id"] for known in models}:
            raise Refusal("unknownModel", "Hermes does not offer this model. Choose one of the session's models.")
        with self.held():
            self.bridge.hermes.switch_model(self.state, model)
            remember_secret(getattr(self.agent, "api_key", None))
            self.use_mcp_servers(self._mcp_servers)

    def attach(self, turn: Turn) -> None:
        agent = self.agent
        self.has_tool_callbacks = self.has_tool_callbacks and hasattr(agent, "tool_start_callback")
        agent.stream_delta_callback = turn.on_text
        agent.reasoning_callback = turn.on_reasoning
        agent.tool_progress_callback = turn.on_tool_progress
        agent.tool_start_callback = turn.on_tool_start
        agent.tool_complete_callback = turn.on_tool_end
        agent.step_callback = turn.on_step
        agent.status_callback = turn.on_status
        agent.thinking_callback = None
        watch_slot(agent, self)

    def keep(self, result: dict, steers: list[str]) -> None:
        """History is what Hermes returns, an empty list included. Never lets the turn fail."""
        if not isinstance(result.get("messages"), list):
            return
        self.state.history = result["messages"]
        try:
            self.bridge.hermes.manager.save_session(self.id)
            if steers and not self._stored(steers):
                self.rewrite_stored(self.state.history)
        except Exception as error:
            self.bridge.log("error", f"the history of a session could not be stored: {type(error).__name__}")

    def _stored(self, steers: list[str]) -> bool:
        store = self.bridge.hermes.manager._get_db()
        if store is None:
            return True
        texts = [
            content_text(message.get("content")) for message in store.get_messages_as_conversation(self._stored_id())
        ]
        return all(any(steer in text for text in texts) for steer in steers)

    def rewrite_stored(self, messages: list) -> None:
        """Hermes stores a tool's result before it puts the steer into it; what it archived stays."""
        store = self.bridge.hermes.manager._get_db()
        if store is None:
            return
        archived = getattr(store, "has_archived_messages", lambda _id: False)(self._stored_id())
        store.replace_messages(self._stored_id(), messages, **({"active_only": True} if archived else {}))

    def _stored_id(self) -> str:
        return str(getattr(self.agent, "session_id", None) or self.id)

    def context(self) -> tuple[int, int]:
        compressor = getattr(self.agent, "context_compressor", None)
        size = int(getattr(compressor, "context_length", 0) or 0)
        used = int(getattr(compressor, "last_prompt_tokens", 0) or 0)
        try:
            from agent.model_metadata import estimate_request_tokens_rough

            prompt = getattr(self.agent, "_cached_system_prompt", "") or ""
            used = estimate_request_tokens_rough(
                self.state.history, system_prompt=prompt, tools=getattr(self.agent, "tools", None) or None
            )
        except Exception:
            log.debug("context is not estimated")
        return max(used, 0), max(size, 0)

    def show_context(self, turn: Turn | None) -> None:
        try:
            used, size = self.context()
        except Exception:
            return  # a number that is missing holds up no answer
        if not size:
            return
        if turn is not None:
            turn.emit("context", used=used, size=size)
        else:
            self.bridge.event("context", self.id, None, used=used, size=size)

    # -- files

    def absolute(self, path: str) -> str:
        try:
            from tools.file_tools import _resolve_path_for_task

            return str(_resolve_path_for_task(path, self.id))
        except Exception:
            return os.path.normpath(os.path.join(self.state.cwd, os.path.expanduser(path)))

    def paths_of(self, args: dict) -> list[str]:
        named = [args.get(key) for key in ("path", "file_path", "workdir")]
        return [self.absolute(path) for path in named if isinstance(path, str) and path]

    def file_facts(self, name: str, args: dict) -> tuple[list[str], list[dict]]:
        """(paths, edits) of a call that is about to run. What cannot be shown must not stop it."""
        try:
            if name not in ("write_file", "patch"):
                return self.paths_of(args), []
            from acp_adapter.edit_approval import build_edit_proposal

            proposal = build_edit_proposal(name, args)
            paths = proposed_paths(proposal)
            return [self.absolute(path) for path in paths], self.shown_edits(proposal, paths)
        except Exception:
            return self.paths_of(args), []

    def shown_edits(self, proposal: Any, paths: list[str]) -> list[dict]:
        if isinstance(proposal.arguments.get("patch"), str) and proposal.arguments.get("mode") == "patch":
            return self._shown_patch(proposal.arguments["patch"])
        old, new = proposal.old_text, proposal.new_text
        if len(new) > MAXIMUM_EDIT or (old is not None and (len(old) > MAXIMUM_EDIT or "\0" in old)):
            return []
        return [{"path": self.absolute(paths[0]), "oldText": old, "newText": new}]

    def _shown_patch(self, patch: str) -> list[dict]:
        """A patch of several files, applied to what is there without writing it; hunks that do not fit are left to the tool."""
        from tools.patch_parser import OperationType, parse_v4a_patch

        operations, wrong = parse_v4a_patch(patch)
        edits = []
        for operation in operations if not wrong else []:
            try:
                path = self.absolute(operation.file_path)
                old = None if operation.operation == OperationType.ADD else read_text(path)
                new = "" if operation.operation == OperationType.DELETE else patched(old, operation.hunks)
                edits.append({"path": path, "oldText": old, "newText": new})
            except Exception:
                continue
        return edits

    def may_edit_unasked(self, proposal: Any, paths: list[str]) -> bool:
        policy = EDIT_POLICY[self.mode]
        if policy == "ask":
            return False
        from acp_adapter.edit_approval import should_auto_approve_edit

        each = [dataclasses.replace(proposal, path=self.absolute(path)) for path in paths]
        return bool(each) and all(should_auto_approve_edit(one, policy, self.state.cwd) for one in each)


def patched(old: str | None, hunks: list) -> str:
    """The text after the hunks: each replaces its context and removed lines by its context and added lines."""
    text = old or ""
    for hunk in hunks:
        before = "\n".join(line.content for line in hunk.lines if line.prefix in " -")
        after = "\n".join(line.content for line in hunk.lines if line.prefix in " +")
        if not before:
            text = after if not text else f"{text.rstrip(chr(10))}\n{after}\n"
        elif before not in text:
            raise ValueError("the hunk does not fit")
        else:
            text = text.replace(before, after, 1)
    return text


def watch_slot(agent: Any, session: Session) -> None:
    """Lets the session's turn know when Hermes empties its slot of steers."""
    if "_bridge_watched" in agent.__dict__ or not callable(getattr(agent, "_drain_pending_steer", None)):
        return
    drain = agent._drain_pending_steer

    def watched() -> Any:
        text = drain()
        turn = session.turn
        if turn is not None:
            turn.steers.drained(text)
        return text

    agent._drain_pending_steer = watched
    agent._bridge_watched = True


# ---- the bridge -------------------------------------------------------------------------------------------------


class Bridge:
    """Takes requests in the reader's thread. What may take long gets a thread of its own; a steer never does."""

    def __init__(self, outbox: Outbox, hermes: Hermes):
        self.outbox, self.hermes = outbox, hermes
        self._sessions: dict[str, Session] = {}
        self._opening = threading.Lock()
        self._ask_numbers = itertools.count(1)
        self._quick = {"prompt": self._prompt, "steer": self._steer, "answer": self._answer}
        self._slow = {
            "open": self._open,
            "load": self._load,
            "fork": self._fork,
            "list": self._list,
            "close": self._close,
            "command": self._command,
            "interrupt": self._interrupt,
            "set": self._set,
            "auth": lambda _request: self.hermes.auth(again=True),
        }

    # -- towards Node

    def event(self, kind: str, session: str, turn: Any, /, **fields: Any) -> None:
        self.outbox.put({"type": kind, "session": session, "turn": turn, **fields})

    def reply(self, identifier: Any, result: dict | None = None, error: dict | None = None) -> None:
        self.outbox.put(
            {"type": "reply", "id": identifier, **({"error": error} if error else {"result": result or {}})}
        )

    def log(self, level: str, text: str) -> None:
        self.outbox.put({"type": "log", "level": level, "text": redact(text).replace("\n", " ")})

    def next_ask(self) -> str:
        return f"a{next(self._ask_numbers)}"

    # -- from Node

    def take(self, message: dict) -> None:
        kind = message.get("type")
        if kind in self._quick:
            self._answer_request(self._quick[kind], message)
        elif kind in self._slow:
            arguments = (self._slow[kind], message)
            if kind == "interrupt":
                self._mark_interrupted(message)
            threading.Thread(target=self._answer_request, args=arguments, name=f"bridge-{kind}", daemon=True).start()
        elif message.get("id") is not None:
            self.reply(message["id"], error={"code": "badRequest", "message": "The bridge does not know this request."})

    def _answer_request(self, handler: Callable[[dict], dict | None], message: dict) -> None:
        identifier = message.get("id")
        try:
            result = handler(message)
        except Refusal as refusal:
            data = {"data": refusal.data} if refusal.data else {}
            self.reply(identifier, error={"code": refusal.code, "message": redact(refusal), **data})
        except Exception as error:
            log.exception("a request failed")
            self.reply(
                identifier,
                error={"code": "agentFailed", "message": redact(f"Hermes failed: {type(error).__name__}: {error}")},
            )
        else:
            if result is not None:
                self.reply(identifier, result)

    def _session(self, message: dict) -> Session:
        session = self._sessions.get(str(message.get("session")))
        if session is None:
            raise Refusal("unknownSession", "Hermes' bridge does not hold this session. Load it first.")
        return session

    def _turn(self, message: dict) -> Turn | None:
        session = self._sessions.get(str(message.get("session")))
        turn = session.turn if session is not None else None
        return turn if turn is not None and turn.turn_id == message.get("turn") else None

    # -- quick requests

    def _prompt(self, message: dict) -> None:
        if not message.get("content"):
            raise Refusal("badRequest", "The prompt is empty.")
        session = self._session(message)
        turn = Turn(self, session, message)
        session.claim(turn)
        threading.Thread(target=turn.run, name="bridge-turn", daemon=True).start()

    def _steer(self, message: dict) -> dict:
        turn = self._turn(message)
        if turn is None:
            return {"verdict": "tooLate"}
        return {
            "verdict": turn.steer(str(message.get("steer")), str(message.get("text") or ""), bool(message.get("now")))
        }

    def _answer(self, message: dict) -> None:
        for session in list(self._sessions.values()):
            turn = session.turn
            if turn is not None:
                turn.answer(message.get("ask"), message.get("choice"))

    def _mark_interrupted(self, message: dict) -> None:
        """At once, so that a steer which is read after the interrupt is refused; the interrupt itself may take its time."""
        turn = self._turn(message)
        if turn is not None:
            turn.interrupted = True

    # -- slow requests

    def _interrupt(self, message: dict) -> dict:
        turn = self._turn(message)
        return {"interrupted": turn.interrupt() if turn is not None else False}

    def _open(self, message: dict) -> dict:
        self._require_credentials()
        self.hermes.wait_for_mcp()
        state = self._agent_or_refusal(lambda: self.hermes.manager.create_session(cwd=str(message.get("cwd") or ".")))
        return self._register(state, message)

    def _load(self, message: dict) -> dict:
        self.hermes.wait_for_mcp()
        session = self._restore(message)
        if message.get("replay"):
            self._replay(session, message.get("id"))
        return session.describe()

    def _restore(self, message: dict) -> Session:
        with self._opening:
            identifier = str(message.get("session"))
            held = self._sessions.get(identifier)
            state = self.hermes.manager.update_cwd(identifier, str(message.get("cwd") or "."))
            if state is None:
                self._refuse_unrestored(identifier)
            if held is None or held.state is not state:
                self._register(state, message)
            return self._sessions[identifier]

    def _refuse_unrestored(self, identifier: str) -> None:
        store = self.hermes.manager._get_db()
        row = store.get_session(identifier) if store is not None else None
        if row is None or row.get("source") != "acp":
            raise Refusal("unknownSession", "Hermes has no such session. Start a new one.")
        self._require_credentials()
        raise Refusal("agentFailed", "Hermes could not restore this session. Its own log says why.")

    def _replay(self, session: Session, request: Any) -> None:
        entries = history_entries(session, session.state.history)
        while batch := list(itertools.islice(entries, HISTORY_BATCH)):
            self.outbox.put({"type": "history", "id": request, "entries": batch})

    def _fork(self, message: dict) -> dict:
        source = self._sessions.get(str(message.get("session")))
        cwd = str(message.get("cwd") or ".")
        state = self._agent_or_refusal(lambda: self.hermes.manager.fork_session(str(message.get("session")), cwd=cwd))
        if state is None:
            raise Refusal("unknownSession", "Hermes has no such session. Start a new one.")
        described = self._register(state, message)
        if source is not None:
            self._sessions[str(state.session_id)].mode = described["mode"] = source.mode
        return described

    def _list(self, message: dict) -> dict:
        rows = self.hermes.manager.list_sessions(cwd=message.get("cwd") or None)
        cursor = message.get("cursor")
        if cursor:
            position = next((index for index, row in enumerate(rows) if row["session_id"] == cursor), len(rows))
            rows = rows[position + 1 :]
        sessions = [
            {
                "session": row["session_id"],
                "cwd": row["cwd"],
                "title": row.get("title"),
                "updatedAt": row.get("updated_at"),
            }
            for row in rows[:PAGE]
        ]
        return {"sessions": sessions, **({"cursor": sessions[-1]["session"]} if len(rows) > PAGE else {})}

    def _close(self, message: dict) -> dict:
        session = self._session(message)
        turn = session.turn
        if turn is not None:
            turn.interrupt()
            if not turn.ended.wait(CLOSE_SECONDS):
                turn.give_up()
        self._sessions.pop(session.id, None)
        with self.hermes.manager._lock:
            self.hermes.manager._sessions.pop(session.id, None)
        close = getattr(session.agent, "close", None)
        if callable(close):
            close()
        return {}

    def _command(self, message: dict) -> dict:
        session = self._session(message)
        with session.held():
            text = run_command(self.hermes, session, str(message.get("name")), str(message.get("args") or ""))
            session.show_context(None)
        return {"text": redact(text), "session": session.describe()}

    def _set(self, message: dict) -> dict:
        session = self._session(message)
        mode, model = message.get("mode"), message.get("model")
        if mode is not None:
            if mode not in EDIT_POLICY:
                raise Refusal("unknownMode", f"Hermes has no such mode. Choose one of: {', '.join(EDIT_POLICY)}.")
            session.mode = mode
        if model is not None:
            session.set_model(str(model))
        return session.describe()

    def _register(self, state: Any, message: dict) -> dict:
        session = self._sessions[str(state.session_id)] = Session(self, state)
        session.use_mcp_servers(message.get("mcpServers"))
        session.show_context(None)
        return session.describe()

    def _require_credentials(self) -> None:
        auth = self.hermes.auth()
        if not auth["configured"]:
            raise Refusal("authRequired", str(auth["message"]), {"auth": auth})

    def _agent_or_refusal(self, make: Callable[[], Any]) -> Any:
        try:
            with self._opening:
                return make()
        except Exception as error:
            self._require_credentials()
            raise Refusal("agentFailed", f"Hermes could not make an agent: {type(error).__name__}: {error}") from error

    # -- the end

    def end(self) -> None:
        """Node is gone. Running tools have groups of their own: they are told, for a moment, to end."""
        turns = [session.turn for session in list(self._sessions.values()) if session.turn is not None]
        threading.Timer(LAST_SECONDS, lambda: os._exit(0)).start()
        for turn in turns:
            threading.Thread(target=turn.interrupt, daemon=True).start()
        for turn in turns:
            turn.ended.wait(LAST_SECONDS)
        os._exit(0)


# ---- start ------------------------------------------------------------------------------------------------------


def own_descriptors() -> None:
    """No tool, print or prompt may touch the wire: children do not get it, print goes to the log, input is empty."""
    for descriptor in (READ_FROM, WRITE_TO):
        os.set_inheritable(descriptor, False)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.dup2(2, 1)
    sys.stdin = open(os.devnull, encoding="utf-8")
    sys.stdout = sys.stderr


def own_environment() -> None:
    for name in LEAKED:
        os.environ.pop(name, None)
    os.environ["HERMES_INTERACTIVE"] = "1"


def own_logging() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)  # Hermes lowers the root's level, and says at INFO what was said
    handler.setFormatter(RedactedFormatter("%(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.handlers[:] = [handler]


def greet(outbox: Outbox, messages: Iterator[dict]) -> None:
    outbox.put({"type": "hello", "protocol": PROTOCOL, "python": sys.version.split()[0], "pid": os.getpid()})
    hello = next(messages, None)
    if hello is None:
        os._exit(0)
    if hello.get("type") != "hello" or hello.get("protocol") != PROTOCOL:
        give_up(
            outbox,
            "protocolMismatch",
            f"The bridge speaks protocol {PROTOCOL}, Node {hello.get('protocol')}. Install the adapter again.",
        )


def give_up(outbox: Outbox, reason: str, message: str) -> None:
    outbox.put({"type": "failed", "reason": reason, "message": message})
    outbox.flush(1.0)
    os._exit(1)


def ready(hermes: Hermes) -> dict:
    agent = hermes.agent_class
    return {
        "type": "ready",
        "hermes": hermes.version,
        "home": hermes.home(),
        "steer": callable(getattr(agent, "steer", None)),
        "redirect": callable(getattr(agent, "redirect", None)),
        "modes": list(MODES),
        "commands": list(COMMANDS),
    }


def main() -> None:
    sys.setswitchinterval(SWITCH_INTERVAL)
    own_descriptors()
    own_environment()
    own_logging()
    outbox = Outbox(WRITE_TO)
    messages = read_lines(READ_FROM)
    greet(outbox, messages)
    bridge = Bridge(outbox, Hermes())
    signal.signal(signal.SIGTERM, lambda *_: bridge.end())
    # While Hermes loads, which takes seconds, the lifeline has to be watched as well.
    threading.Thread(target=load, args=(bridge,), name="bridge-load", daemon=True).start()
    for message in messages:
        bridge.take(message)
    bridge.end()


def load(bridge: Bridge) -> None:
    try:
        bridge.hermes.load()
        bridge.outbox.put(ready(bridge.hermes))
    except BaseException as error:
        give_up(bridge.outbox, "importFailed", redact(f"Hermes cannot be loaded: {type(error).__name__}: {error}"))


if __name__ == "__main__":
    main()
