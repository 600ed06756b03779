"""A tokenizer for tests of limits: each word is a token."""

from __future__ import annotations

from collections.abc import Sequence


def count_words(texts: Sequence[str]) -> list[int]:
    """The number of words of each text."""
    return [len(text.split()) for text in texts]
