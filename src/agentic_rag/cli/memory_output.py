"""What the ``memory`` commands read from their options and print."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agentic_rag.cli.render import console
from agentic_rag.domain.json_values import Json
from agentic_rag.errors import InputError

MAX_CHARACTERS = 300
"""Maximum characters of a printed memory; ``--json`` has all."""
KINDS: Mapping[str, str] = {
    "core": "who the person is",
    "semantic": "what is true",
    "procedural": "how things are done",
    "working": "what is going on now",
    "episodic": "what was said",
}
COLOURS: Mapping[str, str] = {"new": "green", "repeated": "dim", "superseded": "yellow", "ended": "yellow"}


def metadata_given(pairs: Sequence[str], speaker: str | None, role: str | None) -> Json:
    """Metadata from ``KEY=VALUE`` pairs; a value that is JSON is read as JSON.

    Raises:
        InputError: a pair without a key or without ``=``.
    """
    given = dict(map(_pair, pairs))
    named = {"speaker": speaker, "role": role}
    return given | {key: value for key, value in named.items() if value is not None}


def _pair(pair: str) -> tuple[str, Any]:
    key, sign, text = pair.partition("=")
    if not sign or not key.strip():
        raise InputError(f"cannot read --metadata {pair!r}; write KEY=VALUE, such as session=12")
    try:
        return key.strip(), json.loads(text)
    except ValueError:
        return key.strip(), text


def print_added(result: Mapping[str, Any]) -> None:
    """The stored message, and each memory that it created, confirmed or ended; one of several kinds once."""
    out = console()
    out.print(f"kept verbatim as [cyan]{escape(result['evidence_id'])}[/cyan]")
    if not result["memories"]:
        out.print("no other memory was derived from it", style="dim")
        return
    kinds: dict[tuple[str, str, str], list[str]] = {}
    for memory in result["memories"]:
        told = (memory["change"], _short(memory["content"]), memory["reason"])
        kinds.setdefault(told, []).append(memory["memory_type"])
    shown = _columns("change")
    for (change, content, reason), several in kinds.items():
        why = f"[dim]{escape(' and '.join(sorted(several)))}: {escape(reason)}[/dim]"
        shown.add_row(f"[{COLOURS[change]}]{change}[/{COLOURS[change]}]", f"{escape(content)}\n{why}")
    out.print(shown)


def print_found(result: Mapping[str, Any], *, explain: bool) -> None:
    """The memories, best first; with ``explain`` every source of each, the routing, and each agent's outcome."""
    out = console()
    if not result["known"]:
        _print_unknown(out, result["user_id"])
        return
    if not result["memories"]:
        out.print("nothing found", style="yellow")
    shown = _columns("#", "score")
    for number, memory in enumerate(result["memories"], start=1):
        told = [escape(_short(memory["content"])), f"[dim]{escape(_about_found(memory))}[/dim]"]
        told += [f"[dim]{escape(_source(one))}[/dim]" for one in memory["sources"] if explain]
        shown.add_row(f"{number}.", f"{memory['relevance_score']:.2f}", "\n".join(told))
    out.print(shown)
    if explain:
        _print_routing(out, result["routing"])
    for name, outcome in result["outcomes"].items():
        _print_outcome(out, name, outcome, explain=explain)


def _print_routing(out: Console, routing: Mapping[str, Any]) -> None:
    weights = [
        f"{kind} {weight:.2f} ({routing['selected_strategies'][kind]})"
        for kind, weight in routing["strategy_weights"].items()
    ]
    out.print(f"\nrouting by {routing['method']}: {', '.join(weights)}", markup=False, style="dim")
    for reason in filter(None, [*routing["reasons"], routing["fallback_reason"]]):
        out.print(f"  {reason}", markup=False, style="dim")


def _print_outcome(out: Console, name: str, outcome: Mapping[str, Any], *, explain: bool) -> None:
    failed = outcome["status"] in ("failed", "timeout")
    if failed or explain:
        counted = outcome["reason"] or f"{outcome['count']} in {outcome['ms']:.0f} ms"
        told = f"{outcome['status']}: {name}: {counted}"
        out.print(told, markup=False, style="red" if failed else "dim")


