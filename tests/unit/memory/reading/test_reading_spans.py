from __future__ import annotations

import pytest

from agentic_rag.memory.reading.choosing import MOST, chosen_spans, group_of, ranked_spans
from agentic_rag.memory.reading.history import read_history
from agentic_rag.memory.reading.questions import Question, read_question
from agentic_rag.memory.reading.spans import LONGEST, Span, spans_of
from agentic_rag.memory.reading.statements import Statement, bearing_statements
from agentic_rag.memory.reading.traits import traits
from agentic_rag.memory.reading.weights import shipped
from agentic_rag.memory.reading.words import Word

FLOORING = "Jon: I'm after Marley flooring, which is what dance studios use."


async def read(question: str, history: str) -> tuple[Question, list[Statement]]:
    told = read_history(history)
    asked = read_question(question, told.speakers)
    return asked, await bearing_statements(asked, told, None)


async def spans(question: str, history: str) -> tuple[Question, dict[str, Span]]:
    asked, statements = await read(question, history)
    return asked, {span.text: span for statement in statements for span in spans_of(statement, asked)}


async def test_a_span_stands_in_its_sentence_and_says_something_new() -> None:
    asked, found = await spans("What kind of flooring is Jon looking for?", FLOORING)
    assert "Marley flooring" in found
    assert "flooring" not in found
    for text, span in found.items():
        assert text in span.statement.sentence.text
        assert any(not word.function and word.stem not in asked.terms for word in span.words)


async def test_a_span_does_not_cross_the_end_of_a_clause() -> None:
    _, found = await spans("What is red?", "Bob: The car (red) is fast; my bike - blue - is not")
    assert not any(mark in text for text in found for mark in ("(", ")", ";", " - "))


async def test_a_span_is_not_endless() -> None:
    _, found = await spans("What is there?", "Bob: There is " + " ".join(f"thing{n}" for n in range(50)))
    assert max(len(span.words) for span in found.values()) == LONGEST


async def test_a_span_neither_begins_nor_ends_as_no_answer_does() -> None:
    _, found = await spans("What is it?", "Bob: It is the best of cars and bikes in the town")
    assert "best of cars and bikes" in found
    assert not any(
        text.startswith(("of ", "and ", "is ")) or text.endswith((" of", " and", " the")) for text in found
    )


async def test_traits() -> None:
    asked, found = await spans("What kind of flooring is Jon looking for?", FLOORING)
    told = traits(found["Marley flooring"], asked, group_of(asked))
    assert told["focus last"] == 1.0
    assert told["ends"] == 1.0
    assert told["length 1"] == told["length 1 which"] == 1.0
    assert told["known"] == 1 / 2
    assert "splits name" not in told
    assert all(value for value in told.values())


async def test_a_quoted_span_is_told() -> None:
    asked, found = await spans("What book is Jon reading?", 'Jon: I am reading "The Lean Startup" now.')
    assert traits(found["The Lean Startup"], asked, "which")["quoted"] == 1.0
    assert traits(found["Lean Startup"], asked, "which")["splits name"] == 1.0


async def test_every_weight_is_of_a_trait() -> None:
    history = (
        "(2023-05-08)Jon: Because my mother, the best of five teachers, told me daily about Rome for two years.\n"
        '(2023-05-08)Gina: Was it called "Finding Freedom" by them? [shares a photo: a red car in Rome]'
    )
    known: set[str] = set()
    for question in ("Why did he go?", "How is she?", "Who was it?", "Where was it?", "Which car was red?", "What was red?", "How many were there?"):  # fmt: skip
        asked, statements = await read(question, history)
        for span, _ in ranked_spans(asked, statements, shipped()):
            known |= {name.rsplit(" ", 1)[0] if name.endswith(f" {group_of(asked)}") else name for name in traits(span, asked, group_of(asked))}  # fmt: skip
    groups = ("why", "how", "who", "where", "which", "what", "count")
    stems = {next((name.removesuffix(f" {group}") for group in groups if name.endswith(f" {group}")), name) for name in shipped().spans}  # fmt: skip
    assert len(stems & known) / len(stems) > 0.8


async def test_the_best_span_answers() -> None:
    history = 'Jon: I am tired.\nGina: Me too.\nJon: I am reading "The Lean Startup" for my business.'
    asked, statements = await read("What book is Jon reading?", history)
    assert [span.text for span in chosen_spans(asked, statements, shipped())] == ["The Lean Startup"]


async def test_several_things_come_from_several_lines() -> None:
    history = (
        "Jon: I visited Rome.\nGina: Nice!\nJon: I visited Paris.\nJon: I visited Oslo.\nJon: I visited Bern."
    )
    asked, statements = await read("Which cities has Jon visited?", history)
    assert [span.text for span in chosen_spans(asked, statements, shipped())] == ["Rome", "Paris", "Oslo"][
        :MOST
    ]


async def test_no_span_is_no_answer() -> None:
    asked, statements = await read("What is it?", "Jon: It is.")
    assert chosen_spans(asked, statements, shipped()) == []


async def test_near_is_told_by_the_nearest_term_of_the_question_outside_of_the_span() -> None:
    asked, found = await spans(
        "Which tea does Ann like?", "Ann: Tea is what my old aunt and I like so much, and green tea most"
    )
    near = {text: traits(span, asked, "what").get("near", 0.0) for text, span in found.items()}
    assert near["old aunt"] == 1 / (1 + 2), "'like' is two words behind it, 'tea' three before it"
    assert near["much"] == 1 / (1 + 1)
    assert near["Tea is what my old aunt"] == 1 / (1 + 2), "its own term does not count"
    assert near["green tea most"] == 1 / (1 + 3)


async def test_a_long_sentence_is_not_read_again_for_each_of_its_spans(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, statements = await read(
        "Which tea does Ann like?", "Ann: " + "I like tea and my sister works " * 150
    )
    looked = 0
    function = Word.function.fget  # type: ignore[attr-defined]

    def counted(word: Word) -> bool:
        nonlocal looked
        looked += 1
        return bool(function(word))

    monkeypatch.setattr(Word, "function", property(counted))
    assert ranked_spans(asked, statements, shipped())
    assert looked < 200 * len(statements[0].sentence.words)
