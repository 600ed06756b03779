"""Sentence spans of any text, for chunking, fact extraction and answering; no model, one pass, linear.

A sentence ends at 。！？ and their kin in other scripts, at ``.`` ``!`` ``?`` before white space unless that
looks like an abbreviation, an initial, a German ordinal or a list number, and where a Markdown block ends: at a blank line,
before a list item, heading, quote, table row, ``name: value``, ``**name**: value`` or ``名称：值`` line, behind a
``name:: value`` line. A soft line break does not end it, nor does what stands in a link.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import chain, pairwise

import regex

from agentic_rag.text import HAN, KANA

_CLOSERS = r"[\"'”’」』）】》〉〕｣)\]}*_~`»›]*"
_WIDE = HAN + KANA
_END = regex.compile(
    rf"(?P<full>[。！？｡।॥؟۔։።។။]+){_CLOSERS}"
    rf"|(?P<half>[.!?…‽⁇⁈⁉．]+){_CLOSERS}"
    rf"(?=\s|\Z|(?<=[!?])[{_WIDE}]|(?<=[{_WIDE}][.])[{_WIDE}]|(?<=[!?.][\"'”’)])[{_WIDE}])"
    r"|(?P<line>\r\n?|\n)"
)
_WIDE_LETTER = regex.compile(rf"[{_WIDE}]")
_LINE = re.compile(r"(?P<quote>[ \t]*(?:>[ \t]?)*)(?P<rest>[^\r\n]*)")
_BOLD = r"(?:\*\*|__)?"
_STARTS_BLOCK = regex.compile(
    r"[ \t]*(?:[-*+•][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\||```|~~~|\$\$|---|===|\*\*\*|\[\^|!\[|<|\[!"
    rf"|{_BOLD}[\w-]+(?:[ \t][\w-]+){{0,3}}{_BOLD}::?{_BOLD}(?:[ \t]|\Z)|{_BOLD}\w{{1,8}}{_BOLD}：)"
)
_ENDS_BLOCK = regex.compile(
    r"[ \t]*(?:#{1,6}[ \t]|\||```|~~~|---|===|\*\*\*|\[!|[\w-]+::[ \t])|.*(?:[ ]{2}|\\)\Z"
)
_LINK = re.compile(r"\[\[[^\[\]\r\n]*\]\]|\[[^\[\]\r\n]*\]\([^()\r\n]*\)")
_WORD_BEFORE = re.compile(r"[^\s(\[{\"'“‘（「『/—–]*\Z")
_NEXT_WORD = regex.compile(r"[ \t]*(?:\r\n?|\n)?[ \t>]*[^\w\r\n]{0,8}([\w'’]+)")


def _words(word_list: str) -> frozenset[str]:
    return frozenset(word_list.split())


_TITLES = _words(
    "dr mr mrs ms prof rev hon gov sen rep gen col capt cpt lt sgt maj cmdr adm mt ft messrs mme mlle st "
    "vs e.g eg i.e ie cf viz al approx ca resp hr fr frau dipl ing z.b d.h u.a bzw ggf vgl"
)
_BEFORE_NUMBERS = _words(
    "no nos nr vol vols p pp fig figs eq eqs ch chap sec art para ver op jan feb mar apr jun jul aug sep sept oct nov dec"
)
_EITHER = _words(
    "etc inc ltd co corp dept est univ assn bros jr sr ph.d m.d b.a m.a b.sc m.sc d.c u.s u.k u.n u.s.a e.u "
    "a.m p.m b.c a.d ave blvd rd jan feb apr aug sept oct nov dec tel ed eds trans bd"
)
_GERMAN_MONTHS = _words(
    "januar jänner februar märz april mai juni juli august september oktober november dezember"
)
_ORDINAL_NOUNS = _words("stock etage klasse auflage stunde")
_BEFORE_ORDINALS = _words(
    "am im der die das den dem des vom zum zur beim bis ab seit zwischen und oder unser unsere unserem ihr ihre ihrem mein meine"
)
"""German words behind which a number with a dot is an ordinal: ``am 3. Advent``, ``die 2. Auflage``."""
_OPENERS = _words(
    "the a an he she it they we i you this that these those there here his her its their our my your in on at by "
    "for from with after before when while if as but and so yet or nor however although though then now what who "
    "why how where which one some many most all no not also since because during until once later today"
)
_WINDOW = 40
MAX_ORDINAL = 2
"""Digits of a German ordinal."""


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Spans (start, end) of the sentences, in code points, in order, without the white space around them.

    Every character that is not white space lies in exactly one span.

    >>> split_sentences("Dr. Chen paid 3.5 yuan. 她说：“好。”")
    [(0, 23), (24, 31)]
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for end in _ends(text):
        piece = text[start:end]
        left = len(piece) - len(piece.lstrip())
        kept = len(piece.strip())
        if kept:
            spans.append((start + left, start + left + kept))
        start = end
    return spans


_NARROW, _ROOM = 60, 0.75
"""Width up to which lines without a full stop are a list, and share of a block's width that a line leaves empty on
purpose: wrapped text leaves less than a word's."""
_FULL_STOPS, _BEHIND_THEM = frozenset(".。!！?？…"), "\"'”’」』）】》)] \t\r\n"
_WHOLE_LINE = re.compile(r"[^\r\n]+(?:\r\n?|\n)?")
_BLOCK = re.compile(r"(?:[^\S\r\n]*[^\s][^\r\n]*(?:\r\n?|\n|\Z))+")


