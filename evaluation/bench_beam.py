"""Evidence recall of the memories on BEAM's questions, by agent and for all agents together.

    python evaluation/bench_beam.py [--quick] [--data DIR] [--keep DIR] [--json FILE]

DIR is the folder ``chats`` as published, by default ../shared/data/beam/chats. Each conversation is remembered
message by message, and its questions are asked at its end. All parameters were chosen on the conversations of
``CHOSEN_ON``; the floors hold on the others. Recall is of messages, by ``source_chat_ids``, without a model as
judge. Each figure is also measured with the words "always" and "never" removed from the conversations, because
they mark sources in this data, and for baselines on the same messages. The quick form takes one conversation of
each. Exits 1 when a floor is missed.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from agentic_rag import RagConfig, open_rag
from agentic_rag.domain.filters import And, Comparison
from agentic_rag.domain.identity import memory_dataset
from agentic_rag.fusion.rrf_fusion import fuse_ids
from agentic_rag.memory.schemas import MemoryType
from agentic_rag.rag import Rag
from agentic_rag_lab.evaluation.beam import Conversation, Question, load_conversation
from agentic_rag_lab.evaluation.beam_scores import score
from figures import DATA, Row, data_folder, options, report, row

CHOSEN_ON = ("100K/1", "100K/5", "100K/13")
HELD_BACK = ("100K/9", "100K/16", "100K/20")
LONGER = ("500K/1",)
FLOORS = {"recall@10": 0.78, "both@10": 0.90}
LONGER_FLOOR = 0.72
DEPTH = 20
TOGETHER = "all agents"
BASELINES = ("BM25", "dense", "RRF", "RRF, the person's")

Rankings = dict[str, list[list[str]]]
"""By system, the message ids found for each question."""


async def remembered(rag: Rag, conversation: Conversation, user: str) -> None:
    """Remember every message once."""
    if await rag.memory.list(user, MemoryType.EPISODIC):
        return
    for message in conversation.messages:
        metadata = {"role": message.role, "session": str(message.batch), "message": message.id}
        await rag.memory.remember(message.text, user, at=message.date, metadata=metadata)


async def asked(rag: Rag, question: Question, user: str) -> dict[str, list[str]]:
    """The results of each system for a question."""
    found = {}
    for name, kinds in {TOGETHER: None, **{kind.value: [kind] for kind in MemoryType}}.items():
        response = await rag.memory.search(question.text, user, max_results=DEPTH, memory_types=kinds)
        found[name] = messages([one.metadata for one in response.memories])
    return found | await baselines(rag, question, user)


async def baselines(rag: Rag, question: Question, user: str) -> dict[str, list[str]]:
    """BM25 and the bundled embedding, fused by rank: on the passages of all messages, and on the person's only."""
    every = Comparison("memory_type", "$eq", "episodic")
    own = And((every, Comparison("speaker", "$eq", "user")))
    legs = {
        (strategy, name): messages(
            [
                result.metadata["record"]["metadata"]
                for result in await rag.retrieval.search(
                    memory_dataset(user), question.text, 100, filters=only, strategy=strategy
                )
            ]
        )
        for strategy in ("sparse", "dense")
        for name, only in (("all", every), ("own", own))
    }

    def fused(name: str) -> list[str]:
        both = {"sparse": legs["sparse", name], "dense": legs["dense", name]}
        return [identity for identity, _ in fuse_ids(both)]

    found = (legs["sparse", "all"], legs["dense", "all"], fused("all"), fused("own"))
    return {name: ranking[:DEPTH] for name, ranking in zip(BASELINES, found, strict=True)}


def messages(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Ids of the messages, each at its best rank."""
    return list(dict.fromkeys(str(metadata["message"]) for metadata in found if "message" in metadata))


async def measured(
    rag: Rag, data: Path, names: Sequence[str], *, control: bool
) -> tuple[list[Question], Rankings]:
    """All questions of some conversations, and the results of each system."""
    questions: list[Question] = []
    rankings: Rankings = {}
    for name in names:
        started = time.perf_counter()
        conversation = await asyncio.to_thread(load_conversation, data / name, control=control)
        user = f"{name}{' control' if control else ''}"
        await remembered(rag, conversation, user)
        for question in conversation.questions:
            questions.append(question)
            for system, ranking in (await asked(rag, question, user)).items():
                rankings.setdefault(system, []).append(ranking)
        print(
            f"{user}: {len(conversation.messages)} messages, {time.perf_counter() - started:.0f} s",
            file=sys.stderr,
        )
    return questions, rankings


def table(title: str, questions: Sequence[Question], rankings: Rankings) -> Table:
    """One line per system, one column per kind of question."""
    figures = {system: score(questions, found) for system, found in rankings.items()}
    kinds = list(next(iter(figures.values()))["by_kind"])
    made = Table(title=title, title_justify="left")
    made.add_column("recall@10")
    for name in ("six", "both", *(kind.split("_")[0][:9] for kind in kinds if kind != "abstention"), "tau"):
        made.add_column(name, justify="right")
    for system, found in figures.items():
        by_kind = found["by_kind"]
        values = [found["six_kinds"]["recall@10"], found["six_kinds"]["both@10"]]
        values += [by_kind[kind]["recall@10"] for kind in kinds if kind != "abstention"]
        values.append(by_kind.get("event_ordering", {}).get("tau"))
        made.add_row(system, *("" if value is None else f"{value:.2f}" for value in values))
    return made


def rows_of(
    what: str, questions: Sequence[Question], rankings: Rankings, floors: Mapping[str, float]
) -> list[Row]:
    """All agents together, beside the best baseline."""
    figures = {system: score(questions, found)["six_kinds"] for system, found in rankings.items()}
    rows = []
    for measure in ("recall@10", "both@10"):
        best = max(BASELINES, key=lambda name: figures[name][measure])
        rows.append(
            row(
                f"{what}, {measure}",
                "share",
                figures[TOGETHER][measure],
                theirs=figures[best][measure],
                peer=best,
                bound="min",
                floor=floors.get(measure),
            )
        )
    return rows


@asynccontextmanager
async def opened(keep: Path | None) -> AsyncIterator[Rag]:
    with data_folder(keep) as folder:
        async with open_rag(RagConfig(data_dir=folder)) as rag:
            yield rag


async def run(data: Path, keep: Path | None, quick: bool) -> list[Row]:
    console = Console(highlight=False, width=150)
    few = 1 if quick else None
    groups = {
        "chosen on": (CHOSEN_ON[:few], False, {}),
        "held back": (HELD_BACK[:few], False, FLOORS),
        "held back, control": (HELD_BACK[:few], True, {}),
        **({} if quick else {"500K": (LONGER, False, {"recall@10": LONGER_FLOOR})}),
    }
    rows: list[Row] = []
    async with opened(keep) as rag:
        for what, (names, control, floors) in groups.items():
            questions, rankings = await measured(rag, data, names, control=control)
            console.print(table(f"{what}: {', '.join(names)}", questions, rankings))
            rows += rows_of(what, questions, rankings, {} if quick else floors)
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__, "one conversation of each group, without floors", DATA / "beam" / "chats")
    parser.add_argument("--keep", type=Path, help="data folder that is kept for the next run")
    given = parser.parse_args(arguments)
    rows = asyncio.run(run(given.data, given.keep, given.quick))
    return report("beam", rows, given.json)


if __name__ == "__main__":
    sys.exit(main())
