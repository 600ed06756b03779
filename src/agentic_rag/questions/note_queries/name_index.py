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
    beginnings: Candidates
    letters: Candidates
    characters: Places

    @classmethod
    def of(cls, names: Sequence[str]) -> NameIndex:
        """The index of names, which are known by their place in the sequence."""
        stems, beginnings, letters = (
            defaultdict[str, list[tuple[int, tuple[str, ...]]]](list) for _ in range(3)
        )
        characters = defaultdict[str, list[int]](list)
        for place, name in enumerate(names):
            han, words = plain_han(name), parts(name)
            if han is not None:
                characters[next(filter(starts_cjk, han))].append(place)
            elif words:
                first = words[0]
                stems[first].append((place, words))
                if len(first) >= MIN_SLIP:
                    beginnings[first[:MIN_SLIP]].append((place, words))
                for letter in {first[0], fold(name).casefold().strip()[0]}:
                    letters[letter].append((place, words))
        return cls(stems, beginnings, letters, characters)

    def near(self, words: Words, likeness: Likeness) -> list[int]:
        """Places of the names that ``Words.find`` may meet, ascending; it meets none of the others."""
        stems = {word.stem for word in words.words}
        beginnings = {stem[:MIN_SLIP] for stem in stems if len(stem) >= MIN_SLIP}
        long = [word for word in words.words if max(len(word.text), len(word.stem)) >= MIN_SLIP]
        letters = {letter for word in long for letter in (word.stem[0], word.text[0])}
        found = [self.stems.get(stem, ()) for stem in stems]
        if likeness != "stem":
            found += [self.beginnings.get(beginning, ()) for beginning in beginnings]
        if likeness == "slip":
            found += [self.letters.get(letter, ()) for letter in letters]

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
        near = {place for candidates in found for place, name in candidates if is_possible(name)}
        for character in set(words.text) if self.characters else ():
            near.update(self.characters.get(character, ()))
        return sorted(near)
