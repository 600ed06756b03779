"""Reads whether a question names a slot: "where do I live?" asks for a home, 我喜欢川菜吗 for a liking."""

from __future__ import annotations

import re

from agentic_rag.memory.reading.schemas import CHINESE_NAMES, EMPLOYER, JOB, LIKING, LIVES_IN
from agentic_rag.text import content_tokens, fold

_WORDS = {
    LIVES_IN: re.compile(r"\b(?<!for a )(?:liv(?:e|ed|ing)|home|town|city|resid\w+)\b|住|城市|老家"),
    EMPLOYER: re.compile(r"\b(?:work(?:ed|ing)?|employer|company|job)\b|工作|上班|公司|单位|就职"),
    JOB: re.compile(r"\b(?:job|profession|occupation|for a living)\b|职业|做什么工作"),
    LIKING: re.compile(r"\b(?:lik(?:e|ed|ing)|lov(?:e|ed|ing)|enjoy\w*|hat(?:e|ed|ing)|dislik\w+|fond|fan|stand)\b|喜欢|讨厌|爱"),
}  # fmt: skip
"""Words of the slots that are not named by their own."""
_FIRST_PERSON = re.compile(r"\b(?:i|my)\b|我(?!们)")


def plain(text: str) -> str:
    """The text in the form in which words are compared: folded, simplified, in lower case."""
    return fold(text).casefold()


def is_of_asker(question: str) -> bool:
    """Whether the question is about the person who asks."""
    return _FIRST_PERSON.search(plain(question)) is not None


def names_slot(question: str, slot: str) -> bool:
    """Whether the question names a slot, by its words or by those of its kind.

    >>> names_slot("Where did I live in 2024?", "lives in"), names_slot("How do I brew tea?", "liking of tea")
    (True, False)
    """
    text = plain(question)
    if slot.startswith(LIKING):
        return _WORDS[LIKING].search(text) is not None and names_value(question, slot, "")
    if slot in _WORDS:
        return _WORDS[slot].search(text) is not None
    return _contains(text, CHINESE_NAMES.get(slot, slot)) or _contains(text, slot)


def names_value(question: str, slot: str, value: str) -> bool:
    """Whether the question names the value of a slot, or the thing that is liked.

    >>> names_value("When did I leave Oslo?", "lives in", "Oslo"), names_value("我什么时候不喝咖啡了？", "liking of 咖啡", "likes")
    (True, True)
    """
    name = slot.removeprefix(LIKING) if slot.startswith(LIKING) else value
    return bool(name) and _contains(plain(question), name)


def confused_slots(question: str) -> frozenset[str]:
    """The slots that the question names, of those that are near each other as vectors."""
    return frozenset(slot for slot in AMBIGUOUS_SLOTS if names_slot(question, slot))


AMBIGUOUS_SLOTS = (LIVES_IN, EMPLOYER)


def _contains(text: str, name: str) -> bool:
    return plain(name).strip() in text or set(content_tokens(name)) <= set(content_tokens(text))
