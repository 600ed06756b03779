"""The floor: nonsense finds nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agentic_rag.domain import Chunk
from agentic_rag.domain.ports import DatasetProfile, ScoredChunk
from agentic_rag.models.bundled import nats
from agentic_rag.retrieval.calibration import COSINE_UNIT, SCRIPT_PAIRS, Calibration, Legs, Sense
from agentic_rag.retrieval.floor import (
    CHEAP,
    DEAR,
    DOUBT,
    LATIN_NATS,
    NO_WORDS,
    cost,
    doubt,
    nearer,
    ordinary_cosine,
    standing_out,
)
from agentic_rag.testing import fake_chunk

SENSE = Sense(
    intercept=6.0,
    standing_out=1.0,
    by_chance=-1.0,
    words=4.0,
    cost=-10.0,
    nearer=3.0,
    floor=0.0,
    unrelated_below=1.0,
)
ASKED = np.array([1.0, 0.0], dtype=np.float32)
BESIDE = 0.7
"""Cosine of every query with the reference passages."""
PLAIN = Calibration({}, {}, SENSE, ordinary=dict.fromkeys(("latin", "cjk"), BESIDE * ASKED))
TEA = fake_chunk("tea", "Oolong tea from Fujian.")
HAN = fake_chunk("山", "山上有雾，溪水很凉。")


def profile(ordinary: float, chunks: int = 1000) -> DatasetProfile:
    return DatasetProfile(chunks, np.array([ordinary, 0.0], dtype=np.float32))


def found(cosine: float, *more: Chunk) -> Legs:
    return {"dense": [ScoredChunk(chunk, cosine) for chunk in (TEA, *more)], "sparse": []}


def leaning(steps: float) -> Calibration:
    """PLAIN, where a query is so many steps nearer to Latin passages than to Chinese ones."""
    means = {"latin": BESIDE * ASKED, "cjk": (BESIDE - steps * COSINE_UNIT) * ASKED}
    return replace(PLAIN, ordinary=means)


def test_the_best_of_one_chunk_is_compared_with_the_reference_passages_alone():
    assert ordinary_cosine(0.9, 0.9, 1, 0.7) == pytest.approx(0.7)


def test_the_best_itself_does_not_count_as_ordinary():
    assert ordinary_cosine(0.9, 0.8, 2, 0.7) == pytest.approx(0.7)


def test_the_more_chunks_the_less_the_reference_passages_count():
    few, many = (ordinary_cosine(0.9, 0.8, chunks, 0.7) for chunks in (20, 20_000))
    assert 0.7 < few < many == pytest.approx(0.8, abs=0.001)


def test_standing_out_is_told_in_steps():
    assert standing_out(0.9, 0.7) == pytest.approx(0.2 / COSINE_UNIT)
    assert standing_out(0.9, 0.7, 4 * COSINE_UNIT) == pytest.approx(0.05 / COSINE_UNIT)


def test_a_query_is_nearer_to_its_own_language_be_it_the_datasets():
    assert nearer(0.7, [0.7, 0.7]) == 0.0
    assert nearer(0.7, [0.7, 0.7 - COSINE_UNIT]) == pytest.approx(1.0)
    assert nearer(0.7 + 2 * COSINE_UNIT, [0.7, 0.7]) == pytest.approx(2.0)


def test_cost_tells_language_from_gibberish():
    questions = [
        "乌龙茶怎么泡？", "Wie lange zieht der Tee?", "how is oolong brewed", "متى تم إعلان هذا المرسوم؟",
        "पैंथर्स डिफ़ेंस ने कितने अंक दिए?", "আলেপ্পো মুহাফাযার রাজধানী আলেপ্পোর মোট আয়তন কত ?", "ทีมรับของแพนเธอร์สยอมแพ้ที่คะแนนเท่าไร",
    ]  # fmt: skip
    gibberish = [
        "asdkjfh qwelkj zxcmn",
        "xqzt vvbn plk",
        "锟斤拷烫烫烫屯屯屯",
        "魑魅魍魉彳亍囫囵",
        "zxcv 123 qqwx",
        "ةىصبظ غضقثذ ءخشط",
        "ढझठ ऋघङछ ञणफ",
        "ঢঝঠ ঋঘঙছ ঞণফ",
        "ฒฆฎฬ ฌฤฐฑ ฉฮฏ",
    ]
    assert max(cost(text, nats) for text in questions) < 1.0 < min(cost(text, nats) for text in gibberish)
    assert all(
        CHEAP <= cost(text, nats) <= DEAR for text in (*questions, *gibberish, "", "🎉", "lorem ipsum")
    )
    assert cost("xqzt vvbn plk", None) == cost(" ", nats) == CHEAP


@pytest.mark.parametrize(
    ("cosine", "words", "nearer_by", "costs", "doubted"),
    [
        (0.7, "anything at all", 0.0, 1.0, None),
        (0.7, "anything at all", 2.5, 1.0, DOUBT),
        (0.95, "anything at all", 0.0, 1.0, 0.0),
        (0.95, "anything at all", 0.0, 2.0, None),
        (0.7, "oolong tea", 0.0, 2.0, 0.0),
        (0.7, "oolong xqzv kwpt wvut", 0.0, 1.0, None),
    ],
)
def test_what_stands_out_shares_words_or_is_language_means_something(
    cosine: float, words: str, nearer_by: float, costs: float, doubted: float | None
):
    def told(text: str) -> float:
        return costs * LATIN_NATS * len("".join(text.split()))

    for chunks in (1, 1000):
        got = doubt(
            leaning(nearer_by),
            words,
            found(cosine),
            ASKED,
            profile(0.7 if chunks > 1 else cosine, chunks),
            told,
        )
        assert got == doubted


def test_steps_are_the_models_own():
    wide = replace(PLAIN, units=dict.fromkeys(SCRIPT_PAIRS, 8 * COSINE_UNIT))
    assert doubt(PLAIN, "anything at all", found(0.95), ASKED, profile(0.7)) == 0.0
    assert doubt(wide, "anything at all", found(0.95), ASKED, profile(0.7)) is None


def test_a_model_nearer_to_no_language_refuses_no_more_for_it():
    even = replace(PLAIN, nearer={"latin": 2.5})
    assert doubt(PLAIN, "anything at all", found(0.7), ASKED, profile(0.7)) is None
    assert doubt(even, "anything at all", found(0.7), ASKED, profile(0.7)) == DOUBT


def test_where_nothing_is_known_everything_may_mean_something():
    assert doubt(PLAIN, "xqzv", found(0.7), ASKED, None) == 0.0
    assert doubt(replace(PLAIN, ordinary={}), "xqzv", found(0.7), ASKED, profile(0.7)) == 0.0
    assert doubt(PLAIN, "xqzv", {"dense": [], "sparse": []}, ASKED, profile(0.7)) == 0.0


def test_words_beyond_enough_change_nothing():
    assert SENSE.evidence_score(1.0, 10, 0.3) > SENSE.evidence_score(1.0, 10, 0.0)
    assert SENSE.evidence_score(1.0, 10, 0.4) == SENSE.evidence_score(1.0, 10, 1.0)
    assert SENSE.evidence_score(1.0, 1000, 0.0) < SENSE.evidence_score(1.0, 10, 0.0)


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
