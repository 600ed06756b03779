"""Values that a question may want, and whether a unit holds one: an amount, a sum of money, a frequency, a day, a name."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache

from agentic_rag.dates.months import MONTH
from agentic_rag.notes.units import LIST_KINDS, Unit
from agentic_rag.questions.attributes import PLACES
from agentic_rag.questions.generic_words import MEASURE_WORDS
from agentic_rag.questions.money import COSTS, is_sum_name
from agentic_rag.questions.question import Question
from agentic_rag.questions.wording import Kind
from agentic_rag.questions.written_kinds import WRITINGS, writing_of
from agentic_rag.text import starts_cjk, tokens
from agentic_rag.text.numbers import NUMBER_WORDS

_MONEY = re.compile(
    r"[$€£¥￥]\s?\d|[一二两三四五六七八九十百千万]\s?(?:元|块)|\d\s?(?:[$€£¥￥元欧镑]|块钱?|万元|[美日港韩]元|美金|英镑|法郎|瑞郎|克朗|卢布|人民币|(?:euros?|dollars?|pounds?|yuan|yen|crowns?|kron\w+|francs?|rupees?|cents?|bucks?|quid"
    r"|usd|eur|gbp|chf|cny|rmb|jpy|kr)\b)",
    re.IGNORECASE,
)

_SEPARATOR = re.compile(r"[,、，;；]|\s(?:and|und|or|oder)\s|[和与]")


def names_several(unit: Unit) -> bool:
    """Whether a unit is one of several of its kind, an item or a row, or names several things itself."""
    return unit.kind in (*LIST_KINDS, "row") or len(_SEPARATOR.findall(unit.own())) >= SEVERAL - 1


SEVERAL = 3
"""Things from which a unit lists them."""
VERSIONS = frozenset(("version", "版本"))
"""Words that the number of a version expresses: "since 2.3.0"."""
_VERSION = re.compile(r"(?<![\d.$€£¥:])[vV]?\d+\.\d+(?:\.\d+)*(?![\d%])")


def states_cost(unit: Unit) -> bool:
    """Whether a unit has an amount of money, or a value that is called a cost."""
    is_called_so = any(COSTS.intersection(tokens(name)) for name in _value_names(unit))
    return is_called_so or _MONEY.search(unit.own()) is not None


def states_version(unit: Unit) -> bool:
    """Whether a unit has the number of a version."""
    return _VERSION.search(unit.own()) is not None


NUMBERS = frozenset(("number", "nummer"))
"""Words that are written short before a number: "claim no. 17"."""
_SHORT_NUMBER = re.compile(r"(?:\bno\.|\bnr\b\.?|№|#)\s?[\w/-]*\d", re.IGNORECASE)


def states_number(unit: Unit) -> bool:
    """Whether a unit has a number that is called so in short."""
    return _SHORT_NUMBER.search(unit.own()) is not None


_CAUSE = re.compile(
    r"\b(?:because|since|due to|owing to|thanks to|so that|so as to|in order to|to avoid|reasons?|caused? by|as a result|weil|denn"
    r"|damit|wegen|deshalb|deswegen|darum|daher|aufgrund|nämlich|begründung)\b|因为|由于|因此|为此|所以|为了|以免|以便|原因|导致|考虑到",
    re.IGNORECASE,
)
_REASON_NAME = re.compile(
    r"\b(?:why|reasons?|rationale|causes?|grund|gründe|begründung|ursachen?|motivation)\b|原因|理由|为什么|为何",
    re.IGNORECASE,
)


def states_reason(unit: Unit) -> bool:
    """Whether a unit says that one thing is the reason for another, or is called a reason: ``Why: …``."""
    return (
        _CAUSE.search(unit.own()) is not None
        or any(map(_REASON_NAME.search, _value_names(unit)))
        or is_listed_reason(unit)
    )


def is_listed_reason(unit: Unit) -> bool:
    """Whether a unit is a member of a list of reasons: below ``Reasons:``."""
    above = (unit.lead or "", *unit.parents[-1:], *unit.headings[-1:])
    return unit.kind in LIST_KINDS and any(map(_REASON_NAME.search, above))


def _value_names(unit: Unit) -> tuple[str, ...]:
    """What a unit calls its values: its name, or its columns."""
    return (unit.key or "", *(name for name, _ in unit.columns))


def states_measure(question: Question, unit: Unit) -> bool:
    """Whether a unit names the measure that is asked for, or says it with a number: ``Speed: 30 ft.``, "5 feet tall"."""
    if question.asked_as and _number_with(question.asked_as).search(unit.text):
        return True
    if any(is_called_one_of(names, unit) for _, names in question.attributes):
        return True
    names = (*_value_names(unit), *unit.parents) if question.measure else ()
    if any(question.measure in tokens(name) for name in names):
        return True
    measured = _MEASURE_UNITS.get(question.asked_as)
    return measured is not None and measured.search(unit.own()) is not None


_MEASURE_UNITS = {
    asked_as: re.compile(rf"\d\s?(?:{units})", re.IGNORECASE)
    for words, units in (
        ("fast", r"km/h|kmh\b|m/s|mph\b|kph\b|kn\b|knots?\b|miles? (?:an|per) hour|公里/?小时|米/秒"),
        ("heavy", r"(?:[km]?g|lbs?|t|oz)\b|kilos?\b|pounds?\b|tons?\b|tonnes?\b|stone\b|公斤|千克|克|斤|吨"),
        (
            "big large",
            r"(?:m2|m²|qm|sqm|ha|cm|mm|m)\b|square |acres?\b|hectares?\b|平米|平方|亩|公顷|[x×]\s?\d",
        ),
        ("tall high deep wide", r"(?:[cmk]?m|ft)\b|feet\b|foot\b|inch|met(?:er|re)s?\b|[cm]?米|公分"),
        ("hot warm cold", r"°|degrees?\b|grad\b|度|[CF]\b"),
    )
    for asked_as in words.split()
}
"""A number with a unit of what is asked for by the word behind "how"."""


def has_measure_asked(question: Question, unit: Unit) -> bool:
    """Whether a unit has a number of what is asked for, where a question asks "how fast?" or for another measure that its unit
    tells."""
    return question.asked_as not in _MEASURE_UNITS or states_measure(question, unit)


def is_called_one_of(names: Set[str], unit: Unit) -> bool:
    """Whether a unit's name, or that of one of its columns, has one of the stems or Chinese words."""
    return any(
        not names.isdisjoint(tokens(own)) or any(name in own for name in names if starts_cjk(name))
        for own in _value_names(unit)
    )


