"""Questions about all mistakes, and the notes that record one."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.domain import OWN_NOTE, Chunk
from agentic_rag.domain.notes import Field, Note
from agentic_rag.nodes.answer import answer
from agentic_rag.nodes.mistakes import asks_for_all, mistake_quotes
from agentic_rag.nodes.request import Request, normalise
from agentic_rag.notes.catalogue import Snapshot
from agentic_rag.settings.parameters import Parameters
from agentic_rag.testing import prepared_state

WRONG = "> [!failure] I wrote\n> Bacteria and yeasts, it is called so.\n\n> [!success] Correct\n> An enzyme of the leaf.\n"


def request(query: str, **keys: Any) -> Request:
    return normalise({"query": query, "operation": "auto", **keys}, Parameters())  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    "query",
    [
        "what are my weak points?", "my mistakes", "What mistakes did I make?", "where am I weak?", "List all of my errors",
        "我有哪些薄弱点？", "我的错误", "列出我所有的错题", "我有哪些弱点", "我犯过什么错误？", "Group my mistakes by topic",
        "What do I usually get wrong?", "我老是在哪里出错？", "我答错的题目", "我最容易错的地方",
    ],
)  # fmt: skip
def test_a_question_about_all_mistakes(query: str) -> None:
    assert asks_for_all(request(query))


@pytest.mark.parametrize(
    "query",
    ["Which mistakes did I make about dark tea?", "我在黑茶上犯了哪些错误？", "What is a mistake in go?", "what is oolong?", "我的错误信息", "错误代码 502", "我记错了黑茶的年代"],
)  # fmt: skip
def test_a_question_about_some_or_about_something_else(query: str) -> None:
    assert not asks_for_all(request(query))


class Notes:
    """A dataset of notes in memory."""

    def __init__(self, *texts: tuple[Note, str]) -> None:
        self._texts = texts

    async def snapshot(self, dataset: str, *, own_notes: bool = False) -> Snapshot:
        return Snapshot.of(note for note, _ in self._texts)

    async def documents(self, dataset: str, ids: Any) -> dict[str, list[Chunk]]:
        return {
            note.document_id: [
                Chunk(f"{note.path}#0", note.path, text, 0, len(text), 0, note.title, note.path, "text")
            ]
            for note, text in self._texts
            if note.document_id in ids
        }


def note(path: str, *, tags: tuple[str, ...] = (), **fields: Any) -> Note:
    stated = tuple(Field(key.replace("_", "-"), value, 0, 0) for key, value in fields.items())
    return Note(path, path, path.rpartition("/")[2].removesuffix(".md"), tags=tags, fields=stated)


NOTES = Notes(
    (note("mistakes/Bacteria.md"), WRONG),
    (note("quiz/2.md", tags=("错题",), tags_=None), WRONG),
    (note("a.md", **{OWN_NOTE: "mistake"}), "**Question.** Why is it dark?\n\n" + WRONG),
    (note("people/Su.md", tags=("错题",)), "Every miss gets a note, tagged #错题."),
    (note("tea.md"), "Oolong comes from Fujian."),
)


async def listed(query: str, notes: Notes = NOTES, **keys: Any) -> list[str]:
    found = await mistake_quotes(request(query, **keys), catalogue=notes, engine=notes)  # type: ignore[arg-type]
    return [str(quote.result["metadata"]["path"]) for quote in found]


async def test_every_note_that_records_a_mistake_is_listed() -> None:
    assert await listed("my mistakes") == ["a.md", "mistakes/Bacteria.md", "quiz/2.md"]
    assert await listed("my mistakes", filters={"folder": "quiz"}) == ["quiz/2.md"]


async def _answer(query: str, notes: Notes) -> dict[str, Any]:
    state = {
        **prepared_state(query=query, operation="weak_point_clustering"),
        "reranked_results": [],
        "quality": {"decision": "abstain"},
    }

    async def mistakes(asked: Request) -> Any:
        return await mistake_quotes(asked, catalogue=notes, engine=notes)  # type: ignore[arg-type]

    return await answer(state, mistakes=mistakes)  # type: ignore[typeddict-item]


async def test_the_answer_cites_each_of_them() -> None:
    written = await _answer("我有哪些薄弱点？", NOTES)
    assert not written["abstained"]
    assert [one["path"] for one in written["citations"]] == ["a.md", "mistakes/Bacteria.md", "quiz/2.md"]
    assert written["answer"].count("✗ Bacteria and yeasts, it is called so.") == 3


@pytest.mark.parametrize(
    ("query", "said"), [("我的错误", "没有笔记记录过错误。"), ("my mistakes", "No note records a mistake.")]
)
async def test_without_any_the_answer_says_so(query: str, said: str) -> None:
    written = await _answer(query, Notes((note("tea.md"), "Oolong comes from Fujian.")))
    assert (written["answer"], written["abstained"]) == (said, True)
