"""Comparisons that a question states in words: numbers with their direction, the largest or smallest, negation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from agentic_rag.questions.words import Place
from agentic_rag.text.numbers import NUMBER_WORDS, decimal, numbers
from agentic_rag.text.patterns import lazy_pattern

Operator = Literal["$eq", "$gt", "$gte", "$lt", "$lte"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A number that something is compared with."""

    operator: Operator
    value: float | str
    """A text where it is written as a share: ``5/5``."""
    span: Place
    """Of the words that compare and the number."""
    unit: str = ""
    """The word after the number, or the sign of a currency."""
    upper: float | None = None
    """Of a range, its largest value; ``value`` is the smallest, and both are within."""
    others: tuple[float | str, ...] = ()
    """Further values, where one of several is meant: "4 or 5 stars"."""
    concept: str = ""
    """What the comparative compares, by a noun, where it says so: ``size`` of "larger than"."""

    @property
    def about(self) -> str:
        """What is compared, by a noun, where the unit or the comparative says so."""
        unit = self.unit.casefold()
        if _TIME.fullmatch(unit):
            return "duration"
        return "price" if unit in _MONEY else "rating" if unit in _RATING_UNITS else self.concept


_RATING_UNITS = frozenset("分 星 star stars point points".split())
_MONEY = frozenset("块钱 $ € £ ¥ ￥ dollar dollars euro euros pound pounds usd eur yuan bucks 元 块".split())


_TIME = re.compile(r"h|hrs?|hours?|mins?|minutes?|分钟|个?小时|days?|weeks?")
_HAN_NUMBER = r"[一二两三四五六七八九十百千万]+"
_NUMBER = r"(?P<sign>[$€£¥￥]\s*)?(?P<number>\d(?:[\d,]*\d)?(?:\.\d+)?[万千百]?|半个?(?=[小月年天])|[一二两三四五六七八九十百千万]+(?=\s*[元块页分克个岁集季部本天年星次小公]))(?P<share>\s*/\s*\d+)?(?P<percent>\s*%)?"
_UNIT = r"(?(sign)|(?:[ \t]*-?(?P<unit>(?!an?\b)[a-zäöüß$€£¥]+|个?(?:小时|月|星期)|分钟|块钱|[元块页分克个岁集季部本天年星次]|公[里斤分]|厘?米))?)"
_WORDS: tuple[tuple[Operator, str], ...] = (
    (
        "$gte",
        r"(?:at least|no less than|not less than|minimum(?: of)?|(?:a )?min\.? (?:of )?|>=|≥|至少|不少于|不低于|mindestens)",
    ),
    (
        "$lte",
        r"(?:at most|no more than|not more than|up to|maximum(?: of)?|max\.? (?:of )?|<=|≤|至多|最多|不超过|不高于|höchstens)",
    ),
    (
        "$gt",
        r"(?:(?:more(?: expensive| costly)?|greater|higher|larger|longer|bigger|heavier|older|better|later|taller|wider|deeper|pricier|hotter|faster) than|over|above|exceed(?:s|ing)?|beyond|>|超过|多于|大于|高于|超出|über|mehr als)",
    ),
    (
        "$lt",
        r"(?:(?:less(?: expensive| costly)?|fewer|lower|smaller|shorter|cheaper|lighter|younger|worse|earlier|slower|colder) than|under|below|<|少于|低于|小于|不到|不足|unter|weniger als)",
    ),
)
_ARTICLES = {"a": 1, "an": 1, "half a": 0.5, "half an": 0.5, "半": 0.5, "半个": 0.5}
_ANY_NUMBER = _NUMBER.replace(
    "(?P<number>",
    rf"(?P<number>(?:(?:half )?an?(?= (?:minute|hour|day|week|month|year)\b)|{'|'.join(NUMBER_WORDS)})(?![a-z-])|",
)
"""A number that is compared may be a word, "more than three", "less than half an hour"."""
_BEFORE = tuple(
    (operator, lazy_pattern(rf"{words}\s*{_ANY_NUMBER}{_UNIT}", re.IGNORECASE)) for operator, words in _WORDS
)
_AFTER: tuple[tuple[Operator, re.Pattern[str]], ...] = (
    (
        "$gte",
        lazy_pattern(
            rf"{_NUMBER}{_UNIT}\s*(?:or (?:more|above|higher|over|better)|and (?:above|over|more)|\+|以上|及以上|或以上)",
            re.IGNORECASE,
        ),
    ),
    (
        "$lte",
        lazy_pattern(
            rf"{_NUMBER}{_UNIT}\s*(?:or (?:less|below|lower|under|fewer)|and (?:below|under)|以下|及以下|以内|之内)",
            re.IGNORECASE,
        ),
    ),
)
_HAN_THAN: tuple[tuple[Operator, re.Pattern[str]], ...] = (
    ("$gt", lazy_pattern(rf"比\s*{_NUMBER}{_UNIT}\s*(?:还|要|更)?[大多高贵长重久远老]")),
    ("$lt", lazy_pattern(rf"比\s*{_NUMBER}{_UNIT}\s*(?:还|要|更)?(?:[小少低短轻近]|便宜)")),
)
_DIMENSIONS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (concept, lazy_pattern(words, re.IGNORECASE))
    for concept, words in (
        ("price", r"cheaper|expensive|costly|pricier|[贵]|便宜"),
        ("size", r"larger|bigger|smaller|比.+[大小]"),
        ("duration", r"longer|shorter|[长短久]"),
        ("weight", r"heavier|lighter|[重轻]"),
        ("height", r"taller|deeper"),
        ("width", r"wider"),
        ("temperature", r"hotter|colder"),
        ("speed", r"faster|slower"),
        ("age", r"older|younger|老"),
        ("rating", r"better|worse"),
    )
)
"""What a comparative compares, by a noun."""


