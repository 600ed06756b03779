"""A model server on this machine that speaks the OpenAI protocol and misbehaves on request.

As a language model it reads sentences like ``Ada knows Bob in 2021.`` and answers Graphiti's prompts about
them in the schema that the request asks for; any other chat gets ``answer``.
"""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from agentic_rag.testing import HashingEmbedding

SENTENCE = re.compile(r"([A-Z]\w+) (knows|leads|left) ([A-Z]\w+)(?: in (\d{4}))?\.")
SECRET_ECHO = "Incorrect API key provided: sk-very-secret. Text: the passage itself."
"""What a careless server puts into its errors."""


@dataclass(frozen=True)
class Fault:
    """One thing to do instead of answering well."""

    status: int = 200
    body: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    hang: bool = False
    drop: bool = False
    trickle: bool = False
    """Send a byte now and then, for ever: no single read times out."""
    cut: bool = False
    """Hang up in the middle of the answer."""
    ends_after: int | None = None
    """End a stream after so many words, as a proxy does whose server died: no error, and no reason to finish."""


GOOD = None
INVALID_JSON = Fault(body='{"extracted_entities": [{"name": "Ada", ')
WRONG_SHAPE = Fault(body='{"entities": ["Ada"]}')
EMPTY = Fault(body="")
HANG = Fault(hang=True)
DROP = Fault(drop=True)
TRICKLE = Fault(trickle=True)
CUT = Fault(cut=True)
BROKEN_OFF = Fault(ends_after=5)


def refused(status: int, **headers: str) -> Fault:
    return Fault(status=status, headers=tuple((k.replace("_", "-"), v) for k, v in headers.items()))


