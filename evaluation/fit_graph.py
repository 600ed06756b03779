"""Fits the three numbers of the graph source's relevance, and reports it on data that chose nothing.

    python evaluation/fit_graph.py [--data DIR] [--keep DIR] [--write]

Each question with names from the graph is searched by the graph source. The twenty most visited chunks, and the
relevant ones among the hundred most visited, are cases. Sets, questions within a set, and relevant and irrelevant
chunks within a question count alike: the prior odds are even, as for the vector store's relevance
(``fit_calibration.py``). Fitted on the first halves of the multi-hop sets, timeqa and LoCoMo and on two vaults,
reported on the second halves and ``vault_100``. Needs data that are not part of this project (by default in
../shared/data). ``--write`` replaces the numbers in the package.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.domain.filters import parse_filters
from agentic_rag.domain.progress import silent
from agentic_rag.retrieval.graph_relevance import FEWEST_VISITS, GraphRelevance
from agentic_rag.retrieval.ports import SourceQuery
from agentic_rag_lab.evaluation.asking import ranking_of
from agentic_rag_lab.evaluation.datasets import load_dataset
from agentic_rag_lab.evaluation.run import dataset_of, ingest_documents
from figures import CALIBRATION, DATA, OWN, data_folder
from fit_calibration import cross_entropy, solved
from judged_sets import CACHE, KeptEmbedding

FOUND, CASES, RIDGE = 100, 20, 0.02
SETS = {
    "hotpot": "beir/multihop/hotpot_train100",
    "musique": "beir/multihop/musique_train100",
    "2wiki": "beir/multihop/2wiki_train500",
    "timeqa": "beir/timeqa_human/train",
    "LoCoMo": "locomo",
}
"""Sets whose first half is used for the fit and whose second half is reported."""
VAULTS = {"vault_night_sky": True, "vault_pottery": True, "vault_100": False}
"""Whether each vault is used for the fit, or reported."""
Array = NDArray[np.float64]
Cases = tuple[Array, Array, Array]
"""Rows of terms, relevance, weights."""


async def cases_of(rag: Rag, path: Path, half: str | None) -> Cases:
    """The cases of a set's questions with names."""
    loaded = load_dataset(path)
    dataset = dataset_of(loaded.source)
    await ingest_documents(rag, loaded, dataset, silent)
    rows, relevant, weights = [], [], []
    for query in loaded.select(half=half, limit=None).ranked_queries:
        filters = parse_filters(loaded.filters(query))
        found = await rag.graph_engine.find(SourceQuery(dataset, query.text, filters=filters), FOUND)
        if not found.question["names"]:
            continue
        walked = [hit for hit in found.hits if "walk" in hit["evidence"]]
        graded = [query.relevant.get(ranking_of([dict(hit)], loaded.unit)[0], 0) > 0 for hit in walked]
        kept = [n for n, is_relevant in enumerate(graded) if n < CASES or is_relevant]
        right = np.array([graded[n] for n in kept], dtype=np.float64)
        visits = np.array([max(walked[n]["evidence"]["walk"], FEWEST_VISITS) for n in kept])
        told = np.full(len(kept), found.question["specificity"])
        rows.append(np.stack([np.ones(len(kept)), told, told * np.log(visits)], axis=1))
        relevant.append(right)
        weights.append(np.where(right > 0, 0.5 / max(right.sum(), 1), 0.5 / max((1 - right).sum(), 1)))
    return np.concatenate(rows), np.concatenate(relevant), np.concatenate(weights) / len(rows)


def fitted(sets: Sequence[Cases]) -> GraphRelevance:
    """The numbers with the least loss over all sets, each counting alike."""
    rows, relevant, weights = (np.concatenate(column) for column in zip(*sets, strict=True))
    found = solved(rows, relevant, weights / len(sets), np.array([0.0, RIDGE, RIDGE])).round(3).tolist()
    return GraphRelevance(*found)


def table(sets: Mapping[str, Cases], numbers: GraphRelevance, title: str) -> Table:
    """By set, the loss in nats per question; .693 is that of a constant 0.5."""
    shown = Table("set", "cases", "relevant", "loss", title=title, title_justify="left")
    for name, (rows, relevant, weights) in sets.items():
        logits = rows @ np.array([numbers.intercept, numbers.specificity, numbers.visits])
        loss = cross_entropy(logits, relevant, weights) / float(weights.sum())
        shown.add_row(name, f"{len(rows):,}", f"{int(relevant.sum()):,}", f"{loss:.3f}")
    return shown


async def run(data: Path, folder: Path, write: bool) -> int:
    places = {name: data / path for name, path in SETS.items()}
    if missing := [str(path) for path in places.values() if not path.is_dir()]:
        print(f"error: there is no {missing[0]}; name the data with --data", file=sys.stderr)
        return 2
    places["LoCoMo"] = next(places["LoCoMo"].glob("*.json"))
    fits, reports = {}, {}
    async with open_rag(RagConfig(data_dir=folder), embedding=KeptEmbedding(CACHE)) as rag:
        for name, path in places.items():
            fits[name] = await cases_of(rag, path, "first")
            reports[name] = await cases_of(rag, path, "second")
        for name, chooses in VAULTS.items():
            (fits if chooses else reports)[name] = await cases_of(rag, OWN / name, None)
    numbers = fitted(list(fits.values()))
    out = Console(highlight=False, width=100)
    out.print(table(fits, numbers, "fitted on"))
    out.print(table(reports, numbers, "reported: not fitted on"))
    told = {"intercept": numbers.intercept, "specificity": numbers.specificity, "visits": numbers.visits}
    out.print(json.dumps(told), markup=False)
    if write:
        text = CALIBRATION.read_text(encoding="utf-8")
        changed = re.sub(r'"graph": \{[^}]*\}', f'"graph": {json.dumps(told)}', text)
        CALIBRATION.write_text(changed, encoding="utf-8")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the judged sets")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what is ingested there, and use it")
    parser.add_argument("--write", action="store_true", help="replace the numbers in the package")
    given = parser.parse_args()
    with data_folder(given.keep) as folder:
        return asyncio.run(run(given.data, folder, given.write))


if __name__ == "__main__":
    sys.exit(main())
