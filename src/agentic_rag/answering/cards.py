"""Cards of a verification board: a sentence that states something with a gap in it, or a table's row."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from agentic_rag.answering.quotes import Quote, is_failure, quote_text, readable, table_row
from agentic_rag.text import script, tokens

GAP = "____"
MIN_TERMS = {"latin": 7, "cjk": 5, "other": 5}
"""Minimum terms of a sentence by script, so that enough text remains around a gap."""
LONGEST = 240
"""Maximum characters of a sentence."""
DATED = -4.0
"""Points for a note with a date in its title: its statements mostly concern that day. Chosen on the choosing half
of the judged cards."""


@dataclass(frozen=True, slots=True)
class Card:
    """A question and its answer."""

    asks: str
    answer: str


def cards(query: str, quote: Quote) -> list[Card]:
    """Cards from a quote in the query's language, best first: answers that the query does not contain, then terms
    in bold, links and entities, numbers, the note's own name.

    Empty if the quote is no statement by itself, or has no term for a gap.
    """
    if row := table_row(quote):
        return _of_row(query, quote, row)
    sentence = _statement(quote)
    made = [card for name in _terms(quote, sentence) if (card := _gapped(quote, sentence, name))]
    return sorted(made, key=lambda card: card.answer.casefold() in query.casefold())


def _of_row(query: str, quote: Quote, row: list[tuple[str, str]]) -> list[Card]:
    """A table row becomes a question from its first cell and the names of the other columns."""
    first, names = readable(row[0][1]), [name.rstrip("?？ ") for name, _ in row[1:]]
    unsaid = not names or not all(names) or not re.search(r"[^\W\d]", first)
    if unsaid or first in "我I" or _DAY.search(first):
        return []
    if script(query) == "cjk":
        return [Card(f"「{topic(quote)}」里，{first} 的 {'、'.join(names)} 是什么？", quote_text(quote))]
    return [Card(f"What does “{topic(quote)}” give for {first}: {', '.join(names)}?", quote_text(quote))]


def worth(quote: Quote) -> float:
    """Points for a quote as a card: -inf if it gives none; 0.5 for a verb of being, 0.5 if it names its note."""
    if not cards("", quote):
        return -math.inf
    title = str(quote.result["metadata"].get("title") or "")
    named = bool(title) and title.casefold() in quote.text.casefold()
    return 0.5 * bool(_DEFINING.search(quote.text)) + 0.5 * named + DATED * bool(_DAY.search(title))


def topic(quote: Quote) -> str:
    """The note's title without a date before it."""
    title = str(quote.result["metadata"].get("title") or quote.result["id"])
    return re.sub(r"^\d{4}-\d{2}-\d{2}[\s_–-]+", "", title)


def named(name: str) -> re.Pattern[str]:
    """A pattern for a name as a whole word, in any case; anywhere in a script without spaces. A number matches as
    a whole number."""
    before = r"(?<!\d)(?<!\d[.,\s])" if name[:1].isdigit() else ""
    after = r"(?![.,\s]?\d)" if name[-1:].isdigit() else ""
    return re.compile(rf"(?<![A-Za-z]){before}{re.escape(name)}{after}(?![A-Za-z])", re.IGNORECASE)


