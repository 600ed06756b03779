"""Finds the names that a question may contain without trying all of a vault's names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentic_rag.questions.words import MIN_SLIP, Likeness, Words, parts, plain_han
from agentic_rag.text import fold, starts_cjk

Places = Mapping[str, Sequence[int]]
Candidates = Mapping[str, Sequence[tuple[int, tuple[str, ...]]]]
"""Each a name's place, and the stems of its words."""


@dataclass(frozen=True, slots=True)
class NameIndex:
    """Names by what a question needs to have in common with them.

    Of a name in Latin script that are its stems, the beginning of the first, or its first letter, by how like the words
    have to be; of one with Chinese its first Chinese character.
    """

    stems: Candidates
    beginnings: Places
    letters: Places
    characters: Places

    @classmethod
    def of(cls, names: Sequence[str]) -> NameIndex:
        """The index of names, which are known by their place in the sequence."""
        stems = defaultdict[str, list[tuple[int, tuple[str, ...]]]](list)
        beginnings, letters, characters = (defaultdict[str, list[int]](list) for _ in range(3))
        for place, name in enumerate(names):
            han, words = plain_han(name), parts(name)
            if han is not None:
                characters[next(filter(starts_cjk, han))].append(place)
            elif words:
                first = words[0]
                stems[first].append((place, words))
                if len(first) >= MIN_SLIP:
                    beginnings[first[:MIN_SLIP]].append(place)
                for letter in {first[0], fold(name).casefold().strip()[0]}:
                    letters[letter].append(place)
        return cls(stems, beginnings, letters, characters)

    def near(self, words: Words, likeness: Likeness) -> list[int]:
        """Places of the names that ``Words.find`` may meet, ascending; it meets none of the others."""
        near: set[int] = set()
        stems = {word.stem for word in words.words}
        for word in words.words:
            near.update(
                place
                for place, needed in self.stems.get(word.stem, ())
                if likeness != "stem" or stems.issuperset(needed)
            )
            if likeness != "stem" and len(word.stem) >= MIN_SLIP:
                near.update(self.beginnings.get(word.stem[:MIN_SLIP], ()))
            if likeness == "slip" and len(word.text) >= MIN_SLIP:
                for letter in {word.stem[0], word.text[0]}:
                    near.update(self.letters.get(letter, ()))
        for character in set(words.text) if self.characters else ():
            near.update(self.characters.get(character, ()))
        return sorted(near)
