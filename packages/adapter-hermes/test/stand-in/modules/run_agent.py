"""AIAgent as Hermes 0.19.0 behaves towards an adapter, with a model behind it and nothing else of it."""

import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from types import SimpleNamespace

from hermes_cli.config import load_config
from stand_in.control import fault, gate
from stand_in.model import Interrupted, ModelCall, ModelError, Redirected
from stand_in.toolbox import DEFINITIONS, INTERRUPTS, call
from tools.terminal_tool import _get_approval_callback, set_approval_callback

MARKER = "\n\n[OUT-OF-BAND USER MESSAGE — from the user]\n{}\n[/OUT-OF-BAND USER MESSAGE]"
SENTINEL = "Operation interrupted: waiting for model response (0.1s elapsed)."
CALLBACKS = ("stream_delta", "reasoning", "tool_progress", "tool_start", "tool_complete", "step", "status", "thinking")
NEWER = ("tool_start", "tool_complete")


class AIAgent:
    def __init__(
        self,
        base_url=None,
        api_key=None,
        provider=None,
        api_mode=None,
        model="",
        session_id=None,
        session_db=None,
        **_more,
    ):
        self.base_url, self.api_key, self.provider, self.api_mode, self.model = (
            base_url,
            api_key,
            provider,
            api_mode,
            model,
        )
        self.session_id, self._session_db, self._session_db_created = session_id, session_db, False
        self.tools, self.max_iterations, self.enabled_toolsets = DEFINITIONS, 20, ["hermes-acp"]
        self._pending_steer, self._pending_steer_lock = None, threading.Lock()
        self._interrupt_requested, self._execution_thread_id = False, None
        self._model_call, self._workers = None, set()
        self._in_tools, self._correction = False, None
        if os.environ.get("STAND_IN_REDIRECT"):
            self._supports_active_turn_redirect, self.redirect = True, self._redirect
        for name in CALLBACKS:
            if name not in NEWER or not os.environ.get("STAND_IN_OLDER"):
                setattr(self, f"{name}_callback", None)
        size = "unknown" if fault("no-size") else (load_config().get("model") or {}).get("context_length")
        self.context_compressor = SimpleNamespace(context_length=size, last_prompt_tokens=0)
        for name in ("prompt", "completion", "total", "reasoning", "cache_read", "cache_write"):
            setattr(self, f"session_{name}_tokens", 0)

    # -- what an adapter calls

    def steer(self, text):
        if not text or not text.strip():
            return False
        with self._pending_steer_lock:
            self._pending_steer = f"{self._pending_steer}\n{text.strip()}" if self._pending_steer else text.strip()
        return True

    def _redirect(self, text):
        """What newer installs have: takes the model's request back and makes it again with the correction."""
        if self._interrupt_requested or (self._model_call is None and not self._in_tools):
            return False
        if self._in_tools:
            return self.steer(text)
        self._correction = f"{self._correction}\n\n{text}" if self._correction else text
        self._model_call.abort(Redirected())
        return True

    def interrupt(self, message=None):
        self._interrupt_requested = True
        gate("interrupt")
        model_call = self._model_call
        if model_call is not None:
            model_call.abort()
        for thread in [self._execution_thread_id, *self._workers]:
            if thread is not None:
                INTERRUPTS.set(True, thread)

    def clear_interrupt(self):
        self._interrupt_requested = False
        for thread in [self._execution_thread_id, *self._workers]:
            if thread is not None:
                INTERRUPTS.set(False, thread)
        if not os.environ.get("STAND_IN_NEWER"):
            with self._pending_steer_lock:
                self._pending_steer = None

    def run_conversation(
        self,
        user_message,
        system_message=None,
        conversation_history=None,
        task_id=None,
        stream_callback=None,
        persist_user_message=None,
    ):
        self._execution_thread_id = threading.get_ident()
        turn = Conversation(self, list(conversation_history or []), task_id)
        turn.add({"role": "user", "content": user_message}, stored=persist_user_message)
        gate("start")
        return turn.run()

    def close(self):
        pass

    def _compress_context(self, messages, _prompt, *, approx_tokens=None, task_id=None):
        return [{"role": "user", "content": f"Summary of {len(messages)} messages."}], ""

    # -- callbacks: what they raise is swallowed

    def fire(self, name, *args, **more):
        callback = getattr(self, name, None)
        if callback is None:
            return
        try:
            callback(*args, **more)
        except Exception:
            pass

    def stream(self, text):
        self.fire("stream_delta_callback", text)

    def _drain_pending_steer(self):
        with self._pending_steer_lock:
            text, self._pending_steer = self._pending_steer, None
        return text

    def _put_back(self, text):
        with self._pending_steer_lock:
            self._pending_steer = f"{self._pending_steer}\n{text}" if self._pending_steer else text


