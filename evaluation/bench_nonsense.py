"""Share of nonsense that is answered and of short questions that are refused, by size and language of the notes.

    python evaluation/bench_nonsense.py [--quick] [--half HALF] [--only SET,…] [--data DIR] [--verbose] [--json FILE]

Twelve sets of notes (see ``nonsense_sets.py``: 1, 4, 15 and 300 notes, in Chinese, in English and in both) get strings
of nonsense and short questions that they answer, by ``search`` with the default threshold and by the whole graph
(``ask``), with the defaults, the bundled model and no chat model. Nonsense has two halves: ``choosing`` may choose
parameters, ``reported`` may not. The sets of 300 need data that are not part of this project (DIR, by default
../shared/data) and are left out without them. Exits 1 when the floor is missed.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.state import OperationName
from agentic_rag_lab.evaluation.systems import NO_CLOCK
from figures import options, report, share
from nonsense_sets import DATA, NAMES, write_dataset

OWN = Path(__file__).parent / "datasets" / "nonsense"
HALVES = ("choosing", "reported")
MOST_ANSWERED = 0.01
"""Maximum share of nonsense that is answered, over all sets."""
QUICK_SETS = ("one_zh", "four_zh", "four_en", "fifteen_mixed")
QUICK = 4
"""The quick form asks every QUICK-th string of each kind, starting with the first."""
OPERATION: OperationName = "document_retrieval"
_WORD = "[a-z0-9]"


@dataclass(slots=True)
class Asked:
    """Results, 1 or 0 for each string asked of one or several sets of notes."""

    labels: list[tuple[str, str]] = field(default_factory=list)
    """Half and kind of each string of nonsense."""
    answered: list[float] = field(default_factory=list)
    """For nonsense: 1 if ``ask`` does not abstain."""
    found: list[float] = field(default_factory=list)
    """For nonsense: 1 if ``search`` finds anything."""
    refused: list[float] = field(default_factory=list)
    """For ordinary questions: 1 if ``ask`` abstains."""
    nothing_found: list[float] = field(default_factory=list)
    """For ordinary questions: 1 if ``search`` finds nothing."""
    cited: list[float] = field(default_factory=list)
    """For ordinary questions: 1 if ``ask`` cites the note with the answer."""
    left_out: int = 0
    """Number of nonsense strings that occur in the notes and are left out."""

    def add(self, other: Asked) -> None:
        self.labels += other.labels
        self.answered += other.answered
        self.found += other.found
        self.refused += other.refused
        self.nothing_found += other.nothing_found
        self.cited += other.cited
        self.left_out += other.left_out

    def of(self, label: str) -> Asked:
        """The results for nonsense of one half or kind, without ordinary questions."""
        at = [i for i, own in enumerate(self.labels) if label in own]
        return Asked(
            [self.labels[i] for i in at], [self.answered[i] for i in at], [self.found[i] for i in at]
        )


class Nonsense(NamedTuple):
    """A meaningless string."""

    half: str
    """One of HALVES."""
    kind: str
    text: str


def nonsense(halves: Iterable[str], every: int = 1) -> list[Nonsense]:
    """The strings of some halves; ``every``: only every such string of each kind."""
    held = json.loads((OWN / "nonsense.json").read_text("utf-8"))
    return [
        Nonsense(half, kind, text)
        for half in halves
        for kind, texts in held[half].items()
        for text in texts[::every]
    ]


def holds(notes: str, text: str) -> bool:
    """Whether case-folded notes contain a text; at a Latin letter or digit, only at a word boundary."""
    plain = text.casefold()
    before = f"(?<!{_WORD})" if re.match(_WORD, plain[:1]) else ""
    after = f"(?!{_WORD})" if re.match(_WORD, plain[-1:]) else ""
    return re.search(before + re.escape(plain) + after, notes) is not None


def _text(folder: Path) -> str:
    """Names and texts of all notes, case-folded."""
    return "\n".join(f"{note.stem}\n{note.read_text('utf-8')}" for note in folder.iterdir()).casefold()


async def asked(name: str, data: Path, strings: Sequence[Nonsense], verbose: bool = False) -> Asked | None:
    """The results of one set of notes; None if its data are missing.

    Args:
        name: name of the set.
        data: see ``write_dataset``.
        strings: asked besides the set's ordinary questions.
        verbose: print every failure.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder, told = Path(temporary, "notes"), Asked()
        if write_dataset(name, folder, data) is None:
            return None
        held = _text(folder)
        async with open_rag(RagConfig(data_dir=Path(temporary, "data"))) as rag:
            await rag.ingest(folder, dataset=name)
            for string in strings:
                if holds(held, string.text):
                    told.left_out += 1
                else:
                    await _ask_nonsense(rag, name, string, told, verbose)
            for question in json.loads((OWN / "ordinary.json").read_text("utf-8"))[name]:
                await _ask_ordinary(rag, name, question["text"], question["note"], told, verbose)
    return told


