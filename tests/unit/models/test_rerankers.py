"""ChatReranker and CrossEncoderReranker: relevance in [0, 1], in order, and honest failures."""

from __future__ import annotations

import asyncio
import math
import sys
import types
from typing import Any

import pytest

from agentic_rag.errors import ConfigError, MissingExtra, ModelError
from agentic_rag.models import rerankers
from agentic_rag.models.rerankers import ChatReranker, ConfiguredRerankers, CrossEncoderReranker
from agentic_rag.parameters import RerankParameters
from agentic_rag.ports import Reranker
from agentic_rag.testing import ScriptedChat


class Rating:
    """A chat that rates a passage by what it says."""

    def __init__(self, answers: dict[str, str]) -> None:
        self.answers = answers
        self.running = self.most = 0
        self.asked: list[tuple[str, str]] = []
        self.cancelled = 0

    async def complete(self, system: str, user: str) -> str:
        self.asked.append((system, user))
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(0.5 if "slow" in user else 0.001)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1
        return next(answer for words, answer in self.answers.items() if words in user)


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ("7", 0.7),
        ("0", 0.0),
        ("10", 1.0),
        ("7.5", 0.75),
        ("8/10", 0.8),
        ("Rating: 9 out of 10.", 0.9),
        ("12", 1.0),
    ],
)
async def test_a_tenth_of_the_rating(said: str, score: float) -> None:
    assert await ChatReranker(Rating({"tea": said})).score("?", ["tea"]) == [pytest.approx(score)]


@pytest.mark.parametrize("said", ["", "relevant", "-3", "passage 1: 7", "between 3 and 5"])
async def test_no_single_rating_is_a_model_error(said: str) -> None:
    with pytest.raises(ModelError, match="one number"):
        await ChatReranker(Rating({"tea": said})).score("?", ["tea"])


async def test_in_order_a_few_at_a_time_and_fenced() -> None:
    chat = Rating({f"p{n}.": str(n % 10) for n in range(30)})
    scores = await ChatReranker(chat).score("What?", [f"p{n}." for n in range(30)])
    assert scores == [pytest.approx(n % 10 / 10) for n in range(30)]
    assert chat.most == rerankers.PARALLEL
    assert '<passage n="1">\np0.\n</passage>\n\nQuestion: What?' in chat.asked[0][1]
    assert await ChatReranker(chat).score("?", []) == []


async def test_one_failure_stops_the_others() -> None:
    chat = Rating({"bad": "no", "slow": "5"})
    with pytest.raises(ModelError):
        await ChatReranker(chat).score("?", ["bad", "slow 1", "slow 2"])
    assert chat.cancelled == 2


class FakeCrossEncoder:
    """Stands for sentence-transformers' class: gives what ``raw`` says."""

    raw: Any = None
    made: dict[str, Any]

    def __init__(self, name: str, **options: Any) -> None:
        if name == "missing":
            raise OSError("not in the cache")
        type(self).made = {"name": name, **options}

    def predict(self, pairs: list[tuple[str, str]], **options: Any) -> Any:
        type(self).made |= {"pairs": pairs, **options}
        if isinstance(self.raw, Exception):
            raise self.raw
        return self.raw


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> type[FakeCrossEncoder]:
    transformers, nn = types.ModuleType("sentence_transformers"), types.ModuleType("torch.nn")
    transformers.CrossEncoder = FakeCrossEncoder  # type: ignore[attr-defined]
    nn.Identity = lambda: "identity"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", transformers)
    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))
    monkeypatch.setitem(sys.modules, "torch.nn", nn)
    monkeypatch.setattr(FakeCrossEncoder, "raw", [0.0])
    return FakeCrossEncoder


async def test_the_raw_score_is_squashed_once_and_nothing_is_downloaded(
    encoder: type[FakeCrossEncoder],
) -> None:
    encoder.raw = [0.0, math.log(3), -1e9, 1e9]
    reranker: Reranker = CrossEncoderReranker("folder")
    assert await reranker.score("q", ["a", "b", "c", "d"]) == pytest.approx([0.5, 0.75, 0.0, 1.0])
    assert encoder.made["local_files_only"] is True
    assert encoder.made["activation_fn"] == "identity"
    assert encoder.made["pairs"][1] == ("q", "b")
    assert await reranker.score("q", []) == []


@pytest.mark.parametrize(
    "raw", [RuntimeError("the passage itself"), [[0.1, 0.2]], [float("nan")], [0.1, 0.2], []]
)
async def test_wrong_scores_are_a_model_error(encoder: type[FakeCrossEncoder], raw: Any) -> None:
    encoder.raw = raw
    with pytest.raises(ModelError) as caught:
        await CrossEncoderReranker("folder").score("q", ["the passage itself"])
    assert "passage itself" not in str(caught.value)


def test_a_model_that_is_not_here(encoder: type[FakeCrossEncoder]) -> None:
    with pytest.raises(ModelError, match="download it first"):
        CrossEncoderReranker("missing")


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r"agentic-rag\[rerank\]"):
        CrossEncoderReranker("folder")


# --- which one a call asks -----------------------------------------------------------------------


def test_each_method_has_its_own_model_and_a_cross_encoder_is_loaded_once(
    encoder: type[FakeCrossEncoder],
) -> None:
    rerankers = ConfiguredRerankers(ScriptedChat())
    assert isinstance(rerankers.model(RerankParameters(method="chat")), ChatReranker)
    first = rerankers.model(RerankParameters(method="cross_encoder", model="one"))
    assert isinstance(first, CrossEncoderReranker)
    assert rerankers.model(RerankParameters(method="cross_encoder", model="one")) is first
    assert rerankers.model(RerankParameters(method="cross_encoder", model="two")) is not first


def test_a_given_model_is_asked_whichever_method_asks_for_one() -> None:
    given = ChatReranker(ScriptedChat())
    rerankers = ConfiguredRerankers(given=given)
    assert rerankers.model(RerankParameters(method="chat")) is given
    assert rerankers.model(RerankParameters(method="cross_encoder")) is given


@pytest.mark.parametrize(
    ("method", "told"), [("chat", r"set chat\.base_url"), ("cross_encoder", r"rerank\.model is not set")]
)
def test_what_is_not_configured_is_told_before_it_is_loaded(method: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        ConfiguredRerankers().check(RerankParameters(method=method))