_HAN_COUNT = r"(?<![\d.,])\d+|[一二三四五六七八九十百千两]+"


@lru_cache(maxsize=64)
def number_of(noun: str) -> re.Pattern[str]:
    """How many there are of what is counted, as the group ``number``: ``3 large eggs``, 五个食堂.

    Args:
        noun: as the question has it, in the singular.
    """
    if starts_cjk(noun):
        return re.compile(rf"(?P<number>{_HAN_COUNT})\s?[{MEASURE_WORDS}][\u4e00-\u9fff]{{0,2}}?{noun[:2]}")
    return re.compile(
        rf"(?<![\w.,])(?P<number>\d+(?:\.\d+)?|{'|'.join(NUMBER_WORDS)})\s+(?:[\w-]+\s+)?{re.escape(noun)}\w{{0,2}}\b",
        re.IGNORECASE,
    )


def states_count(question: Question, unit: Unit) -> bool:
    """Whether a unit says how many there are of what the question counts."""
    return bool(question.count_noun) and number_of(question.count_noun).search(unit.own()) is not None


@lru_cache(maxsize=64)
def _number_with(word: str) -> re.Pattern[str]:
    """A number and what it measures: 6 feet tall."""
    return re.compile(rf"(?<![\w.,])\d[\w.,]*+\s+(?:[\w-]++\s+)?{word}s?\b")


