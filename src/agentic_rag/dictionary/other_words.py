"""What a passage says of the question in other words: translated, or by words that share a translation.

An English question and a Chinese note have no word in common, nor has a question that is put as a reader would,
not as the author did. The dictionary knows which words stand for one another.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from agentic_rag.dictionary import dictionary


def in_other_words(query: str, passages: Sequence[Collection[str]]) -> list[float]:
    """For each passage the sum, over the question's words that it lacks but says otherwise, of how surely it does,
    times how rare the word is.

    How surely: the square root of what ``Dictionary.related`` tells, in (0, 1]. How rare: ln(1 + N / n) where n of
    the N passages have the word or something for it. At least 0, and 0 where the dictionary knows no word.

    Args:
        query: the question.
        passages: each as its terms (``text.tokens``).
    """
    known = dictionary()
    asked = {word: known.related(word) for word in known.words(query)}
    holders = _holders(
        {term for word in asked for own in (word, *asked[word]) for term in own.split()}, passages
    )
    total = np.zeros(len(passages))
    for word, related in asked.items():
        otherwise = np.zeros(len(passages))
        for other in reversed(list(related)):  # the surest come last
            otherwise[_having(other, holders)] = math.sqrt(related[other])
        own = _having(word, holders)
        otherwise[own] = 0.0
        held = len(own) + otherwise.sum()
        total += otherwise * math.log(1 + len(passages) / max(1.0, held))
    said: list[float] = total.tolist()
    return said


def _holders(terms: set[str], passages: Sequence[Collection[str]]) -> Mapping[str, set[int]]:
    """By term the numbers of the passages that have it."""
    holders: defaultdict[str, set[int]] = defaultdict(set)
    for number, passage in enumerate(passages):
        for term in terms.intersection(passage):
            holders[term].add(number)
    return holders


def _having(word: str, holders: Mapping[str, set[int]]) -> NDArray[np.intp]:
    """The passages that have all the terms of a word."""
    having = set.intersection(*(holders.get(term, set()) for term in word.split()))
    return np.fromiter(having, dtype=np.intp, count=len(having))