@dataclass
class LocalOpenAIServer:
    """Its behaviour may be changed while it runs."""

    dimension: int = 64
    answer: str = "Tea comes from China [1]."
    finish_reason: str | None = "stop"
    """Why it says that it stopped."""
    tokens: tuple[int, int] | None = (1, 1)
    """That it says a request had and an answer has; None: it says nothing."""
    script: deque[Fault | None] = field(default_factory=deque)
    """What to do with the next requests, one each; then well."""
    judge: Callable[[dict[str, Any]], Fault | None] = lambda request: GOOD
    """What to do with a request, when the script is empty."""
    reference_dates: bool = False
    """Date every fact by the reference time, as small models do."""
    ignores_schema: bool = False
    """Knows no response_format: answers in the shape only if the prompt shows it."""
    change_vectors: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = lambda items: items
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    base_url: str = ""
    stopping: threading.Event = field(default_factory=threading.Event)

    def schemas(self) -> list[str]:
        """Which of Graphiti's answers were asked for, in order."""
        return [_schema(request) for request in self.requests]

    def asked_about(self, words: str) -> int:
        return sum(words in _passage(request) for request in self.requests)

    def completion(self, request: dict[str, Any]) -> str:
        schema = _schema(request)
        if self.ignores_schema and "JSON object of this schema" not in request["messages"][-1]["content"]:
            return json.dumps({"surprise": schema})
        if schema:
            return json.dumps(self._read(schema, request["messages"][-1]["content"]))
        return self.answer

    def _read(self, schema: str, prompt: str) -> dict[str, Any]:
        found = SENTENCE.findall(_passage_of(prompt))
        if schema == "ExtractedEntities":
            names = dict.fromkeys(name for source, _, target, _ in found for name in (source, target))
            return {"extracted_entities": [{"name": name, "entity_type_id": 0} for name in names]}
        if schema == "ExtractedEdges":
            return {"edges": [self._edge(prompt, *parts) for parts in found]}
        if schema == "NodeResolutions":
            return {"entity_resolutions": []}
        if schema == "EdgeDuplicate":
            return {"duplicate_facts": [], "contradicted_facts": []}
        if schema == "SummarizedEntities":
            return {"summaries": []}
        return {"valid_at": self._reference(prompt), "invalid_at": None}

    def _edge(self, prompt: str, source: str, verb: str, target: str, year: str) -> dict[str, Any]:
        return {
            "source_entity_name": source,
            "target_entity_name": target,
            "relation_type": verb.upper(),
            "fact": f"{source} {verb} {target}",
            "valid_at": f"{year}-01-01T00:00:00Z" if year else self._reference(prompt),
        }

    def _reference(self, prompt: str) -> str | None:
        found = re.search(r"<REFERENCE[ _]TIME>\s*(\d{4}-\d\d-\d\d)[ T]\d\d:\d\d", prompt)
        return f"{found[1]}T00:00:00Z" if found and self.reference_dates else None

    def vectors(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        vectors = HashingEmbedding(self.dimension)._vectors(request["input"])
        return self.change_vectors(
            [
                {"object": "embedding", "index": index, "embedding": vector.tolist()}
                for index, vector in enumerate(vectors)
            ]
        )


@contextmanager
def running() -> Iterator[LocalOpenAIServer]:
    """A server on a free port of this machine."""
    model = LocalOpenAIServer()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(model))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    model.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield model
    finally:
        model.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(model: LocalOpenAIServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            model.requests.append(request)
            model.keys.add(self.headers.get("authorization", ""))
            fault = model.script.popleft() if model.script else model.judge(request)
            if fault is not None and (fault.hang or fault.drop or fault.trickle):
                self._no_answer(fault)
            elif fault is not None and fault.status != 200:
                body = fault.body or json.dumps({"error": {"message": SECRET_ECHO, "type": "error"}})
                self._send(fault.status, body, fault.headers)
            elif self.path.endswith("/embeddings"):
                given: dict[str, Any] = {"object": "list", "model": "m", "data": model.vectors(request)}
                if model.tokens is not None:
                    given["usage"] = {"prompt_tokens": model.tokens[0], "total_tokens": model.tokens[0]}
                self._send(200, fault.body if fault and fault.body is not None else json.dumps(given))
            else:
                text = fault.body if fault and fault.body is not None else model.completion(request)
                tool = _tool_to_call(request)
                cut = fault is not None and fault.cut
                if request.get("stream"):
                    wanted = (request.get("stream_options") or {}).get("include_usage")
                    said = _streamed(text, model.finish_reason, model.tokens if wanted else None)
                    if fault is not None and fault.ends_after is not None:
                        said = "".join(f"{event}\n\n" for event in said.split("\n\n")[: fault.ends_after])
                    self._send(200, said, kind="text/event-stream", cut=cut)
                else:
                    self._send(200, json.dumps(_chat(text, model.finish_reason, tool, model.tokens)), cut=cut)

        def _no_answer(self, fault: Fault) -> None:
            self.close_connection = True
            if fault.hang:
                model.stopping.wait(30)
            if fault.trickle:
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", "100000")
                self.end_headers()
                while not model.stopping.wait(0.05):
                    try:
                        self.wfile.write(b" ")
                    except OSError:
                        return

        def _send(
            self,
            status: int,
            body: str,
            headers: tuple[tuple[str, str], ...] = (),
            kind: str = "application/json",
            cut: bool = False,
        ) -> None:
            raw = body.encode()
            try:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(raw)))
                for name, value in headers:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw[: len(raw) // 2] if cut else raw)
                self.close_connection = self.close_connection or cut
            except OSError:
                self.close_connection = True  # the client has given up

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler


def _tool_to_call(request: dict[str, Any]) -> dict[str, Any] | None:
    """A call of the first tool with what the person said, until it was called."""
    said = request["messages"]
    if not request.get("tools") or any(message["role"] == "tool" for message in said):
        return None
    function = request["tools"][0]["function"]
    (argument,) = function["parameters"]["properties"]
    asked = [message["content"] for message in said if message["role"] == "user"][-1]
    call = {"name": function["name"], "arguments": json.dumps({argument: asked})}
    return {"id": "call-1", "type": "function", "function": call}


def _usage(tokens: tuple[int, int] | None) -> dict[str, Any]:
    if tokens is None:
        return {}
    sent, written = tokens
    told = {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}
    return {"usage": told}


def _chat(
    text: str, finish_reason: str | None, tool: dict[str, Any] | None, tokens: tuple[int, int] | None
) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if tool is not None:
        message, finish_reason = {**message, "content": None, "tool_calls": [tool]}, "tool_calls"
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        **_usage(tokens),
    }


def _streamed(text: str, finish_reason: str | None, tokens: tuple[int, int] | None) -> str:
    """A word an event."""
    deltas: list[dict[str, Any]] = [{"content": word} for word in re.findall(r"\S+\s*", text)]
    choices = [
        *({"index": 0, "delta": delta, "finish_reason": None} for delta in deltas),
        {"index": 0, "delta": {}, "finish_reason": finish_reason},
    ]
    head = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    events = [json.dumps({**head, "choices": [choice]}) for choice in choices]
    events += [json.dumps({**head, "choices": [], **_usage(tokens)})] if tokens else []
    return "".join(f"data: {event}\n\n" for event in (*events, "[DONE]"))


def _schema(request: dict[str, Any]) -> str:
    asked = (request.get("response_format") or {}).get("json_schema", {}).get("name", "")
    if asked or "messages" not in request:
        return str(asked)
    shown = re.search(r'"title": "(\w+)", "type": "object"}\s*\Z', request["messages"][-1]["content"])
    return shown[1] if shown else ""


def _passage(request: dict[str, Any]) -> str:
    return _passage_of(request["messages"][-1]["content"]) if "messages" in request else ""


def _passage_of(prompt: str) -> str:
    """What the prompt asks about, without what came before it."""
    found = re.search(r"<(TEXT|CURRENT_MESSAGE|FACT)>(.*?)</\1>", prompt, re.DOTALL)
    return found[2] if found else ""
