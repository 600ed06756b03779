"""Evidence recall on LoCoMo: all memory agents together, compared with each alone and with the main graph."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.fusion import CanvasOperation
from agentic_rag.ingest.conversation import RawSession, parse_session_date, sessions, speaker_and_text
from agentic_rag.memory.schemas import MemoryType
from agentic_rag_lab.evaluation.locomo import LoCoMoQuestion, read_locomo
from agentic_rag_lab.evaluation.statistics import bootstrap_interval
from figures import Row, data_folder, row

FILE = Path("locomo") / "locomo_conv26_conv30_conv49.json"
CHOSEN_ON, HELD_BACK = ("conv-26",), ("conv-30", "conv-49")
"""The memory agents' weights were chosen on the former."""
QUICK_SESSIONS = 4
"""Sessions of the first held-back conversation in the quick form."""
DEPTH = 10
TOGETHER, MAIN_GRAPH = "all agents", "main graph"


@dataclass(slots=True)
class Found:
    """By system, for every question: recall@10 of its evidence and the reciprocal rank of the first."""

    recall: dict[str, list[float]] = field(default_factory=dict)
    reciprocal: dict[str, list[float]] = field(default_factory=dict)

    def add(self, system: str, ranking: Sequence[str], evidence: Sequence[str]) -> None:
        """Add the ranking of turns for one question."""
        places = [rank for rank, turn in enumerate(ranking, start=1) if turn in evidence]
        self.recall.setdefault(system, []).append(len(places) / len(evidence))
        self.reciprocal.setdefault(system, []).append(1 / places[0] if places else 0.0)

    def joined(self, other: Found) -> Found:
        """The questions of both."""
        return Found(
            {name: [*self.recall.get(name, []), *values] for name, values in other.recall.items()},
            {name: [*self.reciprocal.get(name, []), *values] for name, values in other.reciprocal.items()},
        )


def beginning(sample: Mapping[str, Any], count: int) -> dict[str, Any]:
    """A conversation's first sessions, with the questions whose evidence is completely in them."""
    kept = {f"session_{number}" for number in range(1, count + 1)}
    spoken_in = {
        name: value
        for name, value in sample["conversation"].items()
        if name in kept or name.removesuffix("_date_time") in kept or name.startswith("speaker")
    }
    turns = {turn["dia_id"] for name in kept & spoken_in.keys() for turn in spoken_in[name]}
    asked_of = [one for one in sample["qa"] if set(one.get("evidence") or ()) <= turns]
    return {**sample, "conversation": spoken_in, "qa": asked_of}


async def remembered(rag: Rag, said: Sequence[RawSession]) -> None:
    """Remember every turn of a conversation once; the conversation is the user."""
    user = said[0].conversation
    if await rag.memory.list(user, MemoryType.EPISODIC):
        return
    for session in said:
        at = parse_session_date(session.date_text)
        for turn in session.turns:
            speaker, text = speaker_and_text(turn)
            if text.strip():
                given = {"speaker": speaker, "session": str(session.number), "dia_id": str(turn["dia_id"])}
                await rag.memory.remember(text, user, at=at, metadata=given)


async def asked(rag: Rag, question: LoCoMoQuestion) -> dict[str, list[str]]:
    """The turns (``D1:3``) that each system finds, best first."""
    systems = {TOGETHER: None, **{kind.value: [kind] for kind in MemoryType}}
    found = {name: await _of_memory(rag, question, kinds) for name, kinds in systems.items()}
    answer = await rag.ask(
        question.text,
        operation=CanvasOperation.DOCUMENT_RETRIEVAL.value,
        dataset=question.conversation,
        top_k=DEPTH,
    )
    found[MAIN_GRAPH] = [_turn(result["id"]) for result in answer.results]
    return found


async def _of_memory(rag: Rag, question: LoCoMoQuestion, kinds: Sequence[MemoryType] | None) -> list[str]:
    response = await rag.memory.search(
        question.text, question.conversation, max_results=DEPTH, memory_types=kinds
    )
    return list(dict.fromkeys(str(one.metadata["dia_id"]) for one in response.memories))


def _turn(chunk: str) -> str:
    """``conv-26/session_1#D1:3`` → ``D1:3``."""
    return chunk.rpartition("#")[2]


