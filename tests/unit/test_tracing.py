"""Spans: which exist, their attributes, and that they contain no user text unless it is requested."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from agentic_rag import Rag, RagConfig, open_rag, tracing
from asked_vaults import stored
from local_openai_server import LocalOpenAIServer, refused

QUESTION = "Where does the secret tea come from?"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """The spans that ended."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "_TRACER", provider.get_tracer("agentic_rag"))
    yield exporter
    provider.shutdown()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    note = {"hidden name.md": "The secret tea comes from a garden in China.\n"}
    return stored(tmp_path_factory.mktemp("traced"), note)


@pytest.fixture
async def rag(data: Path, model_server: LocalOpenAIServer) -> AsyncIterator[Rag]:
    chat = {"base_url": model_server.base_url, "model": "small", "api_key": "sk-secret-key"}
    config = {"data_dir": data, "chat": chat, "answer": {"method": "chat"}}
    async with open_rag(RagConfig.model_validate(config)) as rag:
        yield rag


async def asked_by(way: str, rag: Rag) -> None:
    if way == "ask":
        await rag.ask(QUESTION)
    elif way == "stream":
        [part async for part in rag.stream(QUESTION)]
    else:
        await rag.graph.ainvoke({"query": QUESTION, "operation": "document_retrieval"})


def parent_of(span: ReadableSpan, by_name: dict[str, ReadableSpan]) -> str | None:
    ids = {one.context.span_id: name for name, one in by_name.items() if one.context}
    return ids[span.parent.span_id] if span.parent else None


def told(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


NODES = {
    "prepare_query",
    "retrieve_graphiti",
    "retrieve_lancedb",
    "select_notes",
    "fuse_results",
    "rerank",
    "check_quality",
    "answer",
}


@pytest.mark.parametrize("way", ["ask", "stream", "graph"])
async def test_a_question_is_one_tree_of_the_nodes_and_the_model_in_its_node(
    rag: Rag, spans: InMemorySpanExporter, model_server: LocalOpenAIServer, way: str
):
    model_server.tokens = (300, 40)
    await asked_by(way, rag)
    found = {span.name: span for span in spans.get_finished_spans()}
    root = "invoke_workflow agentic_rag"
    assert found.keys() == {root, "chat small", *NODES}
    parents = {name: parent_of(span, found) for name, span in found.items()}
    assert parents == {root: None, "chat small": "answer", **dict.fromkeys(NODES, root)}
    assert told(found["retrieve_lancedb"]) == {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.data_source.id": "default",
        "gen_ai.retrieval.top_k": 100,
        "agentic_rag.source": "lancedb",
        "agentic_rag.status": "ok",
        "agentic_rag.count": 1,
    }
    chat = told(found["chat small"])
    assert chat.pop("server.port") == int(model_server.base_url.split(":")[2].split("/")[0])
    assert chat == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "small",
        "server.address": "127.0.0.1",
        "gen_ai.usage.input_tokens": 300,
        "gen_ai.usage.output_tokens": 40,
    }


async def test_the_reader_of_a_streamed_question_is_outside_of_its_span(
    rag: Rag, spans: InMemorySpanExporter
):
    from opentelemetry import trace

    async for _ in rag.stream(QUESTION):
        assert not trace.get_current_span().get_span_context().is_valid


@pytest.mark.parametrize("wanted", ["", "true"])
async def test_what_people_wrote_is_told_only_where_it_is_wanted(
    rag: Rag, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch, wanted: str
):
    monkeypatch.setenv(tracing.CONTENT, wanted)
    await rag.ask(QUESTION)
    whole = " ".join(span.to_json() for span in spans.get_finished_spans())
    assert "sk-secret-key" not in whole
    for words in ("secret tea", "hidden name", "garden in China", "Tea comes from China [1]"):
        assert (words in whole) == bool(wanted)
    if wanted:
        by_name = {span.name: told(span) for span in spans.get_finished_spans()}
        (document,) = json.loads(by_name["retrieve_lancedb"]["gen_ai.retrieval.documents"])
        assert document["id"].startswith("hidden name.md")
        assert by_name["retrieve_graphiti"]["gen_ai.retrieval.query.text"] == QUESTION
        sent = json.loads(by_name["chat small"]["gen_ai.input.messages"])
        assert [one["role"] for one in sent] == ["system", "user"]


async def test_of_a_failure_only_its_kind_is_told(
    rag: Rag, spans: InMemorySpanExporter, model_server: LocalOpenAIServer
):
    model_server.judge = lambda request: refused(500)
    await rag.ask(QUESTION)
    (chat,) = [span for span in spans.get_finished_spans() if span.name == "chat small"]
    assert told(chat)["error.type"] == "500"
    assert (chat.status.status_code, chat.status.description, chat.events) == (StatusCode.ERROR, None, ())


async def test_a_stream_that_nobody_reads_to_its_end_ends_its_span(rag: Rag, spans: InMemorySpanExporter):
    parts = rag.stream(QUESTION)
    await anext(parts)
    await parts.aclose()
    ended = [span for span in spans.get_finished_spans() if span.name == "invoke_workflow agentic_rag"]
    assert [span.status.status_code for span in ended] == [StatusCode.UNSET]


def test_an_address_is_told_without_its_login():
    assert tracing.of_server("https://me:word@models.example/v1?key=x") == {
        "server.address": "models.example",
        "server.port": 443,
    }
    assert tracing.of_server(None) == tracing.of_server("http://[broken") == {}
