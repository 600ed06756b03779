"""Evaluation, the memory: each answer is kept as soon as it is there, so that an interrupted run goes on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

from agentic_rag.domain.identity import digest
from agentic_rag.errors import InputError
from agentic_rag.evaluation.datasets import EvalDataset
from agentic_rag.evaluation.journal import RecordFile
from agentic_rag.ingest.sources import discover

DEPTH = 10
"""How many of a ranking's first ids are kept: as many as the measures look at."""
_TELLS = frozenset(
    {
        "abstention",
        "baselines",
        "compare",
        "corrections",
        "drawing",
        "pictures",
        "report",
        "scores",
        "statistics",
        "writing",
    }
)
"""Modules of this folder that work on answers and change none."""
_ANSWERS = frozenset({".json", ".model", ".npz", ".onnx", ".py"})
"""What the files are called that say what is answered: code, coefficients, tokens, projection, model."""


@dataclass(frozen=True, slots=True)
class Record:
    """What one system answered to one query; see ``systems.Scored``."""

    system: str
    query: str
    ranking: tuple[str, ...]
    """Ids that the dataset's judgements use, best first, as many as the measures look at."""
    milliseconds: float
    model_calls: int = 0
    confidence: float | None = None
    abstained: bool | None = None
    degraded: tuple[str, ...] = ()


class Records:
    """The answers of a run, by system and query.

    Args:
        path, fingerprint: of the journal; see ``Journal`` and ``fingerprint``.
        fresh: know none of the answers. They stay in the file for a run that asks something else, if they are of
            this fingerprint; of what is asked again the last answer counts.

    Raises:
        InputError, StoreError: as ``Journal`` does; a row is no record.
    """

    def __init__(self, path: Path, fingerprint: str, *, fresh: bool = False) -> None:
        self.path = path
        try:
            self._journal = RecordFile(path, fingerprint)
            kept = _by_question(self._journal)
        except InputError:
            if not fresh:
                raise
            self._journal = RecordFile(path, fingerprint, fresh=True)
            kept = {}
        self._kept = {} if fresh else kept

    def get(self, system: str, query: str) -> Record | None:
        """What is kept of that system and query."""
        return self._kept.get((system, query))

    def settled(self, system: str, query: str) -> bool:
        """Whether an answer is kept that no failure of a source or model had a part in."""
        record = self.get(system, query)
        return record is not None and not record.degraded

    def add(self, record: Record) -> None:
        """Keep a record, on the disk too."""
        self._journal.add(asdict(record))
        self._kept[record.system, record.query] = record


def fingerprint(dataset: EvalDataset, settings: Mapping[str, Any]) -> str:
    """Digest of all that an answer depends on.

    That is: the documents, the questions, the settings, versions, and the package's code, models and
    coefficients, but for what only reports. The systems, and which of the questions are asked, change no answer.
    """
    said = json.dumps([dict(settings), versions()], sort_keys=True)
    return digest(*_content(dataset), said, code_digest(), size=8)


def versions() -> dict[str, str]:
    """Of this package and of those that search for it."""
    return {name: version(name) for name in ("agentic-rag", "graphiti-core", "lancedb", "langgraph")}


def file_name(dataset: str, mark: str) -> str:
    """``<dataset>-<fingerprint>.jsonl``, with what a file name should not have replaced."""
    plain = re.sub(r"[^\w.-]+", "_", dataset)
    return f"{plain[:80]}-{mark}.jsonl"


def _by_question(journal: RecordFile) -> dict[tuple[str, str], Record]:
    records = [_read(row, f"{journal.path}:{number}") for number, row in enumerate(journal.rows, start=2)]
    return {(record.system, record.query): record for record in records}


def _read(said: Mapping[str, Any], where: str) -> Record:
    try:
        return Record(**{**said, "ranking": tuple(said["ranking"]), "degraded": tuple(said["degraded"])})
    except (TypeError, KeyError) as error:
        raise InputError(f"{where} is no record; start anew with --fresh") from error


def _content(dataset: EvalDataset) -> Iterator[str]:
    """What is judged, and digests of the questions and of each document."""
    yield dataset.unit
    if dataset.questions is not None:
        yield digest_of_file(dataset.questions)
    if dataset.source.is_file():
        yield digest_of_file(dataset.source)
    else:
        for item in discover([dataset.source], dataset.kind).items:
            yield item.document_id
            yield item.content_hash


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Of the files that an answer depends on: a version is worked on before it is released."""
    return digest(*(part for name, path in answering_files() for part in (name, digest_of_file(path))))


def answering_files() -> list[tuple[str, Path]]:
    """The package's files that an answer depends on, by their place in it: code, models and coefficients."""
    root = Path(__file__).parents[1]
    files = sorted(path for path in root.rglob("*") if path.suffix in _ANSWERS)
    named = [(path.relative_to(root), path) for path in files]
    return [
        (place.as_posix(), path)
        for place, path in named
        if not (place.parts[0] == "cli" or (place.parts[0] == "evaluation" and place.stem in _TELLS))
    ]


def digest_of_file(path: Path) -> str:
    try:
        return blake2b(path.read_bytes(), digest_size=16).hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
