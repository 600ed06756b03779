"""Answers that are computed of the entries of tables and lists: a total, an average, how often, the largest."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agentic_rag.answering.evidence import Candidate
from agentic_rag.answering.forms.entry_days import is_of_other_days, of_days
from agentic_rag.answering.forms.entry_values import (
    EntryValue,
    add_values,
    are_addable,
    column_name,
    column_values,
    item_values,
    numbers_in_one_unit,
    read_values,
)
from agentic_rag.answering.forms.lines import (
    AGGREGATES,
    NEAR,
    ComposedAnswer,
    count_text,
    line_of,
    titled_text,
)
from agentic_rag.answering.term_levels import CLEAR, SIMILAR
from agentic_rag.answering.value_kinds import fits, number_of, states_count, states_measure
from agentic_rag.dates.reading import dates_in, read_spans
from agentic_rag.notes.units import LIST_KINDS, Unit
from agentic_rag.questions.comparisons import OF_WORTH
from agentic_rag.questions.computations import Computation, is_total_entry
from agentic_rag.questions.money import COSTS
from agentic_rag.questions.question import Question
from agentic_rag.questions.terms import DAYS
from agentic_rag.questions.words import regular
from agentic_rag.text import starts_cjk, tokens
from agentic_rag.text.languages import language
from agentic_rag.text.measures import CURRENCIES, dimension_of, unit_at
from agentic_rag.text.numbers import numbers

MIN_SHARE = 0.5
"""Share of a column's cells, or of a list's items, from which they measure something; the others lack the value."""
_DIMENSIONS = {
    "far": "[length]", "distance": "[length]", "heavy": "[mass]", "weight": "[mass]", "long": "[time]", "duration": "[time]",
}  # fmt: skip
"""What is measured, by the word behind "how" or the concept of a superlative."""
_NAMES_OF_WORTH = {
    "rating": re.compile(r"(?<![a-z])(?:rat(?:ings?|ed)|scores?|stars?|grades?|marks?|points|verdict|note)(?![a-z])|bewertung|评分|得分|分数|评价|星级?", re.IGNORECASE),
    "difficulty": re.compile(r"(?<![a-z])(?:difficulty|levels?|grades?)(?![a-z])|schwierig|难度|等级", re.IGNORECASE),
}  # fmt: skip
"""What a column of it is called: the best is not what has most pages or the hottest water."""
_ANY_DEED = frozenset(
    "buy spend pay do have make get read see take use go eat 买 花 用 付 看 读 吃 去 有 做".split()
)
"""Stems of deeds that a log of them does not name."""
_MEASURING = frozenset(
    "per each session visit trip entri last take took time durat distanc weigh weight dauert dauer 持续 时间 用时 距离 重量".split()
)
"""Stems that say only what is measured, or that it is one entry's."""
_CALLED_OFF = re.compile(
    r"\b(?:cancell?ed|called off|skipped|was closed|gave up|ausgefallen|abgesagt|geschlossen)\b|没[\u4e00-\u9fff]?成|没去|取消",
    re.IGNORECASE,
)
"""What an entry says that records that nothing took place, and is not counted."""
_HAN_UNIT = re.compile(r"(?:多少|几)\s*(?P<unit>[\u4e00-\u9fff]{1,3})")

Fit = Callable[[EntryValue], bool]
"""Whether a value may be of what is asked for."""


@dataclass(frozen=True, slots=True)
class _Measure:
    """What is computed of entries."""

    values: Mapping[int, EntryValue]
    """Of the entries that have it, by the ``id`` of their unit."""
    name: str = ""
    """Of the column."""

    def of(self, one: Candidate) -> EntryValue | None:
        """The value of an entry."""
        return self.values.get(id(one.unit))


