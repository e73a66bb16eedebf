"""The stand-in, with turns that do nothing but what is measured. The prompt says what: see hermes.bench.mjs."""

import importlib.util
import threading
import time
from pathlib import Path

_FILE = Path(__file__).parents[2] / "test" / "stand-in" / "modules" / "run_agent.py"
_spec = importlib.util.spec_from_file_location("stand_in_agent", _FILE)
_stand_in = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_stand_in)

_together = threading.Barrier(8)


class AIAgent(_stand_in.AIAgent):
    def run_conversation(self, user_message, conversation_history=None, **_more):
        what, count = user_message.split()
        getattr(self, f"_{what}")(int(count))
        messages = [*(conversation_history or []), {"role": "user", "content": user_message}]
        return {"final_response": "done", "messages": messages, "completed": True}

    def _flood(self, count):
        for index in range(count):
            self.stream_delta_callback(f"{index} ")

    def _tokens(self, count):
        for _ in range(count):
            time.sleep(0.005)
            self.stream_delta_callback(f"{time.time_ns()} ")

    def _busy(self, seconds):
        self.stream_delta_callback("busy ")
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self._interrupt_requested:
            pass
        self._interrupt_requested = False

    def _together(self, seconds):
        _together.wait(timeout=seconds)
        self.stream_delta_callback("together ")

    def _wait(self, seconds):
        self.stream_delta_callback("waiting ")
        time.sleep(seconds)
