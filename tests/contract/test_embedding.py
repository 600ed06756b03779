"""What every ``ports.Embedding`` promises, checked against the bundled model and the public fake."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import numpy as np
import pytest

from agentic_rag.domain.ports import Embedding, TokenEmbedding
from agentic_rag.domain.token_vectors import cosines, similarities
from agentic_rag.models import bundled
from agentic_rag.models.bundled import BundledEmbedding, count_tokens, count_tokens_batch
from agentic_rag.testing import HashingEmbedding, TokenHashingEmbedding

ODD = ["", " ", "\n\t", "\0", "a\0b", "🍵", "👩‍👩‍👧", "\ud800", "é", "…"]
LONG = " ".join(f"word{number}" for number in range(300))
"""Over 512 tokens, whatever the tokenizer."""


@pytest.fixture(params=["bundled", "hashing"])
def embedding(request: pytest.FixtureRequest) -> Embedding:
    return BundledEmbedding() if request.param == "bundled" else HashingEmbedding()


@pytest.mark.parametrize("kind", ["embed_queries", "embed_passages"])
async def test_vectors_are_unit_and_float32(embedding: Embedding, kind: str):
    texts = ["Where does oolong tea come from?", "乌龙茶来自福建。", "東京でラーメンを食べました。"]
    vectors = await getattr(embedding, kind)(texts)
    assert vectors.shape == (len(texts), embedding.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)
    assert abs(float(vectors[0] @ vectors[2])) < 1 - 1e-3


@pytest.mark.parametrize("kind", ["embed_queries", "embed_passages"])
async def test_nothing_gives_no_rows(embedding: Embedding, kind: str):
    assert (await getattr(embedding, kind)([])).shape == (0, embedding.dimension)


@pytest.mark.parametrize("kind", ["embed_queries", "embed_passages"])
async def test_a_text_has_the_same_vector_alone_and_in_company(embedding: Embedding, kind: str):
    texts = ["tea", "A longer text about oolong tea and how it is brewed.", "茶", LONG, "tea"]
    together = await getattr(embedding, kind)(texts)
    for text, vector in zip(texts, together, strict=True):
        fresh = type(embedding)()
        alone = (await getattr(fresh, kind)([text]))[0]
        assert np.abs(alone - vector).max() < 1e-6, text[:20]


async def test_odd_texts_have_vectors_too(embedding: Embedding):
    for embed in (embedding.embed_queries, embedding.embed_passages):
        vectors = await embed(ODD)
        assert np.isfinite(vectors).all()
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(ODD)), abs=1e-5)


async def test_a_text_of_20000_characters_is_read(embedding: Embedding):
    vectors = await embedding.embed_passages(["a" * 20_000, "tea " * 5000])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1], abs=1e-5)


async def test_a_long_text_is_not_cut(embedding: Embedding):
    same, other = await embedding.embed_passages([f"{LONG} oolong tea", f"{LONG} railway station"])
    assert float(same @ other) < 1 - 1e-6


async def test_the_event_loop_goes_on(embedding: Embedding):
    """While 12 long passages are embedded, a task that wants to run every 5 ms is never kept from it for long."""
    await embedding.embed_passages(["warm"])
    longest, done = 0.0, asyncio.Event()

    async def tick() -> None:
        nonlocal longest
        loop = asyncio.get_running_loop()
        while not done.is_set():
            before = loop.time()
            await asyncio.sleep(0.005)
            longest = max(longest, loop.time() - before)

    ticking = asyncio.create_task(tick())
    texts = [f"{number} {LONG[:1500]}" for number in range(12)]
    started = asyncio.get_running_loop().time()
    await embedding.embed_passages(texts)
    took = asyncio.get_running_loop().time() - started
    done.set()
    await ticking
    assert longest < max(0.25, took / 3)


# --- the bundled model alone ---------------------------------------------------------------------


async def test_meaning_crosses_languages():
    embedding = BundledEmbedding()
    query = (await embedding.embed_queries(["Where does oolong tea come from?"]))[0]
    about_tea, about_trains = await embedding.embed_passages(["乌龙茶来自福建。", "火车晚点了两个小时。"])
    assert float(query @ about_tea) > float(query @ about_trains) + 0.03


async def test_a_query_is_embedded_once(monkeypatch: pytest.MonkeyPatch):
    embedding = BundledEmbedding()
    first = await embedding.embed_queries(["tea", "coffee", "tea"])
    first_tea = first[0].copy()
    assert (first[0] == first[2]).all()
    first[:] = 0  # the caller's copy

    async def refuse(*_: object) -> None:
        raise AssertionError("the model ran for a remembered query")

    monkeypatch.setattr(bundled, "_run", refuse)
    assert ((await embedding.embed_queries(["tea"]))[0] == first_tea).all()
    # Its tokens came from the same run.
    assert len((await embedding.question_tokens("tea")).vectors) == count_tokens("tea")


async def test_the_least_recently_asked_query_is_forgotten(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bundled, "QUERY_CACHE", 2)
    embedding = BundledEmbedding()
    await embedding.embed_queries(["one", "two"])
    await embedding.embed_queries(["one"])
    await embedding.embed_queries(["three"])
    assert list(embedding._queries) == ["one", "three"]


async def test_a_query_forgotten_while_another_is_embedded_is_still_answered(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bundled, "QUERY_CACHE", 1)
    embedding = BundledEmbedding()
    wanted = (await embedding.embed_queries(["one"]))[0]
    both, _, _ = await asyncio.gather(
        embedding.embed_queries(["one", LONG]),
        embedding.embed_queries(["two"]),
        embedding.embed_queries(["three"]),
    )
    assert (both[0] == wanted).all()


async def test_queries_and_passages_are_told_apart():
    """The model was trained with a prefix for each."""
    embedding = BundledEmbedding()
    query, passage = (await embedding.embed_queries(["tea"]))[0], (await embedding.embed_passages(["tea"]))[0]
    assert float(query @ passage) < 1 - 1e-4


def test_tokens_are_counted_as_the_model_reads_them():
    assert count_tokens("") == 0
    assert count_tokens("  tea ") == count_tokens("tea") >= 1
    assert count_tokens_batch(["tea", LONG, "\ud800"]) == [
        count_tokens(text) for text in ("tea", LONG, "\ud800")
    ]
    assert count_tokens(LONG) > 512


async def test_a_vector_is_the_same_after_a_restart():
    """Bit for bit: vectors stored yesterday are compared with those of today."""
    code = (
        "import asyncio, sys; from agentic_rag.models.bundled import BundledEmbedding; "
        "vectors = asyncio.run(BundledEmbedding().embed_passages(['乌龙茶', 'Oolong tea. ' * 30])); "
        "sys.stdout.write(vectors.tobytes().hex())"
    )
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    here = await BundledEmbedding().embed_passages(["乌龙茶", "Oolong tea. " * 30])
    assert bytes.fromhex(done.stdout) == here.tobytes()


# --- tokens, for late interaction ----------------------------------------------------------------


async def test_tokens_come_with_the_same_vectors():
    embedding = BundledEmbedding()
    texts = [*ODD, "tea", "A longer text about oolong tea and how it is brewed.", LONG, "茶"]
    found = await embedding.embed_passage_tokens(texts)
    assert (found.vectors == await embedding.embed_passages(texts)).all()
    width = bundled.TOKEN_DIMENSION // 2
    for text, tokens in zip(texts, found.tokens, strict=True):
        assert len(tokens) == width * count_tokens(f"passage: {text.strip()}"), text[:20]
        assert (await BundledEmbedding().embed_passage_tokens([text])).tokens == (tokens,)
    assert (await embedding.embed_passage_tokens([])).tokens == ()


async def test_tokens_tell_what_a_passage_speaks_of():
    embedding = BundledEmbedding()
    passages = [
        "乌龙茶来自福建。",
        "火车晚点了两个小时。",
        "Oolong is grown in Fujian.",
        "The train is two hours late.",
    ]
    stored = (await embedding.embed_passage_tokens(passages)).tokens
    for asked, near in (("Where does oolong tea come from?", (0, 2)), ("火车晚点多久?", (1, 3))):
        found = similarities(await embedding.question_tokens(asked), stored).each
        assert sorted(np.argsort(found)[-2:].tolist()) == list(near), asked


async def test_rare_tokens_of_a_question_count_more():
    tokens = await BundledEmbedding().question_tokens("the oolong")
    assert tokens.weights.sum() == pytest.approx(1.0)
    assert tokens.weights[0] == tokens.weights.min()
    assert np.linalg.norm(tokens.vectors, axis=1) == pytest.approx(np.ones(len(tokens.vectors)), abs=1e-5)


@pytest.mark.parametrize("text", [*ODD, LONG])
async def test_any_question_has_tokens_or_none(text: str):
    tokens = await BundledEmbedding().question_tokens(text)
    assert np.isfinite(tokens.vectors).all()
    assert tokens.weights.sum() == pytest.approx(1.0 if len(tokens.weights) else 0.0)


async def test_a_question_asked_again_is_not_read_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bundled, "QUESTIONS", 1)
    embedding = BundledEmbedding()
    first = await embedding.question_tokens("tea")
    assert await embedding.question_tokens("tea") is first
    await embedding.question_tokens("coffee")
    assert await embedding.question_tokens("tea") is not first


@pytest.fixture(params=["bundled", "hashing"])
def by_tokens(request: pytest.FixtureRequest) -> TokenEmbedding:
    return BundledEmbedding() if request.param == "bundled" else TokenHashingEmbedding()


@pytest.mark.parametrize(
    "text", ["Where does oolong tea come from?", "乌龙茶来自福建。", "  a  b\n\nc ", "é ﬁ 🍵 x", *ODD]
)
async def test_each_packed_token_has_a_place(by_tokens: TokenEmbedding, text: str):
    question = await by_tokens.question_tokens("oolong")
    (packed,) = (await by_tokens.embed_passage_tokens([text])).tokens
    (spans,) = by_tokens.token_places([text])
    assert len(spans) == cosines(question, packed).shape[1]
    assert all(0 <= start <= end <= len(text) for start, end in spans.tolist())
    ends = [end for end in spans[:, 1].tolist() if end]
    assert ends == sorted(ends)


async def test_a_token_stands_where_its_word_stands(by_tokens: TokenEmbedding):
    text = "Milk is white. Oolong grows in Fujian."
    question = await by_tokens.question_tokens("Oolong")
    assert question.spans
    (packed,) = (await by_tokens.embed_passage_tokens([text])).tokens
    spans = by_tokens.token_places([text])[0]
    asked = [n for n, (start, end) in enumerate(question.spans) if end > start]
    nearest = {int(place) for place in cosines(question, packed)[asked].argmax(axis=1)}
    assert all("Oolong" in text[max(0, spans[n][0] - 6) : spans[n][1] + 6] for n in nearest)


def test_the_places_of_many_texts_are_those_of_each(by_tokens: TokenEmbedding):
    texts = ["tea", "", "乌龙茶", "A longer text about oolong."]
    assert [own.tolist() for own in by_tokens.token_places(texts)] == [
        by_tokens.token_places([text])[0].tolist() for text in texts
    ]
    assert by_tokens.token_places([]) == []
