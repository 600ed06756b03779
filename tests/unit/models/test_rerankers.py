"""ChatReranker and CrossEncoderReranker: relevance in [0, 1], in order, and reported failures."""

from __future__ import annotations

import asyncio
import math
import re
import sys
import types
from typing import Any

import pytest

from agentic_rag.domain.ports import Reranker
from agentic_rag.errors import ConfigError, MissingExtra, ModelError
from agentic_rag.models import rerankers
from agentic_rag.models.rerankers import ChatReranker, ConfiguredRerankers, CrossEncoderReranker
from agentic_rag.settings.parameters import RerankParameters
from agentic_rag.testing import ScriptedChat


class Rating:
    """A chat that rates each passage by a word in it, in the form that is asked for."""

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
            await asyncio.sleep(0.5 if "slow" in user else 0.01)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1
        passages = re.findall(r'<passage n="(\d+)">\n(.*?)\n</passage>', user, re.DOTALL)
        rated = [
            (number, next(answer for words, answer in self.answers.items() if words in passage))
            for number, passage in passages
        ]
        return "\n".join(f"{number}: {answer}" for number, answer in rated)


async def rated(said: str, count: int) -> list[float]:
    return await ChatReranker(ScriptedChat(said)).score("?", ["the passage itself"] * count)


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ("7", 0.7),
        ("0", 0.0),
        ("10", 1.0),
        ("7.5", 0.75),
        ("8/10", 0.8),
        ("Rating: 9 out of 10.", 0.9),
        ("passage 1: 7", 0.7),
        ("[7]", 0.7),
    ],
)
async def test_a_tenth_of_the_rating(said: str, score: float) -> None:
    assert await rated(said, 1) == [pytest.approx(score)]


@pytest.mark.parametrize(
    "said",
    [
        "1: 7\n2: 3.5\n3: 10",
        "1: 7\r\n\r\n2: 3.5\r\n3: 10\r\n",
        "Here are the ratings:\n\n1: 7\n2: 3.5\n3: 10\n\nThe others say nothing of it.",
        "[1] 7/10\n[2] 3.5/10\n[3] 10/10",
        "1. 7\n2. 3.5\n3. 10",
        "(1): 7; (2): 3.5; (3): 10",
        "#1 = 7\n#2 = 3.5\n#3 = 10",
        "- Passage 1: 7\n- Passage 2: 3.5\n- Passage 3: 10",
        "**1:** 7\n**2:** 3.5\n**3:** 10",
        "1: score: 7\n2: score: 3.5\n3: score: 10",
        "1 - 7 out of 10\n2 - 3.5 out of 10\n3 - 10 out of 10.",
        "1: 7 (it names the tea, and the year)\n2: 3.5 - in part\n3: 10",
        "3: 10\n1: 7\n2: 3.5",
        "[7, 3.5, 10]",
        '["7", "3.5", "10"]',
        "```json\n[7,\n 3.5,\n 10]\n```",
        '{"1": 7, "2": 3.5, "3": 10}',
        "Ratings: [7, 3.5, 10].",
        "7\n3.5\n10",
        "7, 3.5, 10",
        "<think>1: 2, or is it 3? There are 3 passages.</think>\n\n1: 7\n2: 3.5\n3: 10",
        "1: 2, or is it 3?</think>[7, 3.5, 10]",
    ],
)
async def test_a_rating_for_each_passage(said: str) -> None:
    assert await rated(said, 3) == pytest.approx([0.7, 0.35, 1.0])


@pytest.mark.parametrize(
    "said",
    [
        "",
        "relevant",
        "Rated 3 the passage itself",
        "3 sentences of the passage itself answer it",
        "The second passage is the best of the 3.",
        "between 3 and 5",
        "<think>1: 7\n2: 3\n3: 5",
        # too few
        "7",
        "1: 7\n2: 3",
        "[7, 3]",
        "1: 7\n2: none\n3: 5",
        "1:\n2:\n3:",
        # too many
        "1: 7\n2: 3\n3: 5\n4: 2",
        "[7, 3, 5, 2]",
        "[7, 3, 5]\n[7, 3, 5]",
        "1: 7\n2: 3\n3: 5\nThese are 3 passages.",
        # not one each
        "1: 7\n2: 3\n2: 5",
        "0: 7\n1: 3\n2: 5",
        "2: 7\n3: 3\n4: 5",
        "1: 7\n2: 3\n5",
        # out of range
        "1: 7\n2: 12\n3: 5",
        "1: 7\n2: 10.1\n3: 5",
        "1: 7\n2: -3\n3: 5",
        "[7, -3, 5]",
        "[7, 100, 5]",
        "[7, NaN, 5]",
        "[7, 1e1, 5]",
        "1: 7/5\n2: 3/5\n3: 5/5",
        "1: 70/100\n2: 30/100\n3: 50/100",
        "[" * 50_000,
        "1" * 50_000,
    ],
)
async def test_not_one_rating_for_each_passage_is_a_model_error(said: str) -> None:
    with pytest.raises(ModelError, match="one number for each") as caught:
        await rated(said, 3)
    assert "passage itself" not in str(caught.value)


@pytest.mark.parametrize("said", ["-3", "12", "2: 7", "7\n7"])
async def test_a_passage_alone_has_one_rating_of_its_own(said: str) -> None:
    with pytest.raises(ModelError, match="one number for each"):
        await rated(said, 1)


async def test_in_order_in_batches_and_fenced() -> None:
    chat = Rating({f"p{n}.": str(n % 10) for n in range(25)})
    scores = await ChatReranker(chat).score("What?", [f"p{n}." for n in range(25)])
    assert scores == [pytest.approx(n % 10 / 10) for n in range(25)]
    assert [user.count("</passage>") for _, user in chat.asked] == [10, 10, 5]
    assert '<passage n="1">\np10.\n</passage>\n<passage n="2">\np11.\n</passage>' in chat.asked[1][1]
    assert chat.asked[1][1].endswith('<passage n="10">\np19.\n</passage>\n\nQuestion: What?')
    assert await ChatReranker(chat).score("?", []) == []
    assert len(chat.asked) == 3


async def test_a_few_batches_at_a_time() -> None:
    chat, most = Rating({"tea": "5"}), rerankers.PARALLEL
    await ChatReranker(chat).score("?", ["tea"] * rerankers.BATCH * (most + 2))
    assert (chat.most, len(chat.asked)) == (most, most + 2)


async def test_one_failure_stops_the_others() -> None:
    chat = Rating({"bad": "no", "slow": "5"})
    with pytest.raises(ModelError):
        await ChatReranker(chat).score("?", ["bad"] * rerankers.BATCH + ["slow"] * 2 * rerankers.BATCH)
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
    with pytest.raises(MissingExtra, match=r"'\.\[rerank\]'"):
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
    rerankers = ConfiguredRerankers(reranker=given)
    assert rerankers.model(RerankParameters(method="chat")) is given
    assert rerankers.model(RerankParameters(method="cross_encoder")) is given


@pytest.mark.parametrize(
    ("method", "told"), [("chat", r"set chat\.base_url"), ("cross_encoder", r"rerank\.model is not set")]
)
def test_what_is_not_configured_is_told_before_it_is_loaded(method: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        ConfiguredRerankers().check(RerankParameters(method=method))
