"""The answer in the form of each operation; every line is a quote with its citation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from agentic_rag.answering.citations import CitationList
from agentic_rag.answering.operations.card_forms import name_pattern
from agentic_rag.answering.operations.cards import board_cards
from agentic_rag.answering.operations.selection import Choice, best_quotes, is_statement, statement, units_of
from agentic_rag.answering.passages import arrow, is_plain
from agentic_rag.answering.quotes import Card, Quote
from agentic_rag.domain.results import GraphFact, Passage
from agentic_rag.fusion.strategy_selector import CanvasOperation
from agentic_rag.notes.readable import readable
from agentic_rag.text import script

Render = Callable[[str, Sequence[Quote], CitationList], str]
Bring = Callable[[str, Sequence[Quote]], list[Quote]]


class Select(Protocol):
    """Chooses what is quoted of the results, best first."""

    def __call__(
        self, query: str, results: Sequence[Passage], *, limit: int, choice: Choice
    ) -> list[Quote]: ...


@dataclass(frozen=True, slots=True)
class Shape:
    """The form of an operation's answer, the units it wants, and a factor on their usual number.

    ``asks``: the form as an instruction for a chat model. ``brings``: adds related quotes to each quote.
    """

    render: Render
    choice: Choice
    asks: str
    times: int = 1
    brings: Bring = lambda query, quotes: list(quotes)
    select: Select = best_quotes

    def quotes(self, query: str, results: Sequence[Passage], *, limit: int) -> list[Quote]:
        """What the operation quotes, in its order."""
        selected = self.select(query, results, limit=limit, choice=self.choice)
        return list(self.brings(query, selected))[:limit]


MAX_ARROWS = 2
"""Maximum relations drawn per quote, and maximum sentences added for them."""
ALONE = {"cjk": "其他", "latin": "Other", "other": "Other"}
"""Heading for notes without a shared theme, in the question's script."""


def passages(query: str, quotes: Sequence[Quote], citation_list: CitationList) -> str:
    """``document_retrieval``: the best sentences verbatim, in the order of the ranking; a property after its note."""
    return "\n".join(
        f"{_subject(quote)}{quote.unit.display_text()} {citation_list.cite(quote)}" for quote in quotes
    )


def _subject(quote: Quote) -> str:
    return f"{_title(quote)}: " if quote.unit.kind == "property" else ""


def questions(query: str, quotes: Sequence[Quote], citation_list: CitationList) -> str:
    """``verification_canvas``: the card of each quote, and its answer below it."""
    cards = ((quote, quote.card or Card(query, quote.unit.display_text(), "memory")) for quote in quotes)
    return "\n".join(
        f"{number}. {card.asks}\n   → {card.answer} {citation_list.cite(quote)}"
        for number, (quote, card) in enumerate(cards, start=1)
    )


def cards_or_memories(query: str, results: Sequence[Passage], *, limit: int, choice: Choice) -> list[Quote]:
    """The cards of the notes; where these make none, what is remembered, which the query itself asks for."""
    memories = [result for result in results if not result["metadata"].get("title")]
    return board_cards(query, results, limit=limit, choice=choice) or best_quotes(
        query, memories, limit=limit, choice=replace(choice, prose=False)
    )


def any_quotes(query: str, results: Sequence[Passage], *, limit: int, choice: Choice) -> list[Quote]:
    """The best quotes; fields and drawn edges where there is no prose."""
    return best_quotes(query, results, limit=limit, choice=choice) or best_quotes(
        query, results, limit=limit, choice=replace(choice, prose=False)
    )


def clusters(query: str, quotes: Sequence[Quote], citation_list: CitationList) -> str:
    """``weak_point_clustering``: one quote per note, grouped by the theme shared with the most other notes."""
    groups = _group_by_theme(quotes, [_themes(quote) for quote in quotes], ALONE[script(query)])
    return "\n".join(
        f"{theme} ({len(members)})\n"
        + "\n".join(
            f"  - {_title(quote)}: {quote.unit.display_text()} {citation_list.cite(quote)}"
            for quote in members
        )
        for theme, members in groups
    )


