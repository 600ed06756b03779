"""What an ingest did, file by file."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Action = Literal["added", "changed", "unchanged", "relinked", "removed", "skipped", "failed"]
"""``relinked``: its text is as it was, but what it mentions got another name or another note."""


@dataclass(frozen=True, slots=True)
class FileReport:
    """One file, record or session."""

    path: str
    action: Action
    reason: str | None = None
    """Why it was skipped or failed, or what was odd about it."""
    chunks: int = 0
    facts: int = 0


@dataclass(frozen=True, slots=True)
class ExtractionCounts:
    """What extraction by a chat model did; all zero where facts come from what people wrote."""

    episodes: int = 0
    extracted: int = 0
    retried: int = 0
    quarantined: int = 0


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Everything an ingest did; nothing that was given is missing from ``files``."""

    dataset: str
    files: tuple[FileReport, ...]
    documents: int
    """Held by the dataset now."""
    chunks: int
    entities: int
    facts: int
    seconds: float
    stages: dict[str, float] = field(default_factory=dict)
    """Seconds by stage."""
    extraction: ExtractionCounts = ExtractionCounts()

    def count(self, action: Action) -> int:
        """Files with this action."""
        return sum(file.action == action for file in self.files)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        counts = Counter(file.action for file in self.files)
        return {**asdict(self), "counts": dict(sorted(counts.items()))}