def totals(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The entries that a total, an average, a count or an extreme is asked of, and what is computed of them; None where
    nothing of the kind is asked, the entries do not say all that the question does, or a sentence states the number."""
    computation = question.computation
    if computation is None or any(_states_total(question, one) for one in candidates):
        return None
    if computation.result == "sum" and (stated := _stated_sum(question, candidates)):
        return ComposedAnswer(
            (line_of(stated.unit, stated.note, titled_text(stated)),), (stated, candidates[0])
        )
    near = [one for one in candidates if one.score >= candidates[0].score - NEAR and _is_entry(one.unit)]
    seen: set[int] = set()
    refusal: ComposedAnswer | None = None
    for best in near:
        if id(best.unit) in seen:
            continue
        group = _entries_like(best, candidates)
        seen |= {id(one.unit) for one in group}
        answer = _of_group(question, computation, group) if len(group) > 1 else None
        if answer is not None and answer.lines:
            return answer
        if answer is not None and any(one is candidates[0] for one in group):
            refusal = answer
    return refusal


def _states_total(question: Question, one: Candidate) -> bool:
    """Whether a sentence that says all that is asked states the number of what is counted."""
    return (
        one.unit.kind == "sentence"
        and states_count(question, one.unit)
        and one.expresses(question.specific_tokens)
    )


_SUM = re.compile(
    r"合计|总计|共计|总共|一共|\b(?:in total|altogether|all in all|insgesamt|zusammen)\b", re.IGNORECASE
)
"""Says that a number is a sum."""


def _stated_sum(question: Question, candidates: Sequence[Candidate]) -> Candidate | None:
    """The sentence of the best note that states a sum of the kind that is asked for: what could be added may be offers."""
    of_note = (one for one in candidates if one.note is candidates[0].note and one.unit.kind == "sentence")
    return next((one for one in of_note if _SUM.search(one.unit.own()) and fits(question, one.unit)), None)


def _of_group(
    question: Question, computation: Computation, group: Sequence[Candidate]
) -> ComposedAnswer | None:
    """What is computed of entries of one kind; an answer without lines where none is of the days that are asked for."""
    if is_of_other_days(question, group):
        return ComposedAnswer()
    if computation.result == "count" or _counts_entries(question, computation, group):
        entries = _of_question(question, computation, group, is_measured=False)
        entries = _of_times([one for one in entries if not _CALLED_OFF.search(one.unit.own())])
        head = count_text(len(entries), "entries", is_chinese=question.is_chinese)
        return _answer(entries, head) if entries else None
    measure = _measure_of(question, computation, [one.unit for one in group])
    if measure is None:
        return None
    if group[0].unit.kind != "row":
        group = _of_measuring_lists(group, measure)
    entries = _of_question(question, computation, group, is_measured=True) if group else []
    values = [(one, value) for one in entries if (value := measure.of(one)) is not None]
    if not values or not are_addable([value for _, value in values]):
        return None
    if computation.result in ("largest", "smallest"):
        numbers = numbers_in_one_unit([value for _, value in values])
        best = max(numbers) if computation.result == "largest" else min(numbers)
        return _answer([one for (one, _), number in zip(values, numbers, strict=True) if number == best])
    if len(values) == 1:
        return _answer([values[0][0]])
    result = add_values([value for _, value in values], is_average=computation.result == "average")
    head = _result_text(question, computation, measure, result)
    return _answer([one for one, _ in values], _with_count(question, head, len(values), len(entries)))


def _is_entry(unit: Unit) -> bool:
    return unit.kind == "row" or (unit.kind in LIST_KINDS and unit.state is None)


def _entries_like(best: Candidate, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The entries beside one, in the order of the text: rows of tables with the same columns, in any note; items of its
    note that have none below them. None that is computed of the others."""
    columns: dict[tuple[int, int], set[str]] = {}
    for one in candidates:
        columns.setdefault(_table(one), set()).update(name for name, _ in one.unit.columns)
    above = {unit.parents[-1] for unit in best.note.reading.units if unit.parents}

    def is_like(one: Candidate) -> bool:
        if best.unit.kind == "row":
            return one.unit.kind == "row" and columns[_table(one)] == columns[_table(best)]
        is_item = one.unit.kind != "row" and _is_entry(one.unit)
        return one.note is best.note and is_item and one.unit.text not in above

    group = [one for one in candidates if is_like(one) and not is_total_entry(opening(one.unit))]
    return sorted(group, key=lambda one: (one.note.path, one.unit.start))


def _table(one: Candidate) -> tuple[int, int]:
    return id(one.note), one.unit.block


def opening(unit: Unit) -> str:
    """What an entry begins with: the first cell of a row."""
    return unit.columns[0][1] if unit.columns else unit.own()


def _of_measuring_lists(group: Sequence[Candidate], measure: _Measure) -> list[Candidate]:
    """The entries of the lists of which most have the value."""
    blocks: dict[int, list[bool]] = {}
    for one in group:
        blocks.setdefault(one.unit.block, []).append(measure.of(one) is not None)
    return [one for one in group if sum(known := blocks[one.unit.block]) >= MIN_SHARE * len(known)]


def _of_question(
    question: Question, computation: Computation, group: Sequence[Candidate], *, is_measured: bool
) -> list[Candidate]:
    """The entries that have all that only some of them have of the question; none where it says what none has.

    Args:
        question: as it was read.
        computation: what it asks for.
        group: entries of one kind.
        is_measured: whether words for what is measured need not be said.
    """
    entries = of_days(question, group)
    dates, kind = read_spans(question.text), tokens(computation.kind)
    deed = {*tokens(computation.verb), *computation.verb}
    other_words = [
        t.token for t in question.terms if not (t.is_generic or t.token in deed or t.token[:1].isdigit())
    ]
    # The model compares German verbs with nothing; another word has to say what was done.
    is_named_in_german = language(question.text) == "german" and any(
        _having(word, group) for word in other_words
    )
    for term in question.terms:
        token = term.token
        if token == DAYS or token in kind or any(d.start < term.end and term.start < d.end for d in dates):
            continue
        having = _having(token, group)
        if having:
            entries = [one for one in entries if id(one) in having]
            continue
        is_deed = token in deed and (is_named_in_german or regular(token) in _ANY_DEED)
        if not (term.is_generic or is_deed or (is_measured and _is_measure_word(question, token))):
            return []
    return entries


def _having(word: str, group: Sequence[Candidate]) -> set[int]:
    """The entries, by ``id``, that have a word; all where it is only said in other words of each, none where not of all."""
    if starts_cjk(word):  # 电费 is what stands below 电, also where the note is 水电费
        below = {id(one) for one in group if one.unit.headings and one.unit.headings[-1] in word[:-1]}
        if 0 < len(below) < len(group):
            return below
    near = {id(one): max(one.own.get(word, 0.0), one.near.get(word, 0.0)) for one in group}
    levels = {id(one): one.level(word) for one in group}
    if min(levels.values()) >= CLEAR:
        return set(levels)
    for of_entries in (near, levels):
        best = max(of_entries.values())
        if best >= SIMILAR:  # a price is paid where the list says so, with a sum of money or not
            return {key for key, level in of_entries.items() if level >= (best if word in COSTS else SIMILAR)}
    return set()


def _is_measure_word(question: Question, token: str) -> bool:
    """Whether a word of the question only says what is measured: a unit, or what costs."""
    return token in COSTS | _MEASURING or token in tokens(question.count_noun) or bool(unit_at(token, 0)[0])


def _counts_entries(question: Question, computation: Computation, group: Sequence[Candidate]) -> bool:
    """Whether the entries themselves are counted: "how many books did I read?" of a table of books."""
    noun = next(iter(tokens(question.count_noun)), "")
    if computation.result != "sum" or not noun or _asked_unit(question):
        return False
    row = group[0].unit
    is_column = any(noun in tokens(name) and column_values([row], name)[0] for name, _ in row.columns)
    return not is_column and all(
        max(one.near.get(noun, 0.0), one.above.get(noun, 0.0)) >= SIMILAR for one in group
    )


def _measure_of(question: Question, computation: Computation, units: Sequence[Unit]) -> _Measure | None:
    """What is asked for of the entries; None where they do not measure it."""
    if computation.concept == "date":
        return _measure(units, [_day_value(unit) for unit in units])
    fits = _fit_of(question, computation)
    if units[0].kind == "row":
        worth = _NAMES_OF_WORTH.get(computation.concept)
        measure = _column(question, units, fits, worth)
        is_open = measure is None and computation.concept == "duration"  # the longest walk
        return _column(question, units, _is_length) if is_open else measure
    counted_number = _number_of(question)
    values = [] if counted_number is None else [_match_value(counted_number.search(u.own())) for u in units]
    return _measure(units, values if any(values) else item_values(units, fits))


def _measure(units: Sequence[Unit], values: Sequence[EntryValue | None], name: str = "") -> _Measure:
    pairs = zip(units, values, strict=True)
    return _Measure({id(unit): value for unit, value in pairs if value is not None}, name)


def _is_length(value: EntryValue) -> bool:
    return value.dimension == "[length]"


def _day_value(unit: Unit) -> EntryValue | None:
    """The day of an entry as a number; None where it states none, or no year."""
    days = [one.span.start for one in dates_in(unit.own()) if one.span.start is not None]
    return EntryValue(float(days[0].toordinal()), "") if days else None


def _number_of(question: Question) -> re.Pattern[str] | None:
    """The number of what is counted: ``3 eggs`` of "how many eggs did I use?"."""
    noun = question.count_noun
    return None if not noun or _asked_unit(question) else number_of(noun)


def _match_value(match: re.Match[str] | None) -> EntryValue | None:
    return None if match is None else EntryValue(max(numbers(match["number"])), "")


def _fit_of(question: Question, computation: Computation) -> Fit:
    """Which values may be what is asked for; one without a unit may be anything."""
    words = {term.token for term in question.terms} | {*tokens(computation.verb), *computation.verb}
    if "money" in question.wants or words & COSTS or computation.concept == "price":
        return lambda value: not value.unit or value.unit in CURRENCIES
    unit = _asked_unit(question)
    if computation.concept in OF_WORTH:
        return lambda value: value.unit in ("", "percent")
    if question.count_noun and not unit:
        return lambda value: not value.unit
    dimension = _DIMENSIONS.get(question.asked_as) or _DIMENSIONS.get(computation.concept)
    dimension = dimension_of(unit) if unit else dimension
    return lambda value: not (value.unit and dimension) or value.dimension == dimension


_OF_ONE_THING = {"tall": "[length]", "deep": "[length]", "wide": "[length]", "heavy": "[mass]"}
"""What is measured of one thing, by the word behind "how"; "how far?" is answered in minutes as well."""


def lacks_measure(question: Question, units: Sequence[Unit]) -> bool:
    """Whether a length or weight is asked for, "how many km did I swim?", "how tall is it?", and no unit of a note states
    one."""
    unit = _asked_unit(question) if question.computation is not None else ""
    dimension = dimension_of(unit) if unit else _OF_ONE_THING.get(question.asked_as, "")
    if dimension not in ("[length]", "[mass]"):
        return False
    if not unit and any(states_measure(question, one) for one in units):
        return False
    cells = (value for one in units for name, _ in one.columns for value in column_values([one], name))
    stated = (*cells, *(value for one in units for value in read_values(one.own())))
    return not any(
        value is not None and (value.dimension == dimension or value.unit == "percent") for value in stated
    )


def _asked_unit(question: Question) -> str:
    """The unit that the question asks in: "how many kilometres", 多少公里."""
    if question.count_noun:
        return unit_at(question.count_noun, 0)[0]
    match = _HAN_UNIT.search(question.text)
    return "" if match is None else unit_at(match["unit"], 0)[0]


def _column(
    question: Question, units: Sequence[Unit], fits: Fit, worth: re.Pattern[str] | None = None
) -> _Measure | None:
    """The column that holds what is asked for: the one that is named, the one whose values are of its kind, the only one with
    numbers.

    Args:
        question: as it was read.
        units: rows with the same columns.
        fits: whether a value may be what is asked for.
        worth: what a column of worth is called, where that is compared: its values fit, and it is called so or named.
    """
    names = dict.fromkeys(name for unit in units for name, _ in unit.columns[1:] if name)
    cells = {name: column_values(units, name) for name in names}
    values = {name: [value for value in its if value is not None] for name, its in cells.items()}
    numeric = [name for name, its in values.items() if len(its) >= MIN_SHARE * len(units)]
    if worth is not None:
        numeric = [name for name in numeric if all(map(fits, values[name]))]
    words = {term.token for term in question.terms} | {*tokens(question.count_noun), question.measure}
    named = [name for name in numeric if words & {*tokens(name)} or _is_in_han(name, question.text)]
    if worth is None:
        kind = [
            name for name in named or numeric if all(value.unit and fits(value) for value in values[name])
        ]
        only = [name for name in numeric if len(numeric) == 1 and all(map(fits, values[name]))]
    else:
        kind, only = [name for name in numeric if worth.search(name)], []
    name = next((some[0] for some in (named, kind, only) if len(some) == 1), None)
    return None if name is None else _measure(units, cells[name], column_name(name))


def _is_in_han(column: str, text: str) -> bool:
    return starts_cjk(column) and column_name(column) in text


def _result_text(question: Question, computation: Computation, measure: _Measure, result: EntryValue) -> str:
    """What is computed, with its name: ``Distance, total: 23.6 km``."""
    name = "" if measure.name == result.label else measure.name
    if question.is_chinese:
        return f"{name}{AGGREGATES[computation.result][1]}：{result.text()}"
    what = AGGREGATES[computation.result][0]
    return f"{f'{name}, {what}' if name else what.capitalize()}: {result.text()}"


def _with_count(question: Question, text: str, measured_entries: int, entries: int) -> str:
    """A result with the number of entries that it is computed of, and of those that lack the value."""
    count = (
        str(entries)
        if measured_entries == entries
        else f"{measured_entries}{'/' if question.is_chinese else ' of '}{entries}"
    )
    return f"{text}（{count} 项）" if question.is_chinese else f"{text} ({count} entries)"


def _of_times(group: Sequence[Candidate]) -> list[Candidate]:
    """The entries, of those below one day, its heading or its item, the first."""
    first: dict[tuple[str, ...], Candidate] = {}
    for one in group:
        above = (*one.unit.headings, *one.unit.parents)
        is_below_day = bool(above) and bool(dates_in(above[-1])) and not dates_in(one.unit.own())
        first.setdefault(
            (one.note.path, *above) if is_below_day else (one.note.path, str(one.unit.start)), one
        )
    return list(first.values())


def _answer(entries: Sequence[Candidate], head: str = "") -> ComposedAnswer:
    lines = tuple(line_of(one.unit, one.note, titled_text(one)) for one in entries)
    return ComposedAnswer(lines, tuple(entries), head=head, is_whole=True)
