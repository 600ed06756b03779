"""Accuracy of the memory type that is ranked first for a query, by the query's words.

    python evaluation/bench_routing.py [--quick] [--verbose] [--json FILE]

``route`` gets every query of ``datasets/routing``; the labels are older than the rules. The rules were written on
the half ``choosing``; the half ``reported`` is only measured, as are the queries of ``blind.jsonl``, written
after the last rule. The quick form is the same. Exits 1 when a floor is missed.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from agentic_rag.memory.routing.router import route
from agentic_rag.memory.schemas import MemoryType, RetrievalRequest, RetrievalStrategy, RoutingDecision
from figures import Row, options, report, row

DATASETS = Path(__file__).parent / "datasets" / "routing"
LANGUAGES = ("en", "zh")
LEAST_RIGHT = 0.80
"""Minimum accuracy on the reported half."""
_STRATEGIES = {memory_type: tuple(RetrievalStrategy) for memory_type in MemoryType}


@dataclass(frozen=True, slots=True)
class Labelled:
    """A query and its most important memory type."""

    text: str
    memory_type: MemoryType
    language: str
    half: str

    @property
    def decision(self) -> RoutingDecision:
        return route(RetrievalRequest(self.text, "somebody"), _STRATEGIES).decision

    @property
    def top(self) -> MemoryType:
        return self.decision.target_memory_types[0]


def labelled(name: str) -> list[Labelled]:
    """The queries of a file."""
    lines = [json.loads(line) for line in (DATASETS / name).read_text("utf-8").splitlines()]
    return [
        Labelled(line["text"], MemoryType(line["memory_type"]), line["language"], line["half"])
        for line in lines
    ]


def right(queries: Sequence[Labelled]) -> float:
    """Share of the queries whose labelled type is ranked first."""
    return sum(query.top is query.memory_type for query in queries) / len(queries)


def confusion(queries: Sequence[Labelled], title: str) -> Table:
    """Rows are the labels, columns the first-ranked types."""
    counts = Counter((query.memory_type, query.top) for query in queries)
    table = Table("label", title=f"{title}: label by row, first type by column", title_justify="left")
    for first in MemoryType:
        table.add_column(first.value, justify="right")
    for label in MemoryType:
        table.add_row(label.value, *(str(counts[label, first]) for first in MemoryType))
    return table


def rows_of(queries: Sequence[Labelled], name: str, floor: float | None = None) -> list[Row]:
    """All of a set, then by language."""
    sets = {
        "": queries,
        **{f", {lang}": [one for one in queries if one.language == lang] for lang in LANGUAGES},
    }
    return [
        row(f"first type right, of {len(own)} ({name}{of})", "share", right(own), bound="min",
            floor=None if of else floor)
        for of, own in sets.items()
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__, "the same: all of it takes seconds")
    parser.add_argument("--verbose", action="store_true", help="print every miss")
    given = parser.parse_args(arguments)
    queries, more, blind = (labelled(f"{name}.jsonl") for name in ("queries", "more", "blind"))
    choosing = [query for query in queries if query.half == "choosing"]
    reported = [query for query in queries if query.half == "reported"]
    console = Console(highlight=False)
    console.print(confusion(reported, "reported half"))
    console.print(confusion(blind, "written after the rules"))
    if given.verbose:
        for query in (*queries, *more, *blind):
            if query.top is not query.memory_type:
                print(
                    f"{query.memory_type} → {query.top} ({query.half}): {query.text} {query.decision.reasons}"
                )
    rows = [
        *rows_of(choosing, "choosing"),
        *rows_of(more, "choosing, later"),
        *rows_of(reported, "reported", LEAST_RIGHT),
        *rows_of(blind, "written after the rules"),
    ]
    return report("the memory type that a query is for", rows, given.json)


if __name__ == "__main__":
    sys.exit(main())
