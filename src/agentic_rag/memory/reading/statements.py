"""Extracts statements from a message: facts, preferences, instructions, tasks.

Rules only, English and Chinese; each statement is a verbatim span and names its rule. Precision is preferred to
recall: only what the speaker asserts of the present fills a slot, and only a slot ends an earlier fact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

import regex

from agentic_rag.memory.reading.clauses import Clause, Sentence, inside, sentences
from agentic_rag.memory.reading.instructions import how_tos, instruction
from agentic_rag.memory.reading.likings import ONCE, PRONOUNS
from agentic_rag.memory.reading.schemas import LIKING, Block, MemoryStatement
from agentic_rag.memory.reading.slots import SlotStatement, slot_statements
from agentic_rag.memory.reading.slots_zh import LEAD_ZH, filled_zh
from agentic_rag.memory.reading.subjects import LEAD
from agentic_rag.memory.reading.when import held_interval, since
from agentic_rag.memory.schemas import MemoryType


def statements(
    text: str, *, speaker: str, at: datetime | None, is_person: bool = True
) -> list[MemoryStatement]:
    """The statements of a message, in order of place; linear in its length.

    >>> found = statements("I moved to Bergen, so can you find me a gym?", speaker="Anna", at=None)
    >>> [(one.memory_type.value, one.subject, one.slot, one.value) for one in found]
    [('semantic', 'Anna', 'lives in', 'Bergen'), ('core', 'Anna', 'lives in', 'Bergen')]

    Args:
        text: one message.
        speaker: its author, meant by "I".
        at: its time, for "last week"; None leaves relative dates alone.
        is_person: False for an assistant, whose how-to's alone are extracted.
    """
    found = list(_procedures(text, speaker))
    taken = [(one.start, one.end) for one in sorted(found, key=lambda one: one.start)]
    if is_person:
        for sentence in sentences(text):
            if sentence.own and not inside(taken, sentence.start):
                found += _of_sentence(sentence, speaker, at)
    return list(_with_things(text, sorted(found, key=lambda one: (one.start, one.end))))


def _with_things(text: str, statements: Sequence[MemoryStatement]) -> Iterator[MemoryStatement]:
    """The statements; a liking of a pronoun ("I used to love sushi, but now I hate it") is joined to the clause before,
    which names the thing, and left out where there is none."""
    before: MemoryStatement | None = None
    for one in statements:
        if one.slot in PRONOUNS:
            if before is None or one.start > before.end + _BESIDE:
                continue
            whole = text[before.start : one.end]
            one = replace(one, slot=before.slot, subject=before.subject, start=before.start, text=whole)
        if one.slot is not None and one.slot.startswith(LIKING):
            before = one
        if one.value != ONCE:
            yield one


def _procedures(text: str, speaker: str) -> Iterator[MemoryStatement]:
    for one in how_tos(text):
        yield MemoryStatement(
            MemoryType.PROCEDURAL,
            text[one.start : one.end],
            one.start,
            speaker,
            "Steps stand in a list under a line that says what they are for.",
            trigger=one.trigger,
            steps=one.steps,
        )


def _of_sentence(sentence: Sentence, speaker: str, at: datetime | None) -> Iterator[MemoryStatement]:
    persona = _PERSONA.match(sentence.text)
    if not sentence.asks:
        told = instruction(sentence.text, sentence.start)
        if told is not None:
            yield MemoryStatement(
                MemoryType.PROCEDURAL,
                sentence.text,
                sentence.start,
                speaker,
                "It tells what to do whenever something happens."
                if told.trigger
                else "It tells what to do from now on.",
                trigger=told.trigger,
            )
        if persona is not None:
            yield MemoryStatement(
                MemoryType.CORE,
                sentence.text,
                sentence.start,
                speaker,
                "It says who or how the assistant shall be.",
                block="persona",
            )
        if told is not None or persona is not None:
            return
    for clause in sentence.clauses:
        yield from _of_clause(clause, speaker, at)


def _of_clause(clause: Clause, speaker: str, at: datetime | None) -> Iterator[MemoryStatement]:
    if _REMINDS.search(clause.text) and not clause.text.endswith("?"):
        yield _task(clause, speaker, at)
        return
    if not clause.is_asserted:
        return
    facts = (
        filled_zh(clause.text, speaker) if _HAN.search(clause.text) else slot_statements(clause.text, speaker)
    )
    found = [statement for fact in facts for statement in _fact(clause, fact, speaker, at)]
    yield from found or _without_slot(clause, speaker, at)


def _task(clause: Clause, speaker: str, at: datetime | None) -> MemoryStatement:
    reason, start = "It says what is going on or to be done now.", since(clause.text, at)
    return MemoryStatement(MemoryType.WORKING, clause.text, clause.start, speaker, reason, valid_at=start)


def _fact(
    clause: Clause, fact: SlotStatement, speaker: str, at: datetime | None
) -> Iterator[MemoryStatement]:
    if fact.past:
        yield from _once_held(clause, fact)
        return
    valid_at = since(_when_of(clause.text, fact), at)
    what = f'It {"ends" if fact.ends else "states"} the slot "{fact.slot}" of {fact.subject}.'
    stated = MemoryStatement(
        MemoryType.SEMANTIC,
        clause.text,
        clause.start,
        fact.subject,
        what,
        slot=fact.slot,
        value=fact.value,
        ends=fact.ends,
        valid_at=valid_at,
    )
    yield stated
    block = _block(fact)
    if block is not None and fact.subject == speaker:
        what = "who the person is" if block == "human" else "what the person prefers"
        reason = f"It says {what}: {fact.slot}."
        yield replace(stated, memory_type=MemoryType.CORE, reason=reason, block=block)


def _once_held(clause: Clause, fact: SlotStatement) -> Iterator[MemoryStatement]:
    """Both ends of a past state, if both are stated; else nothing, because it says nothing of the present."""
    times = held_interval(clause.text)
    if times is None:
        return
    for ends, valid_at in ((False, times[0]), (True, times[1])):
        reason = f'It states both ends of the time in which the slot "{fact.slot}" of {fact.subject} held.'
        yield MemoryStatement(
            MemoryType.SEMANTIC,
            clause.text,
            clause.start,
            fact.subject,
            reason,
            slot=fact.slot,
            value=fact.value,
            ends=ends,
            valid_at=valid_at,
        )


def _when_of(clause: str, fact: SlotStatement) -> str:
    """The words that may state a start; if the slot's value is a date, only those before the value."""
    if fact.rule not in ("measure", "birthday"):
        return clause
    lead = (LEAD_ZH if _HAN.search(clause) else LEAD).match(clause)
    return "" if lead is None else lead.group()


