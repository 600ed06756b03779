"""Which entities of the graph a question names: its spans looked up among the entities' names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

import regex

from agentic_rag.domain import Entity
from agentic_rag.domain.identity import entity_key
from agentic_rag.text import HAN, KANA, STOPWORDS

MAX_WORDS = 10
"""Of a name that is looked for; one Han or kana character counts as a word."""
LOOSE_LETTERS = 4
"""A single word in lower case names an entity from this length on, and only what somebody gave a place of
its own (a note, a tag, a heading): "green" is no mention of a Mr Green."""

_UNPLACED = frozenset({"Entity", "Thing"})
"""Labels of what is only known from running text."""
_SINGLE = regex.compile(rf"[{HAN}{KANA}]")
_WORD = regex.compile(rf"{_SINGLE.pattern}|[^\W_]+(?:['’.&-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
_QUALIFIED = re.compile(r"(.*\S)\s*(?:\([^()]+\)|（[^（）]+）)")


class EntityNames:
    """Finds names in questions; built once per state of the graph.

    Args:
        entities: told apart by their place in the sequence.
        aliases: what else one is called, by ``Entity.key``.
    """

    def __init__(
        self, entities: Sequence[Entity], aliases: Mapping[str, Collection[str]] | None = None
    ) -> None:
        self._by_name: dict[str, list[int]] = defaultdict(list)
        self._placed = {place for place, entity in enumerate(entities) if set(entity.labels) - _UNPLACED}
        for place, entity in enumerate(entities):
            names = [entity.name, *(aliases or {}).get(entity.key, ())]
            if (qualified := _QUALIFIED.fullmatch(entity.name)) is not None:
                names.append(qualified.group(1))
            for key in dict.fromkeys(map(entity_key, names)):
                self._by_name[key].append(place)

    def is_placed(self, place: int) -> bool:
        """Whether somebody gave the entity a place of its own: a note, a person, a tag, a heading."""
        return place in self._placed

    def named_in(self, question: str) -> list[int]:
        """Places of the entities the question names, ascending, each once.

        The longest name wins where names overlap. A name of several entities ("Mercury" of two notes with
        a qualifier in brackets, an alias that two notes have) names all of them.
        """
        found: set[int] = set()
        words = list(_WORD.finditer(question))
        first = 0
        while first < len(words):
            after, places = self._longest(question, words, first)
            found.update(places)
            first = after
        return sorted(found)

    def _longest(self, question: str, words: list[re.Match[str]], first: int) -> tuple[int, list[int]]:
        """The index behind the longest name that starts at a word, and its entities."""
        for last in range(min(len(words), first + MAX_WORDS), first, -1):
            span = question[words[first].start() : words[last - 1].end()]
            for name in _spellings(span):
                places = self._by_name.get(entity_key(name), [])
                telling = [place for place in places if self._tells(name, last - first, place)]
                if telling:
                    return last, telling
        return first + 1, []

    def _tells(self, name: str, words: int, place: int) -> bool:
        """Whether the span is a name here, and not an ordinary word that happens to be one."""
        if words > 1:
            return True
        if _SINGLE.fullmatch(name) or name.casefold() in STOPWORDS:
            return False
        return not name[0].islower() or (len(name) >= LOOSE_LETTERS and place in self._placed)


def _spellings(span: str) -> Iterator[str]:
    yield span
    if (short := _POSSESSIVE.sub("", span)) != span:
        yield short
