"""Levels of embedding models, kept in a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agentic_rag import RagConfig, open_rag
from agentic_rag.retrieval.calibration import SCRIPT_PAIRS
from agentic_rag.retrieval.embedding_calibration import EmbeddingCalibration, Levels, ModelMeasurements
from agentic_rag.stores.embedding_levels import FILE, LevelsFile
from agentic_rag.testing import HashingEmbedding

MEANS = {"latin": np.array([0.5, 0.25], np.float32), "cjk": np.array([-0.5, 0.0], np.float32)}
TOLD = ModelMeasurements(
    {pair: Levels(0.5, 0.1 * number, 0.05) for number, pair in enumerate(SCRIPT_PAIRS)}, MEANS
)


def same(kept: ModelMeasurements | None) -> bool:
    """Whether it is TOLD."""
    assert kept is not None
    alike = all(np.array_equal(kept.ordinary[name], mean) for name, mean in MEANS.items())
    return kept.levels == TOLD.levels and kept.ordinary.keys() == MEANS.keys() and alike


async def test_each_model_has_its_own(tmp_path: Path):
    one, other = LevelsFile(tmp_path / FILE, "one"), LevelsFile(tmp_path / FILE, "other")
    assert await one.read() is None
    await one.write(TOLD)
    assert await other.read() is None
    await other.write(ModelMeasurements(dict.fromkeys(SCRIPT_PAIRS, Levels(0.0, 0.0, 0.0)), {}))
    assert same(await LevelsFile(tmp_path / FILE, "one").read())
    assert [file.name for file in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize(
    "held",
    [
        "",
        "[]",
        '{"one": 3}',
        '{"one": {"levels": {"latin": [1, 2]}}}',
        '{"one": {"latin": [1, 2, 3]}}',
        '{"one": {"levels": {}, "ordinary": {"latin": "x"}}}',
    ],
)
async def test_a_damaged_file_is_as_none_and_is_written_anew(tmp_path: Path, held: str):
    (tmp_path / FILE).write_text(held, encoding="utf-8")
    kept = LevelsFile(tmp_path / FILE, "one")
    assert await kept.read() is None
    await kept.write(TOLD)
    assert same(await kept.read())


async def test_what_cannot_be_kept_is_told_and_fails_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    (tmp_path / "a file").write_text("")
    await LevelsFile(tmp_path / "a file" / FILE, "one").write(TOLD)
    assert "cannot be written" in caplog.text


async def test_a_model_is_measured_once(tmp_path: Path):
    first, second = HashingEmbedding(), HashingEmbedding()
    kept = LevelsFile(tmp_path / FILE, "hashing")
    measured = await EmbeddingCalibration(first, levels_file=kept).of_cosines()
    assert await EmbeddingCalibration(second, levels_file=kept).of_cosines() == measured
    assert (len(first.embedded_texts), second.embedded_texts) == (80, [])


async def test_levels_of_other_script_pairs_are_measured_anew(tmp_path: Path):
    kept, embedding = LevelsFile(tmp_path / FILE, "hashing"), HashingEmbedding()
    await kept.write(TOLD._replace(levels={"latin": Levels(1.0, 0.0, 0.1)}))
    await EmbeddingCalibration(embedding, levels_file=kept).of_cosines()
    assert len(embedding.embedded_texts) == 80


async def test_another_prefix_of_questions_is_another_model(tmp_path: Path):
    for prefix, expected in (("", 80), ("", 0), ("ask: ", 80)):
        embedding = HashingEmbedding()
        config = RagConfig(data_dir=tmp_path, embedding={"query_prefix": prefix})
        async with open_rag(config, embedding=embedding) as rag:
            await rag.retrieval.ready()
        assert len(embedding.embedded_texts) == expected
