"""One streamed request to a server of chat completions, in a thread of its own, as Hermes makes it."""

import http.client
import json
import queue
import socket
import threading
from urllib.parse import urlparse


class Interrupted(Exception):
    pass


class Redirected(Exception):
    pass


class ModelError(Exception):
    pass


class ModelCall:
    def __init__(self, agent, messages, tools):
        self._agent, self._messages, self._tools = agent, messages, tools
        self._done: queue.SimpleQueue = queue.SimpleQueue()
        self._connection = None
        self.answer = {"content": "", "reasoning": "", "tool_calls": [], "finish_reason": None, "usage": None}

    def run(self):
        """The whole answer; raises what it was aborted with as soon as it is, whatever the model does."""
        threading.Thread(target=self._call, name="_call", daemon=True).start()
        outcome = self._done.get()
        if isinstance(outcome, Exception):
            raise outcome
        return self.answer

    def abort(self, why=None):
        self._done.put(why or Interrupted())
        connection = self._connection
        if connection is not None and connection.sock is not None:
            try:
                connection.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _call(self):
        try:
            self._stream()
            self._done.put(None)
        except Exception as error:
            self._done.put(error if isinstance(error, ModelError) else ModelError(f"Connection error: {error}"))

    def _stream(self):
        url = urlparse(self._agent.base_url)
        self._connection = http.client.HTTPConnection(url.hostname, url.port)
        body = {
            "model": self._agent.model,
            "stream": True,
            "stream_options": {"include_usage": True},
            "messages": [plain(message) for message in self._messages],
            "tools": self._tools,
        }
        headers = {"content-type": "application/json", "authorization": f"Bearer {self._agent.api_key}"}
        self._connection.request("POST", f"{url.path}/chat/completions", json.dumps(body), headers)
        response = self._connection.getresponse()
        if response.status != 200:
            raise ModelError(f"Error code: {response.status} - {response.read().decode('utf-8', 'replace')}")
        for line in response:
            if not line.startswith(b"data:"):
                continue
            data = line[5:].strip()
            if data == b"[DONE]":
                return
            self._take(json.loads(data))
        raise ModelError("the stream ended before its end")

    def _take(self, chunk):
        if chunk.get("usage"):
            self.answer["usage"] = chunk["usage"]
        for choice in chunk.get("choices") or []:
            delta = choice.get("delta") or {}
            self.answer["finish_reason"] = choice.get("finish_reason") or self.answer["finish_reason"]
            thought = delta.get("reasoning_content") or delta.get("reasoning")
            if thought:
                self.answer["reasoning"] += thought
                self._agent.fire("reasoning_callback", thought)
            if delta.get("content"):
                self.answer["content"] += delta["content"]
                self._agent.stream(delta["content"])
            for part in delta.get("tool_calls") or []:
                self._take_call(part)

    def _take_call(self, part):
        calls = self.answer["tool_calls"]
        while len(calls) <= part.get("index", 0):
            calls.append({"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
        call, function = calls[part.get("index", 0)], part.get("function") or {}
        call["id"] = part.get("id") or call["id"]
        call["function"]["name"] += function.get("name") or ""
        call["function"]["arguments"] += function.get("arguments") or ""


def plain(message):
    known = ("role", "content", "tool_calls", "tool_call_id")
    return {key: value for key, value in message.items() if key in known}
