"""Another model's cosines, rescaled to the fitted model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from agentic_rag.domain import search_text
from agentic_rag.domain.ports import EmbeddedDocument, FloatArray
from agentic_rag.errors import ModelError
from agentic_rag.models.bundled import BundledEmbedding, nats
from agentic_rag.retrieval.calibration import SCRIPT_PAIRS, Calibration, Evidence
from agentic_rag.retrieval.embedding_calibration import (
    SCRIPTS,
    EmbeddingCalibration,
    Levels,
    ModelMeasurements,
    carried_over,
    fitted_calibration,
    measure_model,
)
from agentic_rag.retrieval.engine import RetrievalEngine
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.testing import HashingEmbedding, fake_chunk
from agentic_rag.text import Script

FITTED = fitted_calibration()
LATIN: tuple[Script, Script] = ("latin", "latin")


class Spread:
    """The bundled model without what all its vectors share: cosines about 0, as other models have them."""

    name, dimension = "spread", BundledEmbedding.dimension

    def __init__(self, fails: int = 0) -> None:
        self._bundled, self.fails = BundledEmbedding(), fails
        self.asked: list[str] = []

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        self.asked += texts
        if self.fails:
            self.fails -= 1
            raise ModelError("the server is down")
        return await self._spread(await self._bundled.embed_queries(texts))

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return await self._spread(await self._bundled.embed_passages(texts))

    async def _spread(self, vectors: FloatArray) -> FloatArray:
        common = await self._bundled.embed_passages(["tea", "stars", "茶", "a train", "数据库"])
        own = vectors - common.mean(axis=0)
        unit: FloatArray = own / np.linalg.norm(own, axis=1, keepdims=True)
        return unit


def moved(times: float, by: float, **levels: Levels) -> ModelMeasurements:
    """The fitted model's levels, farther apart and elsewhere; ``levels`` instead of some."""
    held = {
        pair: Levels(
            held.related_cosine * times + by, held.unrelated_cosine * times + by, held.spread * times
        )
        for pair, held in FITTED.levels.items()
    }
    return ModelMeasurements(held | levels, {})


@pytest.mark.parametrize(("times", "by"), [(1.0, 0.0), (5.0, -4.0), (0.5, 0.1)])
def test_the_same_evidence_on_another_scale_is_as_relevant(times: float, by: float):
    carried = carried_over(FITTED, moved(times, by))
    for scripts in (LATIN, ("cjk", "cjk"), ("latin", "cjk"), ("cjk", "latin")):
        for cosine, best in ((0.8, 0.9), (0.85, 0.85), (0.7, 0.8)):
            ours = Evidence(cosine, 5.0, best, 12.0, 0.7, scripts)
            theirs = Evidence(cosine * times + by, 5.0, best * times + by, 12.0, 0.7 * times + by, scripts)
            assert carried.relevance(theirs) == pytest.approx(FITTED.calibration.relevance(ours))


def test_scripts_that_a_model_does_not_tell_apart_count_for_little():
    """As of a model that learnt English alone: all Chinese texts are near each other, by chance more or less."""
    carried = carried_over(FITTED, moved(5.0, -4.0, cjk=Levels(0.58, 0.54, 0.08)))
    chinese = [carried.of_cosine(cosine, ("cjk", "cjk")) for cosine in (0.5, 0.58, 0.66)]
    assert chinese == sorted(chinese)
    assert chinese[-1] < 0.5
    assert carried.units["latin"] == pytest.approx(5 * FITTED.calibration.units["latin"])


def test_how_much_nearer_a_question_is_to_its_own_language_is_made_up_for():
    assert carried_over(FITTED, moved(5.0, -4.0)).nearer == pytest.approx(
        {"latin": 0.0, "cjk": 0.0}, abs=0.01
    )
    even = FITTED.levels["latin"]
    carried = carried_over(FITTED, moved(1.0, 0.0, latin_cjk=even, cjk_latin=even, cjk=even))
    assert carried.nearer["cjk"] > carried.nearer["latin"] > 1.0


async def test_what_is_shipped_is_the_bundled_models():
    told = await measure_model(BundledEmbedding())
    assert set(told.levels) == set(SCRIPT_PAIRS)
    for pair, held in FITTED.levels.items():
        assert told.levels[pair] == pytest.approx(held, abs=0.002), pair
    assert all(held.apart > 2.5 for held in told.levels.values())
    assert set(told.ordinary) == set(SCRIPTS)
    for name, mean in FITTED.calibration.ordinary.items():
        assert told.ordinary[name] == pytest.approx(mean, abs=0.002), name


async def test_nothing_is_embedded_for_the_model_that_was_fitted():
    embedding = HashingEmbedding()
    embedding_calibration = EmbeddingCalibration(embedding, FITTED.calibration)
    assert await embedding_calibration.of_cosines() is FITTED.calibration
    assert EmbeddingCalibration(BundledEmbedding()).is_fitted
    assert embedding.embedded_texts == []


async def test_reference_pairs_are_embedded_once_for_all_who_ask():
    embedding = Spread()
    calibration = EmbeddingCalibration(embedding)
    first, second = await asyncio.gather(calibration.of_cosines(), calibration.of_cosines())
    assert first is second is await calibration.of_cosines()
    assert len(embedding.asked) == len(set(embedding.asked)) == 40


async def test_a_model_that_fails_is_asked_again_the_next_time():
    calibration = EmbeddingCalibration(Spread(fails=1))
    with pytest.raises(ModelError, match="server is down"):
        await calibration.of_cosines()
    assert isinstance(await calibration.of_cosines(), Calibration)


async def test_a_model_that_tells_nothing_apart_is_no_reason_to_fail():
    class Same(HashingEmbedding):
        def _vectors(self, texts: Sequence[str]) -> FloatArray:
            return np.tile(np.eye(1, 64, dtype=np.float32), (len(texts), 1))

    carried = await EmbeddingCalibration(Same()).of_cosines()
    assert 0.0 <= carried.of_cosine(1.0, LATIN) <= 1.0


NOTES = [
    fake_chunk(
        "tea", "Oolong is half oxidised: the leaves wither, are bruised, and rest before they are fired."
    ),
    fake_chunk("stars", "A lunar eclipse is seen when the moon passes through the shadow of the earth."),
    fake_chunk("pots", "Raku ware is taken from the kiln while it glows and put in straw or sawdust."),
]


async def test_questions_are_judged_alike_under_a_model_of_another_scale():
    found = {}
    for embedding in (BundledEmbedding(), Spread()):
        store = InMemoryChunkStore(dimension=embedding.dimension)
        vectors = await embedding.embed_passages([search_text(chunk) for chunk in NOTES])
        documents = [
            EmbeddedDocument(chunk.document_id, (chunk,), vectors[row : row + 1])
            for row, chunk in enumerate(NOTES)
        ]
        await store.replace_documents("notes", documents)
        engine = RetrievalEngine(store, embedding, nats=nats)
        found[embedding.name] = [
            max((one.score for one in await engine.search("notes", question, strategy="dense")), default=0.0)
            for question in ("How is oolong tea made?", "Why does the moon turn dark?", "What is a firewall?")
        ]
    for of_bundled, of_spread in zip(*found.values(), strict=True):
        assert of_spread == pytest.approx(of_bundled, abs=0.25)
    tea, _, firewall = found["spread"]
    assert tea > 0.5 > firewall
