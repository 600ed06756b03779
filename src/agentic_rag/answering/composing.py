"""Makes the answer from scored units: one that is to the point, or the list, steps or section that is asked for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import cast

from agentic_rag.answering.citations import region
from agentic_rag.answering.evidence import CLEAR, Candidate, SourceNote, fits
from agentic_rag.dates.months import day_text
from agentic_rag.domain.results import AnswerLine
from agentic_rag.notes.units import LIST_KINDS, RECORD_KEYS, Unit
from agentic_rag.questions.question import Question
from agentic_rag.questions.words import parts
from agentic_rag.text import fold, starts_cjk, tokens

NEAR_TIE = 0.08
"""Units this near to the best one answer beside it."""
NEAR, FIRST_NOTES = 0.3, 2
"""The same where the best unit leaves something open, and the notes, by their place in the ranking, they are of."""
MAX_UNITS = 3
PROSE = 6
"""Sentences that are quoted of documents without markup: one rarely says all, and several documents may differ."""
MAX_LINES = 30
"""Entries of a list, or steps, that are shown."""
SECTION = 3
"""Sentences of a section that are shown where its heading is asked for."""
GOES_ON = 4
"""Sentences of a paragraph that says how something is done."""
SLIGHT = 0.05
"""Difference of levels that tells nothing."""
SHORT = 3
"""Words up to which a sentence is shown with the ones beside it: it says nothing alone."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the answer, and the span of its note that says so."""

    text: str
    note: SourceNote
    start: int
    end: int
    headings: tuple[str, ...]

    def to_dict(self) -> AnswerLine:
        """Plain values, for the state: what a citation needs, and ``text``."""
        chunk = self.note.chunk_at(self.start)
        metadata = self.note.base["metadata"]
        own = metadata if chunk is None else chunk.metadata
        return {
            "text": self.text,
            "chunk_id": self.note.base["id"] if chunk is None else chunk.id,
            "document_id": self.note.document_id,
            "path": metadata.get("path"),
            "title": metadata.get("title"),
            "heading_path": list(self.headings),
            "start": self.start,
            "end": self.end,
            "quote": self.note.text(self.start, self.end),
            "score": self.note.relevance,
            "url": self.note.url,
            "page": own.get("page"),
            "region": region(own, self.start, self.end),
        }


def heading(text: str) -> AnswerLine:
    """A line that is not cited."""
    return cast(AnswerLine, {"text": text, "document_id": None})


@dataclass(frozen=True, slots=True)
class ComposedAnswer:
    """An answer, and the units that it stands on."""

    lines: tuple[Line, ...] = ()
    basis: tuple[Candidate, ...] = ()
    is_definition: bool = False
    """Whether it is the unit that defines what the question asks for."""


