"""The names of all documents of a dataset: what a link points at, and where a text speaks of a document.

Names are compared as sequences of words, NFKC, case folded and in simplified Han characters; a word is a run of letters and digits, or
one character where a script is written without spaces. So a Latin name ends where a word ends (``Robinson's``
is a mention of Robinson, ``Robinsons`` is not), and a Chinese one stands anywhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from urllib.parse import unquote

import regex

from agentic_rag.domain import Document
from agentic_rag.domain.identity import entity_key
from agentic_rag.ingest.facts.stopwords import CALENDAR_WORDS, FUNCTION_WORDS, GENERIC_TITLES, OPENING_WORDS
from agentic_rag.notes.links import FILE_SUFFIXES, NotePaths
from agentic_rag.text import HAN, KATAKANA, simplify

MAX_NAME_WORDS = 40
"""A longer name (a sentence as a title) is found by links only."""

MIN_LOOSE_LETTERS = 6
"""From this length on a note's title of one word is found in any case."""

_SINGLE = rf"{HAN}\p{{Hiragana}}\p{{Hangul}}\p{{Thai}}\p{{Lao}}\p{{Myanmar}}\p{{Khmer}}"
"""Written without spaces: each character counts as a word, a run of katakana as one."""
_WORD = regex.compile(rf"[{_SINGLE}]|[{KATAKANA}]+|[^\W_{_SINGLE}{KATAKANA}]+")
_UNSPACED_SCRIPT = regex.compile(rf"[{_SINGLE}{KATAKANA}]")
_INSIDE_HANGUL = regex.compile(r"\p{Hangul}{2}")
_BASE = re.compile(r"(.*\S)\s*(?:\([^()]+\)|（[^（）]+）)")
_EDGES = re.compile(r"[.#$@]*(?=\w)|[!?+#%]+\Z")
_PUNCTUATION = str.maketrans({"’": "'", "‘": "'", "-": None, "‐": None, "‑": None})
_EMPTY_WORDS = (FUNCTION_WORDS, OPENING_WORDS, CALENDAR_WORDS, GENERIC_TITLES)
FEW_WORDS = 200
"""That are looked for one by one in a whole text."""
_SESSION_ID = re.compile(r".+/session_\d+")


@dataclass(frozen=True, slots=True)
class Target:
    """An entity that is a document, or several documents of one title."""

    key: str
    name: str
    label: str
    """``Note``, ``Canvas``, ``Session`` or ``Record``."""


@dataclass(frozen=True, slots=True)
class TitleMatch:
    """``text[start:end]`` names a document; with more than one target it is not known which."""

    start: int
    end: int
    targets: tuple[Target, ...]

    @property
    def ambiguous(self) -> bool:
        return len(self.targets) > 1


@dataclass(frozen=True, slots=True)
class _Name:
    """One written name; ``is_base`` for a title without its ``(disambiguation)``."""

    spelling: str
    target: Target
    is_base: bool
    gaps: tuple[str, ...]
    head: str
    tail: str


class TitleIndex:
    """Immutable gazetteer over the names of all documents of a dataset.

    >>> index = TitleIndex([("tea/Oolong.md", ("Oolong", "乌龙茶"))])
    >>> [(m.start, m.end, m.targets[0].name) for m in index.mentions("Fujian's 乌龙茶 is Oolong.")]
    [(9, 12, 'Oolong'), (16, 22, 'Oolong')]
    """

    def __init__(self, names: Iterable[tuple[str, Sequence[str]]] = ()) -> None:
        """Args: names: document id (a vault note's is its path) and names, of which the first is the title."""
        known = sorted((document_id, tuple(written)) for document_id, written in names if written)
        self._targets = _targets(known)
        self._paths = NotePaths(self._targets)
        by_name: dict[str, dict[str, Target]] = defaultdict(dict)
        found: dict[tuple[str, ...], dict[tuple[str, str, bool], _Name]] = defaultdict(dict)
        for document_id, written in known:
            target = self._targets[document_id]
            for name in written:
                by_name[entity_key(name)][target.key] = target
                for surface, is_base in _surfaces(name):
                    words = _words(surface)
                    if (surface, target.key, is_base) not in found.get(words, ()) and is_mentionable(surface):
                        found[words][surface, target.key, is_base] = _name(surface, target, is_base)
        self._by_name = {name: tuple(targets.values()) for name, targets in by_name.items()}
        self._names = {words: tuple(found[words].values()) for words in found}
        lengths: dict[str, set[int]] = defaultdict(set)
        for words in self._names:
            lengths[words[0]].add(len(words))
        self._lengths = {first: tuple(sorted(seen, reverse=True)) for first, seen in lengths.items()}

    def target(self, document_id: str) -> Target | None:
        """The entity of a known document."""
        return self._targets.get(document_id)

    def document_named(self, name: str) -> Target | None:
        """The one document called exactly this (case aside); None for an unknown or shared name."""
        targets = self._by_name.get(entity_key(name), ())
        return targets[0] if len(targets) == 1 else None

    def resolve(self, link_target: str, source_id: str = "") -> Target | None:
        """What a link means, as in Obsidian; None for a note not written yet.

        A path or file name first (see ``NotePaths.find``), then a title or alias, the first in order.
        """
        document_id = self._paths.find(link_target, source_id)
        if document_id is not None:
            return self._targets[document_id]
        targets = self._by_name.get(entity_key(link_target.strip()), ())
        return min(targets, key=lambda target: target.key, default=None)

    def mentions(self, text: str) -> list[TitleMatch]:
        """Every mention of a name: leftmost, longest, not overlapping, in order."""
        spans = [(match.start(), match.end()) for match in _WORD.finditer(text)]
        words = [_normal(text[start:end]) for start, end in spans]
        found: list[TitleMatch] = []
        position = 0
        while position < len(words):
            match = None
            for length in self._lengths.get(words[position], ()):
                if position + length <= len(words):
                    match = self._match(text, words, spans, position, length)
                    if match is not None:
                        found.append(match)
                        position += length - 1
                        break
            position += 1
        return found

    def _match(
        self, text: str, words: list[str], spans: list[tuple[int, int]], position: int, length: int
    ) -> TitleMatch | None:
        names = self._names.get(tuple(words[position : position + length]))
        if names is None:
            return None
        start, end = spans[position][0], spans[position + length - 1][1]
        if start and _INSIDE_HANGUL.match(text, start - 1):
            return None
        gaps = [text[spans[i][1] : spans[i + 1][0]] for i in range(position, position + length - 1)]
        fitting = [name for name in names if _fits(name, text, start, end, gaps)]
        # A full name says more than a title without its disambiguation.
        fitting = [name for name in fitting if not name.is_base] or fitting
        targets = {name.target.key: name.target for name in fitting}
        if not targets:
            return None
        return TitleMatch(start, end, tuple(targets[key] for key in sorted(targets)))