_DEFINING = re.compile(r"\b(is|are|was|were|means|called)\b|是|叫|指|称", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d{2}")
_POINTER = re.compile(
    r"\s*[(（](?:see |见)?\s*\[\[[^\]]*\]\]\s*[)）]|[\s,，;；:：]*(?:\bsee\b|[参详另]见|理由见|见)\s*\[\[[^\]]*\]\]",
    re.IGNORECASE,
)
"""A link for further reading."""
_NO_STATEMENT = re.compile(
    r"^\s*[-*+]\s+\[.\]|\[\^|[?？]\W*\Z|</?[a-z!]|\{\{|\[\[[^\]]*\d{4}-\d{2}|\bv?\d+\.\d+\.\d+\b|\b(?:I|[Mm]y|[Mm]e)\b|我(?!们)|这[一种样里些个]"
    r"|^\W*(?:[Qq]uestion|[Ww]hy|[Mm]y answer|[Rr]elated|[Rr]eplaces|题目|为什么|相关|问)"
)
"""Tasks, questions, markup, events, versions, diaries, and labels of mistakes."""
_POINTS_BACK = re.compile(
    r"\W*(?:(?:\S+\s+){0,7}(?:it|they|them|he|she|this|these|those|such)\b|(?:its|their|his|her|that|both|n?either|here|also|but"
    r"|and|so|hence|thus|then|however|now|because|instead|otherwise|yet|again|same)\b"
    r"|.{0,7}(?:[它她这]|(?<![吉其维])他|那(?!么)|此(?!外)|[两二前后]者)|但|而(?!且)|所以|因此|于是|[也又还却并再就](?![原门业医发联生结])|不过|同样|[上下]面|如此|例如|比如|后来|否则)",
    re.IGNORECASE,
)
"""Beginning of a sentence that depends on the sentence before."""
_WHOLE = re.compile(r"[.!。！…][\"'”’」』）)\]]*\Z|^.{1,30}(?:[:：]\s*|\s=\s)(?:\S{8}|\S+\s+\S+\s+\S)")
_PAIRS = ("“”", "（）", "()", "「」", "《》", "[]")
_HAN = "一二三四五六七八九十百千两"
_NUMBER = re.compile(
    r"(?<![\w.,×/-])(?<![A-Z] )(?:\d{1,3}(?:[,\s]\d{3})+|\d+)(?:\.\d+)?(?:\s?(?:–|-|to|至|到)\s?\d[\d.]*)?"
    r"(?:\s?(?:%|°C|×|[mck]?[mgl]\b|度|年|克|秒|分钟?|天|倍|岁|毫?升))?(?!\s?[\w×-]?\d|[a-z-]|\s?年?\s?\d{0,2}\s?月|\s?日)"
    r"|(?<!or )\b(?:three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
    r"(?:-\w+)?(?: hundred| thousand)?(?=\s(?!to|or|of|in|are|is)[a-z]{3})"
    r"|\btwo(?=\s(?:seconds|minutes|hours|days|weeks|months|years|grams|metres|centimetres|litres|degrees|percent|parts|times))"
    rf"|(?<![几数{_HAN}第])(?!一[^{_HAN}])[{_HAN}]{{1,6}}多?(?:至[{_HAN}]{{1,5}})?(?:度|年|克|秒|分钟|天|倍|岁|毫?升|毫?米|公里|成|层|颗)"
)
_PREDICATE = re.compile(
    r"(?:(?<![不可但只要还总于])是|叫|旧称|称为)((?![没不从在用由因把被前后这那谁什怎])[\u4e00-\u9fff]{2,6}(?<!的))(?=[。，,;；])|\b(?:is|are|was|were|as|called) (?:an?|the) ([a-z]{3,})(?=[.,;])"
)
"""End of a clause after a verb of being."""
_DEFINED = r"\s*(?:[(（][^)）]*[)）]\s*)?(?:就?是|指|叫|[:：—–=]|is\b|are\b|was\b|were\b|means\b)"
"""Text after the name that a sentence defines."""


def _statement(quote: Quote) -> str:
    """The readable sentence without links for further reading; "" if it makes no statement of its own."""
    text = _POINTER.sub("", quote.text)
    sentence = readable(text)
    fragment = sentence[:1].islower() and not re.match(r".{1,40}(?:[:：]| = )", sentence)
    unpaired = any(sentence.count(pair[0]) != sentence.count(pair[1]) for pair in _PAIRS)
    short = len(tokens(sentence)) < MIN_TERMS[script(sentence)]
    unsaid = _NO_STATEMENT.search(text) or _POINTS_BACK.match(sentence) or not _WHOLE.search(sentence)
    broken = fragment or unpaired or short or len(sentence) > LONGEST
    return "" if broken or unsaid or is_failure(quote) else sentence


def _terms(quote: Quote, sentence: str) -> list[str]:
    """Candidate terms for a gap, the most specific first."""
    links = re.findall(r"\[\[([^\]|#]*)[^\]|]*(?:\|([^\]]*))?\]\]", quote.text)
    linked = [(alias or target).strip() for target, alias in links]
    # A label, **Why**: …, names the topic and is no part of the statement.
    marked = re.findall(r"\*\*([^*,，、;；]{2,40})\*\*(\s*[:：])?", quote.text)
    own, begins = topic(quote), sentence.casefold().startswith
    numbers = [found.group() for found in _NUMBER.finditer(sentence)]
    names = [
        *(name for name, colon in marked if not colon and name[-1] not in ":："),
        # The first name of a sentence is seldom determined by the rest of it.
        *(name for name in linked if not begins(name.casefold())),
        *(number for number in numbers if not any(number in name for name in linked)),
        *(one or other for one, other in _PREDICATE.findall(sentence)),
        *linked,
        *(str(fact["target"]) for fact in quote.result["facts"] if fact.get("target")),
    ]
    defined = [own] if re.match(re.escape(own) + _DEFINED, sentence, re.IGNORECASE) else []
    told = dict.fromkeys([*(name for name in names if name != own), *defined])
    return [name for name in told if len(name) > 1 and not _DAY.search(name)]


def _gapped(quote: Quote, sentence: str, name: str) -> Card | None:
    """The sentence with a gap for the name, after the note's title if the sentence lacks it; None if that title
    has the name."""
    # The same name in the other script right after the gap would give the answer away.
    latin = script(sentence) == "latin"
    gloss = r"(?:\s*[(（]?[\u4e00-\u9fff]{1,8}[)）]?)?" if latin and name.isascii() else ""
    found = re.search(named(name).pattern + gloss, sentence, re.IGNORECASE)
    if found is None or len(found.group()) * 3 > len(sentence):
        return None
    title, asks = topic(quote), named(found.group()).sub(GAP, sentence)
    if title.casefold() not in sentence.casefold():
        if name.casefold() in title.casefold():
            return None
        asks = f"{title}{': ' if latin else '：'}{asks}"
    end = "" if asks[-1] in '.!。！…”"’」)）' else "." if latin else "。"
    return Card(asks + end + (" What fills the gap?" if latin else "空格里是什么？"), found.group())
