"""Agentic mode: what a model that calls tools finds and cites, and that the fixed flow stands behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.testing import ScriptedAgent, ScriptedChat, tool_call

NOTES = {
    "oolong.md": "---\nrating: 5\n---\n# Oolong\n\nOolong tea comes from Fujian in China.\n",
    "sencha.md": "---\nrating: 3\n---\n# Sencha\n\nSencha is steamed in Uji. [[Oolong]] is not.\n",
    "shade.md": "# Shade\n\nShade keeps theanine in the leaf.\n",
}
QUESTION = "Where does oolong tea come from?"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agent")
    (folder / "vault").mkdir()
    for name, text in NOTES.items():
        (folder / "vault" / name).write_text(text, "utf-8")

    async def ingest() -> None:
        async with open_rag(RagConfig(data_dir=folder / "data")) as rag:
            await rag.ingest(folder / "vault")

    asyncio.run(ingest())
    return folder / "data"


@pytest.fixture
async def opened(data: Path) -> AsyncIterator[Any]:
    from contextlib import AsyncExitStack

    async with AsyncExitStack() as stack:

        async def open_with(chat: Any) -> Rag:
            config = RagConfig(data_dir=data, answer={"method": "agent"})
            return await stack.enter_async_context(open_rag(config, chat=chat))

        yield open_with


async def ask(rag: Rag, question: str = QUESTION) -> Any:
    return await rag.ask(question, operation="document_retrieval")


def tool_results(chat: ScriptedAgent) -> list[str]:
    return [str(message.text) for message in chat.conversations[-1] if isinstance(message, ToolMessage)]


async def test_an_agent_that_needs_no_tool_answers_from_the_first_passages(opened: Any):
    chat = ScriptedAgent("Oolong tea comes from Fujian in China [1].")
    answer = await ask(await opened(chat))
    assert answer.text == "Oolong tea comes from Fujian in China [1]."
    assert [citation["path"] for citation in answer.citations] == ["oolong.md"]
    outcome = answer.state["agent_outcome"]
    assert (outcome["status"], outcome["calls"], outcome["tools"]) == ("ok", 1, [])
    assert chat.offered_tools == [["search", "select_notes", "related", "read"]]


@pytest.mark.parametrize(
    ("tool", "arguments", "path", "sentence"),
    [
        ("search", {"question": "What does shade keep?"}, "shade.md", "Shade keeps theanine in the leaf"),
        ("read", {"note": "Shade"}, "shade.md", "Shade keeps theanine in the leaf"),
        ("read", {"note": "vault/shade.md"}, None, None),
        ("related", {"name": "Sencha"}, "sencha.md", "Sencha is steamed in Uji"),
        ("select_notes", {"question": "Which notes have a rating of 5?"}, "oolong.md", None),
    ],
)
async def test_what_a_tool_finds_can_be_cited(
    opened: Any, tool: str, arguments: dict[str, str], path: str | None, sentence: str | None
):
    chat = ScriptedAgent(tool_call(tool, **arguments), "NOT FOUND")
    await ask(await opened(chat), "What do I know about tea ceremonies in Mars colonies?")
    (result,) = tool_results(chat)
    if path is None:
        assert result == "there is no note 'vault/shade.md'; search for it"
        return
    numbers = [line.split('"')[1] for line in result.splitlines() if line.startswith("<passage n=")]
    assert numbers
    if sentence is None:
        assert "1 found" in result
        return
    chat = ScriptedAgent(tool_call(tool, **arguments), f"{sentence} [{numbers[0]}].")
    rag = await opened(chat)
    answer = await ask(rag, "What do I know about tea ceremonies in Mars colonies?")
    assert answer.text == f"{sentence} [{numbers[0]}]."
    assert [citation["path"] for citation in answer.citations] == [path]
    (step,) = answer.state["agent_outcome"]["tools"]
    assert (step["tool"], step["error"]) == (tool, None)


async def test_the_answer_is_one_message_of_the_conversation(opened: Any):
    message = AIMessage("Oolong tea comes from Fujian in China [1].", id="run-7")
    answer = await ask(await opened(ScriptedAgent(message)))
    assert [(one.type, one.id) for one in answer.state["messages"]][1:] == [("ai", "run-7")]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (ModelError("the model is away"), "the model is away"),
        ("Oolong tea comes from Fujian in China.", None),
        ("It cures everything [99].", None),
    ],
)
async def test_the_fixed_flow_answers_where_the_agent_does_not(opened: Any, reply: Any, reason: str | None):
    answer = await ask(await opened(ScriptedAgent(reply)))
    assert "Fujian" in answer.text
    assert answer.citations[0]["path"] == "oolong.md"
    if reason is not None:
        assert answer.outcomes["agent"]["status"] == "degraded"
        assert reason in answer.outcomes["agent"]["reason"]


async def test_its_last_call_has_no_tools(opened: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agentic_rag.nodes.agent.CALLS", 3)
    searching = [tool_call("search", question=f"tea {number}") for number in range(2)]
    chat = ScriptedAgent(*searching, "Oolong tea comes from Fujian in China [1].")
    answer = await ask(await opened(chat))
    assert [bool(offered_tools) for offered_tools in chat.offered_tools] == [True, True, False]
    assert answer.state["agent_outcome"]["calls"] == 3
    assert answer.text.startswith("Oolong tea comes")


async def test_a_model_that_calls_on_is_stopped(opened: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agentic_rag.nodes.agent.CALLS", 2)
    chat = ScriptedAgent(*[tool_call("search", question="tea") for _ in range(9)])
    answer = await ask(await opened(chat))
    assert answer.outcomes["agent"]["calls"] == 2
    assert answer.outcomes["agent"]["status"] == "degraded"
    assert "Fujian" in answer.text


@pytest.mark.parametrize(("at_once", "made"), [(13, 12), (40, 12), (12, 12)])
async def test_the_tools_of_one_message_have_a_budget_too(opened: Any, at_once: int, made: int):
    calls = [
        {"name": "search", "args": {"question": f"tea {number}"}, "id": f"call-{number}"}
        for number in range(at_once)
    ]
    chat = ScriptedAgent(AIMessage("", tool_calls=calls), "Oolong tea comes from Fujian in China [1].")
    answer = await ask(await opened(chat))
    trace = answer.state["agent_outcome"]["tools"]
    assert sum(one["error"] is None for one in trace) == made
    assert all("budget of tools is spent" in one["error"] for one in trace[made:])
    assert len(tool_results(chat)) == at_once
    assert not chat.offered_tools[-1]
    assert answer.text.startswith("Oolong tea comes")


async def test_no_tool_is_called_beyond_the_budget_of_tokens(opened: Any):
    class Costly(GenericFakeChatModel):
        def bind_tools(self, *given: Any, **named: Any) -> Any:
            return self

    used = {"input_tokens": 40_000, "output_tokens": 1, "total_tokens": 40_001}
    searching = tool_call("search", question="tea").model_copy(update={"usage_metadata": used})
    replies = [searching, AIMessage("Oolong tea comes from Fujian in China [1].")]
    answer = await ask(await opened(Costly(messages=iter(replies))))
    (call,) = answer.state["agent_outcome"]["tools"]
    assert "budget of tools is spent" in call["error"]
    assert answer.text.startswith("Oolong tea comes")


async def test_its_time_is_bounded(opened: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agentic_rag.nodes.agent.SECONDS", 0.2)

    class Slow(ScriptedAgent):
        async def respond(self, *arguments: Any) -> AIMessage:
            await asyncio.sleep(5)
            return AIMessage("late")

    answer = await ask(await opened(Slow()))
    assert answer.outcomes["agent"]["reason"] == "no answer within 0.2 s"
    assert "Fujian" in answer.text


@pytest.mark.parametrize(
    ("call", "result"),
    [
        (tool_call("delete", note="x"), "there is no tool 'delete'; use one of: search, select_notes"),
        (tool_call("search", question=3), "search takes one text that is not empty, not 3"),
        (tool_call("search"), "search takes one text that is not empty, not None"),
        (tool_call("select_notes", question="Why is the sky blue?"), "use search"),
    ],
)
async def test_a_wrong_call_is_told_to_the_model(opened: Any, call: AIMessage, result: str):
    chat = ScriptedAgent(call, "Oolong tea comes from Fujian in China [1].")
    answer = await ask(await opened(chat))
    (heard,) = tool_results(chat)
    assert result in heard
    assert answer.text.startswith("Oolong")


async def test_other_operations_keep_the_fixed_flow(opened: Any):
    chat = ScriptedAgent()
    rag = await opened(chat)
    await rag.ask("Test me on oolong.", operation="verification_canvas")
    assert chat.conversations == []


async def test_offline_nothing_changes(data: Path):
    async with open_rag(RagConfig(data_dir=data)) as rag:
        assert (await ask(rag)).state["agent_outcome"] is None


async def test_a_model_without_messages_is_refused(data: Path):
    for chat in (None, ScriptedChat("text")):
        with pytest.raises(
            ConfigError, match=r"answer\.method is 'agent' but no chat model that takes messages"
        ):
            async with open_rag(RagConfig(data_dir=data, answer={"method": "agent"}), chat=chat):
                pass
