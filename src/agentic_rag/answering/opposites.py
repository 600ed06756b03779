"""Words that turn a statement into its opposite: negations, and pairs of which a text has one or the other."""

from __future__ import annotations

import re

_NOT = re.compile(
    r"\b(?:not|no|never|without|isn't|wasn't|don't|doesn't|didn't)\b(?! (?:more|less|fewer|later))|不(?!超过|到)|没有|并非|非(?!常)"
)
_OPPOSITES = tuple(
    (re.compile(one, re.IGNORECASE), re.compile(other, re.IGNORECASE))
    for one, other in (
        (r"\bbefore\b|之?前", r"\bafter\b|之?后"),
        (r"\b(?:rais|increas|ris)\w*|升高|增加|提高", r"\b(?:lower|decreas|fall|reduc)\w*|降低|减少"),
        (r"\b(?:above|over|higher)\b|高于|以上", r"\b(?:below|under)\b|低于|以下"),
        (r"\bmore\b|多于|更多", r"\b(?:less|fewer)\b|少于|更少"),
        (r"\bhypo\w+", r"\bhyper\w+"),
        (r"\bendo\w+", r"\bexo\w+"),
        (r"\bmicro\w+", r"\bmacro\w+"),
    )
)


def is_opposite(wanted: str, given: str) -> bool:
    """Whether a text has the opposite of a word of another one in its place."""
    for pair in _OPPOSITES:
        for one, other in (pair, pair[::-1]):
            if one.search(wanted) and other.search(given) and not (other.search(wanted) or one.search(given)):
                return True
    return False


def is_negated(text: str) -> bool:
    """Whether a text denies something."""
    return _NOT.search(text) is not None
