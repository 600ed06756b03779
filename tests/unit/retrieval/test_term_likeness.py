"""How nearly a piece of a stored passage says a word of a question."""

from __future__ import annotations

import numpy as np
import pytest

from agentic_rag.domain import Chunk, search_text
from agentic_rag.domain.ports import EmbeddedDocument
from agentic_rag.retrieval.term_likeness import TermLikeness, term_likeness
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.testing import TokenHashingEmbedding, fake_chunk

QUESTION = "Where does oolong grow?"
TEA = fake_chunk(
    "tea", "  Oolong is rolled. It grows in Fujian.\n", start=100, end=140, title="Garden", heading_path=("Hills",)
)  # fmt: skip


async def compared(
    *chunks: Chunk,
    question: str = QUESTION,
    stored: bool = True,
    embedding: TokenHashingEmbedding | None = None,
) -> TermLikeness | None:
    embedding = embedding or TokenHashingEmbedding()
    store = InMemoryChunkStore(dimension=embedding.dimension)
    for chunk in chunks if stored else ():
        passages = await embedding.embed_passage_tokens([search_text(chunk)])
        document = EmbeddedDocument(chunk.document_id, (chunk,), passages.vectors, passages.tokens)
        await store.replace_documents("notes", [document])
    return await term_likeness(embedding, store, "notes", question, chunks)


def place(word: str) -> tuple[int, int]:
    at = TEA.text.index(word)
    return TEA.start + at, TEA.start + at + len(word)


async def test_a_word_that_a_span_has_is_there_and_one_that_it_has_not_is_not():
    likeness = await compared(TEA)
    assert likeness is not None
    oolong = QUESTION.index("oolong")
    word = (oolong, oolong + len("oolong"))
    near = likeness.of_spans(
        TEA.id, [place("It grows in Fujian."), place("Oolong is rolled."), place("Oolong")]
    )
    assert near is not None
    second, first, again = likeness.of_term(near, *word).tolist()
    assert first == again == pytest.approx(1.0, abs=0.02)
    assert -1.0 <= second < 0.7


async def test_title_and_headings_are_apart_from_the_text():
    likeness = await compared(TEA, question="the hills of the garden")
    assert likeness is not None
    above = likeness.above(TEA.id)
    assert above is not None
    assert likeness.of_term(above[:, None], 4, 9).tolist() == pytest.approx([1.0], abs=0.02)
    inside = likeness.of_spans(TEA.id, [(TEA.start, TEA.end)])
    assert inside is not None
    assert likeness.of_term(inside, 4, 9).max() < 0.7


async def test_where_nothing_is_known_nothing_is_told():
    likeness = await compared(TEA)
    assert likeness is not None
    assert likeness.of_spans("unknown", [(0, 10)]) is None
    assert likeness.above("unknown") is None
    before = likeness.of_spans(TEA.id, [(0, 50), (900, 950)])  # the passage begins at 100 and ends at 140
    assert before is not None
    assert set(before.ravel().tolist()) == {-1.0}
    assert likeness.of_term(np.ones((3, 2), dtype=np.float32), 900, 905).tolist() == [-1.0, -1.0]


async def test_a_passage_without_a_title_has_nothing_above():
    bare = fake_chunk("bare", "Oolong grows.", title="", path="")
    likeness = await compared(bare)
    assert likeness is not None
    above = likeness.above(bare.id)
    assert above is not None
    assert set(above.tolist()) == {-1.0}


async def test_without_tokens_there_is_no_likeness():
    store = InMemoryChunkStore(dimension=8)
    assert await term_likeness(None, store, "notes", QUESTION, [TEA]) is None
    assert await compared() is None
    assert await compared(TEA, stored=False) is None
    assert await compared(TEA, question="") is None


async def test_a_text_that_is_cut_otherwise_than_it_was_stored_is_left_out():
    class Otherwise(TokenHashingEmbedding):
        def token_places(self, texts):  # type: ignore[no-untyped-def]
            return [places[:-1] for places in super().token_places(texts)]

    likeness = await compared(TEA, embedding=Otherwise())
    assert likeness is not None
    assert likeness.of_spans(TEA.id, [(TEA.start, TEA.end)]) is None
