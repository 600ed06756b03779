"""Rows by their keys, through LanceDB's row ids: a condition on the key takes two to three times as long, and with
token vectors, which it reads of every row that no index has yet, twenty times.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from agentic_rag.stores.batch import batches
from agentic_rag.stores.lancedb.connection import KEYS_PER_CONDITION
from agentic_rag.stores.lancedb.sql import is_one_of

REST_FACTOR = 10.0
"""Row ids are used for this multiple of their reading time, even if the table changes; newer rows are found by
key."""


class RowIds:
    """Row ids by key, for each table of a store.

    Args:
        key: the column that tells rows apart.
    """

    def __init__(self, key: str) -> None:
        self._key = key
        self._cached_ids: dict[str, _CachedIds] = {}

    async def current(self, table: Any, keys: Collection[str]) -> dict[str, int]:
        """Row ids of the keys that the latest version has; {} while these are not known of it.

        A key is taken for another with a probability of 2⁻⁶⁴.
        """
        version = await table.version()
        known = await self._latest(table, version)
        return known.by_key(keys) if known.version == version else {}

    async def rows(self, table: Any, keys: Collection[str], select: Iterable[str]) -> pa.Table | None:
        """The columns and the key of the rows that are there, in no particular order; None where no key is given."""
        columns = list(dict.fromkeys([self._key, *select]))
        missing = set(keys)
        parts: list[pa.Table] = []
        latest = await self._latest(table, await table.version())
        ids = sorted(set(latest.by_key(missing).values()))
        if ids:
            found = await table.take_row_ids(ids).select(columns).to_arrow()
            # Another key may have the same hash.
            is_wanted = [key in missing for key in found[self._key].to_pylist()]
            found = found if all(is_wanted) else found.filter(pa.array(is_wanted, pa.bool_()))
            missing -= set(found[self._key].to_pylist())
            parts.append(found)
        parts += [
            await table.query().where(is_one_of(self._key, some)).select(columns).to_arrow()
            for some in batches(sorted(missing), KEYS_PER_CONDITION)
        ]
        return pa.concat_tables(parts) if parts else None

    async def _latest(self, table: Any, version: int) -> _CachedIds:
        """Row ids of this version, or of an earlier one that may still be used."""
        kept = self._cached_ids.get(table.name)
        if kept is None or (kept.version != version and time.monotonic() >= kept.again_at):
            started = time.monotonic()
            hashes, row_ids = await self._read(table)
            ended = time.monotonic()
            kept = _CachedIds(version, ended + REST_FACTOR * (ended - started), hashes, row_ids)
            self._cached_ids[table.name] = kept
        return kept

    async def _read(self, table: Any) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Hashes of all keys, ascending, and their rows' ids; a part of the keys at a time."""
        hashes, row_ids = [np.zeros(0, np.int64)], [np.zeros(0, np.uint64)]
        async for some in await table.query().select([self._key, "_rowid"]).to_batches():
            hashes.append(await asyncio.to_thread(lambda keys: _hashes(keys.to_pylist()), some[self._key]))
            row_ids.append(some["_rowid"].to_numpy())
        return await asyncio.to_thread(_by_hash, np.concatenate(hashes), np.concatenate(row_ids))


@dataclass(frozen=True, slots=True)
class _CachedIds:
    version: int
    again_at: float
    """When it may be read again."""
    hashes: NDArray[np.int64]
    """Of the keys, ascending; 16 bytes a row with the ids, where the keys themselves would take a hundred."""
    row_ids: NDArray[np.uint64]

    def by_key(self, keys: Collection[str]) -> dict[str, int]:
        """Row id of each key that is there."""
        if not len(self.hashes):
            return {}
        wanted = _hashes(keys)
        places = np.minimum(np.searchsorted(self.hashes, wanted), len(self.hashes) - 1)
        is_there = (self.hashes[places] == wanted).tolist()
        ids = self.row_ids[places].tolist()
        return {key: row_id for key, row_id, known in zip(keys, ids, is_there, strict=True) if known}


def _by_hash(
    hashes: NDArray[np.int64], row_ids: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    order = np.argsort(hashes)
    return hashes[order], row_ids[order]


def _hashes(keys: Collection[str]) -> NDArray[np.int64]:
    """64 bits each, for this process alone."""
    return np.fromiter(map(hash, keys), np.int64, len(keys))
