"""Lists every note that records a mistake, for a question about all weak points: a search finds only the nearest few."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import PurePosixPath

from agentic_rag.answering.operations.selection import is_statement, units_of
from agentic_rag.answering.quotes import Quote
from agentic_rag.domain import OWN_NOTE, Chunk
from agentic_rag.domain.filters import matches
from agentic_rag.domain.notes import Note
from agentic_rag.fusion.strategy_selector import CanvasOperation
from agentic_rag.nodes.request import Request
from agentic_rag.rerank.features import MISTAKES
from agentic_rag.retrieval.ports import NoteCatalogue, VectorSearch
from agentic_rag.retrieval.schemas import chunk_passage
from agentic_rag.text import fold, script

ListMistakes = Callable[[Request], Awaitable[list[Quote]]]
"""``mistake_quotes`` with what it reads from."""
MAX_MISTAKES = 60
"""Notes that are listed."""
_GENERIC = frozenset(
    "what which where show list give tell group sort cluster find all every of the a me my our i we am are is was were do did have has had made make "
    "been so far please and by in ever any there keep get got getting often usually always note notes topic topics theme themes points point spots spot areas area that record records".split()
)
_MISTAKE_WORDS = frozenset(
    "mistake mistakes error errors weak weakness weaknesses blind weakest wrong slip slips".split()
)
_HAN_GENERIC = re.compile(
    r"我们?|咱们?|的|有|了|过|哪[些里儿]?|题目?|经常|常常?|总是?|老是?|容易|最|地方|什么|列[出举]?|找出|看看|所有|全部|都|帮|给|总结|归纳|整理|一下|是|在|吗|呢|犯|请|把|记录|笔记|[\W_]"
)
_HAN_NAMED = re.compile(
    r"(?:容?易|[出搞弄记答做写])?错(?:误|题|点)?|薄弱(?:点|环节|之处|处)?|弱[点项]|短板|盲[点区]|误区"
)


def asks_for_all(request: Request) -> bool:
    """Whether all mistakes or weak points are asked for, and not those about something."""
    if request.operation is not CanvasOperation.WEAK_POINT_CLUSTERING:
        return False
    text = fold(request.asked).casefold()
    words = set(re.findall(r"[a-z]+", text.replace("'s", "")))
    han = re.sub(r"[a-z\d\s]", "", text)
    is_named = bool(words & _MISTAKE_WORDS or _HAN_NAMED.search(han))
    return (
        is_named and words <= _GENERIC | _MISTAKE_WORDS and not _HAN_GENERIC.sub("", _HAN_NAMED.sub("", han))
    )


async def mistake_quotes(request: Request, *, catalogue: NoteCatalogue, engine: VectorSearch) -> list[Quote]:
    """A quote of each note that records a mistake, what was wrong before what is right; in the order of their paths.

    Raises:
        StoreError: the notes cannot be read.
    """
    snapshot = await catalogue.snapshot(request.dataset, own_notes=True)
    notes = [note for note in snapshot.notes if _is_called_mistake(note) or _has_tag(note)]
    if request.filters is not None:
        notes = [note for note in notes if matches(request.filters, snapshot.facts[note.document_id])]
    documents = await engine.documents(request.dataset, [note.document_id for note in notes])
    quotes: list[Quote] = []
    for note in notes:
        quote = _quote(documents.get(note.document_id, ()), len(quotes))
        if quote is not None and (quote.unit.failure or _is_called_mistake(note)):
            quotes.append(quote)
    return quotes[:MAX_MISTAKES]


def _is_called_mistake(note: Note) -> bool:
    """Whether ``check`` wrote the note, or a property, a folder or the title calls it a mistake."""
    properties = [field for field in note.fields if field.key in (OWN_NOTE, "tags", "tag", "type")]
    names = [*(str(field.value) for field in properties), *PurePosixPath(note.path).parts[:-1], note.title]
    return any(field.key == OWN_NOTE for field in properties) or any(map(MISTAKES.search, names))


def _has_tag(note: Note) -> bool:
    """Whether a tag names mistakes; one in the text may only speak of them."""
    return any(map(MISTAKES.search, note.tags))


def _quote(chunks: Sequence[Chunk], order: int) -> Quote | None:
    quotes = [
        Quote.of(unit, result, order=order)
        for result in map(chunk_passage, chunks)
        for unit in units_of(result)
        if unit.kind != "property"
    ]
    quotes = [quote for quote in quotes if quote.unit.failure or is_statement(quote)]
    return next((quote for quote in quotes if quote.unit.failure), quotes[0] if quotes else None)


def no_mistakes(query: str) -> str:
    """The answer if no note records a mistake, in the question's language."""
    return "没有笔记记录过错误。" if script(query) == "cjk" else "No note records a mistake."
