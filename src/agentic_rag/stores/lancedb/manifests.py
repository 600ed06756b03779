"""Which model a dataset's vectors come from, and which generation of its tables is in force.

One row of the table ``datasets`` a group says both, so that one upsert switches all of a dataset's
tables that hold vectors. Those of a generation n ≥ 1 are named ``<base>.<n>``; a group id has no dot.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from agentic_rag.errors import ManifestMismatch
from agentic_rag.stores.lancedb.connection import READ_CONSISTENCY, LanceConnection, translate_errors
from agentic_rag.stores.lancedb.sql import quote
from agentic_rag.stores.uninterrupted import run_uninterrupted

METRIC = "cosine"
KEEP_GENERATIONS = timedelta(minutes=10)
"""What is superseded stays readable this long, for readers that are in the middle of a search."""
_TABLE = "datasets"
_SCHEMA = pa.schema(
    [
        pa.field("group_id", pa.string(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("manifest", pa.string(), nullable=False),
    ]
)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is written down of a dataset's vectors."""

    model: str
    dimension: int
    metric: str = METRIC
    generation: int = 0
    since: datetime | None = None
    """When this generation came into force; None for the first."""
    name: str = ""
    """The dataset's; empty for a group that only Graphiti itself has written."""

    def is_made_like(self, other: Manifest) -> bool:
        """Whether vectors of both may be compared."""
        return (self.model, self.dimension, self.metric) == (other.model, other.dimension, other.metric)

    def __str__(self) -> str:
        return f"{self.model} ({self.dimension} dimensions, {self.metric})"


