"""Words of Thai text, which is written without spaces, by BudouX's model; it ships with the package."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import regex

_RUN = regex.compile(r"\p{Thai}{2,}")


def thai_words(word: str) -> list[str]:
    """The words of a run of letters; one that has no Thai is one word.

    >>> thai_words("ผีเสื้อกินน้ำหวาน"), thai_words("tea")
    (['ผี', 'เสื้อ', 'กิน', 'น้ำหวาน'], ['tea'])
    """
    if _RUN.search(word) is None:
        return [word]
    return list(_parser().parse(word))


@lru_cache(maxsize=1)
def _parser() -> Any:
    import budoux

    return budoux.load_default_thai_parser()
