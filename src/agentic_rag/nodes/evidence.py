"""Reads the notes that were found or selected for the lines that answer: with the stores and the embedding model at hand, and
without either where they fail."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from agentic_rag.answering.answers import (
    PAGE,
    Evidence,
    PassageReading,
    from_days,
    from_reading,
    from_selection,
    read_passages,
)
from agentic_rag.answering.meaning import (
    unit_text,
    units_to_compare,
    with_nearness,
    with_ties_in_order,
)
from agentic_rag.domain import Chunk
from agentic_rag.domain.ports import Embedding, FloatArray
from agentic_rag.domain.results import Result
from agentic_rag.domain.selection import QueryValues, SelectionValues
from agentic_rag.errors import ModelError, StoreError
from agentic_rag.fusion.strategy_selector import NOTE_SOURCES
from agentic_rag.nodes.request import Request
from agentic_rag.questions.note_queries.query import is_span
from agentic_rag.questions.question import Question
from agentic_rag.questions.terms import DAYS, has_terms
from agentic_rag.retrieval.ports import VectorSearch
from agentic_rag.retrieval.term_likeness import TermLikeness
from agentic_rag.text.cache import TextCache

RESULTS_READ = 10
"""Results whose notes are read for units."""
NEAR = 0.05
"""Share of the best relevance from which a result is read: one near 0 is never quoted beside one near 1."""
KEY_RANGE = 0.05
"""Cosine above the median of all at which a property name is surely what is asked for."""
MAX_KEYS = 64
"""Names of properties that are compared with the question."""
MAX_COMPARED = 40
"""Passages of a note whose tokens are compared with the question's."""
Documents = Mapping[str, Sequence[Chunk]]
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class EvidenceReader:
    """Reads what answers one question."""

    request: Request
    question: Question
    results: Sequence[Result]
    """Best first, after the rerank."""
    relevance: Sequence[float]
    """Of each result, in [0, 1]."""
    engine: VectorSearch | None
    """Reads notes whole; None: the results' own passages are read."""
    embedding: Embedding | None
    """Compares lines and names of properties by meaning; None: they are compared by their words."""
    unit_vectors: TextCache[FloatArray] | None = None
    """Of lines by their text, all by ``embedding``; None: each is made anew. A follow-up question is about the same notes."""

    async def of_selection(self, selection: SelectionValues | None) -> Evidence | None:
        """The answer to a question about many notes; None where it is none.

        A fact of a year stands in notes of other days as well ("the price rose to 70 in 2024"): where the passages say all
        that is asked, they answer. So they do where the query leaves out a word that nothing it selects says ("my parts in
        BIO214"), and so does the definition of a word that names a kind of notes too ("what are bonds?").

        Args:
            selection: what ``select_notes`` wrote.
        """
        selection = selection or {}
        if selection.get("status") not in ("ok", "none"):
            return None
        stated: Evidence | None = None
        if selection["status"] == "none":
            # Of a number that is a limit the passages' own values are compared.
            if self.question.limit is not None or _may_stand_elsewhere(selection["query"]):
                stated = await self.of_passages()
                if stated.lines and stated.is_full:
                    return stated
            nearest = f"; nearest: {selection['nearest']}" if selection["nearest"] else ""
            return Evidence(reason=f"no note fits {selection['reading']}{nearest}")
        of_span = is_span(selection["query"])
        is_fact = of_span and _asks_for_fact_of_year(self.question)
        asks_more = is_fact or (not of_span and _leaves_out_terms(self.question, selection))
        if asks_more or (self.question.form == "definition" and selection["query"]["ask"] == "list"):
            stated = await self.of_passages()
            if stated.lines and (stated.is_full if asks_more else stated.is_definition):
                return stated
        ids = list(dict.fromkeys(entry["document_id"] for entry in selection["entries"]))[:PAGE]
        documents = await self._documents(ids)
        # The selection is of the days already: no line of its notes has to name them.
        question = self.request.read()
        if of_span:
            likeness = await self._likeness(question, documents)
            of_days = await asyncio.to_thread(from_days, question, selection, documents, likeness)
            # The days may stand in the text, a row of June, or in a title, and not be the day of a note.
            if not of_days.lines:
                stated = stated or await self.of_passages()
                if stated.lines and stated.lacks_nothing:
                    return stated
            return of_days
        return await asyncio.to_thread(from_selection, question, selection, documents)

    async def of_passages(self) -> Evidence:
        """The answer from the units of the notes of the first ``RESULTS_READ`` results."""
        results, relevance = self.results[:RESULTS_READ], self.relevance[:RESULTS_READ]
        # Of a log in several notes each part counts, however near it is.
        least = 0.0 if self.question.computation is not None else NEAR * max(relevance, default=0.0)
        near = [n for n, known in enumerate(relevance) if known >= least]
        results, relevance = [results[n] for n in near], [relevance[n] for n in near]
        ids = {
            result["metadata"].get("document_id")
            for result in results
            if not NOTE_SOURCES.isdisjoint(result["sources"])
        }
        documents = await self._documents(sorted(str(one) for one in ids if one is not None))
        likeness = await self._likeness(self.question, documents)
        keys = await self._keys(documents)
        reading = await asyncio.to_thread(
            read_passages, self.question, results, relevance, documents, likeness, keys
        )
        return await asyncio.to_thread(from_reading, await self._by_meaning(reading))

    async def _by_meaning(self, reading: PassageReading) -> PassageReading:
        """The reading with the units by what they mean, where none says all that is asked, or several do."""
        if self.embedding is None:
            return reading
        is_open = reading.is_open
        texts = [
            unit_text(one) for one in (units_to_compare(reading.candidates) if is_open else reading.ties)
        ]
        if len(texts) < 2:
            alone = with_nearness(reading.candidates, np.ones(1, np.float32))
            return replace(reading, candidates=alone) if is_open else reading
        try:
            vectors, question = await asyncio.gather(
                self._vectors(texts, self.embedding),
                self.embedding.embed_queries([reading.question.text]),
            )
        except ModelError as error:
            logger.warning("units are compared by their words alone: %s", error)
            return reading
        arrange = with_nearness if is_open else with_ties_in_order
        return replace(reading, candidates=arrange(reading.candidates, np.array(vectors) @ question[0]))

    async def _vectors(self, texts: list[str], embedding: Embedding) -> Sequence[FloatArray]:
        if self.unit_vectors is None:
            return list(await embedding.embed_passages(texts))
        return await self.unit_vectors.of(texts, embedding.embed_passages)

    async def _keys(self, documents: Documents) -> dict[str, float]:
        """How likely each property name of the notes is what is asked for, in [0, 1]: its cosine with the question above the
        median of all, in units of KEY_RANGE."""
        names = sorted({str(key) for its in documents.values() for key in its[0].metadata})[:MAX_KEYS]
        if self.embedding is None or len(names) < 2:
            return {}
        try:
            vectors = await self.embedding.embed_queries([self.question.text, *names])
        except ModelError as error:
            logger.warning("properties are compared by their letters alone: %s", error)
            return {}
        cosines = vectors[1:] @ vectors[0]
        above = ((cosines - np.median(cosines)) / KEY_RANGE).clip(0.0, 1.0)
        return dict(zip(names, map(float, above), strict=True))

    async def _likeness(self, question: Question, documents: Documents) -> TermLikeness | None:
        """Of the question's words with the first MAX_COMPARED passages of each note."""
        chunks = [chunk for its in documents.values() for chunk in its[:MAX_COMPARED]]
        if self.engine is None or not chunks:
            return None
        try:
            return await self.engine.likeness(self.request.dataset, question.text, chunks)
        except (StoreError, ModelError) as error:
            logger.warning("units are compared by their letters alone: %s", error)
            return None

    async def _documents(self, ids: Sequence[str]) -> Documents:
        """All chunks of the notes, by id of the document."""
        if self.engine is None or not ids:
            return {}
        try:
            return await self.engine.documents(self.request.dataset, ids)
        except StoreError as error:
            logger.warning("notes cannot be read whole, so their passages alone are quoted: %s", error)
            return {}


