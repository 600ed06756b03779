"""Words that stand for one another: a Chinese and an English one by translation, two of one language by sharing one.

The table is made of CC-CEDICT by ``evaluation/make_dictionary.py``; README.md beside this file tells whose it is. Words and
phrases are told by the terms that a search compares (see ``agentic_rag.text``), parted by spaces: ``galaxi`` for
galaxies, ``望远 远镜`` for 望远镜.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import resources

from agentic_rag.text import STOPWORDS, content_tokens, folded, tokens

TABLE = "cc_cedict.tsv.gz"
MOST_CHARACTERS, MOST_WORDS = 8, 3
"""Of the longest Chinese word, and of the longest English phrase, that are looked for."""
AND_BACK = 0.25
"""How much less sure it is that two words stand for one another that only share a translation."""
MOST_RELATED = 40
"""So many of a word's relations are told, the surest."""
HAN = re.compile("[\u4e00-\u9fff]{2,}")
"""What a Chinese word of the table is made of, and a run that may hold some."""


class Dictionary:
    """A table of words, read.

    Args:
        table: a line for each Chinese word: its forms (simplified, traditional), a tab, its meanings in English,
            each list parted by ``/``.
    """

    def __init__(self, table: str) -> None:
        self._of_form: dict[str, str] = {}
        self._of_meaning: dict[str, list[str]] = {}
        for line in table.splitlines():
            forms, meanings = _entry(line)
            for form in forms:
                self._of_form[form] = line
            for meaning in meanings:
                self._of_meaning.setdefault(meaning, []).append(line)
        self._related = lru_cache(maxsize=4096)(self._looked_up)

    def words(self, text: str) -> list[str]:
        """The words and phrases of a text that the table knows, each once."""
        latin = [term for term in content_tokens(text) if term.isascii()]
        spans = (
            " ".join(latin[start : start + size])
            for size in range(MOST_WORDS, 0, -1)
            for start in range(len(latin) - size + 1)
        )
        found = [span for span in spans if span in self._of_meaning]
        for run in HAN.findall(folded(text)):
            found.extend(self._segments(run))
        return list(dict.fromkeys(found))

    def related(self, word: str) -> Mapping[str, float]:
        """Words that stand for one of ``words``, each with how surely, in (0, 1], the surest first.

        A Chinese word and its meaning: one over the number of its meanings. Two words of one language: ``AND_BACK``
        times how probably one is come by from the other, by a translation and back, each way with equal chances.
        """
        return self._related(word)

    def _segments(self, run: str) -> Iterator[str]:
        """The longest words that the table knows, from left to right."""
        start = 0
        while start < len(run) - 1:
            for end in range(min(len(run), start + MOST_CHARACTERS), start + 1, -1):
                word = run[start:end]
                terms = " ".join(tokens(word))
                if terms in self._of_form:
                    if word not in STOPWORDS:
                        yield terms
                    start = end - 1
                    break
            start += 1

    def _looked_up(self, word: str) -> Mapping[str, float]:
        found: dict[str, float] = {}
        own = self._of_form.get(word)
        if own is not None:
            meanings = _entry(own)[1]
            for meaning in meanings:
                found[meaning] = 1 / len(meanings)
                lines = self._of_meaning[meaning]
                for form in (form for line in lines if line is not own for form in _entry(line)[0]):
                    found[form] = found.get(form, 0.0) + AND_BACK / len(meanings) / len(lines)
        lines = self._of_meaning.get(word, [])
        for forms, meanings in map(_entry, lines):
            found.update(dict.fromkeys(forms, 1 / len(meanings)))
            for meaning in meanings:
                if meaning != word:
                    found[meaning] = found.get(meaning, 0.0) + AND_BACK / len(meanings) / len(lines)
        return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_RELATED])


def _entry(line: str) -> tuple[list[str], list[str]]:
    """Forms and meanings."""
    forms, _, meanings = line.partition("\t")
    return forms.split("/"), meanings.split("/")


@lru_cache(maxsize=1)
def dictionary() -> Dictionary:
    """The one that the package ships; reading it takes a third of a second, once a process."""
    table = resources.files("agentic_rag.dictionary") / TABLE
    return Dictionary(gzip.decompress(table.read_bytes()).decode())
