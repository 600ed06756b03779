"""Chat models: the real client against a local server."""

from __future__ import annotations

import re
import socket
from collections.abc import AsyncIterator, Callable

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.models import endpoint
from agentic_rag.models.chats import LangChainChat, chat_from_config
from agentic_rag.models.embeddings import OpenAIEmbedding
from agentic_rag.settings.config import ChatConfig, EmbeddingConfig
from local_openai_server import BROKEN_OFF, CUT, DROP, EMPTY, HANG, LocalOpenAIServer, refused, running

KEY = "sk-very-secret"


MakeChat = Callable[..., LangChainChat]


@pytest.fixture
async def make_chat(model_server: LocalOpenAIServer) -> AsyncIterator[MakeChat]:
    """Makes chats from configuration and closes them."""
    made: list[LangChainChat] = []

    def make(**values: object) -> LangChainChat:
        config = {"base_url": model_server.base_url, "model": "small", "api_key": KEY, "timeout_seconds": 5}
        chat = chat_from_config(ChatConfig.model_validate(config | values))
        assert chat is not None
        made.append(chat)
        return chat

    yield make
    for chat in made:
        await chat.close()


async def test_system_and_user_are_sent_and_the_text_comes_back(
    model_server: LocalOpenAIServer, make_chat: MakeChat
) -> None:
    assert await make_chat().complete("Be brief.", "Tea?") == model_server.answer
    (request,) = model_server.requests
    assert [(m["role"], m["content"]) for m in request["messages"]] == [
        ("system", "Be brief."),
        ("user", "Tea?"),
    ]
    assert request["model"] == "small"
    assert model_server.keys == {f"Bearer {KEY}"}


@pytest.mark.parametrize(
    ("model", "given"),
    [
        ("small", {}),
        ("gpt-5-mini", {}),
        ("o1", {}),
        ("small", {"temperature": 0.0}),
        ("small", {"temperature": 0.7}),
    ],
)
async def test_a_temperature_is_sent_only_if_it_is_set(
    model_server: LocalOpenAIServer, make_chat: MakeChat, model: str, given: dict[str, float]
) -> None:
    await make_chat(model=model, **given).complete("Be brief.", "Tea?")
    (request,) = model_server.requests
    assert {key: request[key] for key in ("temperature",) if key in request} == given


async def test_no_key_is_taken_from_the_environment(
    model_server: LocalOpenAIServer, make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-someone")
    await make_chat(api_key=None).complete("s", "u")
    await make_chat(api_key="").complete("s", "u")
    assert model_server.keys == {"Bearer none"}


async def test_nothing_but_the_server_is_looked_up(
    model_server: LocalOpenAIServer, make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted: list[object] = []
    original = socket.getaddrinfo

    def noted(host: object, *rest: object, **more: object) -> object:
        wanted.append(host)
        return original(host, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", noted)
    await make_chat().complete("s", "u")
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
    model_server: LocalOpenAIServer, make_chat: MakeChat, status: int, happened: str, cure: str
) -> None:
    model_server.judge = lambda request: refused(status)
    with pytest.raises(ModelError) as caught:
        await make_chat().complete("s", "the passage itself")
    told = str(caught.value)
    assert happened in told
    assert f"HTTP {status}" in told
    assert cure in told
    assert "'small'" in told
    assert model_server.base_url in told
    assert KEY not in told
    assert "passage itself" not in told


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_not_followed(
    model_server: LocalOpenAIServer, make_chat: MakeChat, status: int
) -> None:
    config = EmbeddingConfig(base_url=model_server.base_url, model="m")
    embedding = OpenAIEmbedding(config, 64)
    with running() as elsewhere:
        address = elsewhere.base_url.replace("127.0.0.1", "localhost")
        model_server.judge = lambda request: refused(status, location=f"{address}/hidden?text=passage")
        for call in (make_chat().complete("s", "u"), embedding.embed_passages(["the passage"])):
            with pytest.raises(ModelError, match=re.escape(address.removesuffix("/v1"))) as caught:
                await call
            assert "hidden" not in str(caught.value)
            assert "base_url" in str(caught.value)
        assert elsewhere.requests == []
    await embedding.close()


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("https://api.example/v1/chat?text=passage", "https://api.example"),
        ("//me:hunter2@[2001:db8::7]:8080/x", "[2001:db8::7]:8080"),
        ("/v2/chat", "another path of the same host"),
        ("http://api.example:port/", "another path of the same host"),
    ],
)
async def test_a_redirect_is_told_with_its_port(
    model_server: LocalOpenAIServer, make_chat: MakeChat, location: str, told: str
) -> None:
    model_server.judge = lambda request: refused(307, location=location)
    with pytest.raises(ModelError) as caught:
        await make_chat().complete("s", "u")
    assert f"redirects to {told} (HTTP 307)" in str(caught.value)