def _leaves_out_terms(question: Question, selection: SelectionValues) -> bool:
    """Whether a list of notes or entries leaves out a specific term of the question, which none of them says either."""
    query, entries = selection["query"], selection["entries"]
    left = [
        term.token
        for term in question.terms
        if not term.is_generic
        and any(start < term.end and term.start < end for start, end in query["residual"])
    ]
    if query["ask"] != "list" or not left:
        return False
    shown = " ".join(f"{one['title']} {one['text']} {' '.join(one['headings'])}" for one in entries)
    return not has_terms(shown, left)


def _may_stand_elsewhere(query: QueryValues) -> bool:
    """Whether a query selects by words alone, or by a column that has no such value: that nothing has them there does not say
    that nothing answers."""
    conditions = json.dumps([query["filters"], query["entry_filters"]])
    operators = set(re.findall(r'"(\$\w+)"', conditions))
    return '"$in": []' in conditions or ("$contains" in operators and operators <= {"$and", "$contains"})


YEAR_DAYS = 300
"""Days from which a span is about as long as a year."""


def _asks_for_fact_of_year(question: Question) -> bool:
    """Whether one thing is asked for, of a year or a longer time."""
    if question.days is None or question.days.start is None or question.days.end is None:
        return False
    is_long = (question.days.end - question.days.start).days >= YEAR_DAYS
    has_subject = any(not term.is_generic and term.token != DAYS for term in question.terms)
    return is_long and has_subject and question.asks_one
