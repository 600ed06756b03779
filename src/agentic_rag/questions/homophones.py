"""Chinese words that are typed with a character of the same sound: 萝卜炖牛楠 for 萝卜炖牛腩."""

from __future__ import annotations

from functools import lru_cache

import regex

from agentic_rag.questions.generic_words import ANSWER_STEMS, QUERY_WORDS

_PARTICLES = frozenset(word for word in QUERY_WORDS | ANSWER_STEMS if len(word) == 1)


def written_as(before: str, character: str, after: str, vocabulary: str) -> tuple[str, str] | None:
    """A word beside a character, as the vocabulary writes them together with a character of the same sound.

    Args:
        before, after: the words of the vocabulary beside the character; at least two characters long, or empty.
        character: one that the vocabulary does not have there. It stands for no particle: 帝 is not the 的 before a name.
        vocabulary: text of the notes.

    Returns:
        ``before`` with the right character behind it and an empty text, or an empty text and ``after`` with the right
        character before it; None where the vocabulary has neither.
    """
    for first, last in ((before, ""), ("", after)):
        if len(first or last) > 1:
            pattern = regex.compile(f"{regex.escape(first)}(?P<one>\\p{{Han}}){regex.escape(last)}")
            for one in dict.fromkeys(match["one"] for match in pattern.finditer(vocabulary)):
                if one != character and one not in _PARTICLES and _sounds(one) & _sounds(character):
                    return (f"{first}{one}", "") if first else ("", f"{one}{last}")
    return None


@lru_cache(maxsize=4096)
def _sounds(character: str) -> frozenset[str]:
    """Its readings without tones."""
    from pypinyin import Style, pinyin  # loads its table, which few questions need

    return frozenset(pinyin(character, style=Style.NORMAL, heteronym=True)[0])
