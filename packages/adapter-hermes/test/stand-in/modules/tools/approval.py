"""Dangerous commands: asked about when interactive, silently approved when not, as Hermes does it."""

import contextvars
import os

from stand_in.control import gate

_interactive = contextvars.ContextVar("interactive", default=None)
_approved: set = set()


def set_hermes_interactive_context(interactive):
    return _interactive.set("1" if interactive else "")


def reset_hermes_interactive_context(token):
    _interactive.reset(token)


def prompt_dangerous_approval(command, description, *, approval_callback=None, session=None):
    interactive = _interactive.get() if _interactive.get() is not None else os.environ.get("HERMES_INTERACTIVE")
    if not interactive or os.environ.get("HERMES_YOLO_MODE"):
        return "once"
    if (session, description) in _approved or (None, description) in _approved:
        return "session"
    if approval_callback is None:
        return "deny"
    gate("approve")
    try:
        choice = approval_callback(command, description, allow_permanent=not command.startswith("tirith"))
    except Exception:
        return "deny"
    if choice in ("session", "always"):
        _approved.add((session if choice == "session" else None, description))
    return choice
