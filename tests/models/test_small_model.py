"""Everything that asks a chat model, on a real one of 135 million parameters (``make test-models``).

So small a model says much nonsense. Whatever it says, every run ends well formed: cited or refused, or done by the
method that needs no model with the reason told, and what it used is counted.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_model_call
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from agentic_rag import Answer, Rag, RagConfig, open_rag
from agentic_rag.errors import BudgetSpent, ModelError
from agentic_rag_lab.designs.operators.memory_test import judge_answer
from example_vault import EXAMPLE_VAULT

MODEL = os.environ.get("AGENTIC_RAG_SMALL_MODEL")
TOOLS = Path(os.environ.get("AGENTIC_RAG_NODE", "."))
pytestmark = [
    pytest.mark.skipif(MODEL is None, reason="make test-models installs the model"),
    pytest.mark.timeout(600),
]
QUESTIONS = (
    ("What does polyphenol oxidase do to a tea leaf?", "document_retrieval"),
    ("How do oxidation and fermentation hang together?", "concept_relation"),
    ("Test me on oolong.", "verification_canvas"),
    ("Where am I weak about brewing?", "weak_point_clustering"),
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The small model behind the protocol; Node finds packages beside the file that asks for them."""
    server = Path(shutil.copy(Path(__file__).with_name("server.mjs"), TOOLS))
    process = subprocess.Popen(["node", str(server), str(MODEL)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@asynccontextmanager
async def opened(data: Path, address: str, **settings: Any) -> AsyncIterator[Rag]:
    chat = {
        "base_url": address,
        "model": "smollm2-135m-instruct",
        "max_tokens": 200,
        "timeout_seconds": 120,
        "input_price": 1.0,
        "output_price": 2.0,
    }
    config = {"data_dir": data, "chat": chat, "retrieval": {"timeout_seconds": 300}, **settings}
    async with open_rag(RagConfig.model_validate(config)) as rag:
        yield rag


@pytest.fixture
def data(example_data: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(example_data, tmp_path / "data"))


def check(answer: Answer, step: str) -> None:
    """A step that the model did, or that was done without it for a reason; either way a whole answer."""
    outcome = answer.state[f"{step}_outcome"]
    assert outcome["status"] in ("ok", "partial", "degraded")
    if outcome["status"] == "degraded":
        assert "model" in outcome["reason"] or "no answer within" in outcome["reason"]
        assert outcome["method"] in ("extractive", "offline", "expansion", "flow")
    assert answer.abstained or answer.citations
    for citation in answer.citations:
        assert f"[{citation['n']}]" in answer.text or f"{citation['n']}]" in answer.text
        file = EXAMPLE_VAULT / str(citation["path"])
        if citation["start"] is not None and file.suffix == ".md":
            assert file.read_text("utf-8")[citation["start"] : citation["end"]] == citation["quote"]
    assert answer.usage["calls"] >= 1
    assert answer.usage["completion_tokens"] >= 1
    assert answer.usage["cost"] > 0
    assert not answer.usage["estimated"]


@pytest.mark.parametrize(("question", "operation"), QUESTIONS)
async def test_answers(data: Path, address: str, question: str, operation: str) -> None:
    async with opened(data, address, answer={"method": "chat"}) as rag:
        answer = await rag.ask(question, operation=operation, top_k=4)
    check(answer, "answer")
    assert answer.text.strip()


async def test_reranks(data: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentic_rag.rerank.DEPTH", 5)  # as many passages as a model of this size can rate
    async with opened(data, address, rerank={"method": "chat"}) as rag:
        answer = await rag.ask(QUESTIONS[0][0])
    check(answer, "rerank")
    assert len(answer.results) == 10


async def test_rewrites(data: Path, address: str) -> None:
    settings = {"rewrite": {"method": "chat"}, "answer": {"abstain_below": 0.99}}
    async with opened(data, address, **settings) as rag:
        answer = await rag.ask("What does polyphenol oxidase do to the zebras of Nairobi?")
    check(answer, "rewrite")
    assert answer.rewrites
    assert all(answer.rewrites)


async def test_its_words_come_as_it_writes_them(data: Path, address: str) -> None:
    async with opened(data, address, answer={"method": "chat"}) as rag:
        parts = [part async for part in rag.stream(QUESTIONS[0][0], top_k=3)]
    assert any(isinstance(part, str) and part for part in parts)
    (answer,) = [part for part in parts if isinstance(part, Answer)]
    check(answer, "answer")


@pytest.mark.parametrize("question", ["Where does oolong come from?", "Who is the emperor of Mars?"])
async def test_searches_by_itself(
    data: Path, address: str, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentic_rag.nodes.agent.SECONDS", 250.0)
    monkeypatch.setattr("agentic_rag.nodes.agent.CALLS", 2)  # as much as fits into this model's context
    settings = {"answer": {"method": "agent"}}
    async with opened(data, address, **settings) as rag:
        answer = await rag.ask(question, operation="document_retrieval")
    check(answer, "agent")
    outcome = answer.outcomes["agent"]
    assert outcome["tools"]
    assert {step["tool"] for step in outcome["tools"]} <= {"search", "select_notes", "related", "read"}
    assert all(json.loads(step["argument"]) for step in outcome["tools"])
    assert outcome["calls"] == answer.usage["calls"]
    assert answer.usage["prompt_tokens"] > 1000  # the passages, and again with what the tools gave


@wrap_model_call
async def two_calls(request: Any, handler: Any) -> Any:
    """After two results the model must write: so small a one would call on for ever."""
    results = [one for one in request.messages if isinstance(one, ToolMessage)]
    return await handler(request.override(tools=[]) if len(results) >= 2 else request)


@pytest.mark.parametrize("question", ["Where does oolong come from?", "Hello"])
async def test_another_agent_asks_by_a_tool(data: Path, address: str, question: str) -> None:
    # A client of its own: the default one is kept for the next test, whose event loop is another.
    async with httpx2.AsyncClient(timeout=120) as client, opened(data, address) as rag:
        model = ChatOpenAI(
            base_url=address,
            api_key=SecretStr("none"),
            model="small",
            temperature=0,
            max_completion_tokens=200,
            http_async_client=client,
        )
        asking = create_agent(
            model, [rag.as_tool(description="Asks the notes on tea.")], middleware=[two_calls]
        )
        state = await asking.ainvoke({"messages": [HumanMessage(question)]})
    check_conversation(state["messages"])


def check_conversation(messages: list[AnyMessage]) -> None:
    """Each call has its result, with the citations whose marks stand in its text, and a text ends it."""
    calls = [call for one in messages if isinstance(one, AIMessage) for call in one.tool_calls]
    results = [one for one in messages if isinstance(one, ToolMessage)]
    assert calls
    assert [call["id"] for call in calls] == [one.tool_call_id for one in results]
    for call, result in zip(calls, results, strict=True):
        assert list(call["args"]) == ["question"]
        assert result.status == "success"
        assert all(f"[{citation['n']}]" in str(result.text) for citation in result.artifact)
    last = messages[-1]
    assert isinstance(last, AIMessage)
    assert not last.tool_calls
    assert str(last.text).strip()
    assert last.usage_metadata is not None  # the model's own words, not the framework's


async def test_reads_facts(tmp_path: Path, address: str) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "ada.md").write_text("Ada Lovelace worked with Charles Babbage in London in 1843.\n", "utf-8")
    (vault / "tea.md").write_text("Robert Fortune brought tea plants from China to India in 1848.\n", "utf-8")
    async with opened(tmp_path / "data", address, graph={"extraction": "chat"}) as rag:
        report = await rag.ingest(vault)
        assert report.extraction.episodes == 2
        assert report.extraction.extracted + report.extraction.quarantined == 2
        assert report.usage["calls"] >= 2
        assert report.usage["prompt_tokens"] > 100
        # What it made of them, right or wrong, is a whole graph, and the texts are found.
        counts = await rag.knowledge.counts("default")
        assert counts.episodes == 2
        answer = await rag.ask("Who brought tea plants to India?", operation="document_retrieval")
        assert answer.citations[0]["document_id"] == "tea.md"
        if report.extraction.quarantined:
            lines = (tmp_path / "data").rglob("quarantine.jsonl")
            entries = [json.loads(line) for file in lines for line in file.read_text().splitlines()]
            assert len(entries) == report.extraction.quarantined
            assert all(entry["reason"] for entry in entries)


async def test_judges(data: Path, address: str) -> None:
    async with opened(data, address) as rag:
        assert rag.chat is not None
        told: object
        try:
            told = await judge_answer(rag.chat, "Where does tea come from?", "From China.", "China")
        except ModelError as error:
            told = str(error)
        assert told in (True, False) or "the judge must reply CORRECT or WRONG" in str(told)
        assert rag.spending.total_usage.calls == 1


async def test_marks_a_board(data: Path, address: str, tmp_path: Path) -> None:
    vault = Path(shutil.copytree(EXAMPLE_VAULT, tmp_path / "vault"))
    async with opened(data, address) as rag:
        answer = await rag.ask(QUESTIONS[2][0], operation="verification_canvas")
        board = Path(rag.write_board(answer, vault / "boards" / "test.canvas").path)
        drawn = json.loads(board.read_text("utf-8"))
        test = next(node for node in drawn["nodes"] if node["type"] == "text" and not node["text"].strip())
        test["text"] = "The leaves are heated soon, so that they do not oxidise."
        board.write_text(json.dumps(drawn), "utf-8")
        report = await rag.check(board)
    marks = [one.mark for one in report.answers if one.mark != "empty"]
    assert len(marks) == 1
    assert marks[0] in ("right", "partly", "wrong")
    assert report.degraded is None or "must reply right, partly or wrong" in report.degraded


async def test_a_budget_ends_it(data: Path, address: str) -> None:
    async with opened(data, address, answer={"method": "chat"}, budget={"tokens": 400}) as rag:
        answer = await rag.ask(QUESTIONS[0][0])
        assert "budget.tokens is 400" in answer.outcomes["answer"]["reason"]
        assert answer.citations
        assert rag.spending.total_usage.tokens == 0
        assert rag.chat is not None
        with pytest.raises(BudgetSpent):
            await rag.chat.complete("s" * 400, "u")
