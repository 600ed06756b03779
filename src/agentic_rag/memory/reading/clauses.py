"""Splits a message into sentences and clauses, and decides whether its speaker asserts each.

Not asserted are questions, conditional clauses, quotations and reports, and texts handed over for a task ("Translate
this: …"). Code is left out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import regex

from agentic_rag.text.sentences import split_sentences

MAX_SENTENCE = 2_000
"""Maximum code points of a sentence; a longer one is data, not speech, and is left out."""

_CODE = regex.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", regex.MULTILINE | regex.DOTALL)
_QUOTATION = regex.compile(
    r"\"[^\"\n]{1,600}\"|“[^”]{1,600}”|「[^」]{1,300}」|『[^』]{1,300}』|«[^»]{1,600}»"
)
_SUBJECT = (
    r"(?:(?:now\s)?(?-i:I)\b|my|we|our|the\s(?:deadline|due|budget|price|cost|rent)|can|could|would|will|should|do|does|did|is|are|what|how|why|where|which|who|please"
    r"|if|(?-i:\p{Lu}\p{Ll}+)(?:['’]s\s\w+|\s(?:just|now|has|finally)?\s?)?\b\s?(?:lives?|moved|works?|is|was|has|left|relocated|joined|got))\b"
)
_JOIN = (
    r"(?:and|but|so|because|since|as|while|although|though|yet|or|plus|also|considering|given(?:\s+that)?)"
)
_BREAK = regex.compile(
    rf"(?:(?:[,;]|\s[-–—])\s+(?:{_JOIN}\s+)?(?={_SUBJECT})|\s+(?:and|but|so|because)\s+(?={_SUBJECT})"
    # Also after an abbreviation ("Acme Corp. I'm …"), where a sentence may end.
    r"|(?<=[.!?])(?<!\b(?:Dr|Mr|Mrs|Ms|Prof)\.)\s+(?=(?-i:I|My|We|Our|Can|Could|Would|Should|Do|Does|Did|Is|Are|What|How|Why|Where|Which|Who|Please|The)\b)"
    r"|[，；]\s*(?:而且|但是?|所以|因为|不过|并且|然后)?)",
    regex.IGNORECASE,
)
_ONLY_WHEN = regex.compile(
    r"(?:\W|\b(?:and|but|so|well|actually|oh|ok|okay|also|by\sthe\sway|btw|then)\b)*(?:(?:back\s)?(?:in|on|since|as\sof|from|starting|around|by)\s[^,;]{2,32}(?:,\s\d{4})?"
    r"|(?:earlier\s)?(?:last|this)\s\w+|yesterday|today|[\w\s]{1,12}\s(?:days?|weeks?|months?|years?)\sago)"
    r"|(?:对了|其实|另外|更新一下|好的)|[从自在]?[\d一二三四五六七八九十年月日号]{2,12}[起初底]?|.{0,4}(?:昨天|今天|上周|上个?月|去年|今年|最近|现在|年|月|日|天前|年前|月前|周前|起|开始|以来)",
    regex.IGNORECASE,
)
"""The start of a sentence that only gives a time; it belongs to the following sentence."""
_ASKS = regex.compile(
    r"(?:and|but|so|or|also|then)?\s*(?:(?:can|could|would|will|should|shall|may|might|do|does|did|is|are|am|was|were|have|has|had)(?:n['’]t)?\s+"
    r"(?:I|you|we|he|she|they|it|there|this|that|these|the|my|our|anyone|someone|(?-i:\p{Lu}))|(?:what|how|why|when|where|which|who|whose)\b)"
    r"|.{0,80}(?:[吗呢]\s*$|什么|怎么|怎样|如何|为何|哪|谁|是否|能不能|是不是|有没有|要不要|多少)",
    regex.IGNORECASE,
)
_FACTIVE = regex.compile(r".*\b(?:because|since|as|but|considering|given(?:\s+that)?)\s*$", regex.IGNORECASE)
_SUPPOSES = regex.compile(
    r"(?:(?:and|but|so|also|or|then|even|well|what|as)\s+)*(?:if|suppos\w+|imagin\w+|pretend\w*|let['’]?s\s+(?:say|assume|pretend)|say\s+I\b|assum\w+|unless|whether"
    r"|in case|for\s(?:this|the|my|an?)\s(?:exercise|example|story|novel|scenario|game|test|task|prompt)|(?:in|as)\s(?:this|the|my|an?)\s(?:\w+\s)?(?:exercise|example|story|novel|scenario|game|dream|film|movie|book|character)|when|whenever|once|until|before|I\s+(?:wish|dreamt|dreamed|imagine)|had\s+I|were\s+I|should\s+I)\b"
    r"|(?:就算|即使|哪怕|但|但是|那)?(?:如果|假如|要是|假设|若|倘若|万一|比如说?|除非|等我|当我)",
    regex.IGNORECASE,
)
_REPORTS = regex.compile(
    r".*\b(?:sa(?:id|ys|ying)|told\s+\S+|tells\s+\S+|wrote|writes|claim(?:s|ed)|thinks|thought|asked|heard|reads?|sang|insist(?:s|ed)|goes|(?:is|was|were)\slike|for example|e\.g\.)"
    r"(?:\s+that)?\W*$|.*(?:说|表示|认为|告诉我|听说|以为)\W*$",
    regex.IGNORECASE,
)
_HANDS_OVER = regex.compile(
    r"(?:(?:please|kindly|now|then|and|ok|okay|hi|hello|hey|can\syou|could\syou|would\syou|help\sme(?:\sto)?|I\s(?:want|need)\syou\sto)\b,?\s*)*"
    r"(?:translate|proof-?read|paraphrase|re-?write|rephrase|summari[sz]e|correct|edit|improve|polish|continue|analy[sz]e|complete|check|role-?play|review)\b[^:\n]{0,200}:"
    r"|.{0,200}\b(?:example|sentence|text|paragraph|draft|essay|e-?mail|letter|story|poem|quote|lyrics|dialogue|conversation)\s*(?:\bis\s*)?:"
    r"|.{0,60}(?:翻译|润色|改写|校对|修改|总结|续写|例句|造句|例如)[^：:\n]{0,60}[：:]",
    regex.IGNORECASE,
)
_ENDS_ASKING = regex.compile(r"[?？][\"'”’)\]」』*_]*$|吗[。!！]?$")


@dataclass(frozen=True, slots=True)
class Clause:
    """``text[start:end]``; conjunctions at its start are not part of it."""

    start: int
    end: int
    text: str
    is_asserted: bool


@dataclass(frozen=True, slots=True)
class Sentence:
    """``text[start:end]`` of a message, with its clauses in order; at least one."""

    start: int
    end: int
    text: str
    clauses: tuple[Clause, ...]
    own: bool
    """Whether the speaker says it, and does not quote it or hand it over for a task."""
    asks: bool


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a message, without code, in order."""
    code = [match.span() for match in _CODE.finditer(text)]
    quoted = [match.span() for match in _QUOTATION.finditer(text)]
    handed_over = False
    for start, end in split_sentences(text):
        sentence = text[start:end]
        if end - start > MAX_SENTENCE or inside(code, start):
            continue
        handed_over = handed_over or _HANDS_OVER.match(sentence) is not None
        own = not (handed_over or sentence.startswith(">") or inside(quoted, start))
        asks = _ENDS_ASKING.search(sentence) is not None
        yield Sentence(start, end, sentence, tuple(_clauses(sentence, start, asks, own, quoted)), own, asks)


