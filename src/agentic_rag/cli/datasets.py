"""``ingest``, ``watch``, ``remove``, ``reindex`` and ``stats``: fill datasets, re-embed them, and describe them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from agentic_rag.cli.command_server import commands_served
from agentic_rag.cli.options import is_new, place_of
from agentic_rag.cli.render import bars, console
from agentic_rag.domain.identity import dataset_name, notes_dataset
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.ports import StoreStats, TableStats
from agentic_rag.domain.progress import Progress
from agentic_rag.domain.usage import usage_text
from agentic_rag.errors import UnknownDataset, needing
from agentic_rag.ingest.pipeline import IngestReport
from agentic_rag.ingest.planning import FileReport
from agentic_rag.notes.catalogue import SchemaValues
from agentic_rag.notes.schema_text import counts_text, values_text
from agentic_rag.rag import Rag, open_rag
from agentic_rag.settings.config import RagConfig

if TYPE_CHECKING:
    from agentic_rag.ingest.watching import WatchReport
    from agentic_rag.stores.lancedb.reindex import ReindexReport

T = TypeVar("T")
STAGES = {"read": "reading", "store": "storing", "embed": "embedding rows"}
SHOWN_FILES = 20
GRAPH = ("entities", "facts", "episodes", "mentions")
MAX_PROPERTIES = 20
MAX_NAMES = 12
"""Tags, and folders."""
MAX_VALUES = 4
WIDTH = 40
"""Code points of a value."""
_TABLES = (
    ("properties", "what the notes state", "notes"),
    ("entries", "what list items and rows state", "entries"),
)


class IndexValues(TypedDict):
    """An index of a table; numbers of rows."""

    column: str
    kind: str
    indexed: int
    unindexed: int


class TableValues(TypedDict):
    """A table; bytes are None where the store does not tell."""

    name: str
    rows: int
    versions: int | None
    bytes: int | None
    old_bytes: int | None
    indexes: list[IndexValues]


class DatasetValues(TypedDict):
    """What ``stats --json`` prints of a dataset."""

    dataset: str
    documents: int
    unfinished: int
    chunks: int
    graph: dict[str, int]
    unindexed: float
    """Share of the rows of indexed tables that are missing from an index."""
    model: str | None
    dimension: int | None
    metric: str | None
    configured_model: str
    reindex: bool
    """Whether the vectors are of another model than the configured one."""
    bytes: int | None
    old_bytes: int | None
    tables: list[TableValues]
    schema: SchemaValues


async def run_with_bars(
    config: RagConfig, work: Callable[[Rag, Progress], Awaitable[T]], *, quiet: bool
) -> T:
    """The result of work on the open ``Rag``, with a bar for each stage on stderr, unless quiet or not a terminal."""
    with bars(STAGES, quiet=quiet) as progress:
        async with open_rag(config) as rag:
            return await work(rag, progress)


async def watch_folders(config: RagConfig, folders: Sequence[Path], dataset: str, *, as_json: bool) -> None:
    """Print a line for every update of the dataset, until interrupted; below it new problems."""
    with needing("following folders", "service"):
        from agentic_rag.ingest.watching import roots_of

    notes_dataset(dataset)
    roots_of(folders)  # an error is the only line
    told = None
    odd: list[FileReport] = []
    if not as_json:
        named = ", ".join(map(str, folders))
        console().print(f"watching {named} for {dataset}, until Ctrl-C", markup=False, soft_wrap=True)
    async with (
        open_rag(config) as rag,
        commands_served(rag),
        aclosing(rag.watch(folders, dataset=dataset)) as followed,
    ):
        async for done in followed:
            if as_json:
                print(json.dumps(_followed_json(done), ensure_ascii=False), flush=True)  # noqa: T201
            elif done.problem is None or done.problem != told:
                console().print(_followed_line(done), markup=False, soft_wrap=True)
            if done.report is not None:
                before, odd = odd, [file for file in done.report.files if file.reason]
                if not as_json:
                    _print_odd([file for file in odd if file not in before])
            told = done.problem


def _followed_json(watch_report: WatchReport) -> Json:
    counts = {} if watch_report.report is None else watch_report.report.counts
    changed = [
        {"path": file.path, "action": file.action, "reason": file.reason}
        for file in (watch_report.report.files if watch_report.report else ())
        if file.action not in ("unchanged", "skipped", "recognised")
    ]
    return {
        "seconds": watch_report.seconds,
        "problem": watch_report.problem,
        "counts": counts,
        "files": changed,
    }


def _followed_line(watch_report: WatchReport) -> str:
    counted = ("added", "changed", "relinked", "removed", "failed")
    report = watch_report.report
    counts = [f"{report.count(action)} {action}" for action in counted if report and report.count(action)]  # type: ignore[arg-type]
    said = ", ".join(counts) or "up to date"
    return f"{datetime.now():%H:%M:%S} {said} · {watch_report.seconds:.1f} s" + (
        f" · {watch_report.problem}" if watch_report.problem else ""
    )


def print_ingest(report: IngestReport) -> None:
    """Counts, then every file with a problem or an unusual action, with the reason."""
    out = console()
    told = [f"{report.count(a)} {a}" for a in ("added", "changed", "relinked", "removed", "unchanged", "skipped", "failed") if report.count(a)]  # fmt: skip
    out.print(f"{report.dataset}: {', '.join(told) or 'nothing found'}", markup=False)
    out.print(
        f"holds {report.documents} documents, {report.chunks} chunks, {report.entities} entities, "
        f"{report.facts} facts · {report.seconds:.1f} s",
        markup=False,
        style="dim",
    )
    if report.extraction.episodes:
        found = report.extraction
        out.print(
            f"extraction: {found.extracted} of {found.episodes} episodes, {found.retried} retried, "
            f"{found.quarantined} quarantined",
            markup=False,
        )
    if report.usage:
        out.print(f"models behind endpoints used: {usage_text(report.usage)}", markup=False, style="dim")
    _print_odd([file for file in report.files if file.reason])


def _print_odd(odd: Sequence[FileReport]) -> None:
    """Path and reason of each file; only of the first ones if there are many."""
    out = console()
    for file in odd[:SHOWN_FILES]:
        style = "red" if file.action == "failed" else "yellow"
        out.print(f"{file.action}: {file.path}: {file.reason}", markup=False, style=style, soft_wrap=True)
    if len(odd) > SHOWN_FILES:
        out.print(f"… and {len(odd) - SHOWN_FILES} more; all of them with --json", style="yellow")


def print_reindex(report: ReindexReport) -> None:
    """The old and the new model, and the number of chunks."""
    out = console()
    change = report.now if report.before == report.now else f"{report.before} → {report.now}"
    out.print(f"{report.dataset}: {change}", markup=False)
    rows = ", ".join(f"{count} {name}" for name, count in report.rows.items() if count)
    out.print(f"{rows or 'nothing to embed'} · {report.seconds:.1f} s", markup=False, style="dim")


async def collect(config: RagConfig, dataset: str | None) -> list[DatasetValues]:
    """Plain values of the dataset, or of each existing dataset.

    Raises:
        UnknownDataset: nothing was ingested under the name, or all of it was removed.
    """
    if is_new(config):
        if dataset is not None:
            raise UnknownDataset(dataset, [])
        return []
    async with open_rag(config) as rag:
        if dataset is not None:
            await rag.require_dataset(dataset)
            return [await _of(rag, dataset_name(dataset))]
        return [await _of(rag, name) for name in await rag.ledger.datasets()]


async def _of(rag: Rag, dataset: str) -> DatasetValues:
    chunks, graph = await rag.chunks.stats(dataset), await rag.knowledge.stats(dataset)
    records = await rag.ledger.records(dataset)
    tables = [*chunks.tables, *graph.tables]
    rows = {table.name: table.rows for table in tables}
    sizes = [table.size_bytes for table in tables if table.size_bytes is not None]
    old = [table.old_bytes for table in tables if table.old_bytes is not None]
    return {
        "dataset": dataset,
        "documents": len(records),
        "unfinished": sum(record.pending for record in records.values()),
        "chunks": rows.get("chunks", 0),
        "graph": {name: rows.get(name, 0) for name in GRAPH},
        "unindexed": _unindexed_share(tables),
        "model": chunks.model,
        "dimension": chunks.dimension,
        "metric": chunks.metric,
        "configured_model": rag.embedding.name,
        "reindex": _is_stale(rag, chunks) or _is_stale(rag, graph),
        "bytes": sum(sizes) if sizes else None,
        "old_bytes": sum(old) if old else None,
        "tables": [_table(table) for table in tables],
        "schema": (await rag.schema(dataset)).to_dict(),
    }


def _is_stale(rag: Rag, stats: StoreStats) -> bool:
    """Whether the vectors are of another model than the configured one."""
    made = (stats.model or rag.embedding.name, stats.dimension or rag.embedding.dimension)
    return made != (rag.embedding.name, rag.embedding.dimension)


def _unindexed_share(tables: list[TableStats]) -> float:
    """Share, in [0, 1], of the rows of indexed tables that are missing from an index."""
    indexed = [table for table in tables if table.indexes]
    rows = sum(table.rows for table in indexed)
    return round(sum(table.unindexed_rows for table in indexed) / rows, 4) if rows else 0.0


def _table(table: TableStats) -> TableValues:
    return {
        "name": table.name,
        "rows": table.rows,
        "versions": table.versions,
        "bytes": table.size_bytes,
        "old_bytes": table.old_bytes,
        "indexes": [
            {
                "column": index.column,
                "kind": index.kind,
                "indexed": index.indexed_rows,
                "unindexed": index.unindexed_rows,
            }
            for index in table.indexes
        ],
    }


def print_stats(dataset_stats: Sequence[DatasetValues], config: RagConfig) -> None:
    """A paragraph and a table for each dataset."""
    out = console()
    if not dataset_stats:
        told = f"no dataset yet in {place_of(config)}; make one with: agentic-rag ingest PATH"
        out.print(told, markup=False, style="yellow", soft_wrap=True)
    for stats in dataset_stats:
        graph = ", ".join(f"{count} {name}" for name, count in stats["graph"].items())
        unfinished = f", {stats['unfinished']} of them unfinished" if stats["unfinished"] else ""
        documents = f"{stats['documents']} documents{unfinished}"
        out.print(f"{stats['dataset']}: {documents}, {stats['chunks']} chunks", markup=False)
        out.print(f"graph: {graph}", markup=False)
        model = f"{stats['model']}, {stats['dimension']} dimensions, {stats['metric']}"
        size = "" if stats["bytes"] is None else f" · {_megabytes(stats['bytes'])}"
        out.print(
            f"{model}{size} · {100 * stats['unindexed']:.1f} % of rows not indexed yet",
            markup=False,
            style="dim",
        )
        if stats["reindex"]:
            command = f"agentic-rag reindex --dataset {shlex.quote(stats['dataset'])}"
            why = f"the configured model is {stats['configured_model']}; embed the dataset again with: {command}"
            out.print(why, markup=False, style="yellow", soft_wrap=True)
        if stats["old_bytes"]:
            out.print(
                f"old versions take {stats['old_bytes']:,} bytes; the next write frees them, once no other process has "
                "the data folder open",
                markup=False,
                style="dim",
                soft_wrap=True,
            )
        out.print(_tables(stats["tables"]))
        print_schema(stats["schema"])


def _tables(tables: Sequence[TableValues]) -> Table:
    shown = Table(box=SIMPLE_HEAD)
    for name in ("table", "rows", "versions", "size", "index", "not indexed"):
        shown.add_column(name, justify="left" if name in ("table", "index") else "right", no_wrap=True)
    for table in tables:
        size = "–" if table["bytes"] is None else _megabytes(table["bytes"])
        versions = "–" if table["versions"] is None else str(table["versions"])
        head = (table["name"], str(table["rows"]), versions, size)
        for number, index in enumerate(table["indexes"] or [None]):
            told = ("", "") if index is None else _index(index)
            shown.add_row(*(head if number == 0 else ("", "", "", "")), *told)
    return shown


def _index(index: IndexValues) -> tuple[str, str]:
    return f"{index['column']} {index['kind']}", str(index["unindexed"])


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


def print_schema(schema: Mapping[str, Any]) -> None:
    """A table of properties and one of the properties of entries, then a line each for tags, folders and tasks.

    Args:
        schema: ``notes.catalogue.Schema.to_dict()``.
    """
    out = console()
    for name, title, what in _TABLES:
        if schema[name]:
            out.print(_properties_table(title, what, schema[name]))
    # As in Markdown: [x].
    tasks = {f"[{mark}]": count for mark, count in schema["tasks"].items()}
    for name, counts in (("tags", schema["tags"]), ("folders", schema["folders"]), ("tasks", tasks)):
        if counts:
            out.print(f"{name}: {counts_text(counts, MAX_NAMES)}", markup=False, soft_wrap=True)


def _properties_table(title: str, what: str, keys: Sequence[Mapping[str, Any]]) -> Table:
    """One row per property. Names and values are people's own and are no markup."""
    table = Table(title=title, title_justify="left", caption_justify="left", box=SIMPLE_HEAD)
    table.add_column("property", no_wrap=True)
    table.add_column("type", no_wrap=True)
    table.add_column(what, justify="right", no_wrap=True)
    table.add_column("values", overflow="fold", ratio=1)
    for key in keys[:MAX_PROPERTIES]:
        values = values_text(key, MAX_VALUES, WIDTH)
        table.add_row(Text(key["name"]), ", ".join(key["types"]), str(key["notes"]), Text(values))
    if len(keys) > MAX_PROPERTIES:
        table.caption = f"and {len(keys) - MAX_PROPERTIES} more; all of them with --json"
    return table
