"""Post-retrieval, action compress: shortens memories; their metadata stay."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from agentic_rag.domain.ports import TokenCounter
from agentic_rag.text import content_tokens, tokens
from agentic_rag.text.sentences import split_sentences
from agentic_rag_lab.designs.post_retrieval.config import CompressStep
from agentic_rag_lab.designs.post_retrieval.items import (
    Handlers,
    Items,
    StepOutcome,
    StepRequest,
    best_first,
    lines_of,
)

GAP = " … "
"""Placed between sentences that were not neighbours."""


@dataclass(frozen=True, slots=True)
class MemorySentence:
    """One sentence of a line of a memory; ``memory``, ``line`` and ``number`` count from 0."""

    memory: int
    line: int
    number: int
    lead: str
    """The beginning of its line: ``(date)Speaker: ``."""
    behind: str
    """The rest of the line, after ``lead``."""
    start: int
    end: int
    """``start`` and ``end`` of the sentence in ``behind``."""

    @property
    def text(self) -> str:
        return self.behind[self.start : self.end]


async def extractive(step: CompressStep, items: Items, request: StepRequest) -> StepOutcome:
    """Keeps whole sentences, those most similar to the question first, up to ``compress_max_tokens``.

    The score of a sentence is the sum of ``log(1 + N / n)`` over the words that it (or its speaker's name) shares with
    the question; N sentences, n of them with the word. Kept sentences stay in order, after the date and speaker of
    their line. Memories that fit stay unchanged.
    """
    return await asyncio.to_thread(
        shorten, items, request.question, step.compress_max_tokens, request.tools.count_tokens
    )


COMPRESSIONS: Handlers = {"extractive": extractive}


def shorten(items: Items, question: str, most: int, count_tokens: TokenCounter) -> StepOutcome:
    """See ``extractive``; pure except for the token counter."""
    if not items or sum(count_tokens([item.text for item in items])) <= most:
        return StepOutcome(items)
    sentences = _sentences(items)
    scores = _scores(sentences, question)
    rank = {id(item): n for n, item in enumerate(best_first(items))}
    order = sorted(range(len(sentences)), key=lambda n: (-scores[n], rank[id(items[sentences[n].memory])], n))
    chosen, sizes = _choose([sentences[n] for n in order], most, count_tokens)
    kept = _write_items(items, chosen)
    while (over := sum(count_tokens([item.text for item in kept])) - most) > 0 and chosen:
        chosen = _without_last(chosen, sizes, over)  # joined texts may have more tokens
        kept = _write_items(items, chosen)
    if not kept:
        return StepOutcome((), f"no sentence fits compress_max_tokens {most}", is_degraded=True)
    if not any(scores):
        return StepOutcome(
            kept, "no sentence shares a word with the question; the first ones stay", is_degraded=True
        )
    return StepOutcome(kept)


def _sentences(items: Items) -> list[MemorySentence]:
    return [
        MemorySentence(memory, place, number, line.lead, line.text, start, end)
        for memory, item in enumerate(items)
        for place, line in enumerate(lines_of(item.text))
        for number, (start, end) in enumerate(split_sentences(line.text))
    ]


def _scores(sentences: Sequence[MemorySentence], question: str) -> list[float]:
    asked = set(content_tokens(question))
    shared = [asked.intersection(tokens(sentence.lead + sentence.text)) for sentence in sentences]
    frequency = Counter(token for words in shared for token in words)
    rarity = {token: math.log(1 + len(sentences) / count) for token, count in frequency.items()}
    return [math.fsum(rarity[token] for token in words) for words in shared]


def _choose(
    best: Sequence[MemorySentence], most: int, count_tokens: TokenCounter
) -> tuple[list[MemorySentence], dict[MemorySentence, int]]:
    """As many sentences as fit, best first, and the tokens of each; the first one of a line adds its lead."""
    sizes = count_tokens([sentence.text for sentence in best])
    leads = count_tokens([sentence.lead for sentence in best])
    (gap,) = count_tokens([GAP])
    chosen: list[MemorySentence] = []
    lines: dict[tuple[int, int], set[int]] = {}
    left = most
    for sentence, size, lead in zip(best, sizes, leads, strict=True):
        kept = lines.get((sentence.memory, sentence.line), set())
        beside = len(kept & {sentence.number - 1, sentence.number + 1})
        needed = size + (gap * (1 - beside) if kept else lead)
        if needed <= left:
            chosen.append(sentence)
            lines.setdefault((sentence.memory, sentence.line), kept).add(sentence.number)
            left -= needed
    return chosen, dict(zip(best, sizes, strict=True))


def _without_last(
    chosen_sentences: Sequence[MemorySentence], sizes: Mapping[MemorySentence, int], over: int
) -> list[MemorySentence]:
    """The sentences without the last ones that have ``over`` tokens together; at least one is removed."""
    kept = list(chosen_sentences)
    while kept and over > 0:
        over -= max(1, sizes[kept.pop()])
    return kept


def _write_items(items: Items, chosen_sentences: Sequence[MemorySentence]) -> Items:
    """The memories of the chosen sentences, in order."""
    lines: dict[tuple[int, int], list[MemorySentence]] = {}
    for sentence in sorted(chosen_sentences, key=lambda one: (one.memory, one.line, one.number)):
        lines.setdefault((sentence.memory, sentence.line), []).append(sentence)
    texts: dict[int, list[str]] = {}
    for (memory, _), kept in lines.items():
        texts.setdefault(memory, []).append(kept[0].lead + _join(kept))
    return tuple(replace(items[memory], text="\n".join(found)) for memory, found in texts.items())


def _join(sentences: Sequence[MemorySentence]) -> str:
    text = sentences[0].text
    for before, after in pairwise(sentences):
        neighbours = after.number == before.number + 1
        text += (before.behind[before.end : after.start] if neighbours else GAP) + after.text
    return text
