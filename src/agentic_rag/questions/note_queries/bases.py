"""Which of Obsidian's bases a question names: ``Books.base``, the base “Reading list”, 《Books》这个base."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from agentic_rag.domain.filters import And, Comparison, Expression, Not, Or
from agentic_rag.notes.bases import Base, BaseView, select
from agentic_rag.notes.catalogue import Snapshot
from agentic_rag.questions.generic_words import BASE_FRAME_HAN, BASE_WORDS
from agentic_rag.questions.note_queries.choosing import choose
from agentic_rag.questions.note_queries.query import Query, Selection
from agentic_rag.questions.words import Place, Words

_QUOTE, _UNQUOTE = r"[\"'“‘«「『《]", r"[\"'”’»」』》]"
_OPEN, _CLOSE = r"[\"'“‘«「『《\[]*", r"[\"'”’»」』》\]]*"
_LINK = "[]/|#"
_LATIN = "[A-Za-z0-9_]"
_BASE = rf"(?<!{_LATIN})(?<!data )(?<!knowledge )base(?!{_LATIN})"
_BEFORE = _BASE + r"(?:\s+(?:called|named|of))?[\s:：]*(?P<name>{name})"
_AFTER = r"(?P<name>{name})(?:\s*(?:这个|那个|的)\s*|(?:['’]s)?\s+|\s*)" + _BASE
_VIEW = (
    _QUOTE + r"{name}" + _UNQUOTE + r"(?:\s*(?:view|视图))?",
    rf"(?<!{_LATIN})" + r"{name}\s*(?:view|视图)",
    rf"(?:view|视图)\s*(?:called|named)?\s*{_QUOTE}?" + r"{name}" + rf"(?!{_LATIN}){_UNQUOTE}?",
    rf"(?<!{_LATIN})" + r"{name}(?=\s+(?:of|in|from)\s+(?:the\s+|my\s+)?$)",
    r"^\W*[›>/,:，：]\s*{name}" + rf"(?!{_LATIN})",
)
"""How a view is named, in what is before or after the base."""


class NamedBase(NamedTuple):
    """A base that a question names, and the view of it that is meant."""

    base: Base
    view: BaseView
    span: Place
    """Of the base with its quotes and the word "base"."""


class BaseSelection(NamedTuple):
    """The notes of a base, and what the question is read as."""

    selection: Selection
    reading: str
    """``base Books › To read: notes tagged #book; without: this.file``."""


ReadQuery = Callable[[str], Awaitable[Query | None]]
"""The query that a question states, as ``reading.read_query`` gives it."""


def named_base(question: str, bases: Mapping[str, Base]) -> NamedBase | None:
    """The base that a question names, with the view that it names too, else the first.

    A name counts with its suffix, beside the word "base", or after one of its views. Beside that word without quotes,
    in other case than the file's, it must end the question, which asks for nothing else: in "which base games do I own?"
    no base is named.

    Args:
        question: in English or Chinese.
        bases: by name, case folded.
    """
    text = question.casefold()
    near = [base for base in bases.values() if base.name.casefold() in text]
    for base in sorted(near, key=lambda base: (-len(base.name), base.path)):
        for span, is_sure in _mentions(question, base):
            ends = re.search(_LATIN, question[span.end :]) is None
            if is_sure or (ends and not _rest(question, base, span)):
                return NamedBase(base, _view(question, base, span), span)
    return None


async def shown_by_base(
    question: str, snapshot: Snapshot, now: datetime, read_query: ReadQuery
) -> BaseSelection | None:
    """The notes of the base that a question names; None where it names none.

    The rest of the question narrows them where it is a query to notes; else the reading says that it does not count.

    Args:
        question: in English or Chinese.
        snapshot: of the dataset, with the notes that may be shown.
        now: for filters that refer to the present; local time without zone.
        read_query: reads the rest of the question.
    """
    named = named_base(question, snapshot.bases)
    if named is None:
        return None
    view = _as_of(named, now)
    rest = _rest(question, named.base, named.span)
    narrowing = await read_query(_without(question, named)) if rest else None
    if narrowing is not None and not _narrows(narrowing):
        narrowing = None
    plain = Query("notes", "base") if narrowing is None else narrowing
    chosen = choose(
        replace(plain, shown_keys=(*plain.shown_keys, *view.columns)),
        select(snapshot.notes, view),
        snapshot.facts,
    )
    query = replace(plain, ask="base" if plain.order is None else plain.ask, shown_keys=view.columns)
    query = query if view.filters is None else query.narrow(view.filters)
    ignored = rest if narrowing is None else []
    return BaseSelection(replace(chosen, query=query), _reading(named.base, view, narrowing, ignored))


