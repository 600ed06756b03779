"""All exports of a scan as days of conversations: of two exports of one conversation the newer counts."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentic_rag.domain.identity import digest
from agentic_rag_readers.chats.exports import Export, count_noun, summary
from agentic_rag_readers.chats.messages import Message, Thread, days


@dataclass(frozen=True, slots=True)
class FoundExport:
    """An export, and where it was found."""

    export: Export
    path: Path
    root: Path
    """The path that was given."""
    relative: str
    """To the root, as on disk."""

    @property
    def place(self) -> Path:
        """What the report names: of Slack the folder over its channels, which hold a file a day."""
        is_day = self.export.kind == "slack" and self.path.suffix.lower() == ".json"
        return self.path.parent.parent if is_day else self.path


@dataclass(frozen=True, slots=True)
class Day:
    """What one export has of a day of a conversation."""

    document_id: str
    export_file: FoundExport
    thread: Thread
    messages: tuple[Message, ...]

    @property
    def digest(self) -> str:
        """Hash of all that the day's document depends on."""
        written = json.dumps(
            [(one.key, one.sender, str(one.time), one.text, one.attachments) for one in self.messages]
        )
        return digest(
            self.document_id, self.export_file.relative, self.thread.title, self.thread.url or "", written
        )


def merge_exports(exports: Sequence[FoundExport]) -> tuple[list[Day], list[tuple[Path, str]]]:
    """The days, each once; and for each export its place and a line on what was read of it."""
    chosen: dict[str, Day] = {}
    older: Counter[tuple[Path, str]] = Counter()
    threads: dict[tuple[Path, str], list[Thread]] = {}
    for found in sorted(exports, key=lambda export_file: export_file.export.newest, reverse=True):
        place = found.place, found.export.kind
        threads.setdefault(place, []).extend(found.export.threads)
        for day in _days(found):
            older[place] += chosen.setdefault(day.document_id, day) is not day
    lines = [
        (place, summary(kind, read) + _of_older(older[place, kind]))
        for (place, kind), read in threads.items()
    ]
    return list(chosen.values()), lines


def _days(export_file: FoundExport) -> Iterator[Day]:
    for thread in export_file.export.threads:
        for day, messages in days(thread).items():
            document_id = unicodedata.normalize("NFC", f"{export_file.export.kind}/{thread.id}/{day}")
            yield Day(document_id, export_file, thread, messages)


def _of_older(number: int) -> str:
    return f"; {count_noun(number, 'day')} of it in a newer export, which is read" if number else ""
