"""Tuning by cross-validation: a replay equals the graph, a planted gain is found, noise is not significant."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from agentic_rag.channels import in_full
from agentic_rag.domain import Hit
from agentic_rag.errors import ConfigError
from agentic_rag.nodes.check_quality import check_quality
from agentic_rag.nodes.fuse_results import fuse_results
from agentic_rag.nodes.rerank import rerank
from agentic_rag.settings.parameters import Parameters
from agentic_rag.testing import prepared_state
from agentic_rag_lab.evaluation.asking import ranking_of
from agentic_rag_lab.evaluation.datasets import EvalDataset, EvalQuery
from agentic_rag_lab.evaluation.metrics import measure
from agentic_rag_lab.evaluation.tuning.run import (
    FEWEST,
    TUNED_SETTINGS,
    TuneOptions,
    TuneReport,
    _tune,
    default_settings,
)
from agentic_rag_lab.evaluation.tuning.search import (
    FOLDS,
    FUSION,
    KS,
    SEARCHED_SETTINGS,
    Changes,
    CollectedQuery,
    Replay,
    SettingsOutcome,
    Unit,
    abstention_threshold,
    carry_threshold,
    choose,
    folds_of,
    fusion_grid,
    grid,
    is_better,
    nest,
    rightness,
    with_changes,
)

WORDS = "Ann Ben red bicycle Lisbon lake swim dog tea oolong 茶树 in 2023 the".split()


def hits(rng: np.random.Generator, source: str, dialogue: bool) -> list[Hit]:
    """Up to 15 of 20 chunks of 5 documents, as a source would find them."""
    chosen = rng.choice(20, size=int(rng.integers(0, 16)), replace=False).tolist()
    found: list[Hit] = []
    for rank, number in enumerate(chosen, start=1):
        words = np.random.default_rng(number)  # a chunk has one text, whoever finds it
        metadata: dict[str, Any] = {
            "document_id": f"d{number % 5}",
            "ordinal": number // 5,
            "dia_id": f"D{number}",
        }
        if number % 4 == 0:
            metadata["tags"] = ["mistake"]
        if dialogue:
            metadata |= {"kind": "turn", "speaker": ["Ann", "Ben"][number % 2]}
        found.append(
            {
                "id": f"d{number % 5}#D{number}",
                "content": " ".join(words.choice(WORDS, size=4 + number % 5).tolist()),
                "type": "document" if source == "lancedb" else "episode",
                "rank": rank,
                "score": round(float(rng.random()), 2),
                "metadata": metadata,
                "evidence": {},
                "facts": [],
            }
        )
    return found


OPERATIONS = ["document_retrieval", "concept_relation", "weak_point_clustering", "verification_canvas"]


def collected(count: int, unit: Unit, *, dialogue: bool = True) -> list[CollectedQuery]:
    """Questions of every operation, every third of 2023; the graph made a walk for three of four."""
    rng = np.random.default_rng(1)
    queries = []
    for number in range(count):
        text = " ".join(rng.choice(WORDS, size=4).tolist()) + (" in 2023" if number % 3 == 0 else "")
        gold = {"d1": 1, "d2": 2} if unit == "document" else {"d1#D1": 1, "d2#D7": 1}
        queries.append(
            CollectedQuery(
                EvalQuery(f"q{number}", text, gold),
                text,
                OPERATIONS[number % 4],
                hits(rng, "graphiti", dialogue),
                hits(rng, "lancedb", dialogue),
                None if number // 2 % 4 == 3 else round(float(rng.random()), 2),
            )
        )
    return queries


async def by_nodes(one: CollectedQuery, parameters: Parameters, unit: Unit) -> tuple[float, float]:
    """Measure and best relevance, by the graph's own nodes."""
    known = {} if one.specificity is None else {"specificity": one.specificity}
    outcome = {"status": "ok", "reason": None, "ms": 1.0}
    state: Any = {
        **prepared_state(parameters, query=one.text, operation=one.operation),
        "graphiti_results": one.graph,
        "graphiti_outcome": {**outcome, "count": len(one.graph), "question": known},
        "lancedb_results": one.vector,
        "lancedb_outcome": {**outcome, "count": len(one.vector), "question": {}},
    }
    state |= fuse_results(state)
    state |= await rerank(state)
    state |= await check_quality(state)
    ranking = ranking_of(in_full(state["reranked_results"]), unit)
    return measure("ndcg@5", ranking, one.query.relevant), state["quality"]["score"]