def _as_of(named_base: NamedBase, now: datetime) -> BaseView:
    """The view with filters that refer to the present."""
    return named_base.base.at(now).views[named_base.base.views.index(named_base.view)]


def _narrows(query: Query) -> bool:
    return query.target == "notes" and bool(query.conditions or query.order) and not query.residual


def _reading(base: Base, view: BaseView, narrowing: Query | None, ignored_filters: Sequence[str]) -> str:
    conditions = () if view.filters is None else (_in_short(view.filters),)
    words = f"base {base.name} › {view.name}: {Query(conditions=conditions).text()}"
    if narrowing is not None:
        words += f"; of these {narrowing.text()}"
    without = [*view.unsupported_filters, *([" ".join(ignored_filters)] if ignored_filters else [])]
    return f"{words}; without: {'; '.join(without)}" if without else words


def _in_short(condition: Expression) -> Expression:
    """A condition for people: the ways of writing one link are one condition."""
    match condition:
        case And(parts):
            return And(tuple(map(_in_short, parts)))
        case Not(part):
            return Not(_in_short(part))
        case Or((Comparison(key, "$contains", str(first)), *_) as parts):
            name = first.strip(_LINK)
            same = all(
                isinstance(one, Comparison) and one.key == key and str(one.value).strip(_LINK) == name
                for one in parts
            )
            return Comparison(key, "$contains", name) if same else condition
        case Or(parts):
            return Or(tuple(map(_in_short, parts)))
    return condition


def _mentions(question: str, base: Base) -> Iterator[tuple[Place, bool]]:
    """Places where a base is named, and whether it can be nothing else."""
    name = re.escape(base.name)
    plain = rf"(?<!{_LATIN}){name}(?!{_LATIN})"
    views = "|".join(re.escape(view.name) for view in base.views)
    sure = (
        rf"{_OPEN}(?<!{_LATIN}){name}\.base(?!{_LATIN})(?:#(?:{views}))?{_CLOSE}",
        rf"(?<=[\"'”’»」』》])(?:\s*view)?\s+(?:of|in|from)\s+(?:the\s+|my\s+)?(?P<name>{plain})",
    )
    for match in re.finditer(sure[0], question, re.IGNORECASE):
        yield Place(*match.span()), True
    for match in re.finditer(sure[1], question, re.IGNORECASE):
        span = Place(*match.span("name"))
        if _view_span(question, base, span) is not None:
            yield span, True
    for core, is_quoted in ((rf"{_QUOTE}{name}{_UNQUOTE}", True), (plain, False)):
        for pattern in (_BEFORE, _AFTER):
            for match in re.finditer(pattern.format(name=core), question, re.IGNORECASE):
                is_spelt = base.name in match["name"] and not base.name.islower()
                yield Place(*match.span()), is_quoted or is_spelt


def _view(question: str, base: Base, span: Place) -> BaseView:
    """The view that is named, the longest name first; else the first view."""
    place = _view_span(question, base, span)
    return base.views[0] if place is None else place[0]


def _view_span(question: str, base: Base, span: Place) -> tuple[BaseView, Place] | None:
    """The view that is named beside a base, and where: in quotes, beside the word "view", before "of" and the base, or
    after ``#``."""
    for view in sorted(base.views, key=lambda view: -len(view.name)):
        name = re.escape(view.name)
        inside = re.search(rf"#{name}(?=\W*$)", question[span.start : span.end], re.IGNORECASE)
        if inside is not None:
            return view, Place(span.start + inside.start(), span.start + inside.end())
        for text, offset in ((question[: span.start], 0), (question[span.end :], span.end)):
            for pattern in _VIEW:
                match = re.search(pattern.format(name=name), text, re.IGNORECASE)
                if match is not None:
                    return view, Place(offset + match.start(), offset + match.end())
    return None


def _rest(question: str, base: Base, span: Place) -> list[str]:
    """The words of the question that name neither the base nor its view, and are more than a frame."""
    place = _view_span(question, base, span)
    spans = [span] if place is None else [span, place[1]]
    return [
        word.text
        for word in Words.of(question).words
        if not BASE_WORDS & {word.text, word.stem}
        and not BASE_FRAME_HAN.match(word.text)
        and not any(Place(word.start, word.end).overlaps(one) for one in spans)
    ]


def _without(question: str, named_base: NamedBase) -> str:
    """The question with "notes" for the base and nothing for its view, as a query is read from it."""
    place = _view_span(question, named_base.base, named_base.span)
    spans = [(named_base.span, "notes")]
    if place is not None and not place[1].overlaps(named_base.span):
        spans.append((place[1], ""))
    for span, put in sorted(spans, key=lambda pair: -pair[0].start):
        question = f"{question[: span.start]}{put}{question[span.end :]}"
    return question
