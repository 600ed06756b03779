"""The script of a text; one definition of Han, kana and Hangul."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

import regex

Script = Literal["latin", "cjk", "other"]

HAN = r"\p{Han}"
KATAKANA = r"\p{Katakana}ーｰ"
KANA = rf"\p{{Hiragana}}{KATAKANA}"
CJK = rf"{HAN}{KANA}\p{{Hangul}}"
"""Scripts, each to stand between the brackets of a character class of ``regex``."""
_NOT_CJK = regex.compile(rf"[^{CJK}]+")
_STARTS_CJK = regex.compile(rf"[{CJK}]")
_ASCII_LETTER = re.compile("[A-Za-z]")

PHRASE = 8
"""Han, kana or Hangul characters that say something."""
SCRIPT_SAMPLE = 200
"""Characters that tell a text's script."""


def starts_cjk(text: str) -> bool:
    """Whether a text begins with Han, kana or Hangul."""
    return _STARTS_CJK.match(text) is not None


@lru_cache(maxsize=8192)
def script(text: str) -> Script:
    """The script most of a text's letters belong to; Han, kana and Hangul count double, being denser.

    Told by the first SCRIPT_SAMPLE characters: it is asked of every passage that a search finds.
    """
    sample = text[:SCRIPT_SAMPLE]
    if sample.isascii():
        return "latin" if _ASCII_LETTER.search(sample) else "other"
    cjk = len(_NOT_CJK.sub("", sample))
    letters = sum(map(str.isalpha, sample))
    if letters == 0:
        return "other"
    return "cjk" if 2 * cjk >= letters - cjk else "latin"


def script_beside(query: Script, passage: str) -> Script:
    """The script in which a passage is compared with a query: Han, kana or Hangul, where the query is in it
    and the passage holds a phrase of it, however much Latin (addresses, titles) stands around."""
    own = script(passage)
    if query == "cjk" and own == "latin" and len(_NOT_CJK.sub("", passage[:SCRIPT_SAMPLE])) >= PHRASE:
        return "cjk"
    return own
