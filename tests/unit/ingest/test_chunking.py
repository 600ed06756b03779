"""Chunks: they partition the text, keep their ids, and are cut where the author did."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentic_rag.domain import Block, BlockKind, Chunk, Document
from agentic_rag.ingest.chunking import MAX_WINDOW, PartSize, chunk_document, split_span
from agentic_rag.notes.markdown import parse_markdown, parse_text
from growth import assert_linear
from word_counts import count_words


def by_characters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


def chunks(text: str, *, max_tokens: int = 400, target_tokens: int = 200) -> tuple[Chunk, ...]:
    document = parse_markdown("n.md", "n.md", text)
    return chunk_document(
        document, max_tokens=max_tokens, count_tokens=count_words, target_tokens=target_tokens
    )


def words(count: int, word: str = "word") -> str:
    return " ".join(f"{word}{number}" for number in range(count))


def check_partition(document: Document, found: tuple[Chunk, ...]) -> None:
    assert "".join(chunk.text for chunk in found) == (document.text if document.text.strip() else "")
    assert [chunk.ordinal for chunk in found] == list(range(len(found)))
    assert len({chunk.id for chunk in found}) == len(found)
    for chunk in found:
        assert chunk.text == document.text[chunk.start : chunk.end]
        assert chunk.text.strip()


def test_white_space_between_goes_to_the_chunk_before_and_leading_to_the_first() -> None:
    text = f"\n\n# A\n\n{words(50)}\n\n\n# B\n{words(50)}\n \n"
    found = chunks(text)
    assert [chunk.text for chunk in found] == [f"\n\n# A\n\n{words(50)}\n\n\n", f"# B\n{words(50)}\n \n"]


def test_properties_are_a_chunk_of_their_own() -> None:
    first, second = chunks("---\nyear: 1957\n---\nText.")
    assert (first.kind, first.text) == ("properties", "---\nyear: 1957\n---\n")
    assert second.metadata == {"year": 1957}


def test_sections_start_chunks_and_carry_their_heading_path() -> None:
    found = chunks(f"# T\n\n## A\n\n{words(60)}\n\n## B\n\n{words(60)}\n\n#### deep\n\n{words(60)}")
    assert [chunk.heading_path for chunk in found] == [("T", "A"), ("T", "B")]


def test_a_tiny_section_joins_the_next() -> None:
    (only,) = chunks(f"## A\n\nshort\n\n## B\n\n{words(60)}")
    assert only.heading_path == ()


@pytest.mark.parametrize("size", [150, 190, 199, 210, 395, 399, 401, 900])
def test_a_heading_never_ends_a_chunk_alone(size: int) -> None:
    found = chunks(f"{words(150)}\n\n#### Deep heading\n\n{words(size)}")
    assert not found[-1].text.strip().endswith("heading")
    for chunk in found:
        assert not chunk.text.rstrip().endswith("#### Deep heading")
        assert count_words([chunk.text])[0] <= 400


def test_paragraphs_are_packed_to_the_target() -> None:
    found = chunks("\n\n".join(words(60) for _ in range(9)))
    assert [count_words([chunk.text])[0] for chunk in found] == [180, 180, 180]


def test_a_long_paragraph_is_split_at_sentences() -> None:
    text = " ".join(f"{words(20)} Sentence." for _ in range(40))
    document = dataclasses.replace(parse_text("a", "a.txt", text))
    found = chunk_document(document, max_tokens=300, count_tokens=count_words)
    check_partition(document, found)
    assert all(chunk.text.rstrip().endswith("Sentence.") for chunk in found)
    assert all(count_words([chunk.text])[0] <= 300 for chunk in found)
    assert len(found) == 4


def test_an_endless_word_is_split_between_characters() -> None:
    document = parse_text("a", "a.txt", "茶" * 1000 + "e\u0301" * 500 + "👩\u200d🚀" * 100)
    found = chunk_document(document, max_tokens=50, count_tokens=by_characters)
    check_partition(document, found)
    assert all(len(chunk.text) <= 50 for chunk in found)
    assert not any(chunk.text.startswith(("\u0301", "\u200d")) for chunk in found)


def test_a_table_is_split_between_rows() -> None:
    text = "| a | b |\n|---|---|\n" + "".join(f"| row{n} | {words(5)} |\n" for n in range(100))
    found = chunks(text)
    assert len(found) > 1
    assert all(chunk.text.startswith("| ") and chunk.text.endswith("|\n") for chunk in found)


def test_turns_are_chunks_with_their_own_keys() -> None:
    lines = ["Ann: hello", "Bob: " + words(90), "Ann: bye"]
    starts = [0, len(lines[0]) + 1, len(lines[0]) + len(lines[1]) + 2]
    day = datetime(2023, 5, 8, tzinfo=UTC)
    blocks = tuple(
        Block("turn", start, start + len(line), key=key, date=day, metadata={"dia_id": key})
        for start, line, key in zip(starts, lines, ["D1:1", "D1:2", "D1:1"], strict=True)
    )
    document = Document(
        "c/session_1", "c.json", "t", "\n".join(lines), "session", blocks, metadata={"session": 1}
    )
    found = chunk_document(document, max_tokens=50, count_tokens=count_words)
    check_partition(document, found)
    assert [chunk.id for chunk in found] == [
        "c/session_1#D1:1",
        "c/session_1#D1:2",
        "c/session_1#D1:2~2",
        "c/session_1#D1:1~2",
    ]
    assert {chunk.date for chunk in found} == {day}
    assert found[0].metadata == {"session": 1, "dia_id": "D1:1"}
    assert found[0].kind == "turn"


def test_an_edit_elsewhere_leaves_ids_unchanged() -> None:
    sections = [f"## Section {n}\n\n{words(80, f'w{n}_')}\n\n" for n in range(5)]
    before = {chunk.id for chunk in chunks("".join(sections))}
    edited = [*sections]
    edited[2] = f"## Section 2\n\n{words(80, 'new')}\n\n"
    after = {chunk.id for chunk in chunks("Preface " + words(40) + "\n\n" + "".join(edited))}
    assert len(before & after) == 4


def test_metadata_has_tags_and_no_warnings() -> None:
    (chunk,) = [c for c in chunks("---\n- a\n---\ntext #tea/green #水果") if c.kind != "properties"]
    assert chunk.metadata == {"tags": ["tea/green", "水果"]}


def test_a_count_of_the_whole_above_the_sum_of_its_parts_is_held_to_the_limit() -> None:
    def rounding_down(texts: Sequence[str]) -> list[int]:
        return [len(text.split()) * 99 // 100 for text in texts]

    document = parse_markdown("a", "a.md", "\n\n".join(words(9) for _ in range(50)))
    found = chunk_document(document, max_tokens=90, count_tokens=rounding_down)
    check_partition(document, found)
    assert max(rounding_down([chunk.text for chunk in found])) <= 90


MARKDOWN = st.text(
    alphabet=st.sampled_from("ab1 .。!\n\n\r\t#>-*|`~[]():$茶é\u0301👩\u200d\x00\u2028\x0b\ufeff-"),
    max_size=400,
)


@settings(max_examples=150)
@given(MARKDOWN, st.integers(1, 60), st.integers(1, 40), st.sampled_from([count_words, by_characters]))
@example("#\r1", 1, 1, count_words)  # a heading that leaves no room
def test_chunks_partition_any_note(text: str, limit: int, target: int, counter: object) -> None:
    document = parse_markdown("n.md", "n.md", text)
    found = chunk_document(document, max_tokens=limit, count_tokens=counter, target_tokens=target)  # type: ignore[arg-type]
    check_partition(document, found)
    assert found == chunk_document(document, max_tokens=limit, count_tokens=counter, target_tokens=target)  # type: ignore[arg-type]
    if counter is count_words:
        assert all(count_words([chunk.text])[0] <= limit for chunk in found)
    else:
        # White space at a chunk's edge may be more than the limit; the model does not read it.
        assert all(len(chunk.text.strip()) <= limit for chunk in found)


@settings(max_examples=100)
@given(st.lists(st.text(max_size=30), max_size=20), st.integers(1, 30))
def test_chunks_partition_any_plain_text(lines: list[str], limit: int) -> None:
    document = parse_text("n.txt", "n.txt", "\n".join(lines))
    check_partition(document, chunk_document(document, max_tokens=limit, count_tokens=by_characters))


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["## H\n\nSome text. More.\n\n", "word ", "茶", "- item\n", "a\r", "| a | b |\n"]
)
def test_parsing_and_chunking_take_linear_time(piece: str) -> None:
    def work(text: str) -> None:
        document = parse_markdown("n.md", "n.md", text)
        found = chunk_document(
            document, max_tokens=400, count_tokens=lambda texts: [len(t) // 4 for t in texts]
        )
        check_partition(document, found)

    assert_linear(work, piece, 40_000)


# --- what is too long for one chunk ---------------------------------------------------------------


def split(text: str, kind: BlockKind = "paragraph", *, limit: int = 20, target: int = 20) -> list[str]:
    spans = split_span(text, 0, len(text), kind, PartSize(limit, target, by_characters))
    assert "".join(text[start:end] for start, end, _ in spans) == text
    return [text[start:end] for start, end, _ in spans]


def test_sentences_first_then_clauses_and_words() -> None:
    assert split("One two three. Four five six. Seven.") == ["One two three. ", "Four five six. ", "Seven."]
    assert split("alpha beta gamma delta epsilon") == ["alpha beta gamma ", "delta epsilon"]
    assert split("他喜欢喝绿茶和红茶，也喜欢喝咖啡和果汁，天天如此") == [
        "他喜欢喝绿茶和红茶，",
        "也喜欢喝咖啡和果汁，天天如此",
    ]


def test_lines_first_in_code() -> None:
    assert split("a = 1. b\nc = 2\n\nd = 3. e\n", "code", limit=16) == ["a = 1. b\nc = 2\n\n", "d = 3. e\n"]


def test_parts_are_about_equal() -> None:
    parts = split("word " * 30, limit=100, target=70)
    assert [len(part) for part in parts] == [75, 75]


def test_clusters_stay_whole_while_they_fit() -> None:
    assert not any(part.startswith("\u0301") for part in split("e\u0301" * 10, limit=5, target=5))
    assert split("👩‍👩‍👧" * 2, limit=7, target=7) == ["👩‍👩‍👧"] * 2


@pytest.mark.parametrize("text", ["a" + "\u0301" * 500, "\u200d" * 300])
def test_an_endless_cluster_still_obeys_the_limit(text: str) -> None:
    assert max(len(part) for part in split(text)) <= 20


def test_a_single_character_above_the_limit_stays() -> None:
    spans = split_span("茶茶", 0, 2, "paragraph", PartSize(1, 1, lambda texts: [3 * len(t) for t in texts]))
    assert [(start, end) for start, end, _ in spans] == [(0, 1), (1, 2)]


@given(
    st.text(max_size=200),
    st.integers(1, 30),
    st.integers(1, 30),
    st.sampled_from(["code", "paragraph", "turn"]),
)
def test_any_text_is_partitioned_within_the_limit(
    text: str, limit: int, target: int, kind: BlockKind
) -> None:
    if text:
        assert max(len(part) for part in split(text, kind, limit=limit, target=min(limit, target))) <= limit


@pytest.mark.parametrize("piece", ["word ", "茶", "| a | b |\n", "x"])
def test_what_is_long_is_divided_part_by_part(piece: str) -> None:
    batches: list[int] = []

    def counting(texts: Sequence[str]) -> list[int]:
        batches.append(len(texts))
        return by_characters(texts)

    text = piece * (600_000 // len(piece))
    document = parse_text("n.txt", "n.txt", text)
    check_partition(document, chunk_document(document, max_tokens=400, count_tokens=counting))
    assert max(batches) <= MAX_WINDOW // len(piece) + 1
