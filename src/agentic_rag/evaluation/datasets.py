"""Evaluation, the questions: judged queries from a BEIR directory or a LoCoMo file, with what was repaired."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agentic_rag.errors import InputError
from agentic_rag.evaluation.locomo import LoCoMoQuestion, Repair, read_locomo
from agentic_rag.fusion.strategy_selector import parse_operation

_SPLITS = frozenset({"train", "dev", "test", "trial", "validation"})


@dataclass(frozen=True, slots=True)
class EvalQuery:
    """One judged question."""

    id: str
    """Unique in the dataset."""
    text: str
    relevant: Mapping[str, int]
    """Document or chunk id (``EvalDataset.unit``) to grade, relevant from 1; empty where nothing answers it."""
    operation: str | None = None
    """Canvas operation the query asks for; None leaves it to the caller."""
    category: str | None = None
    dataset_key: str = ""
    """The search space it belongs to: a LoCoMo conversation, else the dataset's name."""
    answerable: bool = True
    """False: the right answer is that the documents do not say."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What else the file says of it (``answers``, ``type``, …)."""


@dataclass(frozen=True, slots=True)
class EvalDataset:
    """Judged queries over one or several search spaces."""

    name: str
    queries: tuple[EvalQuery, ...]
    unit: Literal["document", "chunk"]
    """What ``EvalQuery.relevant`` names."""
    source: Path
    """What to ingest: the BEIR directory or the LoCoMo file."""
    repairs: tuple[Repair, ...] = ()
    """Everything in the file that could not be taken as it stood."""

    @property
    def ranked_queries(self) -> tuple[EvalQuery, ...]:
        """The queries that ranking measures are taken over: answerable, with something relevant."""
        return tuple(query for query in self.queries if query.answerable and query.relevant)

    @property
    def dataset_keys(self) -> tuple[str, ...]:
        """The search spaces, in the order of their first query."""
        return tuple(dict.fromkeys(query.dataset_key for query in self.queries))


def load_dataset(path: str | Path, *, split: str = "test") -> EvalDataset:
    """The dataset at a path: a directory is BEIR, a ``.json`` file is LoCoMo."""
    place = Path(path)
    if place.is_dir():
        return load_beir(place, split=split)
    if place.suffix.lower() == ".json":
        return load_locomo(place)
    raise InputError(f"{place} is neither a BEIR directory nor a LoCoMo .json file")


def load_locomo(path: str | Path) -> EvalDataset:
    """A LoCoMo file as published. Each conversation is its own search space; relevant are chunk ids.

    A relevant id is ``<conversation>/session_<n>#<dia_id>``. Adversarial questions are not answerable
    and have nothing relevant: their evidence marks the trap.

    Raises:
        InputError: the file cannot be read or is no LoCoMo file.
    """
    place = Path(path)
    questions, repairs = read_locomo(_json(place), str(place))
    queries = tuple(_locomo_query(question) for question in questions)
    return EvalDataset(place.stem, queries, "chunk", place, repairs)


def _locomo_query(question: LoCoMoQuestion) -> EvalQuery:
    return EvalQuery(
        id=question.id,
        text=question.text,
        relevant=dict.fromkeys(question.evidence, 1) if question.answerable else {},
        category=question.category,
        dataset_key=question.conversation,
        answerable=question.answerable,
        fields={} if question.answer is None else {"answer": question.answer},
    )


