"""A query while it is read: what the question's words were read as so far, and what they select."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agentic_rag.domain.filters import Comparison, Expression, matches
from agentic_rag.domain.notes import Note
from agentic_rag.domain.selection import Ask
from agentic_rag.questions.forms import COUNT, MANY, WE, WHEN
from agentic_rag.questions.generic_words import QUERY_HAN, QUERY_WORDS
from agentic_rag.questions.note_queries.vocabulary import Vocabulary
from agentic_rag.questions.times import Time
from agentic_rag.questions.words import Place, Word, Words, uncovered_words
from agentic_rag.text.languages import function_words

Nearest = Callable[[str, Sequence[str]], Awaitable[Mapping[str, float]]]
"""How near each name comes to a text by the embedding model: cosines by name."""


@dataclass(slots=True)
class Draft:
    """What was read so far. The readers of conditions add to it; ``spans`` are the words that are accounted for."""

    words: Words
    vocabulary: Vocabulary
    nearest: Nearest
    time: Time | None
    """The span of days that the question names."""
    conditions: list[Expression] = field(default_factory=list)
    entry_conditions: list[Expression] = field(default_factory=list)
    spans: list[Place] = field(default_factory=list)
    shown_keys: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    strength: int = 0
    """Number of conditions beside the class."""
    _members: dict[tuple[Expression, ...], Sequence[Note]] = field(default_factory=dict, repr=False)
    """What conditions select, by them: each is asked several times, and compares every note."""

    def copy(self) -> Draft:
        """What was read so far, to be read on without a change to this draft."""
        return replace(
            self,
            conditions=[*self.conditions],
            entry_conditions=[*self.entry_conditions],
            spans=[*self.spans],
            shown_keys=[*self.shown_keys],
            classes=[*self.classes],
        )

    @property
    def text(self) -> str:
        """The question, folded."""
        return self.words.text

    @property
    def asks_many(self) -> bool:
        """Whether the wording asks for several notes or things."""
        return MANY.search(self.text) is not None

    @property
    def asks_when(self) -> bool:
        """Whether the wording asks for days of the writer's: "when did I meet Ann?", and not "when was Ann born?"."""
        match = WHEN.search(self.text)
        return match is not None and (
            WE.search(self.text) is not None or re.search("day|天", match.group()) is not None
        )

    @property
    def list_or_count(self) -> Ask:
        """Whether notes or entries are to be listed or counted."""
        return "count" if COUNT.search(self.text) else "list"

    def is_free(self, span: Place) -> bool:
        """Whether no word of the span is accounted for."""
        return not any(span.overlaps(other) for other in self.spans)

    def cover(self, *spans: Place | None) -> None:
        """Account for these words."""
        self.spans += [span for span in spans if span is not None]

    def add(self, condition: Expression, *spans: Place | None) -> None:
        """A condition on notes, and the words that it was read from."""
        self.conditions.append(condition)
        self.cover(*spans)
        self.strength += 1

    def members(self) -> Sequence[Note]:
        """The notes that the conditions so far select."""
        snapshot = self.vocabulary.snapshot
        conditions = tuple(self.conditions)
        if conditions and conditions not in self._members:
            titles = next(filter(None, map(_titles_of, conditions)), None)
            notes = snapshot.notes if titles is None else snapshot.having_title(titles)
            self._members[conditions] = [note for note in notes if self._is_member(note)]
        return self._members.get(conditions, snapshot.notes)

    def _is_member(self, note: Note) -> bool:
        facts = self.vocabulary.snapshot.facts[note.document_id]
        return all(matches(one, facts) for one in self.conditions)

    def rest(self, *spans: Place) -> list[Word]:
        """The words that nothing accounts for yet; of a Chinese run what is not generic in it.

        Args:
            spans: accounted for besides.
        """
        words = []
        covered = (*self.spans, *spans)
        for word in uncovered_words(self.words, (), QUERY_WORDS | function_words(self.text)):
            is_free = not any(Place(word.start, word.end).overlaps(span) for span in covered)
            if word.text.isascii():
                words += [word] if is_free else []
            elif is_free and not QUERY_HAN.search(word.text):
                words.append(word)
            else:
                words += _rest_of(word, covered)
        return words


def _titles_of(condition: Expression) -> list[str]:
    """The titles of which the notes that pass have one; empty for any other condition."""
    match condition:
        case Comparison("title", "$in", tuple(titles)):
            return [str(title) for title in titles]
    return []


def _rest_of(word: Word, spans: Sequence[Place]) -> list[Word]:
    """The parts of a Chinese run that are neither accounted for nor generic."""
    free = [
        c if not any(s.start <= word.start + n < s.end for s in spans) else " "
        for n, c in enumerate(word.text)
    ]
    rest = QUERY_HAN.sub(lambda m: " " * len(m.group()), "".join(free))
    return [
        Word(m.group(), m.group(), word.start + m.start(), word.start + m.end())
        for m in re.finditer(r"\S+", rest)
    ]


def places(words: Sequence[Word]) -> tuple[tuple[int, int], ...]:
    """The spans of the words in the question."""
    return tuple((word.start, word.end) for word in words)
