"""What a sentence says of slots: who, which slot, which value, and whether it begins or ends to hold; English and Chinese.

A slot is a question about somebody that has one answer at a time: where they live, what their name is. The table is
closed, for a wrong entry would retire facts that still hold. Nothing is read where a sentence asks, supposes, plans, or
tells of what was once so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from agentic_rag.dates.stated import stated_interval
from agentic_rag.ingest.named_things import named_things


@dataclass(frozen=True, slots=True)
class SlotValue:
    """One thing that a sentence says of a slot."""

    subject: str | None
    """None: the one who speaks."""
    relation: str | None
    """Of the subject to the one who speaks: ``sister``."""
    slot: str
    value: str
    ends: bool
    valid_at: datetime | None
    is_personal: bool
    """It says who somebody is."""


_STOPS = (
    r"(?=\s*(?:[,.;:!?()\[\]\n，。；！？（）、]|$)"
    r"|\s+(?:and|but|because|since|so|where|which|who|when|while|although|though|with|from|until|till|as|at|after|before|last|this|in (?:19|20)\d\d"
    r"|in (?:january|february|march|april|may|june|july|august|september|october|november|december)|on (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
    r"|for (?:the|a|over|almost|about|\d)|about|yesterday|recently|now|today|again|instead|any ?more|these days|at the moment|two|three|\d+ (?:days?|weeks?|months?|years?) ago)\b)"
)
_VALUE = rf"(?P<value>[^\s,.;:!?()\n](?:[^,;:!?()\n.]|\.(?=\w)){{0,60}}?){_STOPS}"
_FREE = r"(?P<value>[^\s,;!?()\n](?:[^,;!?()\n.]|\.(?=\S)){0,60}?)(?=\s*(?:[,;!?()\n]|\.(?:\s|$)|$)|\s+(?:and|but|because|so|which|now|instead|any ?more|as of)\b)"
_ZH_VALUE = r"(?P<value>[^，。；！？、,.;!?\s]{1,20}?)(?=了?(?:[，。；！？、,.;!?\s]|$))"
_ADVERB = r"(?:(?:now|currently|still|just|recently|finally|actually|also|already|officially|really|both|all|have|has|had to|am|are|is|'m|’m|'re|’re|'s|’s|'ve|’ve|been|then|since|only|got)\s+)*"
_NOT = (
    r"(?:no longer|don't|don’t|doesn't|doesn’t|do not|does not|am not|'m not|’m not|isn't|is not|aren't|not)"
)


@dataclass(frozen=True, slots=True)
class _Rule:
    slot: str
    pattern: re.Pattern[str]
    ends: bool = False
    is_personal: bool = True
    is_dated: bool = False
    """The sentence may say since when."""


def _rule(slot: str, pattern: str, **given: bool) -> _Rule:
    return _Rule(slot, re.compile(pattern, re.IGNORECASE), **given)


_VERBS = (
    _rule("lives in", rf"\b(?:live|lives|living|reside|resides|residing|based|settled)\s+in\s+{_VALUE}", is_dated=True),
    _rule(
        "lives in",
        rf"\b(?:moved|relocated)\s+(?:back\s+|over\s+)?(?:from\s+(?P<before>[^,.;!?\n]{{1,40}}?)\s+)?(?:back\s+)?to\s+{_VALUE}",
        is_dated=True,
    ),
    _rule("lives in", rf"\bmoved\s+(?:away\s+from|out\s+of)\s+{_VALUE}", ends=True, is_dated=True),
    _rule("works at", rf"\b(?:work|works|working|employed)\s+(?:at|for)\s+{_VALUE}", is_dated=True),
    _rule("works at", rf"\b(?:started|began)\s+(?:working\s+|work\s+|a\s+(?:new\s+)?(?:job|position|role)\s+)?(?:at|with)\s+{_VALUE}", is_dated=True),
    _rule("works at", rf"\b(?:took|accepted|got|have)\s+a\s+(?:new\s+)?(?:job|position)\s+(?:at|with)\s+{_VALUE}", is_dated=True),
    _rule("works at", rf"\b(?:quit|left)\s+my\s+(?:job|position)\s+(?:at|with)\s+{_VALUE}", ends=True, is_dated=True),
    _rule("job", rf"\b(?:work|works|working|employed)\s+as\s+(?:an?\s+|the\s+)?{_VALUE}", is_dated=True),
    _rule("job", rf"\b(?:was|were|been|got)\s+promoted\s+to\s+(?:an?\s+|the\s+)?{_VALUE}", is_dated=True),
    _rule("school", rf"\b(?:study|studies|studying)\s+at\s+(?:the\s+)?{_VALUE}", is_dated=True),
    _rule("car", rf"\b(?:drive|drives)\s+an?\s+{_VALUE}", is_personal=False),
    _rule("age", r"(?:\bam|'m|’m|\bis|\bturned)\s+(?:now\s+)?(?P<value>\d{1,3})(?:\s+years?\s+old)?(?=\s*(?:[,.;!?]|$|\s(?:and|now|today)\b))"),
    _rule("marital status", r"(?:\bam|'m|’m|\bis|\bgot|\bare|'re|’re)\s+(?:now\s+|recently\s+|happily\s+)?(?P<value>married|single|divorced|engaged|widowed|separated)\b(?!\s+(?:mum|mom|mother|dad|father|parent|out|page|file|from|by|to (?:my|the) (?:work|job)))", is_dated=True),
    _rule("diet", r"(?:\bam|'m|’m|\bbecame|\bturned|\bwent|\bis)\s+(?:now\s+|an?\s+|strictly\s+)*(?P<value>vegan|vegetarian|pescatarian)\b", is_dated=True),
    _rule("birthday", rf"\bborn\s+on\s+{_FREE}"),
    _rule("name", rf"\b(?:am|'m|’m)\s+called\s+{_VALUE}"),
)  # fmt: skip
"""Their subject stands before the verb."""

_HAS = r"\s+(?:is|are)\s+(?:now\s+|currently\s+)?(?:called\s+|named\s+)?"
_BECAME = (
    r"\s+(?:is|are|was|were|has been|have been|got|will now be)\s+"
    r"(?:now\s+|currently\s+|just\s+|recently\s+)?(?:(?:moved|changed|pushed(?: back)?|extended|raised|increased|decreased|reduced|set|updated|brought forward|postponed|cut|lowered)\s+)?"
    r"(?:from\s+[^,;!?\n]{1,30}?\s+)?(?:to\s+|at\s+|now\s+)?(?:be\s+)?(?:around\s+|about\s+)?"
)
_ATTRIBUTES = (
    r"deadline|due date|budget|goal weight|goal|target date|target|price|rent|salary|weight|height|launch date|release date|start date|end date"
    r"|room number|office number|shoe size|dress size|blood type|time ?zone|phone plan|subscription|monthly limit|spending limit|commute|major|car|school|diet"
    r"|phone number|phone|mobile number|mobile|telephone number|e-?mail(?: address)?|postal address|home address|address|postal code|zip code|username"
    r"|nickname|job title|job|profession|occupation|employer|birthday|age|name|hometown|landlord|manager|boss|supervisor"
)
_PARTNERS = r"wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|spouse"
_PERSONAL = frozenset(
    "name nickname job|job title|profession|occupation|employer|birthday|age|hometown|address|home address|diet|school|major".replace(
        " job|", "|job|"
    ).split("|")
)
_POSSESSED = (
    re.compile(
        rf"\b(?P<whose>(?i:my|our)|(?P<name>[A-Z][\w-]+(?:\s[A-Z][\w-]+)?)(?:'s|’s))\s+(?:new\s+|current\s+)?(?P<slot>favou?rite\s+(?:[a-z-]+\s+){{0,2}}?[a-z-]+){_HAS}{_FREE}"
    ),
    re.compile(
        rf"\b(?P<whose>(?i:my|our)|(?P<name>[A-Z][\w-]+(?:\s[A-Z][\w-]+)?)(?:'s|’s))\s+(?:new\s+|current\s+)?(?P<slot>(?:{_ATTRIBUTES})(?:\s+(?:for|of)\s+(?:the\s+|my\s+|our\s+)?[\w'’-]+(?:\s+(?!is\b|are\b|was\b|were\b|has\b|have\b|got\b|will\b)[\w'’-]+){{0,3}})?){_BECAME}{_FREE}"
    ),
    re.compile(rf"\b(?P<whose>(?i:my|our))\s+(?P<slot>(?:{_PARTNERS})(?:'s|’s)\s+name){_HAS}{_FREE}"),
    re.compile(
        rf"\b(?P<whose>(?i:my|our))\s+(?P<partner>{_PARTNERS})(?:\s+is)?\s+(?:called|named)\s+{_FREE}"
    ),
    re.compile(
        rf"\b(?P<whose>[Tt]he)\s+(?P<slot>(?:deadline|due date|budget|target date|target|price|launch date|release date|start date|end date)\s+(?:for|of)\s+(?:the\s+|my\s+|our\s+)?[\w'’-]+(?:\s+(?!is\b|are\b|was\b|were\b|has\b|have\b|got\b|will\b)[\w'’-]+){{0,3}}){_BECAME}{_FREE}"
    ),
)
"""Their subject is the owner; "the" budget of something is the speaker's affair."""

