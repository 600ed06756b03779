"""From results and a selection to the lines of an answer, or to the reason why the notes do not have it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import takewhile

from agentic_rag.answering.composing import compose_answer, of_notes, says_all, that_can_answer
from agentic_rag.answering.evidence import Candidate, is_question, score_units, support
from agentic_rag.answering.forms.limits import has_value_within
from agentic_rag.answering.forms.lines import (
    AGGREGATES,
    NEAR_TIE,
    ComposedAnswer,
    Line,
    count_text,
    heading,
    more_text,
)
from agentic_rag.answering.forms.totals import lacks_measure
from agentic_rag.answering.meaning import units_to_compare
from agentic_rag.answering.overviews import overview_lines
from agentic_rag.answering.owners import of_asker
from agentic_rag.answering.source_notes import SourceNote, note_of_chunks, source_notes, vocabulary_of
from agentic_rag.answering.value_kinds import PEOPLE, STRICT, fits, speaks_of_people, states_time
from agentic_rag.domain import Chunk
from agentic_rag.domain.results import AnswerLine, Passage
from agentic_rag.domain.selection import EntryValues, SelectionValues
from agentic_rag.questions.forms import POSSESSIVE, head_noun
from agentic_rag.questions.note_queries.aggregates import aggregate_text
from agentic_rag.questions.question import Question
from agentic_rag.questions.terms import Term
from agentic_rag.retrieval.term_likeness import TermLikeness
from agentic_rag.text import fold, starts_cjk, tokens

PAGE = 30
"""Entries of a selection that are shown; what is beyond is counted."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What supports an answer."""

    lines: tuple[AnswerLine, ...] = ()
    """Lines of the answer in order; a line without ``document_id`` is a heading and is not cited."""
    reason: str | None = None
    """Why there are none."""
    nearest: tuple[AnswerLine, ...] = ()
    """The first lines, or those that come nearest where there are none to answer."""
    support: Mapping[str, float] = field(default_factory=dict)
    """How far the lines express each specific term of the question, in [0, 1]."""
    is_definition: bool = False
    """Whether the lines are the unit that defines what the question asks for."""
    is_of_another: bool = False
    """Whether units were left out that say of somebody else what is asked of the asker."""

    @property
    def is_full(self) -> bool:
        """Whether the lines express every specific term."""
        return bool(self.support) and min(self.support.values()) >= FULL

    @property
    def lacks_nothing(self) -> bool:
        """Whether the lines express every specific term at least in part."""
        return bool(self.support) and min(self.support.values()) > MISSING


@dataclass(frozen=True, slots=True)
class PassageReading:
    """A question beside the units of the notes that were found for it."""

    question: Question
    """In the words of the notes."""
    candidates: Sequence[Candidate]
    """Those that can answer, best first."""
    titles: Set[str]
    """The terms of the question that are the whole title of a note."""
    is_of_another: bool
    """See ``Evidence``."""

    @property
    def is_open(self) -> bool:
        """Whether no unit says all that is asked in its words."""
        return bool(self.candidates) and not says_all(self.question, self.candidates[0])

    @property
    def ties(self) -> Sequence[Candidate]:
        """The first units, where several say all that is asked, about as clearly; none where several things are asked for."""
        if self.is_open or self.question.form in ("list", "compare"):
            return ()
        near = units_to_compare(self.candidates, within=NEAR_TIE)
        return list(takewhile(lambda one: says_all(self.question, one), near))


def read_passages(
    question: Question,
    results: Sequence[Passage],
    relevance: Sequence[float],
    documents: Mapping[str, Sequence[Chunk]],
    likeness: TermLikeness | None = None,
    keys: Mapping[str, float] | None = None,
) -> PassageReading:
    """The units of the results' notes, scored for the question."""
    notes = source_notes(results, relevance, documents)
    question = _in_words(question, notes, likeness)
    scored = score_units(question, notes, likeness, keys)
    own = of_asker(question.text, scored)
    return PassageReading(
        question, that_can_answer(question, own), _titles(question, notes), len(own) < len(scored)
    )


def from_reading(reading: PassageReading) -> Evidence:
    """The lines that answer from the units."""
    answer = compose_answer(reading.question, reading.candidates)
    evidence = _with_support(reading.question, answer, reading.titles)
    return replace(evidence, is_of_another=reading.is_of_another)