class Manifests:
    """Reads, checks, makes and switches the manifests of one database.

    Args:
        connection: the database.
        model: name of the configured embedding model.
        dimension: length of its vectors.
    """

    def __init__(self, connection: LanceConnection, *, model: str, dimension: int) -> None:
        self.configured_manifest = Manifest(model, dimension)
        self._connection = connection
        self._known_manifests: dict[str, tuple[float, Manifest]] = {}
        self._asking = asyncio.Lock()

    async def generation(self, group: str, *, any_model: bool = False) -> int:
        """The one in force, as of a second ago at the most; 0 for a group without a manifest.

        Raises ``ManifestMismatch`` when its vectors come from another model than the configured one,
        unless ``any_model`` will do, as for what reads no vector.
        """
        fresh = self._fresh(group, any_model)
        if fresh is not None:
            return fresh.generation
        async with self._asking:  # one read serves all parallel searches of a question
            fresh = self._fresh(group, any_model)
            return fresh.generation if fresh else await self.generation_now(group, any_model=any_model)

    def _fresh(self, group: str, any_model: bool) -> Manifest | None:
        """The manifests from a recent read, if these are fresh enough."""
        asked, manifest = self._known_manifests.get(group, (0.0, None))
        fits = manifest is not None and (any_model or manifest.is_made_like(self.configured_manifest))
        return manifest if fits and time.monotonic() - asked < READ_CONSISTENCY.total_seconds() else None

    async def generation_now(self, group: str, *, any_model: bool = False) -> int:
        """The generation in force, read anew: what a writer needs, who holds ``process_lock.writing``."""
        stored = await self.stored_manifest(group)
        if stored is None:
            return 0
        return stored.generation if any_model else self._check(group, stored).generation

    async def stored_manifest(self, group: str) -> Manifest | None:
        """What is written down, whatever is configured."""
        asked = time.monotonic()
        found = await self._rows(f"group_id = {quote(group)}")
        if not found:
            self._known_manifests.pop(group, None)
            return None
        manifest = _read(found[0])
        self._known_manifests[group] = (asked, manifest)
        return manifest

    async def names(self) -> list[str]:
        """Names of the datasets that were ever written, sorted."""
        return sorted(row["name"] for row in await self._rows() if row["name"])

    async def make(self, group: str, name: str = "") -> int:
        """The generation in force, after writing down the configured model where nothing was yet."""
        stored = await self.stored_manifest(group)
        if stored is not None and (stored.name or not name):
            return self._check(group, stored).generation
        await self._write(group, replace(stored or self.configured_manifest, name=name), anew=stored is None)
        return await self.generation_now(group)

    async def switch(self, group: str, generation: int) -> None:
        """Put a generation made by the configured model into force; the caller holds ``switching``."""
        stored = await self.stored_manifest(group)
        name = stored.name if stored is not None else ""
        await self._write(
            group,
            replace(self.configured_manifest, name=name, generation=generation, since=datetime.now(UTC)),
        )
        await self.stored_manifest(group)

    async def restore(self, group: str, manifest: Manifest) -> None:
        """Write lost manifests again."""
        await self._write(group, manifest)
        self._known_manifests.pop(group, None)

    async def drop_superseded(self, group: str, bases: Collection[str]) -> None:
        """Drop the generations before the one in force, once no search can be under way on them."""
        stored = await self.stored_manifest(group)
        if stored is None or stored.since is None or datetime.now(UTC) - stored.since < KEEP_GENERATIONS:
            return
        await self._drop(bases, lambda generation: generation < stored.generation)

    async def drop_unfinished(self, group: str, bases: Collection[str]) -> None:
        """Drop the generations that never came into force; the caller is the only one who makes any."""
        stored = await self.stored_manifest(group)
        now = stored.generation if stored is not None else 0
        await self._drop(bases, lambda generation: generation > now)

    async def drop_others(self, group: str, bases: Collection[str]) -> None:
        """Drop all generations but the one in force, once no search begins in them any more; one that did may fail.

        The caller is the only one who makes any.
        """
        stored = await self.stored_manifest(group)
        now = stored.generation if stored is not None else 0
        if stored is not None and stored.since is not None:
            known = stored.since + READ_CONSISTENCY - datetime.now(UTC)
            await asyncio.sleep(max(0.0, known.total_seconds()))
        await self._drop(bases, lambda generation: generation != now)

    async def _drop(self, bases: Collection[str], is_unwanted: Callable[[int], bool]) -> None:
        for name in await self._connection.table_names():
            base, generation = of_generation(name)
            if base in bases and is_unwanted(generation):
                await self._connection.drop_table(name)

    def _check(self, group: str, stored_manifest: Manifest) -> Manifest:
        if not stored_manifest.is_made_like(self.configured_manifest):
            called = stored_manifest.name or group
            raise ManifestMismatch(
                f"dataset {called!r} was embedded with {stored_manifest}, the configuration says {self.configured_manifest}; "
                "configure that model, or embed the dataset anew with the configured one: "
                f"agentic-rag reindex --dataset {shlex.quote(called)}"
            )
        return stored_manifest

    async def _rows(self, where: str | None = None) -> list[Any]:
        table = await self._connection.table(_TABLE)
        if table is None:
            return []
        with translate_errors("reading the manifests"):
            await table.checkout_latest()
            query = table.query()
            rows: list[Any] = await (query.where(where) if where else query).to_list()
        return rows

    async def _write(self, group: str, manifest: Manifest, *, anew: bool = False) -> None:
        """``anew``: a row that another process made meanwhile stays."""
        table = await self._connection.create_table(_TABLE, _SCHEMA, "group_id")
        row = {"group_id": group, "name": manifest.name, "manifest": _manifest_json(manifest)}
        with translate_errors("writing a manifest"):
            merge = table.merge_insert("group_id").when_not_matched_insert_all()
            merge = merge if anew else merge.when_matched_update_all()
            await run_uninterrupted(merge.execute(pa.Table.from_pylist([row], schema=_SCHEMA)))


def generation_name(base: str, generation: int) -> str:
    """The table's name in a generation."""
    return f"{base}.{generation}" if generation else base


def of_generation(name: str) -> tuple[str, int]:
    """Base and generation of a table's name."""
    base, dot, number = name.rpartition(".")
    return (base, int(number)) if dot and number.isdecimal() else (name, 0)


def _read(row: Any) -> Manifest:
    held = json.loads(row["manifest"])
    since = held.pop("since", None)
    return Manifest(**held, since=datetime.fromisoformat(since) if since else None, name=row["name"])


def _manifest_json(manifest: Manifest) -> str:
    held = {"model": manifest.model, "dimension": manifest.dimension, "metric": manifest.metric}
    if manifest.generation:
        held["generation"] = manifest.generation
    if manifest.since is not None:
        held["since"] = manifest.since.isoformat()
    return json.dumps(held)
