"""The words that a made document holds: invented, so that each lost one is seen."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

_SYLLABLES = "ba be bo da de du fa fe go ka ke ku la le lo ma mi mo na ne no pa pe ra ri ro sa se so ta te to va ve wa zo".split()
_HAN = "山川水火木石田雨雪風雲月日花草米茶酒舟橋門窓紙筆鳥馬牛羊魚竹林海島城町村道車糸布金銀銅鉄"


@dataclass(frozen=True, slots=True)
class Made:
    """A document, the pieces of text that it holds, and what a report must say was left out."""

    name: str
    raw: bytes
    pieces: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    """Parts of the report's words, by which a reader tells what it left out."""


@dataclass(slots=True)
class Pieces:
    """Invents text and remembers it."""

    rng: random.Random
    pieces: list[str] = field(default_factory=list)

    def text(self, words: int = 6) -> str:
        """A sentence of invented words, without its period."""
        return self.known(" ".join(self._word() for _ in range(words)).capitalize())

    def sentences(self, number: int = 3) -> str:
        """Sentences of five to twelve words."""
        return " ".join(self.text(self.rng.randint(5, 12)) + "." for _ in range(number))

    def han(self, letters: int = 12) -> str:
        """A run of Han characters."""
        return self.known("".join(self.rng.choice(_HAN) for _ in range(letters)))

    def known(self, text: str) -> str:
        """The text, which the document holds as it is."""
        self.pieces.append(text)
        return text

    def _word(self) -> str:
        return "".join(self.rng.choice(_SYLLABLES) for _ in range(self.rng.randint(3, 4)))


def made(name: str, raw: bytes, pieces: Pieces, *left_out: str) -> Made:
    """The document with what was invented for it."""
    return Made(name, raw, tuple(pieces.pieces), left_out)


def numbered(seed: int, features: Mapping[str, object]) -> list[tuple[str, Pieces]]:
    """A stock of words for each feature, the same at every run."""
    return [(name, Pieces(random.Random(f"{seed} {name}"))) for name in features]
