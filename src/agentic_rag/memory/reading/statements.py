"""What of a text is worth remembering as more than what was said: facts, the person, ways of doing, work in hand; by rules.

English and Chinese. Every statement is a verbatim span of the text, and says which rule found it. What asks, supposes or
plans is no fact; code is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from agentic_rag.memory.reading.slots import slot_values
from agentic_rag.memory.schemas import MemoryType
from agentic_rag.text.sentences import split_sentences

PERSONA, HUMAN, PREFERENCES = "persona", "human", "preferences"
"""Blocks of the core memory."""
MOST_CHARACTERS = 1_500
"""Of a sentence that says something of a person; a longer one is a list, a table or a log."""
MOST_STEPS_CHARACTERS = 4_000
CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class MemoryStatement:
    """``text[start:end]`` of what was said, and what it says."""

    memory_type: MemoryType
    text: str
    start: int
    end: int
    subject: str
    """Whom it is about: the speaker, or who is named."""
    slot: str | None
    """What it answers, where only one answer holds at a time (see ``slots``): only that is ever superseded."""
    value: str | None
    ends: bool
    """The value holds no longer."""
    block: str | None
    """Of the core memory: ``persona``, ``human`` or ``preferences``."""
    trigger: str | None
    """When an instruction applies; "" for always."""
    steps: tuple[str, ...]
    valid_at: datetime | None
    """Since when, where the sentence says so."""
    reason: str
    """The rule that found it."""


_PREFERS = re.compile(
    r"\bI(?:'d|’d| would| 'd)? (?:really |generally |usually |also |now |still |do |tend to |have |much |strongly |personally |would |mostly |typically |particularly |especially |always |never )*"
    r"(?:prefer\w*|like|love|enjoy|hate|dislike|can't stand|favou?r|appreciate|value)\b(?! to (?:know|ask|see|hear|get|have|add|learn|make|start|create|plan|schedule|understand)\b)"
    r"|\bI'd rather\b|\bI would rather\b|\bmy (?:personal )?(?:favou?rite|preference|preferred)\b|\bI(?:'m| am) (?:not )?(?:a (?:big |huge )?fan of|fond of|allergic to|into)\b"
    r"|我(?:更|最|很|特别|非常|比较|一直|不|也|都)*(?:喜欢|偏好|偏爱|讨厌|爱(?![上人])|倾向于|受不了|不爱)|我的(?:偏好|喜好|爱好)|我对[^，。]{1,8}过敏",
    re.IGNORECASE,
)
_PERSONA = re.compile(
    r"\byou(?:'re| are)(?: now)? (?:my|an?|called|named)\b|\b(?:call yourself|your name is|act as|act like|pretend to be|I'll call you|I will call you)\b"
    r"|\b(?:please )?(?:be|stay|sound|keep (?:it|your (?:answers?|replies|responses?)))\s+(?:more |less |very )?(?:brief|short|concise|formal|informal|friendly|casual|polite|honest|direct|patient|encouraging|funny|serious)\b"
    r"|\b(?:answer|reply|respond|speak|talk|write)(?: to me)? (?:only |always )?in (?:english|chinese|german|french|spanish|japanese|italian|norwegian|short|bullet)"
    r"|你(?:现在|以后)?(?:是我的|叫|的名字(?:是|叫)|扮演|要像)|(?:回答|说话|语气)(?:请|要|尽量|得)*(?:简短|简洁|正式|友好|随和|幽默|耐心|直接)|请?用(?:中文|英文|英语|日语)(?:回答|回复|说)",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"\b(?:whenever|every time|each time|any ?time I)\b|\b(?:from now on|from here on|going forward|by default|as a rule)\b"
    r"|\b(?:when|if) I (?:ask|request|mention|say|inquire|bring up)\b"
    r"|(?:\A\W*|[,;:]\s*|\bplease |\byou (?:should |must |are to )?)(?:always|never)\b"
    r"|(?:\A\W*|[,;:]\s*|\band )(?:please )?(?:make sure|be sure|remember|don't forget) (?:to|you|that you)\b"
    r"|\bplease (?:use|include|provide|format|add|avoid|keep|give|write|answer|reply|show|explain|list|cite|mention|start|end|confirm|ask|do not|don't)\b"
    r"|每[次当逢].{0,30}[都就请要]|当我.{1,20}时|以后(?:都|请|要|别|不要)|从现在(?:起|开始)|今后|(?:请|要|得)?(?:总是|始终|一律|务必|一定要)|(?:请|要)(?:记得|记住)|默认(?:用|情况)",
    re.IGNORECASE,
)
_TRIGGER = re.compile(
    r"\b(?:whenever|every time|each time|any ?time(?= I)|when(?= I)|if(?= I))\b[^,;.!?\n]*|每[次当逢][^，。；！？]*?(?=[，都就请要])|当[^，。；！？]*?时",
    re.IGNORECASE,
)
_HOW_TO = re.compile(
    r"^[ \t#*>]*(?:(?:here(?:'s| is| are)[^\n:]{0,60})?\b(?:how to|steps? (?:to|for)|instructions? (?:to|for)|recipe for|guide to|procedure for)\b[^\n]{0,120}|to [a-z][^\n:]{2,80}:|[^\n]{0,20}(?:如何|怎么|怎样|步骤|做法|流程)[^\n]{0,60})[ \t:*：]*$",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM = re.compile(r"\s*(?:\d{1,2}[.)、]|[-*•]|第[一二三四五六七八九十]步)[ \t]*(?P<step>\S[^\n]*)")
_WORKING = re.compile(
    r"\b(?:I'm|I’m|I am|we're|we’re|we are) (?:currently |now |still |just |right now )*(?:working on|in the middle of|stuck (?:on|with|at)|debugging|halfway through|about to|waiting for)\b"
    r"|\b(?:today|tonight|tomorrow|this (?:morning|afternoon|evening|week)),? (?:I|we) (?:need|have|want|must|should|plan)\b|\bI (?:still )?(?:need|have) to [^.?!\n]{1,60}\b(?:today|tonight|tomorrow|this week|by|before)\b"
    r"|\bremind me\b|\bto-?do\b|\bnext step\b|\bin progress\b|我(?:们)?(?:现在|目前)?正在|待办|今天(?:要|得|需要)|提醒我|下一步|还没(?:做|写|完成|弄)|明天要",
    re.IGNORECASE,
)
_NEW_CLAUSE = re.compile(
    r"(?:[,;]\s*|\s+)(?:and|but|so|while|because|although)\s+(?=(?:I|my|we|our|I'm|I’m|I've|I’ve)\b)|[;；]\s*|[，,]\s*(?=我)",
    re.IGNORECASE,
)
"""Between two clauses of which the second has its own subject."""
_ASKING = re.compile(
    r"^\s*(?:and |but |so |ok,? |okay,? )*(?:who|what|when|where|why|how|which|whose|can|could|would|will|do|does|did|is|are|am|was|were|have|has|should|shall|may|might)\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"[,;，；]?\s*(?:and |so |but )?(?:can|could|would|will) (?:you|we|i)\b|\bwhat (?:do|would|should|are|is)\b|\bhow (?:do|can|should|would)\b|能不能|可以帮|能帮",
    re.IGNORECASE,
)


def statements(
    text: str, *, speaker: str, at: datetime | None, is_person: bool = True
) -> list[MemoryStatement]:
    """The statements of a message, in order of place; linear in its length.

    Args:
        text: the message.
        speaker: who says it, and so whom its "I" is.
        at: when, which "last week" is read by.
        is_person: an assistant's message tells how things are done, and nothing of a person.

    >>> [one.value for one in statements("I moved to Bergen. Did I?", speaker="user", at=None) if one.slot]
    ['Bergen', 'Bergen']
    """
    blank = CODE.sub(lambda match: " " * len(match.group()), text)
    found = list(_how_tos(blank, speaker))
    if is_person:
        for start, end in split_sentences(blank):
            if end - start <= MOST_CHARACTERS:
                for begins, ends in parts_of(blank, start, end, at):
                    found += _of_sentence(blank[begins:ends], begins, speaker, at)
    verbatim = [replace(one, text=text[one.start : one.end]) for one in found]
    return sorted(verbatim, key=lambda one: (one.start, one.end, one.memory_type, one.slot or ""))


def parts_of(text: str, start: int, end: int, at: datetime | None) -> list[tuple[int, int]]:
    """Spans of a sentence, without white space around them: its clauses where one of them says something of a slot, so
    that what ends one day takes nothing else along; else the whole sentence."""
    sentence = text[start:end]
    cuts = [match.span() for match in _NEW_CLAUSE.finditer(sentence)]
    edges = [0, *(edge for cut in cuts for edge in cut), len(sentence)]
    parts = list(zip(edges[::2], edges[1::2], strict=True))
    if not cuts or not any(slot_values(told_part(sentence[a:b]), at) for a, b in parts):
        parts = [(0, len(sentence))]
    return [span for a, b in parts if (span := _stripped(text, start + a, start + b)) is not None]


def _stripped(text: str, start: int, end: int) -> tuple[int, int] | None:
    piece = text[start:end]
    begins = start + len(piece) - len(piece.lstrip())
    return (begins, begins + len(piece.strip())) if piece.strip() else None


def _of_sentence(sentence: str, start: int, speaker: str, at: datetime | None) -> Iterator[MemoryStatement]:
    """What one sentence of a person says."""

    def made(kind: MemoryType, reason: str, **given: object) -> MemoryStatement:
        values: dict[str, object] = {
            "subject": speaker,
            "slot": None,
            "value": None,
            "ends": False,
            "block": None,
            "trigger": None,
            "steps": (),
            "valid_at": None,
            **given,
        }
        return MemoryStatement(kind, sentence, start, start + len(sentence), reason=reason, **values)  # type: ignore[arg-type]

    told = told_part(sentence)
    for one in slot_values(told, at):
        subject = one.subject or (speaker if one.relation is None else f"{speaker}'s {one.relation}")
        given = {
            "subject": subject,
            "slot": one.slot,
            "value": one.value,
            "ends": one.ends,
            "valid_at": one.valid_at,
        }
        yield made(MemoryType.SEMANTIC, f"says the slot {one.slot!r} of {subject}", **given)
        if one.is_personal and subject == speaker:
            yield made(MemoryType.CORE, "says who the person is", block=HUMAN, **given)
    if told and (match := _PREFERS.search(told)):
        yield made(MemoryType.CORE, f"says what the person prefers ({match.group()!r})", block=PREFERENCES)
    if match := _PERSONA.search(sentence):
        yield made(MemoryType.CORE, f"says how the assistant is to be ({match.group()!r})", block=PERSONA)
    if told and (match := _STANDING.search(sentence)):
        trigger = _TRIGGER.search(sentence)
        yield made(
            MemoryType.PROCEDURAL,
            f"is a standing instruction ({match.group()!r})",
            trigger=trigger.group().strip() if trigger else "",
        )
    if told and (match := _WORKING.search(told)):
        yield made(MemoryType.WORKING, f"is going on now ({match.group()!r})")


def told_part(sentence: str) -> str:
    """What a sentence tells, without what it asks at its end; "" for one that asks from the beginning."""
    if _ASKING.match(sentence) and sentence.rstrip().endswith(("?", "？")):
        return ""
    if not sentence.rstrip().endswith(("?", "？")):
        return sentence
    asks = _REQUEST.search(sentence)
    return sentence[: asks.start()] if asks else ""


def _how_tos(text: str, speaker: str) -> Iterator[MemoryStatement]:
    """Headings that say how to do something, each with the steps beneath it."""
    for heading in _HOW_TO.finditer(text):
        end, steps = heading.end(), []
        while (item := _ITEM.match(text, end)) and item.end() - heading.start() <= MOST_STEPS_CHARACTERS:
            steps.append(item["step"].strip())
            end = item.end()
        if len(steps) < 2:
            continue
        start = heading.start() + len(heading.group()) - len(heading.group().lstrip())
        yield MemoryStatement(
            memory_type=MemoryType.PROCEDURAL,
            text=text[start:end],
            start=start,
            end=end,
            subject=speaker,
            slot=None,
            value=None,
            ends=False,
            block=None,
            trigger=heading.group().strip(" \t#*:：>"),
            steps=tuple(steps),
            valid_at=None,
            reason="tells how something is done, step by step",
        )
