"""Hermes' session manager over its store, here a folder of JSON files."""

import copy
import os
import re
import threading
import uuid
from types import SimpleNamespace

from hermes_state import SessionDB
from stand_in.control import gate
from tools.terminal_tool import register_task_env_overrides


class SessionManager:
    def __init__(self):
        self._sessions, self._lock, self._db = {}, threading.Lock(), SessionDB()

    def _get_db(self):
        return self._db

    def create_session(self, cwd="."):
        return self._hold(str(uuid.uuid4()), translated(cwd), [], None)

    def get_session(self, session_id):
        with self._lock:
            state = self._sessions.get(session_id)
        if state is not None:
            return state
        row = self._db.get_session(session_id)
        if row is None or row["source"] != "acp":
            return None
        return self._hold(session_id, row["cwd"], self._db.get_messages_as_conversation(session_id), row["model"])

    def fork_session(self, session_id, cwd="."):
        original = self.get_session(session_id)
        if original is None:
            return None
        return self._hold(str(uuid.uuid4()), translated(cwd), copy.deepcopy(original.history), original.model)

    def update_cwd(self, session_id, cwd):
        state = self.get_session(session_id)
        if state is not None:
            state.cwd = translated(cwd)
            register_task_env_overrides(session_id, {"cwd": state.cwd})
            self.save_session(session_id)
        return state

    def list_sessions(self, cwd=None):
        rows = [row for row in self._db.rows() if row["messages"] and (cwd is None or row["cwd"] == cwd)]
        rows.sort(key=lambda row: row["updated_at"], reverse=True)
        return [
            {
                "session_id": row["id"],
                "cwd": row["cwd"],
                "title": row["title"] or row["messages"][0]["content"],
                "updated_at": row["updated_at"],
            }
            for row in rows
        ]

    def save_session(self, session_id):
        state = self._sessions.get(session_id)
        if state is not None:
            gate("saving")
            self._db.update(session_id, cwd=state.cwd, model=state.model)
            if not state.agent._session_db_created:
                self._db.replace_messages(session_id, state.history)

    def _hold(self, session_id, cwd, history, model):
        register_task_env_overrides(session_id, {"cwd": cwd})
        agent = self._make_agent(session_id=session_id, cwd=cwd, model=model)
        state = SimpleNamespace(session_id=session_id, agent=agent, cwd=cwd, model=agent.model, history=history)
        with self._lock:
            self._sessions[session_id] = state
        self._db.create_session(session_id, cwd, agent.model)
        self.save_session(session_id)
        return state

    def _make_agent(self, *, session_id, cwd, model=None, requested_provider=None, base_url=None, api_mode=None):
        from hermes_cli.config import load_config
        from hermes_cli.runtime_provider import resolve_runtime_provider
        from run_agent import AIAgent

        default = (load_config().get("model") or {}).get("default", "")
        try:
            runtime = resolve_runtime_provider(requested=requested_provider)
        except ValueError:
            runtime = {}  # as Hermes does it: the agent is built without
        if base_url:
            runtime["base_url"] = base_url
        agent = AIAgent(model=model or default, session_id=session_id, session_db=self._db, **runtime)
        agent.session_cwd = cwd
        return agent


def translated(cwd):
    """As on a Windows host with Hermes inside WSL, where the environment says so."""
    drive = re.match(r"^([A-Za-z]):[\\/](.*)$", cwd)
    if drive and os.environ.get("STAND_IN_WSL_ROOT"):
        return f"{os.environ['STAND_IN_WSL_ROOT']}/{drive.group(1).lower()}/" + drive.group(2).replace("\\", "/")
    return cwd
