"""Time intervals stated in a sentence, with a preference for precision over recall; and the match of a passage's
dates with them.

Recognised are dates with a year, in English, Chinese and Japanese: ``1994``, ``March 2023``, ``5 March 2023``,
``March 5, 2023``, ``2023-03``, ``2023-03-05``, ``2023/3/5``, ``2023.03.05``, ``2023年3月5日``, ``二〇二三年三月``. An end
is exclusive: the end of the stated day, month or year. Ignored are relative ("last year"), vague ("in early
1994", "before 2000") and negated ("not until 2019") dates, several times in one sentence, and a single date in
the middle of a statement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from agentic_rag.dates.instants import moment_of
from agentic_rag.dates.months import month_number

Interval = tuple[datetime | None, datetime | None]
"""(start, end): start inclusive, end exclusive, UTC; None is open."""

_YEAR = r"(?<![\d.,/])(?:1\d{3}|20\d{2})(?![\d/%])(?![.,]\d)(?!['’]?s\b)"
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_ISO = r"(?<![\d.,/-])(?:1\d{3}|20\d{2})-\d{2}(?:-\d{2})?(?![\d-])"
_FULL = rf"(?:{_ISO}|(?:{_DAY}\s+(?:of\s+)?)?{_MONTH},?\s+(?:of\s+)?{_YEAR}|{_MONTH}\s+{_DAY},?\s+{_YEAR}|{_YEAR})"
_PARTIAL = rf"(?:{_DAY}\s+{_MONTH}|{_MONTH}\s+{_DAY}|{_MONTH})"
_TO = r"(?:\s+(?:to|until|till|through|up\s+to)\s+|\s*[–—]\s*|\s*-\s*)"
# After the date: nothing, punctuation, or a word that cannot make the number a count ("in 2000 houses").
_TAIL = (
    r"(?=\s*(?:[^\w\s%°/~–—-]|\Z)|\s+[–—-]\s|\s+(?:the|a|an|he|she|it|they|we|i|you|his|her|their|its|this|that|and|but|or|as|at|by|to|for|from"
    r"|with|when|where|while|who|which|was|were|is|are|has|had|after|before|under|through|during|because|then|there|onwards?"
    r"|until|till|in|on|of|over)\b|\s+(?-i:[A-Z])(?-i:(?!C\b|CE\b|D\b|BC\b)))"
)
_HAN_DATE = r"(?<!\d)(?:1\d{3}|20\d{2})\s*年(?:\s*\d{1,2}\s*月(?:\s*\d{1,2}\s*[日号])?+)?+"
_HAN = rf"(?:{_HAN_DATE}|{_ISO})"
_HAN_PARTIAL = r"\d{1,2}\s*月(?:\s*\d{1,2}\s*[日号])?+"
_HAN_TO = r"\s*(?:到|至|から|—{1,2}|–|-|~|～)\s*"
_HAN_TAIL = r"(?!\s*(?:代|至|到|起|以来|から|まで|以降|之?前|以前|之?后|之後|以后|級|级|版|款|制|间|度|の|より|頃|ごろ|左右|初|底|末|春|夏|秋|冬|[上下]半|第))"

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("range", rf"\bfrom\s+(?P<a>{_FULL}|{_PARTIAL}){_TO}(?P<b>{_FULL}){_TAIL}"),
        ("range", rf"\bbetween\s+(?P<a>{_FULL}|{_PARTIAL})\s+and\s+(?P<b>{_FULL}){_TAIL}"),
        ("range", rf"\b(?:during|in|for)\s+(?P<a>{_YEAR})\s*[–—-]\s*(?P<b>{_YEAR}){_TAIL}"),
        ("since", rf"\bfrom\s+(?P<a>{_FULL}){_TO}(?:the\s+present|present|now|today)\b"),
        ("since", rf"\bsince\s+(?P<a>{_FULL}){_TAIL}"),
        ("since", rf"\bfrom\s+(?P<a>{_FULL})\s+(?:on|onwards?)\b"),
        ("until", rf"(?<!not )(?<!n't )\b(?:until|till)\s+(?P<b>{_FULL}){_TAIL}"),
        ("in", rf"\b(?:in|during|on)\s+(?P<a>{_FULL}){_TAIL}"),
        (
            "range",
            rf"[从自由]?\s*(?P<a>{_HAN}){_HAN_TO}(?P<b>{_HAN}|{_HAN_PARTIAL})(?:为止|まで)?{_HAN_TAIL}",
        ),
        ("since", rf"[自从]\s*(?P<a>{_HAN})\s*(?:起|以来|开始|開始)"),
        ("since", rf"[从自]?\s*(?P<a>{_HAN})\s*(?:至今|到今天|到现在)"),
        ("since", rf"(?P<a>{_HAN})\s*(?:起|以来|以降|から)"),
        ("until", rf"(?:直到\s*(?P<b>{_HAN}){_HAN_TAIL}|到\s*(?P<c>{_HAN})\s*为止)"),
        ("until", rf"(?P<b>{_HAN})\s*まで"),
        ("in", rf"(?<![早晚先]于)(?<![到至约近过自从由])(?P<a>{_HAN_DATE}){_HAN_TAIL}"),
    )
)
_SEASONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("spring", "春"), (3, 3)),
    **dict.fromkeys(("summer", "夏"), (6, 3)),
    **dict.fromkeys(("autumn", "fall", "秋"), (9, 3)),
    **dict.fromkeys(("winter", "冬"), (1, 14)),
    **dict.fromkeys(("first half", "上半"), (1, 6)),
    **dict.fromkeys(("second half", "下半"), (7, 6)),
}
"""First month and number of months. Winter is both the beginning and the end of the year: the whole year counts."""
_ASKED: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (
            "part",
            rf"\b(?P<part>spring|summer|autumn|fall|winter|(?:first|second)\s+half)\s+(?:of\s+)?(?P<a>{_YEAR})(?!\s+(?:Olympic|Games))",
        ),
        (
            "part",
            r"(?<!\d)(?P<a>(?:1\d{3}|20\d{2}))\s*年?\s*的?(?P<part>[春夏秋冬](?=天|季(?!奥)|\W|\Z)|[上下]半)",
        ),
        ("before", rf"\b(?:before|prior\s+to)\s+(?P<a>{_FULL})"),
        ("after", rf"\bafter\s+(?P<a>{_FULL})"),
        ("before", rf"(?P<a>{_HAN})\s*(?:以|之)?前(?![后後\d一二三四五六七八九十几半])"),
        ("after", rf"(?P<a>{_HAN})\s*(?:以|之)?[后後](?![\d一二三四五六七八九十几半])"),
    )
)
_NEGATED = re.compile(
    r"\b(?:not|never|n['’]t|if|unless|hardly)\b[^.;]{0,60}\Z|[不没未非]\S{0,8}\Z", re.IGNORECASE
)
_ANY_YEAR = re.compile(r"(?<!\d)(?:1\d{3}|20\d{2})(?!\d)")
_NUMBERS = re.compile(r"\d+")
_NAMED_MONTH = re.compile(_MONTH, re.IGNORECASE)


def stated_interval(text: str) -> Interval | None:
    """The one interval a sentence states, or None.

    >>> stated_interval("She led the club from March 2023 to June 2024.")[1].isoformat()
    '2024-07-01T00:00:00+00:00'
    """
    stated = _stated(text)
    return None if stated is None else stated[1]


def asked_interval(question: str) -> Interval | None:
    """The one interval that a question states: as ``stated_interval``; else a part of a year ("spring 2024", 2025
    上半年) or the time before or after a date ("before October 2024", 2024年十月以前).

    >>> asked_interval("What did I miss before October 2024?")[1].isoformat()
    '2024-10-01T00:00:00+00:00'
    """
    return stated_interval(question) or _besides(_in_one_form(question))


def _besides(question: str) -> Interval | None:
    found = [(kind, match) for kind, pattern in _ASKED for match in pattern.finditer(question)]
    if len(found) != 1 or len(_ANY_YEAR.findall(question)) != 1:
        return None
    ((kind, match),) = found
    unit = _unit(match["a"], None)
    if unit is None or _NEGATED.search(question[: match.start()]):
        return None
    if kind == "before":
        return None, unit[0]
    if kind == "after":
        return unit[1], None
    first, months = _SEASONS[" ".join(match["part"].lower().split())]
    start, end = unit[0].replace(month=first), first + months - 1
    return start, start.replace(year=start.year + end // 12, month=end % 12 + 1)


def holding_interval(text: str) -> Interval | None:
    """The interval in which a sentence's statement holds: as ``stated_interval``, but a single date is only its start.

    "In 1994 the garden was planted" is as true in 2024; "led it from 2022 to 2023" is not.

    >>> holding_interval("The garden was planted in 1994.")[1] is None
    True
    """
    stated = _stated(text)
    if stated is None:
        return None
    kind, (start, end) = stated
    return (start, None) if kind == "in" else (start, end)


def _stated(text: str) -> tuple[str, Interval] | None:
    text = _in_one_form(text)
    if not any(map(str.isdecimal, text)):
        return None
    found: list[tuple[int, int, Interval | None]] = []
    kinds: dict[Interval | None, str] = {}
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(start < taken_end and taken < end for taken, taken_end, _ in found):
                continue
            interval = _interval(kind, match)
            negated = kind in ("until", "since") and _NEGATED.search(text[max(0, start - 80) : start])
            if negated or (kind == "in" and not _of_whole_sentence(text, start, end)):
                interval = None
            found.append((start, end, interval))
            kinds.setdefault(interval, kind)
    if len(kinds) != 1 or None in kinds or _has_year_elsewhere(text, found):
        return None
    interval, kind = kinds.popitem()
    return None if interval is None else (kind, interval)


_DIGITS = "〇一二三四五六七八九"
_HAN_YEAR = re.compile(rf"(?<![{_DIGITS}零])[一二][{_DIGITS}零]{{3}}(?=\s*年)")
_HAN_COUNT = re.compile(
    r"(?<![一二三四五六七八九十百])[一二三四五六七八九十]{1,3}(?=\s*月)|(?<=月)[一二三四五六七八九十]{1,3}(?=\s*[日号])"
)


_SEPARATED = re.compile(
    r"(?<![\d.,/-])(1\d{3}|20\d{2})([/.])(0?[1-9]|1[0-2])\2(0?[1-9]|[12]\d|3[01])(?![\d/-]|\.\d)"
)


def _in_one_form(text: str) -> str:
    """Chinese numerals, slashes and dots in dates replaced by the usual form: ``二〇二三年十月`` becomes
    ``2023年10月``, ``2024/3/5`` becomes ``2024-03-05``."""
    text = _SEPARATED.sub(lambda date: f"{date[1]}-{date[3]:0>2}-{date[4]:0>2}", text)
    if "年" not in text:
        return text
    text = _HAN_YEAR.sub(lambda year: "".join(map(_digit, year[0])), text)
    return _HAN_COUNT.sub(lambda count: _counted(count[0]), text)


def _digit(character: str) -> str:
    return str(max(0, _DIGITS.find(character)))


def _counted(written: str) -> str:
    """Digits of a Chinese numeral below a hundred (month, day); any other text stays."""
    tens, ten, ones = written.rpartition("十")
    if len(tens) > 1 or len(ones) > 1 or "十" in tens:
        return written
    return f"{_digit(tens or '一')}{_digit(ones or '〇')}" if ten else _digit(ones)


def stated_moment(value: object) -> tuple[datetime, datetime] | None:
    """The day, month or year (start, end) in a property's value: ``2024``, ``2024-06``, ``2024-06-30T…``, ``June
    2024``.

    None for anything else.
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    written = _in_one_form(str(value).strip())
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*", written):
        moment = moment_of(written)
        return None if moment is None else (moment, moment)
    whole = re.fullmatch(rf"(?:{_FULL}|{_HAN})", written, re.IGNORECASE)
    return None if whole is None else _unit(written, None)


