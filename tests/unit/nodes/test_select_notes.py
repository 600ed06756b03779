"""The node that reads questions about many notes: everything at once, a base, and other questions."""

from __future__ import annotations

from typing import Any

from agentic_rag.domain.filters import Comparison, as_dict
from agentic_rag.domain.notes import Field, Note
from agentic_rag.ingest.base_files import parse_base
from agentic_rag.nodes.select_notes import select_notes
from agentic_rag.notes.catalogue import Snapshot, note_of
from agentic_rag.testing import HashingEmbedding

SOURCE = "filters: rating > 4\nviews:\n  - name: Good\n"


def note(path: str, rating: int) -> Note:
    title = path.removesuffix(".md")
    return Note(path, path, title, fields=(Field("rating", rating, 0, 9),), opening=(10, 20))


class Held:
    """A catalogue of one snapshot."""

    async def snapshot(self, dataset: str) -> Snapshot:
        base = note_of(parse_base("Rated.base", "Rated.base", SOURCE))
        return Snapshot.of([note("Dune.md", 5), note("Emma.md", 3), base])


async def selected(question: str, **others: Any) -> dict[str, Any]:
    state: Any = {"query": question, "dataset": "d", "parameters": {}, **others}
    found = await select_notes(state, catalogue=Held(), embedding=HashingEmbedding())
    return dict(found["selection"])


async def test_everything() -> None:
    found = await selected("What are my notes about?")
    assert (found["status"], found["query"]["ask"], found["count"]) == ("ok", "overview", 2)
    assert [entry["title"] for entry in found["entries"]] == ["Dune", "Emma"]


async def test_everything_that_a_filter_passes() -> None:
    passing = as_dict(Comparison("rating", "$gt", 4))
    found = await selected("What are my notes about?", filters=passing)
    assert (found["status"], found["overview"]["notes"]) == ("ok", 1)
    found = await selected("What are my notes about?", filters=as_dict(Comparison("rating", "$gt", 9)))
    assert (found["status"], found["nearest"], found["reading"]) == ("none", None, "an overview of all notes")


async def test_a_base() -> None:
    found = await selected("what is in Rated.base?")
    assert (found["status"], found["query"]["ask"]) == ("ok", "base")
    assert [entry["title"] for entry in found["entries"]] == ["Dune"]
    assert found["reading"] == "base Rated › Good: notes with rating > 4"


async def test_a_base_without_notes() -> None:
    found = await selected("what is in Rated.base?", filters=as_dict(Comparison("rating", "$lt", 4)))
    assert (found["status"], found["entries"], found["nearest"]) == ("none", [], None)


async def test_other_questions() -> None:
    assert (await selected("what is the main idea of Dune"))["status"] == "empty"
    assert (await selected("which notes have a rating above 4?"))["query"]["ask"] == "list"