_BESIDE = 8
"""Most characters between a clause and the one before it: a mark and a conjunction."""
_HUMAN_RULES = frozenset(
    ("lives in", "employer", "job", "name", "age", "marital status", "school", "diet", "birthday", "name of family", "address", "e-mail", "phone number")
)  # fmt: skip


def _block(fact: SlotStatement) -> Block | None:
    if fact.rule in ("favourite", LIKING):
        return "preferences"
    return "human" if fact.rule in _HUMAN_RULES else None


def _without_slot(clause: Clause, speaker: str, at: datetime | None) -> Iterator[MemoryStatement]:
    lead = (LEAD_ZH if _HAN.search(clause.text) else LEAD).match(clause.text)
    body = clause.text[lead.end() if lead is not None else 0 :]
    if _PREFERS.match(body):
        reason = "It says what the person likes or prefers."
        yield MemoryStatement(
            MemoryType.CORE, clause.text, clause.start, speaker, reason, block="preferences"
        )
    elif _BUSY.match(body) or _BUSY.match(clause.text):
        yield _task(clause, speaker, at)
    elif _WHO_ONE_IS.match(body):
        yield MemoryStatement(
            MemoryType.CORE,
            clause.text,
            clause.start,
            speaker,
            "It says who the person is: family, origin or health.",
            block="human",
            valid_at=since(clause.text, at),
        )


