"""Evaluation, the questions of LoCoMo: from the published JSON, with repaired evidence and optional corrections.

Corrections are an overlay file:
{"conv-26/q3": {"evidence": ["D1:3"], "answer": "2022", "category": "temporal"},
 "conv-30/q7": {"drop": "the dialogue says two different things"}}

Source: Maharana et al., Evaluating Very Long-Term Conversational Memory of LLM Agents, ACL 2024.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentic_rag.domain.identity import chunk_id
from agentic_rag.errors import InputError
from agentic_rag_lab.evaluation.files import read_json

CATEGORIES: Mapping[int, str] = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
_ADVERSARIAL = 5
_SESSION = re.compile(r"session_(\d{1,6})")
_DATE = re.compile(r"(session_\d{1,6})_date_time")
_TURN = re.compile(r"D:?0*(\d+):0*(\d+)")


@dataclass(frozen=True, slots=True)
class Repair:
    """A change to invalid data of a file."""

    query_id: str
    """The question; or the conversation or file, if the repair is not about one question."""
    original_text: str
    """The text in the file."""
    interpretation: tuple[str, ...]
    """The interpretation; empty if it was dropped."""
    note: str


@dataclass(frozen=True, slots=True)
class LoCoMoQuestion:
    """A question about one conversation."""

    id: str
    """``<conversation>/q<n>``, n from 1 in the file's order."""
    conversation: str
    text: str
    category: str
    evidence: tuple[str, ...]
    """Chunk ids of turns, each once, in the order of the file."""
    answerable: bool
    answer: str | None
    """As text; None if the file has none."""


@dataclass(frozen=True, slots=True)
class LoCoMoFile:
    """All questions of a file, the turns of their conversations, and each repair."""

    questions: tuple[LoCoMoQuestion, ...]
    sessions: Mapping[str, tuple[tuple[str, ...], ...]]
    """By conversation: chunk ids of each session's turns, in order."""
    repairs: tuple[Repair, ...]


def read_locomo(
    data: Any, where: str = "LoCoMo", corrections: Mapping[str, Correction] | None = None
) -> LoCoMoFile:
    """The questions of all conversations.

    Evidence is looked up among the conversation's turns. Several ids in one string are separated, surplus colons
    and leading zeros are removed; ids without a turn are dropped. Each such repair is reported, and each
    correction, each question without text, each answer that is no text, each answerable question left without
    evidence, each date without a session.

    Args:
        data: the parsed file: a list of conversations, or one of them.
        where: location for errors.
        corrections: by question id; applied before anything is repaired.

    Raises:
        InputError: the data are not LoCoMo, or a correction names no question or no turn of the file.
    """
    samples = [data] if isinstance(data, Mapping) else data
    if not isinstance(samples, list) or not samples:
        given = "an empty list" if samples == [] else type(data).__name__
        raise InputError(f"{where}: expected a list of LoCoMo conversations, not {given}")
    corrections = corrections or {}
    questions: dict[str, LoCoMoQuestion | None] = {}
    sessions: dict[str, tuple[tuple[str, ...], ...]] = {}
    repairs: list[Repair] = []
    for sample in samples:
        name, turns, told = _conversation(sample, where)
        if name in sessions:
            raise InputError(f"{where}: conversation {name!r} comes a second time")
        sessions[name] = tuple(tuple(session.values()) for session in turns)
        repairs += told
        known = {turn: chunk for session in reversed(turns) for turn, chunk in session.items()}
        unanswered = 0
        for number, item in enumerate(sample["qa"], start=1):
            identity = f"{name}/q{number}"
            question, mended = _question(item, identity, name, known, where, corrections.get(identity))
            questions[identity] = question
            repairs += mended
            unanswered += question is not None and not question.answerable and question.answer is None
        if unanswered:
            note = f"{unanswered} adversarial questions have no answer: judged by abstention"
            repairs.append(Repair(name, "", (), note))
    unknown = sorted(corrections.keys() - questions.keys())
    if unknown:
        raise InputError(
            f"{where}: there are corrections for questions it does not have: {', '.join(unknown)}"
        )
    kept = tuple(question for question in questions.values() if question is not None)
    return LoCoMoFile(kept, sessions, tuple(repairs))


