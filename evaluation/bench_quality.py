"""Retrieval quality of the whole graph on every judged set, with intervals, and without the graph source.

    python evaluation/bench_quality.py [--quick] [--only SET,…] [--ablation] [--data DIR] [--keep DIR] [--json FILE]

``full`` runs with the defaults, the bundled model and no chat model. The defaults' parameters were chosen on
the first halves of the queries of the sets marked * below, of which the second half is reported, and on
``vault_night_sky`` and ``vault_pottery``, which are not reported; ``vault_100``, ``scifact`` and ``pool3`` chose
nothing and are reported whole, as are the two bilingual sets. ``--ablation`` shows instead what every term of the
rerank, every part of the judgement by tokens and the rule of the weights bring, left out one at a time. Needs data that are not part of this project (DIR, by default ../shared/data) for
all but ``vault_100``. Exits 1 when a floor is missed, 2 without the data.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.domain.progress import silent
from agentic_rag.fusion import strategy_selector
from agentic_rag.rerank.offline import WEIGHTS
from agentic_rag.retrieval import late_interaction
from agentic_rag_lab.evaluation.report import EvalReport
from agentic_rag_lab.evaluation.run import EvalOptions, dataset_of, evaluate, ingest_documents
from agentic_rag_lab.evaluation.statistics import bootstrap_interval
from agentic_rag_lab.evaluation.tuning.run import TuneOptions, collect
from agentic_rag_lab.evaluation.tuning.search import CollectedQuery, Replay, with_changes
from figures import DATA, OWN, Row, data_folder, options, report, row, share
from judged_answers import (
    FEW,
    Answers,
    answers,
    refused_across,
    refused_of_few,
    refused_of_mentioned,
)
from judged_sets import CACHE, CHOOSING_VAULTS, KeptEmbedding

WITHOUT_GRAPH = "full-graphiti"
QUICK = 40


@dataclass(frozen=True, slots=True)
class JudgedSource:
    """A judged set with its floors."""

    path: str
    """Path below the data folder; ``vault_100`` is part of this project."""
    floors: dict[str, float]
    """Floors by measure of ``full``, or by ``SYSTEM MEASURE``."""
    half: str | None = None
    """The reported half, if the other one chose parameters."""
    graph_gain: float | None = None
    """Minimum gain in recall@10 by the graph source, in points."""
    systems: tuple[str, ...] = ("full", WITHOUT_GRAPH)
    without: tuple[str, ...] = ()
    """Rerank terms that matter for its questions: the set is also run without each of them."""
    answers: bool = False
    """Whether its judgements name sentences, so that answers are measured too."""
    as_documented: dict[str, float] = field(default_factory=dict)
    """By ``SYSTEM MEASURE``: floors for the fusion without rerank, by the documents' weights, without the rule."""
    abstained: float | None = None
    """Minimum share of unanswerable queries abstained on at 10 % refused answerable ones."""


SOURCES = {
    "vault_100": JudgedSource(
        "vault_100",
        {"mrr@10": 0.70, "fused mrr@10": 0.60},
        systems=("full", "fused", "fused+rerank", "graphiti", "lancedb", "dense", "sparse"),
        abstained=8 / 12,
        without=("mistake",),
        answers=True,
        as_documented={"weighted_lancedb mrr@10": 0.61},
    ),
    "bilingual_vault": JudgedSource("bilingual_vault", {"mrr@10": 0.20}, systems=("full", "fused", "lancedb", "dense")),
    "bilingual_help": JudgedSource("bilingual_help", {"mrr@10": 0.55}, systems=("full", "fused", "lancedb", "dense")),
    "LoCoMo*": JudgedSource("locomo", {"mrr@10": 0.56, "recall@10": 0.75}, "second"),
    "timeqa_human/train*": JudgedSource(
        "beir/timeqa_human/train", {"mrr@10": 0.65}, "second", systems=("full",), without=("time",), abstained=0.35
    ),
    "musique_train100*": JudgedSource(
        "beir/multihop/musique_train100", {"recall@10": 0.80}, "second", 0.04,
        as_documented={"weighted_lancedb recall@10": 0.79, "weighted_graphiti recall@10": 0.83},
    ),
    "2wiki_train500*": JudgedSource(
        "beir/multihop/2wiki_train500", {"recall@10": 0.95}, "second", 0.15,
        as_documented={"weighted_lancedb recall@10": 0.89, "weighted_graphiti recall@10": 0.96},
    ),
    "hotpot_train100*": JudgedSource(
        "beir/multihop/hotpot_train100", {"recall@10": 0.97}, "second", 0.04, without=("time",),
        as_documented={"weighted_lancedb recall@10": 0.94, "weighted_graphiti recall@10": 0.96},
    ),
    "multihop/pool3": JudgedSource(
        "beir/multihop/pool3", {"recall@10": 0.92}, systems=("full",),
        as_documented={"weighted_lancedb recall@10": 0.87},
    ),
    "scifact/train": JudgedSource("beir/scifact/train", {"ndcg@10": 0.745}),
    "cranfield*": JudgedSource("beir/cranfield", {"ndcg@10": 0.52}, "second"),
    "rgb/zh_fact*": JudgedSource("beir/rgb/zh_fact", {"ndcg@10": 0.56}, "second", without=("time",)),
    "rgb/en_fact*": JudgedSource("beir/rgb/en_fact", {"ndcg@10": 0.48}, "second", without=("time",)),
}  # fmt: skip
SHOWN = ("mrr@10", "recall@10", "ndcg@10")


