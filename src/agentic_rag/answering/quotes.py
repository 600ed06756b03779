"""Choose the sentences that answer: by the words they share with the question, and by meaning."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agentic_rag.ingest.sentences import split_sentences
from agentic_rag.ports import Embedding
from agentic_rag.text import content_tokens, tokens

RESULTS = 8
"""Results whose sentences are looked at."""
EMBEDDED = 16
"""Sentences compared by meaning; the rest has too little in common with the question to be tried."""
MIN_LETTERS = 8
COSINE_UNIT = 0.03


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of a result, verbatim: ``result["content"][start:end] == text``."""

    text: str
    start: int
    end: int
    result: Mapping[str, Any]
    score: float
    """Orders quotes of one question, higher is better."""
    order: int
    """Position of its result in the final ranking, from 0."""


async def best_quotes(
    query: str, results: Sequence[dict[str, Any]], embedding: Embedding, *, limit: int
) -> list[Quote]:
    """Up to ``limit`` sentences of the first results, best first; ties by result order, then offset."""
    candidates = _candidates(query, results[:RESULTS])
    if not candidates:
        return []
    tried = sorted(candidates, key=_by_score)[:EMBEDDED]
    vectors = await embedding.embed_passages([readable(quote.text) for quote in tried])
    asked = (await embedding.embed_queries([query]))[0]
    cosines = vectors @ asked
    best = float(np.max(cosines))
    scored = [
        _rescored(quote, quote.score + (float(cosine) - best) / COSINE_UNIT / 3)
        for quote, cosine in zip(tried, cosines, strict=True)
    ]
    return _distinct(sorted(scored, key=_by_score))[:limit]


def _by_score(quote: Quote) -> tuple[float, int, int]:
    return -quote.score, quote.order, quote.start


def _candidates(query: str, results: Sequence[dict[str, Any]]) -> list[Quote]:
    asked = set(content_tokens(query))
    found: list[tuple[Quote, set[str]]] = []
    for order, result in enumerate(results):
        if result["type"] not in ("document", "episode", "edge", "node"):
            continue
        for start, end in _spans(result["content"]):
            text = result["content"][start:end]
            if _says_something(text, result):
                quote = Quote(text, start, end, result, _prior(result, order), order)
                found.append((quote, set(tokens(text))))
    frequency = Counter(token for _, words in found for token in words & asked)
    rarity = {token: math.log(1 + len(found) / count) for token, count in frequency.items()}
    total = sum(rarity.values()) or 1.0
    return [
        _rescored(quote, quote.score + 2.0 * sum(rarity[token] for token in words & asked) / total)
        for quote, words in found
    ]


def _spans(content: str) -> list[tuple[int, int]]:
    return split_sentences(content)


def _prior(result: Mapping[str, Any], order: int) -> float:
    relevance = result.get("rerank_score")
    return (0.5 if relevance is None else float(relevance)) + 1.0 / (1 + order)


_ONLY_MARKUP = re.compile(
    r"^\s*(#{1,6}\s|\||```|~~~|---|\!\[\[[^\]]*\]\]\s*$|[\w\s-]{1,30}::?\s*\S*\s*$|[-*+]\s*\[[ x]\]\s*$)"
)


def _says_something(text: str, result: Mapping[str, Any]) -> bool:
    """Headings, rules, tables' rules and bare embeds answer nothing; properties do where they are all there is."""
    letters = sum(c.isalnum() for c in text)
    dense = sum("\u3040" <= c <= "\u9fff" for c in text)
    return letters + 2 * dense >= MIN_LETTERS and not _ONLY_MARKUP.match(text)


def _distinct(quotes: Sequence[Quote]) -> list[Quote]:
    """Each statement once: the same words in another note add nothing."""
    seen: set[str] = set()
    kept = []
    for quote in quotes:
        key = " ".join(tokens(readable(quote.text)))
        if key not in seen:
            seen.add(key)
            kept.append(quote)
    return kept


def _rescored(quote: Quote, score: float) -> Quote:
    return Quote(quote.text, quote.start, quote.end, quote.result, score, quote.order)


_WIKILINK = re.compile(r"!?\[\[([^\]|#]*)(#[^\]|]*)?(?:\|([^\]]*))?\]\]")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"(\*\*|__|==|~~|`)")
_LEAD = re.compile(
    r"^\s*(?:>\s*)*(?:\[![\w-]+\][+-]?\s*)?(?:[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+|#{1,6}\s+)?"
)
_BLOCK_ID = re.compile(r"\s+\^[\w-]+\s*$")


def readable(text: str) -> str:
    """A quote without Markdown's marks, on one line, for reading; the citation keeps it verbatim."""
    shown = _WIKILINK.sub(lambda m: (m.group(3) or m.group(1) or (m.group(2) or "")[1:]).strip(), text)
    shown = _LINK.sub(r"\1", shown)
    shown = _BLOCK_ID.sub("", _LEAD.sub("", _MARKS.sub("", shown)))
    return " ".join(shown.split())
