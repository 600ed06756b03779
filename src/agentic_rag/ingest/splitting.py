"""Cut a text that is too long for one chunk: at lines, sentences, clauses and words, code points last."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from agentic_rag.domain import BlockKind
from agentic_rag.domain.ports import TokenCounter
from agentic_rag.text.sentences import split_sentences

Span = tuple[int, int]
Counted = tuple[int, int, int]
"""Start, end, tokens."""

_BY_LINE: frozenset[BlockKind] = frozenset({"code", "table", "list", "html", "properties"})
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)\s*|[^\r\n]+\Z")
_WORD = re.compile(r"\s*[^\s，、；：]+[\s，、；：]*|[\s，、；：]+")
_LONGEST_CLUSTER = 32
_JOINERS = frozenset("\u200d\ufe0e\ufe0f\u20e3")


def split_span(
    text: str, start: int, end: int, kind: BlockKind, *, limit: int, target: int, count_tokens: TokenCounter
) -> list[Counted]:
    """Parts of text[start:end] that touch each other, cover it, and hold at most ``limit`` tokens.

    Parts are about ``target`` tokens long and about equally long, so that no scrap is left at the end. Only a
    single character of more than ``limit`` tokens stays whole.
    """
    levels = [_lines, _sentences, _words] if kind in _BY_LINE else [_sentences, _words]
    pieces = [(start, end)]
    done: list[Counted] = []
    for level in levels:
        pieces = [span for piece in pieces for span in level(text, *piece)]
        done, pieces = _sorted_out(text, pieces, done, limit, count_tokens)
        if not pieces:
            break
    for piece in pieces:
        done += _characters(text, *piece, limit=limit, target=target, count_tokens=count_tokens)
    return _pack(sorted(done), limit, target)


def _sorted_out(
    text: str, pieces: list[Span], done: list[Counted], limit: int, count_tokens: TokenCounter
) -> tuple[list[Counted], list[Span]]:
    """Those that fit, with their tokens, added to ``done``; and those still too long."""
    counts = count_tokens([text[start:end] for start, end in pieces])
    counted = [(start, end, tokens) for (start, end), tokens in zip(pieces, counts, strict=True)]
    fitting = [piece for piece in counted if piece[2] <= limit]
    return done + fitting, [(start, end) for start, end, tokens in counted if tokens > limit]


def _pack(pieces: list[Counted], limit: int, target: int) -> list[Counted]:
    """Join neighbours to as many parts as the target asks for, each within the limit."""
    total = sum(tokens for _, _, tokens in pieces)
    parts = max(1, -(-total // limit), round(total / target))
    packed: list[Counted] = []
    filled = 0
    for start, end, tokens in pieces:
        # A piece joins while more of it lies before this part's share of the whole than behind it.
        share = total * len(packed) / parts
        if packed and packed[-1][2] + tokens <= limit and filled + tokens / 2 <= share:
            first, _, before = packed.pop()
            packed.append((first, end, before + tokens))
        else:
            packed.append((start, end, tokens))
        filled += tokens
    return packed


def _lines(text: str, start: int, end: int) -> list[Span]:
    return _touching([match.start() for match in _LINE.finditer(text, start, end)], start, end)


def _sentences(text: str, start: int, end: int) -> list[Span]:
    return _touching([start + first for first, _ in split_sentences(text[start:end])], start, end)


def _words(text: str, start: int, end: int) -> list[Span]:
    return _touching([match.start() for match in _WORD.finditer(text, start, end)], start, end)


def _touching(starts: list[int], start: int, end: int) -> list[Span]:
    """Spans from each start to the next; what lies before the first start goes to the first span."""
    cuts = [start, *(cut for cut in starts[1:] if start < cut < end), end]
    return list(pairwise(cuts))


def _characters(
    text: str, start: int, end: int, *, limit: int, target: int, count_tokens: TokenCounter
) -> list[Counted]:
    """Cut one endless word: into equal parts by its token density, halving what is still too long."""
    done: list[Counted] = []
    pieces = [(start, end)]
    while pieces:
        counts = count_tokens([text[first:last] for first, last in pieces])
        remaining: list[Span] = []
        for (first, last), tokens in zip(pieces, counts, strict=True):
            parts = [] if tokens <= limit else _equal_parts(text, first, last, max(2, -(-tokens // target)))
            if len(parts) < 2:
                done.append((first, last, tokens))
            else:
                remaining += parts
        pieces = remaining
    return done


def _equal_parts(text: str, start: int, end: int, parts: int) -> list[Span]:
    size = max(1, -(-(end - start) // parts))
    cuts = [start]
    while cuts[-1] + size < end:
        cut = _boundary(text, cuts[-1] + size, end)
        if cut >= end:
            break
        cuts.append(cut)
    if len(cuts) == 1:
        # One endless cluster of marks: the limit comes before its looks, but a surrogate pair stays whole.
        middle = (start + end) // 2
        middle += _is_pair(text[middle - 1], text[middle])
        return [(start, middle), (middle, end)] if start < middle < end else []
    return list(zip(cuts, [*cuts[1:], end], strict=True))


def _boundary(text: str, cut: int, end: int) -> int:
    """The first place from ``cut`` on that parts no cluster: accents, emoji sequences, surrogates, CRLF."""
    last = min(end, cut + _LONGEST_CLUSTER)
    for place in range(cut, last):
        if not _belongs_together(text[place - 1], text[place]):
            return place
    return last + (last < end and _is_pair(text[last - 1], text[last]))


def _belongs_together(before: str, after: str) -> bool:
    return (
        unicodedata.combining(after) != 0
        or after in _JOINERS
        or before == "\u200d"
        or (before == "\r" and after == "\n")
        or _is_pair(before, after)
    )


def _is_pair(before: str, after: str) -> bool:
    return "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff"