def inside(spans: list[tuple[int, int]], place: int) -> bool:
    """Whether a place lies in one of the spans, which are in order and do not overlap."""
    index = bisect_right(spans, place, key=lambda span: span[0]) - 1
    return index >= 0 and place < spans[index][1]


def _clauses(
    sentence: str, offset: int, asks: bool, own: bool, quoted_spans: list[tuple[int, int]]
) -> Iterator[Clause]:
    breaks = [match.span() for match in _BREAK.finditer(sentence)]
    if breaks and _ONLY_WHEN.fullmatch(sentence, 0, breaks[0][0]):
        del breaks[0]
    starts = [0, *(end for _, end in breaks)]
    ends = [*(start for start, _ in breaks), len(sentence.rstrip(" \t\r\n.!?。！？；;,，"))]
    spans = [(start, max(start, end)) for start, end in zip(starts, ends, strict=True)]
    questions = [_ASKS.match(sentence[start:end]) is not None for start, end in spans]
    asserted = own and not (asks and not any(questions))
    asked = False
    for index, (start, end) in enumerate(spans):
        clause = sentence[start:end]
        asked = asked or (asks and questions[index])
        if _SUPPOSES.match(clause):
            asserted = False
        joined = index > 0 and _FACTIVE.match(sentence[breaks[index - 1][0] : start].strip()) is not None
        said = asserted and not questions[index] and (not asked or joined)
        if clause:
            yield Clause(
                offset + start, offset + end, clause, said and not inside(quoted_spans, offset + start)
            )
        if _REPORTS.match(clause):
            asserted = False