_NAMED_YEAR = re.compile(r"(?<![\d.,])(1\d{3}|20\d{2})(?:\s*[-–—/]\s*(\d{2})(?![-/]\d))?(?!\d)(?![.,]\d)")
_NAMED_DATE = re.compile(rf"{_HAN_DATE}|{_FULL}", re.IGNORECASE)
_AROUND_YEAR = 20, 12
"""Characters before and after a year that are searched for its month and day."""


def named_dates(text: str) -> list[tuple[datetime, datetime]]:
    """Every day, month or year (start, end) in a text, with the precision of the text, in order.

    ``1916-20`` gives both years. Other numbers (a price, a version) may be taken for a year.

    >>> [start.date().isoformat() for start, _ in named_dates("March 2023, 二〇二四年十月, 1916–20")]
    ['2023-03-01', '2024-10-01', '1916-01-01', '1920-01-01']
    """
    text = _in_one_form(text)
    found: list[tuple[datetime, datetime] | None] = []
    for match in _NAMED_YEAR.finditer(text):
        year, second = match.groups()
        if second is not None and int(second) > int(year) % 100:
            found += [_unit(year, None), _unit(f"{year[:2]}{second}", None)]
        else:
            found.append(_unit(_date_around(text, match.start()), None) or _unit(year, None))
    return [unit for unit in found if unit is not None]