def _titles(question: Question, notes: Sequence[SourceNote]) -> Set[str]:
    asked = {term.token for term in question.terms}
    titles = (frozenset(tokens(title)) for title in {note.title for note in notes})
    return frozenset().union(*(title for title in titles if title and title <= asked))


def _in_words(question: Question, notes: Sequence[SourceNote], likeness: TermLikeness | None) -> Question:
    """The question with its Chinese terms, if it has any, as words of the notes or of the embedding model."""
    if likeness is None or not any(starts_cjk(term.token) for term in question.terms):
        return question
    return question.in_words(likeness.spans, vocabulary_of(notes))


FULL = 0.5
"""Level from which a term of the question is expressed."""
MISSING = 0.15
"""Level up to which a term of the question is not expressed."""
MIN_NAMING = 0.3
"""Level below which what a number is asked of is not named: another number beside the same name is no answer."""
MAX_MISSING = 0.6
"""Share of the question's terms, by weight, from which an answer that lacks them is none: people half remember the words."""
OF_VALUE = 0.5
"""The same where a number, day or person is asked for, of something else it is wrong; not where a question goes on from an
answer, which says of what."""
OF_MANY = 0.3
"""The same where several things are asked for: a list without what tells them apart is none."""
NEAREST = 3
"""Lines that are shown where there is no answer."""
UNCLEAR = 0.45
"""``MISSING`` where steps are asked for: those of a dish that is like it are none."""
CONTEXT = 0.5
"""Weight of a term that only says what the question is about, and not what it asks of it."""


def _with_support(question: Question, answer: ComposedAnswer, titles: Set[str] = frozenset()) -> Evidence:
    """The answer, unless it lacks a name of the question, or much of what it asks.

    Args:
        question: in the words of the notes.
        answer: as it was composed.
        titles: terms that are the title of a note; nothing that is only like it stands for it.
    """
    # A question states nothing, whomever it names.
    statements = [one for one in answer.basis if not is_question(one.unit)] or answer.basis
    levels = support(question, _with_value(question, statements))
    lines = tuple(line.to_dict() for line in answer.lines)
    if answer.is_whole:
        levels = dict.fromkeys(levels, 1.0)
    floor = UNCLEAR if question.form == "howto" else MISSING
    empty = _empty_properties(question, answer.basis) | _of_another(question, answer.basis)
    missing = [
        t
        for t in question.terms
        if levels.get(t.token, 1.0) <= (FULL if t.token in titles else floor) or t.token in empty
    ]
    weights = _weights(question, answer.basis)
    is_unfit = bool(question.wants) and not any(fits(question, one.unit) for one in answer.basis)
    lacking = sum(weights.get(term.token, 1.0) for term in missing)
    is_nameless = question.form != "yesno" and any(term.is_name for term in missing)
    if question.wants:  # of another thing of the same owner the value is wrong
        is_nameless |= any(own == term.token for _, own in question.possessions() for term in missing)
    needs_value = question.wants and not question.answer_before
    share = OF_MANY if question.form == "list" else OF_VALUE if needs_value else MAX_MISSING
    allowed = share * sum(weights.values())
    counted = question.amount_names
    reason: str | None = None
    if missing and (empty or is_nameless or is_unfit or lacking >= allowed):
        words = ", ".join(question.text[term.start : term.end] for term in missing)
        reason = f"the notes that are nearest do not speak of: {words}"
    elif counted and all(levels[name] < MIN_NAMING for name in counted):
        reason = f"the notes that are nearest state no number of: {', '.join(sorted(counted))}"
    elif (
        (is_unfit and not STRICT.isdisjoint(question.wants))
        or _is_timeless(question, answer.basis)
        or _lacks_amount(question, answer.basis)
    ):
        reason = "the notes that are nearest state no such value"
    head, tail = ([heading(text)] if text else [] for text in (answer.head, answer.tail))
    return Evidence(
        (*head, *lines, *tail) if reason is None else (),
        reason=reason,
        nearest=lines[:NEAREST],
        support=levels,
        is_definition=answer.is_definition,
    )


