"""How a test stops the agent at a point of its turn, and makes things go wrong there."""

import os
from pathlib import Path

FAULTS = {
    "raise": "run_conversation raises in the middle of the turn",
    "exit": "run_conversation raises SystemExit",
    "early": "the turn ends without its finalizer, after the first answer of the model",
    "none": "final_response is None",
    "wipe": "the slot of steers is emptied before the next request, as after a recovery",
    "anonymous": "tool calls are reported without ids",
    "silent-end": "the last tool call of the turn never reports its end",
    "late-delta": "a thread of the agent streams between the gates `later` and `later-done`, when the turn is over",
    "late-interrupt": "the interrupt flag is set between these gates",
    "unstreamed": "the answer is not streamed",
    "transformed": "a hook has rewritten the answer",
    "leftover": "something stays in the slot after the turn has returned",
    "stale-interrupt": "the interrupt flag is set after the turn has returned",
    "failed": "the turn failed, with an error that names the API key",
    "truncated": "the answer was cut at the model's limit",
    "exhausted": "the turn ran out of iterations",
    "redirect-limit": "a redirected request is not made again: the correction is left over",
    "no-size": "the size of the model's window is not a number",
    "deaf": "the model's answer is awaited without looking at the interrupt",
}


def home() -> Path:
    return Path(os.environ.get("HERMES_HOME") or Path.home() / ".hermes")


def gate(name: str) -> None:
    """Waits for whoever opens the FIFO for writing, and until it is closed again."""
    path = home() / "gates" / name
    if not path.exists():
        return
    with open(path, "rb") as stream:
        stream.read()
    path.unlink(missing_ok=True)


def fault(name: str) -> bool:
    assert name in FAULTS, name
    try:
        (home() / "faults" / name).unlink()
    except FileNotFoundError:
        return False
    return True
