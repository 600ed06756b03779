"""Weighted fusion: its formulas, absent hits, its properties, and comparison with ranx."""

import copy
import math
import random
import statistics
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.errors import ConfigError, InputError
from agentic_rag.fusion import UnifiedResult, normalise, read_hits, weighted_fusion
from agentic_rag.fusion.weighted_fusion import min_max, z_score

Hits = list[dict[str, Any]]
METHODS = ["min_max", "z_score"]


def hits(**raw: float | None) -> Hits:
    return [{"id": identity, "score": score} for identity, score in raw.items()]


def scores(results: list[UnifiedResult]) -> dict[str, float]:
    return {result.id: result.fused_score for result in results}


raw_scores = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20)
run = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-1e6, 1e6), max_size=8)


# ── arithmetic ──────────────────────────────────────────────────────────────────────────────────


def test_min_max_by_hand():
    fused = weighted_fusion(hits(a=0.9, b=0.5, c=0.1), hits(b=8.0, d=2.0))
    third, half = 1 / 3, 1 / 2
    assert scores(fused) == pytest.approx(
        {
            "a": 0.7 * (third + (1 - third) * 1),
            "b": 0.7 * (third + (1 - third) * (0.5 - 0.1) / (0.9 - 0.1)) + 0.3 * (half + (1 - half) * 1),
            "c": 0.7 * third,
            "d": 0.3 * half,
        }
    )
    assert [result.id for result in fused] == ["b", "a", "c", "d"]
    assert all(result.rrf_score == 0.0 for result in fused)


def test_z_score_by_hand():
    deviation = math.sqrt(((0.9 - 0.5) ** 2 + 0 + (0.1 - 0.5) ** 2) / 3)
    fused = weighted_fusion(hits(a=0.9, b=0.5, c=0.1), hits(b=8.0, d=2.0), normalization="z_score")
    assert scores(fused) == pytest.approx(
        {
            "a": 0.7 * 1,
            "b": 0.7 / (1 + (0.9 - 0.5) / deviation) + 0.3 * 1,
            "c": 0.7 / (1 + (0.9 - 0.1) / deviation),
            "d": 0.3 / (1 + (8.0 - 2.0) / 3.0),
        }
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("alpha", [0.7, 0.51])
def test_one_hit_of_the_heavier_source_is_before_a_hundred_of_the_other(method: str, alpha: float):
    """Standard scores of a long list reach several deviations: summed as they are, they outvote any weight."""
    many = hits(**{f"v{number:03}": 0.9 - number * 0.005 for number in range(100)})
    fused = weighted_fusion(hits(g=0.99), many, alpha, 1 - alpha, method)  # type: ignore[arg-type]
    assert [result.id for result in fused[:2]] == ["g", "v000"]
    assert [result.fused_score for result in fused[:2]] == [alpha, 1 - alpha]
    mirrored = weighted_fusion(hits(g=0.99), many, 1 - alpha, alpha, method)  # type: ignore[arg-type]
    assert mirrored[0].id == "v000"


@pytest.mark.parametrize("outliers", [1, 3])
def test_far_from_all_others_is_still_told_apart_and_present(outliers: int):
    """Where the normal distribution function would have only 0s and 1s."""
    apart = [float(place + 1) * 1e3 for place in range(outliers)]
    raw = [*(-value for value in apart), *[0.0] * 20_000, *apart]
    values = dict(zip(raw, z_score(raw), strict=True))
    assert len(set(values.values())) == 2 * outliers + 1
    assert min(values.values()) >= 1 / (1 + math.sqrt(2 * len(raw))) - 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_equal_scores_and_a_single_hit_count_one(method: str):
    assert normalise(read_hits(hits(a=0.4, b=0.4), "lancedb"), method).values == [1.0, 1.0]  # type: ignore[arg-type]
    assert normalise(read_hits(hits(a=-7.0), "lancedb"), method).values == [1.0]  # type: ignore[arg-type]
    assert normalise([], method) == ([], "score")  # type: ignore[arg-type]


def test_missing_scores_fall_back_to_ranks():
    given = [
        {"id": name, "rank": rank, "score": score}
        for rank, (name, score) in enumerate([("a", 0.9), ("b", None), ("c", 0.8), ("d", 0.1)], 1)
    ]
    values, basis = normalise(read_hits(given, "graphiti"), "min_max")
    assert (values, basis) == (pytest.approx([4 / 4, 3 / 4, 2 / 4, 1 / 4]), "rank")
    deviation = statistics.pstdev([1, 2, 3, 4])
    values, basis = normalise(read_hits(given, "graphiti"), "z_score")
    expected = [1 / (1 + (rank - 1) / deviation) for rank in (1, 2, 3, 4)]
    assert (values, basis) == (pytest.approx(expected), "rank")
    assert weighted_fusion(given, [])[1].sources["graphiti"]["raw"] is None


def test_scores_beyond_half_the_largest_float():
    assert min_max([1.7e308, 0.0, -1.7e308]) == pytest.approx([1, 1 / 3 + 2 / 3 * 0.5, 1 / 3])
    assert all(math.isfinite(value) for value in z_score([1.7e308, 0.0, -1.7e308]))


@pytest.mark.parametrize(
    "weights",
    [(0.7, 0.4), (0.0, 0.0), (1.2, -0.2), (math.nan, 0.5), (math.inf, 0), (True, False), (0.7, 0.3 + 2e-6)],
)
def test_weights_that_do_not_sum_to_one_are_refused(weights: tuple[float, float]):
    with pytest.raises(ConfigError):
        weighted_fusion(hits(a=1.0), hits(a=1.0), *weights)


def test_other_parameters_are_checked():
    with pytest.raises(ConfigError, match="min_max, z_score"):
        weighted_fusion(hits(a=1.0), [], normalization="softmax")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="limit"):
        weighted_fusion([], [], limit=0)
    with pytest.raises(InputError, match="'a'"):
        weighted_fusion(hits(a=math.nan), [])


