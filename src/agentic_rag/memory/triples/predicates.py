"""What follows an English subject, read as predicate and object in the third person; words alone, no model."""

from __future__ import annotations

from typing import NamedTuple

from agentic_rag.memory.triples.verbs import (
    ADDRESSING,
    BE,
    DROPPED,
    HAVE,
    KEPT,
    MODALS,
    PARTICLES,
    PLEASANTRIES,
    SHORT,
    STATES,
    TO_TAKING,
    is_participle,
    third_person,
)
from agentic_rag.text import STOPWORDS

MAX_CHAIN = 3
"""Verbs joined by "to"; particles behind a verb."""

_EDGES = '.,!?;:…"“”()*~'
_NOUNS_FOLLOW = frozenset("the a an this that these those my our me us".split())
"""Behind "to", they begin a place or a person, not a verb."""
_MAIN_VERBS = frozenset({"have", "had", "do", "did"})
"""Verbs among the words that say nothing alone."""


class Predication(NamedTuple):
    """Words of the predicate and of the object."""

    predicate: list[str]
    object: list[str]


def read_predicate(words: list[str]) -> Predication | None:
    """Predicate and object of what follows "I"; None where it is no fact about the speaker."""
    words = _expanded(words)
    predicate: list[str] = []
    place = _adverbs(words, 0, predicate)
    if place >= len(words):
        return None
    first = plain(words[place])
    following = plain(words[_skip(words, place + 1)]) if _skip(words, place + 1) < len(words) else ""
    if first == "been":
        return _having([*words[:place], "'ve", *words[place:]], place, [*predicate, "has"])
    if first in BE:
        return _being(words, place, [*predicate, BE[first]])
    if first in HAVE and is_participle(following) and not (first == "'d" and following != "been"):
        return _having(words, place, [*predicate, HAVE[first]])
    if first == "'d" or first in MODALS:
        return _modal(words, place, [*predicate, MODALS.get(first, "would")])
    if first in ADDRESSING or not first.isalpha() or (first in STOPWORDS and first not in _MAIN_VERBS):
        return None
    return read_rest(words, place + 1, [*predicate, third_person(first)], first)


def _being(words: list[str], place: int, predicate: list[str]) -> Predication | None:
    place = _adverbs(words, place + 1, predicate)
    if place >= len(words):
        return None
    first = plain(words[place])
    state = plain(words[_intensified(words, place)])
    if state in PLEASANTRIES or (state in STATES and len(words) - place < 4):
        return None
    if len(first) > 4 and (first.endswith("ing") or is_participle(first) or first in TO_TAKING):
        return read_rest(words, place + 1, [*predicate, first], first)
    if first in PARTICLES and place + 1 < len(words):
        return Predication([*predicate, first], words[place + 1 :])
    return Predication(predicate, words[place:])


def _having(words: list[str], place: int, predicate: list[str]) -> Predication | None:
    place = _adverbs(words, place + 1, predicate)
    first = plain(words[place])
    if first in ADDRESSING:
        return None
    predicate = [*predicate, first]
    place += 1
    if first == "been":
        place = _adverbs(words, place, predicate)
        if place < len(words) and (plain(words[place]).endswith("ing") or is_participle(plain(words[place]))):
            first = plain(words[place])
            predicate = [*predicate, first]
            place += 1
    return read_rest(words, place, predicate, first)


def _modal(words: list[str], place: int, predicate: list[str]) -> Predication | None:
    place = _adverbs(words, place + 1, predicate)
    if place >= len(words):
        return None
    first = plain(words[place])
    if first in ADDRESSING or not first.isalpha():
        return None
    if first == "be":
        return _being(words, place, [*predicate, "be"])
    return read_rest(words, place + 1, [*predicate, first], first)


def read_rest(words: list[str], place: int, predicate: list[str], verb: str) -> Predication | None:
    """The predicate with verbs joined by "to" and with particles, as long as an object is left."""
    for _ in range(MAX_CHAIN):
        joined = verb in TO_TAKING and place + 2 < len(words) and plain(words[place]) == "to"
        if not joined or not words[place + 1].isalpha() or not words[place + 1].islower():
            break
        if words[place + 1] in _NOUNS_FOLLOW:
            break
        verb = words[place + 1]
        predicate = [*predicate, "to", verb]
        place += 2
    for _ in range(MAX_CHAIN):
        if place + 1 >= len(words) or words[place] not in PARTICLES:
            break
        predicate = [*predicate, words[place]]
        place += 1
    return Predication(predicate, words[place:]) if place < len(words) else None


def _expanded(words: list[str]) -> list[str]:
    return [part for word in words for part in SHORT.get(word.lower(), word).split()]


def _adverbs(words: list[str], place: int, predicate: list[str]) -> int:
    """The place behind adverbs; those that change what is said join the predicate."""
    while place < len(words) and (plain(words[place]) in DROPPED or plain(words[place]) in KEPT):
        if plain(words[place]) in KEPT:
            predicate.append(plain(words[place]))
        place += 1
    return place


def _skip(words: list[str], place: int) -> int:
    return _adverbs(words, place, [])


def _intensified(words: list[str], place: int) -> int:
    while place + 1 < len(words) and plain(words[place]) in (
        "so",
        "very",
        "too",
        "extra",
        "pretty",
        "quite",
    ):
        place += 1
    return place


def plain(word: str) -> str:
    """A word without punctuation around it, in lower case."""
    return word.strip(_EDGES).lower()
