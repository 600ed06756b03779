"""Leaves out units that say of somebody else what a question asks of the person who asks: "Her birthday is 4 May" is no
answer to "What is my birthday?"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.answering.evidence import Candidate
from agentic_rag.answering.source_notes import SourceNote
from agentic_rag.text import tokens

_FIRST = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Ww]e|[Uu]s|[Oo]urs?)\b|[我咱]")
_THIRD = re.compile(r"\b(?:he|she|his|hers?|him)\b|[他她](?!们)", re.IGNORECASE)
_ASKER = re.compile(
    r"\bmy\s+(?P<owned>[^?.!,]+)|\b(?:am|do|was|did)\s+i\b(?:\s+(?P<state>[a-z]+))?|^\s*我(?!们)",
    re.IGNORECASE,
)
_OWN_NOUN = (
    r"\bmy\s+(?:(?:full|first|last|own|current|home)\s+)*"
    r"(?P<noun>(?:sur|nick)?name|birth(?:day|date)|age|address|phone(?:\s+number)?|job|profession|occupation|employer"
    r"|nationality|height|weight|blood\s+type|hometown|favou?rite\s+\w+)"
    r"(?=\s*(?:\W*$|is\b|was\b|in\b|on\b|at\b|now\b|again\b|today\b|last\b))"
)
_OWN_VERB = (
    r"\b(?:where|which|what|who|when|how)\b(?:\s+(?!to\b)\w+){0,3}?\s+(?:am|do|did|was|have)\s+i\s+"
    r"(?:(?:now|currently|still|really|most|usually)\s+)?"
    r"(?P<verb>lived?|living|reside|from|born|work|like|love|prefer|hate|enjoy)\b(?!\s+(?:with|on|longer|through)\b)"
    r"|\bhow\s+(?P<size>old|tall)\s+am\s+i\b"
)
_OWN_HAN = (
    r"^我(?:现在|目前|今年|以前|之前|原来|去年|\d{4}年|的|在|最|到底|是){0,3}(?:哪里|哪儿|哪|做什么)?"
    r"(?P<han>住|叫(?=什么名|啥|什么\W*$)|姓|名字|姓名|生日|年龄|多大|几岁|血型|身高|体重|职业|住址|地址|出生"
    r"|(?:工作|上班)(?=\W*$)|(?:喜欢|讨厌|爱)(?=[^的]*(?:什么|哪|谁|啥)|的[^的]*是))"
)
_PERSONAL = re.compile(f"{_OWN_NOUN}|{_OWN_VERB}|{_OWN_HAN}", re.IGNORECASE)
"""Asks who the asker is: a fact that a note states in his own words, "my name is", or by a label, "name:"."""
_SAME_FACT = {"多大": "岁", "几岁": "岁", "lived": "live", "living": "live"}
_SUBJECT = r"^\W*(?:he|she|they|his|her|their)\b|^\W*[他她]"
_OWNER = r"(?:\b(?:his|her|their)|\w['’]s)\s+(?:[\w-]+\s+){0,2}?"


def of_asker(question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The units that may say what the asker is or has; all of them where the question asks for nothing of that kind.

    A question that names somebody else ("what did I tell her?") asks for nothing of the asker's own.
    """
    asker = _ASKER.search(question)
    if asker is None or _THIRD.search(question):
        return list(candidates)
    personal = _PERSONAL.search(question)
    is_own = None if personal is None else _own_statement(personal)
    named = set(tokens(question))
    notes = {one.note.document_id: one.note for one in candidates}
    others = {key: note for key, note in notes.items() if named.isdisjoint(tokens(note.title))}
    persons = {key for key, note in others.items() if _is_person(note)}
    forms = [rf"{_OWNER}{re.escape(word)}\b" for word in re.findall(r"[\w-]+", asker["owned"] or "")]
    if asker["state"]:
        forms.append(rf"\w\s{re.escape(asker['state'])}e?s\b")  # "lives", which nobody says of himself
    of_somebody = re.compile("|".join((_SUBJECT, *forms)), re.IGNORECASE)

    def is_of_another(one: Candidate) -> bool:
        text = one.unit.own()
        is_memory = one.note.base["metadata"].get("kind") == "memory"  # which is of the asker
        if is_own is not None and not is_memory and not is_own.search(text):
            return True
        if one.note.document_id not in others or _FIRST.search(text):
            return False
        of_note = one.unit.kind == "property" or _begins_with_title(one.note, text)
        return of_somebody.search(text) is not None or (of_note and one.note.document_id in persons)

    return [one for one in candidates if not is_of_another(one)]


def _own_statement(personal: re.Match[str]) -> re.Pattern[str]:
    """What a unit reads like that states the fact: of the asker, or as a name with its value."""
    fact = next(one for one in personal.groups() if one is not None).lower()
    word = "|".join(map(re.escape, _SAME_FACT.get(fact, fact).split()))
    if personal["han"]:
        return re.compile(rf"[我咱][^。；？]*{word}|^[^，。：:]{{0,4}}{word}\s*[：:]")
    if personal["noun"]:
        return re.compile(
            rf"\bmy\s+(?:[\w-]+\s+){{0,2}}(?:{word})\b|^(?:[\w-]+[ _]){{0,2}}(?:{word})\s*:", re.IGNORECASE
        )
    return re.compile(rf"\b(?:I|[Ww]e)\b[^.?!;]*\b{word}(?!s\b)")


def _is_person(note: SourceNote) -> bool:
    """Whether the note speaks of what it is called after as of a person."""
    texts = [unit.own() for unit in note.reading.units if unit.kind != "property"]
    return any(_THIRD.search(text) for text in texts) and any(
        _begins_with_title(note, text) for text in texts
    )


def _begins_with_title(note: SourceNote, text: str) -> bool:
    title = tokens(note.title)
    return bool(title) and title[0] in tokens(text)[:1]