class Conversation:
    """One call of run_conversation."""

    def __init__(self, agent, messages, task_id):
        self.agent, self.messages, self.task_id = agent, messages, task_id
        self.final, self.interrupted, self.failed, self.error, self.requests = None, False, False, None, 0
        self.exit_reason = "unknown"

    def add(self, message, stored=None):
        self.messages.append(message)
        self.agent._session_db_created = True
        row = {**message, "content": stored} if stored is not None else dict(message)
        self.agent._session_db.append_message(self.agent.session_id, row)

    def run(self):
        try:
            early = self._loop()
        except Interrupted:
            self.interrupted, self.final, self.exit_reason = True, SENTINEL, "interrupted_during_api_call"
            early = False
        except ModelError as error:
            self.failed, self.error, self.final = True, str(error), f"API call failed after 3 retries: {error}"
            return {
                "final_response": self.final,
                "messages": self.messages,
                "completed": False,
                "failed": True,
                "error": self.error,
            }
        return {"final_response": self.final, "messages": self.messages} if early else self._finalize()

    def _loop(self):
        for count in range(self.agent.max_iterations):
            if self.agent._interrupt_requested:
                self.interrupted, self.exit_reason = True, "interrupted_by_user"
                return False
            self.agent.fire("step_callback", count + 1, [])
            self._drain_before_request()
            gate("request")
            try:
                answer = self._ask()
            except Redirected:
                text, self.agent._correction = self.agent._correction, None
                if fault("redirect-limit"):
                    self.agent.steer(text)
                    self.exit_reason = "redirect_restart_limit_exceeded"
                    return False
                self.add({"role": "user", "content": text})
                continue
            if fault("raise"):
                raise RuntimeError("the agent broke")
            if fault("exit"):
                sys.exit(3)
            if not answer["tool_calls"]:
                self.final, self.exit_reason = answer["content"], "text_response(finish_reason=stop)"
                self.add({"role": "assistant", "content": answer["content"], "reasoning": answer["reasoning"] or None})
                return fault("early")
            self.add(
                {
                    "role": "assistant",
                    "content": answer["content"],
                    "reasoning": answer["reasoning"] or None,
                    "tool_calls": answer["tool_calls"],
                }
            )
            self.agent._in_tools = True
            self._run_tools(answer["tool_calls"])
            self.agent._in_tools = False
            gate("tools")
            self._inject(self.agent._drain_pending_steer())
            gate("recovery")
            if fault("wipe"):
                self.agent.fire("status_callback", "lifecycle", f"Trying again with {self.agent.api_key}")
                self.agent.clear_interrupt()
        self.exit_reason = f"max_iterations_reached({self.agent.max_iterations})"
        return False

    def _drain_before_request(self):
        text = self.agent._drain_pending_steer()
        if text and not self._inject(text):
            self.agent._put_back(text)

    def _inject(self, text):
        tool = next((message for message in reversed(self.messages) if message["role"] == "tool"), None)
        if not text or tool is None:
            return False
        tool["content"] += MARKER.format(text)
        return True

    def _ask(self):
        self.requests += 1
        streamed = self.agent.stream_delta_callback
        if fault("unstreamed"):
            self.agent.stream_delta_callback = None
        self.agent._model_call = ModelCall(self.agent, self.messages, self.agent.tools)
        if fault("deaf"):
            self.agent._model_call.abort = lambda *_: None
        try:
            if self.agent._interrupt_requested:
                raise Interrupted
            answer = self.agent._model_call.run()
        finally:
            self.agent._model_call = None
            self.agent.stream_delta_callback = streamed
        self._count(answer["usage"] or {})
        return answer

    def _count(self, usage):
        for name in ("prompt", "completion", "total"):
            attribute = f"session_{name}_tokens"
            setattr(self.agent, attribute, getattr(self.agent, attribute) + int(usage.get(f"{name}_tokens") or 0))
        self.agent.context_compressor.last_prompt_tokens = int(usage.get("prompt_tokens") or 0)

    # -- tools

    def _run_tools(self, calls):
        anonymous, silent, older = fault("anonymous"), fault("silent-end"), bool(os.environ.get("STAND_IN_OLDER"))
        parsed = [
            (one["id"], one["function"]["name"], json.loads(one["function"]["arguments"] or "{}")) for one in calls
        ]
        for identifier, name, args in parsed:
            self.agent.fire("tool_progress_callback", "tool.started", name, "", args)
        for identifier, name, args in parsed:
            if not older:
                self.agent.fire("tool_start_callback", None if anonymous else identifier, name, args)
        for (identifier, name, args), result in zip(parsed, self._results(parsed)):
            failed = '"error": "' in result or result.startswith("Error")
            if not silent:
                self.agent.fire(
                    "tool_progress_callback",
                    "tool.completed",
                    name,
                    None,
                    None,
                    duration=0.0,
                    is_error=failed,
                    result=result,
                )
            if not silent and not older:
                self.agent.fire("tool_complete_callback", None if anonymous else identifier, name, args, result)
            self.add({"role": "tool", "tool_call_id": identifier, "tool_name": name, "content": result})

    def _results(self, parsed):
        if len(parsed) == 1:
            return [call(self.task_id, parsed[0][1], parsed[0][2])]
        with ThreadPoolExecutor(len(parsed)) as pool:
            jobs = [pool.submit(self._in_worker(), name, args) for _, name, args in parsed]
            return [job.result() for job in jobs]

    def _in_worker(self):
        context, approval = copy_context(), _get_approval_callback()

        def work(name, args):
            self.agent._workers.add(threading.get_ident())
            set_approval_callback(approval)
            try:
                return context.run(call, self.task_id, name, args)
            finally:
                set_approval_callback(None)
                self.agent._workers.discard(threading.get_ident())

        return work

    # -- the end, in Hermes' order

    def _finalize(self):
        result = self._result()
        leftover = self.agent._drain_pending_steer()
        if leftover:
            result["pending_steer"] = leftover
        gate("drained")
        self.agent.clear_interrupt()
        gate("cleared")
        if fault("leftover"):
            self.agent.steer("left over")
        if fault("stale-interrupt"):
            self.agent.interrupt()
        if fault("late-delta"):
            threading.Thread(
                target=self._later, args=(self.agent.stream_delta_callback, "too late"), daemon=True
            ).start()
        if fault("late-interrupt"):
            threading.Thread(target=self._later, args=(self.agent.interrupt,), daemon=True).start()
        gate("stored")
        return result

    def _later(self, call, *args):
        gate("later")
        call(*args)
        gate("later-done")

    def _result(self):
        if fault("none"):
            self.final = None
        if fault("failed"):
            self.failed, self.error = True, f"HTTP 500 for key {self.agent.api_key}"
        transformed = fault("transformed")
        result = {
            "final_response": f"Rewritten: {self.final}" if transformed else self.final,
            "messages": self.messages,
            "api_calls": self.requests,
            "completed": self.final is not None and not self.failed and not self.interrupted,
            "turn_exit_reason": self.exit_reason,
            "failed": self.failed,
            "interrupted": self.interrupted,
            "response_transformed": transformed,
        }
        if fault("truncated"):
            result.update(completed=False, partial=True, error="Response truncated due to output length limit")
        if fault("exhausted"):
            result.update(completed=False, turn_exit_reason="max_iterations_reached(20/20)")
        return {**result, **({"error": self.error} if self.error else {})}
