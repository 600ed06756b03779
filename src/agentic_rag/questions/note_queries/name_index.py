"""Finds the names that a question may contain without trying all of a vault's names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from agentic_rag.questions.words import MIN_SLIP, Likeness, Words, first_part, parts, plain_han
from agentic_rag.text import fold, starts_cjk

Candidates = Mapping[str, Sequence[int]]
"""Places of names."""


class NameIndex:
    """Names by what a question needs to have in common with them.

    Of a name in Latin script that are its stems, the beginning of the first, or its first letter, by how like the words
    have to be; of one with Chinese its first Chinese character. Only the first stem of each name is made beforehand.

    Args:
        names: they are known by their place in the sequence.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._first_stems: list[tuple[int, str]] = []
        """Of the names in Latin script."""
        self._characters = defaultdict[str, list[int]](list)
        for place, name in enumerate(names):
            han = plain_han(name)
            if han is not None:
                self._characters[next(filter(starts_cjk, han))].append(place)
            elif first := first_part(name):
                self._first_stems.append((place, first))
        self._stems = _by((stem, place) for place, stem in self._first_stems)

    @cached_property
    def _beginnings(self) -> Candidates:
        return _by((stem[:MIN_SLIP], place) for place, stem in self._first_stems if len(stem) >= MIN_SLIP)

    @cached_property
    def _letters(self) -> Candidates:
        return _by(
            (letter, place)
            for place, stem in self._first_stems
            for letter in {stem[0], fold(self._names[place]).casefold().strip()[0]}
        )

    def near(self, words: Words, likeness: Likeness) -> list[int]:
        """Places of the names that ``Words.find`` may meet, ascending; it meets none of the others."""
        stems = {word.stem for word in words.words}
        beginnings = {stem[:MIN_SLIP] for stem in stems if len(stem) >= MIN_SLIP}
        long = [word for word in words.words if max(len(word.text), len(word.stem)) >= MIN_SLIP]
        letters = {letter for word in long for letter in (word.stem[0], word.text[0])}
        found = [self._stems.get(stem, ()) for stem in stems]
        if likeness != "stem":
            found += [self._beginnings.get(beginning, ()) for beginning in beginnings]
        if likeness == "slip":
            found += [self._letters.get(letter, ()) for letter in letters]

        def may_stand(part: str) -> bool:
            """Whether a word of the question may be this one of a name."""
            if part in stems:
                return True
            if len(part) < MIN_SLIP:
                return False
            return part[:MIN_SLIP] in beginnings or (likeness == "slip" and part[0] in letters)

        def may_be_met(name: tuple[str, ...]) -> bool:
            return len(name) == 1 or all(map(may_stand, name))

        is_possible = stems.issuperset if likeness == "stem" else may_be_met
        near = {place for places in found for place in places if is_possible(parts(self._names[place]))}
        for character in set(words.text) if self._characters else ():
            near.update(self._characters.get(character, ()))
        return sorted(near)


def _by(pairs: Iterable[tuple[str, int]]) -> Candidates:
    found = defaultdict[str, list[int]](list)
    for key, place in pairs:
        found[key].append(place)
    return found