def place(source: JudgedSource, data: Path) -> Path | None:
    """Path of a set; None if it does not exist."""
    if (own := OWN / source.path).is_dir():
        there = (own / json.loads((own / "dataset.json").read_text("utf-8"))["corpus"]).is_dir()
        return own if there else None
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
        async with open_rag(RagConfig(data_dir=folder), embedding=embedding) as rag:
            with patch.dict(WEIGHTS, {term: 0.0}):
                without = await evaluate(
                    rag, path, EvalOptions(("full",), half=source.half, limit=options.limit)
                )
        measure = next(iter(source.floors))
        rows.append(
            row(
                f"{name}: {measure} with the rerank's {term}", "", found.systems["full"][measure]["value"], bound="min",
                peer="without", theirs=without.systems["full"][measure]["value"],
            )
        )  # fmt: skip
    if source.as_documented:
        async with open_rag(RagConfig(data_dir=folder), embedding=embedding) as rag:
            names = tuple(dict.fromkeys(key.split()[0] for key in source.as_documented))
            with patch.object(strategy_selector, "STEEPNESS", 0.0):  # no adapted weights
                fused = await evaluate(rag, path, EvalOptions(names, half=source.half, limit=options.limit))
        for key, floor in source.as_documented.items():
            system, measure = key.split()
            value = fused.systems[system][measure]
            told = f"{name}: {system} as documented, {measure} ({value['low']:.3f} to {value['high']:.3f})"
            rows.append(row(told, "", value["value"], bound="min", floor=floor))
    if source.answers:
        told_answers = []
        for unfamiliar in (late_interaction.UNFAMILIAR, 0.0):
            async with open_rag(RagConfig(data_dir=folder), embedding=embedding) as rag:
                with patch.object(late_interaction, "UNFAMILIAR", unfamiliar):
                    others = [OWN / vault for vault in CHOOSING_VAULTS]
                    told_answers.append(await answers(rag, path, others, options.limit))
        rows += answer_rows(name, *told_answers)
        mentioned = []
        for named in (late_interaction.NAME_RELEVANCE, 0.0):
            async with open_rag(RagConfig(data_dir=folder), embedding=embedding) as rag:
                with patch.object(late_interaction, "NAME_RELEVANCE", named):
                    mentioned.append(await refused_of_mentioned(rag, path, options.limit))
        rows.append(
            share(f"{name}: plain questions on what it mentions, refused", "max", mentioned[0], mentioned[1])
        )
        few = await refused_of_few(path, embedding, options.limit)
        rows.append(
            share(
                f"{name}: its own answerable questions, refused by {FEW} notes that answer them",
                "max",
                few,
                told_answers[0].refused,
                peer="by all notes",
            )
        )
        across = await refused_across(path, embedding, options.limit)
        rows.append(
            share(
                f"{name}: questions in one language, refused by the notes in the other that answer them",
                "max",
                across.own,
                across.everyday,
                peer="everyday ones",
            )
        )
    return rows


