"""What the ``memory`` commands do between the arguments and the printing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from agentic_rag.cli.render import console
from agentic_rag.domain.identity import memory_dataset
from agentic_rag.errors import InputError
from agentic_rag.memory.memories import Memories
from agentic_rag.memory.records import plain
from agentic_rag.memory.schemas import RetrievalResponse
from agentic_rag.rag import open_rag
from agentic_rag.settings.config import RagConfig

NOTHING = "nothing is remembered of {!r} yet; say something: agentic-rag memory add TEXT --user-id {}"
SHOWN = 300
"""Characters of a memory in a table."""


@asynccontextmanager
async def opened(config: RagConfig, user_id: str) -> AsyncIterator[Memories]:
    """The memories; a user id that cannot be one is refused before anything is opened."""
    memory_dataset(user_id)
    async with open_rag(config) as rag:
        yield rag.memory


async def added(
    config: RagConfig, text: str, user_id: str, at: str | None, given: Sequence[str]
) -> dict[str, Any]:
    """What became of a text."""
    metadata = dict(map(_pair, given))
    async with opened(config, user_id) as memory:
        kept = await memory.remember(text, user_id, at=at, metadata=metadata)
    return {"user_id": user_id, "evidence_id": kept.evidence_id, "memories": list(kept.memories)}


def _pair(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals or not name.strip():
        raise InputError(f"metadata are given as NAME=VALUE, not {given!r}")
    return name.strip(), value


async def searched(
    config: RagConfig,
    query: str,
    user_id: str,
    *,
    top_k: int,
    types: Sequence[str] | None,
    strategy: str | None,
    as_of: str | None,
) -> dict[str, Any]:
    """What all agents found together, and how it came about."""
    context = {} if as_of is None else {"as_of": as_of}
    async with opened(config, user_id) as memory:
        found = await memory.search(
            query, user_id, max_results=top_k, context=context, memory_types=types or None, strategy=strategy
        )
    return {"user_id": user_id, "query": query, **_response(found)}


def _response(found: RetrievalResponse) -> dict[str, Any]:
    shown = asdict(found)
    return {
        "memories": list(shown["memories"]),
        "routing": shown["routing"],
        "outcomes": shown["outcomes"],
        "seconds": round(found.processing_time_ms / 1000, 4),
    }


async def listed(config: RagConfig, user_id: str, kind: str | None, *, ended: bool) -> list[dict[str, Any]]:
    """What is known of a user."""
    async with opened(config, user_id) as memory:
        records = await memory.list(user_id, kind, include_ended=ended)
    return [plain(record) for record in records]


async def forgotten(config: RagConfig, user_id: str, ids: Sequence[str] | None) -> dict[str, Any]:
    """What was deleted, and the proof."""
    async with opened(config, user_id) as memory:
        return {"user_id": user_id, **asdict(await memory.forget(user_id, ids))}


async def exported(config: RagConfig, user_id: str, path: Path) -> dict[str, Any]:
    """How many memories were written."""
    async with opened(config, user_id) as memory:
        count = await memory.export(user_id, path)
    return {"user_id": user_id, "file": str(path), "memories": count}


async def imported(config: RagConfig, user_id: str, path: Path) -> dict[str, Any]:
    """How many memories were read."""
    async with opened(config, user_id) as memory:
        count = await memory.import_(user_id, path)
    return {"user_id": user_id, "file": str(path), "memories": count}


def print_added(result: dict[str, Any]) -> None:
    """A line for the text, and one for each memory that it made, confirmed or ended."""
    out = console()
    out.print(f"kept as [cyan]{escape(result['evidence_id'])}[/cyan]")
    for memory in result["memories"]:
        out.print(
            f"  {memory['change']:<10} [green]{memory['memory_type']:<10}[/green] {escape(_short(memory['content'], 60))}"
            f"\n             [dim]{escape(memory['reason'])}[/dim]"
        )


def print_found(result: dict[str, Any], *, explain: bool) -> None:
    """Memories, best first; with ``explain`` what each agent said and why it was asked so."""
    out = console()
    if not result["memories"]:
        out.print("no memory was found", style="yellow")
    for number, memory in enumerate(result["memories"], start=1):
        known = memory["metadata"]
        when = (known.get("valid_at") or known.get("at") or "")[:10]
        who = known.get("speaker") or known.get("subject") or ""
        place = " · ".join(filter(None, [memory["memory_type"], when, who, _ended(known)]))
        out.print(
            f"{number:>2} {memory['relevance_score']:.2f} [cyan]{escape(place)}[/cyan]\n   {escape(_short(memory['content']))}"
        )
        if explain:
            for source in memory["sources"]:
                out.print(
                    f"     [dim]{source['agent']} by {source['strategy']}: rank {source['rank']}, "
                    f"{source['base_score']:.2f} → {source['score']:.2f}[/dim]"
                )
    if explain:
        out.print()
        for reason in result["routing"]["decision"]["reasons"]:
            out.print(f"[dim]{escape(reason)}[/dim]")
    for name, outcome in result["outcomes"].items():
        if outcome["status"] in ("failed", "timeout"):
            out.print(f"{outcome['status']}: {name}: {outcome['reason']}", style="red", markup=False)
        elif explain:
            told = f"{name}: {outcome['status']}, {outcome['count']} in {outcome['ms']:.0f} ms"
            out.print(told, style="dim", markup=False)


def print_listed(records: Sequence[dict[str, Any]], user_id: str) -> None:
    """A table of memories, in the order in which they were said."""
    if not records:
        console().print(NOTHING.format(user_id, user_id), style="yellow", markup=False)
        return
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("id", no_wrap=True)
    table.add_column("when", no_wrap=True)
    table.add_column("memory", overflow="fold", ratio=1)
    for record in records:
        when = (record.get("valid_at") or record.get("at") or "")[:10]
        ended = _ended(record)
        told = f"[dim]{' · '.join(filter(None, [record['memory_type'], _about(record), ended]))}[/dim]"
        table.add_row(escape(record["id"]), when, f"{escape(_short(record['content']))}\n{told}")
    console().print(table)


def _about(record: dict[str, Any]) -> str:
    """What it tells beyond its words: the slot of a fact, the block of a core memory, the trigger of a procedure."""
    details = record["details"]
    if details.get("slot"):
        return escape(f"{details['subject']}: {details['slot']} = {details['value']}")
    return escape(str(details.get("block") or details.get("trigger") or details.get("speaker") or ""))


def _ended(values: dict[str, Any]) -> str:
    until = [values.get("invalid_at"), *(one["until"] for one in values.get("ended", ()))]
    known = [moment[:10] for moment in until if moment]
    return f"held until {max(known)}" if known else ""


def _short(text: str, limit: int = SHOWN) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= limit else f"{joined[: limit - 1]}…"
