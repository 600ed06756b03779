"""Quality of answers: whether they quote or contain the answer, and whether questions outside the documents are
refused."""

from __future__ import annotations

import json
import random
import re
import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.domain.ports import Embedding
from agentic_rag.ingest.files.discovery import discover
from agentic_rag.state import CallerKeys, OperationName
from agentic_rag.text import script
from agentic_rag_lab.evaluation.answers import comparable, contains
from agentic_rag_lab.evaluation.datasets import EvalDataset, EvalQuery, load_dataset
from agentic_rag_lab.evaluation.systems import NO_CLOCK
from figures import OWN
from judged_sets import gibberish
from plain_chain import plain_chain

EVERYDAY = OWN / "everyday.json"
"""Questions on subjects other than tea, pottery and the stars; those under ``choosing`` chose a parameter."""

FEW, TOGETHER = 15, 5
"""Number of notes in a small vault, and of questions on it."""
MAX_NAME = 30
"""Maximum characters of a name; longer ones are linked sentences."""
_LANGUAGE = re.compile(r"^lang: (zh|en)$", re.MULTILINE)
"""A property of the notes of this project's vaults."""
_NO_THING = re.compile(r"^#|/|[0-9]{4}")
"""Names of tags, paths and days."""


class Answers(NamedTuple):
    """1 or 0 for each question of one set, or for other questions on this set's documents."""

    quoting: list[float]
    """For answerable questions: 1 if the answer, in its operation's shape, quotes a judged sentence, a part of it or a
    longer text around it; 0 if not, or without an answer."""
    refused: list[float]
    """For the same questions: 1 if refused."""
    foreign_refused: list[float]
    """For the other sets' questions: 1 if refused."""
    everyday_refused: list[float]
    """For everyday questions (``datasets/everyday.json``, the reported ones): 1 if refused."""
    nonsense_answered: list[float]
    """For gibberish (see ``judged_sets.gibberish``): 1 if answered."""


async def answers(rag: Rag, path: Path, others: Sequence[Path], limit: int | None = None) -> Answers:
    """The answers of a set with judged sentences to its own questions, the ``others``' questions, everyday
    questions and gibberish."""
    queries = load_dataset(path).ranked_queries[:limit]
    states = await _asked(rag, path, queries)
    quoting = []
    for query, state in zip(queries, states, strict=True):
        judged = {_plain(quote["quote"]) for quote in query.fields["quotes"]}
        quoting.append(float(any(_says(_plain(one["quote"]), judged) for one in state["citations"])))
    foreign = await _asked(
        rag, path, [query for other in others for query in load_dataset(other).queries[:limit]]
    )
    everyday = await _asked(
        rag, path, _plain_queries(json.loads(EVERYDAY.read_text("utf-8"))["reported"][:limit])
    )
    nonsense = await _asked(rag, path, _plain_queries(gibberish([query.text for query in queries])[:limit]))
    return Answers(
        quoting,
        _abstained(states),
        _abstained(foreign),
        _abstained(everyday),
        [1.0 - value for value in _abstained(nonsense)],
    )


class Contained(NamedTuple):
    """For each question of one set, what one system shows."""

    contained: list[float]
    """1 if the short answer is in it."""
    lengths: list[int]
    """Its characters, 0 for a refusal."""

    def add(self, text: str, expected: Expected) -> None:
        shown = comparable(text)
        self.contained.append(float(all(any(contains(shown, one) for one in group) for group in expected)))
        self.lengths.append(len(text))


async def answers_contained(
    rag: Rag, path: Path, half: str | None, limit: int | None
) -> tuple[Contained, Contained]:
    """What ``ask`` quotes, and what the plain chain shows, for the questions of a set with short answers.

    Questions to be answered by yes or no are left out: the documents contain neither. ``half``, ``limit``: see
    ``EvalDataset.select``.
    """
    loaded = await _ingested(rag, path)
    chain = await plain_chain(rag, loaded.name)
    ours, theirs = Contained([], []), Contained([], [])
    for query in loaded.select(half=half, limit=limit).ranked_queries:
        if not (expected := expected_answer(query.fields)):
            continue
        answer = await rag.ask(query.text, dataset=loaded.name, parameters=NO_CLOCK)
        passage = await chain.ainvoke([query.text])
        ours.add("\n".join(citation["quote"] for citation in answer.citations), expected)
        theirs.add(passage.text if passage else "", expected)
    return ours, theirs


Expected = list[list[str]]
"""Groups of alternatives; one of each group is expected."""
_YES_OR_NO = frozenset({"yes", "no"})


def expected_answer(fields: Mapping[str, Any]) -> Expected:
    """The short answer in a query's fields: ``answer`` with ``answer_aliases``, or ``answers``, which is one text, a
    list of alternatives, or a list of lists of them; empty for yes, no and nothing.

    >>> expected_answer({"answers": ["4 minutes", "four minutes"]})
    [['4 minutes', 'four minutes']]
    """
    given = fields.get("answers", [fields.get("answer"), *(fields.get("answer_aliases") or [])])
    alternatives = [given] if isinstance(given, str) else given
    groups = alternatives if all(isinstance(one, list) for one in alternatives) else [alternatives]
    texts = [[str(one) for one in group if one and comparable(str(one))] for group in groups]
    return [group for group in texts if group and not _YES_OR_NO.intersection(map(str.casefold, group))]