_HAN = regex.compile(r"\p{Han}")
_PERSONA = regex.compile(
    r"(?:(?:please|from now on|ok|okay|hi|hello|hey|and|also),?\s+)*(?:you\s?(?:are|['’]re)\s(?:now\s|going\sto\sbe\s|to\sbe\s)?(?:an?|my|the)\s(?:[\w-]+\s){0,4}?(?:assistants?|tutor|teacher|expert|coach|mentor|editor|consultant|advis[eo]r|agent|bot|companion|translator|developer|engineer|helper|chef|doctor|therapist|interviewer|reviewer|guide|butler|secretary|planner|writer|programmer|analyst|partner|friend)\b(?!\!)"
    r"|call\syourself\b|your\sname\sis\b|(?:you\s(?:should|must|will|shall)\s)?(?:act|behave)\s(?:as|like)\b"
    r"|(?:try\sto\s|you\s(?:should|must)\s)?be\s(?:more\s|very\s|always\s|less\s)?(?:brief|concise|short|friendly|formal|informal|casual|polite|honest|direct|blunt|critical|patient|kind|funny|detailed|professional|enthusiastic|precise|strict|encouraging|sarcastic|humorous|warm)\b"
    r"|(?:speak|talk|answer|respond|reply|write)(?:\sto\sme)?\s(?:only\s|always\s)?(?:in|with|like|as)\s(?:an?\s|English|Chinese|German|French|Spanish|Japanese|plain|simple|short|bullet|formal|informal|more|less|fewer|my)"
    r"|(?:I\s(?:want|need|'d\slike|would\slike)\syou\sto\s(?:be|act|speak|sound)\b))"
    r"|(?:请|以后|从现在开始|，)*(?:你(?:现在)?是(?:一[个名位]|我的)|你(?:以后)?(?:叫|要|应该|必须)|(?:说话|回答|回复)(?:要|请|尽量|得)|请?用[^，。]{1,6}(?:回答|回复|交流)|请?(?:简洁|简短|礼貌|正式|友好|详细)(?:一?点|些|地)?)(?!.*[?？吗呢])",
    regex.IGNORECASE,
)
_ADVERB = r"(?:\s(?:really|also|still|always|never|much|generally|usually|actually|definitely|strongly|absolutely|especially|personally|mostly|typically|just|truly|do|kinda|sort\sof))*"
_PREFERS = regex.compile(
    rf"I{_ADVERB}\s(?:prefer|hate|dislike|enjoy|adore|detest|loathe|favou?r|love|like)\s(?!(?:it|this|that|how|your|you|the\s(?:idea|sound|way|plan|suggestion|look))\b)"
    r"|I(?:\swould|['’]d)\s(?:much\s)?(?:rather|prefer)\s|I(?:\sdo\snot|\sdon['’]t)(?:\s(?:really|much))?\s(?:like|enjoy|want\syou\sto)\s(?!(?:it|this|that|how|your|you)\b)|I\s(?:can['’]t|cannot)\sstand\s"
    r"|I(?:\sam|['’]m)(?:\snot)?\s(?:really\s|very\s|a\s)*(?:big\s|huge\s)?(?:fan\sof|fond\sof|into|keen\son)\s|my\s(?:strong\s)?preference\s(?:is|would\sbe)\s|(?:one|some)\sof\smy\sfavou?rite"
    r"|我(?:真的?|很|更|最|比较|特别|非常|还是|一直|也|挺|超|不太|不怎么)*(?:喜欢|偏好|讨厌|热爱|不喜欢|不爱|宁愿|宁可|受不了|偏爱|爱(?=[\p{Han}])|倾向于)(?!你|这个主意|这样)",
    regex.IGNORECASE,
)
_REMINDS = regex.compile(
    r"\A(?:(?:please|can\syou|could\syou|and|also|so)\s)*remind\sme\b|\A(?:[-*]\s*)?(?:\[\s?\]\s|TODO\b|to-do\b|next\ssteps?\b|in\sprogress\b|action\sitems?\b|still\sto\sdo\b)"
    r"|\A(?:请|记得)?提醒我|\A(?:待办|下一步|接下来要|进行中|未完成)",
    regex.IGNORECASE,
)
_BUSY = regex.compile(
    r"(?:I|we)(?:\sam|['’]m|\sare|['’]re)(?:\s(?:currently|now|still|just|right\snow|also|actually|already|kinda|busy))*\s(?:working\son|trying\sto|in\sthe\smiddle\sof|building|writing|debugging|implementing|developing|preparing|planning|about\sto|finishing|drafting|fixing|testing|designing|setting\sup|stuck\son|learning|reading|studying\sfor|waiting\sfor|revising|editing|organi[sz]ing|getting\sready)\b"
    r"|(?:I|we)(?:\s(?:still|also|really|now))?\s(?:need|have|['’]ve\sgot|got)\sto\s(?=.*\b(?:today|tonight|tomorrow|now|by|before|this\s(?:week|morning|afternoon|evening|month)|next|asap|soon|urgently)\b)|(?:my|the|our)\snext\s(?:step|task)\b|(?:today|tonight|tomorrow|this\s(?:week|morning|afternoon|evening)),?\sI\s(?:need|have|must|want|will|plan)\b"
    r"|(?:我们?|今天|明天|本周|这周)(?:我们?|今天|明天|本周|这周|现在|目前|还)*(?:正在|在(?=做|写|准备|开发|调试|学|忙)|要(?=[\p{Han}])|得|需要|打算|必须)",
    regex.IGNORECASE,
)
_WHO_ONE_IS = regex.compile(
    r"I(?:['’]ve\sgot|\shave)\s(?:an?|no|one|two|three|four|five|\d+)\s(?:[\w-]+\s){0,2}?(?:kids?|child(?:ren)?|sons?|daughters?|sisters?|brothers?|siblings?|twins?|wife|husband|partner|girlfriend|boyfriend)\b"
    r"|I(?:['’]m|\sam)\s(?:an?|the)\s(?:[\w-]+\s){0,2}?(?:mother|mom|mum|father|dad|parent|grandmother|grandfather)\b|I(?:['’]m|\sam)\s(?:allergic|originally\sfrom|from\s(?-i:\p{Lu}))"
    r"|I\s(?:was\sborn|grew\sup)\s|I\s(?:suffer\sfrom|was\sdiagnosed)\s"
    r"|我(?:家)?有[\p{Han}\d]{0,4}(?:孩子|儿子|女儿|姐姐|妹妹|哥哥|弟弟)|我对[\p{Han}]{1,8}过敏|我(?:出生|来自|生于)",
    regex.IGNORECASE,
)
