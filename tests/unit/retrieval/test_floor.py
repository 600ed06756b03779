"""The floor: nonsense finds nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agentic_rag.domain import Chunk
from agentic_rag.models.bundled import nats
from agentic_rag.ports import DatasetProfile, ScoredChunk
from agentic_rag.retrieval.calibration import COSINE_UNIT, SCRIPT_PAIRS, Calibration, Sense
from agentic_rag.retrieval.evidence import Legs
from agentic_rag.retrieval.floor import DOUBT, NO_WORDS, doubt, reads_as_language, standing_out
from agentic_rag.testing import fake_chunk

SENSE = Sense(intercept=-4.0, standing_out=1.0, words=4.0, floor=0.5)
PLAIN = Calibration({}, {}, SENSE)
ASKED = np.array([1.0, 0.0], dtype=np.float32)
TEA = fake_chunk("tea", "Oolong tea from Fujian.")
HAN = fake_chunk("山", "山上有雾，溪水很凉。")


def profile(ordinary: float, chunks: int = 1000) -> DatasetProfile:
    return DatasetProfile(chunks, np.array([ordinary, 0.0], dtype=np.float32))


def found(cosine: float, *more: Chunk) -> Legs:
    return {"dense": [ScoredChunk(chunk, cosine) for chunk in (TEA, *more)], "sparse": []}


def test_standing_out_grows_with_the_cosine_and_shrinks_with_the_number_of_chunks():
    assert standing_out(0.9, 0.7, 1000) > standing_out(0.8, 0.7, 1000) > 0
    assert standing_out(0.9, 0.7, 10) > standing_out(0.9, 0.7, 100_000)
    assert standing_out(0.9, 0.9, 1) is None
    assert standing_out(0.7, 0.7, 100) == 0.0


def test_the_best_itself_does_not_count_as_ordinary():
    """Of two chunks with cosines .9 and .7 the ordinary one is the other."""
    assert standing_out(0.9, 0.8, 2) == pytest.approx(0.2 / COSINE_UNIT / (np.sqrt(np.log(3)) / 2.7))


@pytest.mark.parametrize(
    ("query", "cosine", "ordinary", "kept"),
    [
        ("xqzv kwpt", 0.80, 0.79, False),
        ("anything at all", 0.95, 0.75, True),
        ("oolong tea", 0.82, 0.80, True),
        ("oolong xqzv kwpt wvut", 0.80, 0.79, False),
    ],
)
def test_a_question_stands_out_or_shares_words(query: str, cosine: float, ordinary: float, kept: bool):
    doubted = doubt(PLAIN, query, found(cosine), ASKED, profile(ordinary))
    assert doubted == (0.0 if kept else None)


def test_standing_out_is_told_in_the_models_own_steps():
    wide = replace(PLAIN, units=dict.fromkeys(SCRIPT_PAIRS, 4 * COSINE_UNIT))
    assert doubt(PLAIN, "anything at all", found(0.9), ASKED, profile(0.7)) == 0.0
    assert doubt(wide, "anything at all", found(0.9), ASKED, profile(0.7)) is None


def test_where_nothing_is_known_everything_may_mean_something():
    assert doubt(PLAIN, "xqzv", found(0.8), ASKED, None) == 0.0
    assert doubt(PLAIN, "xqzv", found(0.8), ASKED, profile(0.8, chunks=1)) == 0.0
    assert doubt(PLAIN, "xqzv", {"dense": [], "sparse": []}, ASKED, profile(0.8)) == 0.0


def test_probability_rises_with_both_and_words_beyond_enough_change_nothing():
    assert SENSE.probability(5.0, 0.0) > SENSE.probability(1.0, 0.0)
    assert SENSE.probability(1.0, 0.3) > SENSE.probability(1.0, 0.0)
    assert SENSE.probability(1.0, 0.4) == SENSE.probability(1.0, 1.0)
    assert 0.0 <= SENSE.probability(-1e9, 0.0) < SENSE.probability(1e9, 1.0) <= 1.0


@pytest.mark.parametrize(
    "question",
    [
        "东西方给同一种饮料取颜色名字,一方瞧杯里,一方瞧罐里",
        "the banquet story of a guest secretly allowed something milder than wine",
        "哪位老师傅说过,once your nose catches 烧过头的气味?",
        "乌龙茶怎么泡？",
        "Wie lange zieht der Tee?",
    ],
)
def test_what_reads_as_language_is_doubted_but_kept(question: str):
    assert reads_as_language(question, nats)
    assert doubt(PLAIN, question, found(0.8, HAN), ASKED, profile(0.8), nats) == DOUBT


@pytest.mark.parametrize(
    "nonsense",
    ["asdkjfh qwelkj zxcmn", "xqzt vvbn plk", "锟斤拷烫烫烫屯屯屯", "魑魅魍魉彳亍囫囵", "zxcv 123 qqwx"],
)
def test_what_does_not_finds_nothing_unless_it_stands_out(nonsense: str):
    assert not reads_as_language(nonsense, nats)
    assert doubt(PLAIN, nonsense, found(0.8, HAN), ASKED, profile(0.8), nats) is None
    assert doubt(PLAIN, nonsense, found(0.8 + 10 * COSINE_UNIT, HAN), ASKED, profile(0.8), nats) == 0.0


@pytest.mark.parametrize(
    ("question", "passages", "pair"),
    [
        ("乌龙茶怎么泡？", [TEA] * 40, "cjk_latin"),
        ("how is oolong brewed", [HAN] * 40, "latin_cjk"),
        ("how is oolong brewed", [HAN] * 40 + [replace(TEA, kind="properties")] * 20, "latin_cjk"),
        ("how is oolong brewed", [HAN] * 40 + [TEA] * 2, "latin_cjk"),
        ("how is oolong brewed", [HAN] * 40 + [TEA] * 3, None),
        ("how is oolong brewed", [TEA] * 40, None),
        ("乌龙茶怎么泡？", [HAN] * 40, None),
        ("乌龙茶怎么泡？", [replace(TEA, kind="properties")] * 40, None),
        ("1735", [TEA] * 40, None),
    ],
)
def test_where_nothing_is_in_the_questions_script_the_words_are_given(
    question: str, passages: list[Chunk], pair: str | None
):
    legs: Legs = {"dense": [ScoredChunk(chunk, 0.95) for chunk in passages], "sparse": []}
    assert doubt(PLAIN, question, legs, ASKED, profile(0.7)) == pytest.approx(-NO_WORDS.get(pair or "", 0.0))
    # Nonsense is none the less nothing.
    low: Legs = {"dense": [ScoredChunk(chunk, 0.7) for chunk in passages], "sparse": []}
    assert doubt(PLAIN, "xqzt vvbn plk", low, ASKED, profile(0.7), nats) is None