async def test_a_login_in_the_address_is_not_told(
    model_server: LocalOpenAIServer, make_chat: MakeChat
) -> None:
    model_server.judge = lambda request: refused(500)
    address = model_server.base_url.replace("http://", "http://me:hunter2@") + "?token=abc"
    with pytest.raises(ModelError) as caught:
        await make_chat(base_url=address).complete("s", "u")
    assert "hunter2" not in str(caught.value)
    assert "abc" not in str(caught.value)


async def test_a_failure_is_tried_again(
    model_server: LocalOpenAIServer, make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "TRIES", 3)
    model_server.script.extend([refused(500, retry_after_ms="1"), refused(429, retry_after_ms="1")])
    assert await make_chat().complete("s", "u") == model_server.answer
    assert len(model_server.requests) == 3


@pytest.mark.parametrize(
    ("fault", "told"),
    [(HANG, "no answer in time"), (DROP, "cannot be reached"), (EMPTY, "empty answer"), (CUT, "cannot be")],
    ids=["hang", "drop", "empty", "cut"],
)
async def test_no_answer_is_a_model_error(
    model_server: LocalOpenAIServer, make_chat: MakeChat, fault: object, told: str
) -> None:
    model_server.judge = lambda request: fault  # type: ignore[assignment,return-value]
    with pytest.raises(ModelError, match=told):
        await make_chat(timeout_seconds=0.3).complete("s", "u")


async def test_an_answer_that_is_no_json_is_a_model_error(
    model_server: LocalOpenAIServer, make_chat: MakeChat
) -> None:
    model_server.judge = lambda request: refused(204)
    with pytest.raises(ModelError, match="cannot be read"):
        await make_chat().complete("s", "u")


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
    model_server: LocalOpenAIServer, make_chat: MakeChat, reason: str, told: str
) -> None:
    model_server.finish_reason = reason
    with pytest.raises(ModelError, match=told) as failure:
        await make_chat().complete("s", "u")
    assert model_server.answer not in str(failure.value)


async def test_a_stream_that_ends_without_a_reason_is_no_answer(
    model_server: LocalOpenAIServer, make_chat: MakeChat
) -> None:
    chat = make_chat()
    chat._model = chat._model.model_copy(update={"streaming": True})  # as LangGraph streams inside ainvoke
    assert await chat.complete("s", "u") == model_server.answer
    model_server.judge = lambda request: BROKEN_OFF
    with pytest.raises(ModelError, match="middle of its answer: the connection ended"):
        await chat.complete("s", "u")


async def test_a_whole_body_without_a_finish_reason_is_an_answer(
    model_server: LocalOpenAIServer, make_chat: MakeChat
) -> None:
    model_server.finish_reason = None
    assert await make_chat().complete("s", "u") == model_server.answer


def test_configuration() -> None:
    assert chat_from_config(ChatConfig()) is None
    with pytest.raises(ConfigError, match=r"chat\.model"):
        chat_from_config(ChatConfig(base_url="http://localhost/v1"))