SETTINGS: list[Changes] = [
    (),
    (("rerank.method", "none"),),
    (("fusion.strategy", "rrf"), ("fusion.k", 1), ("rerank.method", "none")),
    (("fusion.strategy", "cascade"),),
    *(with_changes((), fusion) for fusion in fusion_grid()[9::6]),
]


@pytest.mark.parametrize("unit", ["document", "chunk"])
@pytest.mark.parametrize("base", [{}, {"fusion": {"graphiti_weight": 0.6, "lancedb_weight": 0.4}}])
async def test_a_replay_is_what_the_graphs_nodes_do(unit: Unit, base: dict[str, Any]) -> None:
    queries, parameters = collected(8, unit), Parameters().override(base)
    replay = Replay(queries, parameters, unit, "ndcg@5")
    for changes in SETTINGS:
        outcome = replay.outcome(changes)
        expected = [await by_nodes(one, parameters.override(nest(changes)), unit) for one in queries]
        assert outcome.values.tolist() == pytest.approx([value for value, _ in expected]), changes
        assert outcome.confidences.tolist() == pytest.approx([best for _, best in expected], abs=1e-6), (
            changes
        )


def found(identity: str, document: str) -> Hit:
    """The one and best hit of a source."""
    return {
        "id": identity, "content": "tea", "type": "document", "rank": 1, "score": 0.9,
        "metadata": {"document_id": document, "ordinal": 0}, "evidence": {}, "facts": [],
    }  # fmt: skip


def test_what_the_graph_knows_of_a_question_moves_its_ranking() -> None:
    """A graph that knows the question outweighs the vector store, where the weights are not set."""
    by_graph, by_vectors = ([found(name, document)] for name, document in (("g", "d1"), ("v", "d2")))
    query = EvalQuery("q", "tea", {"d1": 1})
    values = {}
    for specificity in (0.0, 1.0):
        one = CollectedQuery(query, "tea", "document_retrieval", by_graph, by_vectors, specificity)
        replay = Replay([one], Parameters(), "document", "mrr@10")
        values[specificity] = replay.outcome(()).values.tolist()
        given = (("fusion.graphiti_weight", 0.3),)
        assert replay.outcome(given).values.tolist() == [0.5]
    assert values == {0.0: [0.5], 1.0: [1.0]}


def test_the_unanswerable_are_judged_and_not_ranked() -> None:
    known, trap = collected(2, "document")
    trap = CollectedQuery(
        EvalQuery("trap", "?", {}, answerable=False), "?", trap.operation, trap.graph, trap.vector
    )
    silent = CollectedQuery(known.query, known.text, known.operation, [], [])
    replay = Replay([known, trap, silent], Parameters(), "document", "mrr@10")
    outcome = replay.outcome(())
    assert (replay.ranked_places.tolist(), replay.unanswerable.tolist()) == ([0, 2], [1])
    assert [math.isnan(value) for value in outcome.values] == [False, True, False]
    assert outcome.confidences[1] > 0
    assert (outcome.values[2], outcome.confidences[2]) == (0.0, 0.0), "found nothing, and counts"


def test_a_setting_that_does_not_exist_is_told() -> None:
    replay = Replay(collected(1, "document"), Parameters(), "document", "mrr@10")
    with pytest.raises(ConfigError, match="charm"):
        replay.outcome((("rerank.charm", 1.0),))