def _date_around(text: str, year: int) -> str:
    """The full date around the year at this place; the year alone if there is no month or day."""
    before, after = _AROUND_YEAR
    opening = max(0, year - before)
    beside = text[year + 4 : year + 6].strip()[:1] in ("-", "年")
    if beside or _NAMED_MONTH.search(text, opening, year) is not None:
        for date in _NAMED_DATE.finditer(text[opening : year + 4 + after]):
            if date.start() <= year - opening < date.end():
                return date[0]
    return text[year : year + 4]


SAME_START, SAME_END, INSIDE = 1.9, 0.5, 1.0
"""Log-odds for a passage that names the year in which the question's interval begins, the year in which it ends,
or any time within; fitted on the first half of timeqa's questions. At most 3.4 together."""
OUTSIDE = 0.5
"""Factor on a year's log-odds if the passage names only days or months of it outside the interval: a state that
began in March may still hold in May."""
_INSTANT = timedelta(seconds=1)


def dates_match(stated: Interval, result: Mapping[str, Any]) -> float:
    """Match of a passage's dates with the question's interval, log-odds in [0, 3.4].

    Dates are read from the text with their own precision: for a question about March 2024, "2024" counts more
    than "October 2024". The date of the passage itself (a turn's, a note's) counts as a time within if it lies
    within.

    Args:
        stated: the question's interval, see ``asked_interval``; an open side matches anything.
        result: a fused result.
    """
    start, end = stated
    named = named_dates(result["content"])
    first = None if start is None else start.year
    last = None if end is None else (end - _INSTANT).year
    score = SAME_START * _share(first, named, stated)
    if last != first:
        score += SAME_END * _share(last, named, stated)
    within = any(_overlap(date, stated) for date in named)
    return score + (INSIDE if within or _dated_within(stated, result["metadata"].get("date")) else 0.0)


