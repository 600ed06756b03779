"""Scripts, words and the wording of questions; pure."""

from agentic_rag.text.questions import any_of, asked_about, coverage, names_nothing, points_back
from agentic_rag.text.scripts import (
    CJK,
    HAN,
    KANA,
    KATAKANA,
    SCRIPT_SAMPLE,
    Script,
    script,
    script_beside,
    starts_cjk,
)
from agentic_rag.text.words import STOPWORDS, content_tokens, folded, inner_terms, tokens

__all__ = [
    "CJK",
    "HAN",
    "KANA",
    "KATAKANA",
    "SCRIPT_SAMPLE",
    "STOPWORDS",
    "Script",
    "any_of",
    "asked_about",
    "content_tokens",
    "coverage",
    "folded",
    "inner_terms",
    "names_nothing",
    "points_back",
    "script",
    "script_beside",
    "starts_cjk",
    "tokens",
]
