"""Answers that are no words of a sentence: yes or no, likely or not, one of two that are offered, who speaks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.domain.ports import Embedding
from agentic_rag.lab.reading.questions import ParsedQuestion
from agentic_rag.lab.reading.statements import Statement
from agentic_rag.lab.reading.words import telling, words_of

READ = 8
"""Sentences that are compared with what is offered."""

_FIRST = frozenset("i i'm i've i'd i'll my me mine we we're we've our us myself".split())
_NOT = re.compile(r"\b(?:not|no|never|none|nobody|nothing|hardly)\b|n['’]t\b", re.IGNORECASE)
_OFFER = re.compile(r"(?P<left>[^,:?]+?),?\s+or\s+(?P<right>[^,?]+)\??\s*$", re.IGNORECASE)


def verdict(question: ParsedQuestion, statements: Sequence[Statement]) -> str:
    """``Yes`` or ``No``, for what only is supposed ``Likely yes`` or ``Likely no``: whether the best sentence
    says that something is not so, and the question does not."""
    denied = bool(_NOT.search(statements[0].sentence.text)) != bool(_NOT.search(question.text))
    word = "no" if denied else "yes"
    return f"Likely {word}" if question.kind == "likely" else word.capitalize()


def speaker_answer(statement: Statement) -> str:
    """Who speaks of themselves in the sentence; "" where nobody does."""
    own = any(word.lower in _FIRST for word in statement.sentence.words)
    return statement.sentence.line.speaker if own else ""


async def choice(
    question: ParsedQuestion, statements: Sequence[Statement], embedding: Embedding | None
) -> str:
    """The offered thing that the best sentences speak of, the first where both are alike; ``Yes`` or ``No`` where
    the question does not end in an offer."""
    match = _OFFER.search(question.text)
    if match is None:
        return verdict(question, statements)
    left, right = _alike(match["left"].strip(), match["right"].strip())
    sentences = [statement.sentence.text for statement in statements[:READ]]
    for_left, for_right = (float(_shared(offer, sentences)) for offer in (left, right))
    if for_left == for_right and embedding is not None:
        vectors = await embedding.embed_passages(sentences)
        near = (await embedding.embed_queries([left, right])) @ vectors.T
        for_left, for_right = (round(float(row.max()), 6) for row in near)
    return right if for_right > for_left else left


def _alike(left: str, right: str) -> tuple[str, str]:
    """What is offered first, without what the question says before it: it has as many words as the other."""
    words = left.split()
    return " ".join(words[-max(1, len(right.split())) :]), right


def _shared(offer: str, sentences: Sequence[str]) -> int:
    """Telling words of an offer in the sentence that has most of them."""
    wanted = telling(words_of(offer))
    return max((len(wanted & telling(words_of(sentence))) for sentence in sentences), default=0)
