"""Words of Chinese text, which has no spaces: the longest runs that the notes have, else those of the embedding model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from agentic_rag.questions.generic_words import ANSWER_STEMS
from agentic_rag.questions.homophones import written_as
from agentic_rag.text import fold, simplify, starts_cjk

MAX_WORD = 8
Word = tuple[str, int, int]
"""A word as it is compared, and its place in the question."""


def runs(places: Sequence[int]) -> list[tuple[int, int]]:
    """Runs of consecutive places."""
    runs: list[tuple[int, int]] = []
    for place in places:
        if runs and runs[-1][1] == place:
            runs[-1] = (runs[-1][0], place + 1)
        else:
            runs.append((place, place + 1))
    return runs


def words_of(
    text: str, runs: Sequence[tuple[int, int]], edges: Set[int], vocabulary: str
) -> Iterator[tuple[int, int]]:
    """Places of the words of some runs.

    Args:
        text: the question.
        runs: places of its Chinese characters.
        edges: places at which tokens of the embedding model begin or end.
        vocabulary: text of the notes.
    """
    for start, end in runs:
        place, single = start, None
        while place < end:
            longest = next(
                (
                    size
                    for size in range(min(MAX_WORD, end - place), 1, -1)
                    if simplify(text[place : place + size]) in vocabulary
                ),
                0,
            )
            if longest:
                if single is not None:
                    yield single, place
                single = None
                yield place, place + longest
                place += longest
                continue
            single = place if single is None else single
            place += 1
            if place in edges and place - single >= 2:
                yield single, place
                single = None
        if single is not None:
            yield single, end


def without_particles(text: str, start: int, end: int, vocabulary: str) -> tuple[int, int]:
    """A run that is no word of the notes, without the particles at its edges: 给猫 as 猫."""
    if simplify(text[start:end]) not in vocabulary:
        while end - start > 1 and simplify(text[start]) in ANSWER_STEMS:
            start += 1
        while end - start > 1 and simplify(text[end - 1]) in ANSWER_STEMS:
            end -= 1
    return start, end


def mend_words(text: str, parts: Sequence[tuple[int, int]], vocabulary: str) -> list[Word]:
    """The words as the vocabulary writes them, with their places: a character that it lacks beside a word joins the word
    whose character of the same sound it stands for."""
    words: list[Word] = []
    for start, end in parts:
        token = fold(text[start:end])
        is_pair = end - start == len(token) == 2 and starts_cjk(token) and token not in vocabulary
        words += (
            [(token[0], start, start + 1), (token[1], start + 1, end)] if is_pair else [(token, start, end)]
        )
    mended = _join_words(words, vocabulary)
    # Characters that joined no word are a word again.
    whole: list[Word] = []
    for token, start, end in mended:
        pair = (whole[-1][1], end) if whole else (0, 0)
        if pair in parts and len(token) == 1 and whole[-1][2] == start:
            whole[-1] = (whole[-1][0] + token, *pair)
        else:
            whole.append((token, start, end))
    return whole


def _join_words(words: list[Word], vocabulary: str) -> list[Word]:
    n = 0
    while n < len(words):
        token, start, end = words[n]
        before, (after, first, last) = words[n - 1] if n else ("", 0, 0), (*words, ("", 0, 0))[n + 1]
        beside = before[0] if before[2] == start and before[0] in vocabulary else ""
        behind = after if first == end and after in vocabulary else ""
        is_stray = len(token) == 1 and token not in ANSWER_STEMS and starts_cjk(token)
        joined = written_as(beside, token, behind, vocabulary) if is_stray and (beside or behind) else None
        if joined is not None and joined[0]:
            words[n - 1 : n + 1] = [(joined[0], before[1], end)]
        elif joined is not None:
            words[n : n + 2] = [(joined[1], start, last)]
        else:
            n += 1
    return words