async def refused_of_few(path: Path, embedding: Embedding, limit: int | None = None) -> list[float]:
    """1 if refused, for the questions of a vault, each asked of a part of it: groups of TOGETHER questions get their
    judged notes and random others, FEW notes in all."""
    loaded, dice, refused = load_dataset(path), random.Random(7), []
    notes = sorted(item.path for item in discover([loaded.source]).items)
    queries = loaded.ranked_queries[:limit]
    for start in range(0, len(queries), TOGETHER):
        asked = queries[start : start + TOGETHER]
        part = sorted({note for query in asked for note in query.relevant})
        part += dice.sample([note for note in notes if note not in part], max(0, FEW - len(part)))
        with tempfile.TemporaryDirectory() as temporary:
            _copied(loaded.source, part, Path(temporary, "vault"))
            async with open_rag(RagConfig(data_dir=Path(temporary, "data")), embedding=embedding) as rag:
                await rag.ingest(Path(temporary, "vault"), dataset=loaded.name)
                refused += _abstained(await _answered(rag, loaded.name, asked))
    return refused


class Across(NamedTuple):
    """1 if refused, for questions asked of notes that are all in the other language."""

    own: list[float]
    """For questions whose best judged note is among them."""
    everyday: list[float]
    """For everyday questions."""


async def refused_across(path: Path, embedding: Embedding, limit: int | None = None) -> Across:
    """Asks a vault's notes of each language, separately, its questions in the other language."""
    loaded, everyday = load_dataset(path), json.loads(EVERYDAY.read_text("utf-8"))["reported"]
    across = Across([], [])
    texts = {
        item.path: (loaded.source / item.path).read_text("utf-8") for item in discover([loaded.source]).items
    }
    for written, asked_in in (("zh", "latin"), ("en", "cjk")):
        held = [note for note, text in texts.items() if _LANGUAGE.findall(text)[:1] == [written]]
        own = [
            query
            for query in loaded.ranked_queries
            if script(query.text) == asked_in
            and any(note in held and grade > 1 for note, grade in query.relevant.items())
        ]
        plain = _plain_queries([text for text in everyday if script(text) == asked_in])
        with tempfile.TemporaryDirectory() as temporary:
            _copied(loaded.source, held, Path(temporary, "vault"))
            async with open_rag(RagConfig(data_dir=Path(temporary, "data")), embedding=embedding) as rag:
                await rag.ingest(Path(temporary, "vault"), dataset=loaded.name)
                across.own.extend(_abstained(await _answered(rag, loaded.name, own[:limit])))
                across.everyday.extend(_abstained(await _answered(rag, loaded.name, plain[:limit])))
    return across


async def refused_of_mentioned(rag: Rag, path: Path, limit: int | None = None) -> list[float]:
    """1 if refused, for a plain question on each thing that notes mention without being about it: "What is Venice?",
    什么是麦森?"""
    loaded = await _ingested(rag, path)
    links = await rag.knowledge.links(loaded.name)
    if links is None:
        return []
    names = {links.names[number] for number in links.mentioned_entities.tolist()} - set(links.titles)
    asked = [
        f"什么是{name}?" if script(name) == "cjk" else f"What is {name}?"
        for name in sorted(names)
        if not _NO_THING.search(name) and len(name) <= MAX_NAME
    ]
    return _abstained(await _answered(rag, loaded.name, _plain_queries(asked[:limit])))


def _copied(source: Path, notes: Sequence[str], folder: Path) -> None:
    """Copy notes into a new vault."""
    for note in notes:
        to = folder / note
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / note, to)


def _plain_queries(texts: Sequence[str]) -> list[EvalQuery]:
    return [EvalQuery(f"asked-{number}", text, {}) for number, text in enumerate(texts)]


def _abstained(states: Sequence[dict[str, Any]]) -> list[float]:
    return [float(state["abstained"]) for state in states]


async def _asked(rag: Rag, path: Path, queries: Sequence[EvalQuery]) -> list[dict[str, Any]]:
    return await _answered(rag, (await _ingested(rag, path)).name, queries)


async def _ingested(rag: Rag, path: Path) -> EvalDataset:
    loaded = load_dataset(path)
    await rag.ingest(loaded.source, dataset=loaded.name, kind=loaded.kind)
    return loaded


async def _answered(rag: Rag, dataset: str, queries: Sequence[EvalQuery]) -> list[dict[str, Any]]:
    states = []
    for query in queries:
        asked: CallerKeys = {"query": query.text, "dataset": dataset}
        if query.operation:
            asked["operation"] = cast(OperationName, query.operation)
        states.append(dict(await rag.graph.ainvoke(asked, context=NO_CLOCK)))
    return states


def _says(quote: str, judged: Collection[str]) -> bool:
    return bool(quote) and any(quote in sentence or sentence in quote for sentence in judged)


def _plain(text: str) -> str:
    """The text with single spaces, because a sentence may span several lines of a note."""
    return " ".join(text.split())
