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
class Said:
    """A piece of the answer without its citation marks, and the cited numbers."""

    text: str
    cited: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its answers."""

    asks: str
    answers: list[Said] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Cluster:
    """A shared theme, and the members with their text."""

    theme: str
    members: list[Said] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Arrow:
    """``source —name→ target``."""

    source: str
    name: str
    target: str


@dataclass(frozen=True, slots=True)
class Related:
    """Arrows, and the sentence that states them; either may be missing."""

    arrows: tuple[Arrow, ...]
    sentence: Said


def questions(answer: str, known: Sequence[int]) -> list[Question]:
    """Questions of a verification board; a line in no known form continues the line before it."""
    found: list[Question] = []
    for line in _lines(answer):
        asked, given = _QUESTION.fullmatch(line), _ANSWER.fullmatch(line)
        if given and found:
            found[-1].answers.append(_said(given["text"], known))
        elif asked:
            found.append(Question(_said(asked["text"], known).text))
        elif found and found[-1].answers:
            last = found[-1].answers.pop()
            more = _said(line, known)
            found[-1].answers.append(Said(f"{last.text}\n{more.text}", (*last.cited, *more.cited)))
    return [one for one in found if one.answers]


def clusters(answer: str, known: Sequence[int]) -> list[Cluster]:
    """Clusters of weak points: a theme, then its members."""
    found: list[Cluster] = []
    for line in _lines(answer):
        member = _MEMBER.fullmatch(line)
        if member and found:
            found[-1].members.append(_said(member["text"], known))
        elif not member:
            found.append(Cluster(_COUNT.sub("", _EMPHASIS.sub("", line.strip()))))
    return [one for one in found if one.members]


def relations(answer: str, known: Sequence[int]) -> list[Related]:
    """Relations between concepts, one per line."""
    return [_related(_said(line, known)) for line in _lines(answer)]


def _related(said: Said) -> Related:
    arrows: list[Arrow] = []
    rest = _LIST.sub("", said.text)
    while found := _ARROW.match(rest):
        # Further arrows follow a semicolon, the sentence follows a colon.
        target, mark, after = _until(found["target"], rest[found.end() :])
        arrows.append(Arrow(found["source"].strip(), found["name"].strip(), target.strip()))
        rest = after.lstrip() if mark else ""
    return Related(tuple(arrows), Said(rest.strip(), said.cited))


def _until(target: str, after: str) -> tuple[str, str, str]:
    """A target up to the first ``; `` or ``: ``, that separator, and the rest."""
    mark = re.search(r"[;；:：](?=\s)", target)
    if mark is None:
        return target, "", after
    return target[: mark.start()], mark.group(), target[mark.end() :] + after


def passages(answer: str, known: Sequence[int]) -> list[Said]:
    """Passages, one per line."""
    return [_said(_LIST.sub("", line.strip()), known) for line in _lines(answer)]


def _lines(answer: str) -> list[str]:
    return [line for line in answer.splitlines() if line.strip()]


def _said(text: str, known: Sequence[int]) -> Said:
    return Said(only_known(text, ()).strip(), tuple(cited_numbers(text, known)))
