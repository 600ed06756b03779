"""Answers to comparisons: what is said of each side, one beside the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.evidence import MAX_HEAD, Candidate
from agentic_rag.answering.forms.lines import (
    SLIGHT,
    ComposedAnswer,
    Line,
    is_title,
    line_of,
    statements,
    titled_text,
)
from agentic_rag.answering.term_levels import CLEAR
from agentic_rag.questions.question import Question
from agentic_rag.text import tokens

MAX_COMPARED, MAX_SHARED = 4, 6
"""Notes that are compared, and properties of each that are shown."""


def side_by_side(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The best unit of each of the things that are compared: of two notes that are named, else of two names."""
    if question.form != "compare":
        return None
    named = _of_named_notes(question, candidates)
    titles = {token for one in named for token in tokens(one.note.title)}
    if len(named) > 1 and all(term.is_generic or term.token in titles for term in question.terms):
        return _columns_of(named)
    chosen = named if len(named) > 1 else _of_subjects(question, candidates)
    chosen = chosen or _of_sections(question, candidates) or _of_names(question, candidates)
    if len(chosen) < 2:
        return None
    lines = (line_of(one.unit, one.note, titled_text(one)) for one in chosen)
    return ComposedAnswer(tuple(lines), tuple(chosen))


def _columns_of(named_candidates: Sequence[Candidate]) -> ComposedAnswer:
    """What notes are of which nothing in particular is asked: the properties in which they differ, else the first
    sentence of each."""
    properties = [
        {unit.key: unit for unit in one.note.reading.units if unit.kind == "property" and not unit.headings}
        for one in named_candidates
    ]
    shared = [key for key in properties[0] if all(key in own for own in properties)]
    differing = [key for key in shared if len({own[key].text for own in properties}) > 1]
    lines = []
    for one, own in zip(named_candidates, properties, strict=True):
        different = [own[key] for key in differing[:MAX_SHARED] if not is_title(own[key], one.note)]
        units = different or statements(one.note)[:1] or [one.unit]
        place = min(unit.start for unit in units), max(unit.end for unit in units)
        text = "; ".join(unit.display_text() for unit in units)
        lines.append(Line(f"{one.note.title}: {text}", one.note, *place, units[0].headings))
    return ComposedAnswer(tuple(lines), tuple(named_candidates))


def _of_named_notes(question: Question, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The best unit of each note whose title has words of the question that no other has; a title that is named whole
    before those that are named in part."""
    titles: dict[int, set[str]] = {}
    named_whole: set[int] = set()
    for one in candidates:
        words = set(tokens(one.note.title))
        named = {
            t.token
            for t in question.terms
            if t.token in words or (len(t.token) > 1 and t.token in one.note.title)
        }
        titles.setdefault(id(one.note), named)
        if named >= words:
            named_whole.add(id(one.note))
    chosen: list[Candidate] = []
    for one in sorted(candidates, key=lambda one: id(one.note) not in named_whole):
        own = titles[id(one.note)]
        others = set().union(*(titles[id(other.note)] for other in chosen))
        if own - others and all(other.note is not one.note for other in chosen):
            chosen.append(one)
    places = {term.token: term.start for term in question.terms}
    return sorted(
        chosen[:MAX_COMPARED],
        key=lambda one: min((places[token] for token in titles[id(one.note)]), default=len(question.text)),
    )


def _of_sections(question: Question, candidates: Sequence[Candidate]) -> list[Candidate]:
    """What the sections state first whose headings the question names, where two or more are and nothing is measured."""
    asked = {term.token for term in question.terms}
    sections: dict[frozenset[str], Candidate] = {}
    for one in candidates:
        words = frozenset(tokens(one.unit.headings[-1])) if len(one.unit.headings) > 1 else frozenset()
        if words and words <= asked and words not in sections:
            first = next(u for u in one.note.reading.units if u.headings == one.unit.headings)
            sections[words] = replace(one, unit=first)
    whole = [words for words in sections if not any(words < others for others in sections)]
    if len(whole) < 2 or question.measure:
        return []
    places = {term.token: term.start for term in question.terms}
    shared = frozenset.intersection(*whole)
    ordered = sorted(whole, key=lambda words: min(places[word] for word in words - shared))
    return [sections[words] for words in ordered[:MAX_COMPARED]]


def _compared_names(question: Question) -> list[str]:
    """The terms that name what is compared."""
    specific = [term for term in question.terms if not term.is_generic]
    return [term.token for term in specific if term.is_name] or [term.token for term in specific]


def _of_subjects(question: Question, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The units of the best one's note that begin with one of two names each and have no word of the other."""
    names = _compared_names(question)
    of_note = [one for one in candidates if one.note is candidates[0].note]
    chosen = [next((one for one in of_note if _speaks_first_of(one, name, names)), None) for name in names]
    return [one for one in chosen if one is not None] if len(names) == 2 and None not in chosen else []


def _of_names(question: Question, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The best units that together express the names of the question."""
    names = _compared_names(question)

    def level(one: Candidate, name: str) -> float:
        return max(one.own.get(name, 0.0), one.near.get(name, 0.0))

    # A unit that has a name in its letters goes before one that has something like it.
    least = {name: max(CLEAR, max(level(one, name) for one in candidates) - SLIGHT) for name in names}
    chosen: list[Candidate] = []
    covered: set[str] = set()
    for one in candidates:
        matched = {name for name in names if level(one, name) >= least[name]}
        if matched - covered:
            chosen.append(one)
            covered |= matched
        if len(chosen) == 2:
            break
    return sorted(chosen, key=lambda one: max(names, key=lambda name: one.own.get(name, 0.0)) != names[0])


def _speaks_first_of(one: Candidate, name: str, names: Sequence[str]) -> bool:
    """Whether a unit begins with one of the names, and has no other: "Accountability implies planning"."""
    others = [other for other in names if other != name]
    head = tokens(one.unit.own()[:MAX_HEAD])[:1]
    return head == (name,) and all(one.own.get(other, 0.0) < CLEAR for other in others)
