"""Parses the text of an answer: questions with answers, clusters, relations, passages.

Each operation's answer has a fixed form, written by the extractive shapes and requested from a chat model. So a board
can be drawn from the text of any answer, also from saved JSON.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from agentic_rag.answering.citations import cited_numbers, only_known

_QUESTION = re.compile(r"\s*\**\d{1,3}[.)、．]\**\s*(?P<text>\S.*)")
_ANSWER = re.compile(r"\s*(?:→|->|⇒)\s*(?P<text>\S.*)")
_MEMBER = re.compile(r"\s*[-*•]\s+(?P<text>\S.*)")
_COUNT = re.compile(r"\s*[(（]\d+[)）]\s*[:：]?\s*\Z")
_EMPHASIS = re.compile(r"\A#+\s+|\*\*")
_ARROW = re.compile(r"(?P<source>[^—→\n]+?) —(?P<name>[^→\n]*?)→ (?P<target>[^—→\n]+)")
_LIST = re.compile(r"\A[-*•]\s+")


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """A piece of the answer without its citation marks, and the cited numbers."""

    text: str
    citation_numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its answers."""

    asks: str
    answers: list[AnswerSpan] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Cluster:
    """A shared theme, and the members with their text."""

    theme: str
    members: list[AnswerSpan] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Arrow:
    """``source —name→ target``."""

    source: str
    name: str
    target: str


@dataclass(frozen=True, slots=True)
class RelationPart:
    """Arrows, and the sentence that states them; either may be missing."""

    arrows: tuple[Arrow, ...]
    sentence: AnswerSpan


def questions(answer: str, known_numbers: Sequence[int]) -> list[Question]:
    """Questions of a verification board; a line in no known form continues the line before it."""
    found: list[Question] = []
    for line in _lines(answer):
        asked, given = _QUESTION.fullmatch(line), _ANSWER.fullmatch(line)
        if given and found:
            found[-1].answers.append(_span(given["text"], known_numbers))
        elif asked:
            found.append(Question(_span(asked["text"], known_numbers).text))
        elif found and found[-1].answers:
            last = found[-1].answers.pop()
            more = _span(line, known_numbers)
            found[-1].answers.append(
                AnswerSpan(f"{last.text}\n{more.text}", (*last.citation_numbers, *more.citation_numbers))
            )
    return [one for one in found if one.answers]


def clusters(answer: str, known_numbers: Sequence[int]) -> list[Cluster]:
    """Clusters of weak points: a theme, then its members."""
    found: list[Cluster] = []
    for line in _lines(answer):
        member = _MEMBER.fullmatch(line)
        if member and found:
            found[-1].members.append(_span(member["text"], known_numbers))
        elif not member:
            found.append(Cluster(_COUNT.sub("", _EMPHASIS.sub("", line.strip()))))
    return [one for one in found if one.members]


def relations(answer: str, known_numbers: Sequence[int]) -> list[RelationPart]:
    """Relations between concepts, one per line."""
    return [_relation_part(_span(line, known_numbers)) for line in _lines(answer)]


def _relation_part(span: AnswerSpan) -> RelationPart:
    arrows: list[Arrow] = []
    rest = _LIST.sub("", span.text)
    while found := _ARROW.match(rest):
        # Further arrows follow a semicolon, the sentence follows a colon.
        target, mark, after = _until(found["target"], rest[found.end() :])
        arrows.append(Arrow(found["source"].strip(), found["name"].strip(), target.strip()))
        rest = after.lstrip() if mark else ""
    return RelationPart(tuple(arrows), AnswerSpan(rest.strip(), span.citation_numbers))


def _until(target: str, after: str) -> tuple[str, str, str]:
    """A target up to the first ``; `` or ``: ``, that separator, and the rest."""
    mark = re.search(r"[;；:：](?=\s)", target)
    if mark is None:
        return target, "", after
    return target[: mark.start()], mark.group(), target[mark.end() :] + after


def passages(answer: str, known_numbers: Sequence[int]) -> list[AnswerSpan]:
    """Passages, one per line."""
    return [_span(_LIST.sub("", line.strip()), known_numbers) for line in _lines(answer)]


def _lines(answer: str) -> list[str]:
    return [line for line in answer.splitlines() if line.strip()]


def _span(text: str, known_numbers: Sequence[int]) -> AnswerSpan:
    return AnswerSpan(only_known(text, ()).strip(), tuple(cited_numbers(text, known_numbers)))