def split_lines(text: str) -> list[tuple[int, int]]:
    """As ``split_sentences``, of a text without markup, in which a line may stand for itself: a shopping list, an address.

    A line break ends a sentence too where the next line's first word would have fitted well before it, or where a
    paragraph is of short lines without a full stop.

    >>> split_lines("rye flour\\nsea salt")
    [(0, 9), (10, 18)]
    """
    breaks = sorted(chain.from_iterable(_own_lines(block) for block in _BLOCK.finditer(text)))
    spans: list[tuple[int, int]] = []
    for start, end in split_sentences(text):
        cuts = breaks[bisect_right(breaks, start) : bisect_left(breaks, end)]
        for a, b in pairwise([start, *cuts, end]):
            piece = text[a:b]
            left = len(piece) - len(piece.lstrip())
            spans.append((a + left, a + len(piece.rstrip())))
    return spans


def _own_lines(block: re.Match[str]) -> Iterator[int]:
    """Where lines of a paragraph begin that the one before does not run on into."""
    lines = _WHOLE_LINE.findall(block[0])
    widths = [_width(line.rstrip()) for line in lines]
    ends = {line.rstrip(_BEHIND_THEM)[-1:] for line in lines}
    width_of_block = max(widths)
    is_list = width_of_block <= _NARROW and not ends & _FULL_STOPS
    place = block.start()
    for line, width, following in zip(lines, widths, lines[1:], strict=False):
        place += len(line)
        word = following.split()[0]
        fits = width + 1 + _width(word) <= _ROOM * width_of_block
        if is_list or (fits and not word[0].islower()):
            yield place


def _width(text: str) -> int:
    """Columns of a text, two for each wide letter."""
    return len(text) + (0 if text.isascii() else len(_WIDE_LETTER.findall(text)))


def _ends(text: str) -> Iterator[int]:
    line_start = 0
    links = _LINK.finditer(text)
    link = next(links, None)
    for match in _END.finditer(text):
        while link is not None and link.end() <= match.start():
            link = next(links, None)
        if link is not None and link.start() < match.start():
            continue
        if match.lastgroup == "line":
            ends = _breaks(text, line_start, match)
            line_start = match.end()
        else:
            ends = match.lastgroup == "full" or _ends_here(text, line_start, match)
        if ends:
            yield match.end()
    yield len(text)


def _ends_here(text: str, line_start: int, match: re.Match[str]) -> bool:
    """Whether ``.``, ``!`` or ``?`` ends a sentence, judged by the words on both sides."""
    following = _NEXT_WORD.match(text, match.end(), match.end() + _WINDOW)
    following_word = following.group(1) if following is not None else ""
    if following_word[:1].islower():
        return False
    if match.group("half") != ".":
        return True
    start = match.start()
    before = _WORD_BEFORE.search(text[max(0, start - _WINDOW) : start])
    word = before.group() if before is not None else ""
    if not word:
        return True
    before_word = text[max(line_start, start - len(word) - _WINDOW) : start - len(word)]
    opens_line = len(before_word) < _WINDOW and not before_word.strip(" \t>-*+")
    if _is_german_ordinal(word, before_word, following_word):
        return False
    return not _is_abbreviation(word, following_word, opens_line=opens_line)


def _is_german_ordinal(word: str, before: str, following: str) -> bool:
    """Whether the dot makes an ordinal of ``word``: ``am 3. Advent``, ``14. Juni``."""
    before_words = before.split()
    if not word.isdigit() or len(word) > MAX_ORDINAL or not before_words:
        return False
    noun = following.casefold()
    is_behind_article = before_words[-1].casefold() in _BEFORE_ORDINALS
    return noun in _GERMAN_MONTHS | _ORDINAL_NOUNS or (
        is_behind_article and bool(noun) and noun not in _OPENERS
    )


def _is_abbreviation(word: str, following: str, *, opens_line: bool) -> bool:
    """Whether the dot belongs to ``word`` and the sentence continues with ``following``."""
    if word.isdigit() or (opens_line and len(word) == 1 and word.isalpha()):
        return opens_line and len(word) <= 3 and bool(following)
    folded = word.lower().strip("*_")
    if folded in _TITLES:
        return bool(following)
    if folded in _BEFORE_NUMBERS and following[:1].isdigit():
        return True
    starts_sentence = not following or following.lower() in _OPENERS
    if folded in _EITHER or (len(word) == 1 and word.isupper()):
        return not starts_sentence
    # Initials and acronyms written with dots: J.R., N.A.S.A.
    parts = word.split(".")
    return len(parts) > 1 and all(len(part) == 1 and part.isalpha() for part in parts) and not starts_sentence


def _breaks(text: str, line_start: int, match: re.Match[str]) -> bool:
    """Whether a line end is also the end of a Markdown block."""
    after = _LINE.match(text, match.end())
    if after is None or not after.group("rest").strip():
        return True
    before = _LINE.match(text, line_start, match.start())
    if before is None or not before.group("rest").strip():
        return True
    if before.group("quote").count(">") != after.group("quote").count(">"):
        return True
    return bool(_STARTS_BLOCK.match(after.group("rest")) or _ENDS_BLOCK.match(before.group("rest")))
