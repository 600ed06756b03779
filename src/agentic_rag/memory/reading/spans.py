"""Which runs of words of a sentence may be an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agentic_rag.memory.reading.questions import Question
from agentic_rag.memory.reading.statements import Statement
from agentic_rag.memory.reading.words import Word

LONGEST = 14
"""Words."""
STOPS = re.compile(r"[.!?;:()\[\]…]|\s[-–—]+\s|[–—]|\n|[\U0001F300-\U0001FAFF]")
"""Where a clause ends."""
NO_START = frozenset(
    "of and or but than that which who so because 'cause cause if when while as is are was were am be been has have "
    "had do does did will would can could should might must not n't also then though although it's that's i'm you're "
    "there's we're they're i've we've you've i'd i'll don't isn't too just really very about it i you he she they we "
    "me him us them this these those hey hi hello oh wow thanks thank yeah yes yep yup no sure btw congrats".split()
)
"""Words that no answer begins with."""
_NO_END = frozenset(
    "a an the of and or but than that which who so because if when while as is are was were am be been has have had "
    "do does did will would can could should might must to in on at by for with from about into through my your his "
    "her our their its i you he she they we it's that's i'm very really just some any this these those it not".split()
)


@dataclass(frozen=True, slots=True)
class Span:
    """Words ``first`` to ``last`` of a statement's sentence, both in it."""

    statement: Statement
    first: int
    last: int

    @property
    def words(self) -> tuple[Word, ...]:
        return self.statement.sentence.words[self.first : self.last + 1]

    @property
    def text(self) -> str:
        """As it stands in the sentence."""
        words = self.statement.sentence.words
        return self.statement.sentence.text[words[self.first].start : words[self.last].end]


def spans_of(statement: Statement, question: Question) -> Iterator[Span]:
    """Runs of at most ``LONGEST`` words that begin and end as an answer can, do not cross the end of a clause,
    and say something that the question does not."""
    words = statement.sentence.words
    text = statement.sentence.text
    known = question.terms | {name.lower() for name in question.people}
    fresh = [not word.function and word.stem not in known for word in words]
    for first, word in enumerate(words):
        if word.lower in NO_START:
            continue
        says = False
        for last in range(first, min(first + LONGEST, len(words))):
            if last > first and STOPS.search(text[words[last - 1].end : words[last].start]):
                break
            says = says or fresh[last]
            if says and words[last].lower not in _NO_END:
                yield Span(statement, first, last)