# Of lower-case text: to compare letters of either case takes twice the time.
_NUMBER = re.compile(
    r"[\d一二三四五六七八九十百两半]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|half|dozen|twice|once"
    r"|ein(?:e[nmrs]?|mal)?|zwei(?:mal)?|drei(?:mal)?|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|halb\w*|beide|keine?)\b"
)
_DAY = re.compile(
    r"\d(?:\d{3}-\d\d|[:：]\d\d|\s*[年月日点号])|\b(?:\d{4}\b"
    r"|at (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|a quarter|noon|midnight)\b"
    rf"|(?!may\b){MONTH.lower()}|(?:in|by|since|until|till|of|early|late|mid|last|next|\d)[ -]may\b|may(?= ?(?:\d|$|[,.;:)]))|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|mitternacht"
    r"|(?:winter|spring|summer|autumn|morning|evening|noon|night)\b"
    r"|(?:frühling|sommer|herbst|morgen|vormittag|mittag|nachmittag|abend|nacht)s?\b)|\d\d?\.\s?\d\d?\."
    r"|o['’]clock|[周星期][一二三四五六日天]|[早晚]上|凌晨|下午|上午|[春夏秋冬]"
)
_TIME = re.compile(
    r"\d\s*(?:-|–|to)?\s*\d*\s*(?:s|sec\w*|min\w*|h|hrs?|hours?|days?|weeks?|months?|years?|d)\b"
    r"|[\d一二三四五六七八九十半两]\s*个?(?:秒|分|小时|天|周|星期|月|年)|\b(?:minute|hour|day|week|month|year)s?\b|\b(?:sekunde|minute|stunde|tag|woche|monat|jahr)(?:e?[ns]|e)?\b|\d\s?std\b"
)
_FREQUENCY = re.compile(
    r"\b(?:every|each|per|daily|weekly|monthly|quarterly|yearly|annual(?:ly)?|hourly|nightly"
    r"|bi-?(?:weekly|monthly|annual(?:ly)?)|once|twice|times|periodically|regularly|occasionally|frequently|rarely"
    r"|always|never|seldom|an? (?:day|week|month|year))\b"
    r"|(?<=\w)(?:days|lich)\b|mal\b|\bjede|[每次]|经常|总是|从不|偶尔"
)
_NAME = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][\w'’.-]+|^[A-Z][\w'’.-]+ [A-Z]|[\u4e00-\u9fff]{2,4}")

_PLACE = re.compile(
    rf"{_NAME.pattern}|\B#[a-z][\w-]+|\b(?:under|behind|beside|beneath|inside|outside|next to|opposite|in the back of)\s\w"
)
_FULL_NAME = re.compile(r"(?<=: |, )[A-Z][\w'’.-]+ [A-Z]|[\u4e00-\u9fff]{2,4}")


_DECISION = re.compile(
    r"\b(?:decided|decision|agreed|settled on|we (?:go|went) (?:with|for)|put off|postponed|beschlossen|beschluss|entschieden|entscheidung|vereinbart"
    r"|verschoben)\b|决定|定了|改为"
)
_IN_LOWER_CASE: dict[Kind, re.Pattern[str]] = {
    "amount": _NUMBER,
    "money": _MONEY,
    "duration": _TIME,
    "frequency": _FREQUENCY,
    "date": _DAY,
    "decision": _DECISION,
}


_CONDITION = re.compile(
    r"\b(?:when(?:ever)?|if|once|after|before|until|till|during|while|since|as soon as|at the (?:end|beginning|start)"
    r"|wenn|sobald|nach(?:dem)?|vor|bis|während|seit|beim?|am|im)\b|[之以]?[后前时]|期间|直到|以来|开始|结束|如果"
)


