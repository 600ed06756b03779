"""The names under which notes keep what a verb asks for: ``owner`` of "who owns it?", ``city`` of "where does she live?"."""

from __future__ import annotations

import re

from agentic_rag.questions.words import Place
from agentic_rag.text import starts_cjk, tokens

_PLACE_NAMES = "room location place venue address ort raum 地点 位置 地址 教室"


def _stems(names: str) -> frozenset[str]:
    return frozenset(name if starts_cjk(name) else tokens(name)[0] for name in names.split())


PLACES = _stems(_PLACE_NAMES)
"""Names of what is a place, whatever its value looks like."""
_ATTRIBUTES = tuple(
    (re.compile(words, re.IGNORECASE), _stems(names))
    for words, names in (
        (
            r"\b(?:lives?|lived|living|resides?|wohnt?|wohnst|wohnen)\b|住",
            "city town village address home residence location country ort wohnort adresse stadt 城市 住址 地址 居住地",
        ),
        (r"\bwhere(?:['’]s| is| are| was| were)\b|\bwo (?:ist|sind|war)\b|在哪", _PLACE_NAMES),
        (
            r"\b(?:works?|worked|working|employed|arbeitet?|arbeiten)\b|上班|工作",
            "employer company firm workplace job firma arbeitgeber 公司 单位 雇主",
        ),
        (r"\bdue\b|\bfällig\b|截止|到期", "deadline due until frist fällig 截止日期 截止 期限 到期日"),
        (
            r"\b(?:owns?|owned|responsible|in charge|takes? care|leads?|runs?|manages?|verantwortlich|leitet)\b|负责|谁管",
            "owner lead leader manager responsible assignee verantwortlich leitung 负责人 主管 经理",
        ),
        (r"\b(?:wrote|written|geschrieben)\b|写", "author writer autor 作者 著者"),
        (
            r"\b(?:talk|speak|turn|write|complain) to\b|\bcontact\b|\b(?:an wen|ansprechpartner\w*)\b|联系",
            "contact kontakt ansprechpartner ansprechpartnerin 联系人 对接人",
        ),
        (r"打了?(?:几|多少)分|评价", "rating score 评分 分数 评价"),
        (r"\b(?:born|geboren)\b|出生", "birthday birthdate born geburtstag geburtsdatum 生日 出生日期"),
        (
            r"\b(?:how many (?:people|persons|servings|guests)?(?: does| will)? .{1,40}? (?:serve|feed)|für wie ?viele)\b|几人[份吃]|几个人[吃的]",
            "servings serves serving portions yield persons people portionen personen 份量 人份 人数",
        ),
        (
            r"\b(?:runs?|ran) out\b|\b(?:expires?|expired|ends?|ended|endet|abgelaufen|läuft (?:\S+ ){1,6}(?:ab|aus))\b|过期|到期|结束",
            "end ends expires expiry until ende ablauf bis gültig 结束 到期 有效期 租期 期限",
        ),
        (
            r"\b(?:starts?|started|begins?|began|beginnt|begann)\b|开始",
            "start starts begin begins since from beginn anfang 开始 起始",
        ),
        (
            r"\b(?:bought|purchased|gekauft|angeschafft)\b|[购买]的|购买|入手",
            "bought purchased purchase acquired gekauft kauf kaufdatum 购入 购买 购买日期 买入",
        ),
        (
            r"\bcosts?\b|\b(?:kostete?n?|gekostet)\b|多少钱",
            "price cost costs fee rate preis kosten gebühr 价格 单价 费用",
        ),
        (
            r"\b(?:finished|done|ready|complete|completed|closed|over|running|active|paid|approved|fertig|erledigt|abgeschlossen|bezahlt)(?=\W*$)",
            "status state stand zustand 状态 进度",
        ),
        (r"\b(?:married|verheiratet)\b|结婚", "spouse wife husband partner ehefrau ehemann 配偶 妻子 丈夫"),
    )
)


def attributes_asked(text: str) -> tuple[tuple[Place, frozenset[str]], ...]:
    """The places of such verbs in a question, each with the names that keep it: stems, or words in Chinese."""
    return tuple(
        (Place(*match.span()), names) for words, names in _ATTRIBUTES for match in words.finditer(text)
    )
