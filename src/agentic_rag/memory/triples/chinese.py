"""What Chinese speakers say of themselves, read by its pattern: 我在…工作, 我喜欢…, 我的狗叫…; no model.

Precision before recall: a clause begins with 我, 我们 or 我的, its verb is one of those below, and its object has
no 你 in it. Questions give nothing.
"""

from __future__ import annotations

import re

from agentic_rag.memory.triples.triple import Triple

MAX_OBJECT = 60
"""Characters; a longer one has lost its punctuation."""

_CLAUSE = re.compile(r"[，,；;。！!…~\s]+")
_QUESTION = re.compile(r"[？?吗呢么]\W*\Z")
_OPENER = re.compile(r"(?:哈+|嗯+|对|是的|好的|其实|而且|不过|但是|但|所以|因为|然后|后来|谢谢)+")
_WHEN = (
    r"(?:昨天|今天|明天|前天|后天|昨晚|最近|现在|以前|小时候|去年|今年|明年|上周[一二三四五六日天末]?|这周[一二三四五六日天末]?|下周[一二三四五六日天末]?"
    r"|上个月|这个月|下个月|\d{4}年(?:\d{1,2}月)?(?:\d{1,2}[日号])?|[一两二三四五六七八九十几\d]+(?:天|周|个月|年)前)"
)
_ADVERB = r"(?:很|最|也|都|特别|非常|真的|一直|还|已经|刚刚|刚|就|其实|又|常常|经常|正)*"
_PLACE = re.compile(
    rf"(?P<when>{_WHEN})?我们?(?P<later>{_WHEN})?{_ADVERB}在(?P<place>[^，,。]{{1,30}}?)"
    r"(?P<verb>工作|上班|上学|读书|学习|生活|居住|实习|教书|出生|长大)(?P<rest>.{0,12})"
)
_VERBS = (
    "不喜欢|不会|不吃|不喝|没有|没去|喜欢|喜爱|热爱|爱上了|讨厌|害怕|擅长|打算|计划|准备|决定|开始|参加了|参加|加入了|加入|认识了|"
    "学会了|学了|学习|买了|卖了|去了|去过|搬到了|搬到|搬去了|住在|来自|养了|养着|收到了|完成了|丢了|丢掉了|失去了|找到了|创办了|开了|"
    "看了|看过|读了|读过|做了|画了|写了|赢了|得了|生了|跑了|吃了|喝了|想要|想去|想学|希望|需要|负责|从事|毕业于|是|叫|有|爱|会|姓"
)
_DOES = re.compile(
    rf"(?P<when>{_WHEN})?我们?(?P<later>{_WHEN})?(?P<adverb>{_ADVERB})(?P<verb>{_VERBS})(?P<object>.+)"
)
_MINE = re.compile(
    r"(?:我|我们)的(?P<owned>\w{1,10}?)(?P<verb>名叫|叫做|叫|名字是|是|在|有|喜欢|住在)(?P<object>.+)"
)
_PLACE_VERBS = {"上班": "工作于", "上学": "就读于", "读书": "就读于", "出生": "出生于", "长大": "成长于"}
_EDGES = "。，！？!?、~… "
_ADDRESSED = ("你", "您", "咱")
_VAGUE = frozenset("它 他 她 这个 那个 这样 那样 这 那 的 了 什么 东西 事 的话 同意 说".split())


def chinese_statements(sentence: str, speaker: str) -> list[Triple]:
    """What a sentence tells of its speaker.

    >>> chinese_statements("我在谷歌工作，我喜欢喝茶。", "小明")
    [Triple(subject='小明', predicate='工作于', object='谷歌'), Triple(subject='小明', predicate='喜欢', object='喝茶')]
    """
    if _QUESTION.search(sentence.strip()):
        return []
    found = (_statement(_OPENER.sub("", clause, count=1), speaker) for clause in _CLAUSE.split(sentence))
    return [triple for triple in found if triple is not None]


def _statement(clause: str, speaker: str) -> Triple | None:
    if match := _PLACE.fullmatch(clause):
        verb = match.group("verb")
        rest = match.group("rest").removeprefix("了")
        if rest.startswith("的"):  # "when I worked in …": told of something else
            return None
        behind = [match.group("when"), match.group("later"), rest]
        place = "".join([match.group("place"), *(f"（{part}）" for part in behind if part)])
        return _made(speaker, _PLACE_VERBS.get(verb, f"{verb}于"), place)
    if match := _DOES.fullmatch(clause):
        when = match.group("when") or match.group("later") or ""
        return _made(speaker, when + match.group("verb"), match.group("object"))
    if match := _MINE.fullmatch(clause):
        return _made(f"{speaker}的{match.group('owned')}", match.group("verb"), match.group("object"))
    return None


def _made(subject: str, predicate: str, written: str) -> Triple | None:
    thing = written.strip(_EDGES)
    if not thing or len(thing) > MAX_OBJECT or thing in _VAGUE or any(word in thing for word in _ADDRESSED):
        return None
    return Triple(subject, predicate, thing)
