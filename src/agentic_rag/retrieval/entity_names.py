"""Names of a graph's entities in the text of a question."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
import regex

from agentic_rag.domain.identity import entity_key
from agentic_rag.text import HAN, KANA, STOPWORDS


class HashedPlaces:
    """Places of texts in a sequence, looked up by hash; a dictionary takes ten times as much memory.

    Args:
        texts: the sequence.
        at: returns the text at a place.
    """

    def __init__(self, texts: Iterable[str], at: Callable[[int], str]) -> None:
        hashes = np.fromiter(map(hash, texts), np.int64)
        self._order = np.argsort(hashes, kind="stable").astype(np.int32)
        self._hashes = hashes[self._order]
        self._at = at

    def first(self, text: str) -> int:
        """The first place of the text; -1 where it is not there."""
        return next(self.every(text), -1)

    def every(self, text: str) -> Iterator[int]:
        """The places of a name, ascending."""
        wanted = hash(text)
        start = bisect_left(self._hashes, wanted)
        some = self._order[start : bisect_right(self._hashes, wanted, start)]
        return (place for place in some.tolist() if self._at(place) == text)


MAX_WORDS = 10
"""Longest name that is looked up, in words; one Han or kana character counts as a word."""


LOOSE_LETTERS = 4
"""Minimum length of a single lower-case word that names an entity. The entity must have an entry of its own (a
note, a tag, a heading): "green" is no mention of a Mr Green."""


_LINKED_LABELS = frozenset({"Note", "Unwritten"})
"""Labels of what links lead to: notes, and names of notes that nobody has written."""


_UNPLACED_LABELS = frozenset({"Entity", "Thing"})
"""Labels of entities that are only known from running text."""


_SINGLE = regex.compile(rf"[{HAN}{KANA}]")


_LETTERS = rf"[^\W_{HAN}{KANA}]+"


_WORD = regex.compile(rf"{_SINGLE.pattern}|{_LETTERS}(?:['’.&-]{_LETTERS})*")


_POSSESSIVE = re.compile(r"['’]s?$")


_QUALIFIED_NAME = re.compile(r"(.*\S)\s*(?:\([^()]+\)|（[^（）]+）)")


class EntityNames:
    """Finds names in questions; built once per state of the graph.

    Args:
        names: of entities, which are told apart by their place in the sequence.
        keys: the ``entity_key`` of each.
        labels: of each.
        aliases: what else one is called, by its ``entity_key``.
    """

    def __init__(
        self,
        names: Sequence[str],
        keys: Sequence[str],
        labels: Sequence[Sequence[str]],
        aliases: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        self._labels = labels
        self._keys = HashedPlaces(keys, lambda place: entity_key(names[place]))
        self._others: dict[str, list[int]] = defaultdict(list)
        """Places of entities by their other names: aliases, and the name without its qualifier."""
        for place, (name, key) in enumerate(zip(names, keys, strict=True)):
            called = [*aliases.get(key, ())] if aliases else []
            if name.endswith((")", "）")) and (qualified := _QUALIFIED_NAME.fullmatch(name)) is not None:
                called.append(qualified.group(1))
            for other in dict.fromkeys(map(entity_key, called)):
                if other != key:
                    self._others[other].append(place)

    def place(self, key: str) -> int:
        """Place of the first entity with this ``entity_key``; -1 if there is none."""
        return self._keys.first(key)

    def is_placed(self, place: int) -> bool:
        """Whether the entity has an entry of its own: a note, a person, a tag, a heading."""
        return not _UNPLACED_LABELS.issuperset(self._labels[place])

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
            for name in dict.fromkeys((span, _POSSESSIVE.sub("", span))):
                places = [
                    place for place in self._entities_called(name) if self._tells(name, last - first, place)
                ]
                if places:
                    return last, places
        return first + 1, []

    def _entities_called(self, name: str) -> list[int]:
        key = entity_key(name)
        return [*self._keys.every(key), *self._others.get(key, ())]

    def _tells(self, name: str, words: int, place: int) -> bool:
        """Whether the span is a name here, and not an ordinary word that happens to be one."""
        if words > 1:
            return True
        if _SINGLE.fullmatch(name) or name.casefold() in STOPWORDS:
            return False
        return not name[0].islower() or (len(name) >= LOOSE_LETTERS and self.is_placed(place))
