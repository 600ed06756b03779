"""The answer in the shape each operation asks for; every line is a quote with its citation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentic_rag.answering.citations import CitationList
from agentic_rag.answering.quotes import Quote, readable
from agentic_rag.fusion.strategy_selector import CanvasOperation
from agentic_rag.text import script

Shape = Callable[[str, Sequence[Quote], CitationList], str]


def passages(query: str, quotes: Sequence[Quote], cited: CitationList) -> str:
    """``document_retrieval``: the best sentences as they stand, in the order of the ranking."""
    return "\n".join(f"{readable(quote.text)} {cited.cite(quote)}" for quote in quotes)


def questions(query: str, quotes: Sequence[Quote], cited: CitationList) -> str:
    """``verification_canvas``: a question a quote, with what it is about left out, and the answer under it."""
    lines = []
    for number, quote in enumerate(quotes, start=1):
        hidden, answer = _blanked(quote)
        lines.append(f"{number}. {hidden}")
        lines.append(f"   → {answer} {cited.cite(quote)}")
    return "\n".join(lines)


def clusters(query: str, quotes: Sequence[Quote], cited: CitationList) -> str:
    """``weak_point_clustering``: quotes under what most of them have in common, largest group first."""
    groups: dict[str, list[Quote]] = {}
    themes = [_themes(quote) for quote in quotes]
    frequency = Counter(theme for named in themes for theme in set(named))
    everywhere = {theme for theme, count in frequency.items() if count == len(quotes) > 1}
    for quote, named in zip(quotes, themes, strict=True):
        shared = [theme for theme in named if theme not in everywhere]
        best = max(shared, key=lambda theme: (frequency[theme], theme), default=_title(quote))
        groups.setdefault(best, []).append(quote)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[1][0].order))
    return "\n".join(
        f"{theme} ({len(members)})\n"
        + "\n".join(f"  - {_title(quote)}: {readable(quote.text)} {cited.cite(quote)}" for quote in members)
        for theme, members in ordered
    )


def relations(query: str, quotes: Sequence[Quote], cited: CitationList) -> str:
    """``concept_relation``: what the graph says connects the concepts, then the sentences that say so."""
    lines = []
    told: set[tuple[str, str, str]] = set()
    for quote in quotes:
        drawn = [fact for fact in quote.result["facts"] if _arrow_key(fact) not in told][:2]
        told.update(_arrow_key(fact) for fact in drawn)
        arrows = "; ".join(
            f"{fact['source']} —{_relation(fact['name'])}→ {fact['target']}"
            for fact in drawn
            if fact.get("source") and fact.get("target")
        )
        sentence = readable(quote.text)
        lines.append(
            f"{arrows}: {sentence} {cited.cite(quote)}" if arrows else f"{sentence} {cited.cite(quote)}"
        )
    return "\n".join(lines)


SHAPES: Mapping[CanvasOperation, Shape] = {
    CanvasOperation.VERIFICATION_CANVAS: questions,
    CanvasOperation.WEAK_POINT_CLUSTERING: clusters,
    CanvasOperation.CONCEPT_RELATION: relations,
    CanvasOperation.DOCUMENT_RETRIEVAL: passages,
}
"""By operation."""


def not_found(query: str) -> str:
    """The honest answer where nothing is relevant enough, in the question's language."""
    return "在你的笔记里没有找到。" if script(query) == "cjk" else "Not found in your notes."


def _title(quote: Quote) -> str:
    return str(quote.result["metadata"].get("title") or quote.result["id"])


def _themes(quote: Quote) -> list[str]:
    """What a quote's note is filed under: its tags, its headings, what the graph knows it speaks of."""
    metadata = quote.result["metadata"]
    tags = [f"#{tag}" for tag in metadata.get("tags") or []]
    targets = [str(fact["target"]) for fact in quote.result["facts"] if fact.get("target")]
    return list(dict.fromkeys([*targets, *metadata.get("entities", []), *tags]))


def _arrow_key(fact: Mapping[str, Any]) -> tuple[str, str, str]:
    return str(fact.get("source")), str(fact.get("name")), str(fact.get("target"))


def _relation(name: Any) -> str:
    return str(name).replace("_", " ").lower()


def _blanked(quote: Quote) -> tuple[str, str]:
    """The sentence with its subject left out, and the subject; or a question about the note."""
    sentence = readable(quote.text)
    for name in _answers(quote):
        pattern = re.compile(rf"(?<![\w]){re.escape(name)}(?![a-z])", re.IGNORECASE)
        if len(name) * 2 < len(sentence) and pattern.search(sentence):
            return pattern.sub("____", sentence), name
    heading = [_title(quote), *quote.result["metadata"].get("heading_path", [])]
    asks = "说说" if script(sentence) == "cjk" else "What do you know about"
    return f"{asks} {' › '.join(dict.fromkeys(heading))}?", sentence


def _answers(quote: Quote) -> list[str]:
    """What a question can ask for: links in the sentence, the note's title and aliases, entities; longest first."""
    linked = [
        (alias or target).strip()
        for target, alias in re.findall(r"\[\[([^\]|#]*)[^\]|]*(?:\|([^\]]*))?\]\]", quote.text)
    ]
    bold = re.findall(r"\*\*([^*]{2,40})\*\*", quote.text)
    facts = [str(fact["target"]) for fact in quote.result["facts"] if fact.get("target")]
    names = [*bold, _title(quote), *linked, *facts]
    return [name for name in dict.fromkeys(names) if len(name) > 1]