def _group_by_theme(
    quotes: Sequence[Quote], themes: Sequence[list[str]], alone: str
) -> list[tuple[str, list[Quote]]]:
    """Groups by greedy cover: the largest theme, then the largest among the remaining quotes; quotes without a
    shared theme come last.

    A theme that more than half of the quotes share is not used; notes and things come before tags; ties by the
    first quote that names it.
    """
    everywhere = Counter(theme for named in themes for theme in named)
    left = list(range(len(quotes)))
    groups: list[tuple[str, list[Quote]]] = []
    while left:
        shared = Counter(theme for n in left for theme in themes[n])
        telling = [t for t in shared if shared[t] > 1 and everywhere[t] <= max(2, len(quotes) // 2)]
        best = max(telling, key=lambda theme: (not theme.startswith("#"), shared[theme]), default=None)
        members = [n for n in left if best is None or best in themes[n]]
        groups.append((alone if best is None else best, [quotes[n] for n in members]))
        left = [n for n in left if n not in members]
    return groups


def relations(query: str, quotes: Sequence[Quote], citation_list: CitationList) -> str:
    """``concept_relation``: the graph's relations between the concepts, each with a sentence that states it.

    A link without a label is drawn only if the sentence states no labelled relation.
    """
    lines = []
    told: set[tuple[str, str, str]] = set()
    for quote in quotes:
        facts = [fact for fact in _telling_facts(query, quote) if _arrow_key(fact) not in told]
        own = [fact for fact in facts if _says(quote, fact)]
        own = ([fact for fact in own if not is_plain(fact)] or own)[:MAX_ARROWS]
        told.update(map(_arrow_key, own))
        arrows = [arrow(fact, in_chinese=script(query) == "cjk") for fact in own]
        lines.append(_with_arrows(arrows, quote, citation_list))
    return "\n".join(lines)


def with_related_sentences(query: str, quotes: Sequence[Quote]) -> list[Quote]:
    """The quotes, each followed by the sentences of its passage that state its most specific relations."""
    brought = []
    stated = {statement(quote) for quote in quotes}
    for quote in quotes:
        brought.append(quote)
        for fact in _telling_facts(query, quote)[:MAX_ARROWS]:
            elsewhere = None if _says(quote, fact) else _statement_of(fact, quote)
            if elsewhere is not None and statement(elsewhere) not in stated:
                stated.add(statement(elsewhere))
                brought.append(elsewhere)
    return brought


def _with_arrows(arrows: Sequence[str], quote: Quote, citation_list: CitationList) -> str:
    """The sentence, preceded by the arrows of the relations it states."""
    sentence = f"{quote.unit.display_text()} {citation_list.cite(quote)}"
    # An edge drawn in the text is already an arrow.
    return f"{'; '.join(arrows)}: {sentence}" if arrows and not _ARROW.search(quote.text) else sentence


def _says(quote: Quote, fact: GraphFact) -> bool:
    """Whether a sentence is the fact's own sentence, or names the fact's target."""
    said, own = quote.unit.display_text().casefold(), readable(str(fact.get("text") or "")).casefold()
    return bool(own and (own in said or said in own)) or bool(name_pattern(str(fact["target"])).search(said))


def _statement_of(fact: GraphFact, quote: Quote) -> Quote | None:
    """The unit of the passage that the fact's sentence is; None if it makes no statement or is not there verbatim."""
    text = str(fact.get("text") or "").strip()
    start = quote.result["content"].find(text) if text else -1
    units = (unit for unit in units_of(quote.result) if unit.start < start + len(text) and start < unit.end)
    stated = next((Quote.of(unit, quote.result, quote.score, quote.order) for unit in units), None)
    return stated if start >= 0 and stated is not None and is_statement(stated) else None


_ARROW = re.compile(r"—[^→\n]+→")


def _telling_facts(query: str, quote: Quote) -> list[GraphFact]:
    """Facts between named things: labelled relations first, then those with names from the question."""
    asked = query.casefold()
    facts = [
        f for f in quote.result["facts"] if f.get("source") and f.get("target") and f["name"] != "HAS_TAG"
    ]

    def order(fact: GraphFact) -> tuple[bool, int]:
        ends = (str(fact["source"]).casefold() in asked) + (str(fact["target"]).casefold() in asked)
        return is_plain(fact), -ends

    return sorted(facts, key=order)


SHAPES: Mapping[CanvasOperation, Shape] = {
    CanvasOperation.VERIFICATION_CANVAS: Shape(
        questions,
        Choice(16, per_document=2, prose=True, failure_share=-3.0, reach=0.6, margin=4.0),
        asks="Answer as numbered questions that check what a reader knows of it, each with its answer on a line of "
        "its own after '   → '. What was asked comes first, if it is a question with an answer.",
        select=cards_or_memories,
    ),
    CanvasOperation.WEAK_POINT_CLUSTERING: Shape(
        clusters,
        Choice(24, per_document=1, prose=True, failure_share=1.0, reach=0.3),
        asks="Answer in groups: a line with what its members share and, in brackets, how many they are, then what each "
        "note says on a line of its own after '  - ' and the note's title.",
        times=2,
        select=any_quotes,
    ),
    CanvasOperation.CONCEPT_RELATION: Shape(
        relations,
        Choice(12, per_document=2, reach=0.6),
        asks="Answer with how the things asked about are connected, a connection a line: 'one —relation→ other: ' and a "
        "sentence that says so.",
        brings=with_related_sentences,
    ),
    CanvasOperation.DOCUMENT_RETRIEVAL: Shape(
        passages, Choice(8, margin=1.3), asks="Answer in as few sentences as do."
    ),
}
"""By operation."""


def nothing_to_ask(query: str) -> str:
    """The answer if no unit of the notes makes a card, in the question's language."""
    if script(query) == "cjk":
        return "找到的笔记里没有可以出题的内容。"
    return "The notes that were found state nothing that can be asked as a question."


def not_found(query: str) -> str:
    """The "not found" answer if no result is relevant enough, in the question's language."""
    return "在你的笔记里没有找到。" if script(query) == "cjk" else "Not found in your notes."


def nearest_lead(query: str) -> str:
    """What stands between ``not_found`` and the lines that come nearest, in the question's language."""
    return "最接近的内容：" if script(query) == "cjk" else "What comes nearest:"


def _title(quote: Quote) -> str:
    metadata = quote.result["metadata"]
    return str(metadata.get("title") or metadata.get("path") or quote.result["id"])


def _themes(quote: Quote) -> list[str]:
    """Themes of a quote's note, the most specific first: notes named in its properties, notes linked in its text,
    targets of its facts, tags."""
    metadata, content = quote.result["metadata"], quote.result["content"]
    said = [one for value in metadata.values() for one in _each(value)]
    named = [name for one in said if isinstance(one, str) for name in _link_targets(one)]
    facts = [fact for fact in quote.result["facts"] if fact.get("target") and fact.get("name") != "HAS_TAG"]
    tags = [f"#{tag}" for tag in _each(metadata.get("tags")) if tag is not None]
    return list(
        dict.fromkeys([*named, *_link_targets(content), *(str(fact["target"]) for fact in facts), *tags])
    )


def _each(value: Any) -> Sequence[Any]:
    """The values of a property; a single value counts as a list of one."""
    return value if isinstance(value, list | tuple) else [value]


def _link_targets(text: str) -> list[str]:
    return [target.strip().rsplit("/", 1)[-1] for target in re.findall(r"\[\[([^\]|#]+)", text)]


def _arrow_key(fact: GraphFact) -> tuple[str, str, str]:
    return str(fact.get("source")), str(fact.get("name")), str(fact.get("target"))