def _share(year: int | None, named: Sequence[tuple[datetime, datetime]], stated: Interval) -> float:
    """1 if a date of this year overlaps the interval, OUTSIDE if the text names only others of this year, else 0."""
    of_year = [date for date in named if year is not None and date[0].year == year]
    if not of_year:
        return 0.0
    return 1.0 if any(_overlap(date, stated) for date in of_year) else OUTSIDE


def _overlap(date: tuple[datetime, datetime], stated: Interval) -> bool:
    (first, last), (start, end) = date, stated
    return (start is None or last > start) and (end is None or first < end)


def _dated_within(stated: Interval, written: object) -> bool:
    moment = moment_of(written)
    return moment is not None and _overlap((moment, moment + _INSTANT), stated)


def _of_whole_sentence(text: str, start: int, end: int) -> bool:
    """Whether a single date applies to the whole sentence: at its start or end, or after 在 or 于.

    A date in the middle may belong to a neighbouring word ("from bushes set in 1962 and roasted by Lin"); in a
    question it always counts.
    """
    if text.rstrip()[-1:] in ("?", "？") or text[start - 1 : start] in ("在", "于"):
        return True
    return not any(map(str.isalpha, text[:start])) or not any(map(str.isalpha, text[end:]))


def _has_year_elsewhere(text: str, found: list[tuple[int, int, Interval | None]]) -> bool:
    return any(
        not any(start <= year.start() and year.end() <= end for start, end, _ in found)
        for year in _ANY_YEAR.finditer(text)
    )


def _interval(kind: str, match: re.Match[str]) -> Interval | None:
    groups = match.groupdict()
    first = groups.get("a")
    last = groups.get("b") or groups.get("c")
    if kind == "range" and first is not None and last is not None:
        years = [int(year) for year in _ANY_YEAR.findall(first + " " + last)]
        start = _unit(first, years[-1] if years else None)
        end = _unit(last, years[0] if years else None)
        if start is None or end is None or end[0] <= start[0]:
            return None
        return start[0], end[1]
    unit = _unit(first if first is not None else last or "", None)
    if unit is None:
        return None
    if kind == "since":
        return unit[0], None
    return (None, unit[1]) if kind == "until" else unit


def _unit(written: str, default_year: int | None) -> tuple[datetime, datetime] | None:
    """Start and end of the written day, month or year; None if it does not exist."""
    year_match = _ANY_YEAR.search(written)
    year = int(year_match.group()) if year_match is not None else default_year
    if year is None:
        return None
    rest = (
        written if year_match is None else written[: year_match.start()] + " " + written[year_match.end() :]
    )
    numbers = [int(number) for number in _NUMBERS.findall(rest)]
    named = _NAMED_MONTH.search(rest)
    if named is not None:
        numbers.insert(0, month_number(named.group()) or 0)
    try:
        if not numbers:
            return datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
        month = numbers[0]
        if len(numbers) == 1:
            start = datetime(year, month, 1, tzinfo=UTC)
            return start, datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        start = datetime(year, month, numbers[1], tzinfo=UTC)
    except ValueError:
        return None
    return start, start + timedelta(days=1)