_ASKS_WHEN = re.compile(r"\bwhen\b|\bwann\b|什么时候|何时|哪[一几]?[天年月日]|几[号月]", re.IGNORECASE)
"""Asks for a time, and does not only name a day."""


def _is_timeless(question: Question, basis: Sequence[Candidate]) -> bool:
    """Whether it is asked when something is, and no unit that speaks of it, or its note by its date, names a time or
    says upon what it depends."""
    if question.wants != {"date"} or not _ASKS_WHEN.search(question.text):
        return False  # "what could I give her for her birthday?"
    speaking = [
        one for one in basis if all(one.level(t) > MISSING for t in question.specific_tokens)
    ] or basis
    return not any(one.note.date is not None or states_time(question, one.unit) for one in speaking)


def _with_value(question: Question, basis: Sequence[Candidate]) -> Sequence[Candidate]:
    """The units that hold a value without which nothing answers, and those that lead to one in its paragraph; all where there
    is none."""
    if STRICT.isdisjoint(question.wants):
        return basis
    ends: dict[tuple[int, int], int] = {}
    for one in basis:
        if fits(question, one.unit):
            place = id(one.note), one.unit.block
            ends[place] = max(ends.get(place, 0), one.unit.end)
    leading = [one for one in basis if one.unit.end <= ends.get((id(one.note), one.unit.block), -1)]
    return leading or basis


def _lacks_amount(question: Question, basis: Sequence[Candidate]) -> bool:
    """Whether no unit has a value within the limit of the question, or none the measure that it asks for."""
    units = [one.unit for one in basis]
    limit = question.limit
    if question.asks_how_much and not any(fits(question, unit) for unit in units):
        return True
    if question.count_noun in PEOPLE and not any(speaks_of_people(question, unit) for unit in units):
        return True
    is_beyond = limit is not None and not any(has_value_within(limit, unit) for unit in units)
    return is_beyond or lacks_measure(question, units)


def _empty_properties(question: Question, basis: Sequence[Candidate]) -> set[str]:
    """Terms that name a property which the note of the answer has without a value, and no unit states by that word."""
    if not basis:
        return set()
    best = basis[0]
    names = {name.casefold() for name in best.note.reading.empty}
    stems = {part for name in names for part in (*tokens(name), name)}
    lexical = {term for one in basis for term, level in one.own.items() if level == 1.0}
    return {term.token for term in question.terms if term.token in stems and term.token not in lexical}


def _of_another(question: Question, basis: Sequence[Candidate]) -> set[str]:
    """Terms that name whose property is asked for, "Ann's birthday", where it is a property of a note that only mentions
    them."""
    if not basis or basis[0].unit.kind != "property":
        return set()
    best = basis[0]
    called = {*tokens(f"{best.note.title} {best.note.path}"), *best.own, *best.near}
    if not question.wants.isdisjoint(("phone", "email")):  # a note has those of the person whom it names
        called |= {word for name in best.note.names for word in tokens(name)}
    owners = (t for t in question.terms if t.is_name and POSSESSIVE.search(question.text, t.start, t.end + 2))
    return {term.token for term in owners if term.token not in called}


def _weights(question: Question, basis: Sequence[Candidate]) -> dict[str, float]:
    """How much of the question each specific term is; the words of one name are one together, and what kind of things is
    listed says little of which they are."""
    kind = head_noun(fold(question.text)) if question.form == "list" else None
    weights = {
        t.token: CONTEXT if _is_context(t, basis) or (kind and kind.start <= t.start < kind.end) else 1.0
        for t in question.terms
        if not t.is_generic
    }
    for name in question.names():
        weights |= {token: weights[token] / len(name) for token in name if token in weights}
    return weights


def _is_context(term: Term, basis: Sequence[Candidate]) -> bool:
    """Whether a term stands above the units, and not in them."""
    return any(max(one.above.get(term.token, 0.0), one.near.get(term.token, 0.0)) >= 0.5 for one in basis)