def test_changes_are_joined_and_taken_back() -> None:
    both = with_changes((("fusion.k", 5),), {"rerank.method": "none"})
    assert both == (("fusion.k", 5), ("rerank.method", "none"))
    assert with_changes(both, {"fusion.k": None}) == (("rerank.method", "none"),)
    assert nest(both) == {"fusion": {"k": 5}, "rerank": {"method": "none"}}


N = 60


def queries(count: int = N, spaces: int = 1, unanswerable: int = 0) -> list[EvalQuery]:
    return [
        EvalQuery(
            f"q{number}",
            "tea",
            {"gold": 1} if number >= unanswerable else {},
            dataset_key=f"conv-{number % spaces}",
            answerable=number >= unanswerable,
        )
        for number in range(count)
    ]


class Scripted:
    """A replay whose settings do what a function says they do to each query."""

    def __init__(self, told: list[EvalQuery], does: Callable[[dict[str, Any], int], float]) -> None:
        self.collected_queries = [
            CollectedQuery(query, query.text, "document_retrieval", [], []) for query in told
        ]
        self.ranked_places = np.flatnonzero([query.answerable for query in told]).astype(np.int64)
        self.unanswerable = np.flatnonzero([not query.answerable for query in told]).astype(np.int64)
        self.base = Parameters()
        self.confidences = np.array([0.8 if query.answerable else 0.6 for query in told])
        self._does = does

    def outcome(self, changes: Changes) -> SettingsOutcome:
        values = [self._does(dict(changes), number) for number in range(len(self.collected_queries))]
        return SettingsOutcome(np.array(values), self.confidences)


def report(replay: Scripted | Replay, **options: Any) -> TuneReport:
    loaded = EvalDataset("tea", tuple(one.query for one in replay.collected_queries), "document", Path())
    return _tune(cast(Replay, replay), loaded, TuneOptions(**options), lambda *_: None, [])


# --- folds ---------------------------------------------------------------------------------------


def test_each_query_is_held_out_once_in_folds_of_equal_size() -> None:
    folds = folds_of(queries(52))
    assert sorted(np.concatenate(folds).tolist()) == list(range(52))
    assert sorted(fold.size for fold in folds) == [10, 10, 10, 11, 11]
    again = folds_of(queries(52))
    assert [fold.tolist() for fold in again] == [fold.tolist() for fold in folds]


@pytest.mark.parametrize("spaces", [2, 3, 8])
def test_no_conversation_is_in_two_folds(spaces: int) -> None:
    told = queries(40, spaces)
    folds = folds_of(told)
    assert len(folds) == spaces
    assert sorted(np.concatenate(folds).tolist()) == list(range(40))
    seen = [{told[number].dataset_key for number in fold.tolist()} for fold in folds]
    assert sum(map(len, seen)) == len(set.union(*seen)) == spaces


def test_fewer_queries_than_folds() -> None:
    assert [fold.size for fold in folds_of(queries(3))] == [1, 1, 1]
    assert len(folds_of(queries(40))) == FOLDS


# --- choosing ------------------------------------------------------------------------------------


def test_every_setting_of_the_grid_can_be_used() -> None:
    for option in grid():
        assert set(option) <= set(SEARCHED_SETTINGS)
    for fusion in fusion_grid():
        values = {name.removeprefix("fusion."): value for name, value in fusion.items()}
        parameters = Parameters().override({"fusion": values}).fusion
        assert sum(parameters.sum_weights((0.3, 0.7))) == pytest.approx(1.0)
        assert set(fusion) <= set(FUSION)


