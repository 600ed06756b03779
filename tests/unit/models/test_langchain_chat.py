"""Chat models of langchain-core, also inside of what langchain-core wraps around them."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.chat_models import init_chat_model
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import ConfigurableField
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.models.chats import LangChainChat, as_chat
from local_openai_server import LocalOpenAIServer


def openai(server: LocalOpenAIServer) -> ChatOpenAI:
    return ChatOpenAI(base_url=server.base_url, model="small", api_key="sk-secret-key", max_retries=0)


WRAPPED: dict[str, Any] = {
    "bound": lambda model: model.bind(stop=["END"]),
    "retried": lambda model: model.with_retry(stop_after_attempt=2),
    "with fallbacks": lambda model: model.with_fallbacks([model]),
    "configured": lambda model: model.with_config(tags=["mine"]),
    "configurable": lambda model: model.configurable_fields(temperature=ConfigurableField("heat")),
    "all of it": lambda model: (
        model.bind(stop=["END"]).with_retry(stop_after_attempt=2).with_fallbacks([model])
    ),
}


@pytest.mark.parametrize("way", WRAPPED)
async def test_a_wrapped_model_answers_and_keeps_its_name(way: str, model_server: LocalOpenAIServer):
    chat = as_chat(WRAPPED[way](openai(model_server)))
    assert isinstance(chat, LangChainChat)
    assert chat.name == "small"
    assert await chat.complete("You answer.", "Where does tea come from?") == "Tea comes from China [1]."


CHOSEN_LATER: dict[str, Any] = {
    "with a default": lambda given: init_chat_model("small", configurable_fields=("model",), **given),
    "with a default, retried": lambda given: init_chat_model(
        "small", configurable_fields=("model",), **given
    ).with_retry(),
    "bound to a choice": lambda given: init_chat_model(
        "large", configurable_fields=("model",), **given
    ).with_config(configurable={"model": "small"}),
}


@pytest.mark.parametrize("way", CHOSEN_LATER)
async def test_a_model_that_the_runs_config_chooses_is_a_chat_model(
    way: str, model_server: LocalOpenAIServer
):
    given = {"base_url": model_server.base_url, "model_provider": "openai", "api_key": "k"}
    chat = as_chat(CHOSEN_LATER[way](given))
    assert isinstance(chat, LangChainChat)
    assert await chat.complete("You answer.", "Where does tea come from?") == "Tea comes from China [1]."
    assert model_server.requests[-1]["model"] == "small"


def test_a_model_without_a_default_has_no_name_yet():
    chat = as_chat(init_chat_model(configurable_fields=("model", "model_provider"), api_key="k"))
    assert isinstance(chat, LangChainChat)
    assert chat.name == "_ConfigurableModel"


@pytest.mark.parametrize("other", ["gpt", 3, ChatPromptTemplate.from_template("{x}"), LangChainChat])
def test_what_is_no_chat_model_is_refused(other: Any):
    with pytest.raises(ConfigError, match="not a chat model"):
        as_chat(other)


async def test_a_response_has_the_models_message_and_no_reasoning():
    said = AIMessage("<think>Hm.</think>Tea comes from China.", id="run-1")
    chat = LangChainChat(GenericFakeChatModel(messages=iter([said])))
    message = await chat.respond([HumanMessage("Where from?")])
    assert message.text == "Tea comes from China."
    assert message.id


async def test_calls_of_tools_are_in_the_response(model_server: LocalOpenAIServer):
    @tool
    def search(question: str) -> str:
        """Search the notes."""
        return question

    await LangChainChat(openai(model_server)).respond([HumanMessage("Where from?")], [search])
    (sent,) = model_server.requests[-1]["tools"]
    assert sent["function"]["name"] == "search"


async def test_a_model_without_tools_is_told():
    class Search:
        description = "Search."

    with pytest.raises(ModelError, match=r"takes no tools; set answer\.method"):
        await LangChainChat(GenericFakeChatModel(messages=iter([]))).respond([HumanMessage("?")], [Search()])  # type: ignore[list-item]


class Broken(GenericFakeChatModel):
    def _generate(self, *given: Any, **named: Any) -> Any:
        return {}["no such key"]


def answering(metadata: dict[str, Any], package: str = "") -> LangChainChat:
    """A model of a package whose message has these metadata."""
    kind = type("Model", (GenericFakeChatModel,), {"__module__": package or __name__})
    return LangChainChat(kind(messages=iter([AIMessage("Shade keeps", response_metadata=metadata)])))


@pytest.mark.parametrize(
    ("metadata", "package", "reason"),
    [
        ({"model_provider": "anthropic", "model_name": "c"}, "", "the connection ended before the model did"),
        ({"model_provider": "deepseek"}, "", "the connection ended before the model did"),
        ({}, "langchain_ollama.chat_models", "the connection ended before the model did"),
        ({"model_provider": "anthropic", "stop_reason": "max_tokens"}, "", "raise its limit"),
        ({"done_reason": "length"}, "langchain_ollama.chat_models", r"raise chat\.max_tokens"),
        ({"stopReason": "guardrail_intervened"}, "", "content filter"),
        ({"finish_reason": "SAFETY"}, "", "content filter"),
        ({"status": "incomplete"}, "", "raise its limit"),
    ],
)
async def test_an_answer_that_was_broken_off_is_none(metadata: dict[str, Any], package: str, reason: str):
    with pytest.raises(ModelError, match=reason):
        await answering(metadata, package).respond([HumanMessage("What does shade do?")])


@pytest.mark.parametrize(
    ("metadata", "package"),
    [
        ({}, ""),
        ({"model_provider": "anthropic", "stop_reason": "end_turn"}, ""),
        ({"model_provider": "openai", "finish_reason": None}, ""),
        ({"done_reason": "stop"}, "langchain_ollama.chat_models"),
        ({"model_name": "mine"}, ""),
    ],
)
async def test_a_finished_answer_is_one(metadata: dict[str, Any], package: str):
    message = await answering(metadata, package).respond([HumanMessage("What does shade do?")])
    assert message.text == "Shade keeps"


async def test_a_bug_in_an_own_model_is_logged_with_its_traceback(caplog: pytest.LogCaptureFixture):
    with pytest.raises(ModelError, match="KeyError"):
        await LangChainChat(Broken(messages=iter([]))).complete("You answer.", "Where from?")
    assert "Traceback" in caplog.text
    assert "no such key" in caplog.text


class OfNoText:
    async def complete(self, system: str, user: str) -> Any:
        return {"text": "Shade keeps theanine."}


class OfNoCoroutine:
    def complete(self, system: str, user: str) -> Any:
        return "Shade keeps theanine."


class OfNoKey:
    async def complete(self, system: str, user: str) -> Any:
        return {}["no such key"]


@pytest.mark.parametrize(
    ("own", "error"),
    [
        (OfNoText(), "not a text"),
        (OfNoCoroutine(), "can't be used in 'await' expression"),
        (OfNoKey(), "no such key"),
    ],
)
async def test_a_bug_in_an_object_of_ones_own_is_logged_too(
    own: Any, error: str, caplog: pytest.LogCaptureFixture
):
    with pytest.raises(ModelError, match=f"the chat model {type(own).__name__} failed: (Type|Key)Error"):
        await as_chat(own).complete("You answer.", "What does shade do?")
    assert "Traceback" in caplog.text
    assert error in caplog.text


async def test_an_error_that_an_own_object_names_is_passed_on(caplog: pytest.LogCaptureFixture):
    class Away:
        async def complete(self, system: str, user: str) -> str:
            raise ModelError("the model is away")

    with pytest.raises(ModelError, match="the model is away"):
        await as_chat(Away()).complete("You answer.", "What does shade do?")
    assert "Traceback" not in caplog.text


async def test_an_error_of_a_server_is_no_bug(
    model_server: LocalOpenAIServer, caplog: pytest.LogCaptureFixture
):
    from local_openai_server import refused

    model_server.judge = lambda request: refused(500)
    with pytest.raises(ModelError):
        await LangChainChat(openai(model_server)).complete("You answer.", "Where from?")
    assert "Traceback" not in caplog.text
