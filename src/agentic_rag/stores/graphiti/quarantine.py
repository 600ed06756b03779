"""Episodes that the chat model could not read, in a file that people can look at."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path

from agentic_rag.domain import Chunk
from agentic_rag.domain.json_values import Json
from agentic_rag.errors import StoreError
from agentic_rag.stores.whole_file import write_whole

FILE_NAME = "quarantine.jsonl"


class Quarantine:
    """A small file beside the graph; written whole and atomically, gone when it is empty.

    A line is ``{"dataset", "document_id", "chunk_id", "reason", "time"}``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    async def entries(self) -> list[Json]:
        """All lines, in the order they were written; lines that cannot be read are left out."""
        return await asyncio.to_thread(self._read)

    async def settle(
        self, dataset: str, documents: Collection[str], failed_chunks: Sequence[tuple[Chunk, str]] = ()
    ) -> None:
        """Forget the documents' lines, then set aside the failed chunks, each with its reason."""
        await asyncio.to_thread(self._settle, dataset, set(documents), failed_chunks)

    def _settle(self, dataset: str, documents: set[str], failed_chunks: Sequence[tuple[Chunk, str]]) -> None:
        before = self._read()
        kept = [e for e in before if e.get("dataset") != dataset or e.get("document_id") not in documents]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        kept += [
            {
                "dataset": dataset,
                "document_id": chunk.document_id,
                "chunk_id": chunk.id,
                "reason": reason,
                "time": now,
            }
            for chunk, reason in failed_chunks
        ]
        if kept != before:
            self._write(kept)

    def _read(self) -> list[Json]:
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise StoreError(f"cannot read {self.path}: {error}; delete it and ingest again") from error
        found = []
        for line in lines:
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict):
                found.append(entry)
        return found

    def _write(self, entries: list[Json]) -> None:
        try:
            if not entries:
                self.path.unlink(missing_ok=True)
                return
            write_whole(self.path, "".join(json.dumps(entry) + "\n" for entry in entries))
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror or error}") from error
