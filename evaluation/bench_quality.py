"""How well the whole graph finds what answers, on every judged set: with intervals, without the graph, without time.

    python evaluation/bench_quality.py [--quick] [--only SET,…] [--data DIR] [--keep DIR] [--json FILE]

``full`` runs with the defaults, the bundled model and no chat model. The defaults' parameters were chosen on
the first halves of the queries of the sets marked * below, of which the second half is reported, and on
``vault_night_sky`` and ``vault_pottery``, which are not reported; ``vault_100``, ``scifact`` and ``pool3`` chose
nothing and are reported whole. Needs data that are not part of this project (DIR, by default ../shared/data) for
all but ``vault_100``. Exits 1 when a floor is missed, 2 without the data.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentic_rag import RagConfig, open_rag
from agentic_rag.evaluation.report import EvalReport
from agentic_rag.evaluation.run import EvalOptions, evaluate
from agentic_rag.evaluation.statistics import bootstrap_interval
from agentic_rag.parameters import RerankParameters
from figures import Bound, Row, report, row
from judged_answers import (
    FEW,
    Answers,
    answers,
    refused_across,
    refused_of_few,
    refused_of_mentioned,
)
from judged_sets import CACHE, CHOOSING_VAULTS, DATA, OWN, KeptEmbedding

HERE = Path(__file__).parent
WITHOUT_GRAPH = "full-graphiti"
QUICK = 40


@dataclass(frozen=True, slots=True)
class JudgedSource:
    """A set, and what must be reached on it."""

    path: str
    """Below the data; ``vault_100`` lies in this project."""
    floors: dict[str, float]
    """By measure of ``full``, or by ``SYSTEM MEASURE``."""
    half: str | None = None
    """The half that is reported, where the other chose parameters."""
    graph_gain: float | None = None
    """Points of recall@10 that the graph source must bring at least."""
    systems: tuple[str, ...] = ("full", WITHOUT_GRAPH)
    without: tuple[str, ...] = ()
    """Terms of the rerank that its questions need: it is run without each of them too."""
    answers: bool = False
    """Its judgements name sentences: its answers are looked at too."""
    abstained: float | None = None
    """Share of the unanswerable to abstain on where 10 % of the answerable are refused."""


SOURCES = {
    "vault_100": JudgedSource(
        "vault_100",
        {"mrr@10": 0.70, "fused mrr@10": 0.60},
        systems=("full", "fused", "fused+rerank", "graphiti", "lancedb", "dense", "sparse"),
        abstained=8 / 12,
        without=("dictionary", "mistake"),
        answers=True,
    ),
    "LoCoMo*": JudgedSource("locomo", {"mrr@10": 0.56, "recall@10": 0.75}, "second"),
    "timeqa_human/train*": JudgedSource(
        "beir/timeqa_human/train", {"mrr@10": 0.65}, "second", systems=("full",), without=("time",), abstained=0.35
    ),
    "musique_train100*": JudgedSource("beir/multihop/musique_train100", {"recall@10": 0.80}, "second", 0.04),
    "2wiki_train500*": JudgedSource("beir/multihop/2wiki_train500", {"recall@10": 0.95}, "second", 0.15),
    "hotpot_train100*": JudgedSource(
        "beir/multihop/hotpot_train100", {"recall@10": 0.97}, "second", 0.04, without=("time",)
    ),
    "multihop/pool3": JudgedSource("beir/multihop/pool3", {"recall@10": 0.92}, systems=("full",)),
    "scifact/train": JudgedSource("beir/scifact/train", {"ndcg@10": 0.745}),
    "cranfield*": JudgedSource("beir/cranfield", {"ndcg@10": 0.52}, "second"),
    "rgb/zh_fact*": JudgedSource("beir/rgb/zh_fact", {"ndcg@10": 0.56}, "second", without=("time",)),
    "rgb/en_fact*": JudgedSource("beir/rgb/en_fact", {"ndcg@10": 0.48}, "second", without=("time",)),
}  # fmt: skip
SHOWN = ("mrr@10", "recall@10", "ndcg@10")


def place(source: JudgedSource, data: Path) -> Path | None:
    """Where a set lies; None where it is not there."""
    if source.path == "vault_100":
        return OWN / source.path
    path = data / source.path
    found = sorted(path.glob("*.json")) if source.path == "locomo" else [path] if path.is_dir() else []
    return found[0] if found else None


async def measured(
    name: str, source: JudgedSource, path: Path, folder: Path, quick: bool, embedding: Any
) -> list[Row]:
    """Rows of one set."""
    options = EvalOptions(source.systems, half=source.half, limit=QUICK if quick else None)
    async with open_rag(RagConfig(data_dir=folder), embedding=embedding) as rag:
        found = await evaluate(rag, path, options)
    rows = rows_of(name, source, found)
    for term in source.without:
        ablated = RagConfig(data_dir=folder, rerank=RerankParameters.model_validate({term: 0.0}))
        async with open_rag(ablated, embedding=embedding) as rag:
            without = await evaluate(rag, path, EvalOptions(("full",), half=source.half, limit=options.limit))
        measure = next(iter(source.floors))
        rows.append(
            row(
                f"{name}: {measure} with the rerank's {term}", "", found.systems["full"][measure]["value"], bound="min",
                peer="without", theirs=without.systems["full"][measure]["value"],
            )
        )  # fmt: skip
    if source.answers:
        told = []
        for weights in (RerankParameters(), RerankParameters(unfamiliar=0.0)):
            async with open_rag(RagConfig(data_dir=folder, rerank=weights), embedding=embedding) as rag:
                told.append(
                    await answers(rag, path, [OWN / vault for vault in CHOOSING_VAULTS], options.limit)
                )
        rows += answer_rows(name, *told)
        mentioned = []
        for weights in (RerankParameters(), RerankParameters(named=0.0)):
            async with open_rag(RagConfig(data_dir=folder, rerank=weights), embedding=embedding) as rag:
                mentioned.append(await refused_of_mentioned(rag, path, options.limit))
        rows.append(
            _share(f"{name}: plain questions on what it mentions, refused", "max", mentioned[0], mentioned[1])
        )
        few = await refused_of_few(path, embedding, options.limit)
        rows.append(
            _share(
                f"{name}: its own answerable questions, refused by {FEW} notes that answer them",
                "max",
                few,
                told[0].refused,
                peer="by all notes",
            )
        )
        across = await refused_across(path, embedding, options.limit)
        rows.append(
            _share(
                f"{name}: questions in one language, refused by the notes in the other that answer them",
                "max",
                across.own,
                across.everyday,
                peer="everyday ones",
            )
        )
    return rows


def answer_rows(name: str, ours: Answers, without: Answers) -> list[Row]:
    """Beside the same where what is unfamiliar takes nothing from the scores."""
    return [
        _share(f"{name}: answers that quote a judged sentence", "min", ours.quoting, without.quoting),
        _share(
            f"{name}: its own answerable questions that are refused", "max", ours.refused, without.refused
        ),
        _share(
            f"{name}: questions on the choosing vaults that are refused",
            "min",
            ours.foreign_refused,
            without.foreign_refused,
        ),
        _share(
            f"{name}: everyday questions about something else that are refused",
            "min",
            ours.everyday_refused,
            without.everyday_refused,
        ),
        _share(
            f"{name}: gibberish that is answered",
            "max",
            ours.nonsense_answered,
            without.nonsense_answered,
            floor=0.03,
        ),
    ]


def _share(
    what: str,
    bound: Bound,
    ours: Sequence[float],
    others: Sequence[float],
    floor: float | None = None,
    *,
    peer: str = "without",
) -> Row:
    held, other = bootstrap_interval(ours), bootstrap_interval(others)
    what = f"{what} ({held.low:.3f} to {held.high:.3f})"
    return row(what, "share", held.value, bound=bound, floor=floor, peer=peer, theirs=other.value)


def rows_of(name: str, source: JudgedSource, found: EvalReport) -> list[Row]:
    """The floors first, then what each system and the graph bring."""
    half = f", {source.half} half" if source.half else ""
    told = f"{name}: {found.queries} queries{half}"
    rows: list[Row] = []
    for system, figures in found.systems.items():
        for measure in SHOWN:
            value = figures[measure]
            floor = source.floors.get(measure if system == "full" else f"{system} {measure}")
            interval = f"{value['low']:.3f} to {value['high']:.3f}"
            rows.append(
                row(f"{told}: {system} {measure} ({interval})", "", value["value"], bound="min", floor=floor)
            )
    if WITHOUT_GRAPH in found.systems:
        against = found.systems[WITHOUT_GRAPH]["against_baseline"]["recall@10"]
        bounds = f"{-against['high']:+.3f} to {-against['low']:+.3f}"
        rows.append(
            row(
                f"{name}: recall@10 that the graph brings ({bounds})",
                "",
                -against["difference"],
                bound="min",
                floor=source.graph_gain,
            )
        )
        rows.append(
            row(f"{name}: the least it may bring, 95 %", "", -against["high"], bound="min", floor=-0.01)
        )
    if source.abstained is not None and found.abstention:
        at = found.abstention["systems"]["full"]["at_refused_10"]
        rows.append(
            row(
                f"{name}: unanswerable abstained on where 10 % are refused",
                "",
                at["unanswerable_abstained"]["value"],
                bound="min",
                floor=source.abstained,
            )
        )
    return rows  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help=f"the small sets, {QUICK} queries of each")
    parser.add_argument("--only", metavar="SET,…", help=", ".join(SOURCES))
    parser.add_argument("--data", type=Path, default=DATA, metavar="DIR")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what is ingested there, and use it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to this file")
    given = parser.parse_args(arguments)
    small = ("vault_100", "hotpot_train100*", "rgb/zh_fact*")
    names = given.only.split(",") if given.only else small if given.quick else tuple(SOURCES)
    if unknown := [name for name in names if name not in SOURCES]:
        parser.error(f"unknown set {unknown[0]!r}; use some of: {', '.join(SOURCES)}")
    paths = {name: place(SOURCES[name], given.data) for name in names}
    if missing := [SOURCES[name].path for name, path in paths.items() if path is None]:
        print(
            f"error: {given.data} lacks {', '.join(missing)}; name a folder that has them with --data DIR",
            file=sys.stderr,
        )
        return 2
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        for name, path in paths.items():
            assert path is not None  # noqa: S101  it was just looked for
            rows += asyncio.run(
                measured(name, SOURCES[name], path, folder, given.quick, KeptEmbedding(CACHE))
            )
    return report("quality of retrieval", rows, given.json)


if __name__ == "__main__":
    sys.exit(main())