PEOPLE = frozenset(("people", "person", "persons", "leute", "personen", "人"))
"""What counts people as such, whoever they are."""
_PERSONS = re.compile(
    r"\b(?:people|persons?|guests?|members?|participants?|attendees?|players?|students?|pupils?|kids?|children|adults?|men|women"
    r"|friends?|family|families|teams?|staff|employees?|volunteers?|colleagues?|users?|runners?|starters?|crew|us|we|they|alone"
    r"|leute|personen|gäste?n?|mitglieder\w*|teilnehm\w+|kinder\w*|schüler\w*|erwachsene\w*|helfer\w*|starter\w*)\b|[人位名]|我们|他们|大家",
    re.IGNORECASE,
)


_NAMES = re.compile(r"\b[A-Z]\w+(?:, [A-Z]\w+)*,? (?:and|und|&) (?:I\b|me\b|ich\b|my\b|[A-Z]\w+)|[和、]我")


def speaks_of_people(question: Question, unit: Unit) -> bool:
    """Whether a unit, or what stands above it, speaks of people or names some, or is a number that is called as the question
    does: ``serves: 4``."""
    if _is_called_as_asked(question, unit) and _begins_with_number(unit):
        return True
    texts = (unit.display_text(), unit.lead or "", *unit.headings[-1:])
    return any(map(_PERSONS.search, texts)) or _NAMES.search(unit.own()) is not None


_EVENT = re.compile(
    r"^\W*(?:and |so )?(?:when(?:['’]s| is| was| are| were)|wann (?:ist|war|sind|waren|findet))\b",
    re.IGNORECASE,
)


def states_time(question: Question, unit: Unit) -> bool:
    """Whether a unit names a day, a time or how often, or stands below a day; of what is no event, "when is the fair?", a
    condition does as well, "once it is dry"."""
    text = unit.display_text().lower()
    patterns = [_DAY, _TIME, _FREQUENCY] + ([] if _EVENT.match(question.text) else [_CONDITION])
    above = (unit.lead or "", *unit.headings)
    return any(one.search(text) for one in patterns) or any(_DAY.search(name.lower()) for name in above)


def fits(question: Question, unit: Unit) -> bool:
    """Whether a unit holds a value of the kind that is wanted; none does where the question wants none."""
    own = unit.own() if question.wants else ""
    return any(_has_value(kind, own, question, unit) for kind in question.wants)


STRICT = frozenset(("money", *WRITINGS))
"""Kinds without which a unit says nothing of what is asked, however much it says beside."""


def _has_value(kind: Kind, own: str, question: Question, unit: Unit) -> bool:
    if kind == "place":
        return _PLACE.search(own) is not None or is_called_one_of(PLACES, unit)
    if kind == "person":
        # "genre: Futurism, Nonfiction" lists words, and "cast: Harrison Ford, Sean Young" names.
        is_list = unit.kind == "property" and "," in unit.text
        return (_FULL_NAME if is_list else _NAME).search(own) is not None
    writing = writing_of(kind)
    if writing is not None:
        asked = question.text.lower()
        is_called_so = any(map(writing.question.search, _value_names(unit)))
        if is_called_so and _NUMBER.search(own.lower()):  # ``temperature (°C): 180``
            return True
        texts = (own, *unit.headings, *unit.parents)  # a version may be a heading
        values = (match.group().lower() for text in texts for match in writing.value.finditer(text))
        return any(
            value not in asked for value in values
        )  # 几点 is not answered by the evening that is asked about
    if kind == "money":
        if any(map(is_sum_name, _value_names(unit))):
            return _NUMBER.search(own.lower()) is not None
        if _is_called_as_asked(question, unit) and _begins_with_number(unit):
            return True
    return _IN_LOWER_CASE[kind].search(own.lower()) is not None


def _begins_with_number(unit: Unit) -> bool:
    """Whether the value behind a unit's name, or one of its cells, begins with a number: ``Espresso: 2.50``."""
    values = [value for _, value in unit.columns] or [unit.text]
    return any(_NUMBER.match(value.strip().lower()) for value in values)


def _is_called_as_asked(question: Question, unit: Unit) -> bool:
    """Whether the unit's name, or one of its columns, has a term of the question: ``budget: 2000``."""
    names = {word for name in _value_names(unit) for word in tokens(name)}
    return any(term.token in names and not term.is_name for term in question.terms)