def _range(first: str, join: str, last: str, behind: str = "") -> re.Pattern[str]:
    """Two numbers and the words around them."""
    number = rf"[$€£¥￥]?\s*(?P<{{}}>\d[\d,]*(?:\.\d+)?|{_HAN_NUMBER})"
    unit = r"(?:[ \t]*-?(?P<{}>stars?|points?|dollars?|euros?|pages?|minutes?|hours?|min|kg|km|cm|公里|个?小时|分钟|[$€£¥￥%元块页分克个岁集季部本天星次]))?"
    return lazy_pattern(
        rf"{first}{number.format('low')}{unit.format('unit')}\s*(?:{join})\s*{number.format('high')}{unit.format('behind')}"
        + (behind or rf"(?![\w-]*\d|[.,:/]\d){last}"),
        re.IGNORECASE,
    )


_RANGES = (
    _range(r"(?<!\w)(?:between|zwischen)\s+", r"and|und|to|[-–—]", ""),
    _range(r"(?<!\w)(?:from|von)\s+", r"to|bis|[-–—]", ""),
    _range(r"(?<![\w.,/:-])", r"to|[–—]", ""),
    _range(r"(?<![\w.,/:-])", r"-", "", r"(?<=[a-zA-Z$€£%元块页分克个岁集季部本天星次])"),
    _range(r"(?:介于|在|从)?(?<![\d.年第])", r"[到至~～]", "", r"(?![月日号年点\d])(?:之间)?"),
    _range(r"(?:介于|在)?(?<![\d.年第])", r"[和与]", "", r"\s*之间"),
)
"""Ranges, both ends within: "between 3 and 5", "3-5 stars", 3到5."""
_OR = re.compile(r"\s*(?:,|or|oder|、|或者?|还是)\s*", re.IGNORECASE)
_HAN_EQUAL = lazy_pattern(
    rf"(?<=[\u4e00-\u9fff])(?<!星期)(?<![第周\d一二两三四五六七八九十百千万])(?:等于|[是为])?\s*(?P<number>\d+(?:\.\d+)?|{_HAN_NUMBER})(?:块钱|[元块页分克岁集季天年]|分钟|小时)?(?=[的吗么呢且和或与,，。?？\s]|$)"
)
"""A number right behind a Chinese word, which names what is equal to it: 难度是1, 难度1的, 保修三年的."""
_LAST = _NUMBER.replace("(?P<number>", rf"(?P<number>(?:{'|'.join(NUMBER_WORDS)})(?=\W*$)|")
"""A number that something is equal to may be a word where it comes last: "which recipes serve two?"."""
_EQUAL = lazy_pattern(
    rf"(?<![\w.,/-]){_LAST}(?![\w-]|[.,:/]\d)(?:[ \t]+(?P<unit>stars?|points?|dollars?|euros?|pages?|[kmc]?[gm]|[kmgt]b|ml|lbs?|oz)\b)?",
    re.IGNORECASE,
)
_STARS = lazy_pattern(
    r"(?P<number>[一二两三四五六七八九十]|(?<![\d.])\d{1,2}(?:\.\d)?)\s*(?:颗?星(?!期)|分(?![钟之]))|(?P<word>one|two|three|four|five)[ -]stars?",
    re.IGNORECASE,
)
_DIGITS = {
    "两": 2,
    **{c: n for n, c in enumerate("一二三四五六七八九十", 1)},
    **{w: n for n, w in enumerate("one two three four five".split(), 1)},
}


