"""Choose the sentences that answer: by their passage's relevance, and by the question's words or the nearest
relation's.

Comparing the sentences' own vectors or tokens with the question's finds no better ones (measured where judgements
name sentences or answers; see docs/evaluation.md), at 40 ms a question.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from agentic_rag.answering.passages import is_plain
from agentic_rag.rerank.features import failures
from agentic_rag.text import content_tokens, tokens
from agentic_rag.text.sentences import split_sentences

MIN_TERMS = 3
"""Terms a sentence needs to say something."""
MIN_UNLINKED = 4
"""Letters outside of links: a list of links points on and says nothing itself."""
SHARED = 2.0
"""Points for all the question's words that any sentence has."""
ASKING = -3.0
"""Points for a question, which answers none. Chosen on two vaults, as the shapes' points for failures."""
WRONG = "✗"
"""Marks a quote from a failure callout, so that nobody takes it for the note's own statement."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which sentences an operation wants.

    ``results``: how many of the first results are read; ``per_document``: most sentences of one
    document; ``prose``: running text and tables' rows only; ``worth``: points for a sentence beside those for its words, -inf for
    one that is not wanted;
    ``failed``: points for what a failure callout says;
    ``reach``: share of ``answer.abstain_below`` that a result's relevance needs;
    ``margin``: sentences this many points below the best are left out.
    """

    results: int = 8
    per_document: int = 3
    prose: bool = False
    worth: Callable[[Quote], float] | None = None
    failed: float = 0.0
    reach: float = 1.0
    margin: float = math.inf


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


def best_quotes(
    query: str, results: Sequence[dict[str, Any]], *, limit: int, choice: Choice = Choice()
) -> list[Quote]:
    """Up to ``limit`` sentences of the first results, best first; ties by result order, then offset."""
    candidates = sorted(
        _candidates(query, results[: choice.results], choice),
        key=lambda quote: (-quote.score, quote.order, quote.start),
    )
    scored = _capped(candidates, choice.per_document)
    near = [quote for quote in scored if quote.score >= scored[0].score - choice.margin]
    return _distinct(near)[:limit]


def has_statement(result: Mapping[str, Any]) -> bool:
    """Whether any sentence of a result says something."""
    content = result["content"]
    spans = _outside_code(content, split_sentences(content))
    return any(is_statement(Quote(content[start:end], start, end, result, 0.0, 0)) for start, end in spans)


def _candidates(query: str, results: Sequence[dict[str, Any]], choice: Choice) -> list[Quote]:
    asked: Set[str] = set(content_tokens(query))
    found: list[tuple[Quote, set[str]]] = []
    notes: set[Any] = set()
    for order, result in enumerate(results):
        content = result["content"]
        note = result["metadata"].get("document_id", result["id"])
        leads = note not in notes
        notes.add(note)
        failed = failures(content)
        properties = result["metadata"].get("kind") == "properties"
        spans = _properties(content, asked) if properties else split_sentences(content)
        if properties and leads and not spans:
            spans = _properties(content, _nearest(result["facts"]))
        for start, end in _outside_code(content, spans):
            text = content[start:end]
            score = _prior(result, order)
            score += choice.failed * any(a <= start < b for a, b in failed)
            score += ASKING * bool(_QUESTION.search(text))
            quote = Quote(text, start, end, result, score, order)
            said = not _ONLY_MARKUP.match(text) if properties else is_statement(quote)
            points = 0.0 if choice.worth is None else choice.worth(quote)
            if said and points > -math.inf and not (choice.prose and _NOT_PROSE.search(text)):
                quote = replace(quote, score=score + points)
                found.append((quote, set(tokens(readable(text)))))
    frequency = Counter(token for _, words in found for token in words & asked)
    rarity = {token: math.log(1 + len(found) / count) for token, count in frequency.items()}
    total = sum(rarity.values()) or 1.0
    return [
        replace(quote, score=quote.score + SHARED * sum(rarity[token] for token in words & asked) / total)
        for quote, words in found
    ]


