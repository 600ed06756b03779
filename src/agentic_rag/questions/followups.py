"""Completes a question that leans on the conversation: the thing, the attribute, the days and the notes it is about.

``and New World?`` after ``How much does Elden Ring cost?`` asks ``How much does New World cost?``; ``and how many
episodes?`` after a question about Breaking Bad asks for Breaking Bad's. What was carried over is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import pairwise

from agentic_rag.dates.reading import DatedText, read_spans
from agentic_rag.dates.relative import WEEKDAY
from agentic_rag.questions.comparisons import extreme
from agentic_rag.questions.forms import POSSESSIVE, REASON, asks_many
from agentic_rag.questions.generic_words import QUERY_HAN
from agentic_rag.questions.question import Question
from agentic_rag.questions.terms import Term
from agentic_rag.questions.wording import named_phrase
from agentic_rag.questions.words import Place
from agentic_rag.text import STOPWORDS, points_back, starts_cjk, without_possessive

MAX_TURNS = 6
"""Earlier questions that a question may lean on, each on the one before."""
MAX_TERMS = 2
"""A question with fewer words of its own than this leans on the one before."""

Names = Callable[[str], Sequence[tuple[str, Place]]]
"""The notes that a text names: their titles, each with its place."""
KindOf = Callable[[str, str], bool]
"""Whether the note of a title is of a kind that a word names: ``Dune`` is a ``book``."""


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question and its answer."""

    question: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class CompletedQuestion:
    """A question that stands alone."""

    question: str
    """What is asked, with what it points to named."""
    carried_parts: dict[str, str] = field(default_factory=dict)
    """What was taken from the conversation: ``thing``, ``attribute``, ``days``, ``selection``, ``question``."""
    answer: str = ""
    """The answer before, where the question goes on from it and is not the earlier one about another thing."""

    @property
    def search(self) -> str:
        """What is searched for: the question, after the earlier one that it goes on from."""
        earlier = self.carried_parts.get("question")
        return self.question if earlier is None else f"{earlier} {self.question}"


_FILLER = re.compile(r"and|but|or|so|ok(?:ay)?|und|also|那么?|还有|以及|而|呢|\W+", re.IGNORECASE)
"""What opens or closes a question, and names nothing."""
_ASKING = r"怎么(?!样)|什么|为何|如何|多少|[谁几吗哪]"
_BARE = re.compile(
    rf"^\s*(?:(?:and|but|or|so|und|ok(?:ay)?)\b[,\s]*(?:(?:what|how) about\b)?|(?:what|how) about\b|was ist mit\b|那么?|还有)?\s*(?P<thing>(?:(?!\b(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|has|have|will|should)\b|{_ASKING})[^?？]){{1,80}}?)\s*(?:呢|怎么样)?\s*[?？]*\s*$",
    re.IGNORECASE,
)
_LEADS = re.compile(
    r"^\s*(?:and|what about|how about|but|und|was ist mit|那|还有)|呢\s*[?？]?\s*$", re.IGNORECASE
)
_VERB = r"(?:is|are|was|were|has|have|had|do|does|did|can|could|will|would|should|may|must|happen|mean|work|go)\w*\b"
"""A verb after "that", which then points by itself, or goes on from a noun."""
_PRONOUN = re.compile(
    r"\b(?P<possessive>its|his|their|her(?=\s+\w)|ihre[nrms]?|seine?[nrms]?)\b|\b(?P<plain>it|he|him|she|her|they|them|er|sie|ihn|ihm|ihr|es|this(?! \w)|that(?! \w)|this one|that one|the same)\b"
    rf"|\b(?:this|that|these|those|the same)\s+(?P<kind>(?!{_VERB})[a-z]+)\b|(?P<han>它们?|(?<![其吉])他们?|她们?|这[个种本部道]?|(?<!^)那[个种本部道]?(?!么|些)|^那(?=[是有在要会能的个种本部道])[个种本部道]?)(?P<of>的)?",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|a|an|my|our|for|in|on|of|der|die|das)\s+|\s+one$", re.IGNORECASE)
