"""The benchmark's comparison at its smallest size: the order of every peer, no times."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[3] / "evaluation"))
bench = import_module("bench_fusion")
order = import_module("fusion_benchmark.order")
systems = import_module("fusion_benchmark.systems")
timing = import_module("fusion_benchmark.timing")

SIZE = 10
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("peer", systems.PEERS, ids=lambda peer: peer.name)
def test_a_peer_has_our_order_with_its_own_k(peer: Any):
    pytest.importorskip(peer.module)
    theirs, ours = bench._both(peer, SIZE, bench.RRF, peer.k)
    assert order.agreement(theirs, ours, peer.precision) == 1.0
    if "LangChain" not in peer.name:  # which returns no scores
        expected = {identity: score * peer.scale for identity, score in ours.items()}
        assert dict(theirs) == pytest.approx(expected, rel=peer.precision)


def test_ranx_weighs_as_we_do_but_for_the_floor():
    pytest.importorskip("ranx")
    theirs, ours = bench._both(systems.RANX_WEIGHTED, SIZE, bench.WEIGHTED)
    assert order.deviation(theirs, ours, bench.lists(SIZE), systems.WEIGHTS) < 1e-9


@pytest.mark.parametrize(
    ("theirs", "share"),
    [
        ("abcd", 1.0),
        ("acbd", 1.0),  # b and c are tied
        ("bacd", 2 / 3),
        ("dcba", 1 / 3),
        ("abc", 0.0),
        ("abcc", 0.0),
    ],
)
def test_agreement_counts_neighbours_and_lets_ties_be(theirs: str, share: float):
    ours = {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}
    assert order.agreement([(identity, 0.0) for identity in theirs], ours) == share


def test_the_lists_share_half_and_fall():
    graph, vector = bench.lists(SIZE)
    assert len({hit["id"] for hit in graph} & {hit["id"] for hit in vector}) == SIZE // 2
    for side in (graph, vector):
        assert [hit["rank"] for hit in side] == list(range(1, SIZE + 1))
        assert sorted({hit["score"] for hit in side}, reverse=True) == [hit["score"] for hit in side]


def test_no_call_changes_what_the_next_one_is_given():
    prepared = bench.prepared(bench.lists(SIZE))
    for name, system in prepared.items():
        assert bench.fused(system) == bench.fused(system), name


def test_a_peer_that_is_missing_is_shown_without_figures(monkeypatch: pytest.MonkeyPatch):
    missing = systems.System("nobody", "no_such_module", lambda lists: pytest.fail("prepared"))
    monkeypatch.setattr(bench, "PEERS", (missing,))
    monkeypatch.setattr(bench, "RANX_WEIGHTED", missing)
    times = {name: timing.Times(1.0, 2.0) for name in bench.prepared(bench.lists(SIZE))}
    assert "nobody" not in times
    measured = dict.fromkeys((SIZE, 1_000, 10_000), times)
    rows = bench.order_rows((SIZE,)) + bench.time_rows(measured) + bench.growth_rows(measured)
    of_peer = [row for row in rows if row["peer"] == "nobody"]
    assert of_peer
    for row in of_peer:
        assert "nobody (not installed)" in row["what"]
        assert (row["ours"], row["theirs"], row["ratio"], row["ok"]) == (None, None, None, None)
