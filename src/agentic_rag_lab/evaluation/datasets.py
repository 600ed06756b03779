"""Evaluation, the questions: judged queries from a BEIR directory, a LoCoMo file or a BEAM conversation, with a
list of repairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from agentic_rag.domain.identity import chunk_id
from agentic_rag.domain.json_values import Json
from agentic_rag.errors import InputError
from agentic_rag.fusion.strategy_selector import parse_operation
from agentic_rag.ingest.files.readers import kinds
from agentic_rag_lab.evaluation.beam import Question, find_conversations, is_beam, load_conversation
from agentic_rag_lab.evaluation.files import read_json, read_jsonl, read_qrels, text_of
from agentic_rag_lab.evaluation.locomo import LoCoMoQuestion, Repair, read_corrections, read_locomo
from agentic_rag_lab.sources.beam import batch_id, batches

DESCRIPTION = "dataset.json"
DEFAULT_SPLIT = "test"
HALVES = ("first", "second")
_SPLITS = frozenset({"train", "dev", "test", "trial", "validation"})


@dataclass(frozen=True, slots=True)
class EvalQuery:
    """One judged question."""

    id: str
    """Unique in the dataset."""
    text: str
    relevant: Mapping[str, int]
    """From document or chunk id (``EvalDataset.unit``) to grade, relevant from 1; empty for an unanswerable query."""
    operation: str | None = None
    """Canvas operation of the query; None: the caller decides."""
    category: str | None = None
    dataset_key: str = ""
    """Its search space: a conversation, else the dataset's name."""
    answerable: bool = True
    """False: the right answer is that the documents do not contain it."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Other fields of the query in the file (``answers``, ``type``, …)."""


