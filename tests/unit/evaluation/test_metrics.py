"""Ranking measures: hand-computed values, and comparison with trec_eval through ir_measures."""

import math
import random
from collections.abc import Iterable, Mapping, Sequence

import ir_measures
import pytest

from agentic_rag.errors import InputError
from agentic_rag.fusion import reciprocal_rank_fusion
from agentic_rag_lab.evaluation.metrics import MEASURES, Judgements, document_ranking, measure

RELEVANT = {"a": 1, "b": 3, "c": 2, "no": 0, "spam": -1}


def test_reciprocal_rank():
    assert measure("mrr@10", ["x", "no", "b"], RELEVANT) == 1 / 3
    assert measure("mrr@2", ["x", "no", "b"], RELEVANT) == 0


def test_recall_is_of_all_relevant():
    assert measure("recall@10", ["x", "b", "a"], RELEVANT) == 2 / 3
    assert measure("recall@1", ["b", "a"], RELEVANT) == 1 / 3


def test_ndcg_has_linear_gain_and_a_cut_ideal():
    ideal = 3 / math.log2(2) + 2 / math.log2(3)
    assert measure("ndcg@2", ["spam", "c", "b"], RELEVANT) == pytest.approx((0 + 2 / math.log2(3)) / ideal)
    assert measure("ndcg@10", ["b", "c", "a"], RELEVANT) == pytest.approx(1)


def test_success_and_all_gold():
    assert [measure("success@1", [first, "b"], RELEVANT) for first in ("a", "x")] == [1.0, 0.0]
    assert measure("all_gold@3", ["b", "c", "a"], RELEVANT) == 1.0
    assert measure("all_gold@2", ["b", "c", "a"], RELEVANT) == 0.0


@pytest.mark.parametrize("name", MEASURES)
def test_no_results_count_zero(name: str):
    assert measure(f"{name}@10", [], RELEVANT) == 0


@pytest.mark.parametrize("name", ["map@10", "mrr", "mrr@0", "mrr@x", "mrr@²", ""])
def test_an_unknown_measure_is_refused(name: str):
    with pytest.raises(InputError, match="all_gold"):
        measure(name, ["a"], RELEVANT)


def test_a_repeated_document_and_a_query_without_an_answer_are_refused():
    with pytest.raises(InputError, match="twice"):
        measure("mrr@10", ["a", "a"], RELEVANT)
    for name in MEASURES:
        with pytest.raises(InputError, match="leave it out"):
            measure(f"{name}@10", ["a"], {"a": 0})


def test_a_document_stands_where_its_best_chunk_stands():
    chunks = [
        {"id": "d1#p2", "metadata": {"document_id": "d1"}},
        {"id": "entity"},
        {"id": "d2#p1", "metadata": {"document_id": "d2"}},
        {"id": "d1#p1", "metadata": {"document_id": "d1"}},
    ]
    assert document_ranking(chunks) == ["d1", "entity", "d2"]
    assert document_ranking(reciprocal_rank_fusion(chunks, [])) == ["d1", "entity", "d2"]


def values_of(
    run: Mapping[str, Sequence[str]], judgements: Mapping[str, Judgements], names: Iterable[str]
) -> dict[str, dict[str, float]]:
    """Each measure of each judged query, whose ranking may be missing."""
    return {
        name: {query: measure(name, run.get(query, ()), relevant) for query, relevant in judgements.items()}
        for name in names
    }


def _judged_runs(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Graded judgements, and rankings of 0 to 29 documents, some of which nobody judged."""
    rng = random.Random(seed)
    names = [f"d{number}" for number in range(60)]
    judgements = {
        f"q{number:02}": {rng.choice(names): rng.choice([0, 1, 1, 2, 3]) for _ in range(rng.randint(1, 12))}
        | {"d0": 1}
        for number in range(40)
    }
    run = {query: rng.sample(names, rng.randrange(30)) for query in judgements}
    run["q00"], run["q01"] = [], list(judgements["q01"])
    return judgements, run


def _scored(run: dict[str, list[str]]) -> dict[str, dict[str, float]]:
    return {query: {name: 100.0 - rank for rank, name in enumerate(found)} for query, found in run.items()}


def test_trec_eval_agrees():
    judgements, run = _judged_runs(11)
    names = {
        "mrr@10": ir_measures.RR @ 10,
        "mrr@3": ir_measures.RR @ 3,
        "recall@10": ir_measures.R @ 10,
        "recall@5": ir_measures.R @ 5,
        "ndcg@10": ir_measures.nDCG @ 10,
        "ndcg@3": ir_measures.nDCG @ 3,
        "success@1": ir_measures.Success @ 1,
        "success@5": ir_measures.Success @ 5,
    }
    ours = values_of(run, judgements, names)
    for name, theirs in names.items():
        values = {v.query_id: v.value for v in ir_measures.iter_calc([theirs], judgements, _scored(run))}
        assert values.keys() == judgements.keys()
        assert ours[name] == pytest.approx(values, abs=1e-9)
    # It has no measure of all gold; by definition it is a recall of 1.
    for k in (5, 10):
        recalls = ir_measures.iter_calc([ir_measures.R @ k], judgements, _scored(run))
        assert values_of(run, judgements, [f"all_gold@{k}"])[f"all_gold@{k}"] == {
            value.query_id: float(value.value == 1.0) for value in recalls
        }
    assert ours["mrr@10"]["q00"] == 0
