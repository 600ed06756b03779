"""Evaluation, the answers: judges an answer to a vault's owner by rules, on its text and its citations.

A set is a file with one conversation per line, or a folder of such files:

    {"id": "ex-004", "vault": "example", "lang": "en", "kind": "table", "turns": [
      {"ask": "What did the roast cost?", "must": [["620"]], "notes": ["places/Garden.md"]},
      {"ask": "And in 2026?", "refuse": true}]}

The fields of a turn are those of ``Turn``; a turn expects ``must``, ``ordered`` or ``refuse``, or is ``unjudged``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from agentic_rag.errors import InputError
from agentic_rag_lab.evaluation.files import read_jsonl, text_of
from agentic_rag_lab.evaluation.statistics import Interval, bootstrap_interval

Verdict = Literal["right", "partly", "wrong", "refused"]
VERDICTS: tuple[Verdict, ...] = ("right", "partly", "wrong", "refused")
FOLLOW_UP = "follow-up"
"""Kind of every turn but a conversation's first."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of a conversation, and the answer it should get."""

    ask: str
    must: tuple[tuple[str, ...], ...] = ()
    """Groups of alternatives: the text contains one of each group."""
    ordered: tuple[str, ...] = ()
    """Steps: the text contains them in this order."""
    must_not: tuple[str, ...] = ()
    """Texts that make the answer wrong: another note's value, an item that does not belong to the list."""
    notes: tuple[str, ...] = ()
    """Paths of the notes that may be cited; one that ends in "/" is a folder. Empty: any note."""
    refuse: bool = False
    """The vault does not contain the answer, and the right answer says so."""
    unjudged: bool = False
    """The turn only prepares the next one."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Questions that are asked one after the other, each with the earlier ones and their answers."""

    id: str
    """Unique in its set."""
    vault: str
    lang: str
    """Language of the questions."""
    kind: str
    """What the first turn asks for: ``fact``, ``list``, ``unanswerable``, …"""
    turns: tuple[Turn, ...]
    """At least one."""

    def kind_of(self, number: int) -> str:
        """Kind of a turn, counted from 1: the conversation's for the first, ``follow-up`` for the others."""
        return self.kind if number == 1 else FOLLOW_UP


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one answer.

    ``right``: it contains all that is expected and nothing unwanted, and the first citation and at least half of all
    are of the expected notes; or a refusal is expected and given. ``partly``: at least half of what is expected and
    nothing unwanted. ``refused``: a refusal where an answer is expected. ``wrong``: everything else.
    """

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    """Why it is not right, in words; empty if it is right."""


def judge(turn: Turn, text: str, is_abstention: bool, paths: Sequence[str]) -> Judgement:
    """The verdict on an answer.

    Args:
        turn: the expectation.
        text: the answer, with or without Markdown and ``[n]`` marks.
        is_abstention: whether the answer is a refusal.
        paths: path of the note of each citation, in order; a note counts as often as it is cited.

    Raises:
        InputError: the turn expects nothing.
    """
    if turn.refuse:
        return Judgement("right") if is_abstention else Judgement("wrong", ("answers what the notes lack",))
    wanted = len(turn.must) + len(turn.ordered)
    if not wanted:
        raise InputError(f"{turn.ask!r} expects nothing; judge only turns with must, ordered or refuse")
    if is_abstention:
        return Judgement("refused", ("refuses what the notes contain",))
    answer = comparable(text)
    missing = [group[0] for group in turn.must if not any(contains(answer, one) for one in group)]
    steps = steps_in_order(answer, turn.ordered)
    unwanted = [one for one in turn.must_not if contains(answer, one)]
    astray = _astray(turn.notes, paths)
    reasons = [
        f"lacks {', '.join(missing)}" if missing else "",
        f"has {steps} of {len(turn.ordered)} steps in order" if steps < len(turn.ordered) else "",
        f"contains {', '.join(unwanted)}" if unwanted else "",
        astray,
    ]
    verdict = _verdict(len(turn.must) - len(missing) + steps, wanted, bool(unwanted), bool(astray))
    return Judgement(verdict, tuple(reason for reason in reasons if reason))


def _verdict(met_count: int, wanted_count: int, has_unwanted: bool, astray: bool) -> Verdict:
    if has_unwanted or 2 * met_count < wanted_count:
        return "wrong"
    return "right" if met_count == wanted_count and not astray else "partly"


def _astray(notes: Sequence[str], paths: Sequence[str]) -> str:
    """What is wrong with the citations; "" if nothing is, also without citations or expected notes."""
    if not notes or not paths:
        return ""
    own = [_is_of(path, notes) for path in paths]
    if not own[0]:
        return "cites another note first"
    return "cites mostly other notes" if 2 * sum(own) < len(own) else ""


def _is_of(path: str, notes: Sequence[str]) -> bool:
    """Whether a path is one of the notes, or in one of the folders."""
    path, names = _nfc(path), [_nfc(note) for note in notes]
    return path in names or path.startswith(tuple(name for name in names if name.endswith("/")))


def _nfc(path: str) -> str:
    return unicodedata.normalize("NFC", path)


_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_MARKUP = re.compile(r"\[\d+\](?!\()|[*_`=\[\]]")
"""Marks of citations (but not links on a number), and signs of emphasis, code, fields and links."""


def comparable(text: str) -> str:
    """A text in the form in which texts are compared: NFKC, case-folded, without separators of thousands, marks of
    citations and markup, with single spaces.

    >>> comparable("**Price**:  1,299 yuan [1]")
    'price: 1299 yuan'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_MARKUP.sub("", _THOUSANDS.sub("", folded)).split())


