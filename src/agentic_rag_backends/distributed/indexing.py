"""Indexes of large LanceDB tables: each worker builds a segment, and one commit activates all of them (lance-ray)."""

from __future__ import annotations

import asyncio
from typing import Any

from agentic_rag.stores.lancedb.indexes import BUILT_HERE, MAX_SEGMENTS
from agentic_rag_backends.distributed.cluster import Cluster, cores

INDEXED_APART = 1_000_000
"""Minimum rows for a distributed build; below, the start of the workers takes longer than a local build."""
_WORDS = ("with_position", "base_tokenizer", "language", "max_token_length", "lower_case", "stem",
          "remove_stop_words", "ascii_folding")  # fmt: skip
"""Settings of a full-text index with the same name in LanceDB and Lance."""


class RayBuilder:
    """``stores.lancedb.indexes.IndexBuilder`` on a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def least(self) -> float:
        return INDEXED_APART

    async def build(self, table: Any, column: str, config: Any, name: str | None = None) -> None:
        kind = type(config).__name__
        if kind not in _KINDS or await table.count_rows() < INDEXED_APART:
            await BUILT_HERE.build(table, column, config, name)
            return
        uri, options = await table.uri(), await table.latest_storage_options()
        await asyncio.to_thread(self._build, kind, uri, options, column, config, name)
        await table.checkout_latest()

    def _build(
        self, kind: str, uri: str, options: dict[str, str] | None, column: str, config: Any, name: str | None
    ) -> None:
        ray = self._cluster.connect()
        import lance_ray

        workers = cores(ray)
        common = {"column": column, "name": name, "num_workers": workers, "storage_options": options}
        common |= {"num_segments": min(workers, MAX_SEGMENTS), "index_type": _KINDS[kind]}
        if kind == "IvfSq":
            of_vectors = {"metric": config.distance_type, "num_partitions": config.num_partitions}
            lance_ray.create_index(uri, **common, **of_vectors)
            return
        words = {key: getattr(config, key) for key in _WORDS} if kind == "FTS" else {}
        lance_ray.create_scalar_index(uri, **common, **words)


_KINDS = {"FTS": "INVERTED", "BTree": "BTREE", "IvfSq": "IVF_SQ"}
"""From LanceDB's configuration to Lance's name, for the index types that can be built in segments."""
