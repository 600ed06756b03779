"""Fusion compared with ranx, LangChain, LlamaIndex, Haystack and LanceDB: equality of the order, and time.

    python evaluation/bench_fusion.py [--quick] [--json FILE]

Two synthetic lists of 10 to 10,000 hits that share half their ids are fused by all systems in turns; each gets
its natural input, prepared before the clock starts. Ours is ``fuse_hits``, which the graph calls: it
returns each hit with rank, raw score, normalised score and weight by source, united metadata and facts, and a
report. Haystack and LlamaIndex return new documents with a score; LangChain returns the given
documents in order, LanceDB a table of them, ranx ids with scores. So each of these three has one row against ours
in the form with the same output (``fuse_ids``, and the hits in their order), with the peer's time as floor, and
one row against all of ours, without a floor. Rows without a peer show ours as the graph runs it, with a limit of
100, and ``execute_fusion``, which reads the hits of a caller first. ``--quick`` takes fewer rounds. A peer that is not
installed is reported and has no figures. Exits 1 when a floor is missed: a different order, a slower median for the same output, or 10,000 hits over twelve times as slow as 1,000 (for
comparison, a row shows a plain copy of every hit: data beyond the processor's cache grow faster than linearly).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from agentic_rag.fusion import FusionStrategy
from agentic_rag.fusion.strategy_selector import LIMIT
from figures import Row, options, report, row
from fusion_benchmark.lists import Lists, lists
from fusion_benchmark.order import agreement, deviation
from fusion_benchmark.systems import (
    PEERS,
    RANX_WEIGHTED,
    WEIGHTS,
    Gives,
    Prepared,
    Scored,
    System,
    copied,
    ours,
    ours_ids,
    ours_in_order,
    ours_public,
)
from fusion_benchmark.timing import Times, timed

ROUNDS = {10: 300, 100: 200, 1_000: 60, 10_000: 15}
QUICK = {10: 100, 100: 60, 1_000: 20, 10_000: 4}
GROWTH, K = 12.0, 60
RRF, WEIGHTED = "ours, RRF", "ours, weighted"
KEPT, PUBLIC = "ours, RRF, 100 kept", "ours, RRF, execute_fusion"
IDS, IN_ORDER = "ours, RRF of ids", "ours, RRF, hits in order"
COPY = "a copy of every hit"
ALIKE: Mapping[Gives, str] = {"ids": IDS, "documents": IN_ORDER, "scored documents": RRF}
"""Our form with the same output as a peer's."""

Measured = Mapping[int, Mapping[str, Times]]


def prepared(given: Lists) -> dict[str, Prepared]:
    """Our forms, and every installed peer."""
    systems = {
        RRF: ours(FusionStrategy.RRF)(given),
        WEIGHTED: ours(FusionStrategy.WEIGHTED_GRAPHITI)(given),
        KEPT: ours(FusionStrategy.RRF, limit=LIMIT)(given),
        PUBLIC: ours_public(given),
        IDS: ours_ids(given),
        IN_ORDER: ours_in_order(given),
        COPY: copied(given),
    }
    peers = {peer.name: peer.prepare(given) for peer in (*PEERS, RANX_WEIGHTED) if peer.installed}
    return systems | peers


def fused(system: Prepared) -> Scored:
    return system.scored(system.fuse(system.fresh()))


def order_rows(sizes: tuple[int, ...]) -> list[Row]:
    """The worst over all sizes: share of neighbours in their order that are in our order."""
    rows = []
    for peer in PEERS:
        own = peer.k != K
        rows.append(_order_row(peer, K, sizes, None if own else 1.0))
        if own:
            rows.append(_order_row(peer, peer.k, sizes, 1.0))
    told = _named(RANX_WEIGHTED)
    worst = None
    if RANX_WEIGHTED.installed:
        worst = max(deviation(*_both(RANX_WEIGHTED, size, WEIGHTED), lists(size), WEIGHTS) for size in sizes)
    what = f"scores, ours - Σ w (1/n + (1 - 1/n) · theirs), {told}"
    return [*rows, row(what, "", worst, floor=1e-9, peer=RANX_WEIGHTED.name)]


def _order_row(peer: System, k: int, sizes: tuple[int, ...], floor: float | None) -> Row:
    worst = None
    if peer.installed:
        shares = []
        for size in sizes:
            theirs, mine = _both(peer, size, RRF, k)
            shares.append(agreement(theirs, mine, peer.precision))
        worst = min(shares)
    what = f"same order, ours with k = {k}, {_named(peer)}: {peer.formula}"
    return row(what, "share", worst, bound="min", floor=floor if peer.installed else None, peer=peer.name)


def _both(peer: System, size: int, mine: str, k: int = K) -> tuple[Scored, dict[str, float]]:
    given = lists(size)
    strategy = FusionStrategy.RRF if mine == RRF else FusionStrategy.WEIGHTED_GRAPHITI
    return fused(peer.prepare(given)), dict(fused(ours(strategy, k)(given)))


def time_rows(measured: Measured) -> list[Row]:
    """Ours against each peer at each size; the peer's median is the floor for the form with the same output."""
    rows = []
    for size, times in measured.items():
        told = f"{size:,} a list"
        for peer in (*PEERS, RANX_WEIGHTED):
            whole = WEIGHTED if peer is RANX_WEIGHTED else RRF
            alike = whole if peer is RANX_WEIGHTED else ALIKE[peer.gives]
            theirs = times.get(peer.name)
            for name in dict.fromkeys([alike, whole]):
                p50, p95 = (times[name].p50, times[name].p95) if theirs else (None, None)
                what = f"{told}, {name.removeprefix('ours, ')}, {_named(peer)}"
                floor = theirs.p50 if theirs and name == alike else None
                rows += [
                    row(f"{what}: p50", "ms", p50, peer=peer.name, theirs=theirs and theirs.p50, floor=floor),
                    row(f"{what}: p95", "ms", p95, peer=peer.name, theirs=theirs and theirs.p95),
                ]
        rows += [row(f"{told}, {name}: p50", "ms", times[name].p50) for name in (KEPT, PUBLIC)]
    return rows


def growth_rows(measured: Measured) -> list[Row]:
    """Factor of time for ten times the hits; linear is 10."""

    def growth(name: str) -> float | None:
        small, large = measured[1_000].get(name), measured[10_000].get(name)
        return large.p50 / small.p50 if small and large else None

    told = "10,000 over 1,000 a list, p50"
    rows = [row(f"{told}, {name}", "×", growth(name), floor=GROWTH) for name in (RRF, WEIGHTED, KEPT, IDS)]
    rows.append(row(f"{told}, {COPY}", "×", growth(RRF), peer=COPY, theirs=growth(COPY)))
    for peer in (*PEERS, RANX_WEIGHTED):
        name = WEIGHTED if peer is RANX_WEIGHTED else RRF
        theirs = growth(peer.name)
        rows.append(
            row(
                f"{told}, {_named(peer)}",
                "×",
                growth(name) if theirs else None,
                peer=peer.name,
                theirs=theirs,
            )
        )
    return rows


def _named(peer: System) -> str:
    return peer.name if peer.installed else f"{peer.name} (not installed)"


def main(arguments: list[str] | None = None) -> int:
    given = options(__doc__, "fewer rounds, the same comparisons").parse_args(arguments)
    rounds = QUICK if given.quick else ROUNDS
    measured = {size: timed(prepared(lists(size)), count) for size, count in rounds.items()}
    rows = order_rows(tuple(rounds)) + time_rows(measured) + growth_rows(measured)
    return report("fusion", rows, given.json)


if __name__ == "__main__":
    sys.exit(main())
