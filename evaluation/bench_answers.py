"""Answers to the questions of vaults' owners, judged by rules, beside a plain chain over the same chunks.

    python evaluation/bench_answers.py [--quick] [--data DIR] [--sets DIR] [--vaults DIR] [--keep DIR]
        [--show VERDICT] [--json FILE]
    python evaluation/bench_answers.py --share [--quick] [--only SET,…] [--data DIR] [--keep DIR] [--json FILE]

Every turn of the conversations in ``DATA/answers`` (form and rules: ``agentic_rag_lab.evaluation.answers``) is put to
``ask`` with the defaults, the bundled model and no chat model, and to the peer (``plain_chain.py``) right after it;
later turns get the earlier ones. The vaults are folders of ``DATA/vaults``; ``example`` is this project's. Parameters
may be chosen on the vaults CHOOSING, never on REPORTING.

The rules do not see noise: a passage shown whole is right if all that is expected is somewhere in it. So the length
of the answers is among the rows.

``--share`` asks the questions of judged sets instead (of those marked * the half that chose no parameter): how many
answers have quotes that contain the set's short answer?

Needs data that are not part of this project (DIR, by default ../shared/data). Exits 1 when a floor is missed, 2
without the data.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from langchain_core.messages import AIMessage, HumanMessage

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag_lab.evaluation.answers import (
    FOLLOW_UP,
    VERDICTS,
    AnswerFigures,
    Conversation,
    JudgedAnswer,
    answer_figures,
    citations_where_right,
    figures_by,
    judge,
    read_conversations,
)
from agentic_rag_lab.evaluation.systems import NO_CLOCK
from figures import DATA, EXAMPLE, Row, data_folder, options, report, row, share
from judged_answers import answers_contained
from judged_sets import CACHE, KeptEmbedding
from plain_chain import Chain, plain_chain

CHOOSING = ("dataview-example", "kepano-obsidian")
REPORTING = ("example", "howtocook-half", "obsidian-help-en")
QUICK = ("example", "kepano-obsidian")
PEER = "plain chain"

SELECTING = ("condition", "count", "tag", "task", "list")
"""Kinds that ask for all lines or notes with something in common."""
LENGTHY = (*SELECTING, "compare", "howto")
"""Kinds whose right answers have many citations."""
FLOOR, VAULT_FLOOR = 0.65, 0.50
KIND_FLOORS = {FOLLOW_UP: 0.60, "howto": 0.60}
GROUPS = {SELECTING: 0.60, ("time", "property"): 0.75}
"""Kinds that are too small for floors of their own, with the floor of all their turns."""
MIN_REFUSED, MAX_REFUSED, MAX_CITATIONS = 0.75, 0.04, 2.5
"""Share of the unanswerable turns that are refused, of the answerable ones; mean citations of a right answer."""


@dataclass(frozen=True, slots=True)
class ShareSet:
    """A judged set with short answers to its questions."""

    path: str
    """Path below the data folder."""
    half: str | None = None
    """The reported half, if the other one chose parameters."""


SHARES = {
    "hotpot_train100*": ShareSet("beir/multihop/hotpot_train100", "second"),
    "rgb/zh_fact*": ShareSet("beir/rgb/zh_fact", "second"),
    "rgb/en_fact*": ShareSet("beir/rgb/en_fact", "second"),
    "cmrc2018/trial": ShareSet("beir/cmrc2018/trial"),
    "timeqa_human/train*": ShareSet("beir/timeqa_human/train", "second"),
}
QUICK_SHARES, QUICK_QUESTIONS = ("hotpot_train100*", "cmrc2018/trial"), 40


@dataclass(frozen=True, slots=True)
class Answered:
    """One turn with the verdicts on both systems, and the number of characters of both texts, 0 for a refusal."""

    ours: JudgedAnswer
    theirs: JudgedAnswer
    length: int
    their_length: int


async def answers_of(
    conversations: Sequence[Conversation], vaults: Mapping[str, Path], folder: Path, show: str | None
) -> list[Answered]:
    """Both systems' answers to every judged turn, vault by vault.

    Args:
        conversations: those of ``vaults``.
        vaults: the folder of each vault, ingested unless ``folder`` has it.
        folder: the data folder.
        show: verdict of the answers that are printed, or ``all``; None: none.
    """
    answers: list[Answered] = []
    async with open_rag(RagConfig(data_dir=folder), embedding=KeptEmbedding(CACHE)) as rag:
        for vault, source in vaults.items():
            if vault not in await rag.ledger.datasets():
                print(f"ingesting {vault} …", file=sys.stderr)
                await rag.ingest(source, dataset=vault)
            chain = await plain_chain(rag, vault)
            for conversation in conversations:
                if conversation.vault == vault:
                    answers += await conversed(rag, chain, conversation, show)
    return answers


async def conversed(rag: Rag, chain: Chain, conversation: Conversation, show: str | None) -> list[Answered]:
    """Both systems' answers to one conversation's judged turns."""
    messages: list[Any] = []
    answers: list[Answered] = []
    for number, turn in enumerate(conversation.turns, start=1):
        ours = await rag.ask(
            turn.ask, dataset=conversation.vault, messages=list(messages), parameters=NO_CLOCK
        )
        passage = await chain.ainvoke([earlier.ask for earlier in conversation.turns[:number]])
        messages += [HumanMessage(turn.ask), AIMessage(ours.text)]
        if turn.unjudged:
            continue
        judgement = judge(turn, ours.text, ours.abstained, [str(one["path"]) for one in ours.citations])
        theirs = judge(turn, passage.text, False, [passage.path]) if passage else judge(turn, "", True, [])
        record = JudgedAnswer(
            conversation.id,
            number,
            conversation.vault,
            conversation.lang,
            conversation.kind_of(number),
            turn.refuse,
            judgement.verdict,
            len(ours.citations),
        )
        if show in (judgement.verdict, "all"):
            reasons = "; ".join(judgement.reasons)
            print(f"\n{conversation.id}.{number} [{record.kind}] {turn.ask}")
            print(f"  {judgement.verdict}: {reasons}\n  " + ours.text.replace("\n", "\n  "))
        answers.append(
            Answered(
                record,
                replace(record, verdict=theirs.verdict, citations=int(passage is not None)),
                0 if ours.abstained else len(ours.text),
                len(passage.text) if passage else 0,
            )
        )
    return answers


def rows_of(answers: Sequence[Answered]) -> list[Row]:
    """Right answers: all, of groups of vaults, by vault, kind and language, of groups of kinds; then ``form_rows``."""
    rows = group_row("all", answers, FLOOR)
    rows += group_row("vaults that report", [one for one in answers if one.ours.vault in REPORTING])
    rows += group_row("vaults that choose", [one for one in answers if one.ours.vault in CHOOSING])
    rows += rows_by("vault", answers, dict.fromkeys((*CHOOSING, *REPORTING), VAULT_FLOOR))
    rows += rows_by("kind", answers, KIND_FLOORS)
    for kinds, floor in GROUPS.items():
        rows += group_row(
            f"kinds {', '.join(kinds)}", [one for one in answers if one.ours.kind in kinds], floor
        )
    return rows + rows_by("lang", answers, {}) + form_rows(answers)


def group_row(what: str, answers: Sequence[Answered], floor: float | None = None) -> list[Row]:
    """The row of a group; no row if it is empty."""
    if not answers:
        return []
    ours, theirs = (
        answer_figures([one.ours for one in answers]),
        answer_figures([one.theirs for one in answers]),
    )
    return [right_row(what, ours, theirs, floor)]


def rows_by(
    by: Literal["kind", "vault", "lang"], answers: Sequence[Answered], floors: Mapping[str, float]
) -> list[Row]:
    """A row for each kind, vault or language."""
    ours = figures_by(by, [one.ours for one in answers])
    theirs = figures_by(by, [one.theirs for one in answers])
    return [
        right_row(f"{by} {name}", figures, theirs[name], floors.get(name)) for name, figures in ours.items()
    ]


def right_row(what: str, ours: AnswerFigures, theirs: AnswerFigures, floor: float | None) -> Row:
    right = ours.right
    return row(
        f"{what}: {ours.turns} turns, right ({right.low:.3f} to {right.high:.3f})",
        "share",
        right.value,
        bound="min",
        floor=floor,
        peer=PEER,
        theirs=theirs.right.value,
    )


def form_rows(answers: Sequence[Answered]) -> list[Row]:
    """Right answers with half of the partly right ones; refusals, citations and length."""
    ours, theirs = [one.ours for one in answers], [one.theirs for one in answers]
    return [
        row("right, and half of partly", "share", answer_figures(ours).points, bound="min",
            peer=PEER, theirs=answer_figures(theirs).points),
        *refused_row("unanswerable turns that are refused", "min", True, answers, MIN_REFUSED),
        *refused_row("answerable turns that are refused", "max", False, answers, MAX_REFUSED),
        row("citations of a right answer where no list is asked for, mean", "citations",
            citations_where_right(ours, LENGTHY), floor=MAX_CITATIONS,
            peer=PEER, theirs=citations_where_right(theirs, LENGTHY)),
        row("length of an answer that is no refusal, mean", "characters", mean([one.length for one in answers]),
            peer=PEER, theirs=mean([one.their_length for one in answers])),
    ]  # fmt: skip


def refused_row(
    what: str, bound: Literal["min", "max"], refuse: bool, answers: Sequence[Answered], floor: float
) -> list[Row]:
    """Share of the turns to be refused (``refuse``), or of the others, that are refused; no row without such turns."""
    verdict = "right" if refuse else "refused"
    own = [one for one in answers if one.ours.refuse == refuse]
    if not own:
        return []
    ours, theirs = ([float(side.verdict == verdict) for side in sides]
                    for sides in ([one.ours for one in own], [one.theirs for one in own]))  # fmt: skip
    return [share(f"{what}, of {len(own)}", bound, ours, theirs, peer=PEER, floor=floor)]


def mean(lengths: Sequence[int]) -> float | None:
    """Mean of the lengths above 0; None without one."""
    shown = [length for length in lengths if length]
    return sum(shown) / len(shown) if shown else None


async def share_rows(name: str, source: Path, half: str | None, folder: Path, limit: int | None) -> list[Row]:
    """Share of a set's questions whose quotes, or whose peer's passage, contain the answer, and their length."""
    async with open_rag(RagConfig(data_dir=folder), embedding=KeptEmbedding(CACHE)) as rag:
        ours, theirs = await answers_contained(rag, source, half, limit)
    what = f"{name}: {len(ours.contained)} questions"
    return [
        share(f"{what}, quotes contain the answer", "min", ours.contained, theirs.contained, peer=PEER),
        row(f"{what}, length of the quotes, mean", "characters", mean(ours.lengths), peer=PEER, theirs=mean(theirs.lengths)),
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__, "two vaults; with --share two sets, 40 questions of each", DATA)
    parser.add_argument(
        "--sets", type=Path, metavar="DIR", help="folder of the conversations; default DATA/answers"
    )
    parser.add_argument(
        "--vaults", type=Path, metavar="DIR", help="folder of the vaults; default DATA/vaults"
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what is ingested there, and use it")
    parser.add_argument("--show", choices=(*VERDICTS, "all"), help="print the answers with this verdict")
    parser.add_argument("--share", action="store_true", help="quotes that contain a judged set's answer")
    parser.add_argument("--only", metavar="SET,…", help=f"with --share: {', '.join(SHARES)}")
    given = parser.parse_args(arguments)
    names = given.only.split(",") if given.only else QUICK_SHARES if given.quick else tuple(SHARES)
    if unknown := [name for name in names if name not in SHARES]:
        parser.error(f"unknown set {unknown[0]!r}; use some of: {', '.join(SHARES)}")
    with data_folder(given.keep) as folder:
        return (shares if given.share else vaults)(given, names, folder)


def shares(given: argparse.Namespace, names: Sequence[str], folder: Path) -> int:
    """``--share``: prints the rows; the exit code."""
    sources = {name: given.data / SHARES[name].path for name in names}
    if absent := [path for path in sources.values() if not path.is_dir()]:
        return missing(absent, "--data")
    limit = QUICK_QUESTIONS if given.quick else None
    rows: list[Row] = []
    for name, source in sources.items():
        rows += asyncio.run(share_rows(name, source, SHARES[name].half, folder, limit))
    return report("quotes that contain the answer", rows, given.json)


def vaults(given: argparse.Namespace, _: Sequence[str], folder: Path) -> int:
    """The conversations: prints the rows; the exit code."""
    sets, parent = given.sets or given.data / "answers", given.vaults or given.data / "vaults"
    if not sets.exists():
        return missing([sets], "--sets")
    conversations = [one for one in read_conversations(sets) if not given.quick or one.vault in QUICK]
    names = dict.fromkeys(one.vault for one in conversations)
    places = {name: EXAMPLE if name == "example" else parent / name for name in names}
    if absent := [path for path in places.values() if not path.is_dir()]:
        return missing(absent, "--vaults")
    answers = asyncio.run(answers_of(conversations, places, folder, given.show))
    return report("answers to vaults' owners", rows_of(answers), given.json)


def missing(paths: Sequence[Path], option: str) -> int:
    listed = ", ".join(map(str, paths))
    print(f"error: no {listed}; name the folder that has it with {option} DIR", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