def compose_answer(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer:
    """The answer in the form that the question asks for; nothing where there is no unit.

    Args:
        question: as it was read.
        candidates: best first.
    """
    if not candidates:
        return ComposedAnswer()
    if candidates[0].note.is_prose:
        near = [one for one in candidates if one.note.is_prose][:PROSE]
        lines = (_line(one.unit, one.note, _with_author(one.unit, one.note)) for one in near)
        return ComposedAnswer(tuple(lines), tuple(near))
    candidates = [one for one in candidates if not _is_title(one.unit, one.note)] or candidates
    candidates = _of_named(question, _without_labels(_without_records(question, candidates)))
    if not candidates:
        return ComposedAnswer()
    if question.form == "howto":
        candidates = [
            one for one in candidates if one.unit.kind != "property" or one.unit.headings
        ] or candidates
    for form in (
        _steps,
        _both,
        _definition,
        _below,
        _whole_list,
        _subheadings,
        _named_note,
        _under_heading,
        _goes_on,
    ):
        answer = form(question, candidates)
        if answer is not None:
            return answer
    return _best_units(question, candidates)


def _of_named(question: Question, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates without the properties of other notes, where the question names one by its whole title."""
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
        or one.unit.kind != "property"
        or any(titles[note] in one.unit.display_text().casefold() for note in named)
    ]


def _with_author(unit: Unit, note: SourceNote) -> str:
    """The unit's words, of a message that has a time with who wrote it and when: each sentence of it is quoted alone."""
    chunk = note.chunk_at(unit.start)
    if chunk is None or chunk.date is None or not {"speaker", "time"} <= chunk.metadata.keys():
        return unit.display_text()
    speaker = chunk.metadata["speaker"]
    text = unit.display_text().removeprefix(f"{speaker}: ")
    return f"{speaker} ({day_text(chunk.date)}, {chunk.date:%H:%M}): {text}"


def _is_title(unit: Unit, note: SourceNote) -> bool:
    """Whether a property only repeats the note's title."""
    return unit.kind == "property" and unit.text.casefold() == note.title.casefold()


def _without_labels(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates without lines that only stand over a list: what is below them answers."""
    leads = {(id(one.note), one.unit.lead) for one in candidates[:200] if _is_under_label(one.unit)}
    left = [
        one for one in candidates if one.unit.kind != "sentence" or (id(one.note), one.unit.text) not in leads
    ]
    return left or candidates


def _without_records(question: Question, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates without the properties that only file a note, its tags and when it was written, unless they are what
    is asked for."""
    asked = {term.token for term in question.terms}

    def files(one: Candidate) -> bool:
        key = str(one.unit.key).casefold()
        if one.unit.kind != "property":
            return False
        return "tag" not in asked if key in _TAGS else key in RECORD_KEYS and not _clear(one.own)

    return [one for one in candidates if not files(one)]


_TAGS = frozenset({"tags", "tag"})


def _is_under_label(unit: Unit) -> bool:
    """Whether what leads a unit only stands over it; the sentence before one that begins with "It" says something."""
    if unit.lead is None or unit.kind != "sentence":
        return unit.lead is not None
    return unit.lead[-1].isalnum() or unit.lead.endswith((":", "：", "?", "？"))


def _line(unit: Unit, note: SourceNote, text: str | None = None) -> Line:
    return Line(unit.display_text() if text is None else text, note, unit.start, unit.end, unit.headings)


def _block(units: Sequence[Unit], note: SourceNote, texts: Sequence[str]) -> tuple[Line, ...]:
    """Lines of one block, which is cited as a whole."""
    start, end = units[0].start, max(unit.end for unit in units)
    return tuple(Line(text, note, start, end, units[0].headings) for text in texts[:MAX_LINES])


def _clear(levels: Mapping[str, float]) -> set[str]:
    return {term for term, level in levels.items() if level >= CLEAR}


_LIST_NUMBER = re.compile(
    r"^(?:(?:step|schritt)\s*)?\d{1,2}[.):：、]?\s|^第?[一二三四五六七八九十]+[、.步]", re.IGNORECASE
)


def _steps(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The steps of the best note, in order: an ordered list, the longest list of its best section, or the sections
    whose headings are numbered."""
    if question.form != "howto":
        return None
    best = candidates[0]
    own = _clear(best.own)
    if len(own) == len(question.terms) and best.unit.key is not None:
        return ComposedAnswer((_line(best.unit, best.note),), (best,))
    note = best.note
    blocks = _blocks(note, [one for one in candidates if one.note is note])
    headed = _numbered_sections(question, candidates, note)
    if headed is not None and (not blocks or headed[0] >= blocks[0][0]):
        return ComposedAnswer(headed[1], (best,))
    if not blocks or blocks[0][0] <= 0:
        return None
    _, units = blocks[0]
    units = _of_instructions(note, units)
    if best.unit not in units and not _covers(units, best, candidates):
        return None
    first = next(one for one in candidates if one.note is note and one.unit in units)
    return ComposedAnswer(_block(units, note, _number_texts(units)), (first, best))


def _covers(units: Sequence[Unit], best: Candidate, candidates: Sequence[Candidate]) -> bool:
    """Whether a list speaks of all that the best unit says itself: else that unit is to the point, and not the list."""
    if best.unit.kind in ("row", "property"):
        return True  # no instruction
    beside = (unit for unit in best.note.reading.units if unit.headings == best.unit.headings)
    is_code = any(unit.kind == "code" for unit in beside)  # its own heading says what it does
    wanted = (_clear(best.own) | (_clear(best.near) if is_code else set())) - _clear(best.above) - _MAKING
    spoken: set[str] = set()
    for one in candidates:
        if one.note is best.note and one.unit in units:
            spoken |= _clear(one.own) | _clear(one.near)
    return wanted <= spoken


def _blocks(note: SourceNote, candidates: Sequence[Candidate]) -> list[tuple[float, list[Unit]]]:
    """Lists of a note by how well they fit as steps, best first."""
    matches = {(one.unit.start, one.unit.end): one for one in candidates}
    groups: dict[int, list[Unit]] = {}
    for unit in note.reading.units:
        if unit.kind in LIST_KINDS:
            groups.setdefault(unit.block, []).append(unit)
    ranked = []
    for block, units in groups.items():
        of_it = [matches[unit.start, unit.end] for unit in units if (unit.start, unit.end) in matches]
        if len(units) < 2 or not of_it:
            continue
        above = max(len(_clear(one.near) - _MAKING) for one in of_it)
        inside = len(set().union(*(_clear(one.own) for one in of_it)) - _MAKING)
        ordered = sum(unit.kind == "step" for unit in units) / len(units)
        place = " ".join((*units[0].headings[1:], units[0].lead or "")) or " ".join(units[0].headings)
        named = bool(_INSTRUCTIONS.search(place)) - bool(_MATERIALS.search(place))
        verbs = sum(len(unit.text) > 25 or unit.text[:1].isupper() for unit in units) / len(units)
        ranked.append(
            (
                2.0 * above + 0.5 * inside + 1.5 * ordered + 2.0 * named + verbs + 0.02 * min(len(units), 20),
                -block,
                units,
            )
        )
    return [(value, units) for value, _, units in sorted(ranked, key=lambda one: one[:2], reverse=True)]


_MATERIALS = re.compile(
    r"ingredients?|materials?|tools?|you need|shopping|原料|材料|食材|配料|用料|工具|计算|zutaten",
    re.IGNORECASE,
)


def _of_instructions(note: SourceNote, units: Sequence[Unit]) -> list[Unit]:
    """The list, with the other lists below the heading of instructions that it stands under."""
    headings = units[0].headings
    for depth in range(1, len(headings)):
        if _INSTRUCTIONS.search(headings[depth - 1]) and depth > 1:
            path = headings[:depth]
            return [u for u in note.reading.units if u.headings[:depth] == path and u.kind in LIST_KINDS]
    return list(units)


_MAKING = frozenset("make do cook prepar creat build get set use instal 做 制作 弄 煮 用".split())
"""Words that ask for steps, and tell no list from another."""
_BARE_NUMBER = re.compile(
    r"(?:step|schritt|第)?\s*[\d一二三四五六七八九十]{1,3}\s*步?[.):：、]?", re.IGNORECASE
)
BELOW = 3
"""Units below a heading that is only a number, which are its step."""
_INSTRUCTIONS = re.compile(
    r"instructions?|directions?|steps?|method|procedure|preparation|how to|操作|步骤|做法|方法|流程|制作|zubereitung|anleitung",
    re.IGNORECASE,
)


def _number_texts(units: Sequence[Unit]) -> list[str]:
    texts, count = [], 0
    for unit in units:
        if unit.depth == 0:
            count += 1
            texts.append(f"{count}. {unit.own()}")
        else:
            texts.append(f"{'   ' * unit.depth}- {unit.own()}")
    return texts


def _numbered_sections(
    question: Question, candidates: Sequence[Candidate], note: SourceNote
) -> tuple[float, tuple[Line, ...]] | None:
    """Numbered headings below the heading that is asked for, each with its first sentence."""
    sections: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for path in note.reading.headings:
        if _LIST_NUMBER.match(path[-1]):
            sections.setdefault(path[:-1], []).append(path)
    best: tuple[float, tuple[Line, ...]] | None = None
    for parent, paths in sections.items():
        if len(paths) < 2:
            continue
        of_it = [one for one in candidates if one.note is note and one.unit.headings[: len(parent)] == parent]
        words = max((len(_clear(one.above) | _clear(one.near)) for one in of_it), default=0)
        value = 2.0 * words + 2.0
        if best is None or value > best[0]:
            lines = []
            for path in paths[:MAX_LINES]:
                place = _strip_span(note, note.reading.headings[path])
                below = [unit for unit in note.reading.units if unit.headings == path][:BELOW]
                is_bare = _BARE_NUMBER.fullmatch(path[-1]) is not None
                text = (
                    f"{path[-1]}: {' '.join(unit.own() for unit in below)}" if is_bare and below else path[-1]
                )
                end = below[-1].end if is_bare and below else place[1]
                lines.append(Line(text, note, place[0], end, path[:-1]))
            best = value, tuple(lines)
    return best


def _both(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The best unit of each of the things that are compared: of two notes that are named, else of two names."""
    if question.form != "compare":
        return None
    named = _of_named_notes(question, candidates)
    titles = {token for one in named for token in tokens(one.note.title)}
    if len(named) > 1 and all(term.is_generic or term.token in titles for term in question.terms):
        return _side_by_side(named)
    chosen = named or _of_sections(question, candidates) or _of_names(question, candidates)
    if len(chosen) < 2:
        return None
    return ComposedAnswer(tuple(_line(one.unit, one.note, _with_title(one)) for one in chosen), tuple(chosen))


def _side_by_side(named_candidates: Sequence[Candidate]) -> ComposedAnswer:
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
        different = [own[key] for key in differing[:MAX_SHARED] if not _is_title(own[key], one.note)]
        units = different or _statements(one.note)[:1] or [one.unit]
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


MAX_COMPARED, MAX_SHARED, MAX_CARD = 4, 6, 4
"""Notes that are compared, properties of each that are shown, and properties of one thing."""


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


def _of_names(question: Question, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The best units that together express the names of the question."""
    specific = [term for term in question.terms if not term.is_generic]
    names = [term.token for term in specific if term.is_name] or [term.token for term in specific]

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


def _with_title(one: Candidate) -> str:
    """The unit with the name of what it speaks of before it, where it does not say it itself: its heading's, if that is
    asked for, else its note's."""
    shown = one.unit.display_text()
    if one.unit.parents:
        return shown
    name = one.unit.headings[-1] if one.unit.headings and one.near else one.note.title
    return shown if not name or name.casefold() in shown.casefold() else f"{name}: {shown}"


_IS = re.compile(
    r"\b(?:is|are|was|were|means?|refers?|describes?|stands for)\b|是|指|叫|为|表示|即", re.IGNORECASE
)


def _definition(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The unit that says what the thing is: its definition, the first sentence of its section, of its own note."""
    if (
        question.form != "definition"
        or not question.terms
        or _is_named_property(question, candidates[0].unit)
    ):
        return None
    terms = {term.token for term in question.terms}
    notes = {id(one.note): one.note for one in candidates}
    named = {name for name, note in notes.items() if _is_named(question, note)}
    own = [one for one in candidates if id(one.note) in named]
    begun, within = _defining(question, own or candidates[:40], terms)
    for one in (*begun, *within, *([] if own else _below_heading(candidates[:40], terms))):
        return ComposedAnswer((_line(one.unit, one.note),), (one,), is_definition=True)
    return _opening(question, own)


def _defining(
    question: Question, candidates: Sequence[Candidate], terms: Set[str]
) -> tuple[list[Candidate], list[Candidate]]:
    """Units that say what the terms are: those that begin with them, "A ketch is …", and others, "… is called a ketch"."""
    begun: list[Candidate] = []
    within: list[Candidate] = []
    for one in candidates:
        unit = one.unit
        if unit.kind not in ("sentence", "item", "step") or _clear(one.own) < terms:
            continue
        is_keyed = unit.key is not None and _has_all(unit.key, terms)
        verb = _IS.search(unit.text[: 40 + sum(map(len, terms))])
        head = str(unit.key) if is_keyed else unit.text[: verb.start()] if verb is not None else None
        if head is not None and len(head) <= 30 + sum(map(len, terms)):
            if _begins_with_all(head, terms):
                begun.append(one)
            elif verb is not None and _gives_name(question, unit.text[verb.end() :]):
                within.append(one)
    return begun, within


NAMING = 15
"""Characters between the verb of a definition and the name that it gives."""


def _gives_name(question: Question, text: str) -> bool:
    """Whether the text behind a verb soon has all terms as the question writes them: "called a ketch", and not "covered"."""
    begin = fold(text)[: NAMING + sum(term.end - term.start + 1 for term in question.terms)].casefold()
    words = (fold(question.text[term.start : term.end]).casefold() for term in question.terms)
    return all(
        (word in begin)
        if starts_cjk(word)
        else re.search(rf"\b{re.escape(word)}(?:e?s)?\b", begin) is not None
        for word in words
    )


def _below_heading(candidates: Sequence[Candidate], terms: Set[str]) -> Iterator[Candidate]:
    """The first sentence below each heading that is called by the terms."""
    for one in candidates:
        unit = one.unit
        if unit.headings and {*tokens(unit.headings[-1])} == terms:
            beside = (other for other in one.note.reading.units if other.headings == unit.headings)
            first = next((other for other in beside if other.kind == "sentence"), None)
            if first is not None:
                yield replace(one, unit=first)


def _has_all(text: str, terms: Set[str]) -> bool:
    plain = fold(text).casefold()
    words = {*tokens(text)}
    return all(term in words or (starts_cjk(term) and term in plain) for term in terms)


def _begins_with_all(head: str, terms: Set[str]) -> bool:
    """Whether a subject is the terms, "a ketch", "a ketch with two masts", and nothing of theirs, "one flaw of a ketch"."""
    begin = _BEFORE_NAME.match(head)
    opening = head if begin is None else head[begin.end() :]
    return _has_all(opening, terms) and any(_has_all(opening.split(maxsplit=1)[0], {term}) for term in terms)


_BEFORE_NAME = re.compile(
    r"\W*(?:(?:in|on|at|for|when|if)\b[^,，]*[,，]\s*)?(?:(?:an?|the|term|word)\s+)*", re.IGNORECASE
)


def _is_named_property(question: Question, unit: Unit) -> bool:
    """Whether a unit is a property of several words that stand in the question one after the other: ``on_call``."""
    words = () if unit.key is None else parts(unit.key)
    return len(words) > 1 and f" {' '.join(words)} " in f" {' '.join(parts(question.text))} "


_WHO = re.compile(r"\bwho\b|谁", re.IGNORECASE)


def _is_named(question: Question, note: SourceNote) -> bool:
    """Whether a question names the note's title, of a person a part of it, and nothing else."""
    title = fold(note.title).casefold()
    words = set(tokens(title))
    named = [term.token for term in question.terms if not term.is_generic]
    is_person = bool(named) and len(words) > 1 and _WHO.search(question.text) is not None
    return (is_person or title in fold(question.text).casefold()) and all(
        token in words or token in title for token in named
    )


def _opening(question: Question, own: Sequence[Candidate]) -> ComposedAnswer | None:
    """The first sentence of the note of what is asked about, and the first of its properties; of a person these first."""
    if not own:
        return None
    note = own[0].note
    first = next((unit for unit in _statements(note) if unit.kind == "sentence"), None)
    lines = [] if first is None else [_line(unit, note) for unit in _with_next(first, note)]
    card = [unit for unit in note.reading.units if unit.kind == "property" and not unit.headings]
    filing = _TAGS | RECORD_KEYS
    card = [unit for unit in card if str(unit.key).casefold() not in filing and not _is_title(unit, note)]
    card = card[:MAX_CARD]
    if len(card) > 1:
        text = "; ".join(unit.display_text() for unit in card)
        place = 0 if _WHO.search(question.text) else len(lines)
        lines.insert(place, Line(f"{note.title}: {text}", note, card[0].start, card[-1].end, ()))
    return ComposedAnswer(tuple(lines), (own[0],)) if lines else None


def _with_next(unit: Unit, note: SourceNote) -> list[Unit]:
    """A sentence, and where it is a mere line without a full stop, "Wondrous item, uncommon", the one behind it."""
    if not unit.text[-1:].isalnum():
        return [unit]
    behind = [
        one
        for one in _statements(note)
        if one.kind == "sentence" and one.key is None and one.start > unit.end
    ]
    return [unit, *behind[:1]]


def _below(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The items below the best unit, where it is an item that names them."""
    best = candidates[0]
    if best.unit.kind not in LIST_KINDS or question.form == "howto":
        return None
    path = (*best.unit.parents, best.unit.text)
    units = [
        u for u in best.note.reading.units if u.block == best.unit.block and u.parents[: len(path)] == path
    ]
    if not units or best.unit.key is not None:
        return None
    lines = [
        f"- {unit.display_text()}" if unit.depth == units[0].depth else f"  - {unit.own()}" for unit in units
    ]
    return ComposedAnswer(_block(units, best.note, lines), (best,))


def _whole_list(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The whole list of the best unit, where things are asked for and its heading or lead answers the question."""
    best = _best_listed(question, candidates) if question.form == "list" else None
    if best is None:
        return None
    units = [unit for unit in best.note.reading.units if unit.block == best.unit.block]
    if len(units) < 2:
        return None
    if best.unit.parents:
        units = [unit for unit in units if unit.parents[: len(best.unit.parents)] == best.unit.parents]
    beyond = _clear(best.own) - _clear(best.near) - _clear(best.above)
    if beyond and not best.unit.parents:
        matched = [u for u in units if any(one.unit is u and _clear(one.own) >= beyond for one in candidates)]
        units = matched or units
    return ComposedAnswer(_block(units, best.note, [_entry(unit) for unit in units]), (best,))


def _best_listed(question: Question, candidates: Sequence[Candidate]) -> Candidate | None:
    """The best unit of a list of the best note whose heading or lead speaks of all that the note's own name does not say;
    else the best unit, where it belongs to a list; else, where only the note is named, the first of its lists."""
    best = candidates[0]
    title = {term for term, level in best.above.items() if level == 1.0}
    asked = [term.token for term in question.terms if not term.is_generic and term.token not in title]
    listed = [one for one in candidates if one.note is best.note and one.unit.kind in LIST_KINDS]
    headed = (one for one in listed if one.score >= best.score - NEAR and set(asked) <= _clear(one.near))
    chosen = next(headed, None) if asked else None
    if chosen is None and best.unit.kind in LIST_KINDS:
        return best
    return min(listed, key=lambda one: one.unit.start, default=None) if not asked and title else chosen


def _subheadings(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The headings below the one that is asked for, where things are asked for."""
    best = candidates[0]
    if question.form != "list" or best.unit.kind == "row" or best.unit.key is not None:
        return None
    beside = (one for one in candidates if one.note is best.note and one.score >= best.score - NEAR_TIE)
    best = max(beside, key=lambda one: len(_clear(one.own) | _clear(one.near)))
    for depth in range(len(best.unit.headings), 0, -1):
        path = best.unit.headings[:depth]
        below = [one for one in best.note.reading.headings if one[:depth] == path and len(one) == depth + 1]
        spoken = _clear(best.near) if depth == len(best.unit.headings) else _clear(best.above)
        if len(below) >= 2 and spoken:
            places = [best.note.reading.headings[one] for one in below]
            lines = [
                Line(f"- {one[-1]}", best.note, *_strip_span(best.note, place), path)
                for one, place in zip(below, places, strict=True)
            ]
            return ComposedAnswer(tuple(lines[:MAX_LINES]), (best,))
    return None


def _strip_span(note: SourceNote, place: tuple[int, int]) -> tuple[int, int]:
    """A span without the white space behind it."""
    start, end = place
    return start, start + len(note.text(start, end).rstrip())


def _entry(unit: Unit) -> str:
    state = f"{unit.display_text().split(' ', 1)[0]} " if unit.state is not None else ""
    return f"{'  ' * unit.depth}- {state}{unit.own()}"


def _named_note(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """What the note states first, where only its name is said, "what does constinit do?": no values of its sheet."""
    best = candidates[0]
    if question.form != "fact" or question.wants or not _is_named(question, best.note):
        return None
    units = [unit for unit in _statements(best.note) if unit.key is None]
    if not units or _clear(best.own) - _clear(best.near) - _clear(best.above):
        return None
    return ComposedAnswer(tuple(_line(unit, best.note) for unit in units[:SECTION]), (best,))


def _under_heading(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """What stands under the heading that is asked for, where no unit says more than the heading."""
    best = candidates[0]
    if question.form == "topic" and best.unit.kind == "property":
        return None
    over = _clear(best.near) | _clear(best.above)
    is_led = best.unit.kind == "sentence" and best.unit.lead is not None
    beyond = _clear(best.own) - over - _common(best, candidates)
    if beyond or question.wants or not best.unit.headings or is_led:
        return None
    if not _clear(best.near) and best.unit.kind == "property":
        return None
    units = [u for u in best.note.reading.units if u.headings == best.unit.headings]
    if best.unit.kind == "sentence" and best.unit.parents:
        units = [u for u in units if u.parents == best.unit.parents]
    elif question.form == "fact":  # what it does, and not the values of its sheet
        units = [u for u in units if u.kind != "sentence" or u.key is None] or units
    if not units:
        return None
    first = units[0]
    if first.kind == "property":
        return ComposedAnswer(tuple(_line(unit, best.note) for unit in units[:MAX_LINES]), (best,))
    if first.kind in LIST_KINDS:
        block = [unit for unit in units if unit.block == first.block]
        return ComposedAnswer(_block(block, best.note, [_entry(unit) for unit in block]), (best,))
    if first.kind in ("code", "row"):
        block = [unit for unit in units if unit.block == first.block]
        return ComposedAnswer(tuple(_line(unit, best.note) for unit in block[:MAX_LINES]), (best,))
    return ComposedAnswer(tuple(_line(unit, best.note) for unit in units[:SECTION]), (best,))


def _common(best: Candidate, candidates: Sequence[Candidate]) -> set[str]:
    """Terms that most units of the best one's section have: they single out none of them."""
    section = [one for one in candidates if one.note is best.note and one.unit.headings == best.unit.headings]
    counts = Counter(term for one in section for term in _clear(one.own))
    return {term for term, count in counts.items() if count * 2 > len(section) > 1}


def _goes_on(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The best sentence and those after it in its paragraph, where it is asked how something is done."""
    best = candidates[0]
    if question.form != "howto" or best.unit.kind != "sentence":
        return None
    units = [
        unit
        for unit in best.note.reading.units
        if (unit.block, unit.kind) == (best.unit.block, "sentence") and unit.start >= best.unit.start
    ]
    return (
        ComposedAnswer(tuple(_line(unit, best.note) for unit in units[:GOES_ON]), (best,))
        if len(units) > 1
        else None
    )


def _best_units(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer:
    """The best unit, and those that say as much."""
    best = candidates[0]
    if _says_all(question, best):
        near = [one for one in candidates if one.score >= best.score - NEAR_TIE and _as_much(best, one)]
    else:  # what the best one leaves open, the next ones may say
        first = {best.note.order, *range(FIRST_NOTES + 1)}
        near = [one for one in candidates if one.score >= best.score - NEAR and one.note.order in first]
        near = [one for one in near if one is best or _shares_term(question, best, one)]
    chosen = [*near[:MAX_UNITS], *_of_other_names(question, near[:MAX_UNITS], candidates)]
    if not _says_all(question, best):
        chosen = _spread(chosen)
    lines = []
    for one in chosen:
        is_bare = one.unit.kind == "property" or len(one.unit.text.split()) <= SHORT
        lines.append(_line(one.unit, one.note, _with_title(one) if is_bare else None))
    return ComposedAnswer(tuple(lines), tuple(chosen))


def _says_all(question: Question, one: Candidate) -> bool:
    """Whether a unit expresses every specific term, and holds a value of the kind that is wanted."""
    terms = [term.token for term in question.terms if not term.is_generic]
    return all(one.level(term) >= CLEAR for term in terms) and (
        not question.wants or fits(question, one.unit)
    )


def _shares_term(question: Question, best: Candidate, one: Candidate) -> bool:
    """Whether two units speak of the same specific word of the question: else they answer nothing together."""
    specific = [term.token for term in question.terms if not term.is_generic]
    return any(best.level(term) >= CLEAR and one.level(term) >= CLEAR for term in specific)


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
        if any(_names(one, name) for one in (*chosen_units, *others)):
            continue
        beside = (
            one
            for one in candidates
            if one.note is best.note and all(one.own.get(n, 0.0) >= CLEAR for n in name)
        )
        elsewhere = (
            one
            for one in candidates
            if _names(one, name)
            and (one.unit.key == best.unit.key if best.unit.key else plain)
            and all(one.level(token) >= CLEAR for token in plain)
        )
        others += [one for one in (next(beside, None) or next(elsewhere, None),) if one is not None]
    return others


def _names(one: Candidate, name: Sequence[str]) -> bool:
    return all(one.level(token) >= CLEAR for token in name)


def _as_much(best: Candidate, one: Candidate) -> bool:
    """Whether a unit expresses all that the best one does, in its own words as well."""
    terms = {*best.own, *best.near, *best.above}
    as_clear = all(one.level(term) >= best.level(term) - SLIGHT for term in terms)
    return one is best or (one.note is best.note and as_clear and _clear(one.own) >= _clear(best.own))


def _spread(chosen_units: Sequence[Candidate]) -> list[Candidate]:
    """The units with the fields of the same record beside them: what was bought, and what was paid for it."""
    units: list[Candidate] = []
    for one in chosen_units:
        record = [
            other for other in one.note.reading.units if other.block == one.unit.block and other.kind == "property" and other.headings
        ]  # fmt: skip
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
        units = [one.unit for one in best] if candidates else _statements(note)[:each]
        several = len(ordered) > 1
        lines += [
            _line(unit, note, f"{note.title}: {unit.display_text()}" if several else None) for unit in units
        ]
    return ComposedAnswer(tuple(lines), tuple(basis))


def _statements(note: SourceNote) -> list[Unit]:
    """What a note states in its text; its properties where it has no text."""
    text = [unit for unit in note.reading.units if unit.kind != "property" or unit.headings]
    return text or list(note.reading.units)