async def measured(rag: Rag, sample: Mapping[str, Any], folder: Path) -> Found:
    """All questions of one conversation with evidence, except the adversarial ones."""
    name = str(sample["sample_id"])
    started = time.perf_counter()
    await remembered(rag, list(sessions(dict(sample), name=name)))
    file = folder / f"{name}.json"
    await asyncio.to_thread(file.write_text, json.dumps([sample]), "utf-8")
    await rag.ingest(file, dataset=name, kind="locomo")
    stored = time.perf_counter() - started
    found = Found()
    questions = [one for one in read_locomo(sample).questions if one.answerable and one.evidence]
    for question in questions:
        evidence = [_turn(chunk) for chunk in question.evidence]
        for system, ranking in (await asked(rag, question)).items():
            found.add(system, ranking, evidence)
    seconds = time.perf_counter() - started - stored
    print(f"{name}: stored in {stored:.0f} s, {len(questions)} questions in {seconds:.0f} s", file=sys.stderr)
    return found


def table(title: str, found: Found) -> Table:
    """One line per system."""
    made = Table("system", title=title, title_justify="left")
    for name in (f"recall@{DEPTH}", f"MRR@{DEPTH}"):
        made.add_column(name, justify="right")
    for system, values in found.recall.items():
        made.add_row(system, f"{np.mean(values):.3f}", f"{np.mean(found.reciprocal[system]):.3f}")
    return made


def rows_of(what: str, found: Found, *, floors: bool) -> list[Row]:
    """All agents together, beside the best single agent and beside the main graph."""
    mean = {system: float(np.mean(values)) for system, values in found.recall.items()}
    first = {system: float(np.mean(values)) for system, values in found.reciprocal.items()}
    best = max((kind.value for kind in MemoryType), key=lambda name: mean[name])
    # Strictly above: by one question more than all of them.
    above = mean[best] + 1 / (2 * len(found.recall[best]) * DEPTH)
    ours, theirs = found.recall[TOGETHER], found.recall[MAIN_GRAPH]
    less = bootstrap_interval([one - other for one, other in zip(ours, theirs, strict=True)])
    return [
        row(f"{what}, recall@{DEPTH} less the main graph's ({less.low:+.3f} to {less.high:+.3f})", "", less.value),
        row(f"{what}, recall@{DEPTH} above any agent's", "share", mean[TOGETHER], bound="min",
            floor=above if floors else None, peer=best, theirs=mean[best]),
        row(f"{what}, recall@{DEPTH} not below the main graph's", "share", mean[TOGETHER], bound="min",
            floor=mean[MAIN_GRAPH] if floors else None, peer=MAIN_GRAPH, theirs=mean[MAIN_GRAPH]),
        row(f"{what}, MRR@{DEPTH}", "", first[TOGETHER], bound="min", peer=MAIN_GRAPH, theirs=first[MAIN_GRAPH]),
    ]  # fmt: skip


async def run(data: Path, keep: Path | None, quick: bool) -> list[Row]:
    """All rows; none without the data. The quick form uses the beginning of one conversation, without floors."""
    if not (data / FILE).exists():
        print(f"{data / FILE} is not there: LoCoMo is left out", file=sys.stderr)
        return []
    samples = {one["sample_id"]: one for one in json.loads((data / FILE).read_text("utf-8"))}
    groups = {"conv-26": CHOSEN_ON, "conv-30 and 49": HELD_BACK}
    if quick:
        groups = {f"conv-30, {QUICK_SESSIONS} sessions": HELD_BACK[:1]}
        samples["conv-30"] = beginning(samples["conv-30"], QUICK_SESSIONS)
    every = Found()
    rows: list[Row] = []
    console = Console(highlight=False)
    with data_folder(keep, "locomo-quick" if quick else "locomo") as folder:
        async with open_rag(RagConfig(data_dir=folder)) as rag:
            for what, names in groups.items():
                found = Found()
                for name in names:
                    found = found.joined(await measured(rag, samples[name], folder))
                console.print(table(what, found))
                rows += rows_of(what, found, floors=False)
                every = every.joined(found)
    if quick:
        return rows
    console.print(table("all three", every))
    return [*rows, *rows_of("all three", every, floors=True)]