def comparisons(text: str) -> list[Comparison]:
    """The numbers that a question compares with, in order; one without words that compare is an equality.

    >>> [(c.operator, c.value, c.unit) for c in comparisons("games that cost more than 20 dollars")]
    [('$gt', 20.0, 'dollars')]
    """
    found: list[Comparison] = []
    for pattern in _RANGES:
        for match in pattern.finditer(text):
            low, high = sorted(max(numbers(match[name].replace(",", ""))) for name in ("low", "high"))
            unit = match["unit"] or match["behind"] or ""
            _append(found, Comparison("$gte", low, Place(*match.span()), unit, upper=high))
    for operator, pattern in (*_BEFORE, *_AFTER, *_HAN_THAN):
        for match in pattern.finditer(text):
            _add(found, operator, match)
    for match in _STARS.finditer(text):
        written = match["number"] or match["word"]
        value = float(_DIGITS.get(written.lower(), 0) or float(written))
        _append(found, Comparison("$eq", value, Place(*match.span()), "stars"))
    for match in _HAN_EQUAL.finditer(text):
        value = float(max(numbers(match["number"])))
        _append(found, Comparison("$eq", value, Place(*match.span())))
    for match in _EQUAL.finditer(text):
        _add(found, "$eq", match)
    return _alternatives(text, sorted(found, key=lambda one: one.span.start))


def limit_of(text: str) -> Comparison | None:
    """The one number that a question limits values by; None for none, several, a range or a share.

    >>> limit_of("which guests have more than 4 GB of RAM?").unit
    'GB'
    """
    limits = [one for one in comparisons(text) if one.operator != "$eq"]
    is_one = len(limits) == 1 and limits[0].upper is None and isinstance(limits[0].value, float)
    return limits[0] if is_one else None


def is_bound(text: str, span: Place) -> bool:
    """Whether words that compare stand right before a span: "over budget", 超过了预算."""
    return any(re.search(rf"{words}了?\s*$", text[: span.start], re.IGNORECASE) for _, words in _WORDS)


def _alternatives(text: str, comparisons: list[Comparison]) -> list[Comparison]:
    """The comparisons, with those of one of several values joined to one."""
    joined: list[Comparison] = []
    for one in comparisons:
        before = joined[-1] if joined else None
        if (
            before is not None
            and before.operator == one.operator == "$eq"
            and _OR.fullmatch(text[before.span.end : one.span.start])
        ):
            joined[-1] = replace(
                before,
                span=Place(before.span.start, one.span.end),
                unit=one.unit or before.unit,
                others=(*before.others, one.value),
            )
        else:
            joined.append(one)
    return joined


_TIMES = {"百": 100, "千": 1000, "万": 10_000}


