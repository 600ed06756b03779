"""Accuracy of what is chosen by a question's words: the memory type that is ranked first, and the operation.

    python evaluation/bench_routing.py [--quick] [--verbose] [--json FILE]

The rules of ``Router`` get every query of ``datasets/routing``, ``choose_operation`` every question of
``datasets/operations`` and of the three vaults. The labels are older than the rules, which were written on the halves ``choosing``; the halves ``reported`` are
only measured, as are the queries of ``blind.jsonl``, written after the last rule. The quick form is the same. Exits 1 when a
floor is missed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rich.console import Console
from rich.table import Table

from agentic_rag.fusion import CanvasOperation, choose_operation
from agentic_rag.memory.routing.router import Router
from agentic_rag.memory.schemas import MemoryType, RetrievalRequest, RetrievalStrategy
from figures import OWN, Row, options, report, row

HALVES = ("choosing", "reported")
VAULTS = ("vault_100", "vault_night_sky", "vault_pottery")
MIN_TYPES, MIN_OPERATIONS = 0.80, 0.90
"""Minimum accuracy on the reported halves."""
_STRATEGIES = {memory_type: tuple(RetrievalStrategy) for memory_type in MemoryType}


@dataclass(frozen=True, slots=True)
class Labelled:
    """A text, its label, and what is chosen by its words."""

    text: str
    label: str
    chosen: str
    half: str
    language: str


def labelled(file: str, key: str, choose: Callable[[str], str]) -> list[Labelled]:
    """The texts of a file below ``OWN``, with their label under ``key``."""
    lines: list[dict[str, Any]] = [json.loads(line) for line in (OWN / file).read_text("utf-8").splitlines()]
    return [
        Labelled(
            line["text"], line[key], choose(line["text"]), line.get("half", ""), line.get("language", "")
        )
        for line in lines
    ]


def memory_type(text: str) -> str:
    """The type that is ranked first."""
    routing = asyncio.run(Router(_STRATEGIES).route(RetrievalRequest(text, "somebody")))
    return routing.decision.target_memory_types[0].value


def operation(text: str) -> str:
    """The chosen operation."""
    return choose_operation(text).operation.value


def confusion(texts: Sequence[Labelled], choices: type[StrEnum], title: str) -> Table:
    """Rows are the labels, columns the choices."""
    counts = Counter((one.label, one.chosen) for one in texts)
    table = Table("label", title=f"{title}: label by row, choice by column", title_justify="left")
    for chosen in choices:
        table.add_column(chosen.value, justify="right", overflow="fold")
    for label in choices:
        table.add_row(label.value, *(str(counts[label.value, chosen.value]) for chosen in choices))
    return table


def right(texts: Sequence[Labelled], what: str, floor: float | None = None) -> Row:
    """Share of the texts with the labelled choice."""
    share = sum(one.chosen == one.label for one in texts) / len(texts)
    return row(f"{what}, right of {len(texts)}", "share", share, bound="min", floor=floor)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__, "the same: all of it takes seconds")
    parser.add_argument("--verbose", action="store_true", help="print every miss")
    given = parser.parse_args(arguments)
    queries, more, blind = (
        labelled(f"routing/{name}.jsonl", "memory_type", memory_type) for name in ("queries", "more", "blind")
    )
    first, later = (
        labelled(f"operations/{name}.jsonl", "operation", operation) for name in ("queries", "more")
    )
    vaults = {name: labelled(f"{name}/queries.jsonl", "operation", operation) for name in VAULTS}
    of = {
        (name, half): [one for one in texts if one.half == half]
        for name, texts in (("type", queries), ("operation", first), ("operation, later", later))
        for half in HALVES
    }
    console = Console(highlight=False)
    console.print(confusion(of["type", "reported"], MemoryType, "reported types"))
    console.print(confusion(blind, MemoryType, "written after the rules"))
    console.print(confusion(of["operation", "reported"], CanvasOperation, "reported operations"))
    if given.verbose:
        for one in (
            *queries,
            *more,
            *blind,
            *first,
            *later,
            *(one for own in vaults.values() for one in own),
        ):
            if one.chosen != one.label:
                print(f"{one.label} → {one.chosen} ({one.half}): {one.text}")
    rows = []
    for (name, half), texts in of.items():
        floor = MIN_TYPES if name == "type" else MIN_OPERATIONS
        rows.append(right(texts, f"{name} ({half})", floor if half == "reported" else None))
    rows += [right(more, "type (choosing, later)"), right(blind, "type (written after the rules)")]
    for language in ("en", "zh"):
        own = [one for one in of["type", "reported"] if one.language == language]
        rows.append(right(own, f"type (reported, {language})"))
    rows += [right(texts, f"operation ({name})") for name, texts in vaults.items()]
    return report("what a question asks for, by its words", rows, given.json)


if __name__ == "__main__":
    sys.exit(main())
