"""Chinese names in running text, by jieba's dictionary and tags; its tables live in memory only."""

from __future__ import annotations

import re
import threading
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import regex

from agentic_rag.ingest.facts.stopwords import GENERIC_TITLES, HAN_COMMON, HAN_SURNAMES, HAN_TAILS
from agentic_rag.text import HAN, KANA, simplify

MIN_RECURRING = 3
"""A plain noun counts from this length on, if the text uses it more than once."""
MAX_LETTERS = 12

_RUN = regex.compile(rf"[{HAN}·]+")
_PLACE_KIND = regex.compile(r".[市省县區区镇鎮州村國国]\Z")
_KANA = regex.compile(rf"[{KANA}]")
_NAMES = ("ns", "nt", "nz", "nrt")
_NOUNS = ("n", "nz", "l", "vn", "i")
_LONG_TAILS = frozenset(tail for tail in HAN_TAILS if len(tail) > 1)
_NOT_PEOPLE = re.compile(r"[的了着过吗呢吧啊是不在和与有这那我你他她它们个为被把对从到]")
_lock = threading.Lock()


def han_names(text: str) -> list[tuple[int, int]]:
    """Spans of persons, places, organisations, other proper names, and long nouns that recur.

    Japanese text (kana among the Han) gives none: the dictionary would cut it wrongly.
    """
    if _KANA.search(text):
        return []
    words = list(_tag_words(text))
    counts = Counter(word for word, _, _ in words)
    spans: list[tuple[int, int]] = []
    index = 0
    while index < len(words):
        last = _name_end(words, index, counts)
        if last > index:
            spans.append((words[index][2], words[last - 1][2] + len(words[last - 1][0])))
        index = max(last, index + 1)
    return spans


def is_place_name(word: str) -> bool:
    """Whether a word can be the name of a place: jieba's dictionary has it as one, or as a person's, among which it
    counts many towns (桂林), or has it with the word for a town as one (大连市, while 大连 is an adverb there); or it ends
    in a kind of place (吴江区)."""
    table, name = _tagger().word_tag_tab, simplify(word)
    is_town = any(table.get(name + kind) == "ns" for kind in "市县州")
    return is_town or table.get(name) in ("ns", "nr", "nrt") or _PLACE_KIND.search(word) is not None


def _tag_words(text: str) -> Iterator[tuple[str, str, int]]:
    """(word, tag, start) of every run of Han characters; words in simplified ones, which the dictionary has."""
    tagger = _tagger()
    for run in _RUN.finditer(text):
        position = run.start()
        single: list[str] = []
        for pair in tagger.cut(simplify(run.group()), HMM=False):
            if len(pair.word) == 1:
                single.append(pair.word)
                continue
            for word, tag in (*_guess_words("".join(single)), (pair.word, pair.flag)):
                yield word, tag, position
                position += len(word)
            single = []
        for word, tag in _guess_words("".join(single)):
            yield word, tag, position
            position += len(word)


@lru_cache(maxsize=65_536)
def _guess_words(letters: str) -> tuple[tuple[str, str], ...]:
    """Words not in the dictionary, from characters that are none together, by jieba's hidden Markov model.

    The model takes nearly all of the time, and the same few characters meet again and again.
    """
    if not letters:
        return ()
    return tuple((pair.word, pair.flag) for pair in _tagger().cut(letters))


def _name_end(words: list[tuple[str, str, int]], first: int, counts: Counter[str]) -> int:
    """The index after a name that begins at ``first``; ``first`` itself where none does."""
    word, tag, start = words[first]
    dotted = first
    while _is_dotted(words[dotted : dotted + 3]):
        dotted += 2  # 约翰·列侬
    if dotted > first:
        return dotted + 1
    if word in HAN_COMMON or word in GENERIC_TITLES or len(word) > MAX_LETTERS:
        return first
    if tag == "nr" and _is_person(word):
        return first + 1
    if tag not in _NAMES or (len(word) < 2 and tag != "ns"):
        return first + 1 if _recurs(word, tag, counts) else first
    end = first + 1
    # 武夷 + 山, 北京 + 师范 + 大学: what follows belongs to the name if it ends in a word for a kind.
    for after in range(first + 1, min(first + 4, len(words))):
        following, its_tag, its_start = words[after]
        if its_start != words[after - 1][2] + len(words[after - 1][0]) or its_tag[:1] not in (
            "n",
            "j",
            "b",
            "v",
        ):
            break
        if following in _LONG_TAILS or (after == first + 1 and following in HAN_TAILS):
            end = after + 1
    name_length = words[end - 1][2] + len(words[end - 1][0]) - start
    return end if name_length >= 2 else first


def _is_dotted(words: list[tuple[str, str, int]]) -> bool:
    """Whether these are two words with a middle dot between them and no space."""
    if len(words) < 3 or words[1][0] != "·" or words[0][0] == "·" or words[2][0] == "·":
        return False
    return words[1][2] == words[0][2] + len(words[0][0]) and words[2][2] == words[1][2] + 1


def _is_person(word: str) -> bool:
    """jieba tags many other words as persons: ask for a surname, or a name with a dot."""
    return 2 <= len(word) <= 4 and word[0] in HAN_SURNAMES and not _NOT_PEOPLE.search(word)


def _recurs(word: str, tag: str, counts: Counter[str]) -> bool:
    return tag in _NOUNS and len(word) >= MIN_RECURRING and counts[word] >= 2


@lru_cache(maxsize=1)
def _load() -> Any:
    with warnings.catch_warnings():
        # Old escapes in its source and pkg_resources, where that is installed, warn at import.
        warnings.simplefilter("ignore")
        import jieba
        import jieba.posseg
    import logging

    logger = logging.getLogger("jieba")
    logger.setLevel(logging.WARNING)
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
    tokenizer = jieba.Tokenizer()
    # What its own initialize() does, without the cache file that leaves in the folder for temporary files.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    tagger = object.__new__(jieba.posseg.POSTokenizer)
    tagger.tokenizer = tokenizer
    # Read at import for the module's own tagger; a second reading would take as long again.
    tagger.word_tag_tab = jieba.posseg.dt.word_tag_tab
    return tagger


def _tagger() -> Any:
    with _lock:
        return _load()