def contains(answer: str, text: str) -> bool:
    """Whether a ``comparable`` answer contains a text, written in any form, on its own.

    A number is not part of a longer number or of a word, nor what follows a decimal point; a word in Latin script is
    not part of a longer word.

    >>> contains("15 km in 5.2 hours", "5"), contains("a freeze", "free"), contains("in 5 hours.", "5")
    (False, False, True)
    """
    return _end(answer, comparable(text), 0) is not None


def steps_in_order(answer: str, steps: Sequence[str]) -> int:
    """Number of steps in the longest sequence of them that a ``comparable`` answer contains in their order,
    each on its own as in ``contains``, without overlap.

    >>> steps_in_order("wash, then slice, then fry", ["slice", "wash", "fry"])
    2
    """
    ends = [0]  # ends[n]: the earliest place at which n steps in order can end
    for step in map(comparable, steps):
        for count in range(len(ends), 0, -1):  # downwards, so that a step counts once
            end = _end(answer, step, ends[count - 1])
            if end is None:
                continue
            if count == len(ends):
                ends.append(end)
            else:
                ends[count] = min(end, ends[count])
    return len(ends) - 1


def _end(answer: str, expected_text: str, start: int) -> int | None:
    """End of the first occurrence of ``expected`` on its own from ``start``, both comparable; None without one."""
    match = _alone(expected_text).search(answer, start)
    return None if match is None else match.end()


def _alone(expected_text: str) -> re.Pattern[str]:
    """Bounds depend on the first and the last character; beside a sign or a Han character anything may stand."""
    before = r"(?<![a-z0-9_.])" if re.match(r"\d", expected_text) else ""
    after = r"(?!\d|[.,]\d)" if re.search(r"\d\Z", expected_text) else ""
    if re.match("[a-z]", expected_text):
        before = "(?<![a-z0-9])"
    if re.search(r"[a-z]\Z", expected_text):
        after = "(?![a-z0-9])"
    return re.compile(before + re.escape(expected_text) + after)


def read_conversations(path: str | Path) -> tuple[Conversation, ...]:
    """The conversations of a file, or of the ``.jsonl`` files of a folder in the order of their names.

    Raises:
        InputError: a file cannot be read, a folder has none, or a line is no valid conversation; names file and line.
    """
    place = Path(path)
    files = sorted(place.glob("*.jsonl")) if place.is_dir() else [place]
    if not files:
        raise InputError(f"{place} contains no .jsonl file; name a file or folder with conversations")
    conversations: list[Conversation] = []
    lines: dict[str, str] = {}
    for file in files:
        for where, record in read_jsonl(file):
            conversation = _conversation(record, where)
            if earlier := lines.get(conversation.id):
                raise InputError(
                    f"{where}: id {conversation.id!r} is that of {earlier} too; give each its own"
                )
            lines[conversation.id] = where
            conversations.append(conversation)
    return tuple(conversations)


