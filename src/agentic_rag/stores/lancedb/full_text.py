"""Full text on LanceDB: what is indexed of a text, what is searched of a question, and the index itself.

LanceDB's ICU segmentation splits Chinese and Japanese into words offline, and it stems English. What it
cannot do is done to the text before: accents are dropped before the stemmer sees them, and what lies
inside the words stands beside them, so that 乌龙 finds 乌龙茶 and ``user`` finds ``getUserName``.
"""

from __future__ import annotations

from typing import Any

import regex

from agentic_rag.text import STOPWORDS, amount_forms, any_of, fold, inner_terms

MAX_QUERY_WORDS = 512
WORD_COLUMNS = ("search_text", "text")
"""Columns with the text of ``index_text``: of chunks, and of objects of a graph."""

_NOT_WORD = regex.compile(r"[^\w'\-.]+")
_HANGUL = regex.compile(r"\p{Hangul}{3,}")
"""A Korean word whose particle may be another one in the passage, so that only a part of it is found."""
_PHRASES = any_of(word for word in STOPWORDS if not word.isascii() and len(word) > 1)
"""Chinese stop words of more than one character; one alone may be a part of a word that says something."""


def index_text(text: str) -> str:
    """What the index holds of a stored text: the text, then what its words alone would not find."""
    plain = fold(text)
    inside = inner_terms(plain)
    return " ".join([plain, *inside]) if inside else plain


def query_text(text: str) -> str:
    """Search terms of a question: its content words; all words if there is no content word; at most MAX_QUERY_WORDS.

    "" for a text without a letter or digit.
    """
    whole = fold(text)
    plain = _NOT_WORD.sub(" ", whole)
    words = [word for word in plain.split() if any(character.isalnum() for character in word)]
    kept = [word for place, word in enumerate(words) if not _is_stop_word(word, first=place == 0)]
    telling = _PHRASES.sub(" ", " ".join(kept)).split()
    pairs = [run[i : i + 2] for run in _HANGUL.findall(plain) for i in range(len(run) - 1)]
    return " ".join([*(telling or words), *pairs, *amount_forms(whole)][:MAX_QUERY_WORDS])


def _is_stop_word(word: str, *, first: bool) -> bool:
    """A stop word in capitals (IT, US, vitamin A) is a name, unless it only opens the question."""
    is_name = word.isupper() and (len(word) > 1 or not (first or word == "I"))
    return not is_name and word.casefold() in STOPWORDS


def full_text_index() -> Any:
    """The index's settings. It keeps stop words: with them gone, digits, single letters and some Han
    characters would vanish too, and a question of stop words alone would find nothing."""
    from lancedb.index import FTS

    return FTS(base_tokenizer="icu/split", stem=True, remove_stop_words=False)


async def index_words(table: Any) -> None:
    """Build the full-text indexes that a table lacks; rows that are written later are searched as well."""
    have = {index.columns[0] for index in await table.list_indices()}
    for column in (await table.schema()).names:
        if column in WORD_COLUMNS and column not in have:
            await table.create_index(column, config=full_text_index())