def _outside_code(content: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans that touch neither code nor the names of a table's columns."""
    fenced = [match.span() for pattern in (_FENCE, _HEADER) for match in pattern.finditer(content)]
    return ((start, end) for start, end in spans if not any(a < end and start < b for a, b in fenced))


def _nearest(facts: Sequence[Mapping[str, Any]]) -> Set[str]:
    """The words of the nearest fact's relation name: "Who wrote it?" means ``author`` without naming it."""
    told = [fact for fact in facts if fact.get("cosine") is not None and not is_plain(fact)]
    best = max(told, key=lambda fact: float(fact["cosine"]), default=None)
    return frozenset() if best is None else frozenset(tokens(str(best["name"]).replace("_", " ")))


def _properties(content: str, asked: Set[str]) -> list[tuple[int, int]]:
    """Spans of the properties whose names share a word with the question, each with its whole value."""
    spans = []
    found = list(_PROPERTY.finditer(content))
    for number, match in enumerate(found):
        if asked.isdisjoint(tokens(match.group(1).replace("_", " "))):
            continue
        end = found[number + 1].start() if number + 1 < len(found) else len(content)
        fence = _FENCES.search(content, match.start(), end)
        text = content[match.start() : fence.start() if fence else end]
        spans.append((match.start(), match.start() + len(text.rstrip())))
    return spans


def _prior(result: Mapping[str, Any], order: int) -> float:
    relevance = result.get("rerank_score")
    return (0.5 if relevance is None else float(relevance)) + 1.0 / (1 + order)


_ONLY_MARKUP = re.compile(
    r"^\s*(?:#{1,6}\s.*|[|\s:-]+|```.*|~~~.*|-{3,}.*|!\[\[[^\]]*\]\]|\^[\w-]+|(?:#[^\s#]+[\s,]*)+|[-*+\s]*<?https?://\S+"
    r"|(?:aliases|alias|tags|cssclasses)\s*:.*|.*[:：])\s*$",
    re.IGNORECASE | re.DOTALL,
)


_CALLOUT_TITLE = re.compile(r"^\s*(?:>\s*)+\[![\w-]+\]")
"""Names what the lines under it say."""


_PROPERTY = re.compile(r"""^["']?([^\s"'#:-][^"':\n]*?)["']?[ \t]*:(?=\s|\Z)""", re.MULTILINE)
"""Begins one; what is indented or listed under it is its value."""


_QUESTION = re.compile(r"[?？]\W*\Z")


_NOT_PROSE = re.compile(r"[→←↔]|^[\w-]{1,30}\s*::?\s|^https?://|(?:\[\[.*){4}")
"""Drawn edges, properties, addresses, sentences that are mostly links."""


_FENCE = re.compile(r"^(```|~~~)[^\n]*\n.*?^\1", re.MULTILINE | re.DOTALL)
"""Code is not quoted: a line out of its block is not understandable."""


_HEADER = re.compile(r"^[|].*\n(?=[|]?[\s:|-]+[|]?[ \t]*$)", re.MULTILINE)
"""A table's first row names its columns."""


def is_statement(quote: Quote) -> bool:
    """Whether a sentence can answer: headings, callouts' titles, rules, bare embeds, addresses, block ids,
    tag lines and lead-ins that end in a colon cannot, nor can what is shown in a word or two."""
    if _ONLY_MARKUP.match(quote.text) or _CALLOUT_TITLE.match(quote.text):
        return False
    unlinked = sum(character.isalnum() for character in _WIKILINK.sub("", quote.text))
    return unlinked >= MIN_UNLINKED and len(tokens(_unmarked(quote))) >= MIN_TERMS


def _capped(quotes: Sequence[Quote], per_document: int) -> list[Quote]:
    taken: Counter[Any] = Counter()
    kept = []
    for quote in quotes:
        document = quote.result["metadata"].get("document_id", quote.result["id"])
        taken[document] += 1
        if taken[document] <= per_document:
            kept.append(quote)
    return kept


def _distinct(quotes: Sequence[Quote]) -> list[Quote]:
    """Each statement once: the same words in another note add nothing, but that another note has a property does."""
    seen: set[tuple[str, Any]] = set()
    kept = []
    for quote in quotes:
        about = quote.result["metadata"].get("document_id") if is_property(quote) else None
        key = statement(quote.text), about
        if key not in seen:
            seen.add(key)
            kept.append(quote)
    return kept


def statement(text: str) -> str:
    """What a quote says, as a key: without marks, case and punctuation."""
    return " ".join(tokens(readable(text)))


_WIKILINK = re.compile(r"!?\[\[([^\]|#]*)(#[^\]|]*)?(?:\|([^\]]*))?\]\]")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"\*\*|__|==|~~|`|%%.*?%%|%%|(?<![\w*])\*(?=\w)|(?<=\w)\*(?![\w*])")
_LEAD = re.compile(
    r"^\s*(?:>\s*)*(?:\[![\w-]+\][+-]?\s*)?(?:[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+|#{1,6}\s+)?"
)
_TABLE = re.compile(r"^([|].*)\n(?=.*-)[ \t\r:|-]+\n(?:[|].*(?:\n|\Z))+", re.MULTILINE)
"""Its first group is the row that names the columns."""
_CELL = re.compile(r"(?<!\\)\|(?![^\[]*\]\])")
_FIELD = re.compile(r"^[\w-]+::\s*")
_FENCES = re.compile(r"^---[ \t]*$", re.MULTILINE)
_BLOCK_ID = re.compile(r"\s+\^[\w-]+\s*$")
_ITEM = re.compile(r"(:)?[ \t]*\n[ \t]*[-*+][ \t]+")


