"""The catalogue of a dataset's notes, read from the ledger and unpacked once per change."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from agentic_rag.domain import OWN_NOTE
from agentic_rag.domain.notes import Note
from agentic_rag.domain.ports import DocumentRecord, Ledger
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
        earlier = self._readings.get(dataset, _Reading())
        if earlier.records != records:  # of the same objects, while nothing was written
            earlier = await asyncio.to_thread(_latest, records, earlier)
            self._readings[dataset] = earlier
        return Snapshot.of(earlier.notes.values(), *earlier.counts) if own_notes else earlier.snapshot


@dataclass(frozen=True, slots=True)
class _Reading:
    records: Mapping[str, DocumentRecord] = field(default_factory=dict)
    notes: Mapping[str, Note] = field(default_factory=dict)
    snapshot: Snapshot = field(default_factory=Snapshot)

    @property
    def counts(self) -> tuple[int, int]:
        """Documents, and those of them that are pending."""
        return self.snapshot.documents, self.snapshot.pending

    def note(self, name: str, packed_note: bytes) -> Note:
        """The note of a document, unpacked only if it changed."""
        before = self.records.get(name)
        is_same = before is not None and before.note == packed_note
        return self.notes[name] if is_same else Note.unpack(packed_note)


def _latest(records: Mapping[str, DocumentRecord], earlier: _Reading) -> _Reading:
    """The reading of these records; the same snapshot where only other parts of them changed."""
    notes = {name: earlier.note(name, record.note) for name, record in records.items() if record.note}
    counts = len(records), sum(record.pending for record in records.values())
    is_same = counts == earlier.counts and notes.keys() == earlier.notes.keys()
    if is_same and all(note is earlier.notes[name] for name, note in notes.items()):
        return _Reading(records, notes, earlier.snapshot)
    own = {name for name, note in notes.items() if any(one.key == OWN_NOTE for one in note.fields)}
    shown = (note for name, note in notes.items() if name not in own)
    return _Reading(records, notes, Snapshot.of(shown, *counts))
