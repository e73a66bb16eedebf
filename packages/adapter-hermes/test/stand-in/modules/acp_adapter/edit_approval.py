"""The gate before a file is changed. It is open where nobody has asked to be asked."""

import json
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

_requester = ContextVar("requester", default=None)


@dataclass(frozen=True)
class EditProposal:
    tool_name: str
    path: str
    old_text: str | None
    new_text: str
    arguments: dict


def set_edit_approval_requester(requester):
    return _requester.set(requester)


def reset_edit_approval_requester(token):
    _requester.reset(token)


def build_edit_proposal(tool_name, arguments):
    if tool_name not in ("write_file", "patch"):
        return None
    file = Path(arguments["path"])
    old = file.read_text(encoding="utf-8") if file.exists() else None
    if tool_name == "write_file":
        return EditProposal(tool_name, arguments["path"], old, arguments["content"], dict(arguments))
    if old is None or arguments["old_string"] not in old:
        raise ValueError("Could not find match for old_string")
    new = old.replace(arguments["old_string"], arguments["new_string"], 1)
    return EditProposal(tool_name, arguments["path"], old, new, dict(arguments))


def should_auto_approve_edit(proposal, policy, cwd=None):
    path = Path(proposal.path)
    if policy == "ask" or path.name.startswith(".env") or ".git" in path.parts:
        return False
    return policy == "session" or path.is_relative_to(cwd)


def maybe_require_edit_approval(tool_name, arguments):
    requester = _requester.get()
    if requester is None:
        return None
    try:
        proposal = build_edit_proposal(tool_name, arguments)
    except Exception as error:
        return json.dumps({"error": f"Edit approval denied: could not prepare diff ({error})"})
    if proposal is None:
        return None
    try:
        approved = bool(requester(proposal))
    except Exception:
        approved = False
    return None if approved else json.dumps({"error": "Edit approval denied by ACP client; file was not modified."})
