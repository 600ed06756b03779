"""LangChainChat and chat_from_config: the real client against a local server, and any langchain-core model."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.models.chat import LangChainChat, as_chat, chat_from_config
from agentic_rag.settings.config import ChatConfig
from agentic_rag.testing import ScriptedChat
from local_openai_server import DROP, EMPTY, HANG, LocalOpenAIServer, refused

KEY = "sk-very-secret"


Configured = Callable[..., LangChainChat]


@pytest.fixture
async def configured(model_server: LocalOpenAIServer) -> AsyncIterator[Configured]:
    """Makes chats from configuration and closes them."""
    made: list[LangChainChat] = []

    def make(**values: object) -> LangChainChat:
        config = {
            "base_url": model_server.base_url,
            "model": "small",
            "api_key": KEY,
            "max_retries": 0,
            "timeout_seconds": 5,
        }
        chat = chat_from_config(ChatConfig.model_validate(config | values))
        assert chat is not None
        made.append(chat)
        return chat

    yield make
    for chat in made:
        await chat.close()


async def test_system_and_user_are_sent_and_the_text_comes_back(
    model_server: LocalOpenAIServer, configured: Configured
) -> None:
    assert await configured().complete("Be brief.", "Tea?") == model_server.answer
    (request,) = model_server.requests
    assert [(m["role"], m["content"]) for m in request["messages"]] == [
        ("system", "Be brief."),
        ("user", "Tea?"),
    ]
    assert (request["model"], request["temperature"]) == ("small", 0)
    assert model_server.keys == {f"Bearer {KEY}"}


async def test_no_key_is_taken_from_the_environment(
    model_server: LocalOpenAIServer, configured: Configured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-someone")
    await configured(api_key=None).complete("s", "u")
    await configured(api_key="").complete("s", "u")
    assert model_server.keys == {"Bearer none"}


async def test_nothing_but_the_server_is_looked_up(
    model_server: LocalOpenAIServer, configured: Configured, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted: list[object] = []
    original = socket.getaddrinfo

    def noted(host: object, *rest: object, **more: object) -> object:
        wanted.append(host)
        return original(host, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", noted)
    await configured().complete("s", "u")
    assert {str(host) for host in wanted} <= {"127.0.0.1", "b'127.0.0.1'"}


@pytest.mark.parametrize(
    ("status", "happened", "cure"),
    [
        (400, "refused the request", "too long"),
        (401, "refused the key", "chat.api_key"),
        (404, "does not know the model", "chat.model"),
        (429, "over its limit", "wait"),
        (500, "broke", "log"),
    ],
)
async def test_a_refusal_says_what_and_what_to_do_and_no_secret(
    model_server: LocalOpenAIServer, configured: Configured, status: int, happened: str, cure: str
) -> None:
    model_server.judge = lambda request: refused(status)
    with pytest.raises(ModelError) as caught:
        await configured().complete("s", "the passage itself")
    told = str(caught.value)
    assert happened in told
    assert f"HTTP {status}" in told
    assert cure in told
    assert "'small'" in told
    assert model_server.base_url in told
    assert KEY not in told
    assert "passage itself" not in told


async def test_a_login_in_the_address_is_not_told(
    model_server: LocalOpenAIServer, configured: Configured
) -> None:
    model_server.judge = lambda request: refused(500)
    address = model_server.base_url.replace("http://", "http://me:hunter2@") + "?token=abc"
    with pytest.raises(ModelError) as caught:
        await configured(base_url=address).complete("s", "u")
    assert "hunter2" not in str(caught.value)
    assert "abc" not in str(caught.value)


async def test_a_failure_is_tried_again_as_often_as_configured(
    model_server: LocalOpenAIServer, configured: Configured
) -> None:
    model_server.script.extend([refused(500, retry_after_ms="1"), refused(429, retry_after_ms="1")])
    assert await configured(max_retries=2).complete("s", "u") == model_server.answer
    assert len(model_server.requests) == 3


@pytest.mark.parametrize(
    ("fault", "told"),
    [(HANG, "no answer in time"), (DROP, "cannot be reached"), (EMPTY, "empty answer")],
    ids=["hang", "drop", "empty"],
)
async def test_no_answer_is_a_model_error(
    model_server: LocalOpenAIServer, configured: Configured, fault: object, told: str
) -> None:
    model_server.judge = lambda request: fault  # type: ignore[assignment,return-value]
    with pytest.raises(ModelError, match=told):
        await configured(timeout_seconds=0.3).complete("s", "u")


async def test_an_answer_that_is_no_json_is_a_model_error(
    model_server: LocalOpenAIServer, configured: Configured
) -> None:
    model_server.judge = lambda request: refused(204)
    with pytest.raises(ModelError, match="cannot be read"):
        await configured().complete("s", "u")


async def test_thoughts_are_not_part_of_the_answer() -> None:
    chat = LangChainChat(
        FakeListChatModel(responses=["<think>\n7? no\n</think>\n\n8", "7? no\n</think>\n8", "<think> alone"])
    )
    assert await chat.complete("s", "u") == "8"
    assert await chat.complete("s", "u") == "8"
    assert await chat.complete("s", "u") == "<think> alone"


@pytest.mark.parametrize(
    ("reason", "told"),
    [("length", r"raise chat\.max_tokens"), ("content_filter", "content filter; ask in other words")],
)
async def test_an_answer_that_was_cut_off_is_none(
    model_server: LocalOpenAIServer, configured: Configured, reason: str, told: str
) -> None:
    model_server.finish_reason = reason
    with pytest.raises(ModelError, match=told) as failure:
        await configured().complete("s", "u")
    assert model_server.answer not in str(failure.value)


def test_configuration() -> None:
    assert chat_from_config(ChatConfig()) is None
    with pytest.raises(ConfigError, match=r"chat\.model"):
        chat_from_config(ChatConfig(base_url="http://localhost/v1"))


def test_a_langchain_model_is_wrapped_and_anything_else_refused():
    assert isinstance(as_chat(FakeListChatModel(responses=["x"])), LangChainChat)
    ours = ScriptedChat("x")
    assert as_chat(ours) is ours
    with pytest.raises(ConfigError, match=r"chat is no chat model: str; give a langchain-core chat model"):
        as_chat("gpt-5")  # type: ignore[arg-type]