def load_beir(directory: str | Path, *, split: str = "test") -> EvalDataset:
    """A directory with ``corpus.jsonl``, ``queries.jsonl`` and ``qrels.tsv`` (or ``qrels/<split>.tsv``).

    Queries may carry ``operation`` (checked), ``category``, ``answerable`` and any other field. A query
    that nobody judged is left out and reported, unless it says ``"answerable": false``; so is one with
    no text. Grades below 1 mean irrelevant and are dropped.

    Raises:
        InputError: a file is missing or broken (path and line are named), or a query id comes twice.
        UnknownOperation: a query names an operation that does not exist.
    """
    place = Path(directory)
    name = _name(place)
    documents = {_text(record, "_id", where) for where, record in _jsonl(place / "corpus.jsonl")}
    judged = _qrels(_qrels_path(place, split))
    repairs: list[Repair] = []
    queries: dict[str, EvalQuery] = {}
    for where, record in _jsonl(place / "queries.jsonl"):
        query = _beir_query(record, where, judged, name)
        if query.id in queries:
            raise InputError(f"{where}: query id {query.id!r} comes a second time")
        if not query.text.strip():
            repairs.append(Repair(query.id, query.text, (), "no text: left out"))
        elif query.id not in judged and query.answerable:
            repairs.append(Repair(query.id, "", (), "no judgement: left out"))
        else:
            queries[query.id] = query
            absent = [document for document in query.relevant if document not in documents]
            repairs += [Repair(query.id, entry, (entry,), "relevant, not in the corpus") for entry in absent]
    known = queries.keys() | {repair.query_id for repair in repairs}
    unasked = [query for query in judged if query not in known]
    repairs += [Repair(query, "", (), "judged, but not among the queries") for query in unasked]
    return EvalDataset(name, tuple(queries.values()), "document", place, tuple(repairs))


def _beir_query(
    record: Mapping[str, Any], where: str, judged: Mapping[str, Mapping[str, int]], name: str
) -> EvalQuery:
    identity = _text(record, "_id", where)
    operation, category = record.get("operation"), record.get("category")
    answerable = record.get("answerable", True)
    if not isinstance(answerable, bool):
        raise InputError(f"{where}: answerable is {answerable!r}; give true or false")
    relevant = {document: grade for document, grade in judged.get(identity, {}).items() if grade > 0}
    taken = {"_id", "text", "operation", "category", "answerable"}
    return EvalQuery(
        id=identity,
        text=_text(record, "text", where, empty=True),
        relevant=relevant,
        operation=None if operation is None else parse_operation(operation).value,
        category=None if category is None else str(category),
        dataset_key=name,
        answerable=answerable,
        fields={key: value for key, value in record.items() if key not in taken},
    )


def _qrels_path(place: Path, split: str) -> Path:
    for path in (place / "qrels.tsv", place / "qrels" / f"{split}.tsv"):
        if path.is_file():
            return path
    raise InputError(f"{place} has neither qrels.tsv nor qrels/{split}.tsv")


def _qrels(path: Path) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    for number, line in enumerate(_lines(path), start=1):
        cells = line.rstrip("\n").split("\t")
        if not line.strip() or (number == 1 and cells[-1].strip() == "score"):
            continue
        try:
            query, document, grade = cells
            judged.setdefault(query, {})[document] = int(grade)
        except ValueError:
            raise InputError(
                f"{path}:{number}: expected query-id, corpus-id, score between tabs: {line!r:.80}"
            ) from None
    return judged


def _jsonl(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each record with ``path:line``."""
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            record = json.loads(line)
        except ValueError as error:
            raise InputError(f"{where}: no JSON: {error}") from error
        if not isinstance(record, dict):
            raise InputError(f"{where}: expected an object, not {line!r:.80}")
        yield where, record


def _lines(path: Path) -> Iterator[str]:
    """Lines as ``\\n`` ends them: other separators may stand inside a text."""
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            yield from file
    except (OSError, UnicodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def _text(record: Mapping[str, Any], name: str, where: str, *, empty: bool = False) -> str:
    value = record.get(name)
    if not isinstance(value, str) or not (value or empty):
        raise InputError(
            f"{where}: {name} is {value!r:.80}; give a string" + ("" if empty else " that is not empty")
        )
    return value


def _name(place: Path) -> str:
    """Name of the directory; one that is called after a split is told apart by its parent's name."""
    place = place.resolve()
    return f"{place.parent.name}-{place.name}" if place.name in _SPLITS else place.name
