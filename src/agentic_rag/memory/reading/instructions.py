"""Standing instructions and how-to's in a message: an action with its trigger, and steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import regex

from agentic_rag.ingest.facts.stopwords import FUNCTION_WORDS, OPENING_WORDS

_VERBS = (
    r"(?:add|address|analy[sz]e|answer|apply|ask|assume|avoid|be|begin|break|bring|call|check|cite|clarify|compare|confirm|consider|convert|correct|define|describe|detail|display|"
    r"do|don['’]t|do\snot|double-check|draw|emphasi[sz]e|end|ensure|explain|express|factor|finish|flag|focus|follow|format|give|greet|group|highlight|identify|illustrate|include|indicate|"
    r"keep|label|leave|limit|link|list|mark|mention|name|never|always|note|offer|omit|order|organi[sz]e|outline|point|prefer|present|prioriti[sz]e|provide|put|quote|recommend|refer|reference|"
    r"refrain|remember|remind|reply|report|respond|return|round|say|send|show|sign|skip|sort|specify|speak|spell|start|state|stick|stop|structure|review|run|read|test|simplify|compute|calculate|combine|compile|walk|suggest|summari[sz]e|supply|support|tag|tailor|"
    r"take|talk|tell|translate|treat|use|verify|wait|warn|write)"
)
_TELLS = rf"(?:please\s|kindly\s|just\s|then\s|also\s|(?:I|we)(?:\swant|['’]d\slike|\swould\slike|\sneed|\sexpect|\sprefer)\s(?:for\s)?you\sto\s|you\s(?:should|must|need\sto|have\sto|can|shall|are\sto|ought\sto)\s|(?:always|never|make\ssure|be\ssure)\s(?:to\s|you\s|that\s)*)*{_VERBS}"
_WHEN = r"(?:when(?:ever)?|if|every\stime|each\stime|any\s?time|as\ssoon\sas|as\slong\sas|wherever)\s(?:I|we|you|someone|somebody|anyone|there|it|the|my|a|an)\b"
_LEAD = r"(?:(?:and|also|so|but|ok|okay|oh|hey|hi|hello|please|btw|by\sthe\sway|thanks|great|for\sfuture\sreference|remember|note|one\smore\sthing)\b[,:.!]?\s+)*"
_TRIGGER_FIRST = regex.compile(
    rf"{_LEAD}(?P<trigger>(?:{_WHEN}|for\s(?:all|any|every|each)\b|in\s(?:all|any|every|each)\b|before\s(?:you|every|each|any)\b|after\s(?:you|every|each|any)\b)[^,:;?]{{2,160}}?)(?:,|:|\s[-–—])\s*(?:then\s)?{_TELLS}\b",
    regex.IGNORECASE,
)
_TRIGGER_LAST = regex.compile(
    rf"{_LEAD}{_TELLS}\b[^?？\n]{{2,300}}?\s(?P<trigger>(?:(?:when(?:ever)?|if|every\stime|each\stime|any\s?time)\s(?:I['’]?m?|we|you|someone|somebody|anyone)\s(?:\w+ly\s)?"
    r"(?:ask|mention|say|request|want|need|send|share|talk|bring|inquire|tell|write|give|start|post|upload|discuss|refer|seek|am|are|work|explain|answer|respond|reply|describe|suggest|recommend|provide|use|look|propose|compare|present|report|query|speak|plan|have|do)"
    r"|whenever\b|every\stime\b|each\stime\b|any\s?time\b|in\s(?:all|every|each)\s(?:of\s)?(?:your|my|our)\b|in\severy\s(?:answer|reply|response|message)\b)[^.!?\n]*)",
    regex.IGNORECASE,
)
_WHEN_ASKED = regex.compile(
    rf"{_LEAD}(?:(?:please|kindly|always|never|just|only)\s)*(?P<verb>\p{{L}}{{2,}})\b[^?？\n]{{2,300}}?\s(?P<trigger>(?:when(?:ever)?|if|every\stime|each\stime|any\s?time)\sI(?:['’]m)?\s(?:ask|mention|request|inquire|want|need|bring\sup|talk\sabout|discuss)[^.!?\n]*)",
    regex.IGNORECASE,
)
"""Matches any verb, if the trigger is that the user asks for something."""
_STANDING = regex.compile(
    rf"{_LEAD}(?:(?:from\snow\son|from\shere\son(?:\sout)?|going\sforward|moving\sforward|in\s(?:the\s)?future|by\sdefault|as\sa\s(?:general\s)?rule|at\sall\stimes|in\sgeneral|unless\sI\ssay\sotherwise|until\sfurther\snotice),?\s{_TELLS}\b"
    rf"|{_TELLS}\b[^?？\n]{{2,300}}?\s(?:from\snow\son|going\sforward|moving\sforward|in\s(?:the\s)?future|by\sdefault|at\sall\stimes|every\s(?:single\s)?time|unless\sI\ssay\sotherwise|until\sfurther\snotice)\b"
    rf"|(?:please\s)?(?:make\ssure|be\ssure|see\sto\sit)\s(?:to|you|that\syou|your)\b|(?:please\s)?(?:always|never)\s(?!mind|again\b|heard|seen|been|thought|knew){_VERBS}\b"
    rf"|(?:I|we)(?:\swant|['’]d\slike|\swould\slike|\sneed|\sexpect)\syou\sto\s(?:always|never)\b|you\s(?:should|must)\s(?:always|never)\b)",
    regex.IGNORECASE,
)
_ZH_TRIGGER = regex.compile(
    r"(?:请|另外|还有|对了|记住|，)*(?P<trigger>(?:以后)?(?:每次|每当|每逢|每回|只要|凡是|当|如果我|要是我|一旦|如果用户)[^，。？！]{1,40}?(?:时候?|都|就|，|的话))[，,]?.*(?:请|要|都|就|必须|务必|不要|别|应该|先|得|用|给)"
)
_ZH_STANDING = regex.compile(
    r"(?:请|另外|还有|对了|记住|，)*(?:(?:以后|今后|从现在(?:开始|起)|从今以后|往后|默认(?:情况下)?)[，,]?.*(?:请|要|都|就|必须|务必|不要|别|应该|得|用|给|叫)|(?:务必|一定要|永远不要|永远要|千万(?:别|不要)|始终|总是要?|切记)|请(?:总是|始终|务必|一直|永远))"
)
_ONE_OFF = regex.compile(
    r"\b(?:this\s(?:time|message|question|one|code|essay|email|letter)|right\snow|today|tonight|tomorrow|the\s(?:above|following|code\sbelow))\b|这次|这一次|(?<!从)现在|今天|明天|上面|下面"
)

_STEP = regex.compile(
    r"[ \t]*(?:\d{1,2}[.)、](?!\d)|[-*+•](?=[ \t])|[①-⑳]|(?:step|步骤)\s*\d{1,2}\s*[:.：、]|第[一二三四五六七八九十]+步[：:，,、]?)[ \t]*(?P<step>\S[^\n]*)",
    regex.IGNORECASE,
)
_HEADING = regex.compile(
    r"[ \t]*(?:#{1,6}[ \t]+|\*\*)?(?P<title>(?:.*\bhow\s(?:to|I|we|you)\b.*|to\s\w+[^.!?\n]{2,100}[:：]|.*\b(?:steps|procedure|recipe|instructions|routine|workflow|process|checklist)\b.*[:：]?|.*(?:步骤|流程|做法|方法|怎么|如何|操作)[^。！\n]*))(?:\*\*)?[ \t]*",
    regex.IGNORECASE,
)
MAX_STEPS, MAX_HEADING = 40, 200


@dataclass(frozen=True, slots=True)
class Instruction:
    """``text[start:end]`` is the whole instruction."""

    start: int
    end: int
    trigger: str
    """The clause that gives the trigger, as written; "" for always; the heading of a how-to."""
    steps: tuple[str, ...] = ()


def instruction(sentence: str, offset: int) -> Instruction | None:
    """The standing instruction in a sentence, or None.

    Args:
        sentence: not a question.
        offset: start of the sentence in its text.
    """
    end = offset + len(sentence)
    if _ONE_OFF.search(sentence):
        return None
    for pattern in (_TRIGGER_FIRST, _TRIGGER_LAST, _ZH_TRIGGER):
        found = pattern.match(sentence)
        if found is not None:
            return Instruction(offset, end, found["trigger"].strip(" ,，.。"))
    asked = _WHEN_ASKED.match(sentence)
    if asked is not None and _may_command(asked["verb"].lower()):
        return Instruction(offset, end, asked["trigger"].strip(" ,."))
    if _STANDING.match(sentence) or _ZH_STANDING.match(sentence):
        return Instruction(offset, end, "")
    return None


def _may_command(verb: str) -> bool:
    """Whether a first word can be an imperative: no function word, and without an ending that imperatives lack."""
    return verb not in FUNCTION_WORDS | OPENING_WORDS and not verb.endswith(("s", "ed", "ing"))


def how_tos(text: str) -> Iterator[Instruction]:
    """Numbered or bulleted steps under a line that names their purpose; at least two steps."""
    lines = [(match.start(), match.group()) for match in regex.finditer(r"[^\n]+", text)]
    index = 0
    while index < len(lines):
        start, line = lines[index]
        heading = (
            _HEADING.fullmatch(line.rstrip("\r"))
            if len(line) <= MAX_HEADING and not _STEP.match(line)
            else None
        )
        index += 1
        if heading is None:
            continue
        steps: list[str] = []
        end = start
        while index < len(lines) and len(steps) < MAX_STEPS:
            step = _STEP.fullmatch(lines[index][1].rstrip("\r"))
            if step is None:
                break
            steps.append(step["step"].strip())
            end = lines[index][0] + len(lines[index][1].rstrip())
            index += 1
        if len(steps) >= 2:
            yield Instruction(start, end, heading["title"].strip(" *:：#"), tuple(steps))