_ZH_NOW = r"(?:现在|目前|已经|刚刚?|最近|终于|又|都|也|就|还|一直|[如而]今)*"
_ZH_VERBS = (
    _rule("lives in", rf"{_ZH_NOW}(?:不再?|没有?)(?:住|居住)在?{_ZH_VALUE}", ends=True, is_dated=True),
    _rule("lives in", rf"{_ZH_NOW}搬[离出]了?{_ZH_VALUE}", ends=True, is_dated=True),
    _rule("lives in", rf"(?:从(?P<before>[^，。；！？]{{1,12}}?))?{_ZH_NOW}(?:搬到|搬去|搬回|搬家到|移居到?|定居在?)了?{_ZH_VALUE}", is_dated=True),
    _rule("lives in", rf"{_ZH_NOW}(?:住在|居住在){_ZH_VALUE}", is_dated=True),
    _rule("works at", r"(?:现在|目前|已经)*不再?在(?P<value>[^，。；！？、\s]{1,20}?)(?:工作|上班|任职)了?", ends=True, is_dated=True),
    _rule("works at", r"从(?P<value>[^，。；！？、\s]{1,20}?)(?:辞职|离职)了?", ends=True, is_dated=True),
    _rule("works at", rf"{_ZH_NOW}在(?P<value>[^，。；！？、\s不]{{1,20}}?)(?:工作|上班|任职)", is_dated=True),
    _rule("works at", rf"{_ZH_NOW}(?:跳槽到|入职)了?{_ZH_VALUE}", is_dated=True),
    _rule("job", rf"{_ZH_NOW}是(?:一名|一位){_ZH_VALUE}", is_dated=True),
    _rule("job", rf"{_ZH_NOW}(?:升任|升为|晋升为){_ZH_VALUE}", is_dated=True),
    _rule("name", r"(?:名字)?叫(?P<value>[^，。；！？、\s做作我他她它]{1,12})(?=[，。；！？、\s]|$)"),
    _rule("age", r"(?:今年|现在|已经)*(?P<value>\d{1,3})岁"),
    _rule("marital status", r"(?:现在|目前|已经)*(?P<value>已婚|单身|离婚|结婚|订婚)了?(?=[，。；！？、\s]|$)", is_dated=True),
)  # fmt: skip
_ZH_ATTRIBUTES = "截止日期|期限|预算|目标|房租|工资|体重|身高|电话号码|电话|手机号码?|手机|邮箱|地址|微信号?|生日|职业|名字|职位|专业"
_ZH_POSSESSED = re.compile(
    rf"(?P<whose>(?:我们?)的?|(?<![\u4e00-\u9fff])(?=[^，。；！？是的我]{{1,10}}的(?:截止日期|期限|预算)))(?:新的?)?(?P<slot>最喜欢的[^，。；！？是]{{1,8}}|(?:[^，。；！？是的我]{{1,10}}的)?(?:{_ZH_ATTRIBUTES}))"
    rf"(?:现在|目前|已经)*(?:是|改[成为到]|变成|换成|[延推]迟?到|提高到|降到|涨到)了?(?P<value>[^，。；！？、\\s]{{1,30}}?)(?=了?(?:[，。；！？、\\s]|$))"
)
_ZH_PERSONAL = frozenset(("生日", "职业", "名字", "职位", "地址", "专业"))
_PLACES = frozenset(("lives in", "works at", "school"))
"""Whose values are names: "a small flat" is no place."""
_CANONICAL = {
    "favorite": "favourite", "email": "e-mail", "email address": "e-mail", "e-mail address": "e-mail", "phone": "phone number",
    "mobile": "phone number", "mobile number": "phone number", "telephone number": "phone number", "home address": "address",
    "postal address": "address", "profession": "job", "occupation": "job", "job title": "job", "boss": "manager", "supervisor": "manager",
    "employer": "works at", "due date": "deadline", "职业": "job", "职位": "job", "生日": "birthday", "名字": "name", "地址": "address",
    "电话": "phone number", "电话号码": "phone number", "手机": "phone number", "手机号": "phone number", "手机号码": "phone number",
    "邮箱": "e-mail", "微信": "微信号", "期限": "deadline", "截止日期": "deadline", "预算": "budget", "体重": "weight", "身高": "height",
    "房租": "rent", "工资": "salary",
}  # fmt: skip
"""One name for a slot that is called differently."""

