"""The store of sessions: written message by message while a turn runs, so that a kill loses nothing before it."""

import json
import threading
from datetime import datetime, timezone

from stand_in.control import home


class SessionDB:
    def __init__(self):
        self._folder = home() / "sessions"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.RLock()

    def rows(self):
        with self._lock:
            return [json.loads(file.read_text(encoding="utf-8")) for file in sorted(self._folder.glob("*.json"))]

    def get_session(self, session_id):
        file = self._folder / f"{session_id}.json"
        with self._lock:
            return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None

    def create_session(self, session_id, cwd, model):
        if self.get_session(session_id) is None:
            row = {"id": session_id, "source": "acp", "cwd": cwd, "model": model, "title": None, "messages": []}
            self._write(row)

    def update(self, session_id, **fields):
        with self._lock:
            self._write({**self.get_session(session_id), **fields})

    def append_message(self, session_id, message):
        with self._lock:
            row = self.get_session(session_id)
            row["messages"].append(message)
            self._write(row)

    def replace_messages(self, session_id, messages, active_only=False):
        self.update(session_id, messages=messages)

    def get_messages_as_conversation(self, session_id):
        row = self.get_session(session_id)
        return row["messages"] if row else []

    def _write(self, row):
        row["updated_at"] = datetime.now(timezone.utc).isoformat()
        file = self._folder / f"{row['id']}.json"
        fresh = file.with_suffix(".new")
        fresh.write_text(json.dumps(row), encoding="utf-8")
        fresh.replace(file)