async def _ask_nonsense(rag: Rag, name: str, string: Nonsense, told: Asked, verbose: bool) -> None:
    found = await rag.search(string.text, dataset=name)
    answered, notes, score = await _ask(rag, name, string.text)
    told.labels.append((string.half, string.kind))
    told.found.append(float(bool(found)))
    told.answered.append(float(answered))
    if verbose and (found or answered):
        by = " and ".join(way for way, so in (("ask", answered), ("search", found)) if so)
        best = f"{found[0].score:.3f}" if found else "–"
        cited = f"; ask {score} from {', '.join(sorted(notes))}" if answered else ""
        print(
            f"{name}: {string.half}: {string.kind}: {string.text!r} answered by {by}; search's best {best}{cited}"
        )


async def _ask_ordinary(rag: Rag, name: str, text: str, note: str, told: Asked, verbose: bool) -> None:
    found = await rag.search(text, dataset=name)
    answered, notes, score = await _ask(rag, name, text)
    told.nothing_found.append(float(not found))
    told.refused.append(float(not answered))
    told.cited.append(float(note in notes))
    if verbose and not (found and note in notes):
        by = " and ".join(way for way, so in (("ask", answered), ("search", found)) if not so)
        best = f"{found[0].score:.3f}" if found else "–"
        what = f"refused by {by}" if by else f"answered ({score}) from {', '.join(sorted(notes))}"
        print(f"{name}: ordinary: {text!r} ({note}) {what}; search's best {best}")


async def _ask(rag: Rag, name: str, text: str) -> tuple[bool, Collection[str], str]:
    """Whether anything is answered, the names of the cited notes, and the best citation's relevance."""
    state = await rag.graph.ainvoke(
        {"query": text, "dataset": name, "operation": OPERATION}, context=NO_CLOCK
    )
    scores = [one["score"] for one in state["citations"] if one["score"] is not None]
    notes = {Path(one["path"]).stem for one in state["citations"] if one["path"]}
    return not state["abstained"], notes, f"{max(scores):.3f}" if scores else "–"


def printed(told: Mapping[str, Asked]) -> None:
    """One line for each set, half and kind: shares by ``ask`` and by ``search``."""
    table = Table(title="nonsense answered, ordinary questions refused", title_justify="left")
    table.add_column("asked")
    for name in (
        "nonsense",
        "left out",
        "ask",
        "search",
        "ordinary",
        "ask refuses",
        "search refuses",
        "cited",
    ):
        table.add_column(name, justify="right")
    for name, own in told.items():
        shares = (own.answered, own.found, own.refused, own.nothing_found, own.cited)
        answered, found, *ordinary = (f"{sum(each) / len(each):.3f}" if each else "–" for each in shares)
        asked_of = str(len(own.refused) or "–")
        table.add_row(
            name, str(len(own.answered)), str(own.left_out or "–"), answered, found, asked_of, *ordinary
        )
    Console(highlight=False).print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__, "four small sets, a quarter of the nonsense", DATA)
    parser.add_argument("--half", choices=HALVES, help="of the nonsense; by default both")
    parser.add_argument("--only", metavar="SET,…", help=", ".join(NAMES))
    parser.add_argument("--verbose", action="store_true", help="print every failure")
    given = parser.parse_args(arguments)
    names = given.only.split(",") if given.only else QUICK_SETS if given.quick else NAMES
    if unknown := [name for name in names if name not in NAMES]:
        parser.error(f"unknown set {unknown[0]!r}; use some of: {', '.join(NAMES)}")
    strings = nonsense([given.half] if given.half else HALVES, QUICK if given.quick else 1)
    by_set: dict[str, Asked] = {}
    for name in names:
        told = asyncio.run(asked(name, given.data, strings, given.verbose))
        if told is not None:
            by_set[name] = told
    total = Asked()
    for told in by_set.values():
        total.add(told)
    labels = dict.fromkeys(label for own in zip(*total.labels, strict=True) for label in own)
    printed({**by_set, **{label: total.of(label) for label in labels}, "all": total})
    rows = [
        share(f"{name}: nonsense answered", "max", own.answered, own.found, peer="search")
        for name, own in by_set.items()
        if own.answered
    ]
    if total.answered:
        rows += [
            share(
                "all: nonsense answered",
                "max",
                total.answered,
                total.found,
                peer="search",
                floor=MOST_ANSWERED,
            ),
            share(
                "all: ordinary questions refused", "max", total.refused, total.nothing_found, peer="search"
            ),
            share("all: ordinary questions whose note is cited", "min", total.cited),
        ]
    return report("nonsense: ours is ask, theirs is search", rows, given.json)


if __name__ == "__main__":
    sys.exit(main())
