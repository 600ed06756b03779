"""Evaluation, the records: each answer is stored at once, so that an interrupted run can resume."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

from agentic_rag.domain.identity import digest
from agentic_rag.errors import InputError, StoreError
from agentic_rag.ingest.files.discovery import discover
from agentic_rag_lab.evaluation.datasets import EvalDataset


class RecordFile:
    """A file with the fingerprint in its first line, then one row per line.

    Args:
        path: created with its folder at the first row.
        fingerprint: digest of everything that a row depends on.
        fresh: discard existing rows.

    Raises:
        InputError: the file has other contents, which stay unchanged; or it has another fingerprint, or a line is no
            JSON object. A truncated last line is removed instead.
        StoreError: the file cannot be read.
    """

    def __init__(self, path: Path, fingerprint: str, *, fresh: bool = False) -> None:
        self.path = path
        self._head = json.dumps({"fingerprint": fingerprint}) + "\n"
        try:
            _check_ours(path)
            if fresh:
                path.unlink(missing_ok=True)
            lines = _whole_lines(path)
        except OSError as error:
            raise StoreError(f"the records in {path} cannot be used: {error.strerror or error}") from error
        if lines and lines[0] + "\n" != self._head:
            raise InputError(
                f"the records in {path} are of other data, settings or code; start anew with --fresh, "
                "or name another place for them"
            )
        self.rows = _rows(path, lines)
        """The rows in the file when it was opened."""

    def add(self, row: Mapping[str, Any]) -> None:
        """Write a row to disk."""
        line = json.dumps(row) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="ascii") as file:
                file.write(line if file.tell() else self._head + line)
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror or error}") from error


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a record file with any fingerprint; a truncated line is left out.

    Raises:
        InputError: a line is no JSON object.
        StoreError: the file cannot be read.
    """
    try:
        return _rows(path, _lines(path.read_bytes()))
    except OSError as error:
        raise StoreError(f"the records in {path} cannot be read: {error.strerror or error}") from error


def _lines(raw: bytes) -> list[str]:
    """Complete lines."""
    return raw.decode("ascii", "replace").split("\n")[:-1]


def _rows(path: Path, lines: Sequence[str]) -> list[dict[str, Any]]:
    """The rows below the header."""
    return [_object(line, f"{path}:{number}") for number, line in enumerate(lines[1:], start=2)]


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise InputError(f"{where} is no record; start anew with --fresh")
    return row


_BEGINNING = b'{"fingerprint": "'


def _check_ours(path: Path) -> None:
    """Raises ``InputError`` for a file of other contents, which is neither truncated nor replaced."""
    if not path.exists():
        return
    with path.open("rb") as file:
        begins = file.read(len(_BEGINNING))
    if not _BEGINNING.startswith(begins):  # a truncated header is only a part of it
        raise InputError(f"{path} holds no records but something else; name another place for them")


def _whole_lines(path: Path) -> list[str]:
    """Complete lines; an incomplete end is also removed from the file."""
    if not path.is_file():
        return []
    raw = path.read_bytes()
    whole = raw[: raw.rfind(b"\n") + 1]
    if len(whole) < len(raw):
        with path.open("r+b") as file:
            file.truncate(len(whole))
    return _lines(whole)


DEPTH = 20
"""Number of first ids of a ranking that are stored: the largest cut-off of the measures, which is BEAM's."""
_TELLS = frozenset({"figures", "pictures", "report", "scores", "statistics"})
"""Modules of this folder that process answers without changing them."""
_PACKAGES = ("agentic_rag", "agentic_rag_backends", "agentic_rag_lab", "agentic_rag_readers")
"""Packages whose files answers depend on."""
_ANSWERS = frozenset({".json", ".model", ".onnx", ".py"})
"""Files that determine the answers: code, coefficients, tokens, projection, model."""


@dataclass(frozen=True, slots=True)
class Record:
    """The answer of one system to one query; see ``systems.SystemOutput``."""

    system: str
    query: str
    ranking: tuple[str, ...]
    """Ids of the dataset's unit, best first, up to DEPTH."""
    milliseconds: float
    model_calls: int = 0
    confidence: float | None = None
    abstained: bool | None = None
    degraded: tuple[str, ...] = ()


class Records:
    """The answers of a run, by system and query.

    Args:
        path, fingerprint: of the file; see ``RecordFile`` and ``fingerprint``.
        fresh: ignore the stored answers. They stay in the file for runs with other questions, if they have this
            fingerprint; of a repeated question the last answer counts.

    Raises:
        InputError, StoreError: as ``RecordFile``; or a row is no record.
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
        self._kept_records = {} if fresh else kept

    def get(self, system: str, query: str) -> Record | None:
        """The stored answer of the system to the query."""
        return self._kept_records.get((system, query))

    def is_settled(self, system: str, query: str) -> bool:
        """Whether an answer is stored that no failure of a source or model affected."""
        record = self.get(system, query)
        return record is not None and not record.degraded

    def add(self, record: Record) -> None:
        """Store a record, also on disk."""
        self._journal.add(asdict(record))
        self._kept_records[record.system, record.query] = record


def fingerprint(dataset: EvalDataset, settings: Mapping[str, Any]) -> str:
    """Digest of everything that an answer depends on.

    It covers the documents, the questions, the settings, versions, and the package's code, models and coefficients,
    without modules that only report. The choice of systems and questions changes no answer and is left out.
    """
    said = json.dumps([dict(settings), versions()], sort_keys=True)
    return digest(*_content(dataset), said, code_digest(), size=8)


def versions() -> dict[str, str]:
    """Versions of this package and of the libraries that it searches with."""
    return {name: version(name) for name in ("agentic-rag", "graphiti-core", "lancedb", "langgraph")}


def file_name(dataset: str, mark: str) -> str:
    """``<dataset>-<fingerprint>.jsonl``, with characters replaced that a file name should not have."""
    plain = re.sub(r"[^\w.-]+", "_", dataset)
    return f"{plain[:80]}-{mark}.jsonl"


def _by_question(journal: RecordFile) -> dict[tuple[str, str], Record]:
    records = [
        _parse_record(row, f"{journal.path}:{number}") for number, row in enumerate(journal.rows, start=2)
    ]
    return {(record.system, record.query): record for record in records}


def _parse_record(record_json: Mapping[str, Any], where: str) -> Record:
    try:
        return Record(
            **{
                **record_json,
                "ranking": tuple(record_json["ranking"]),
                "degraded": tuple(record_json["degraded"]),
            }
        )
    except (TypeError, KeyError) as error:
        raise InputError(f"{where} is no record; start anew with --fresh") from error


def _content(dataset: EvalDataset) -> Iterator[str]:
    """The judgements, and digests of the questions and of each document."""
    yield dataset.unit
    yield dataset.kind
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
    """Digest of the files that an answer depends on, because the code changes between releases."""
    return digest(*(part for name, path in answering_files() for part in (name, digest_of_file(path))))


def answering_files() -> list[tuple[str, Path]]:
    """The package's files that an answer depends on, by relative path: code, models and coefficients."""
    root = Path(__file__).parents[2]
    files = sorted(
        path for package in _PACKAGES for path in (root / package).rglob("*") if path.suffix in _ANSWERS
    )
    named = [(path.relative_to(root), path) for path in files]
    return [
        (place.as_posix(), path)
        for place, path in named
        if place.parts[1] != "cli" and not (place.parts[1] == "evaluation" and place.stem in _TELLS)
    ]


def digest_of_file(path: Path) -> str:
    try:
        return blake2b(path.read_bytes(), digest_size=16).hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