_RELATIONS = r"sister|brother|mother|mum|mom|father|dad|wife|husband|partner|son|daughter|friend|boss|colleague|cousin|aunt|uncle|girlfriend|boyfriend|roommate|neighbou?r|grandmother|grandfather"
_SUBJECT = re.compile(
    rf"(?:(?P<speaker>\b(?:I|we|We)(?=\W|$))|\b[Mm]y\s+(?P<relation>{_RELATIONS})|(?P<name>\b[A-Z][\w-]+(?:\s[A-Z][\w-]+)?))\s*{_ADVERB}(?P<negated>{_NOT}\s*)?{_ADVERB}\Z"
)
_CARRIED = re.compile(rf"(?:\band|,|\bthen)\s+{_ADVERB}\Z", re.IGNORECASE)
_NOT_NAMES = frozenset(
    "He She It They You The This That These Those There Here His Her Their Our Your Who What Where When Why How Which If And But So Or "
    "Also Then Now Yes No Maybe People Everyone Someone Nobody".split()
)
_SUPPOSED = re.compile(
    r"\b(?:if|might|may|would|could|should|maybe|perhaps|suppose|imagine|wish|hope|hoping|want|wants|wanted|plan|plans|planning|planned|thinking|think of|consider|considering"
    r"|going to|about to|will|'ll|’ll|'d|’d|never|used to|once|almost|nearly|whether|unless|dream|dreamt|pretend|dreamed|what if|let's say|lie|kidding|joking|ago I|haven't|hasn't|didn't|not yet)\b"
    r"|如果|要是|假如|可能|也许|或许|想要|想[搬去住在]|打算|考虑|希望|计划|准备|曾经|以前|从前|差点|没有搬|是否|会不会|梦见|听说|据说|将要|快要",
    re.IGNORECASE,
)
"""Before a verb in its clause: what it tells is not so, or not now."""
_ZH_SUBJECT = re.compile(
    r"(?P<speaker>我们?)(?P<relation>的?(?:姐姐|妹妹|哥哥|弟弟|妈妈|母亲|爸爸|父亲|妻子|老婆|丈夫|老公|儿子|女儿|朋友|同事|老板|男友|女友))?\Z"
)
_CLAUSE = re.compile(r"[,;:，；：、]|\b(?:and|but|because|so)\b")
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|「[^」\n]*」|‘[^’\n]*’")
_TAILS = re.compile(
    r"^(?:the|a|an)\s+(?=[a-z])|\s+(?:now|again|instead|any ?more|these days|currently|at the moment|too|as well)$|[\"“”「」'’.\s]+$|^[\"“「'‘\s]+|了$",
    re.IGNORECASE,
)
_AGO = re.compile(
    r"\b(?P<count>an?|one|two|three|four|five|six|\d{1,2})\s+(?P<unit>day|week|month|year)s?\s+ago\b|\b(?P<last>yesterday|last\s+(?:week|month|year))\b"
    r"|(?P<zh_count>[一两二三四五六]|\d{1,2})(?P<zh_unit>天|周|个?星期|个月|年)[以之]?前|(?P<zh_last>昨天|上周|上个?月|去年)",
    re.IGNORECASE,
)
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6}  # fmt: skip
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365, "天": 1, "周": 7, "星期": 7, "个星期": 7, "个月": 30, "年": 365}  # fmt: skip
_LAST = {"yesterday": 1, "last week": 7, "last month": 30, "last year": 365, "昨天": 1, "上周": 7, "上月": 30, "上个月": 30, "去年": 365}  # fmt: skip
MOST_CHARACTERS = 600
"""Of a sentence that is read for slots; a longer one is no sentence."""


