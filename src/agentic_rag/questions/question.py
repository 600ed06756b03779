"""A question as it is read once: its terms, the names among them, and the form that its answer takes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from agentic_rag.dates.spans import Span
from agentic_rag.questions.attributes import attributes_asked
from agentic_rag.questions.comparisons import Comparison, limit_of
from agentic_rag.questions.computations import Computation, read_computation
from agentic_rag.questions.forms import HOW_MUCH_IS, POSSESSIVE, PRESENT, REASON, asks_many
from agentic_rag.questions.generic_words import ANSWER_STEMS, MEASURE_WORDS
from agentic_rag.questions.han_words import mend_words, runs, without_particles, words_of
from agentic_rag.questions.terms import DAYS, Term, is_making, is_manner, terms_of, without_verbs
from agentic_rag.questions.wording import HOW, Form, Kind, form_of, kinds_wanted, measure_of
from agentic_rag.questions.words import Place
from agentic_rag.text import fold, script, simplify, starts_cjk, tokens
from agentic_rag.text.numbers import NUMBER_WORDS, numbers

_NUMBER_OF = re.compile(r"\b(?P<noun>[a-z]+ numbers?)\b(?= (?:of|for|on|is|was)\b|\W*$)", re.IGNORECASE)
_HOW_MANY = re.compile(r"\b(?:how many|wie viele?) (?P<noun>[a-z]{2,}?)s?\b", re.IGNORECASE)
_HAN_COUNTED = re.compile(rf"(?:几|多少)[{MEASURE_WORDS}](?P<noun>[\u4e00-\u9fff]{{1,4}})")
_MEMBERS = re.compile(
    rf"\b(?:which|what|what (?:are|were)|name|list) (?:the |my |our )?(?P<count>{'|'.join(NUMBER_WORDS)}|[2-9]|1\d) (?!of\b)[a-z-]+"
    rf"|的(?P<han>[两二三四五六七八九十])[{MEASURE_WORDS}大]|哪(?P<which>[两二三四五六七八九十])[{MEASURE_WORDS}大]",
    re.IGNORECASE,
)
"""How many things there are of which the names are asked for: "which five kinds", 四个字母."""
_OWNS = re.compile(rf"(?:{POSSESSIVE.pattern}|s['’]) $")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, read once."""

    text: str
    terms: tuple[Term, ...]
    """Each token once, in order."""
    form: Form
    wants: frozenset[Kind]
    script: str
    days: Span | None = None
    """The span of days that it names, which an answer has to be of; ``DAYS`` stands for it among the terms."""
    measure: str = ""
    """Stem of what is asked for with "how" or compared, as notes name it: ``speed`` of "how fast is it?"."""
    asked_as: str = ""
    """The word behind "how" that asks for it: ``fast``."""
    count_noun: str = ""
    """What "how many" counts: ``book``, ``kilometre``, 食堂 of 几个食堂."""
    computation: Computation | None = None
    """What is to be computed of several entries: a total, an average, how often, the largest or smallest."""
    attributes: tuple[tuple[Place, frozenset[str]], ...] = ()
    """Places of verbs, each with the names under which notes keep what it asks for: who ``owns`` it, the ``owner``."""
    limit: Comparison | None = None
    """The number that it limits values by: "more than 4 GB"."""
    earlier_text: str = ""
    """The earlier question that it asks of another thing: "and the ketch?"."""
    answer_before: str = ""
    """The answer that it goes on from."""

    @classmethod
    def of(cls, text: str, carried_text: str = "") -> Question:
        """Read a question in English or Chinese, and in part in German.

        Args:
            text: the question.
            carried_text: the thing of the conversation that it names for a pronoun: no answer has to name it again.
        """
        plain = fold(text)
        known = set(tokens(carried_text))
        computation = read_computation(simplify(text))
        limit = limit_of(text) if asks_many(text) else None
        if limit is not None and computation is not None:
            start, end = limit.span.start, limit.span.end + len(" ")
            if any(start < one.end and one.start <= end for one in computation.spans):
                computation = None  # "at least 14 beds" asks for no least, "above 900 in total" for no total
        spans = (*(computation.spans if computation else ()), *((limit.span,) if limit else ()))
        terms = without_verbs(
            text,
            [
                replace(t, is_name=False, is_generic=True) if t.token in known else t
                for t in terms_of(text, spans)
            ],
        )
        form = form_of(plain)
        if form == "howto" and any(not (t.is_generic or is_making(t)) for t in terms):
            terms = [replace(t, is_generic=t.is_generic or is_making(t)) for t in terms]
        if form == "howto":
            terms = [replace(t, is_generic=t.is_generic or is_manner(text, t)) for t in terms]
        how = HOW.search(plain)
        counted = _HOW_MANY.search(plain) or _HAN_COUNTED.search(plain)
        word = "" if how is None else how["word"]
        return cls(
            text, tuple(terms), form, kinds_wanted(plain), script(text),
            measure=measure_of(plain, word), asked_as=word,
            count_noun="" if counted is None else counted["noun"], computation=computation, limit=limit,
            attributes=attributes_asked(text),
        )  # fmt: skip

    @property
    def specific_tokens(self) -> tuple[str, ...]:
        """The tokens of the terms that are not generic, in order."""
        return tuple(term.token for term in self.terms if not term.is_generic)

    def is_new(self, term: Term) -> bool:
        """Whether a term tells the question from the earlier one that it asks of another thing."""
        earlier = self.earlier_text
        if not earlier or term.is_generic:
            return False
        return term.token not in (earlier if starts_cjk(term.token) else tokens(earlier))

    @property
    def is_chinese(self) -> bool:
        """Whether it is written in Chinese characters."""
        return self.script == "cjk"

    @property
    def asks_one(self) -> bool:
        """Whether one value is asked for, and not what several notes say: "what was the fee?"."""
        return bool(self.wants - {"date"}) or self.form in ("definition", "yesno")

    @property
    def asks_reason(self) -> bool:
        """Whether a reason is asked for, which stands in other words than the question."""
        return REASON.search(self.text) is not None

    @property
    def asks_how_much(self) -> bool:
        """Whether it is asked how much one thing is, which only a number says."""
        return HOW_MUCH_IS.search(self.text) is not None

    @property
    def asks_present(self) -> bool:
        """Whether it is asked what holds now, which later notes may have changed."""
        return PRESENT.search(self.text) is not None

    @property
    def member_count(self) -> int | None:
        """How many members what it asks for has: "which five kinds …?"; None where it does not say."""
        match = _MEMBERS.search(self.text)
        return None if match is None else int(max(numbers(next(filter(None, match.groups())))))

    @property
    def amount_names(self) -> frozenset[str]:
        """The terms that say of what a number is asked for: "how many pages …", "the phone number of …"."""
        nouns = " ".join(match["noun"] for match in _NUMBER_OF.finditer(self.text))
        names = {*tokens(nouns), *tokens(self.count_noun)}
        return frozenset(term.token for term in self.terms if term.token in names and not term.is_generic)

    def of_days(self, days: Span, start: int, end: int) -> Question:
        """The question with a span of days in place of the terms that name it.

        Args:
            days: the span.
            start, end: its place in the question.
        """
        left = [term for term in self.terms if not (start < term.end and term.start < end)]
        return replace(self, terms=(*left, Term(DAYS, start, end, is_name=True)), days=days)

    def names(self) -> list[tuple[str, ...]]:
        """The tokens of each name; those of one name stand side by side: ``books_8``, ``Dota 2``."""
        names: list[list[Term]] = []
        for term in (one for one in self.terms if one.is_name):
            if names and 0 <= term.start - names[-1][-1].end <= 1:
                names[-1].append(term)
            else:
                names.append([term])
        return [tuple(term.token for term in name) for name in names]

    def possessions(self) -> list[tuple[str, str]]:
        """The tokens of an owner's name and of what is asked of it: ``tobia`` and ``salari`` of "Tobias's salary", 公路车 and
        保险 of 公路车的保险."""
        pairs = zip(self.terms, self.terms[1:], strict=False)
        return [
            (owner.token, own.token)
            for owner, own in pairs
            if (owner.is_name and not own.is_name and _OWNS.search(self.text[owner.start : own.start]))
            or self.text[owner.end : own.start] == "的"
        ]

    def in_words(self, spans: Iterable[tuple[int, int]], vocabulary: str) -> Question:
        """The question with its Chinese terms as words instead of pairs of characters.

        A word is the longest run that the notes have; else what the embedding model takes for one, single characters
        joined.

        Args:
            spans: places of the model's tokens in the question.
            vocabulary: text of the notes. A run that it has but for one character, and there one of the same sound, is
                taken as it is written there.
        """
        pairs = [term for term in self.terms if starts_cjk(term.token)]
        if not pairs:
            return self
        inside = sorted({place for term in pairs for place in range(term.start, term.end)})
        edges = {place for span in spans for place in span}
        terms = {term.token: term for term in self.terms if not starts_cjk(term.token)}
        words = words_of(self.text, runs(inside), edges, vocabulary)
        parts = [without_particles(self.text, *word, vocabulary) for word in words]
        for token, start, end in mend_words(self.text, parts, vocabulary):
            own = [term for term in pairs if term.start < end and start < term.end]
            is_generic = token in ANSWER_STEMS or all(term.is_generic for term in own)
            is_name = any(term.is_name for term in own)
            terms.setdefault(token, Term(token, start, end, is_name, is_generic))
        return replace(self, terms=tuple(sorted(terms.values(), key=lambda term: term.start)))
