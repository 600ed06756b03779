"""A chat model's answer held to its passages: what they do not support is left out, and what is kept cites them."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agentic_rag.answering.grounding.clauses import content_words
from agentic_rag.answering.grounding.comparison import Passage, read_passages
from agentic_rag.answering.grounding.stated_amounts import stated_amounts
from agentic_rag.answering.grounding.statements import ParsedAnswer, Statement
from agentic_rag.answering.grounding.support import MAX_UNSAID, Fault, fault, shares, unsaid_share
from agentic_rag.domain.ports import TokenEmbedding
from agentic_rag.domain.token_vectors import QuestionTokens
from agentic_rag.text import tokens

Reason = Literal["uncited"] | Fault
REASONS: Mapping[Reason, str] = {
    "uncited": "without a citation, and no passage supports it",
    "amount": "with an amount that its passage does not have",
    "contradicted": "against its passage",
    "unsupported": "about something that its passage does not say",
}
"""Why a statement is left out, in words."""
_GENERIC = frozenset(
    "accord answer ask base brief conclus detail exampl follow found here import includ inform key list main note "
    "overview passag point provid question refer relat result say section short sourc state step summari tell thing "
    "total way 笔记 总结 概述 结论 来源 要点 以下 如下 下列 根据 回答 答案 内容 资料 说明 显示 问题 步骤".split()
)
"""Stems of words that say nothing of a subject."""
_SILENT = re.compile(
    r"\b(?:notes?|passages?|sources?|documents?|texts?|information|context)\b.*(?:\b(?:not|nothing|no)\b|n['’]t\b)"
    r"|\b(?:no|not)\b.*\b(?:in|by) the (?:notes?|passages?|sources?|documents?|texts?)\b"
    r"|(?:笔记|资料|文中|原文|段落|材料|文档).*(?:没有|没|未|不)",
    re.IGNORECASE,
)
_SECOND = re.compile(r"[;；]|\b(?:but|however|although|which|who|because)\b|但|而且|因为")


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """What is left of an answer."""

    text: str
    """Empty if nothing is left that a passage supports."""
    numbers: tuple[int, ...]
    """The cited passages, from 1, in order of first appearance."""
    claims: int
    """Statements that had to be supported."""
    left_out: Mapping[Reason, int]
    """Those left out, by reason."""

    @property
    def reason(self) -> str | None:
        """What was left out, as a sentence; None where nothing was."""
        if not self.left_out:
            return None
        counts = "; ".join(f"{count} {REASONS[reason]}" for reason, count in self.left_out.items())
        return f"{sum(self.left_out.values())} of {self.claims} statements left out: {counts}"


async def cited_answer(
    answer: str, question: str, passages: Sequence[str], embedding: TokenEmbedding | None
) -> CitedAnswer:
    """An answer whose every claim cites a passage that supports it.

    A claim that its own passages do not support is cited anew where one other passage does, else left out. Headings
    and leading lines go with what they lead in. See ``support.fault``.

    Args:
        answer: as the model wrote it, with marks ``[n]`` from 1.
        question: what was asked.
        passages: that the model was given, in order.
        embedding: None: words are compared by their letters alone.

    Raises:
        ModelError: the embedding model failed.
    """
    parsed = ParsedAnswer.of(answer)
    read = await read_passages(passages, embedding)
    texts = [_checked_text(one, question) for one in parsed.statements]
    vectors: list[QuestionTokens | None] = [None] * len(texts)
    if embedding is not None:
        vectors = list(await asyncio.gather(*map(embedding.question_tokens, texts)))
    return await asyncio.to_thread(_cite_claims, parsed, texts, question, read, vectors)


def _checked_text(one: Statement, question: str) -> str:
    """What passages have to support: of a bare "yes" what was asked."""
    is_bare = one.kind == "claim" and not content_words(one.text) and not stated_amounts(one.text)
    return f"{question} {one.text}" if is_bare else one.text


def _cite_claims(
    parsed_answer: ParsedAnswer,
    texts: Sequence[str],
    question: str,
    passages_read: Sequence[Passage],
    vectors: Sequence[QuestionTokens | None],
) -> CitedAnswer:
    cites: list[tuple[int, ...] | Reason] = []
    for n, (one, text, of) in enumerate(zip(parsed_answer.statements, texts, vectors, strict=True)):
        cites.append(
            ()
            if one.kind == "frame"
            else _cites(one, text, _following(parsed_answer, n), passages_read, of, question)
        )
    is_kept = [not isinstance(one, str) for one in cites]
    for n, reaches in _frames(parsed_answer):
        own = unsaid_share(texts[n], passages_read, vectors[n], known_words={*tokens(question), *_GENERIC})
        led = [is_kept[m] for m in reaches]
        is_kept[n] = own <= MAX_UNSAID and (any(led) or not led)
    kept = [
        (one, of)
        for one, of, is_it in zip(parsed_answer.statements, cites, is_kept, strict=True)
        if is_it and not isinstance(of, str)
    ]
    numbers = dict.fromkeys(number for _, of in kept for number in of)
    left_out = Counter(of for of in cites if isinstance(of, str))
    claims = sum(one.kind != "frame" for one in parsed_answer.statements)
    return CitedAnswer(parsed_answer.rebuilt(kept) if numbers else "", tuple(numbers), claims, left_out)


def _following(parsed_answer: ParsedAnswer, n: int) -> list[int]:
    """The numbers of the next marks in the same paragraph or list: a mark at its end may stand for what is before it."""
    for before, one in zip(parsed_answer.statements[n:], parsed_answer.statements[n + 1 :], strict=False):
        if "\n\n" in parsed_answer.between(before, one):
            break
        if one.numbers:
            return list(one.numbers)
    return []


def _cites(
    one: Statement,
    text: str,
    following: Sequence[int],
    passages_read: Sequence[Passage],
    vectors: QuestionTokens | None,
    question: str,
) -> tuple[int, ...] | Reason:
    """The numbers that a claim cites, none where it states nothing; the reason where it is left out."""
    own = [number for number in one.numbers if 1 <= number <= len(passages_read)]
    reason: Reason | None = "uncited"
    if own:
        cited = [passages_read[number - 1] for number in own]
        reason = fault(text, cited, vectors, question=question)
        if reason is None:
            sharing = [number for number in own if shares(text, passages_read[number - 1], vectors)]
            return tuple(sharing or own)
    for number in dict.fromkeys([*following, *range(1, len(passages_read) + 1)]):
        if not 1 <= number <= len(passages_read) or [number] == own:
            continue
        is_anew = number not in following
        if fault(text, [passages_read[number - 1]], vectors, is_anew=is_anew, question=question) is None:
            return (number,)
    if _SILENT.search(text) and not _SECOND.search(text) and not stated_amounts(text):
        return ()
    return reason or "unsupported"


def _frames(parsed_answer: ParsedAnswer) -> Iterator[tuple[int, list[int]]]:
    """Each frame, and the claims that it leads in: up to the next frame, those of a heading up to the next heading."""
    statements = parsed_answer.statements
    for n, one in enumerate(statements):
        if one.kind != "frame":
            continue
        is_heading = one.text != parsed_answer.bare[one.start : one.end] and not one.text.endswith(
            (":", "：", "?", "？")
        )
        reaches: list[int] = []
        for m in range(n + 1, len(statements)):
            if statements[m].kind == "frame":
                if reaches and not is_heading:
                    break
                continue
            reaches.append(m)
        yield n, reaches