def slot_values(sentence: str, at: datetime | None) -> list[SlotValue]:
    """What a declarative sentence says of slots; nothing where it is not sure.

    >>> [(one.slot, one.value, one.ends) for one in slot_values("I moved from Oslo to Bergen.", None)]
    [('lives in', 'Bergen', False), ('lives in', 'Oslo', True)]
    """
    if len(sentence) > MOST_CHARACTERS or _asks(sentence):
        return []
    quoted = [match.span() for match in _QUOTED.finditer(sentence)]
    found = [
        one
        for read in (_by_verbs, _by_possession, _in_chinese)
        for start, made in read(sentence, at)
        for one in made
        if one.value and not any(begin <= start < end for begin, end in quoted)
    ]
    return list(dict.fromkeys(found))


def _asks(sentence: str) -> bool:
    return sentence.rstrip().endswith(("?", "？")) or bool(re.search(r"[吗呢][。.!！]?\s*$", sentence))


Found = Iterator[tuple[int, list[SlotValue]]]


def _by_verbs(sentence: str, at: datetime | None) -> Found:
    last: re.Match[str] | None = None
    matches = sorted(
        ((match, rule) for rule in _VERBS for match in rule.pattern.finditer(sentence)),
        key=lambda one: one[0].start(),
    )
    for match, rule in matches:
        before = sentence[: match.start()]
        # "'m" belongs to the verb that is read here, and the subject stands before it.
        subject = _SUBJECT.search(before if before.endswith((" ", "\n")) else f"{before} ")
        if subject is None and last is not None and _CARRIED.search(before):
            subject = last
        if subject is None or (subject["name"] or "").split(" ")[0] in _NOT_NAMES:
            continue
        last = subject
        if _SUPPOSED.search(_clause_of(sentence, match.start())):
            continue
        ends = rule.ends or bool(subject["negated"])
        if ends and not rule.ends and rule.pattern.pattern.startswith(r"\b(?:moved"):
            continue
        yield match.start(), _values(rule, match, subject["name"], subject["relation"], ends, sentence, at)


