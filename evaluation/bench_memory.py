"""Checks the memory of users: correct facts, and what held before.

    python evaluation/bench_memory.py [--quick] [--part NAME] [--keep DIR] [--verbose] [--json FILE]

``truth``: generated histories of facts compared with an independent oracle. ``past``: preferences that turn, and
    questions about what held before. Each part is a module ``memory_NAME`` beside this one. Exits 1 when a floor is missed.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import memory_past
import memory_truth
from figures import Row, options, report

PARTS = ("truth", "past")


async def run(parts: Sequence[str], keep: Path | None, *, quick: bool, verbose: bool) -> list[Row]:
    """The rows of some parts."""
    rows: list[Row] = []
    if "truth" in parts:
        rows += await memory_truth.run(keep, quick=quick, verbose=verbose)
    if "past" in parts:
        rows += await memory_past.run(keep, quick=quick, verbose=verbose)
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__, "fewer histories")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one; may be given again")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="data folder that is kept for the next run")
    parser.add_argument("--verbose", action="store_true", help="print every failing history")
    given = parser.parse_args(arguments)
    work = run(given.part or PARTS, given.keep, quick=given.quick, verbose=given.verbose)
    return report("memory of users", asyncio.run(work), given.json)


if __name__ == "__main__":
    sys.exit(main())