def _conversation(record: Mapping[str, Any], where: str) -> Conversation:
    name, vault, lang, kind = (text_of(record, key, where) for key in ("id", "vault", "lang", "kind"))
    turns = record.get("turns")
    if not isinstance(turns, list) or not turns:
        raise InputError(f"{where}: turns is {turns!r:.80}; give a list of at least one turn")
    own = tuple(_turn(turn, f"{where}: turn {number}") for number, turn in enumerate(turns, start=1))
    return Conversation(name, vault, lang, kind, own)


_FIELDS = tuple(field.name for field in fields(Turn))


def _turn(record: Any, where: str) -> Turn:
    if not isinstance(record, dict):
        raise InputError(f"{where}: expected an object, not {record!r:.80}")
    if unknown := sorted(set(record) - set(_FIELDS)):
        raise InputError(f"{where}: unknown field {unknown[0]!r}; use some of: {', '.join(_FIELDS)}")
    turn = Turn(
        ask=text_of(record, "ask", where),
        must=_groups(record.get("must", []), where),
        ordered=_texts(record.get("ordered", []), "ordered", where),
        must_not=_texts(record.get("must_not", []), "must_not", where),
        notes=_texts(record.get("notes", []), "notes", where),
        refuse=_flag(record, "refuse", where),
        unjudged=_flag(record, "unjudged", where),
    )
    if turn.refuse and (turn.must or turn.ordered):
        raise InputError(
            f"{where}: it is to be refused and to be answered; leave out refuse, or must and ordered"
        )
    if not (turn.unjudged or turn.refuse or turn.must or turn.ordered):
        raise InputError(f"{where}: nothing is expected; give must, ordered, refuse or unjudged")
    return turn


def _groups(value: Any, where: str) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list) or not all(isinstance(group, list) and group for group in value):
        raise InputError(f"{where}: must is {value!r:.80}; give a list of lists of alternatives")
    return tuple(_texts(group, "must", where) for group in value)


def _texts(value: Any, name: str, where: str) -> tuple[str, ...]:
    """Texts with something to compare: not only spaces and markup, which would occur everywhere."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise InputError(f"{where}: {name} is {value!r:.80}; give a list of strings")
    for one in value:
        if not comparable(one):
            raise InputError(f"{where}: {name} has {one!r:.80}; give a text with letters, digits or signs")
    return tuple(value)


def _flag(record: Mapping[str, Any], name: str, where: str) -> bool:
    value = record.get(name, False)
    if not isinstance(value, bool):
        raise InputError(f"{where}: {name} is {value!r:.80}; give true or false")
    return value


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """The verdict on a system's answer to one turn, with what figures are grouped by."""

    conversation: str
    number: int
    """The turn in its conversation, from 1."""
    vault: str
    lang: str
    kind: str
    """See ``Conversation.kind_of``."""
    refuse: bool
    """Whether a refusal is expected."""
    verdict: Verdict
    citations: int

    @property
    def right(self) -> float:
        return float(self.verdict == "right")


@dataclass(frozen=True, slots=True)
class AnswerFigures:
    """Figures of a group of answers."""

    turns: int
    right: Interval
    """Share that is right, with its 95 % bootstrap interval over turns."""
    points: float
    """Share that is right, and half of the share that is partly."""


def answer_figures(answers: Sequence[JudgedAnswer]) -> AnswerFigures:
    """The figures of some answers.

    Raises:
        InputError: no answers.
    """
    right = bootstrap_interval([answer.right for answer in answers])
    partly = sum(answer.verdict == "partly" for answer in answers)
    return AnswerFigures(len(answers), right, right.value + partly / 2 / len(answers))


def figures_by(
    by: Literal["kind", "vault", "lang"], answers: Sequence[JudgedAnswer]
) -> dict[str, AnswerFigures]:
    """Figures by kind, vault or language, in the order of the names."""
    groups: dict[str, list[JudgedAnswer]] = {}
    for answer in answers:
        groups.setdefault(getattr(answer, by), []).append(answer)
    return {name: answer_figures(groups[name]) for name in sorted(groups)}


def citations_where_right(answers: Sequence[JudgedAnswer], without: Collection[str] = ()) -> float | None:
    """Mean number of citations of right answers that cite, except for the kinds ``without``; None if there is none."""
    counts = [
        answer.citations
        for answer in answers
        if answer.right and answer.citations and answer.kind not in without
    ]
    return sum(counts) / len(counts) if counts else None