_DAY_SHIFT = re.compile(
    r"\b(?:the )?(?P<word>day|week|month|year) (?P<way>after|before)\b|\b(?:the )?(?P<next>next|following|previous) day\b|(?P<han>第二天|后一天|次日|前一天)",
    re.IGNORECASE,
)
_AMONG = re.compile(
    r"\b(?:of|among|from) (?:them|those|these)\b|\bwhich ones?\b|其中|哪个|davon", re.IGNORECASE
)
_ORDINAL = re.compile(
    r"\b(?:the )?(?P<word>first|second|third|fourth|fifth|last)(?: one)?(?=\W*$|\s+(?:is|was|has|have|does|do|did|one|cost)\b)|第(?P<han>[一二三四五])[个道本部篇种条款家]|(?P<end>最后一?[个道本部篇种条款家])",
    re.IGNORECASE,
)
"""Points to one of the list that was answered."""
_ORDER = {
    **{c: n for n, c in enumerate("一二三四五")},
    **{w: n for n, w in enumerate("first second third fourth fifth".split())},
}
_ENTRY = re.compile(r"^\s*(?:[-*]|\d+[.)])\s+(?P<entry>.+)$", re.MULTILINE)
_OPENING = re.compile(r"^\s*(?:(?:and|but|so|und)\b|那)[,，\s]*", re.IGNORECASE)
_PERSON = re.compile(r"\b(?:he|him|his|she|her)\b|[他她]", re.IGNORECASE)


def complete_question(
    query: str, turns: Sequence[Turn], names: Names, is_kind: KindOf, today: date
) -> CompletedQuestion:
    """The question as it stands alone, completed from the turns before it.

    Args:
        query: as it was asked.
        turns: earlier ones, oldest first; the last MAX_TURNS count.
        names: finds notes by title in a text.
        is_kind: of a note's title and a word.
        today: for relative dates.
    """
    before: Turn | None = None
    for turn in turns[-MAX_TURNS:]:
        whole = (
            turn.question
            if before is None
            else _complete(turn.question, before, names, is_kind, today).search
        )
        before = replace(turn, question=whole)
    if before is None:
        return CompletedQuestion(query)
    completed = _complete(query, before, names, is_kind, today)
    goes_on = not completed.carried_parts.keys().isdisjoint(("question", "thing"))
    return replace(completed, answer=before.answer) if goes_on else completed


def _complete(query: str, before: Turn, names: Names, is_kind: KindOf, today: date) -> CompletedQuestion:
    days = _days(before.question, today)
    if shifted := _shift_days(query, before.question, days):
        return shifted
    if entry := _entry(query, before, names):
        return entry
    superlative = _with_superlative(query) if _AMONG.search(query) or _LEADS.search(query) else query
    if asks_many(before.question) and (_AMONG.search(query) or extreme(superlative.casefold())):
        base, query = before.question, superlative
        if extreme(query.casefold()):  # the largest and then the smallest are two of the same selection
            base = ", ".join(part for part in base.split(", ") if not extreme(part.casefold())) or base
        return CompletedQuestion(f"{base.rstrip('?？ ')}, {query}", {"selection": base})
    own = _own_terms(query)
    named = names(query)
    bare = _bare_thing(query)
    if bare is not None and (_LEADS.search(query) or (named and len(own) <= MAX_TERMS)):
        return _with_thing(bare, before, names, days, today)
    pronoun = _PRONOUN.search(query)
    if (
        pronoun is None
        and not points_back(query)
        and (len(own) >= MAX_TERMS or named or named_phrase(query))
        and not _LEADS.search(query)
    ):
        return CompletedQuestion(query)
    if named or (_states_time(query, today) and len(own) >= MAX_TERMS):
        return CompletedQuestion(query)
    if days and pronoun is None and not _is_of_that_time(query):
        return CompletedQuestion(query)
    return _with_subject(query, pronoun, before, names, is_kind, days)


_COMPARATIVE = re.compile(
    r"\b(?:(?P<more>more|less)(?= [a-z])|better|worse|(?P<stem>[a-z]{3,}?)er)\b|(?P<han>更)", re.IGNORECASE
)
_SUPERLATIVES = {"more": "most", "less": "least", "better": "best", "worse": "worst", "更": "最"}


