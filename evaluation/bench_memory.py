"""Checks the memory of users: parallel agents, recall, correct facts, deletion, isolation, speed.

    python evaluation/bench_memory.py [--quick] [--part NAME] [--data DIR] [--keep DIR] [--verbose] [--json FILE]

``parallel``: agents asked together compared with the slowest alone, and with one that hangs. ``locomo``: evidence
    recall on LoCoMo (DIR, by default ../shared/data; left out without the data). ``truth``: generated histories
    of facts compared with an independent oracle. ``past``: preferences that turn, and questions about what held
    before. ``deletion``: remains of forgotten memories. ``scale``: a
    thousand users, and leaks between them. Each part is a module ``memory_NAME`` beside this one. Exits 1 when a
    floor is missed.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import memory_deletion
import memory_locomo
import memory_parallel
import memory_past
import memory_scale
import memory_truth
from figures import Row, options, report

DATA = Path(__file__).parents[2] / "shared" / "data"
PARTS = ("parallel", "locomo", "truth", "past", "deletion", "scale")


async def run(
    parts: Sequence[str], data: Path, keep: Path | None, *, quick: bool, verbose: bool
) -> list[Row]:
    """The rows of some parts."""
    rows: list[Row] = []
    if "parallel" in parts:
        rows += await memory_parallel.run(keep)
    if "locomo" in parts:
        rows += await memory_locomo.run(data, keep, quick)
    if "truth" in parts:
        rows += await memory_truth.run(keep, quick=quick, verbose=verbose)
    if "past" in parts:
        rows += await memory_past.run(keep, quick=quick, verbose=verbose)
    if "deletion" in parts:
        rows += await memory_deletion.run(keep, quick=quick, verbose=verbose)
    if "scale" in parts:
        rows += await memory_scale.run(keep, quick)
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__, "fewer users, histories and deletions, the beginning of one conversation", DATA)
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one; may be given again")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="data folder that is kept for the next run")
    parser.add_argument("--verbose", action="store_true", help="print every failing history and deletion")
    given = parser.parse_args(arguments)
    work = run(given.part or PARTS, given.data, given.keep, quick=given.quick, verbose=given.verbose)
    return report("memory of users", asyncio.run(work), given.json)


if __name__ == "__main__":
    sys.exit(main())
