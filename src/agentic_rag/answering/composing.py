"""Makes the answer from scored units: one that is to the point, or the list, steps or section that is asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.evidence import Candidate
from agentic_rag.answering.forms.comparisons import side_by_side
from agentic_rag.answering.forms.definitions import definition
from agentic_rag.answering.forms.limits import within_limit
from agentic_rag.answering.forms.lines import (
    MAX_LINES,
    NEAR,
    NEAR_TIE,
    SLIGHT,
    TAGS,
    ComposedAnswer,
    Line,
    block_of,
    clear_terms,
    entry_text,
    introduced_text,
    is_title,
    line_of,
    more_text,
    statements,
    titled_text,
    with_led,
)
from agentic_rag.answering.forms.lists import (
    below_lead,
    matching_rows,
    named_note,
    of_count,
    subheadings,
    tasks_in_state,
    under_heading,
    whole_list,
    whole_paragraph,
)
from agentic_rag.answering.forms.steps import steps
from agentic_rag.answering.forms.totals import totals
from agentic_rag.answering.meaning import by_total
from agentic_rag.answering.source_notes import SourceNote
from agentic_rag.answering.term_levels import CLEAR
from agentic_rag.answering.value_kinds import (
    STRICT,
    fits,
    has_measure_asked,
    is_listed_reason,
    states_count,
    states_measure,
    states_reason,
)
from agentic_rag.dates.months import day_text
from agentic_rag.notes.units import COLONS, LIST_KINDS, RECORD_KEYS, Unit, leads
from agentic_rag.questions.forms import asks_many
from agentic_rag.questions.question import Question
from agentic_rag.text import fold, starts_cjk

FORMS = (
    totals,
    within_limit,
    tasks_in_state,
    steps,
    side_by_side,
    definition,
    of_count,
    matching_rows,
    below_lead,
    whole_list,
    subheadings,
    named_note,
    under_heading,
    whole_paragraph,
)
"""In the order in which they are tried; each gives None where it is not the form that is asked for."""
OF_NOTE = (named_note, under_heading)
"""What a note or section says first: not where it is known which of its lines mean what is asked."""
FIRST_UNITS = 40
"""Candidates whose notes' headings are compared with the question."""
MAX_UNITS = 3
PROSE = 6
"""Sentences that are quoted of documents without markup: one rarely says all, and several documents may differ."""
SHORT = 3
"""Words up to which a sentence is shown with the ones beside it: it says nothing alone."""
_SPEAKS_OF = re.compile(r"\b(?:it|they|this|these|he|she|es|sie|dies\w*)\b|[它他她这其]", re.IGNORECASE)
"""Words that point to what the sentence before names."""
_WORD = re.compile(r"[\u4e00-\u9fff]{1,2}|[^\s\u4e00-\u9fff]*[^\W\u4e00-\u9fff][^\s\u4e00-\u9fff]*")
"""A word; of Chinese two characters."""


