"""What the answers to judged questions hold: do they quote what answers, and is what the documents do not treat refused?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from agentic_rag import Rag
from agentic_rag.evaluation.datasets import EvalQuery, load_dataset
from agentic_rag.evaluation.systems import NO_CLOCK


async def quoting(rag: Rag, path: Path, limit: int | None = None) -> list[float]:
    """For each answerable question of a set whose judgements name sentences: 1 where the answer, in its operation's
    shape, quotes one of them, a part of it or more than it; 0 where it quotes none, or nothing is answered."""
    states = await _asked(rag, path, queries := load_dataset(path).ranked_queries[:limit])
    found = []
    for query, state in zip(queries, states, strict=True):
        judged = {_plain(quote["quote"]) for quote in query.fields["quotes"]}
        found.append(float(any(_says(_plain(one["quote"]), judged) for one in state["citations"])))
    return found


async def refused(rag: Rag, path: Path, others: Sequence[Path], limit: int | None = None) -> list[float]:
    """For each question of other sets, asked of this one's documents: 1 where nothing is answered."""
    queries = [query for other in others for query in load_dataset(other).queries[:limit]]
    return [float(state["abstained"]) for state in await _asked(rag, path, queries)]


async def _asked(rag: Rag, path: Path, queries: Sequence[EvalQuery]) -> list[dict[str, Any]]:
    loaded = load_dataset(path)
    await rag.ingest(loaded.source, dataset=loaded.name, kind=loaded.kind)
    states = []
    for query in queries:
        asked = {"query": query.text, "dataset": loaded.name}
        if query.operation:
            asked["operation"] = query.operation
        states.append(dict(await rag.graph.ainvoke(asked, context=NO_CLOCK)))
    return states


def _says(quote: str, judged: Collection[str]) -> bool:
    return bool(quote) and any(quote in sentence or sentence in quote for sentence in judged)


def _plain(text: str) -> str:
    """With single spaces: a sentence may go over several lines of a note."""
    return " ".join(text.split())