def from_selection(
    question: Question, selection: SelectionValues, documents: Mapping[str, Sequence[Chunk]]
) -> Evidence:
    """The selected notes or entries, counted, each with its value.

    Args:
        question: as it was read.
        selection: as ``select_notes`` wrote it.
        documents: all chunks of the notes of the first ``PAGE`` entries.
    """
    is_chinese = question.is_chinese
    entries = selection["entries"]
    query = selection["query"]
    reading = selection["reading"]
    if query["ask"] == "overview":
        return Evidence(overview_lines(selection, documents, is_chinese=is_chinese))
    head = f"{'理解为' if is_chinese else 'Read as'}: {reading}"
    if query["ask"] == "names":
        count = f"共 {len(entries)} 个:" if is_chinese else f"{len(entries)}:"
    elif query["ask"] == "extreme":
        best = entries[0]["value"]
        entries = [entry for entry in entries if entry["value"] == best]
        count = None
    elif (query["ask"] == "average" or query["ask"] == "sum") and query["order"] is not None:
        result = aggregate_text(query["ask"], [entry["value"] for entry in entries])
        name = AGGREGATES[query["ask"]][is_chinese]
        count = f"{query['order'][0]} {name}: {result} ({count_text(len(entries), 'notes', is_chinese=is_chinese)[:-1]})"
    else:
        count = count_text(len(entries), query["target"], is_chinese=is_chinese)
    lines = [heading(head), *([heading(count)] if count else [])]
    lines += [line for entry in entries[:PAGE] if (line := _entry(entry, documents)) is not None]
    if len(entries) > PAGE:
        lines.append(heading(more_text(len(entries) - PAGE, is_chinese=is_chinese)))
    return Evidence(tuple(lines))


def _entry(entry: EntryValues, documents: Mapping[str, Sequence[Chunk]]) -> AnswerLine | None:
    chunks = documents.get(entry["document_id"], ())
    text = f"- {entry['text']}"
    if not chunks:
        return heading(text)
    note = note_of_chunks(chunks)
    start, end = entry["start"], entry["end"]
    if start is None or end is None:
        first = chunks[0].text
        start = chunks[0].start + len(first) - len(first.lstrip())
        end = chunks[0].start + len(first.split("\n\n")[0].rstrip())
    return Line(text, note, start, max(start, end), tuple(entry["headings"])).to_dict()


def from_days(
    question: Question,
    selection: SelectionValues,
    documents: Mapping[str, Sequence[Chunk]],
    likeness: TermLikeness | None = None,
) -> Evidence:
    """What the notes of a day or span say of the rest of the question."""
    ids = list(dict.fromkeys(entry["document_id"] for entry in selection["entries"]))
    named = [entry["document_id"] for entry in selection["entries"] if entry.get("named")]
    ids = [one for one in ids if one in named] or ids
    notes = [
        replace(note_of_chunks(documents[one]), order=order)
        for order, one in enumerate(ids)
        if documents.get(one)
    ]
    places = [(start, end) for start, end in selection["query"]["residual"]]
    left = tuple(cut for t in question.terms if (cut := _after_date(t, places)) is not None)
    rest = replace(question, terms=left)
    rest = _in_words(rest, notes, likeness)
    if all(term.is_generic for term in rest.terms):
        return Evidence(tuple(line.to_dict() for line in of_notes(notes).lines))
    scored = [
        one
        for one in score_units(rest, notes, likeness)
        if max([0.0, *one.own.values(), *one.near.values()]) > MISSING
    ]
    candidates = that_can_answer(rest, scored)
    answer = Evidence()
    if len(notes) <= FEW_DAYS or rest.asks_one:
        answer = _with_support(rest, compose_answer(rest, candidates))
    if len(notes) > FEW_DAYS and not answer.lines:
        answer = _with_support(rest, of_notes(notes, candidates))
    if answer.lines:
        return answer
    words = " ".join(question.text[a:b] for a, b in places)
    return Evidence(reason=f"no note of that time says anything about: {words}", support=answer.support)


def _after_date(term: Term, places: Sequence[tuple[int, int]]) -> Term | None:
    """The term, without the end of a date that a run of Chinese begins with; None where it is no part of the rest."""
    inside = [(a, b) for a, b in places if a < term.end and term.start < b]
    if not inside:
        return None
    start = max(term.start, inside[0][0]) if starts_cjk(term.token) else term.start
    return term if start == term.start else replace(term, token=term.token[start - term.start :], start=start)


FEW_DAYS = 2
"""Notes up to which a span is answered as one; more are answered a line each."""