def _with_superlative(query: str) -> str:
    """The question with the superlative that a comparative means among several: "which of them is cheaper?"."""
    for match in _COMPARATIVE.finditer(query):
        word = _SUPERLATIVES.get(match.group().casefold()) or f"{match['stem']}est"
        text = f"{query[: match.start()]}{word}{query[match.end() :]}"
        if extreme(text.casefold()):
            return text
    return query


def _entry(query: str, before: Turn, names: Names) -> CompletedQuestion | None:
    """The question about an entry of the list that was answered: "how do I make the second one?", 第二个怎么做？"""
    ordinal = _ORDINAL.search(query)
    entries = [match["entry"] for match in _ENTRY.finditer(before.answer)] if ordinal else []
    if ordinal is None or len(entries) < 2:
        return None
    number = -1 if ordinal["end"] else _ORDER.get((ordinal["word"] or ordinal["han"]).casefold(), -1)
    if number >= len(entries):
        return None
    named = names(entries[number])
    if not named:
        return None
    title = named[0][0]
    return CompletedQuestion(f"{query[: ordinal.start()]}{title}{query[ordinal.end() :]}", {"thing": title})


_PAST = re.compile(
    r"\b(?:did|was|were|had|been|went|came|happened|then|there|\w{3,}ed)\b|n['’]t\b.*\b(?:did|was)|[了过]|当时|那天|那时|那里",
    re.IGNORECASE,
)
"""Speaks of the past, or of the time that was spoken of."""
_ASKING_WORDS = re.compile(
    rf"为什么|{_ASKING}|还有|别的|其他|\b(?:what|which|who|whom|when|where|why|how|else|more|is|are)\b",
    re.IGNORECASE,
)


def _is_of_that_time(query: str) -> bool:
    """Whether a question is about the days of the conversation: where it goes on from them, speaks of the past, or names
    nothing of its own. "Where is the boat?" asks for what is now."""
    if _LEADS.search(query) or points_back(query) or _PAST.search(query):
        return True
    rest = _ASKING_WORDS.sub(" ", query)
    return not any(map(str.isalpha, QUERY_HAN.sub(" ", rest)))


