"""The catalogue of a dataset's notes, read from the ledger and unpacked once per change."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

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
        self._readings: dict[str, _Reading] = {}
        """The last one of each dataset."""

    async def snapshot(self, dataset: str, *, own_notes: bool = False) -> Snapshot:
        records = await self._ledger.records(dataset)
        packed = {name: record.note for name, record in records.items() if record.note}
        counts = len(records), sum(record.pending for record in records.values())
        earlier = self._readings.get(dataset, _Reading())
        if earlier.packed_notes != packed or earlier.counts != counts:
            earlier = await asyncio.to_thread(_latest, packed, counts, earlier)
            self._readings[dataset] = earlier
        return Snapshot.of(earlier.notes.values(), *counts) if own_notes else earlier.snapshot


@dataclass(frozen=True, slots=True)
class _Reading:
    packed_notes: dict[str, bytes] = field(default_factory=dict)
    counts: tuple[int, int] = (0, 0)
    """Documents, and those of them that are pending."""
    notes: dict[str, Note] = field(default_factory=dict)
    snapshot: Snapshot = field(default_factory=Snapshot)


def _latest(packed_notes: dict[str, bytes], counts: tuple[int, int], earlier: _Reading) -> _Reading:
    before = earlier.packed_notes
    now = {
        name: earlier.notes[name] if before.get(name) == row else Note.unpack(row)
        for name, row in packed_notes.items()
    }
    own = {name for name, note in now.items() if any(one.key == OWN_NOTE for one in note.fields)}
    shown = (note for name, note in now.items() if name not in own)
    return _Reading(packed_notes, counts, now, Snapshot.of(shown, *counts))
