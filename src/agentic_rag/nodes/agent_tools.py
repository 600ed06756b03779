"""What the agent of agentic mode may call: search, selections of notes, facts around a thing, and whole notes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from langchain_core.tools import BaseTool, StructuredTool

from agentic_rag.domain.filters import as_dict
from agentic_rag.domain.notes import Note
from agentic_rag.domain.results import AnswerLine, Passage
from agentic_rag.nodes.request import Request
from agentic_rag.retrieval.ports import GraphSearch, NoteCatalogue, SourceQuery, VectorSearch
from agentic_rag.retrieval.schemas import chunk_passage
from agentic_rag.state import CanvasRAGState

PASSAGES = 5
"""Passages that one call gives at most, of ``read`` thrice as many."""


class Flow(Protocol):
    """The main graph as far as a question without agentic mode runs it."""

    async def ainvoke(self, state: Any, *, context: Any) -> Any:
        """The final state."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a call found: a line for the model, and the passages that it may cite."""

    passages: Sequence[Passage]
    note: str = ""


@dataclass(frozen=True, slots=True)
class AgentTools:
    """The tools, over the parts of the graph.

    Args:
        flow: the main graph without agentic mode.
        graphiti, lancedb, catalogue: see ``GraphParts``.
    """

    flow: Flow
    graphiti: GraphSearch
    lancedb: VectorSearch
    catalogue: NoteCatalogue | None

    def of(self, request: Request) -> dict[str, Callable[[str], Awaitable[Finding]]]:
        """Each tool by name, for the dataset, filters and date of a request; they take one text.

        They raise ``StoreError``, ``ModelError`` or ``AllSourcesFailed`` where what is behind them failed.
        """

        async def search(question: str) -> Finding:
            """Search the notes. Give a whole question or the words that the answer will have."""
            return Finding((await self._flow(question, request))["reranked_results"][:PASSAGES])

        async def select_notes(question: str) -> Finding:
            """List or count notes by what they state: their properties, tags, folders, dates and tasks, like 'which shows
            did I rate 5?'"""
            return _selection_finding(await self._flow(question, request))

        async def related(name: str) -> Finding:
            """Facts of the knowledge graph around a person, a place, a thing or a note."""
            query = SourceQuery(request.dataset, name, filters=request.filters, as_of=request.as_of)
            found = await self.graphiti.find(query, PASSAGES)
            return Finding(found.hits)

        tools: dict[str, Callable[[str], Awaitable[Finding]]] = {
            "search": search,
            "select_notes": select_notes,
            "related": related,
        }
        catalogue = self.catalogue
        if catalogue is None:
            return tools

        async def read(note: str) -> Finding:
            """A note from its beginning, by its title or path."""
            return await self._read(note, request.dataset, catalogue)

        return {**tools, "read": read}

    async def _flow(self, question: str, request: Request) -> Any:
        parameters = request.parameters.model_dump(mode="json")
        # 0: nothing is weak, so nothing is rewritten; the model words its questions itself.
        parameters["answer"] |= {"method": "extractive", "abstain_below": 0}
        parameters["rewrite"] |= {"method": "expansion"}
        asked = {
            "query": question,
            "operation": "document_retrieval",
            "dataset": request.dataset,
            "filters": None if request.filters is None else as_dict(request.filters),
            "as_of": None if request.as_of is None else request.as_of.isoformat(),
            "top_k": PASSAGES,
            "user_id": request.user_id,
        }
        return await self.flow.ainvoke(asked, context=parameters)

    async def _read(self, name: str, dataset: str, catalogue: NoteCatalogue) -> Finding:
        notes = (await catalogue.snapshot(dataset)).notes
        note = note_named(name, notes)
        if note is None:
            return Finding((), f"there is no note {name!r}; search for it")
        stored = await self.lancedb.documents(dataset, [note.document_id])
        chunks = stored.get(note.document_id, [])[: 3 * PASSAGES]
        return Finding(list(map(chunk_passage, chunks)))


def schemas(names: Mapping[str, Callable[[str], Awaitable[Finding]]]) -> list[BaseTool]:
    """The tools as a chat model is told them."""
    return [StructuredTool.from_function(coroutine=tool, name=name) for name, tool in names.items()]


def note_named(name: str, notes: Sequence[Note]) -> Note | None:
    """The note with this path, file name, title or alias, whatever the case; the first of them in this order."""
    wanted = name.strip().strip("[]").casefold()
    keys: tuple[Callable[[Note], Sequence[str]], ...] = (
        lambda note: (note.path, note.path.rpartition(".")[0]),
        lambda note: (note.path.rpartition("/")[2],),
        lambda note: (note.title,),
        lambda note: note.aliases,
    )
    return next(
        (note for key in keys for note in notes if wanted in (one.casefold() for one in key(note))), None
    )


def _selection_finding(state: CanvasRAGState) -> Finding:
    selection = state["selection"]
    if selection.get("status") not in ("ok", "none"):
        return Finding((), "that reads as no question about properties of notes; use search")
    lines = [_as_result(line) for line in state["units"] if line["document_id"] is not None]
    return Finding(lines[: 3 * PASSAGES], f"{selection['reading']}: {selection['count']} found")


def _as_result(line: AnswerLine) -> Passage:
    """A line of an answer as a passage that can be cited at its place."""
    metadata = {key: value for key, value in line.items() if key not in ("text", "quote", "score")}
    identity = line["chunk_id"] or f"{line['document_id']}#{line['start']}"
    return {"id": identity, "content": line["quote"], "metadata": metadata, "facts": []}
