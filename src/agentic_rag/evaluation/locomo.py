"""Evaluation, the questions: LoCoMo's questions with their evidence repaired, from the published JSON.

Source: Maharana et al., Evaluating Very Long-Term Conversational Memory of LLM Agents, ACL 2024.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agentic_rag.errors import InputError
from agentic_rag.identity import chunk_id

CATEGORIES: Mapping[int, str] = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
_SESSION = re.compile(r"session_(\d+)")
_TURN = re.compile(r"D:?0*(\d+):0*(\d+)")


@dataclass(frozen=True, slots=True)
class Repair:
    """Something that a file says and that could not be taken as it stood."""

    query_id: str
    written: str
    """As the file has it."""
    read: tuple[str, ...]
    """What it was taken for; empty where it was dropped."""
    note: str


@dataclass(frozen=True, slots=True)
class LoCoMoQuestion:
    """A question on one conversation."""

    id: str
    """``<conversation>/q<n>``, n from 1 in the file's order."""
    conversation: str
    text: str
    category: str
    evidence: tuple[str, ...]
    """Chunk ids of turns, each once, in the order written."""
    answerable: bool
    answer: str | None
    """As text; None where the file has none."""


def read_locomo(data: Any, where: str = "LoCoMo") -> tuple[tuple[LoCoMoQuestion, ...], tuple[Repair, ...]]:
    """Questions of every conversation, and each repair.

    Evidence is looked up among the conversation's turns. Several ids in one string are taken apart, a
    colon too many and leading zeros are removed; what still names no turn is dropped. Each such step,
    and each answerable question left without evidence, is reported.

    Args:
        data: the parsed file: a list of conversations, or one of them.
        where: named in errors.

    Raises:
        InputError: it is no LoCoMo data.
    """
    samples = [data] if isinstance(data, Mapping) else data
    if not isinstance(samples, list) or not samples:
        raise InputError(f"{where}: expected a list of LoCoMo conversations, not {type(data).__name__}")
    questions: list[LoCoMoQuestion] = []
    repairs: list[Repair] = []
    seen: set[str] = set()
    for sample in samples:
        name, turns = _conversation(sample, where)
        if name in seen:
            raise InputError(f"{where}: conversation {name!r} comes a second time")
        seen.add(name)
        for number, item in enumerate(sample["qa"], start=1):
            question, mended = _question(item, f"{name}/q{number}", name, turns, where)
            questions.append(question)
            repairs += mended
    return tuple(questions), tuple(repairs)


def _conversation(sample: Any, where: str) -> tuple[str, dict[str, str]]:
    """Name of a conversation, and its turns: ``dia_id`` to chunk id."""
    if not isinstance(sample, Mapping):
        raise InputError(f"{where}: a conversation is an object, not {sample!r:.80}")
    name, conversation, qa = sample.get("sample_id"), sample.get("conversation"), sample.get("qa")
    if not isinstance(name, str) or not isinstance(conversation, Mapping) or not isinstance(qa, list):
        raise InputError(
            f"{where}: a conversation needs sample_id, conversation and qa; this has {list(sample)}"
        )
    turns: dict[str, str] = {}
    for key, session in conversation.items():
        if _SESSION.fullmatch(key) and isinstance(session, list):
            for turn in session:
                if not isinstance(turn, Mapping) or "dia_id" not in turn:
                    raise InputError(f"{where}: a turn of {name}/{key} has no dia_id: {turn!r:.80}")
                turns.setdefault(str(turn["dia_id"]), chunk_id(f"{name}/{key}", str(turn["dia_id"])))
    return name, turns


def _question(
    item: Any, identity: str, conversation: str, turns: Mapping[str, str], where: str
) -> tuple[LoCoMoQuestion, list[Repair]]:
    if not isinstance(item, Mapping) or item.get("category") not in CATEGORIES or "question" not in item:
        raise InputError(f"{where}: {identity} needs a question and a category from 1 to 5: {item!r:.120}")
    answerable = item["category"] != 5
    written = item.get("evidence")
    evidence: dict[str, None] = {}
    repairs: list[Repair] = []
    for entry in [written] if isinstance(written, str) else written or ():
        found, note = _evidence(str(entry), turns)
        evidence.update(dict.fromkeys(found))
        if note is not None:
            repairs.append(Repair(identity, str(entry), found, note))
    if answerable and not evidence:
        repairs.append(Repair(identity, "", (), "no evidence: left out of ranking measures"))
    answer = item.get("answer")
    question = LoCoMoQuestion(
        id=identity,
        conversation=conversation,
        text=str(item["question"]),
        category=CATEGORIES[item["category"]],
        evidence=tuple(evidence),
        answerable=answerable,
        answer=None if answer is None else str(answer),
    )
    return question, repairs


def _evidence(entry: str, turns: Mapping[str, str]) -> tuple[tuple[str, ...], str | None]:
    """Chunk ids that an evidence string names, and what was done to it (None: nothing)."""
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
    """One readable line a repair."""
    return [
        f"{repair.query_id}: {repair.written!r} → {', '.join(repair.read) or '-'} ({repair.note})"
        for repair in repairs
    ]
