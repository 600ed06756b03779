"""Compares several machines with one: on a shared object store, and as workers of a Ray cluster.

    python evaluation/bench_distributed.py [--quick] [--part NAME] [--json FILE]

``object_store``: writers and readers on one bucket. ``copies``: questions that read a bucket, and questions that
    read copies of its tables. ``equality``: the stores and rankings after an ingest on a cluster, compared with
    those after one on this machine. ``kills``: the same after workers and drivers were killed. ``efficiency``:
    the speed-up from one worker to two, the memory of each, and a simulation of two and four. ``overhead``: the
    cluster compared with a plain ingest, both on one core. ``sizes``: the memory of the driver. Each part is a
    module ``distributed_NAME`` beside this one; clusters are nodes of one core on this machine. Exits 1 when a
    floor is missed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from figures import Row, options, report

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import distributed_copies
import distributed_efficiency
import distributed_equality
import distributed_kills
import distributed_object_store
import distributed_overhead
import distributed_sizes

PARTS = {
    "object_store": distributed_object_store.run,
    "copies": distributed_copies.run,
    "equality": distributed_equality.run,
    "kills": distributed_kills.run,
    "efficiency": distributed_efficiency.run,
    "overhead": distributed_overhead.run,
    "sizes": distributed_sizes.run,
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__, "fewer notes and kills, one vault; ratios of times without a floor")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one; may be given again")
    given = parser.parse_args(arguments)
    rows: list[Row] = []
    for part in given.part or PARTS:
        rows += PARTS[part](given.quick)
    return report("distributed", rows, given.json)


if __name__ == "__main__":
    sys.exit(main())
