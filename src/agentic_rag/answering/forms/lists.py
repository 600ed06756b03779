"""Answers that are a whole list, section or paragraph, because its heading or lead is what the question asks for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from agentic_rag.answering.evidence import Candidate
from agentic_rag.answering.forms.lines import (
    NEAR,
    NEAR_TIE,
    ComposedAnswer,
    Line,
    block_of,
    clear_terms,
    entry_text,
    is_named,
    line_of,
    statements,
    stripped_span,
    with_led,
)
from agentic_rag.answering.term_levels import CLEAR
from agentic_rag.answering.value_kinds import names_several, states_count
from agentic_rag.notes.units import LIST_KINDS, Unit
from agentic_rag.questions.comparisons import MARKS, NO, YES, answer_wanted, state
from agentic_rag.questions.forms import WHAT, head_noun
from agentic_rag.questions.note_queries.tasks import LEFT_TO_DO, OPEN_QUESTIONS
from agentic_rag.questions.question import Question
from agentic_rag.questions.words import Place
from agentic_rag.text import content_tokens, fold, tokens
from agentic_rag.text.numbers import numbers

SECTION = 3
"""Sentences of a section that are shown where its heading is asked for."""
GOES_ON = 8
"""Sentences of a section that says how something is done."""


def of_count(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The list of as many members as the question says, "which five kinds …?": of a unit nearly as good as the best one,
    the items beside or below it, or the headings below its own."""
    count = question.member_count
    if count is None or question.form == "howto" or question.wants:
        return None
    near = (one for one in candidates if one.score >= candidates[0].score - NEAR)
    for one in near:
        for lines in _lists_around(one):
            if len(lines) == count:
                return ComposedAnswer(lines, (candidates[0], one))
    return None


def _lists_around(one: Candidate) -> Iterator[tuple[Line, ...]]:
    units, unit = one.note.reading.units, one.unit
    if unit.kind in LIST_KINDS:
        path = (*unit.parents, unit.text)
        for parents in (path, unit.parents):
            items = [item for item in units if item.block == unit.block and item.parents == parents]
            if items:
                yield block_of(items, one.note, [entry_text(item) for item in items])
    led = [item for item in units if item.lead == unit.text and item.kind in LIST_KINDS and not item.parents]
    if led:
        yield block_of(led, one.note, [entry_text(item) for item in led])
    if unit.headings:
        yield from _numbered_runs(_headings_below(one, unit.headings))


def _numbered_runs(lines: tuple[Line, ...]) -> Iterator[tuple[Line, ...]]:
    """The lines, parted where their numbers begin again: ``1. Jokers``, ``2. Withholders``, ``Level 1``."""
    start, before = 0, 0.0
    for place, line in enumerate(lines):
        number = next(iter(numbers(line.text)), before)
        if number < before:
            yield lines[start:place]
            start = place
        before = number
    yield lines[start:]


_ORDINAL = re.compile(
    r"\W*(?:(?:chapter|section|article|part|step)\s*)?(?:第\s*)?[\d一二三四五六七八九十百]+\s*[章节条款项步]?\W*",
    re.IGNORECASE,
)


def _names_nothing(heading: str) -> bool:
    """Whether a heading is a number or a question, and not the name of what stands below it."""
    return _ORDINAL.fullmatch(heading) is not None or heading.rstrip().endswith(("?", "？"))


def _headings_below(one: Candidate, path: tuple[str, ...]) -> tuple[Line, ...]:
    places = one.note.reading.headings
    below = [heading for heading in places if heading[:-1] == path]
    return tuple(
        Line(f"- {heading[-1]}", one.note, *stripped_span(one.note, places[heading]), path)
        for heading in below
    )