def _clause_of(sentence: str, end: int) -> str:
    """The clause up to a place, without what stands before its last comma or conjunction."""
    start = max((match.end() for match in _CLAUSE.finditer(sentence, 0, end)), default=0)
    return sentence[start:end]


def _values(
    rule: _Rule,
    match: re.Match[str],
    subject: str | None,
    relation: str | None,
    ends: bool,
    sentence: str,
    at: datetime | None,
) -> list[SlotValue]:
    valid_at = _since(sentence, at) if rule.is_dated else None
    groups = match.groupdict()
    if rule.slot in _PLACES and not _is_name(_clean(match["value"])):
        return []
    made = [SlotValue(subject, relation, rule.slot, _clean(match["value"]), ends, valid_at, rule.is_personal)]
    if groups.get("before"):
        made.append(
            SlotValue(subject, relation, rule.slot, _clean(match["before"]), True, valid_at, rule.is_personal)
        )
    return made


def _is_name(value: str) -> bool:
    return bool(value) and not (value[0].isascii() and value[0].islower())


def _by_possession(sentence: str, at: datetime | None) -> Found:
    for pattern in _POSSESSED:
        for match in pattern.finditer(sentence):
            groups = match.groupdict()
            before = _clause_of(sentence, match.start())
            if _SUPPOSED.search(before) or re.search(r"\bnot\b", match.group()):
                continue
            named = f"{match['partner']}'s name" if groups.get("partner") else match["slot"]
            slot = _slot_name(named)
            personal = slot in _PERSONAL or slot.endswith("'s name")
            yield (
                match.start(),
                [SlotValue(groups.get("name"), None, slot, _clean(match["value"]), False, None, personal)],
            )