def quote_text(quote: Quote) -> str:
    """``readable``; a table's row with the names of its columns, where its passage has them: 65 alone says nothing.
    What a failure callout says is marked as ``WRONG``."""
    return f"{WRONG} {_unmarked(quote)}" if is_failure(quote) else _unmarked(quote)


def is_failure(quote: Quote) -> bool:
    """Whether it stands in a failure callout: what was answered or done, and was wrong."""
    return any(start <= quote.start < end for start, end in failures(quote.result["content"]))


def is_property(quote: Quote) -> bool:
    """Whether the quote is a property of its note."""
    return bool(quote.result["metadata"].get("kind") == "properties")


def _unmarked(quote: Quote) -> str:
    row = table_row(quote)
    if not row:
        return readable(quote.text)
    return readable(" · ".join(f"{name}: {cell}" if name else cell for name, cell in row))


def table_row(quote: Quote) -> list[tuple[str, str]]:
    """A table's row: its cells, each after the name of its column; empty where the passage lacks those names."""
    names = _column_names(quote)
    named = zip_longest(names, _cells(quote.text) if names else [], fillvalue="")
    return [(name, cell) for name, cell in named if cell]


def _column_names(quote: Quote) -> list[str]:
    if not quote.text.startswith("|") or "\n" in quote.text:
        return []
    tables = _TABLE.finditer(quote.result["content"])
    return next((_cells(t.group(1)) for t in tables if t.start() <= quote.start < t.end()), [])


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in _CELL.split(row.strip().removeprefix("|").removesuffix("|"))]


def readable(text: str) -> str:
    """A quote without Markdown's marks, on one line, for reading; the citation keeps it verbatim."""
    if text.lstrip().startswith("|"):
        text = " · ".join(cell for cell in _cells(text) if cell)
    text = _ITEM.sub(lambda item: ": " if item.group(1) else ", ", _FENCES.sub("", text))
    plain = _WIKILINK.sub(lambda m: (m.group(3) or m.group(1) or (m.group(2) or "")[1:]).strip(), text)
    plain = _LINK.sub(r"\1", plain)
    plain = _FIELD.sub("", _BLOCK_ID.sub("", _LEAD.sub("", _MARKS.sub("", plain))))
    return " ".join(plain.split())
