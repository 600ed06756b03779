"""The catalogue of a dataset's notes, read from the ledger and unpacked once per change."""

from __future__ import annotations

import asyncio

from agentic_rag.domain import OWN_NOTE
from agentic_rag.domain.notes import Note
from agentic_rag.domain.ports import Ledger
from agentic_rag.notes.catalogue import Snapshot


class Catalogue:
    """``ports.NoteCatalogue`` over the ledger.

    Notes that the program wrote itself (records of mistakes) are left out, as in searches, unless they are asked for.

    Args:
        ledger: keeps each note's row.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._snapshots: dict[str, tuple[dict[str, bytes], dict[str, Note], Snapshot]] = {}
        """By dataset the packed rows, the notes and the snapshot of the last reading."""

    async def snapshot(self, dataset: str, *, own_notes: bool = False) -> Snapshot:
        records = await self._ledger.records(dataset)
        packed = {name: record.note for name, record in records.items() if record.note}
        earlier = self._snapshots.get(dataset, ({}, {}, Snapshot()))
        if earlier[0] != packed:
            self._snapshots[dataset] = earlier = await asyncio.to_thread(_latest, packed, earlier)
        return Snapshot.of(earlier[1].values()) if own_notes else earlier[2]


def _latest(
    packed_notes: dict[str, bytes], earlier: tuple[dict[str, bytes], dict[str, Note], Snapshot]
) -> tuple[dict[str, bytes], dict[str, Note], Snapshot]:
    before, notes, _ = earlier
    now = {
        name: notes[name] if before.get(name) == row else Note.unpack(row)
        for name, row in packed_notes.items()
    }
    own = {name for name, note in now.items() if any(field.key == OWN_NOTE for field in note.fields)}
    return packed_notes, now, Snapshot.of(note for name, note in now.items() if name not in own)