def _own_terms(query: str) -> list[str]:
    """What a question says itself; of Chinese a term for every two characters."""
    terms = [term for term in Question.of(query).terms if not term.is_generic and term.token not in STOPWORDS]
    han = {place for term in terms if starts_cjk(term.token) for place in range(term.start, term.end)}
    return [term.token for term in terms if not starts_cjk(term.token)] + ["□"] * (len(han) // 2)


def _bare_thing(query: str) -> str | None:
    """The thing of a question that names one and asks nothing: "and New World?", 那可乐呢？"""
    match = _BARE.match(query)
    if match is None or not match["thing"].strip() or _PRONOUN.search(match["thing"]):
        return None
    thing = match["thing"].strip(" ,，")
    while (shorter := _ARTICLE.sub("", thing)) != thing:
        thing = shorter
    return None if not thing or _FILLER.fullmatch(thing) else thing


_TOPIC = re.compile(r"\babout\s+(?:the\s+|a\s+|an\s+)?(?P<topic>[^?\s][^?]*?)\s*\??\s*$", re.IGNORECASE)
"""What somebody speaks of: "and the ferry?" after what Ann says about the boat is no other person."""


def _with_thing(
    thing: str, before: Turn, names: Names, days: Sequence[DatedText], today: date
) -> CompletedQuestion:
    """The earlier question about another thing, or about another side of its thing."""
    text = re.split(r"(?<=[?？])\s+", before.question.strip())[-1]
    if days and (moved := _other_day(thing, days[0], text, today)):
        return CompletedQuestion(
            f"{text[: days[0].start]}{moved}{text[days[0].end :]}", {"attribute": text, "days": moved}
        )
    if not days and (of_year := _in_that_year(text, thing, today)):
        return of_year
    subject = _subject(text, names, days)
    if subject is None:
        return CompletedQuestion(f"{text.rstrip('?？ ')} {thing}?", {"question": text})
    place = _phrase_of_kind(text, thing) or subject[1]
    if POSSESSIVE.match(text, place.end):
        thing = without_possessive(thing)
    topic = _TOPIC.search(text, place.end)
    if topic is not None and thing.islower() and not names(thing):
        return CompletedQuestion(
            f"{text[: topic.start('topic')]}{thing}{text[topic.end('topic') :]}", {"attribute": text}
        )
    if names(text) and not names(thing):
        # The earlier question names a note, and this is no note: it asks for another side of the same one.
        return CompletedQuestion(f"{subject[0]} {thing}?", {"thing": subject[0]})
    return CompletedQuestion(f"{text[: place.start]}{thing}{text[place.end :]}", {"attribute": text})


def _phrase_of_kind(question: str, thing: str) -> Place | None:
    """The words of a question that end as a thing of several words does, "membership fees" beside "usage fees"; None where
    none do."""
    words = thing.split()
    if len(words) < 2 or starts_cjk(thing):
        return None
    same = re.search(rf"\b(?:[\w-]+ ){{{len(words) - 1}}}{re.escape(words[-1])}\b", question, re.IGNORECASE)
    return None if same is None else Place(*same.span())


def _in_that_year(text: str, thing: str, today: date) -> CompletedQuestion | None:
    """The earlier question, of a year, about a month or day of that year."""
    years = [one for one in read_spans(text, today=today) if one.precision == "year" and one.relation == "in"]
    if len(years) != 1 or not _YEAR.search(text[years[0].start : years[0].end]):
        return None
    spans = read_spans(thing)
    if len(spans) != 1 or spans[0].yearless is None or not _is_whole(spans[0], thing):
        return None
    moved = _with_year(thing, spans[0], years[0])
    return CompletedQuestion(
        f"{text[: years[0].start]}{moved}{text[years[0].end :]}", {"attribute": text, "days": moved}
    )


_DAY_ALONE = re.compile(r"^(?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th|[日号])$", re.IGNORECASE)
_YEAR = re.compile(r"^(?:in|of|during|year)\b|年$", re.IGNORECASE)


def _other_day(thing: str, day: DatedText, text: str, today: date) -> str | None:
    """The day that a short form means beside a day of the conversation: "the 20th", 20号, another date; a day or month
    without a year is of the same year, where the question before names one."""
    alone = _DAY_ALONE.match(thing)
    if alone is not None and day.span.start is not None and day.precision == "day":
        try:
            return day.span.start.replace(day=int(alone["day"])).isoformat()
        except ValueError:
            return None
    spans = read_spans(thing)
    if len(spans) == 1 and spans[0].yearless is not None and _is_whole(spans[0], thing):
        return _with_year(thing, spans[0], None if _lacks_year(text, day) else day)
    spans = read_spans(thing, today=day.span.start or today)
    return thing if len(spans) == 1 and _is_whole(spans[0], thing) else None


def _is_whole(one: DatedText, text: str) -> bool:
    return one.end - one.start >= len(text) - 3


def _lacks_year(text: str, day: DatedText) -> bool:
    return any(one.yearless is not None and one.start == day.start for one in read_spans(text))


def _with_year(thing: str, one: DatedText, day: DatedText | None) -> str:
    """A day or month with the year of a day of the conversation, if any: ``in April 2023``, 2023年4月."""
    sides = [] if day is None else [day.span.start, day.span.end]
    year = next((str(side.year) for side in sides if side is not None), "")
    if starts_cjk(thing) or "月" in thing:
        return f"{year}年{thing}" if year else thing
    return f"{'on' if one.precision == 'day' else 'in'} {thing} {year}".rstrip()


def _subject(question: str, names: Names, days: Sequence[DatedText]) -> tuple[str, Place] | None:
    """The thing that a question is about: a note that it names, else its proper name, else its last noun phrase."""
    if phrase := named_phrase(question):
        return question[phrase[0] : phrase[1]], Place(*phrase)
    named = names(question)
    if named:
        return max(named, key=lambda pair: pair[1].end - pair[1].start)
    terms = [
        term
        for term in Question.of(question).terms
        if not any(d.start < term.end and term.start < d.end for d in days)
        and not _PER.search(question, 0, term.end)
    ]
    proper = [t for t in terms if t.is_name and not _WEEKDAY.fullmatch(question, t.start, t.end)]
    chosen = _of_one_clause(question, proper or [term for term in terms if not term.is_generic])
    if not chosen:
        return None
    start = chosen[0].start
    if not proper and len(chosen) > 1 and Question.of(question).script != "cjk":
        begins = {n: begin for n, one in enumerate(chosen) if (begin := _phrase_start(question, one, terms))}
        chosen = chosen[max(begins, default=-1) :]
        start = max(begins.values(), default=chosen[0].start)
        if _BEFORE_SUBJECT.search(question, 0, start):
            chosen = _without_verb(question, chosen, terms)
    last = chosen[-1].end
    if question[last - 2 : last] in ("'s", "’s"):
        last -= 2
    elif proper and not _AUXILIARY.search(question, 0, chosen[0].start):
        # A name goes on in the words right after it: "Japan trip".
        for term in terms:
            if term.start == last + 1 and question[last] in " -":
                last = term.end
    span = Place(start, last)
    return question[span.start : span.end], span


def _phrase_start(question: str, noun: Term, terms: Sequence[Term]) -> int | None:
    """Where the noun phrase begins whose first specific term this is, behind a determiner: "the old boiler"; None where none
    does."""
    start = noun.start
    for term in reversed(terms):
        if term.is_generic and term.end + 1 == start:
            start = term.start
    return start if _DETERMINER.search(question, 0, start) else None


def _without_verb(question: str, phrase: Sequence[Term], terms: Sequence[Term]) -> Sequence[Term]:
    """The noun phrase of terms of which the last of those side by side is the verb, "the trail running pack weigh", unless
    a general one comes next: "the van need".

    Args:
        question: in which they stand.
        phrase: its terms from the noun phrase on, without general ones.
        terms: all of its terms.
    """
    gaps = [question[one.end : following.start] for one, following in pairwise(phrase)]
    run = phrase[: next((n for n, gap in enumerate(gaps, 1) if gap not in (" ", "-")), len(phrase))]
    is_verb_next = any(term.is_generic and term.start == run[-1].end + 1 for term in terms)
    return run if is_verb_next or len(run) == 1 else run[:-1]


_BEFORE_SUBJECT = re.compile(
    r"(?:\b(?:do|does|did|can|could|will|would|should|must)|^\W*(?:is|are|was|were|has|have|had))\s+"
    r"(?:the|an?|my|our|your|his|her|their)\s+$",
    re.IGNORECASE,
)
"""Before a noun phrase that a verb follows: "does the shed cost", "Is the pool open"."""
_WEEKDAY = re.compile(rf"{WEEKDAY}s?", re.IGNORECASE)
_DETERMINER = re.compile(r"\b(?:the|an?|my|our|your|his|her|their)\s+$", re.IGNORECASE)
"""Begins a noun phrase."""
_PER = re.compile(r"\b(?:an?|per|each|every) (?:hour|day|night|week|month|year)$", re.IGNORECASE)
"""Says of what time an amount is."""
_AUXILIARY = re.compile(r"\b(?:do|does|did|can|could|will|would|should|must)\s+$", re.IGNORECASE)
"""Before a name a verb follows it: "when did Ann start?"."""
_APART = re.compile(r"[?？!！。;；]|\.\s")


def _of_one_clause(question: str, terms: Sequence[Term]) -> Sequence[Term]:
    """The terms up to the end of the first question; of Chinese those up to the first word that is none of them."""
    for n, (one, following) in enumerate(pairwise(terms), 1):
        gap = question[one.end : following.start]
        is_apart = starts_cjk(one.token) and starts_cjk(following.token) and gap
        if is_apart or _APART.search(gap):
            return terms[:n]
    return terms


def _with_subject(
    query: str,
    pronoun: re.Match[str] | None,
    before: Turn,
    names: Names,
    is_kind: KindOf,
    days: Sequence[DatedText],
) -> CompletedQuestion:
    """The question about the thing of the conversation."""
    is_time = pronoun is not None and (pronoun["kind"] or "").casefold() in _TIMES
    thing = None if is_time else _thing(query, pronoun, before, names, is_kind, days)
    carried = {"question": before.question}
    text = query
    is_answer = thing is not None and thing not in before.question
    if is_answer:
        days = ()  # a note of the last answer is not of the day that was asked about
        carried = {}
    # A question for a reason needs all of the one before.
    leans_on_note = pronoun is None and not days and not REASON.search(query)
    if thing is not None and leans_on_note and (is_answer or _is_only_note(thing, before, names)):
        join = " " if starts_cjk(query) else ": "
        return CompletedQuestion(f"{thing}{join}{_OPENING.sub('', query)}", {"thing": thing})
    if thing is not None and pronoun is not None:
        carried["thing"] = thing
        possessive = pronoun["possessive"] or pronoun["of"]
        written = f"{thing}{'的' if pronoun['of'] else chr(39) + 's'}" if possessive else thing
        text = f"{query[: pronoun.start()]}{written}{query[pronoun.end() :]}"
    if days:
        carried["days"] = before.question[days[0].start : days[0].end]
        is_han = re.search(r"[\u4e00-\u9fff]", text)
        text = f"{carried['days']} {text}" if is_han else f"{text.rstrip('?？ ')} ({carried['days']})?"
    return CompletedQuestion(text, carried)


_TIMES = frozenset("day night morning evening weekend week month year time".split())
"""Nouns behind "that" which point to a time, and to no note."""


def _is_only_note(thing: str, before: Turn, names: Names) -> bool:
    """Whether the question before names this note and no other."""
    return {title for title, _ in names(before.question)} == {thing}


def _thing(
    query: str,
    pronoun: re.Match[str] | None,
    before: Turn,
    names: Names,
    is_kind: KindOf,
    days: Sequence[DatedText],
) -> str | None:
    """What the question is about: a note of the kind that it points to, named in the last answer; the person of the last
    answer; else the thing of the last question."""
    answered = [title for title, _ in names(before.answer)]
    asks_for_notes = asks_many(before.question) or extreme(before.question.casefold())
    if asks_for_notes and len(set(answered)) == 1:
        return answered[0]
    if pronoun is not None and pronoun["kind"]:
        of_kind = [title for title in answered if is_kind(title, pronoun["kind"])]
        if of_kind:
            return of_kind[0]
    asks_who = "person" in Question.of(before.question).wants
    if pronoun is not None and asks_who and _PERSON.search(pronoun.group()) and answered:
        new = [title for title in answered if title not in before.question]
        return (new or answered)[-1]
    subject = _subject(before.question, names, days)
    return subject[0] if subject is not None and any(map(str.isalpha, subject[0])) else None


def _days(question: str, today: date) -> list[DatedText]:
    return [
        one for one in read_spans(question, today=today) if one.yearless is None and one.precision != "year"
    ]


def _states_time(query: str, today: date) -> bool:
    return bool(read_spans(query, today=today))


def _shift_days(query: str, question: str, days: Sequence[DatedText]) -> CompletedQuestion | None:
    """The earlier question about the day, week … after or before."""
    shift = _DAY_SHIFT.search(query)
    if shift is None or len(days) != 1 or days[0].span.start is None:
        return None
    back = (shift["way"] or shift["next"] or shift["han"] or "").casefold() in (
        "before",
        "previous",
        "前一天",
    )
    step = {"week": 7, "month": 30, "year": 365}.get((shift["word"] or "day").casefold(), 1)
    day = days[0].span.start + timedelta(days=-step if back else step)
    written = day.isoformat()
    if _lacks_year(question, days[0]):  # the year is that of the notes
        is_han = starts_cjk(question[days[0].end - 1])
        written = f"{day.month}月{day.day}日" if is_han else f"on {day.day} {day:%B}"
    text = f"{question[: days[0].start]}{written}{question[days[0].end :]}"
    return CompletedQuestion(text, {"attribute": question, "days": written})
