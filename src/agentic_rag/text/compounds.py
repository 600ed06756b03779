"""German compounds: nouns that are written together, ``Hallenschlüssel``, beside the words that they are made of.

Words are compared without their endings, which stand between the parts as well: ``Halle`` and ``Hallen-``.
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache

MIN_PART = 4
"""Letters of a part of a compound, without its ending."""
MAX_LINK = 3
"""Letters between the parts: ``Geburt-s-tag``, ``Kind-er-zimmer``."""
_ENDING = re.compile(r"(?<=\w{3})(?:ern|en|er|es|e|n|s)$")


@lru_cache(maxsize=16_384)
def _base(word: str) -> str:
    return _ENDING.sub("", word)


def says_noun(words: Set[str], noun: str) -> bool:
    """Whether words have a compound of the noun's kind, ``Laufschuhe`` for ``Schuhe``, or both parts that the noun is made of,
    ``Schlüssel`` and ``Halle`` for ``Hallenschlüssel``. A part alone does not: another key is none of the hall.

    Args:
        words: folded, in lower case.
        noun: of the same form.

    >>> says_noun({"der", "schlussel", "zur", "halle"}, "hallenschlussel"), says_noun({"schlussel"}, "hallenschlussel")
    (True, False)
    """
    base = _base(noun)
    others = [other for word in words if len(other := _base(word)) >= MIN_PART]
    if len(base) >= MIN_PART and any(len(o) >= len(base) + MIN_PART - 1 and o.endswith(base) for o in others):
        return True
    longest = len(base) - MIN_PART + 1
    tails = [len(other) for other in others if len(other) <= longest and base.endswith(other)]
    heads = [len(other) for other in others if len(other) <= longest and base.startswith(other)]
    return bool(tails and heads) and max(tails) + max(heads) >= len(base) - MAX_LINK
