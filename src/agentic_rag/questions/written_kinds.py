"""Kinds of values that are recognised by how they are written: a telephone number, an address for letters or mail, a code.

Where one is asked for and no unit has it, nothing that only speaks of the same thing is an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from agentic_rag.questions.words import Place

WrittenKind = Literal[
    "phone", "email", "code", "version", "temperature", "energy", "mileage", "colour", "time", "weekday"
]


class Writing(NamedTuple):
    """How a kind of value is asked for, and how it is written."""

    question: re.Pattern[str]
    value: re.Pattern[str]


def _writing(question: str, value: str) -> Writing:
    return Writing(re.compile(question, re.IGNORECASE), re.compile(value, re.IGNORECASE))


_CODE_NAMES = (
    "policy|account|customer|client|contract|member(?:ship)?|serial|invoice|order|licen[cs]e|registration|passport|tax"
    "|flight|reference|claim|file|staff|employee|personnel|model|part|article|product|project|vat|booking|confirmation|reservation|insurance|ticket|case|tracking"
)
_GERMAN_CODE_NAMES = "kunden|vertrags|konto|policen|versicherungs|serien|rechnungs|bestell|mitglieds|steuer|ausweis|buchungs|auftrags|sendungs"
_COLOURS = (
    "black|white|gr[ae]y|red|orange|yellow|green|blue|purple|violet|pink|brown|beige|cream|turquoise|teal|navy|silver|gold(?:en)?"
    "|(?:hell|dunkel)?(?:schwarz|weiß|weiss|grau|rot|gelb|grün|blau|lila|rosa|braun|türkis|violett|silber|bunt)(?:e[rsnm]?)?"
)
_BEFORE_DAYS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Week|Day|Page|Room|Step"
WRITINGS: Mapping[WrittenKind, Writing] = {
    "phone": _writing(
        r"\b(?:tele)?(?:phone|mobile|cell|fax) (?:numbers?|no)\b|\b(?:what|which) number .{1,40}\b(?:call|ring|phone|reach)\b|\b(?:unter )?welcher? nummer\b|['’]s numbers?\b(?=\W*$)|\b(?:telefon|handy|mobil|fax|ruf)nummer|电话(?:号码)?是?多少|手机号|电话号码",
        r"(?<![\d.,-])(?!\d{4}-\d\d(?:-\d\d)?(?!\d))\+?\(?\d(?:[\s()/.-]{0,2}\d){5,}",
    ),
    "email": _writing(
        r"\be-?mail address\b|['’]s e-?mail\b|\be-?mail of\b|\be-?mail-?adresse|(?:邮箱|邮件地址)(?:地址)?是", r"\S@\w"
    ),
    "code": _writing(
        rf"\b(?:{_CODE_NAMES}) (?:numbers?|no|id|code)\b|\biban\b|\b(?:{_GERMAN_CODE_NAMES})nummer\b|(?:[卡账帐单证约群]|QQ|微信)号(?:码)?是?多少",
        r"(?-i:\b[A-Z]{1,4}[ -]?\d{2,})"
        r"|(?<![\w.,£$€-])(?!(?:19|20)\d\d(?![\w/]|-\d{3}))(?!\d{4}-\d\d-\d\d)(?=[\w/-]*\d[\w/-]*\d)[\w/-]{4,}",
    ),
    "version": _writing(
        r"\b(?:which|what|welche) version\b|哪个版本|什么版本|版本号",
        r"(?<![\d.$€£¥:])v?\d+\.\d+(?:\.\d+)*(?!\d|\s?[%€$£°])|\bv\d|(?:\bversion|版本)[:：]?\s*\d"
        rf"|(?-i:\b(?!{_BEFORE_DAYS})[A-Z]\w+) \d{{1,3}}(?![\w:.,-]|\s?[%€$£°]|\s[a-z])",
    ),
    "temperature": _writing(
        r"\btemperature\b|\bhow (?:hot|warm|cold)\b|温度|体温|多少度|\btemperatur\b|\bwie (?:heiß|heiss|warm|kalt)\b",
        r"\d\s*(?:°|º|℃|degrees?|grad|度|[cf]\b)|gas mark|\b(?:oven|bake|ofen|backen)\b\D{0,12}[1-3]\d\d\b|room temperature|\b(?:hot|warm|cold|boiling|lukewarm|simmer\w*)\b|[热冷沸凉]",
    ),
    "energy": _writing(
        r"\bhow many (?:k?cal(?:orie)?s|kcal)\b|\bwie ?viele kalorien\b|多少(?:卡路里|大卡|千卡|热量)|热量是?多少",
        r"\d\s*(?:k?cal|kj|大卡|千卡|卡)|calorie|kalorie|热量",
    ),
    "colour": _writing(
        r"\b(?:what|which) colou?rs?\b|\bcolou?r (?=is|are|was|were|of)\b|\b(?:welche|was für eine) farbe\b|什么颜色|颜色是",
        rf"\b(?:{_COLOURS})\b|[红黄蓝绿黑白灰紫粉橙棕褐银金]|\bcolou?r|farbe|颜色",
    ),
    "time": _writing(
        r"\b(?:what|which) time\b(?! (?:period|frame|span|limit|zone|of year))|\bum wie ?viel uhr\b|几点(?!建议|要求|注意|原因)",
        r"(?<![\d.:/-])[0-2]?\d[:：.][0-5]\d(?![\d.]|\s?[%€$£])|\d\s?(?:[ap]\.?m\b|o['’]?clock|uhr\b|点|时(?!间))"
        r"|[一二三四五六七八九十两]点(?!儿|点)|\b(?:at|from|until|till|by|before|after) (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|a quarter|noon|midnight|\d{1,2})\b"
        r"|\b(?:noon|midnight|mittag|mitternacht|sunrise|sunset|(?:before|after|during|at) (?:breakfast|lunch|dinner|supper|work|school|night)|in the (?:morning|afternoon|evening))\b"
        r"|正午|午夜|零点|[早晚]上|[上中下]午|饭[前后]",
    ),
    "weekday": _writing(
        r"\bday of the week\b|\bweekdays?\b|\bwochentag\w*|星期几|周几|礼拜几",
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag)s?\b"
        r"|(?:周|星期|礼拜)[一二三四五六日天]|\d{4}-\d\d-\d\d",
    ),
    "mileage": _writing(
        r"\bmileage\b|\bkilometerstand\b|\bodometer\b|里程", r"\d\s*(?:km|kilomet|miles?\b|mi\b|公里)|mileage|kilometerstand|里程"
    ),
}  # fmt: skip
"""How each kind is asked for and written."""


_LAST_WORD = re.compile(r"颜色$|(?!\d)[^\W_\u4e00-\u9fff]+\W*$")


def asked_writings(text: str) -> Iterator[tuple[Place, re.Pattern[str]]]:
    """The places of the nouns by which a question asks for such values, each with how these are written: the value expresses
    the noun, ``green`` the colour. What looks like a code may be of anything."""
    for kind, writing in WRITINGS.items():
        for match in writing.question.finditer(text):
            noun = _LAST_WORD.search(match.group())
            if noun is not None and kind != "code":
                yield Place(match.start() + noun.start(), match.end()), writing.value


def written_kinds(text: str) -> frozenset[WrittenKind]:
    """The kinds that a question asks for."""
    return frozenset(kind for kind, writing in WRITINGS.items() if writing.question.search(text))


def writing_of(kind: str) -> Writing | None:
    """How values of a kind are asked for and written; None for kinds that are not recognised so."""
    return next((writing for name, writing in WRITINGS.items() if name == kind), None)