def test_the_best_setting_is_found_and_nothing_else_is_changed() -> None:
    def does(settings: dict[str, Any], number: int) -> float:
        good = settings.get("rerank.method") == "none" and settings.get("fusion.k") == 20
        return 0.5 + 0.4 * good + 0.0001 * (settings.get("fusion.normalization") == "z_score")

    replay = Scripted(queries(), does)
    best = (("fusion.k", 20), ("fusion.strategy", "rrf"), ("rerank.method", "none"))
    assert choose(replay, np.arange(N), grid()) == best
    assert choose(replay, np.array([], dtype=np.int64), grid()) == ()


def test_a_gain_within_a_standard_error_is_not_taken() -> None:
    rng = np.random.default_rng(0)
    noise = {k: rng.normal(0.0, 0.3, N) for k in KS}
    replay = Scripted(
        queries(),
        lambda settings, number: 0.5 + 0.01 * float(noise.get(settings.get("fusion.k"), [0.0] * N)[number]),
    )
    chosen = choose(replay, np.arange(N), grid())
    best = max(noise.values(), key=np.mean)
    assert (chosen == ()) == (best.mean() / (best.std(ddof=1) / np.sqrt(N)) <= 1.0)
    assert not is_better(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    assert not is_better(np.array([1.0]), np.array([1.0]))
    assert is_better(np.array([1.0, 1.0, 0.9]), np.array([0.5, 0.4, 0.4]))


# --- held out ------------------------------------------------------------------------------------


CHOSEN = {"fusion.strategy": "rrf", "fusion.k": 20}


def test_a_planted_gain_is_found_and_beyond_chance() -> None:
    rng = np.random.default_rng(3)
    level = rng.uniform(0.2, 0.6, N)
    replay = Scripted(
        queries(), lambda settings, number: float(level[number]) + 0.3 * (settings.get("fusion.k") == 20)
    )
    told = report(replay)
    assert told.settings == told.chosen == CHOSEN
    assert told.chosen_in_folds == [CHOSEN] * FOLDS
    assert told.ranking.beyond_chance
    assert told.ranking.difference["value"] == pytest.approx(0.3)
    assert told.beyond_chance
    assert told.abstention is None


def test_what_copies_the_labels_in_training_and_is_noise_held_out_is_chance() -> None:
    """For each fold there is a setting that is perfect on all queries but that fold's: choosing takes it."""
    told = queries()
    folds = folds_of(told)
    fold_of = {number: place for place, fold in enumerate(folds) for number in fold.tolist()}
    rng = np.random.default_rng(5)
    default, noise = rng.random(N), rng.random((FOLDS, N))
    leaky = {k: place for place, k in enumerate(KS[:FOLDS])}

    def does(settings: dict[str, Any], number: int) -> float:
        place = leaky.get(settings.get("fusion.k"))
        if place is None:
            return float(default[number])
        return float(noise[place, number]) if fold_of[number] == place else 1.0

    found = report(Scripted(told, does))
    inside = [fold["fusion.k"] for fold in found.chosen_in_folds]
    assert inside == list(leaky), "each fold's choice is the one that is perfect on what it was shown"
    assert found.chosen != {}, "seen from inside it looks like a large gain"
    assert not found.ranking.beyond_chance
    assert abs(found.ranking.difference["value"]) < 0.15
    assert found.settings == {}
    assert report(Scripted(told, does), anyway=True).settings == found.chosen


def test_folds_by_conversation_show_what_does_not_carry_over() -> None:
    """Every conversation has a setting of its own: what is best on the others does not help it."""
    told = queries(spaces=4)
    level = np.random.default_rng(2).random(N) / 2

    def does(settings: dict[str, Any], number: int) -> float:
        own = KS[number % 4]
        return float(level[number]) + 0.5 * (settings.get("fusion.k") == own)

    found = report(Scripted(told, does))
    assert (found.folds, found.grouped) == (4, True)
    assert found.ranking.difference["value"] == 0.0
    assert not found.beyond_chance


# --- thresholds ----------------------------------------------------------------------------------


def test_a_threshold_is_set_where_it_tells_the_unanswerable() -> None:
    told = queries(unanswerable=20)
    replay = Scripted(told, lambda settings, number: 0.5)
    found = report(replay)
    assert found.abstention is not None
    assert found.abstention.default["value"] == 0.5, "0.42 refuses nothing"
    assert found.abstention.chosen["value"] == 1.0
    assert found.settings == {"answer.abstain_below": 0.8}
    assert (found.queries, found.unanswerable) == (40, 20)
    assert not found.ranking.beyond_chance
    assert found.beyond_chance


def test_a_threshold_that_tells_nothing_is_not_written() -> None:
    replay = Scripted(queries(unanswerable=20), lambda settings, number: 0.5)
    replay.confidences = np.random.default_rng(0).uniform(0.5, 0.9, N)
    found = report(replay)
    assert found.abstention is not None
    assert not found.abstention.beyond_chance
    assert found.settings == {}


# --- the report ----------------------------------------------------------------------------------


def test_what_may_be_written_is_a_parameter_with_a_default() -> None:
    assert tuple(default_settings()) == TUNED_SETTINGS
    assert default_settings()["fusion.strategy"] is None
    assert default_settings()["rerank.method"] == "offline"


def test_a_strategy_that_the_operation_has_anyway_is_not_written() -> None:
    def does(settings: dict[str, Any], number: int) -> float:
        wanted = settings.get("fusion.graphiti_weight") == 0.2
        return 0.9 if wanted and "fusion.normalization" not in settings else 0.5

    found = report(Scripted(queries(), does))
    assert found.settings == {"fusion.graphiti_weight": 0.2, "fusion.lancedb_weight": 0.8}
    assert found.chosen_in_folds[0]["fusion.strategy"] == "weighted_lancedb"


def test_the_same_input_gives_the_same_report() -> None:
    rng = np.random.default_rng(3)
    level = rng.random((N, 10))

    def does(settings: dict[str, Any], number: int) -> float:
        return float(level[number, int(settings.get("fusion.k", 9)) % 10])

    first, second = (report(Scripted(queries(), does)).to_dict() for _ in range(2))
    assert first == second
    assert first["defaults"] == default_settings()


def test_there_is_a_least_number_of_queries() -> None:
    assert FEWEST >= FOLDS


def test_at_most_a_tenth_of_the_answerable_is_refused():
    confidences = np.linspace(0.05, 0.95, 30)
    threshold = abstention_threshold(confidences)
    assert (confidences < threshold).sum() == 3
    assert abstention_threshold(np.array([0.123456])) == 0.1234


def test_a_threshold_is_carried_to_another_scale():
    before = np.linspace(0.0, 1.0, 101)[:-1]
    after = before / 2
    assert (before < 0.4).sum() == 40
    threshold = carry_threshold(0.4, before, after)
    assert (after < threshold).sum() == 40
    assert carry_threshold(0.4, before, before + 0.01) == 0.4, "as good as the same"


def test_a_threshold_that_refuses_nobody_goes_on_doing_so():
    before, after = np.full(20, 0.9), np.linspace(0.1, 0.9, 20)
    assert carry_threshold(0.42, before, after) == pytest.approx(0.1)


def test_both_kinds_count_alike():
    answerable = np.array([1.0, 1.0, 1.0, 0.0])
    assert rightness(np.array([0.9, 0.9, 0.9, 0.9]), answerable, 0.5).mean() == pytest.approx(0.5)
    assert rightness(np.array([0.1, 0.1, 0.1, 0.1]), answerable, 0.5).mean() == pytest.approx(0.5)
    assert rightness(np.array([0.9, 0.9, 0.1, 0.1]), answerable, 0.5).mean() == pytest.approx((2 / 3 + 1) / 2)
    each = np.array([0.95, 0.5, 0.05, 0.5])
    assert rightness(np.array([0.9, 0.9, 0.1, 0.1]), answerable, each).mean() == pytest.approx(
        (2 / 3 + 1) / 2
    )
