"""PreRetrieval: the question as it is, or with its embedding."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from agentic_rag.errors import ConfigError, InputError
from agentic_rag.lab.operators.pre_insert import OperatorTools
from agentic_rag.lab.operators.pre_retrieval import (
    EmbedQuestion,
    NoPreRetrieval,
    PreRetrieval,
    parse_pre_retrieval,
)
from agentic_rag.testing import HashingEmbedding

ASKED = {
    "question": "Where does Alice work?",
    "answer": "Google",
    "task_id": "conv-26",
    "session_id": 12,
    "question_id": 5,
}


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


async def test_none_adds_nothing() -> None:
    embedding = HashingEmbedding()
    operator = PreRetrieval(parse_pre_retrieval({"action": "none"}), OperatorTools(embedding, None, words))
    assert await operator.execute(ASKED) == {}
    assert embedding.embedded == []


async def test_embedding_is_that_of_the_question() -> None:
    embedding = HashingEmbedding()
    operator = PreRetrieval(
        parse_pre_retrieval({"action": "embedding"}), OperatorTools(embedding, None, words)
    )
    written = await operator.execute(ASKED)
    assert embedding.embedded == ["Where does Alice work?"]
    (vector,) = await embedding.embed_queries(["Where does Alice work?"])
    assert written == {"query_embedding": [float(value) for value in vector]}
    assert json.loads(json.dumps(written)) == written


def test_embedding_needs_an_embedding() -> None:
    with pytest.raises(ConfigError, match="action embedding needs an embedding"):
        PreRetrieval(EmbedQuestion(), OperatorTools(None, None, words))


@pytest.mark.parametrize("settings", [NoPreRetrieval(), EmbedQuestion()])
async def test_data_without_a_question(settings: Any) -> None:
    operator = PreRetrieval(settings, OperatorTools(HashingEmbedding(), None, words))
    with pytest.raises(InputError, match="'question'"):
        await operator.execute({"answer": "Google"})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"action": "embed"},
            r"operators\.pre_retrieval\.action: unknown action 'embed'; use one of: none, embedding",
        ),
        ({"action": "embedding", "model": "x"}, r"operators\.pre_retrieval \(action embedding\): 'model'"),
        ([], r"operators\.pre_retrieval must be a mapping"),
    ],
)
def test_wrong_settings_are_named(values: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_pre_retrieval(values)