def _add(comparisons: list[Comparison], operator: Operator, match: re.Match[str]) -> None:
    unit = (
        (match["sign"] or "").strip()
        or match["unit"]
        or match.groupdict().get("han")
        or ("%" if match["percent"] else "")
    )
    number = match["number"].lower()
    value: float | str
    if match["share"]:
        value = f"{number}{match['share'].replace(' ', '')}"
    elif number[0].isdigit():
        digits = number.rstrip("".join(_TIMES))
        is_sum = unit.casefold() in ("€", "euro", "euros", "eur")
        value = decimal(digits, is_sum=is_sum) * _TIMES.get(number[-1], 1)
    else:
        value = _ARTICLES.get(number) or max(numbers(number))
    concept = "" if operator == "$eq" else concept_of(match.group())
    _append(comparisons, Comparison(operator, value, Place(*match.span()), unit, concept=concept))


def concept_of(words: str) -> str:
    """What a comparative among the words compares, by a noun: ``weight`` of "which is heavier"; empty for none."""
    return next((concept for concept, pattern in _DIMENSIONS if pattern.search(words)), "")


def _append(comparisons: list[Comparison], one: Comparison) -> None:
    if not any(one.span.overlaps(other.span) for other in comparisons):
        comparisons.append(one)


@dataclass(frozen=True, slots=True)
class Extreme:
    """Asks for the largest or smallest by some property."""

    largest: bool
    concept: str
    """What is compared, by a noun: ``price``, ``date``, ``duration``, ``rating``, ``size``."""
    span: Place


_CONCEPTS: Mapping[str, tuple[str, str]] = {
    "price": (r"most expensive|priciest|dearest|costliest|最贵|teuerste\w*", r"cheapest|least expensive|最便宜|billigste\w*"),
    "date": (r"newest|latest|most recent|last|youngest|最新|最近|最后|最晚|最年轻|neueste\w*|letzte\w*|zuletzt", r"oldest|earliest|first|最早|最先|(?<=谁)先|最旧|最老|[äa]lteste\w*|erste\w*"),
    "duration": (r"longest|最长|最久|l[äa]ngste\w*", r"shortest|quickest|fastest|最短|最快|k[üu]rzeste\w*"),
    "rating": (r"best(?:[ -]rated)?|highest[ -]rated|top[ -]rated|highest rating|评分最高|最好|beste\w*", r"worst(?:[ -]rated)?|lowest[ -]rated|lowest rating|评分最低|最差|schlechteste\w*"),
    "difficulty": (r"hardest|most difficult|most complicated|最难|最复杂|schwierigste\w*", r"easiest|simplest|least difficult|最简单|最容易|einfachste\w*"),
    "weight": (r"heaviest|最重|schwerste\w*", r"lightest|最轻|leichteste\w*"),
    "distance": (r"farthest|furthest|最远|weiteste\w*", r"nearest|closest|最近的?(?=路)|n[äa]chstgelegene\w*|am n[äa]chsten"),
    "size": (r"largest|biggest|highest|tallest|most|greatest|最大|最高|最多|gr[öo](?:ß|ss)te\w*|h[öo]chste\w*|meisten?", r"smallest|lowest|fewest|least|最小|最低|最少|kleinste\w*|niedrigste\w*|wenigsten?"),
}  # fmt: skip
CONCEPTS = tuple(_CONCEPTS)
OF_WORTH = frozenset({"rating", "difficulty"})
"""Concepts that have no unit of measure: the best is not the hottest."""
_EXTREMES = tuple(
    (concept, largest, re.compile(rf"(?<![a-z-])(?:{words})(?![a-z])(?:\s+by\s+)?", re.IGNORECASE))
    for concept, pair in _CONCEPTS.items()
    for largest, words in zip((True, False), pair, strict=True)
)


_TOP = re.compile(r"(?<![a-z-])top(?=[ -](?:\d|two|three|five|ten)|\s*$)")
"""The first of a list that is ordered by worth, where no superlative says by what."""


def extreme(text: str) -> Extreme | None:
    """The superlative of a question; None without one."""
    for concept, largest, pattern in _EXTREMES:
        match = pattern.search(text)
        if match is not None:
            return Extreme(largest, concept, Place(*match.span()))
    top = _TOP.search(text)
    return None if top is None else Extreme(True, "rating", Place(*top.span()))


