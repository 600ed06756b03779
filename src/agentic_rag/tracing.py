"""Spans by OpenTelemetry's conventions for generative AI, v0.1.0 (semantic conventions 1.45).

Nothing is recorded until the program sets up an OpenTelemetry SDK, as ``opentelemetry-instrument`` does. Questions,
passages, names of notes and answers are recorded only if OpenTelemetry's own variable
``OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`` is ``true``; the text of an error is never recorded.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, StatusCode

__all__ = [
    "Span",
    "content",
    "message",
    "node",
    "of_server",
    "scored_documents",
    "set_token_usage",
    "span",
    "trace_parts",
]

T = TypeVar("T")
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_TRACER = trace.get_tracer("agentic_rag")


@contextmanager
def span(
    operation: str, subject: str, attributes: Mapping[str, Any] | None = None, *, remote: bool = False
) -> Iterator[Span]:
    """Trace the block as a span ``{operation} {subject}``.

    Args:
        operation: ``gen_ai.operation.name``: ``chat``, ``embeddings``, ``retrieval``, ``rerank``, …
        subject: the model's or dataset's name.
        attributes: further attributes; those of value None are left out.
        remote: the span is a call of another program.
    """
    given = {"gen_ai.operation.name": operation, **(attributes or {})}
    with _current(_start_span(f"{operation} {subject}", given, remote=remote)) as begun:
        yield begun


@contextmanager
def node(name: str, attributes: Mapping[str, Any] | None = None) -> Iterator[Span]:
    """Trace the block as a span with the name of a node of the graph; attributes of value None are left out."""
    with _current(_start_span(name, attributes or {})) as begun:
        yield begun


@contextmanager
def _current(span: Span) -> Iterator[Span]:
    with trace.use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        try:
            yield span
        except BaseException as error:
            _record_failure(span, error)
            raise


async def trace_parts(operation: str, subject: str, parts: AsyncIterator[T]) -> AsyncGenerator[T]:
    """The parts, produced within a span; the consumer runs outside of it."""
    begun = _start_span(f"{operation} {subject}", {"gen_ai.operation.name": operation})
    try:
        while True:
            with trace.use_span(begun, record_exception=False, set_status_on_exception=False):
                try:
                    part = await anext(parts)
                except StopAsyncIteration:
                    return
            yield part
    except BaseException as error:
        _record_failure(begun, error)
        raise
    finally:
        begun.end()
        if isinstance(parts, AsyncGenerator):
            await parts.aclose()


def set_token_usage(sent_tokens: int, written_tokens: int | None) -> None:
    """Set the tokens of the current call on its span."""
    begun = trace.get_current_span()
    begun.set_attribute("gen_ai.usage.input_tokens", sent_tokens)
    if written_tokens is not None:
        begun.set_attribute("gen_ai.usage.output_tokens", written_tokens)


def content(span: Span, **attributes: Any) -> None:
    """Set attributes with user text if content capture is on; ``__`` in a name stands for a dot, other values
    become JSON."""
    if span.is_recording() and os.environ.get(CONTENT, "").casefold() == "true":
        for name, value in attributes.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            span.set_attribute(name.replace("__", "."), text)


def message(role: str, text: str) -> dict[str, object]:
    """A message in the format of the conventions."""
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def of_server(url: str | None) -> dict[str, object]:
    """Attributes of a server's address, without user, password and path."""
    try:
        parts = urlsplit(url or "")
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return {}
    return {"server.address": parts.hostname, "server.port": port} if parts.hostname else {}


def scored_documents(entries: Sequence[Mapping[str, Any]], score: str) -> list[dict[str, object]]:
    """Documents in the format of the conventions."""
    return [{"id": entry["id"], "score": entry.get(score)} for entry in entries]


def _start_span(name: str, attributes: Mapping[str, Any], *, remote: bool = False) -> Span:
    return _TRACER.start_span(
        name,
        kind=SpanKind.CLIENT if remote else SpanKind.INTERNAL,
        attributes={key: value for key, value in attributes.items() if value is not None},
    )


def _record_failure(span: Span, error: BaseException) -> None:
    """Record only the error's type and HTTP status, because its text may contain a question or a passage."""
    if isinstance(error, GeneratorExit):
        return
    span.set_attribute("error.type", str(getattr(error, "status_code", None) or type(error).__name__))
    span.set_status(StatusCode.ERROR)