LEFT_OUT: dict[str, dict[str, Any]] = {
    "the graph": {"fusion.graphiti_weight": 0.0, "fusion.lancedb_weight": 1.0},
}
"""Ablations of fusion, as settings; those of the rerank are its WEIGHTS."""
CONSTANTS = {"tokens": "WEIGHT", "more tokens in doubt": "DOUBT"}
"""Ablations of ``retrieval.late_interaction``: constants that are set to 0. Its other constants decide refusals
and not the order; their rows are in each vault's table."""


async def left_out(
    name: str, source: JudgedSource, path: Path, folder: Path, quick: bool, embedding: Any
) -> list[Row]:
    """One row per ablated term or rule: the set's first measure with and without it; the paired difference."""
    measure = next(iter(source.floors))
    options = TuneOptions(half=source.half, limit=QUICK if quick else None, measure=measure)
    async with open_rag(RagConfig(data_dir=folder), embedding=embedding) as rag:
        whole = await replay_of(rag, path, options)
        with_all = ranked_values(whole, {})
        without = {what: ranked_values(whole, settings) for what, settings in LEFT_OUT.items()}
        without["adapted weights"] = ranked_values(unadapted(whole), {})
        for term in WEIGHTS:
            with patch.dict(WEIGHTS, {term: 0.0}):
                without[f"the rerank's {term}"] = ranked_values(again(whole, whole.collected_queries), {})
        for what, constant in CONSTANTS.items():
            with patch.object(late_interaction, constant, 0.0):
                without[what] = ranked_values(await replay_of(rag, path, options), {})
    rows = []
    for what, values in without.items():
        gain = bootstrap_interval((with_all - values).tolist())
        told = f"{name}: {measure}, {what} brings {gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"
        rows.append(
            row(told, "", float(with_all.mean()), bound="min", peer="without", theirs=float(values.mean()))
        )
    return rows


async def replay_of(rag: Rag, path: Path, options: TuneOptions) -> Replay:
    """A set's questions, searched once with the current constants."""
    loaded, chosen = options.load(path)
    dataset = dataset_of(loaded.source)
    await ingest_documents(rag, loaded, dataset, silent)
    found = await collect(rag, chosen, dataset, None, silent)
    return Replay(found, rag.config, loaded.unit, options.measure)


def again(replay: Replay, collected: Sequence[CollectedQuery]) -> Replay:
    """A replay of these hits that has computed nothing yet."""
    return Replay(collected, replay.base, replay.unit, replay.measure)


def unadapted(replay: Replay) -> Replay:
    """The replay with the operation's own weights, whatever the graph knows of a question."""
    return again(replay, [replace(one, specificity=None) for one in replay.collected_queries])


def ranked_values(replay: Replay, settings: dict[str, Any]) -> NDArray[np.float64]:
    """The measure of each question with relevant items."""
    values: NDArray[np.float64] = replay.outcome(with_changes((), settings)).values[replay.ranked_places]
    return values


def answer_rows(name: str, ours: Answers, without: Answers) -> list[Row]:
    """Answer measures, with and without the deduction for unfamiliar words."""
    return [
        share(f"{name}: answers that quote a judged sentence", "min", ours.quoting, without.quoting),
        share(f"{name}: its own answerable questions that are refused", "max", ours.refused, without.refused),
        share(
            f"{name}: questions on the choosing vaults that are refused",
            "min",
            ours.foreign_refused,
            without.foreign_refused,
        ),
        share(
            f"{name}: everyday questions about something else that are refused",
            "min",
            ours.everyday_refused,
            without.everyday_refused,
        ),
        share(
            f"{name}: gibberish that is answered",
            "max",
            ours.nonsense_answered,
            without.nonsense_answered,
            floor=0.03,
        ),
    ]


def rows_of(name: str, source: JudgedSource, found: EvalReport) -> list[Row]:
    """The floors first, then the gains of each system and of the graph."""
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
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__, f"the small sets, {QUICK} queries of each", DATA)
    parser.add_argument("--only", metavar="SET,…", help=", ".join(SOURCES))
    parser.add_argument("--ablation", action="store_true", help="what each term and rule brings")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what is ingested there, and use it")
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
    with data_folder(given.keep) as folder:
        for name, path in paths.items():
            assert path is not None  # noqa: S101  it was just looked for
            how = left_out if given.ablation else measured
            rows += asyncio.run(how(name, SOURCES[name], path, folder, given.quick, KeptEmbedding(CACHE)))
    return report("quality of retrieval", rows, given.json)


if __name__ == "__main__":
    sys.exit(main())
