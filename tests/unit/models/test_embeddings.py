"""Embedding models behind an endpoint, and those of langchain-core."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.models import embeddings, endpoint
from agentic_rag.models.embeddings import LangChainEmbedding, OpenAIEmbedding, as_embedding, unit
from agentic_rag.settings.config import EmbeddingConfig
from agentic_rag.testing import HashingEmbedding
from local_openai_server import DROP, Fault, LocalOpenAIServer, refused

KEY = "sk-very-secret"


MakeEmbedding = Callable[..., OpenAIEmbedding]


@pytest.fixture
async def make_embedding(model_server: LocalOpenAIServer) -> AsyncIterator[MakeEmbedding]:
    """Makes embeddings from configuration and closes them."""
    made: list[OpenAIEmbedding] = []

    def make(**values: Any) -> OpenAIEmbedding:
        given = {"base_url": model_server.base_url, "model": "m", "api_key": KEY}
        made.append(OpenAIEmbedding(EmbeddingConfig.model_validate(given | values), 64))
        return made[-1]

    yield make
    for embedding in made:
        await embedding.close()


async def test_vectors_are_unit_in_order_and_prefixed(
    model_server: LocalOpenAIServer, make_embedding: MakeEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "BATCH", 2)
    model_server.change_vectors = lambda items: [
        {**item, "embedding": [3 * x for x in item["embedding"]]} for item in reversed(items)
    ]
    embedding = make_embedding(query_prefix="q: ", passage_prefix="p: ")
    vectors = await embedding.embed_passages(["green tea", "coffee", "black tea"])
    assert (vectors.shape, vectors.dtype) == ((3, 64), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    assert [request["input"] for request in model_server.requests] == [
        ["p: green tea", "p: coffee"],
        ["p: black tea"],
    ]
    alone = await embedding.embed_passages(["coffee"])
    np.testing.assert_allclose(alone[0], vectors[1], atol=1e-6)
    await embedding.embed_queries(["tea?"])
    assert model_server.requests[-1]["input"] == ["q: tea?"]
    assert model_server.keys == {f"Bearer {KEY}"}


async def test_empty_list_and_empty_text(
    model_server: LocalOpenAIServer, make_embedding: MakeEmbedding
) -> None:
    embedding = make_embedding()
    assert (await embedding.embed_passages([])).shape == (0, 64)
    assert model_server.requests == []
    assert (await embedding.embed_passages([""])).shape == (1, 64)
    assert model_server.requests[0]["input"] == [" "]


@pytest.mark.parametrize("index", [None, 0], ids=["none", "all zero"])
async def test_a_server_without_indexes_is_taken_at_its_order(
    model_server: LocalOpenAIServer, make_embedding: MakeEmbedding, index: int | None
) -> None:
    right = await make_embedding().embed_passages(["tea", "coffee"])
    model_server.change_vectors = lambda items: [{**item, "index": index} for item in items]
    np.testing.assert_array_equal(await make_embedding().embed_passages(["tea", "coffee"]), right)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda items: items[:-1], "1 vectors for 2 texts"),
        (lambda items: items + items, "4 vectors for 2 texts"),
        (lambda items: [], "embedding"),
        (lambda items: [{**i, "embedding": i["embedding"][:3]} for i in items], "instead of 64 each"),
        (lambda items: [{**i, "embedding": [0.0] * 64} for i in items], "zero or not finite"),
        (lambda items: [{**i, "embedding": None} for i in items], "cannot be read"),
        (lambda items: [{**i, "embedding": ["x"] * 64} for i in items], "not made of numbers"),
    ],
    ids=["too few", "too many", "none", "short", "zero", "null", "words"],
)
async def test_wrong_vectors_are_a_model_error(
    model_server: LocalOpenAIServer, make_embedding: MakeEmbedding, change: Any, told: str
) -> None:
    model_server.change_vectors = change
    with pytest.raises(ModelError, match=told):
        await make_embedding().embed_passages(["tea", "coffee"])


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (refused(401), r"refused the key \(HTTP 401\); check embedding.api_key"),
        (refused(404), "embedding.model"),
        (refused(500), "broke"),
        (DROP, "cannot be reached"),
        (Fault(body="<html>hello</html>"), "cannot be read"),
        (Fault(body="{}"), "cannot be read"),
    ],
    ids=["401", "404", "500", "drop", "html", "no data"],
)
async def test_failures_say_what_and_what_to_do_and_no_secret(
    model_server: LocalOpenAIServer, make_embedding: MakeEmbedding, fault: Fault, told: str
) -> None:
    model_server.judge = lambda request: fault
    with pytest.raises(ModelError, match=told) as caught:
        await make_embedding().embed_passages(["the passage itself"])
    assert KEY not in str(caught.value)
    assert "passage itself" not in str(caught.value)
    assert "bundled model" in str(caught.value)


async def test_a_limit_is_waited_for(
    model_server: LocalOpenAIServer, make_embedding: MakeEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "TRIES", 2)
    model_server.script.append(refused(429, retry_after_ms="1"))
    assert (await make_embedding().embed_queries(["tea"])).shape == (1, 64)
    assert len(model_server.requests) == 2


async def test_a_hang_ends(
    model_server: LocalOpenAIServer, make_embedding: MakeEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "EMBEDDING_SECONDS", 0.2)
    model_server.judge = lambda request: Fault(hang=True)
    with pytest.raises(ModelError, match="no answer in time; use a faster model; unset"):
        await make_embedding().embed_queries(["tea"])


@pytest.mark.parametrize("missing", ["base_url", "model"])
def test_what_must_be_configured(missing: str) -> None:
    given = {"base_url": "http://localhost/v1", "model": "m"} | {missing: None}
    with pytest.raises(ConfigError, match=r"embedding\.model"):
        OpenAIEmbedding(EmbeddingConfig.model_validate(given), 3)


async def test_the_endpoint_tells_the_length_of_its_vectors(model_server: LocalOpenAIServer) -> None:
    config = EmbeddingConfig(base_url=model_server.base_url, model="m")
    embedding = await OpenAIEmbedding.open(config)
    assert (embedding.dimension, len(model_server.requests)) == (64, 1)
    assert (await embedding.embed_queries(["tea"])).shape == (1, 64)
    await embedding.close()


async def test_an_endpoint_that_gives_no_vector_tells_no_length(model_server: LocalOpenAIServer) -> None:
    model_server.change_vectors = lambda items: [{**item, "embedding": []} for item in items]
    with pytest.raises(ModelError, match=r"empty vector; use another model"):
        await OpenAIEmbedding.open(EmbeddingConfig(base_url=model_server.base_url, model="m"))
    with pytest.raises(ConfigError, match=r"embedding\.model"):
        await OpenAIEmbedding.open(EmbeddingConfig(base_url=model_server.base_url))


class Counting(Embeddings):
    """Vectors of letters; fails on ``boom``."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if "boom" in texts:
            raise RuntimeError("the passage itself and sk-very-secret")
        return [[len(text), 1.0, 0.0] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


async def test_any_langchain_model() -> None:
    embedding = LangChainEmbedding(Counting(), name="counting", dimension=3)
    vectors = await embedding.embed_passages(["aaa", ""])
    np.testing.assert_allclose(vectors, [[3 / 10**0.5, 1 / 10**0.5, 0], [0, 1, 0]], atol=1e-6)
    np.testing.assert_array_equal(await embedding.embed_queries(["aaa"]), vectors[:1])
    assert (await embedding.embed_passages([])).shape == (0, 3)
    for failing in (embedding.embed_passages, embedding.embed_queries):
        with pytest.raises(ModelError, match="'counting'") as caught:
            await failing(["boom"])
        assert KEY not in str(caught.value)


@pytest.mark.parametrize("row", [[np.nan, 1.0], [np.inf, 1.0], [0.0, 0.0]])
def test_unit_refuses_what_has_no_direction(row: list[float]) -> None:
    with pytest.raises(ModelError, match="zero or not finite"):
        unit([row], 1, 2)
    assert unit([[1e30, 1e30]], 1, 2) == pytest.approx(np.full((1, 2), 0.5**0.5), abs=1e-6)


def test_what_stored_texts_are_prefixed_with_is_part_of_the_name():
    def name(**fields: str) -> str:
        config = {"base_url": "http://127.0.0.1:1", "model": "m", **fields}
        return OpenAIEmbedding(EmbeddingConfig.model_validate(config), 2).name

    assert name() == name(query_prefix="query: ") == "m"
    assert name(passage_prefix="passage: ") == "m after 'passage: '"


async def test_a_langchain_model_is_wrapped_by_its_own_name_and_measured():
    class Named(DeterministicFakeEmbedding):
        model: str = "fake-4"

    own = HashingEmbedding()
    assert await as_embedding(own) is own
    embedding = await as_embedding(Named(size=4))
    assert (embedding.name, embedding.dimension) == ("fake-4", 4)
    assert (await embedding.embed_queries(["tea"])).shape == (1, 4)
    assert (await as_embedding(DeterministicFakeEmbedding(size=3))).name == "DeterministicFakeEmbedding"


async def test_what_is_no_embedding_model_or_fails_is_told():
    class Broken(DeterministicFakeEmbedding):
        def embed_query(self, text: str) -> list[float]:
            raise ConnectionError("no route")

    not_one: Any = "e5"
    with pytest.raises(
        ConfigError, match=r"embedding is a str, not an embedding model; give a langchain-core"
    ):
        await as_embedding(not_one)
    with pytest.raises(ModelError, match="the embedding model 'Broken' cannot be reached"):
        await as_embedding(Broken(size=4))