def _slot_name(written: str) -> str:
    name = re.sub(r"\s+", " ", written).lower().replace("’", "'").replace("favorite", "favourite")
    name = re.sub(r"\b(for|of) (?:the|my|our) ", r"\1 ", name).replace(" of ", " for ")
    head, _, rest = name.partition(" for ")
    head = _CANONICAL.get(head, head)
    return f"{head} for {rest}" if rest else head


def _in_chinese(sentence: str, at: datetime | None) -> Found:
    if not re.search(r"[\u4e00-\u9fff]", sentence):
        return
    names = [(thing.end, thing.name) for thing in named_things(sentence)]
    taken: list[tuple[int, int]] = []
    speaks = False
    for rule in _ZH_VERBS:
        for match in rule.pattern.finditer(sentence):
            before = sentence[: match.start()].rstrip()
            subject = _ZH_SUBJECT.search(before)
            name = next((name for end, name in names if end == len(before)), None)
            speaks = speaks or subject is not None
            carried = speaks and before.endswith(("，", ",", "、"))
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            if (subject is None and name is None and not carried) or _SUPPOSED.search(
                _clause_of(sentence, match.end("value"))
            ):
                continue
            taken.append(match.span())
            relation = None if subject is None else (subject["relation"] or "").lstrip("的") or None
            yield (
                match.start(),
                _values(rule, match, None if subject else name, relation, rule.ends, sentence, at),
            )
    for match in _ZH_POSSESSED.finditer(sentence):
        if not _SUPPOSED.search(_clause_of(sentence, match.start())):
            written = re.sub(r"^最喜欢的", "favourite ", match["slot"])
            slot = _CANONICAL.get(written, written)
            personal = match["slot"] in _ZH_PERSONAL
            yield match.start(), [SlotValue(None, None, slot, _clean(match["value"]), False, None, personal)]


def _clean(value: str) -> str:
    """Without articles, quotation marks and adverbs around it."""
    while (cut := _TAILS.sub("", value.strip())) != value:
        value = cut
    return value


def _since(sentence: str, at: datetime | None) -> datetime | None:
    """Since when it holds, by the sentence; None where it does not say."""
    if (stated := stated_interval(sentence)) is not None:
        return stated[0]
    match = _AGO.search(sentence)
    if match is None or at is None:
        return None
    last = match["last"] or match["zh_last"]
    if last:
        return at - timedelta(days=_LAST[re.sub(r"\s+", " ", last.lower())])
    count, unit = match["count"] or match["zh_count"], match["unit"] or match["zh_unit"]
    return at - timedelta(days=(_COUNTS.get(count.lower()) or int(count)) * _DAYS[unit.lower()])