def document_names(document: Document) -> tuple[str, ...]:
    """What other documents may call this one: title, aliases, file name; the title first. A base has no name: it is
    nothing that the notes speak of."""
    if document.kind == "base":
        return ()
    names = [document.title or document.id, *document.aliases]
    if document.kind in ("markdown", "text", "canvas"):
        names.append(unicodedata.normalize("NFC", PurePosixPath(document.path).stem))
    return tuple(dict.fromkeys(name for name in names if name.strip()))


def changed_names(old: Mapping[str, Sequence[str]], new: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Names that mean another document than before, by document id; ask ``mentions_any`` which texts hold them.

    A document that is new, gone, moved or retitled changes all its names; a title in front of a
    ``(disambiguation)`` is a name too.
    """
    pairs = [
        {(document_id, names[0], name) for document_id, names in side.items() if names for name in names}
        for side in (old, new)
    ]
    return frozenset(surface for _, _, name in pairs[0] ^ pairs[1] for surface, _ in _surfaces(name))


def mentions_any(text: str, names: frozenset[str]) -> bool:
    """Whether a text could mention or link one of the names: a quick test that errs on the side of yes."""
    wanted = _by_first_word(names)
    written = text if "%" not in text else f"{text}\n{unquote(text)}"
    signs = _without_words(names)
    if signs:
        read = entity_key(written)
        if any(sign in read for sign in signs):
            return True
    normal = _fold(written)  # not kept, as words are: a whole text
    if len(wanted) <= FEW_WORDS and not any(first in normal for first in wanted):
        return False  # as most do: to take the text apart into words takes a hundred times as long
    words = [_normal(match.group()) for match in _WORD.finditer(written)]
    return any(
        tuple(words[i : i + length]) in known
        for i, word in enumerate(words)
        for length, known in wanted.get(word, ())
    )


@lru_cache(maxsize=8)
def _without_words(names: frozenset[str]) -> tuple[str, ...]:
    """Names of signs alone (🙂), which no running text mentions but a link may mean."""
    return tuple(entity_key(name) for name in names if not _words(name))


@lru_cache(maxsize=8)
def _by_first_word(names: frozenset[str]) -> dict[str, list[tuple[int, set[tuple[str, ...]]]]]:
    """First word to lengths to names, so that a thousand names that begin alike cost no more than one."""
    firsts: dict[str, dict[int, set[tuple[str, ...]]]] = defaultdict(lambda: defaultdict(set))
    for words in map(_words, names):
        if words:
            firsts[words[0]][len(words)].add(words)
    return {first: list(lengths.items()) for first, lengths in firsts.items()}


def is_mentionable(name: str) -> bool:
    """Whether running text with the name refers to the named thing, and does not just use the word."""
    words = _words(name)
    if not words or len(words) > MAX_NAME_WORDS or not any(map(str.isalpha, "".join(words))):
        return False
    if name.casefold().strip() in GENERIC_TITLES or (words[0] in CALENDAR_WORDS and len(words) == 1):
        return False
    if any(map(str.isdigit, name)) and all(_is_calendar(word) for word in words):
        return False
    if len(words) > 1:
        # "The Who" can be told by its capitals, "to be" cannot.
        return name != name.lower() or _UNSPACED_SCRIPT.search(name) is not None or not _says_little(words)
    if _UNSPACED_SCRIPT.match(words[0]):
        return len(words[0]) > 1
    if words[0] in FUNCTION_WORDS or words[0] in OPENING_WORDS:
        return False
    return len(words[0]) >= 4 or (len(words[0]) == 3 and name.isupper() and name.isalpha())


def _is_calendar(word: str) -> bool:
    return word.isdigit() or word in CALENDAR_WORDS or word in ("年", "月", "日")


def _says_little(words: Sequence[str]) -> bool:
    return all(word in FUNCTION_WORDS or word in OPENING_WORDS or len(word) < 3 for word in words)


def _surfaces(name: str) -> list[tuple[str, bool]]:
    """A name as it may be written; "Alive (film)" is not called "Alive", as one word alone is no clue."""
    base = _BASE.fullmatch(name.strip()) if len(name) <= 200 else None
    if base is None or len(_words(base.group(1))) < 2:
        return [(name, False)]
    return [(name, False), (base.group(1), True)]


def _name(spelling: str, target: Target, is_base: bool) -> _Name:
    spans = [match.span() for match in _WORD.finditer(spelling)]
    gaps = tuple(_marks(spelling[spans[i][1] : spans[i + 1][0]]) for i in range(len(spans) - 1))
    stripped = spelling.strip()
    tail = _EDGES.search(stripped, len(stripped.rstrip("!?+#%")))
    head = _EDGES.match(stripped)
    inner = spelling[spans[0][0] : spans[-1][1]]
    return _Name(
        unicodedata.normalize("NFKC", " ".join(inner.split())),
        target,
        is_base,
        gaps,
        head.group() if head is not None else "",
        tail.group() if tail is not None else "",
    )


def _fits(name: _Name, text: str, start: int, end: int, gaps: Sequence[str]) -> bool:
    """Whether the words found are the name: punctuation between them, at its edges, and capitals agree."""
    for own, seen in zip(name.gaps, gaps, strict=True):
        if seen not in ("", " ") and (_marks(seen) not in ("", own) or not _in_one_line(seen)):
            return False
    if name.head and not text[:start].endswith(name.head):
        return False
    if name.tail and not text[end : end + 8].lstrip().startswith(name.tail):
        return False
    seen = unicodedata.normalize("NFKC", text[start:end])
    return seen == name.spelling or _case_fits(name, seen, words=len(gaps) + 1)


def _in_one_line(gap: str) -> bool:
    return len(gap) <= 8 and gap.count("\n") + gap.count("\r") <= (2 if "\r\n" in gap else 1)


def _case_fits(name: _Name, spelling_in_text: str, *, words: int) -> bool:
    """Whether a name written in other case is still the name.

    One word of a note's title is, from six letters on ("oolong" for Oolong); in a corpus of records, where
    films are called Alive, it is not. Several words are, unless all of them are small in the text and say little.
    """
    if _UNSPACED_SCRIPT.search(name.spelling) is not None:
        return True
    if words == 1:
        loose = name.target.label in ("Note", "Canvas") and not name.spelling.isupper()
        capitals = spelling_in_text[:1].isupper() and name.spelling[:1].isupper()
        long = len(spelling_in_text) >= MIN_LOOSE_LETTERS
        return (long and (loose or capitals)) or (
            capitals and spelling_in_text.isupper() and len(spelling_in_text) > 3
        )
    if name.spelling == name.spelling.lower() or spelling_in_text != spelling_in_text.lower():
        return True
    return sum(_says_something(word) for word in _words(name.spelling)) >= 2


def _says_something(word: str) -> bool:
    return len(word) > 3 and not any(word in listed for listed in _EMPTY_WORDS)


def _marks(gap: str) -> str:
    return "".join(gap.translate(_PUNCTUATION).split())


def _fold(text: str) -> str:
    return text.lower() if text.isascii() else simplify(unicodedata.normalize("NFKC", text).casefold())


_normal = lru_cache(maxsize=65_536)(_fold)
"""Of a word."""


def _words(name: str) -> tuple[str, ...]:
    return tuple(_normal(match.group()) for match in _WORD.finditer(name))


def _targets(titles: Sequence[tuple[str, tuple[str, ...]]]) -> dict[str, Target]:
    """By document id; documents of one title share the first one's spelling."""
    by_key: dict[str, Target] = {}
    targets: dict[str, Target] = {}
    for document_id, names in titles:
        key = entity_key(names[0])
        targets[document_id] = by_key.setdefault(key, Target(key, names[0], _label(document_id)))
    return targets


def _label(document_id: str) -> str:
    lowered = document_id.lower()
    if lowered.endswith(".canvas"):
        return "Canvas"
    if lowered.endswith(FILE_SUFFIXES):
        return "Note"
    return "Session" if _SESSION_ID.fullmatch(document_id) else "Record"