@dataclass(frozen=True, slots=True)
class EvalDataset:
    """Judged queries over one or several search spaces."""

    name: str
    queries: tuple[EvalQuery, ...]
    unit: Literal["document", "chunk"]
    """Unit of ``EvalQuery.relevant``."""
    source: Path
    """Path to ingest: the BEIR directory, the corpus named in its ``dataset.json``, or the conversations' file."""
    repairs: tuple[Repair, ...] = ()
    """Changes to invalid data of the file."""
    kind: str = "auto"
    """Kind of the source for the ingest."""
    questions: Path | None = None
    """File of the query texts; None if it is the source."""
    sessions: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    """For conversations, by ``dataset_key``: chunk ids of each session's turns, in order."""
    beam: Mapping[str, Question] = field(default_factory=dict)
    """For a BEAM conversation, by query id: the question with its kind and source sets."""

    @property
    def ranked_queries(self) -> tuple[EvalQuery, ...]:
        """The queries for ranking measures: answerable, with relevant items."""
        return tuple(query for query in self.queries if query.answerable and query.relevant)

    @property
    def unanswerable_queries(self) -> tuple[EvalQuery, ...]:
        """The unanswerable queries."""
        return tuple(query for query in self.queries if not query.answerable)

    def filters(self, query: EvalQuery) -> Json | None:
        """The filter of a search for the query; for conversations, restricted to its own."""
        return {"conversation": query.dataset_key} if self.sessions else None

    def select(self, *, half: str | None = None, limit: int | None = None) -> EvalDataset:
        """A part of the queries: one half, by a hash of the query's id, then the first ``limit`` of it.

        Raises:
            InputError: a half other than ``first`` or ``second``, or a limit below 1.
        """
        if limit is not None and limit < 1:
            raise InputError(f"limit is {limit!r}; give a whole number of at least 1")
        if half is not None and half not in HALVES:
            raise InputError(f"half is {half!r}; use one of: {', '.join(HALVES)}")
        queries = [query for query in self.queries if half is None or half_of(query.id) == half]
        return replace(self, queries=tuple(queries[:limit]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A selection of queries of a labelled set, and their operation."""

    operation: str | None = None
    """Operation of every query; None: the query's own, else ``document_retrieval``."""
    limit: int | None = None
    """Number of first queries, of the half if one is selected."""
    split: str | None = None
    """Split of a directory with ``qrels/<split>.tsv``; None: its ``qrels.tsv``, else ``test``."""
    half: str | None = None
    """``first`` or ``second``: settings tuned on one half are reported on the other."""
    corrections: Path | None = None
    """Correction file of a LoCoMo file."""
    control: bool = False
    """For a BEAM conversation: remove the words "always" and "never" from the messages."""

    def load(self, source: Path) -> tuple[EvalDataset, EvalDataset]:
        """The whole set, and the same with only the selected queries.

        Raises:
            InputError: as ``load_dataset`` and ``EvalDataset.select``; or an unknown operation.
        """
        if self.operation is not None:
            parse_operation(self.operation)
        whole = load_dataset(source, split=self.split, corrections=self.corrections, control=self.control)
        return whole, whole.select(half=self.half, limit=self.limit)


def half_of(query_id: str) -> str:
    """``first`` or ``second``: the half of a query, which depends on its id alone."""
    return HALVES[sha256(query_id.encode("utf-8", "surrogatepass")).digest()[-1] % 2]


def load_dataset(
    path: str | Path,
    *,
    split: str | None = None,
    corrections: str | Path | None = None,
    control: bool = False,
) -> EvalDataset:
    """The dataset at a path: ``chat.json``, or its folder, is BEAM, another directory BEIR, another ``.json`` file
    LoCoMo.

    Raises:
        InputError: the path is none of these, or invalid; or corrections or a control are given for other data.
    """
    place = Path(path)
    if is_beam(place) and not (place / "queries.jsonl").is_file():
        if corrections is not None:
            raise InputError("corrections are for LoCoMo files; a BEAM conversation has none")
        return load_beam(place, control=control)
    if control:
        raise InputError(f"the control is for BEAM conversations; {place} is none")
    if place.is_dir():
        if corrections is not None:
            raise InputError("corrections are for LoCoMo files; change the queries and qrels of a directory")
        return load_beir(place, split=split)
    if place.suffix.lower() == ".json":
        return load_locomo(place, corrections)
    raise InputError(f"{place} is neither a BEIR directory nor a LoCoMo .json file nor a BEAM conversation")


def load_beam(path: str | Path, *, control: bool = False) -> EvalDataset:
    """A BEAM conversation as published; relevant items are chunk ids of messages, ``100K/1/batch_2#58``.

    Args:
        path: the folder, or its ``chat.json``.
        control: remove the words "always" and "never" from the messages.

    Raises:
        InputError: a file is missing or broken, or the folder holds several conversations.
    """
    name, *others = folders = find_conversations(Path(path))
    if others:
        raise InputError(f"{path} holds {len(folders)} conversations; give one of them: {', '.join(folders)}")
    read = load_conversation(folders[name], control=control)
    chunks = {message.id: chunk_id(batch_id(name, message.batch), message.id) for message in read.messages}
    return EvalDataset(
        name=f"{name} without always and never" if control else name,
        queries=tuple(_beam_query(question, chunks) for question in read.questions),
        unit="chunk",
        source=read.chat_file,
        repairs=read.repairs,
        kind="beam-control" if control else "beam",
        questions=read.questions_file,
        sessions={name: tuple(tuple(chunks[m.id] for m in inner) for _, inner in batches(read.messages))},
        beam={question.id: question for question in read.questions},
    )


def _beam_query(question: Question, chunks: Mapping[str, str]) -> EvalQuery:
    return EvalQuery(
        id=question.id,
        text=question.text,
        relevant={chunks[source]: 1 for source in question.sources},
        category=question.kind,
        dataset_key=question.conversation,
        answerable=question.answerable,
        fields={} if question.answer is None else {"answer": question.answer},
    )


def load_locomo(path: str | Path, corrections: str | Path | None = None) -> EvalDataset:
    """A LoCoMo file as published. Each conversation is its own search space; relevant items are chunk ids.

    A relevant id is ``<conversation>/session_<n>#<dia_id>``. Adversarial questions are unanswerable and have nothing
    relevant, because their evidence is misleading.

    Args:
        path: the file.
        corrections: correction file, see ``locomo.read_corrections``.

    Raises:
        InputError: the file cannot be read or is no LoCoMo file, or a correction does not fit it.
    """
    place = Path(path)
    overlay = {} if corrections is None else read_corrections(Path(corrections))
    read = read_locomo(read_json(place), str(place), overlay)
    queries = tuple(_locomo_query(question) for question in read.questions)
    return EvalDataset(
        place.stem, queries, "chunk", place, read.repairs, kind="locomo", sessions=read.sessions
    )


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


def load_beir(directory: str | Path, *, split: str | None = None) -> EvalDataset:
    """A directory with ``corpus.jsonl``, ``queries.jsonl`` and ``qrels.tsv`` or ``qrels/<split>.tsv``.

    Without a split, ``qrels.tsv`` is read, else ``qrels/test.tsv``.

    Without ``corpus.jsonl`` a ``dataset.json`` describes the documents:
    ``{"name": …, "corpus": path relative to the directory, "kind": "vault", "unit": "document"}``; their
    ids are those of the ingest. Queries may have ``operation`` (validated), ``category``,
    ``answerable`` and any other field. A query without judgements is left out and reported, unless it has
    ``"answerable": false``; so is one without text. Grades below 1 mean irrelevant and are dropped.

    Raises:
        InputError: a file is missing or broken (path and line are named), or a query id comes twice.
        UnknownOperation: a query names an operation that does not exist.
    """
    place = Path(directory)
    described = _describe(place)
    qrels = read_qrels(_qrels_path(place, split))
    judged = qrels.grades
    repairs = [
        Repair(query, document, (str(grades[-1]),), f"judged {', '.join(map(str, grades))}: the last counts")
        for query, document, grades in qrels.disputed_judgements
    ]
    queries: dict[str, EvalQuery] = {}
    asked: set[str] = set()
    for where, record in read_jsonl(place / "queries.jsonl"):
        query = _beir_query(record, where, judged, described.name)
        if query.id in asked:
            raise InputError(f"{where}: query id {query.id!r} comes a second time")
        asked.add(query.id)
        if not query.text.strip():
            repairs.append(Repair(query.id, query.text, (), "no text: left out"))
        elif query.answerable and query.id not in judged:
            repairs.append(Repair(query.id, "", (), "no judgement: left out"))
        else:
            queries[query.id] = query
            if query.answerable and not query.relevant:
                repairs.append(Repair(query.id, "", (), "nothing relevant: left out of ranking measures"))
            elif not query.answerable and query.id in judged:
                repairs.append(Repair(query.id, "", (), "not answerable: its judgements are left out"))
    unasked = [query for query in judged if query not in asked]
    repairs += [Repair(query, "", (), "judged, but not among the queries") for query in unasked]
    if described.source == place:
        documents = {text_of(record, "_id", where) for where, record in read_jsonl(place / "corpus.jsonl")}
        repairs += absent(queries.values(), documents, "relevant, not in the corpus")
    return replace(described, queries=tuple(queries.values()), repairs=tuple(repairs))


def absent(queries: Iterable[EvalQuery], ingested_ids: set[str], note: str) -> list[Repair]:
    """A repair for each relevant id that was not ingested; it counts as not found."""
    return [
        Repair(query.id, relevant, (), note)
        for query in queries
        for relevant in query.relevant
        if relevant not in ingested_ids
    ]


def _describe(place: Path) -> EvalDataset:
    """The dataset without queries: name and corpus."""
    questions = place / "queries.jsonl"
    description = place / DESCRIPTION
    if (place / "corpus.jsonl").is_file() or not description.is_file():
        return EvalDataset(_name(place), (), "document", place, questions=questions)
    said = read_json(description)
    if not isinstance(said, Mapping):
        raise InputError(f"{description}: expected an object, not {said!r:.80}")
    where = str(description)
    name = text_of(said, "name", where) if "name" in said else _name(place)
    corpus = place / text_of(said, "corpus", where)
    kind, unit = said.get("kind", "auto"), said.get("unit", "document")
    if not corpus.exists():
        raise InputError(f"{where}: there is no corpus at {corpus}")
    if kind not in kinds():
        raise InputError(f"{where}: kind is {kind!r}; use one of: {', '.join(kinds())}")
    if unit not in ("document", "chunk"):
        raise InputError(f"{where}: unit is {unit!r}; use document or chunk")
    return EvalDataset(name, (), unit, corpus, kind=kind, questions=questions)


def _beir_query(
    record: Mapping[str, Any], where: str, judgements: Mapping[str, Mapping[str, int]], name: str
) -> EvalQuery:
    identity = text_of(record, "_id", where)
    operation, category = record.get("operation"), record.get("category")
    answerable = record.get("answerable", True)
    if not isinstance(answerable, bool):
        raise InputError(f"{where}: answerable is {answerable!r}; give true or false")
    grades = judgements.get(identity, {}) if answerable else {}
    taken = {"_id", "text", "operation", "category", "answerable"}
    return EvalQuery(
        id=identity,
        text=text_of(record, "text", where, empty=True),
        relevant={document: grade for document, grade in grades.items() if grade > 0},
        operation=None if operation is None else parse_operation(operation).value,
        category=None if category is None else str(category),
        dataset_key=name,
        answerable=answerable,
        fields={key: value for key, value in record.items() if key not in taken},
    )


def _qrels_path(place: Path, split: str | None) -> Path:
    of_split = place / "qrels" / f"{split or DEFAULT_SPLIT}.tsv"
    for path in (of_split,) if split else (place / "qrels.tsv", of_split):
        if path.is_file():
            return path
    there = sorted(path.stem for path in (place / "qrels").glob("*.tsv"))
    known = f"; it has the splits {', '.join(there)}, name one (--split)" if there else ""
    if split and not there and (place / "qrels.tsv").is_file():
        known = "; it has qrels.tsv, which has no splits: name none"
    raise InputError(f"{place} has {'no' if split else 'neither qrels.tsv nor'} qrels/{of_split.name}{known}")


def _name(place: Path) -> str:
    """Name of the directory; a directory named like a split is prefixed by its parent's name."""
    place = place.resolve()
    return f"{place.parent.name}-{place.name}" if place.name in _SPLITS else place.name