# ── properties ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", METHODS)
@given(raw=raw_scores)
def test_every_present_hit_counts_more_than_absent_and_order_is_kept(method: str, raw: list[float]):
    values = {"min_max": min_max, "z_score": z_score}[method](raw)
    floor = 1 / len(raw) if method == "min_max" else 1 / (1 + math.sqrt(2 * len(raw)))
    assert min(values) >= floor - 1e-12
    assert values[raw.index(max(raw))] == max(values) == pytest.approx(1.0)
    ordered = sorted(zip(raw, values, strict=True))
    assert all(one[1] <= other[1] for one, other in pairwise(ordered))


@pytest.mark.parametrize("method", METHODS)
@given(graph=run, vector=run, rng=st.randoms(use_true_random=False))
def test_order_symmetry_and_no_mutation(
    method: str, graph: dict[str, float], vector: dict[str, float], rng: random.Random
):
    sides = hits(**graph), hits(**vector)
    before = copy.deepcopy(sides)
    fused = weighted_fusion(*sides, 0.25, 0.75, method)  # type: ignore[arg-type]
    assert sides == before
    keys = [(-result.fused_score, result.id) for result in fused]
    assert keys == sorted(set(keys))
    assert {result.id for result in fused} == {*graph, *vector}
    swapped = weighted_fusion(sides[1], sides[0], 0.75, 0.25, method)  # type: ignore[arg-type]
    shuffled = weighted_fusion(*(rng.sample(side, len(side)) for side in sides), 0.25, 0.75, method)  # type: ignore[arg-type]
    assert scores(swapped) == pytest.approx(scores(fused))
    assert scores(shuffled) == pytest.approx(scores(fused))


@pytest.mark.parametrize("method", METHODS)
@given(
    raw=st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-50, 50), min_size=2),
    scale=st.floats(0.01, 100),
    shift=st.floats(-100, 100),
)
def test_a_sources_scale_does_not_matter(method: str, raw: dict[str, float], scale: float, shift: float):
    moved = {identity: score * scale + shift for identity, score in raw.items()}
    values = [normalise(read_hits(hits(**side), "lancedb"), method).values for side in (raw, moved)]  # type: ignore[arg-type]
    assert values[0] == pytest.approx(values[1], rel=1e-6, abs=1e-6)


# ── oracle ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::SyntaxWarning", "ignore:.*:numba.NumbaWarning"
)
@pytest.mark.parametrize("whole", [True, False])
def test_ranx_agrees_where_the_formulas_do(whole: bool):
    """ranx maps to [0, 1], so that a source's last hit and an absent one are both 0; ours maps to [1/n, 1].

    ``ours = Σ w (1/n + (1 - 1/n) · theirs)`` over the sources that hold the document: with both sources
    whole the order is the same and only the scale differs, else each source's own list is compared.
    """
    from ranx import Run, fuse

    rng = random.Random(3)
    count = 25
    runs = []
    for _ in range(2):
        found = range(count) if whole else rng.sample(range(40), count)
        runs.append({"q": {f"d{document:02}": rng.random() for document in found}})
    oracle = fuse(
        [Run(run) for run in runs], norm="min-max", method="wsum", params={"weights": [0.7, 0.3]}
    ).to_dict()["q"]
    sides = [[{"id": document, "score": score} for document, score in run["q"].items()] for run in runs]
    ours = weighted_fusion(*sides)
    floor = 1 / count
    for result in ours:
        present = sum(said["weight"] for said in result.sources.values())
        assert result.fused_score == pytest.approx(
            floor * present + (1 - floor) * oracle[result.id], abs=1e-9
        )
    if whole:
        assert [result.id for result in ours] == sorted(
            oracle, key=lambda document: (-oracle[document], document)
        )