def _conversation(sample: Any, where: str) -> tuple[str, list[dict[str, str]], list[Repair]]:
    """Name of a conversation; from ``dia_id`` to chunk id for each session; the repairs."""
    if not isinstance(sample, Mapping):
        raise InputError(f"{where}: a conversation is an object, not {sample!r:.80}")
    name, conversation, qa = sample.get("sample_id"), sample.get("conversation"), sample.get("qa")
    if not isinstance(name, str) or not isinstance(conversation, Mapping) or not isinstance(qa, list):
        raise InputError(
            f"{where}: a conversation needs sample_id, conversation and qa; this has {list(sample)}"
        )
    numbered = {int(match[1]): key for key in conversation if (match := _SESSION.fullmatch(key)) is not None}
    sessions: list[dict[str, str]] = []
    repairs = [
        Repair(name, key, (), "a date without a session: left out")
        for key in conversation
        if (match := _DATE.fullmatch(key)) is not None and not conversation.get(match[1])
    ]
    seen: set[str] = set()
    for number in sorted(numbered):
        session, turns = conversation[numbered[number]], {}
        for turn in session if isinstance(session, list) else ():
            if not isinstance(turn, Mapping) or "dia_id" not in turn:
                raise InputError(f"{where}: a turn of {name}/{numbered[number]} has no dia_id: {turn!r:.80}")
            identity = str(turn["dia_id"])
            if identity in seen:
                repairs.append(
                    Repair(name, identity, (), "this turn's id comes a second time: the first counts")
                )
            else:
                seen.add(identity)
                turns[identity] = chunk_id(f"{name}/session_{number}", identity)
        sessions.append(turns)
    return name, sessions, repairs


def _question(
    item: Any,
    identity: str,
    conversation: str,
    turns: Mapping[str, str],
    where: str,
    correction: Correction | None,
) -> tuple[LoCoMoQuestion | None, list[Repair]]:
    """The question, None if it has no text or a correction drops it; and the repairs."""
    if not isinstance(item, Mapping) or item.get("category") not in CATEGORIES or "question" not in item:
        raise InputError(f"{where}: {identity} needs a question and a category from 1 to 5: {item!r:.120}")
    if correction is not None and correction.drop is not None:
        return None, [Repair(identity, "", (), f"dropped by a correction: {correction.drop}")]
    text = "" if item["question"] is None else str(item["question"])
    if not text.strip():
        return None, [Repair(identity, "", (), "no text: left out")]
    item, repairs = (item, []) if correction is None else _correct(item, identity, turns, where, correction)
    answerable = item["category"] != _ADVERSARIAL
    written = item.get("evidence")
    evidence: dict[str, None] = {}
    for entry in written if isinstance(written, list) else () if written is None else (written,):
        found, note = _evidence(str(entry), turns)
        evidence.update(dict.fromkeys(found))
        if note is not None:
            repairs.append(Repair(identity, str(entry), found, note))
    if answerable and not evidence:
        repairs.append(Repair(identity, "", (), "no evidence: left out of ranking measures"))
    answer = item.get("answer")
    if answer is not None and not isinstance(answer, str):
        repairs.append(Repair(identity, str(answer), (str(answer),), "the answer is no text: taken as one"))
    question = LoCoMoQuestion(
        id=identity,
        conversation=conversation,
        text=text,
        category=CATEGORIES[item["category"]],
        evidence=tuple(evidence),
        answerable=answerable,
        answer=None if answer is None else str(answer),
    )
    return question, repairs


