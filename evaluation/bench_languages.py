"""Ranking and refusals in ten languages, and of questions in one script to passages in another.

    python evaluation/bench_languages.py [--quick] [--data DIR] [--only SET,…] [--half HALF] [--keep DIR] [--json FILE]

``language_sets.py`` makes the sets in DIR, by default ../shared/data/languages. For each: MRR@10 of vectors, of words, of both
fused and of the whole graph; the share of questions that the whole graph refuses although the right passage comes
first, and of those whose search finds nothing. The first halves may choose parameters; ``second`` is reported.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agentic_rag import RagConfig, open_rag
from agentic_rag.settings.parameters import AnswerParameters
from agentic_rag_lab.evaluation.datasets import half_of, load_dataset
from agentic_rag_lab.evaluation.records import read_rows
from agentic_rag_lab.evaluation.run import EvalOptions, evaluate
from figures import Row, options, report, row, share
from judged_sets import CACHE, DATA, KeptEmbedding
from language_sets import SETS

SYSTEMS = ("dense", "sparse", "fused", "full")
SHOWN = {"dense": "vectors", "sparse": "words", "fused": "fused", "full": "whole graph"}
ACROSS = ("zh-en", "en-zh")
WORDS, REFUSED, REFUSED_ACROSS = 0.65, 0.04, 0.12
"""Floors of MRR@10 by words; largest shares of refusals with the right passage first."""
QUICK = 40


async def measured(name: str, path: Path, folder: Path, half: str, limit: int | None) -> list[Row]:
    """Rows of one set."""
    async with open_rag(RagConfig(data_dir=folder), embedding=KeptEmbedding(CACHE)) as rag:
        found = await evaluate(rag, path, EvalOptions(SYSTEMS, half=half, limit=limit))
    relevant = {query.id: query.relevant for query in load_dataset(path).ranked_queries}
    floor = AnswerParameters().abstain_below
    ranks = {system: figures["mrr@10"] for system, figures in found.systems.items()}
    full = [
        one for one in read_rows(found.records) if one["system"] == "full" and half_of(one["query"]) == half
    ]
    first = [any(relevant[one["query"]].get(i) for i in one["ranking"][:1]) for one in full]
    refused = [one["abstained"] for one in full]
    by_relevance = [(one["confidence"] or 0.0) < floor for one in full]
    rows = []
    for system, rank in ranks.items():
        least = (
            WORDS
            if system == "sparse" and name not in ACROSS
            else max(ranks["dense"]["value"], ranks["sparse"]["value"])
            if system == "full"
            else None
        )
        told = f"{name}: {found.queries} questions: {SHOWN[system]} mrr@10 ({rank['low']:.3f} to {rank['high']:.3f})"
        rows.append(row(told, "", rank["value"], bound="min", floor=least and round(least, 4)))
    most = REFUSED_ACROSS if name in ACROSS else REFUSED
    for what, given in (("", refused), (" by their relevance", by_relevance)):
        both = np.logical_and(given, first).astype(float).tolist()
        rows.append(share(f"{name}: refused{what}, the right passage first", "max", both, floor=most))
    rows.append(share(f"{name}: refused", "max", [float(one) for one in refused]))
    rows.append(share(f"{name}: nothing found", "max", [float(not one["ranking"]) for one in full]))
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__, f"{QUICK} questions of each set", DATA / "languages")
    parser.add_argument("--only", metavar="SET,…", help=", ".join(SETS))
    parser.add_argument("--half", default="second", help="first or second")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what is ingested there, and use it")
    given = parser.parse_args(arguments)
    names = given.only.split(",") if given.only else list(SETS)
    if missing := [name for name in names if not (given.data / name / "corpus.jsonl").is_file()]:
        print(
            f"error: {given.data} lacks {', '.join(missing)}; make them with language_sets.py",
            file=sys.stderr,
        )
        return 2
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as temporary:
        for name in names:
            folder = (given.keep or Path(temporary)) / name
            rows += asyncio.run(
                measured(name, given.data / name, folder, given.half, QUICK if given.quick else None)
            )
            print(json.dumps(rows[-8:], ensure_ascii=False), flush=True)
    return report("languages", rows, given.json)


if __name__ == "__main__":
    sys.exit(main())
