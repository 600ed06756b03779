"""The learned ranker: trained, written, read back; whatever is wrong with its file is told with what to do."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentic_rag import RagConfig, open_rag
from agentic_rag.errors import ConfigError, InputError, MissingExtra
from agentic_rag.parameters import RerankParameters
from agentic_rag.rerank import rerank_results
from agentic_rag.rerank.features import FEATURES, features, terms_of
from agentic_rag.rerank.learned import (
    HEAD,
    LearnedRanker,
    fit_calibration,
    fit_trees,
    load_ranker,
    parse_ranker,
    require_learning,
)
from agentic_rag.rerank.offline import WEIGHTS, offline_odds, rerank_offline
from agentic_rag.testing import HashingEmbedding

lightgbm = pytest.importorskip("lightgbm")
WEIGHTED = {name: float(getattr(RerankParameters(), name)) for name in WEIGHTS}


def results_of(seed: int, count: int = 12) -> list[dict[str, Any]]:
    """Fused results that the sources judge by chance; the relevant one has three facts."""
    rng = np.random.default_rng(seed)
    relevant = int(rng.integers(count))
    return [
        {
            "id": f"{seed}-{number:02}",
            "content": "tea " * 40,
            "type": "document",
            "fused_score": 1.0 / (number + 1),
            "tier": None,
            "facts": [{"id": str(fact), "cosine": 0.5} for fact in range(3 if number == relevant else 1)],
            "metadata": {"document_id": f"d{number}", "ordinal": 0, "gold": number == relevant},
            "sources": {
                "lancedb": {
                    "rank": number + 1,
                    "raw": float(rng.uniform(0.2, 0.8)),
                    "normalised": 0.5,
                    "weight": 0.7,
                }
            },
        }
        for number in range(count)
    ]


def trained(queries: int = 40) -> LearnedRanker:
    told = [results_of(seed) for seed in range(queries)]
    booster = fit_trees(
        [offline_odds(terms_of("tea", results), RerankParameters()) for results in told],
        [features("tea", results) for results in told],
        [[int(one["metadata"]["gold"]) for one in results] for results in told],
    )
    return LearnedRanker(booster, WEIGHTED, slope=0.8, intercept=-1.0)


@pytest.fixture(scope="module")
def ranker() -> LearnedRanker:
    return trained()


@pytest.fixture
def file(tmp_path: Path, ranker: LearnedRanker) -> Path:
    path = tmp_path / "ranker.txt"
    path.write_text(ranker.to_text(), encoding="utf-8")
    return path


async def test_it_ranks_by_what_it_has_learned(file: Path):
    parameters = RerankParameters(method="learned", model=str(file))
    right = {"offline": 0, "learned": 0}
    for seed in range(100, 130):
        results = results_of(seed)
        ranked = await rerank_results("tea", results, parameters, None)
        assert sorted(one["id"] for one in ranked) == sorted(one["id"] for one in results)
        assert all(0.0 <= one["rerank_score"] <= 1.0 for one in ranked)
        keys = [(-one["rerank_score"], one["id"]) for one in ranked]
        assert keys == sorted(keys)
        right["learned"] += ranked[0]["metadata"]["gold"]
        right["offline"] += rerank_offline("tea", results)[0]["metadata"]["gold"]
    assert right["learned"] == 30
    assert right["offline"] < 15
    assert await rerank_results("tea", [], parameters, None) == []


def test_what_is_read_back_scores_the_same(file: Path, ranker: LearnedRanker):
    read = load_ranker(file)
    assert (read.weights, read.slope, read.intercept) == (WEIGHTED, 0.8, -1.0)
    assert read.scores("tea", results_of(7)) == ranker.scores("tea", results_of(7))
    assert read.to_text() == file.read_text(encoding="utf-8")
    assert load_ranker(file) is read


def test_lightgbm_reads_the_file_too(file: Path, ranker: LearnedRanker):
    table = features("tea", results_of(7))
    theirs = lightgbm.Booster(model_file=str(file))
    assert theirs.feature_name() == list(FEATURES)
    assert theirs.predict(table).tolist() == ranker.booster.predict(table).tolist()


def test_the_same_labels_give_the_same_file(ranker: LearnedRanker):
    assert trained().to_text() == ranker.to_text()


def test_a_file_that_changed_is_read_anew(file: Path):
    before = load_ranker(file)
    head = json.loads(file.read_text(encoding="utf-8").rpartition(HEAD)[2])
    rewrite(file, {**head, "slope": 12.25})
    assert load_ranker(file).slope == 12.25
    assert before.slope == 0.8


def rewrite(file: Path, head: Any) -> None:
    trees = file.read_text(encoding="utf-8").rpartition(HEAD)[0]
    file.write_text(f"{trees}{HEAD}{json.dumps(head)}\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda head: {**head, "features_version": 0}, "learned with other features"),
        (lambda head: {**head, "features": head["features"][1:]}, "learned with other features"),
        (lambda head: {**head, "weights": {"walk": 1.0}}, "learned with other features"),
        (lambda head: {**head, "digest": "0"}, "damaged"),
        (lambda head: {**head, "slope": -1.0}, "damaged"),
        (lambda head: {**head, "slope": "steep"}, "no ranker that tune wrote"),
        (lambda head: {"slope": 1.0}, "no ranker that tune wrote"),
        (lambda head: [], "no ranker that tune wrote"),
    ],
)
def test_a_file_that_does_not_fit_says_to_tune_again(file: Path, change: Callable[[Any], Any], told: str):
    rewrite(file, change(json.loads(file.read_text(encoding="utf-8").rpartition(HEAD)[2])))
    with pytest.raises(ConfigError, match=f"{told}.*tune again: agentic-rag tune DATASET --learned"):
        load_ranker(file)


@pytest.mark.parametrize("text", ["", "tree\n", f"tree\n{HEAD}\n", "\n".join(["x"] * 9)])
def test_another_file_is_told(text: str):
    with pytest.raises(ConfigError, match="mine is no ranker that tune wrote"):
        parse_ranker(text, "mine")


async def test_what_is_missing_is_told_before_a_question_is_asked(tmp_path: Path):
    config = RagConfig(data_dir=tmp_path, rerank={"method": "learned"})
    with pytest.raises(ConfigError, match=r"rerank\.model is not set.*tune DATASET --learned"):
        async with open_rag(config, embedding=HashingEmbedding()):
            pass
    with pytest.raises(ConfigError, match=r"cannot read the learned ranker .*gone\.txt"):
        load_ranker(tmp_path / "gone.txt")


def test_without_lightgbm_the_extra_is_named(file: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    for use in (require_learning, lambda: load_ranker(file), lambda: fit_trees([], [], [])):
        with pytest.raises(MissingExtra, match=r"pip install 'agentic-rag\[learned\]'"):
            use()


def test_without_a_relevant_result_there_is_nothing_to_learn():
    table = features("tea", results_of(1))
    with pytest.raises(InputError, match="nothing to learn"):
        fit_trees([np.zeros(12)], [table], [[0] * 12])


def test_a_calibration_says_how_often_the_relevant_are_there():
    rng = np.random.default_rng(0)
    odds = rng.normal(0.0, 2.0, 4000)
    relevant = rng.random(4000) < 1 / (1 + np.exp(-(0.5 * odds - 1.0)))
    slope, intercept = fit_calibration(odds, relevant)
    assert slope == pytest.approx(0.5, abs=0.05)
    assert intercept == pytest.approx(-1.0, abs=0.1)


def test_a_calibration_never_turns_the_order_around():
    odds = np.array([3.0, 2.0, -2.0, -3.0])
    assert fit_calibration(odds, odds < 0)[0] == pytest.approx(0.01)
    assert fit_calibration(np.zeros(0), np.zeros(0, dtype=bool)) == (1.0, 0.0)
