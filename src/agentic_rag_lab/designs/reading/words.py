"""Words of a sentence for the extractive reader, with position and stem."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import regex

from agentic_rag.text import CJK, STOPWORDS, content_tokens, starts_cjk, tokens

_WORD = regex.compile(rf"[{CJK}]+|[^\W{CJK}]+(?:['’\-.&/](?=[^\W{CJK}])[^\W{CJK}]+)*")
_IRREGULAR = {
    past: present
    for present, listed in {
        "be": "am is are was were been being", "become": "became", "begin": "began begun", "break": "broke broken",
        "bring": "brought", "build": "built", "buy": "bought", "catch": "caught", "choose": "chose chosen",
        "come": "came", "do": "did done does", "draw": "drew drawn", "drive": "drove driven", "eat": "ate eaten",
        "fall": "fell fallen", "feel": "felt", "fight": "fought", "find": "found", "fly": "flew flown",
        "forget": "forgot forgotten", "get": "got gotten", "give": "gave given", "go": "went gone",
        "grow": "grew grown", "have": "had has", "hear": "heard", "hide": "hid hidden", "hold": "held",
        "keep": "kept", "know": "knew known", "lead": "led", "learn": "learnt", "leave": "left", "lose": "lost",
        "make": "made", "mean": "meant", "meet": "met", "pay": "paid", "ride": "rode ridden", "rise": "rose risen",
        "run": "ran", "say": "said", "see": "saw seen", "sell": "sold", "send": "sent", "sing": "sang sung",
        "sit": "sat", "sleep": "slept", "speak": "spoke spoken", "spend": "spent", "stand": "stood",
        "steal": "stole stolen", "swim": "swam swum", "take": "took taken", "teach": "taught", "tell": "told",
        "think": "thought", "throw": "threw thrown", "understand": "understood", "wake": "woke woken",
        "wear": "wore worn", "win": "won", "write": "wrote written",
    }.items()
    for past in listed.split()
}  # fmt: skip
FUNCTION = STOPWORDS | frozenset(
    "i'm i've i'd i'll you're you've it's that's there's we're we've they're he's she's let's don't didn't isn't "
    "wasn't can't couldn't won't wouldn't really yeah yes no oh hey hi thanks thank wow got get been".split()
)
"""Words that cannot make a short answer by themselves."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its position: ``text[start:end]``."""

    text: str
    start: int
    end: int

    @property
    def lower(self) -> str:
        return self.text.lower().replace("’", "'")

    @property
    def stem(self) -> str:
        return stem(self.text)

    @property
    def capital(self) -> bool:
        return self.text[:1].isupper()

    @property
    def function(self) -> bool:
        """Whether the word is a function word."""
        return self.lower in FUNCTION


@lru_cache(maxsize=16_384)
def words_of(text: str) -> tuple[Word, ...]:
    """Words in order; a run of Han, kana or Hangul counts as one."""
    return tuple(Word(match.group(), match.start(), match.end()) for match in _WORD.finditer(text))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem for comparisons; irregular verbs in the present: ``went`` is ``go``."""
    lowered = word.lower().replace("’", "'").removesuffix("'s")
    plain = _IRREGULAR.get(lowered, lowered)
    found = tokens(plain)
    return found[-1] if found else plain


def telling(words: Iterable[Word]) -> frozenset[str]:
    """Stems of the content words; for a run of Han, kana or Hangul its characters and pairs of them."""
    found: set[str] = set()
    for word in words:
        if not word.function:
            found.update((*content_tokens(word.text), *word.text) if starts_cjk(word.text) else (word.stem,))
    return frozenset(found)