def tasks_in_state(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The tasks, in the state that is asked for, of the best note that has any and whose title or headings say at least half
    of what the question names."""
    left = LEFT_TO_DO.search(question.text)
    text = fold(question.text).lower()
    asked = ("open", Place(*left.span())) if left else state(text) if WHAT.search(text) else None
    if asked is None or OPEN_QUESTIONS.search(text):
        return None
    name, place = asked
    named = {
        t.token
        for t in question.terms
        if not (t.is_generic or place.start <= t.start < place.end or state(text[t.start : t.end]))
    }
    for one in candidates:
        if one.unit.state not in MARKS[name]:
            continue
        spoken = named & (clear_terms(one.near) | clear_terms(one.above))
        if spoken and 2 * len(spoken) >= len(named) and (left or one.note is candidates[0].note):
            tasks = [unit for unit in one.note.reading.units if unit.state in MARKS[name]]
            lines = [line_of(unit, one.note, entry_text(unit)) for unit in tasks]
            return ComposedAnswer(tuple(lines), (one,), is_whole=True)
    return None


def matching_rows(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The rows of one table that each say all that is asked, where things are asked for and the best unit does not name them
    itself."""
    terms = question.specific_tokens
    if question.form != "list" or not terms:
        return None

    def is_full(one: Candidate) -> bool:
        return one.expresses(terms) and any(one.own.get(term, 0.0) >= CLEAR for term in terms)

    first = next((one for one in candidates if one.unit.kind == "row" and is_full(one)), None)
    if first is None:
        return None
    best = next(filter(is_full, candidates))
    if best is not first and names_several(best.unit):
        return None
    table = (one for one in candidates if one.note is first.note and one.unit.block == first.unit.block)
    rows = list(filter(is_full, table))
    if len(rows) < 2:
        return None
    rows = sorted(_of_cells(question, rows), key=lambda one: one.unit.start)
    return ComposedAnswer(tuple(line_of(one.unit, one.note) for one in rows), tuple(rows))


def _of_cells(question: Question, rows: Sequence[Candidate]) -> Sequence[Candidate]:
    """The rows that have most of the terms in one cell, a column's name with its value: ``primary: Owen``; of a column that
    is asked for and says yes or no, those that say yes, or no where the question negates it."""
    asked = set(question.specific_tokens)

    def together(row: Candidate) -> int:
        cells = (tokens(f"{name} {value}") for name, value in row.unit.columns)
        return max((len(asked.intersection(cell)) for cell in cells), default=0)

    most = max(map(together, rows))
    if most > 1:
        rows = [row for row in rows if together(row) == most]
    text = fold(question.text).lower()
    for term in question.terms:
        cells = [_cell_of(term.token, row) for row in rows]
        if not (YES.isdisjoint(cells) or NO.isdisjoint(cells)):
            wanted = answer_wanted(text, Place(term.start, term.end))
            rows = [row for row, cell in zip(rows, cells, strict=True) if cell in wanted]
    return rows


def _cell_of(term: str, row: Candidate) -> str | None:
    """The row's cell in the column that is called by a term, in lower case."""
    return next((value.casefold() for name, value in row.unit.columns if term in tokens(name)), None)


def below_lead(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The items below the best unit, where it is an item that names them."""
    best = candidates[0]
    if best.unit.kind not in LIST_KINDS or question.form == "howto":
        return None
    path = (*best.unit.parents, best.unit.text)
    units = [u for u in best.note.reading.beside(best.unit) if u.parents[: len(path)] == path]
    if not units or best.unit.key is not None:
        return None
    lines = [
        f"- {unit.display_text()}" if unit.depth == units[0].depth else f"  - {unit.own()}" for unit in units
    ]
    return ComposedAnswer(block_of(units, best.note, lines), (best,))


def whole_list(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The whole list of the best unit, where things are asked for and its heading or lead answers the question."""
    best = (
        _best_listed(question, candidates) if question.form == "list" else _list_of_lead(question, candidates)
    )
    if best is None:
        return None
    units = best.note.reading.beside(best.unit)
    lead = (
        []
        if question.form == "list"
        else [one for one in best.note.reading.units if _leads(one, best.unit)][-1:]
    )
    if len(units) < 2:
        return None
    if best.unit.parents:
        units = [unit for unit in units if unit.parents[: len(best.unit.parents)] == best.unit.parents]
    beyond = {term for term in question.specific_tokens if best.own.get(term) == 1.0}
    beyond -= clear_terms(best.near) | clear_terms(best.above)
    if beyond and not best.unit.parents:
        matched = [
            u for u in units if any(one.unit is u and clear_terms(one.own) >= beyond for one in candidates)
        ]
        units = matched or units
    items = block_of(units, best.note, [entry_text(unit) for unit in units])
    return ComposedAnswer((*(line_of(one, best.note) for one in lead), *items), (best,))


def _leads(one: Unit, item: Unit) -> bool:
    """Whether a sentence is what leads the list that an item stands in."""
    return one.kind == "sentence" and one.text == item.lead and one.end <= item.start


def _list_of_lead(question: Question, candidates: Sequence[Candidate]) -> Candidate | None:
    """The best unit, where it is an item of a list whose lead says what its note does not, "Things I packed:", and no value is
    wanted; a question that counts is answered by such a list where nothing states the number."""
    best = candidates[0]
    if question.form not in ("fact", "topic") or (question.wants and not question.count_noun):
        return None
    if question.count_noun:
        if any(states_count(question, one.unit) for one in candidates if one.note is best.note):
            return None
        asked = set(question.specific_tokens)
        own = (one for one in candidates if one.note is best.note and one.unit.kind in LIST_KINDS)
        return next(
            (one for one in own if one.unit.lead and asked == set(content_tokens(one.unit.lead))), None
        )
    is_led = best.unit.kind in LIST_KINDS and best.unit.lead is not None and not best.unit.parents
    says_more = clear_terms(best.near) - clear_terms(best.above)
    return best if is_led and says_more and not clear_terms(best.own) else None


def _best_listed(question: Question, candidates: Sequence[Candidate]) -> Candidate | None:
    """The best unit of a list of the best note whose heading or lead speaks of all that the note's own name does not say;
    else the best unit, where it belongs to a list; else, where only the note is named, the first of its lists."""
    best = candidates[0]
    title = {term for term, level in best.above.items() if level == 1.0}
    asked = [term for term in question.specific_tokens if term not in title]
    own = [one for one in candidates if one.note is best.note and one.unit.kind in (*LIST_KINDS, "row")]
    listed = [one for one in own if one.unit.kind != "row"]
    headed = [one for one in own if one.score >= best.score - NEAR and set(asked) <= clear_terms(one.near)]
    share = max((_share_named(question, one) for one in headed), default=0.0)
    named = [one for one in headed if _share_named(question, one) == share]
    nearest = [one for one in named if one.score >= named[0].score - NEAR_TIE]
    chosen = min(nearest, key=lambda one: one.unit.start, default=None) if asked else None
    if chosen is None and best.unit.kind in LIST_KINDS:
        return best
    if chosen is None and asked and not names_several(best.unit):
        beside = best.note.reading.beside(best.unit)
        following = (one for one in own if one.unit.block == best.unit.block + 1)
        is_paragraph = beside == [best.unit]  # then it stands over the list that follows
        return next(following, None) if is_paragraph else None
    return min(listed, key=lambda one: one.unit.start, default=None) if not asked and title else chosen


def _kind_asked(question: Question) -> set[str]:
    """The specific terms by which a question names the kind of things that it asks for."""
    asking = _ASKS_KIND.search(question.text)
    noun = None if asking is None else Place(asking.end(), asking.end() + 1)
    place = head_noun(fold(question.text)) or noun
    named = [t for t in question.terms if place and place.start <= t.start < place.end]
    return {t.token for t in named if not t.is_generic} - _PARTS


_PARTS = frozenset(("section", "chapter", "part", "topic", "heading", "章节", "部分"))
"""Kinds of things that headings are, whatever they say."""
_ASKS_KIND = re.compile(r"哪些|哪几[\u4e00-\u9fff]")
"""What stands before the kind of things in Chinese."""


def _share_named(question: Question, one: Candidate) -> float:
    """How much of what stands over a unit, its lead or innermost heading, is words of the question, in [0, 1]: all of ``Plugins``
    in "which plugins do I need?"."""
    asked = {term.token for term in question.terms}
    over = [
        contents
        for text in (one.unit.lead, *one.unit.headings[-1:])
        if text and (contents := content_tokens(text))
    ]
    return max((len(asked.intersection(words)) / len(words) for words in over), default=0.0)


def subheadings(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The headings below the one that is asked for, where things are asked for."""
    best = candidates[0]
    if question.form != "list" or best.unit.kind == "row" or best.unit.key is not None:
        return None
    beside = (one for one in candidates if one.note is best.note and one.score >= best.score - NEAR_TIE)
    best = max(beside, key=lambda one: len(clear_terms(one.own) | clear_terms(one.near)))
    kind = _kind_asked(question)
    for depth in range(len(best.unit.headings), 0, -1):
        path = best.unit.headings[:depth]
        lines = _headings_below(best, path)
        spoken = clear_terms(best.near) if depth == len(best.unit.headings) else clear_terms(best.above)
        if len(lines) >= 2 and spoken and (not kind or kind & spoken):
            name_nothing = any(_names_nothing(line.text.removeprefix("- ")) for line in lines)
            return None if name_nothing else ComposedAnswer(lines, (best,))
    return None


def named_note(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """What the note states first, where only its name is said, "what does constinit do?": no values of its sheet."""
    best = candidates[0]
    if question.form not in ("fact", "list") or question.wants or not is_named(question, best.note):
        return None
    units = [unit for unit in statements(best.note) if unit.key is None or unit.kind == "sentence"]
    if not units or clear_terms(best.own) - clear_terms(best.near) - clear_terms(best.above):
        return None
    return ComposedAnswer(tuple(with_led(units[:SECTION], best.note)), (best,))


def under_heading(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """What stands under the heading that is asked for, where no unit says more than the heading."""
    best = candidates[0]
    if question.form == "topic" and best.unit.kind == "property":
        return None
    over = clear_terms(best.near) | clear_terms(best.above)
    is_led = best.unit.kind == "sentence" and best.unit.lead is not None
    beyond = clear_terms(best.own) - over - _common(best, candidates)
    if beyond or question.wants or not best.unit.headings or is_led:
        return None
    if not clear_terms(best.near) and best.unit.kind == "property":
        return None
    units = [u for u in best.note.reading.units if u.headings == best.unit.headings]
    if best.unit.kind == "sentence" and best.unit.parents:
        units = [u for u in units if u.parents == best.unit.parents]
    if not units:
        return None
    first = units[0]
    if first.kind == "property":
        return ComposedAnswer(tuple(line_of(unit, best.note) for unit in units), (best,))
    if first.kind in LIST_KINDS:
        block = [unit for unit in units if unit.block == first.block]
        return ComposedAnswer(block_of(block, best.note, [entry_text(unit) for unit in block]), (best,))
    if first.kind in ("code", "row"):
        block = [unit for unit in units if unit.block == first.block]
        return ComposedAnswer(tuple(line_of(unit, best.note) for unit in block), (best,))
    return ComposedAnswer(tuple(with_led(units[:SECTION], best.note)), (best,))


def _common(best: Candidate, candidates: Sequence[Candidate]) -> set[str]:
    """Terms that most units of the best one's section have: they single out none of them."""
    section = [one for one in candidates if one.note is best.note and one.unit.headings == best.unit.headings]
    counts = Counter(term for one in section for term in clear_terms(one.own))
    return {term for term, count in counts.items() if count * 2 > len(section) > 1}


def whole_paragraph(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The paragraph of the best sentence, of a long one what comes after it, of a short one its section, where it is asked how
    something is done."""
    best = candidates[0]
    if question.form != "howto" or best.unit.kind != "sentence":
        return None
    units = [
        unit
        for unit in best.note.reading.units
        if unit.headings == best.unit.headings and unit.kind in ("sentence", *LIST_KINDS)
    ]
    paragraph = [unit for unit in units if unit.block == best.unit.block]
    after = [unit for unit in units if unit.start >= best.unit.start]
    units = paragraph if 2 < len(paragraph) <= GOES_ON else after
    if len(units) < 2:
        return None
    return ComposedAnswer(tuple(with_led(units[:GOES_ON], best.note)), (best,))