_NOTHING = re.compile(
    r"(?<![a-z-])(?:free(?: of charge)?|for free|gratis|no cost|kostenlos\w*)(?![a-z-])|免费|不要钱",
    re.IGNORECASE,
)


def free(text: str) -> Place | None:
    """The span in which a question says that something costs nothing."""
    match = _NOTHING.search(text)
    return None if match is None else Place(*match.span())


_NEGATION = re.compile(
    r"(?:n['’]t|(?<![a-z])(?:not|without|except(?: for)?|other than|never|no|excluding|ohne|nicht|keine?))(?![a-z])|不含|不是|没有|不带|非|除了|还没|没|未|不(?=[^\s过])",
    re.IGNORECASE,
)
_LACK = re.compile(r"(?<![a-z])(?:(?:missing|lack(?:s|ing)?)(?![a-z])|un$)|缺少?|没写|没填", re.IGNORECASE)
REACH = 14
"""Characters between a negation and what it negates."""


def negation_before(text: str, span: Place) -> Place | None:
    """The negation right before a span; None if it is not negated."""
    for match in _NEGATION.finditer(text, max(0, span.start - REACH - 8), span.start):
        if span.start - match.end() <= REACH:
            return Place(*match.span())
    return None


def lack_before(text: str, span: Place) -> Place | None:
    """The words right before a property that say that it is not there: "missing a"."""
    matches = list(_LACK.finditer(text, max(0, span.start - REACH), span.start))
    return Place(*matches[-1].span()) if matches else None


Open = Literal["open", "done", "cancelled", "doing"]
_STATES: tuple[tuple[Open, re.Pattern[str]], ...] = (
    ("open", re.compile(r"(?<![a-z])(?:(?:not|n['’]t)(?: yet)? (?:\w+ )?(?:done|finished|completed?|ticked|watched|read|bought)|un(?:done|finished|completed|ticked|checked|watched|read)|open|pending|outstanding|incomplete|remaining|left|still|yet)(?![a-z])|未完成|没完成|还没|尚未|要做|没[做办买弄看写交定]|剩下|未[读看阅玩听学]|还有什么|还要|offen\w*", re.IGNORECASE)),
    ("doing", re.compile(r"(?<![a-z])(?:in progress|being done|ongoing|under way|doing)(?![a-z])|进行中|正在|^在[读看阅玩听学]$", re.IGNORECASE)),
    ("cancelled", re.compile(r"(?<![a-z])(?:cancell?ed|dropped|abandoned)(?![a-z])|取消", re.IGNORECASE)),
    ("done", re.compile(r"(?<![a-z])(?:done|finish(?:ed)?|completed?|ticked(?: off)?|checked(?: off)?|already|accomplished|watched|crossed off)(?![a-z])|已完成|完成|做完|做了|已经|已[读看阅玩听学买做]|[勾划打][掉选上]?[掉勾了]|[读看阅玩听学][完过]|erledigt\w*", re.IGNORECASE)),
    ("open", re.compile(r"(?<![a-z])todo(?![a-z])|待办", re.IGNORECASE)),  # a list that may have done ones, too
)  # fmt: skip


def state(text: str) -> tuple[Open, Place] | None:
    """The state of tasks that a question names; None without one."""
    for name, pattern in _STATES:
        match = pattern.search(text)
        if match is not None:
            return name, Place(*match.span())
    return None


MARKS: Mapping[str, frozenset[str]] = {
    "open": frozenset(" /<>!?*"),
    "doing": frozenset("/"),
    "done": frozenset("xX"),
    "cancelled": frozenset("-"),
}
"""Marks of tasks by what a question calls them. What is begun, deferred or important is still open."""
YES, NO = (frozenset(words.split()) for words in ("yes y true ja ✓ ✔ 是 有", "no n false nein ✗ ✘ 否 无"))
"""What cells say of whether something is so, in lower case."""


def answer_wanted(text: str, column: Place) -> frozenset[str]:
    """Which of YES and NO a question wants of a column that it names: NO where it negates it."""
    return NO if negation_before(text, column) else YES