def compose_answer(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer:
    """The answer in the form that the question asks for; nothing where there is no unit.

    Args:
        question: as it was read.
        candidates: those that can answer, best first.
    """
    if not candidates:
        return ComposedAnswer()
    if candidates[0].note.is_prose:
        near = [one for one in by_total(candidates) if one.note.is_prose][:PROSE]
        lines = (line_of(one.unit, one.note, _with_author(one.unit, one.note)) for one in near)
        return ComposedAnswer(tuple(lines), tuple(near))
    if question.form == "howto":
        candidates = by_total(candidates)
    is_compared = any(one.nearness for one in candidates) and not candidates[0].expresses(
        question.specific_tokens
    )
    for form in FORMS:
        if is_compared and form in OF_NOTE:
            continue
        answer = form(question, candidates)
        if answer is not None:
            return _of_readable_length(question, answer)
    return _best_units(question, candidates)


def _of_readable_length(question: Question, answer: ComposedAnswer) -> ComposedAnswer:
    """The first MAX_LINES lines of an answer, and how many there are beyond."""
    beyond = len(answer.lines) - MAX_LINES
    if beyond <= 0:
        return answer
    tail = more_text(beyond, is_chinese=question.is_chinese)
    return replace(answer, lines=answer.lines[:MAX_LINES], tail=tail)


def that_can_answer(question: Question, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates without titles and labels, which only stand over what answers, and without what files a note or is another
    note's.

    Args:
        question: as it was read.
        candidates: best first.
    """
    if not candidates or candidates[0].note.is_prose:
        return candidates
    asked = fold(question.text).casefold()
    candidates = [
        one for one in candidates if not is_title(one.unit, one.note) or str(one.unit.key).casefold() in asked
    ] or candidates
    candidates = _without_labels(question, _without_records(question, candidates))
    candidates = _of_named_rows(question, _of_named(question, candidates))
    return _of_named_sections(question, candidates)


def _of_named(question: Question, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates without the named values of other notes, where the question names one by its whole title."""
    asked = fold(question.text).casefold()
    notes = {id(one.note): one.note for one in candidates}
    titles = {key: fold(note.title).casefold() for key, note in notes.items()}
    named = {
        note
        for note, title in titles.items()
        if title in asked and re.search(rf"(?<!\w){re.escape(title)}(?!\w)", asked)
    }
    if not named:
        return candidates
    return [
        one
        for one in candidates
        if id(one.note) in named
        or one.unit.key is None
        or any(titles[note] in one.unit.display_text().casefold() for note in named)
    ]


def _is_named(question_text: str, name: str) -> bool:
    """Whether a question, folded and in lower case, has a name whole."""
    name = fold(name).casefold()
    if name not in question_text or not any(map(str.isalpha, name)):
        return False
    return starts_cjk(name) or re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question_text) is not None


def _of_named_rows(question: Question, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates without the rows that name nothing of the question, where it names one by its whole first cell: where
    that lacks the value, another's is wrong."""
    asked = fold(question.text).casefold()
    rows = [one.unit for one in candidates if one.unit.kind == "row"]
    if not question.wants or not any(_is_named(asked, row.text) for row in rows):
        return candidates
    return [
        one
        for one in candidates
        if one.unit.kind != "row" or any(_is_named(asked, cell) for _, cell in one.unit.columns)
    ]


_REMARK = re.compile(r"\s*[（(][^（()）]*[)）]")
"""What a heading says in brackets beside its name."""


def _of_named_sections(question: Question, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates without the sections beside the only one that the question names by its whole heading: what mother takes
    is not what father does."""
    asked = fold(question.text).casefold()
    named: dict[tuple[int, tuple[str, ...]], set[str]] = {}
    for note in {id(one.note): one.note for one in candidates[:FIRST_UNITS]}.values():
        for path in note.reading.headings:
            if len(path) > 1 and _is_named(asked, _REMARK.sub("", path[-1])):
                named.setdefault((id(note), path[:-1]), set()).add(path[-1])

    def is_beside(one: Candidate) -> bool:
        path = one.unit.headings
        return any(
            path[depth] not in named.get((id(one.note), path[:depth]), {path[depth]})
            for depth in range(1, len(path))
        )

    named = {place: headings for place, headings in named.items() if len(headings) == 1}
    return [one for one in candidates if not is_beside(one)] if named else candidates


def _with_author(unit: Unit, note: SourceNote) -> str:
    """The unit's words, of a message that has a time with who wrote it and when: each sentence of it is quoted alone."""
    chunk = note.chunk_at(unit.start)
    if chunk is None or chunk.date is None or not {"speaker", "time"} <= chunk.metadata.keys():
        return unit.display_text()
    speaker = chunk.metadata["speaker"]
    text = unit.display_text().removeprefix(f"{speaker}: ")
    return f"{speaker} ({day_text(chunk.date)}, {chunk.date:%H:%M}): {text}"


def _without_labels(question: Question, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates without lines that only stand over a list: what is below them answers, unless the line says how many
    there are and that is asked."""
    leads = {(id(one.note), one.unit.lead) for one in candidates[:200] if _is_under_label(one.unit)}

    def is_label(one: Candidate) -> bool:
        return one.unit.kind == "sentence" and (id(one.note), one.unit.text) in leads

    left = [one for one in candidates if not is_label(one) or states_count(question, one.unit)]
    return left or candidates


def _without_records(question: Question, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates without the properties that only file a note, its tags and when it was written, unless they are what
    is asked for."""
    asked = {term.token for term in question.terms}

    def files(one: Candidate) -> bool:
        key = str(one.unit.key).casefold()
        if one.unit.kind != "property":
            return False
        return "tag" not in asked if key in TAGS else key in RECORD_KEYS and not clear_terms(one.own)

    return [one for one in candidates if not files(one)]


def _is_under_label(unit: Unit) -> bool:
    """Whether what leads a unit only stands over it; the sentence before one that begins with "It" says something."""
    if unit.lead is None or unit.kind not in ("sentence", "row"):
        return unit.lead is not None
    return unit.lead[-1].isalnum() or leads(unit.lead)


def _best_units(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer:
    """The best unit, and those that say as much."""
    best = candidates[0]
    if (whole := _with_list(question, best)) is not None:
        return whole
    if says_all(question, best):
        near = [one for one in candidates if one.score >= best.score - NEAR_TIE and _as_much(best, one)]
    else:  # what the best one leaves open, the next ones may say
        ranked = by_total(candidates)
        best = ranked[0]
        near = [one for one in ranked if one.total >= best.total - NEAR]
        block = _whole_block(question, near)
        if block is not None:
            return block
        is_strict = not STRICT.isdisjoint(question.wants)
        near.sort(  # what has the value goes first, and what is called so
            key=lambda one: (
                is_strict and not fits(question, one.unit),
                not (states_measure(question, one.unit) or states_count(question, one.unit)),
            )
        )
    near = _distinct(near)
    others = _of_other_names(question, near[:MAX_UNITS], candidates)
    others += _reason_beside(question, [*near[:MAX_UNITS], *others], candidates)
    others += _value_beside(question, [*near[:MAX_UNITS], *others], candidates)
    chosen = [*near[:MAX_UNITS], *others]
    if not says_all(question, best):
        chosen = _spread(chosen)
    lines = []
    for one in chosen:
        is_bare = one.unit.kind in ("property", *LIST_KINDS) or _says_little(one.unit.text)
        antecedent = None if is_bare else _antecedent(one)
        if antecedent is None or any(other.unit is antecedent for other in chosen):
            introduced = introduced_text(one.unit) or (titled_text(one) if is_bare else None)
            lines.append(line_of(one.unit, one.note, introduced))
        else:
            text = f"{antecedent.display_text()} {one.unit.display_text()}"
            lines.append(Line(text, one.note, antecedent.start, one.unit.end, one.unit.headings))
    basis = [one for one in chosen if one.note is best.note or _shares_term(question, best, one)]
    return ComposedAnswer(tuple(lines), (*basis, *(one for one in others if one not in basis)))


def _distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, of several with the same text the first."""
    by_text: dict[str, Candidate] = {}
    for one in candidates:
        by_text.setdefault(one.unit.display_text(), one)
    return list(by_text.values())


def _says_little(text: str) -> bool:
    """Whether a text is no more than a few words."""
    return len(_WORD.findall(text)) <= SHORT


def _antecedent(one: Candidate) -> Unit | None:
    """The sentence right before one that begins with "It" or its like, which says what it speaks of."""
    unit = one.unit
    if unit.kind != "sentence" or unit.lead is None or _is_under_label(unit):
        return None
    units = one.note.reading.units
    before = next((other for other in reversed(units) if other.end <= unit.start), None)
    return before if before is not None and before.text == unit.lead else None


def _whole_block(question: Question, near: Sequence[Candidate]) -> ComposedAnswer | None:
    """The whole list of the best unit, where several of its members come near to what is asked, and no one value is wanted."""
    best = near[0]
    if question.wants - {"decision"} or best.unit.kind not in LIST_KINDS or best.unit.key is not None:
        return None
    members = [one for one in near if one.note is best.note and one.unit.block == best.unit.block]
    units = best.note.reading.beside(best.unit)
    if len(members) < MAX_UNITS or not MAX_UNITS < len(units) <= MAX_LINES:
        return None
    return ComposedAnswer(block_of(units, best.note, [entry_text(unit) for unit in units]), (best, *members))


def _with_list(question: Question, best: Candidate) -> ComposedAnswer | None:
    """The best unit with the list that its paragraph leads to, "When it lands, it will:", where no one value is wanted; of a
    unit that says all, where the sentence that leads to the list speaks of it."""
    if question.wants or question.form == "yesno" or best.unit.kind != "sentence":
        return None
    paragraph = best.note.reading.beside(best.unit)
    lead = paragraph[-1]
    if not lead.text.endswith(COLONS):
        return None
    follows = paragraph[-2:-1] == [best.unit] and _SPEAKS_OF.search(lead.text) is not None
    if says_all(question, best) and not follows:
        return None
    lines = with_led([best.unit, lead], best.note)
    return ComposedAnswer(tuple(lines), (best,)) if len(lines) > 2 else None


def says_all(question: Question, one: Candidate) -> bool:
    """Whether a unit expresses every specific term, one of them in its own words or as a bare value below its heading, and
    holds a value of the kind that is wanted, of things that are asked for several; never of a reason, which stands in other
    words."""
    terms = question.specific_tokens
    is_fit = not question.wants or (fits(question, one.unit) and has_measure_asked(question, one.unit))
    is_value = bool(question.wants) and is_fit and bool(one.unit.headings) and _says_little(one.unit.text)
    is_own = not terms or is_value or any(one.own.get(term, 0.0) >= CLEAR for term in terms)
    asks_several = question.form == "list" and asks_many(question.text)
    is_listing = not asks_several or one.unit.kind in (*LIST_KINDS, "row")
    return one.expresses(terms) and is_own and is_fit and is_listing and not question.asks_reason


def _shares_term(question: Question, best: Candidate, one: Candidate) -> bool:
    """Whether two units speak of the same specific word of the question: else one supports nothing that the other says."""
    return any(best.expresses((term,)) and one.expresses((term,)) for term in question.specific_tokens)


def _of_other_names(
    question: Question, chosen_units: Sequence[Candidate], candidates: Sequence[Candidate]
) -> list[Candidate]:
    """The best unit for each name of the question that the chosen units lack: of the same note, else of another that says
    the same of it, by its words or as the same property."""
    best = chosen_units[0]
    plain = [
        term.token
        for term in question.terms
        if not term.is_name and not term.is_generic and best.level(term.token) >= CLEAR
    ]
    others: list[Candidate] = []
    for name in question.names():
        if any(one.expresses(name) for one in (*chosen_units, *others)):
            continue
        beside = (
            one
            for one in candidates
            if one.note is best.note and all(one.own.get(n, 0.0) >= CLEAR for n in name)
        )
        elsewhere = (
            one
            for one in candidates
            if one.expresses(name)
            and (one.unit.key == best.unit.key if best.unit.key else plain)
            and one.expresses(plain)
        )
        others += [one for one in (next(beside, None) or next(elsewhere, None),) if one is not None]
    return others


def _reason_beside(
    question: Question, chosen_units: Sequence[Candidate], candidates: Sequence[Candidate]
) -> list[Candidate]:
    """The nearest unit of the best one's section that states a reason, where one is asked for and none is stated; of a list
    of reasons all members."""
    best = chosen_units[0]
    if not question.asks_reason:
        return []
    stated = [one for one in chosen_units if states_reason(one.unit)]
    beside = stated or [
        one
        for one in candidates
        if one.note is best.note
        and one.unit.headings[: len(best.unit.headings)] == best.unit.headings
        and states_reason(one.unit)
    ]
    nearest = min(beside, key=lambda one: abs(one.unit.start - best.unit.start), default=None)
    if nearest is None:
        return _neighbours(best, chosen_units, candidates)
    if not is_listed_reason(nearest.unit):
        return [] if stated else [nearest]
    members = (one for one in candidates if one.note is nearest.note and one.unit.block == nearest.unit.block)
    return sorted((one for one in members if one not in chosen_units), key=lambda one: one.unit.start)


def _neighbours(
    best: Candidate, chosen_units: Sequence[Candidate], candidates: Sequence[Candidate]
) -> list[Candidate]:
    """The sentences right before and behind the best one in its paragraph, which may say why in words of their own."""
    if best.unit.kind != "sentence":
        return []
    paragraph = best.note.reading.beside(best.unit)
    place = paragraph.index(best.unit)
    beside = paragraph[max(0, place - 1) : place + 2]
    return [
        one for one in candidates if one.note is best.note and one.unit in beside and one not in chosen_units
    ]


def _value_beside(
    question: Question, chosen_units: Sequence[Candidate], candidates: Sequence[Candidate]
) -> list[Candidate]:
    """The best unit of the best one's note that holds a place, person or day where one is wanted and none of the chosen
    does; numbers of something stand everywhere."""
    if (
        not question.wants
        or not question.wants <= {"place", "person", "date"}
        or any(fits(question, one.unit) for one in chosen_units)
    ):
        return []
    note = chosen_units[0].note
    return [one for one in by_total(candidates) if one.note is note and fits(question, one.unit)][:1]


def _as_much(best: Candidate, one: Candidate) -> bool:
    """Whether a unit expresses all that the best one does, in its own words as well."""
    terms = {*best.own, *best.near, *best.above}
    as_clear = all(one.level(term) >= best.level(term) - SLIGHT for term in terms)
    return one is best or (
        one.note is best.note and as_clear and clear_terms(one.own) >= clear_terms(best.own)
    )


def _spread(chosen_units: Sequence[Candidate]) -> list[Candidate]:
    """The units with the fields of the same record beside them: what was bought, and what was paid for it."""
    units: list[Candidate] = []
    for one in chosen_units:
        record = [
            other
            for other in one.note.reading.beside(one.unit)
            if other.kind == "property" and other.headings
        ]
        is_record = one.unit.kind == "property" and one.unit.headings and 1 < len(record) <= SHORT
        members = record if is_record else [one.unit]
        for unit in members:
            if all(unit is not other.unit for other in units):
                units.append(replace(one, unit=unit))
    return units


DAY = 5
"""Statements of a note that are shown where a day is asked for; fewer where there are many notes."""
DAYS = 30


def of_notes(notes: Sequence[SourceNote], candidates: Sequence[Candidate] = ()) -> ComposedAnswer:
    """What each note says, by its date: the best unit where candidates are given, else its first statements."""
    ordered = sorted(notes, key=lambda note: (note.date or "", note.path))[:DAYS]
    each = max(1, DAY // max(1, len(ordered) // 2))
    lines: list[Line] = []
    basis: list[Candidate] = []
    for note in ordered:
        best = [one for one in candidates if one.note is note][:1]
        basis += best
        units = [one.unit for one in best] if candidates else statements(note)[:each]
        several = len(ordered) > 1
        lines += [
            line_of(unit, note, f"{note.title}: {unit.display_text()}" if several else None) for unit in units
        ]
    return ComposedAnswer(tuple(lines), tuple(basis))