def _correct(
    item: Mapping[str, Any], identity: str, turns: Mapping[str, str], where: str, correction: Correction
) -> tuple[Mapping[str, Any], list[Repair]]:
    """The corrected question, and a repair for each field of the correction."""
    missing = [turn for turn in correction.evidence or () if turn not in turns]
    if missing:
        raise InputError(f"{where}: the correction of {identity} names no turn: {', '.join(missing)}")
    given: dict[str, Any] = {}
    if correction.category is not None:
        given["category"] = correction.category
    if correction.evidence is not None:
        given["evidence"] = list(correction.evidence)
    if correction.answer is not None:
        given["answer"] = correction.answer
    repairs = [
        Repair(identity, str(item.get(name)), (str(value),), f"{name} put right by a correction")
        for name, value in given.items()
    ]
    return {**item, **given}, repairs


def _evidence(entry: str, turns: Mapping[str, str]) -> tuple[tuple[str, ...], str | None]:
    """Chunk ids in an evidence string, and a description of its repair (None: no repair)."""
    if entry in turns:
        return (turns[entry],), None
    named = [f"D{session}:{turn}" for session, turn in _TURN.findall(entry)]
    if not named:
        return (), "names no turn: dropped"
    found = tuple(turns[name] for name in named if name in turns)
    missing = [name for name in named if name not in turns]
    if missing:
        return found, f"no such turn in the conversation: {', '.join(missing)} dropped"
    return found, "several ids in one string: taken apart" if len(named) > 1 else "mistyped id: mended"


def repair_lines(repairs: Iterable[Repair]) -> list[str]:
    """One readable line per repair."""
    return [
        f"{repair.query_id}: "
        + (
            f"{repair.original_text!r} → {', '.join(repair.interpretation) or '-'} ({repair.note})"
            if repair.original_text
            else repair.note
        )
        for repair in repairs
    ]


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction of one question; None leaves a field unchanged."""

    answer: str | None = None
    evidence: tuple[str, ...] | None = None
    """Turns (``D1:3``) of the question's conversation."""
    category: int | None = None
    drop: str | None = None
    """Reason for leaving out the question."""


def read_corrections(path: Path) -> dict[str, Correction]:
    """The corrections in a file, by question id; a category is given by number or name.

    Raises:
        InputError: the file cannot be read, or an entry has another form; the message names it.
    """
    data = read_json(path)
    if not isinstance(data, Mapping):
        raise InputError(f"{path}: expected an object of question id to correction")
    return {identity: _correction(entry, f"{path}: {identity}") for identity, entry in data.items()}


def _correction(entry: Any, where: str) -> Correction:
    if not isinstance(entry, Mapping) or not entry or not entry.keys() <= _FIELDS.keys():
        raise InputError(f"{where}: give some of {', '.join(_FIELDS)}, not {entry!r:.120}")
    read: dict[str, Any] = {}
    for name, value in entry.items():
        taken, hint = _FIELDS[name]
        read[name] = taken(value)
        if read[name] is None:
            raise InputError(f"{where}: {name} is {value!r:.80}; {hint}")
    return Correction(**read)


def _answer(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None


def _turns(value: Any) -> tuple[str, ...] | None:
    named = isinstance(value, list) and all(isinstance(turn, str) and turn for turn in value)
    return tuple(value) if named and value else None


def _category(value: Any) -> int | None:
    given = [n for n, name in CATEGORIES.items() if value == name or (type(value) is int and value == n)]
    return given[0] if given else None


def _reason(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


_CATEGORY_NAMES = ", ".join(f"{name} ({number})" for number, name in CATEGORIES.items())
_FIELDS: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    "answer": (_answer, "give a text or a number"),
    "evidence": (_turns, "give a list of turns such as D1:3"),
    "category": (_category, f"use one of: {_CATEGORY_NAMES}"),
    "drop": (_reason, "give the reason"),
}
"""Fields of a correction: conversion (None: invalid), and a description of valid values."""