def print_listed(result: Mapping[str, Any]) -> None:
    """The memories by kind, each with its date, details and id."""
    out = console()
    if not result["memories"]:
        _print_none(out, result)
    by_kind = {
        kind: [record for record in result["memories"] if record["memory_type"] == kind] for kind in KINDS
    }
    for number, (kind, records) in enumerate((kind, held) for kind, held in by_kind.items() if held):
        if number:
            out.print()
        meaning = KINDS[kind]
        out.print(f"[bold]{kind}[/bold] [dim]· {meaning} ({len(records)})[/dim]")
        shown = _columns("date")
        for record in records:
            details = " · ".join(filter(None, [*_about(record), record["id"]]))
            told = f"{escape(_short(record['content']))}\n[dim]{escape(details)}[/dim]"
            shown.add_row(_date(record.get("valid_at") or record.get("at")), told)
        out.print(shown)


def _print_none(out: Console, result: Mapping[str, Any]) -> None:
    if result["known"]:
        out.print(
            f"none of this kind; {_memories(result['known'])} with --ended and without --type", style="yellow"
        )
    else:
        _print_unknown(out, result["user_id"])


def print_forgotten(result: Mapping[str, Any]) -> None:
    """The number of deletions, and the result of the check."""
    out = console()
    if not result["deleted"]:
        _print_unknown(out, result["user_id"])
        return
    searches = f"{result['searched']} searches for {'it' if result['deleted'] == 1 else 'them'}"
    out.print(f"deleted {_memories(result['deleted'])}; {searches} found {result['found'] or 'none'}")


def print_moved(result: Mapping[str, Any], where: str) -> None:
    """The number of memories written to a file or read from it."""
    told = f"{_memories(result['memories'])} of {result['user_id']!r} {where} {result['file']}"
    console().print(told, markup=False, soft_wrap=True)


def _print_unknown(out: Console, user_id: str) -> None:
    command = f'agentic-rag memory add "…" --user-id {shlex.quote(user_id)}'
    out.print(f"user {user_id!r} has no memories yet", markup=False, style="yellow")
    out.print(f"add one: {command}", markup=False, style="dim", soft_wrap=True)


def _columns(*names: str) -> Table:
    """Narrow columns, and a wide one for a memory and its details."""
    shown = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for name in names:
        shown.add_column(name, no_wrap=True, justify="right" if name == "#" else "left")
    shown.add_column("memory", overflow="fold")
    return shown


def _about_found(memory: Mapping[str, Any]) -> str:
    """Kind, date, speaker, details, end of validity."""
    known = memory["metadata"]
    date = _date(known.get("valid_at") or known.get("at"))
    return " · ".join(filter(None, [memory["memory_type"], date, *_about({**known, "details": known})]))


def _about(record: Mapping[str, Any]) -> Iterator[str]:
    """Speaker or subject, the fact, and the end of its validity."""
    details = record["details"]
    if details.get("slot"):
        yield f"{details['subject']}, {details['slot']}: {details.get('value') or '–'}"
    else:
        yield str(details.get("speaker") or details.get("subject") or "")
    yield str(details.get("block") or "")
    yield f"trigger: {details['trigger']}" if details.get("trigger") else ""
    held = [record.get("invalid_at"), *(one["until"] for one in record.get("ended", ()))]
    yield f"held until {max(map(_date, filter(None, held)))}" if any(held) else ""
    yield f"expires {record['expires_at'][:16].replace('T', ' ')}" if record.get("expires_at") else ""


def _source(source: Mapping[str, Any]) -> str:
    return (
        f"{source['agent']} by {source['strategy']}: rank {source['rank']}, "
        f"base {source['base_score']:.2f}, score {source['score']:.2f}"
    )


def _date(moment: str | None) -> str:
    return "" if moment is None else moment[:10]


def _memories(count: int) -> str:
    return f"{count} {'memory' if count == 1 else 'memories'}"


def _short(text: str) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= MAX_CHARACTERS else f"{joined[: MAX_CHARACTERS - 1]}…"
