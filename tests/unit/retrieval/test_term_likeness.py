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


def place(word: str) -> tuple[str, int, int]:
    at = TEA.text.index(word)
    return TEA.id, TEA.start + at, TEA.start + at + len(word)


async def test_a_word_that_a_span_has_is_there_and_one_that_it_has_not_is_not():
    likeness = await compared(TEA)
    assert likeness is not None
    oolong = QUESTION.index("oolong")
    word = (oolong, oolong + len("oolong"))
    near = likeness.of_spans([place("It grows in Fujian."), place("Oolong is rolled."), place("Oolong")])
    second, first, again = likeness.of_term(near, *word).tolist()
    assert first == again == pytest.approx(1.0, abs=0.02)
    assert -1.0 <= second < 0.7


async def test_title_and_headings_are_apart_from_the_text():
    likeness = await compared(TEA, question="the hills of the garden")
    assert likeness is not None
    assert likeness.of_term(likeness.above, 4, 9).tolist() == pytest.approx([1.0], abs=0.02)
    inside = likeness.of_spans([(TEA.id, TEA.start, TEA.end)])
    assert likeness.of_term(inside, 4, 9).max() < 0.7


async def test_where_nothing_is_known_nothing_is_told():
    likeness = await compared(TEA)
    assert likeness is not None
    # the passage begins at 100 and ends at 140
    beyond = likeness.of_spans([("unknown", 100, 140), (TEA.id, 0, 50), (TEA.id, 900, 950)])
    assert set(beyond.ravel().tolist()) == {-1.0}
    assert likeness.of_spans([]).shape == (len(likeness.spans), 0)
    assert likeness.of_term(np.ones((3, 2), dtype=np.float32), 900, 905).tolist() == [-1.0, -1.0]


async def test_a_passage_without_a_title_has_nothing_above():
    bare = fake_chunk("bare", "Oolong grows.", title="", path="")
    likeness = await compared(bare)
    assert likeness is not None
    assert set(likeness.above.ravel().tolist()) == {-1.0}


async def test_passages_of_several_documents_are_kept_apart():
    other = fake_chunk("other", "Milk grows sour in Fujian.", title="", path="")
    likeness = await compared(TEA, other)
    assert likeness is not None
    assert likeness.passages == {TEA.id: 0, other.id: 1}
    both = likeness.of_spans([(other.id, 0, 26), place("Oolong is rolled."), (other.id, 100, 140)])
    oolong = likeness.of_term(both, QUESTION.index("oolong"), QUESTION.index(" grow")).tolist()
    assert oolong[1] == pytest.approx(1.0, abs=0.02)
    assert max(oolong[0], oolong[2]) < 0.7
    alone = await compared(other)
    assert alone is not None
    assert alone.of_spans([(other.id, 0, 26)]).tolist() == pytest.approx(both[:, :1], abs=1e-6)


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
    assert likeness.passages == {}
    assert set(likeness.of_spans([(TEA.id, TEA.start, TEA.end)]).ravel().tolist()) == {-1.0}
    assert likeness.above.shape == (len(likeness.spans), 0)
