"""Selects the sentences that answer a question: by the relevance of their passage, and by the words of the question or
of the nearest relation's name.

Comparing the vectors or tokens of the sentences with the question's selects no better ones (measured on data with
judged sentences or answers; see docs/evaluation.md), and costs 40 ms a question.
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
"""Minimum terms of a sentence."""
MIN_UNLINKED = 4
"""Minimum letters outside of links: a list of links makes no statement."""
SHARED = 2.0
"""Points for a sentence with all question words that occur in any sentence."""
ASKING = -3.0
"""Points for a sentence that is a question. Chosen on two vaults, as the points for failures."""
WRONG = "✗"
"""Marks a quote from a failure callout, so that it is not read as the note's own statement."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The sentences that an operation wants.

    ``results``: number of first results that are read; ``per_document``: maximum sentences per document; ``prose``:
    only running text and table rows; ``worth``: points for a sentence besides those for its words, -inf to exclude it;
    ``failed``: points for text in a failure callout;
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
    """Order of the quotes of one question, higher is better."""
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
    """Whether any sentence of a result makes a statement."""
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
    """The spans outside of code and of table headers."""
    fenced = [match.span() for pattern in (_FENCE, _HEADER) for match in pattern.finditer(content)]
    return ((start, end) for start, end in spans if not any(a < end and start < b for a, b in fenced))


def _nearest(facts: Sequence[Mapping[str, Any]]) -> Set[str]:
    """Words of the nearest fact's relation name: "Who wrote it?" means ``author`` without naming it."""
    told = [fact for fact in facts if fact.get("cosine") is not None and not is_plain(fact)]
    best = max(told, key=lambda fact: float(fact["cosine"]), default=None)
    return frozenset() if best is None else frozenset(tokens(str(best["name"]).replace("_", " ")))


def _properties(content: str, asked: Set[str]) -> list[tuple[int, int]]:
    """Spans of the properties whose names share a word with the question, each with its full value."""
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
"""The title of a callout, which names the lines below it."""


_PROPERTY = re.compile(r"""^["']?([^\s"'#:-][^"':\n]*?)["']?[ \t]*:(?=\s|\Z)""", re.MULTILINE)
"""Start of a property; indented or listed lines below it belong to its value."""


_QUESTION = re.compile(r"[?？]\W*\Z")


_NOT_PROSE = re.compile(r"[→←↔]|^[\w-]{1,30}\s*::?\s|^https?://|(?:\[\[.*){4}")
"""Drawn edges, properties, URLs, sentences that consist mostly of links."""


_FENCE = re.compile(r"^(```|~~~)[^\n]*\n.*?^\1", re.MULTILINE | re.DOTALL)
"""Code blocks, which are not quoted: a single line of code is not understandable."""


_HEADER = re.compile(r"^[|].*\n(?=[|]?[\s:|-]+[|]?[ \t]*$)", re.MULTILINE)
"""The header row of a table."""


def is_statement(quote: Quote) -> bool:
    """Whether a sentence can answer. Headings, titles of callouts, rules, bare embeds, URLs, block ids, tag lines
    and lead-ins that end in a colon cannot, nor can a text of one or two readable words."""
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
    """Each statement once; the same property in several notes counts once for each note."""
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
    """Key of a quote's statement: its text without markup, case and punctuation."""
    return " ".join(tokens(readable(text)))


_WIKILINK = re.compile(r"!?\[\[([^\]|#]*)(#[^\]|]*)?(?:\|([^\]]*))?\]\]")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"\*\*|__|==|~~|`|%%.*?%%|%%|(?<![\w*])\*(?=\w)|(?<=\w)\*(?![\w*])")
_LEAD = re.compile(
    r"^\s*(?:>\s*)*(?:\[![\w-]+\][+-]?\s*)?(?:[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+|#{1,6}\s+)?"
)
_TABLE = re.compile(r"^([|].*)\n(?=.*-)[ \t\r:|-]+\n(?:[|].*(?:\n|\Z))+", re.MULTILINE)
"""A table; its first group is the header row."""
_CELL = re.compile(r"(?<!\\)\|(?![^\[]*\]\])")
_FIELD = re.compile(r"^[\w-]+::\s*")
_FENCES = re.compile(r"^---[ \t]*$", re.MULTILINE)
_BLOCK_ID = re.compile(r"\s+\^[\w-]+\s*$")
_ITEM = re.compile(r"(:)?[ \t]*\n[ \t]*[-*+][ \t]+")


def quote_text(quote: Quote) -> str:
    """``readable``; a table row with its column names if the passage has them, because a bare 65 says nothing.
    Text of a failure callout is marked as ``WRONG``."""
    return f"{WRONG} {_unmarked(quote)}" if is_failure(quote) else _unmarked(quote)


def is_failure(quote: Quote) -> bool:
    """Whether the quote is in a failure callout, which holds wrong answers and mistakes."""
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
    """The cells of a table row, each after its column name; empty if the passage lacks the header row."""
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
    """A quote without Markdown markup, on one line; the citation keeps it verbatim."""
    if text.lstrip().startswith("|"):
        text = " · ".join(cell for cell in _cells(text) if cell)
    text = _ITEM.sub(lambda item: ": " if item.group(1) else ", ", _FENCES.sub("", text))
    plain = _WIKILINK.sub(lambda m: (m.group(3) or m.group(1) or (m.group(2) or "")[1:]).strip(), text)
    plain = _LINK.sub(r"\1", plain)
    plain = _FIELD.sub("", _BLOCK_ID.sub("", _LEAD.sub("", _MARKS.sub("", plain))))
    return " ".join(plain.split())
