"""Compares the stores after an ingest by a Ray cluster with those after an ingest on this machine.

Three vaults with the bundled model, and 20,000 generated notes of one passage with vectors by hashing; each ingested on
this machine and by two nodes of one core. Compared are the rows of every table and of the graph file (without the
moments when they were written), the vectors as the model makes them, the stored ones, which are of half precision, and
the results of questions: names of notes, and for the generated ones real questions.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.domain.ports import Embedding
from agentic_rag.testing import HashingEmbedding
from bench_disk import EXAMPLE, OTHER, PASSAGES
from bench_scale import written
from distributed_runs import Observed, by, made_vectors, short_notes
from figures import Row, row
from ray_nodes import ray_nodes
from stored import HALF_STEP, Stored, differences, everything

VAULTS = (EXAMPLE, OTHER, OTHER.parent / "kepano-obsidian")
GENERATED, QUICK_GENERATED = 20_000, 500
QUESTIONS = 40
VECTOR_FLOOR = 1e-6


def run(quick: bool) -> list[Row]:
    """All rows."""
    vaults = [vault for vault in VAULTS[: 1 if quick else None] if vault.exists()]
    rows: list[Row] = []
    with ray_nodes(2) as address, TemporaryDirectory() as scratch:
        for vault in vaults:
            rows += asyncio.run(_compared(vault, Path(scratch) / vault.name, address, _names(vault)))
        if PASSAGES.exists():
            folder = Path(scratch) / "generated"
            notes = folder / "vault"
            written(notes, short_notes(QUICK_GENERATED if quick else GENERATED))
            rows += asyncio.run(_compared(notes, folder, address, _asked(), hashing=True))
    return rows


def _names(vault: Path) -> list[str]:
    names = sorted({note.stem for note in vault.rglob("*.md")})
    return [f"What is {name}?" for name in random.Random(31).sample(names, min(QUESTIONS, len(names)))]


def _asked() -> list[str]:
    with (PASSAGES.parent / "queries.jsonl").open(encoding="utf-8") as lines:
        return [str(json.loads(line)["text"]) for line in islice(lines, QUESTIONS)]


async def _compared(
    vault: Path, folder: Path, address: str, questions: list[str], *, hashing: bool = False
) -> list[Row]:
    here, there = folder / "here", folder / "there"
    stored, rankings, notes = [], [], 0
    for place, cluster in ((here, None), (there, address)):
        place.mkdir(parents=True)
        embedding: Embedding = HashingEmbedding() if hashing else Observed(place, keeps=True)
        async with open_rag(RagConfig(data_dir=place / "data"), embedding=embedding) as rag:
            notes = (await rag.ingest(vault, **by(cluster))).documents
            stored.append(await everything(rag))
            rankings.append([await _ranking(rag, question) for question in questions])
    called = f"equality: {notes:,} generated notes" if hashing else f"equality: {vault.name}, {notes} notes"
    return [
        *_tables(called, *stored),
        *([] if hashing else _vectors(called, here, there)),
        row(f"{called}: stored components that differ", "share", _components(*stored)),
        row(f"{called}: rankings that differ, of {len(questions)}", "questions",
            sum(one != other for one, other in zip(*rankings, strict=True)), floor=0),
    ]  # fmt: skip


async def _ranking(rag: Rag, question: str) -> list[str]:
    return [str(hit["id"]) for hit in (await rag.ask(question)).results]


def _tables(called: str, one: Stored, other: Stored) -> list[Row]:
    unlike = differences(one, other, labels=True, rounded=HALF_STEP)
    for told in unlike[:5]:
        print(told, file=sys.stderr)
    by_table = Counter(str(name) for name, *_ in unlike)
    held = {name: len(rows) for side in (one, other) for name, rows in side.rows.items()}
    return [
        row(f"{called}: {name}, rows that differ of {held[name]:,}", "rows", by_table[name], floor=0)
        for name in sorted(held)
    ]


def _vectors(called: str, here: Path, there: Path) -> list[Row]:
    one, other = made_vectors(here), made_vectors(there)
    both = one.keys() & other.keys()
    most = max(float(np.abs(one[text] - other[text]).max()) for text in both)
    return [
        row(f"{called}: texts of {len(both):,} that were not embedded there", "texts", len(one.keys() - other.keys()),
            floor=0),
        # A worker does not know another spelling of a name in an earlier share, and the earlier one is stored.
        row(f"{called}: texts that were embedded there alone", "texts", len(other.keys() - one.keys())),
        {**row(f"{called}: greatest difference of a vector as made", "", most, floor=VECTOR_FLOOR), "ours": most},
    ]  # fmt: skip


def _components(one: Stored, other: Stored) -> float:
    unlike = total = 0
    for name, vectors in one.vectors.items():
        for key in vectors.keys() & other.vectors[name].keys():
            unlike += int((vectors[key] != other.vectors[name][key]).sum())
            total += vectors[key].size
    return unlike / max(total, 1)
