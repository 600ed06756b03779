"""Which units of the retrieved notes speak of what a question asks."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from agentic_rag.answering.evidence import Candidate, score_units, support
from agentic_rag.answering.source_notes import MAX_NOTE, note_of_chunks, source_notes, vocabulary_of
from agentic_rag.dates.spans import Span
from agentic_rag.domain import Chunk
from agentic_rag.questions.question import Question
from agentic_rag.questions.terms import DAYS
from agentic_rag.testing import fake_chunk
from retrieved import NOTES, chunks_of, documents_of, results_of


def candidates(question: str, *paths: str) -> list[Candidate]:
    documents = documents_of(*paths)
    results = results_of(documents)
    return score_units(Question.of(question), source_notes(results, [0.9] * len(results), documents))


@pytest.mark.parametrize(
    ("question", "paths", "text"),
    [
        ("How much milk for waffles?", ["Recipes.md"], "Waffles: 300 ml of milk"),
        ("How much milk for pancakes?", ["Recipes.md"], "Pancakes: 200 ml of milk"),
        ("Which phone has Bilal Khan?", ["Team.md"], "Phone: 555-0102"),
        ("Which phone has Anna Weiss?", ["Team.md"], "Phone: 555-0101"),
        ("How large is the cellar?", ["Rooms.md"], "Room: Cellar · Size: 35 m2"),
        ("What rating has Emma?", ["Dune.md", "Emma.md"], "rating: 4"),
        ("What is the autor of Emma?", ["Dune.md", "Emma.md"], "author: Jane Austen"),
        ("worms", ["Emma.md", "Dune.md"], "It has worms."),
    ],
)
def test_the_best_unit_has_the_words_and_what_stands_above_them(question: str, paths: list[str], text: str):
    assert candidates(question, *paths)[0].unit.display_text() == text


FERRIES = {
    "Howth.md": "# Howth\n\nI slept in the harbour of Howth.\n\nThe berth was 30 euros.\n",
    "Arklow.md": "# Arklow\n\nThe berth was 20 euros.\n",
}


@pytest.mark.parametrize(
    ("earlier_text", "answer_before", "path"),
    [
        ("", "", "Arklow.md"),
        ("", "I slept in the harbour of Howth. [1]", "Howth.md"),
        ("What was the berth in Howth?", "", "Arklow.md"),
    ],
    ids=["alone", "goes on from an answer", "of another thing"],
)
def test_a_question_of_a_conversation_is_of_the_note_that_was_quoted(
    earlier_text: str, answer_before: str, path: str
) -> None:
    documents = documents_of("Arklow.md", "Howth.md", notes=FERRIES)
    results = results_of(documents)
    question = replace(
        Question.of("How much was the berth in Arklow?" if earlier_text else "How much was the berth?"),
        earlier_text=earlier_text,
        answer_before=answer_before,
    )
    best = score_units(question, source_notes(results, [0.9] * len(results), documents))[0]
    assert (best.note.path, best.unit.kind) == (path, "sentence")


def test_the_order_is_total_and_the_levels_are_shares():
    found = candidates("How much milk for waffles?", "Recipes.md", "Shopping.md")
    keys = [(-one.score, one.note.order, one.unit.start) for one in found]
    assert keys == sorted(keys)
    levels = [level for one in found for three in (one.own, one.near, one.above) for level in three.values()]
    assert all(0 < level <= 1 for level in levels)
    best = found[0]
    assert (best.own, best.near) == ({"milk": 1.0}, {"waffl": 1.0})
    assert best.level("waffl") == 1.0
    assert best.level("none") == 0.0


def test_support_is_what_the_units_together_express():
    question = Question.of("Is milk or wine in the waffles?")
    documents = documents_of("Recipes.md")
    results = results_of(documents)
    found = score_units(question, source_notes(results, [0.9] * len(results), documents))
    assert support(question, found[:1]) == {"milk": 1.0, "wine": 0.0, "waffl": 1.0}
    assert support(question, []) == {"milk": 0.0, "wine": 0.0, "waffl": 0.0}


def test_the_words_of_a_name_are_expressed_by_one_unit():
    notes = {"box_7.md": "Holds 12 nails.\n", "crate_8.md": "Holds 9 screws.\n"}
    documents = documents_of(*notes, notes=notes)
    results = results_of(documents)
    question = Question.of("How many nails has box_8?")
    chosen = score_units(question, source_notes(results, [0.9] * len(results), documents))
    assert support(question, chosen)["nail"] == 1.0
    assert (support(question, chosen)["box"], support(question, chosen)["8"]) == (0.0, 0.0)


def test_notes_stand_in_the_order_of_their_best_passage():
    documents = documents_of("Dune.md", "Emma.md")
    results = results_of(documents)[::-1]
    notes = source_notes(results, [0.2, *[0.9] * (len(results) - 1)], documents)
    assert [note.path for note in notes] == ["Emma.md", "Dune.md"]
    assert [note.relevance for note in notes] == [0.9 if len(documents["Emma.md"]) > 1 else 0.2, 0.9]


def test_a_result_without_a_stored_note_is_read_by_itself():
    metadata = {"start": 100, "heading_path": ["Group"], "document_id": "m"}
    memory = {"id": "m1", "content": "Ada likes oolong. She hates milk.", "metadata": metadata}
    (note,) = source_notes([memory], [0.8], {})
    units = note.reading.units
    assert [(unit.text, unit.start, unit.headings) for unit in units] == [
        ("Ada likes oolong.", 100, ("Group",)), ("She hates milk.", 118, ("Group",))
    ]  # fmt: skip
    assert note.text(units[1].start, units[1].end) == "She hates milk."
    assert note.chunk_at(100) is None


def test_of_a_long_note_the_retrieved_passages_and_their_neighbours_are_read():
    section = "".join(f"## Part {n}\n\nPart {n} is told here. {'More of it. ' * 60}\n\n" for n in range(120))
    chunks = chunks_of("Book.md", f"# Book\n\n{section}", max_tokens=200)
    assert chunks[-1].end > MAX_NOTE
    place = len(chunks) // 2
    documents = {"Book.md": chunks}
    (note,) = source_notes(results_of({"Book.md": [chunks[place]]}), [0.9], documents)
    assert all(chunks[place - 1].start <= unit.start < chunks[place + 1].end for unit in note.reading.units)
    assert {unit.headings[0] for unit in note.reading.units} == {"Book"}
    assert all(len(unit.headings) == 2 for unit in note.reading.units)
    whole = "".join(chunk.text for chunk in chunks)
    unit = note.reading.units[0]
    assert note.text(unit.start, unit.end) == whole[unit.start : unit.end]


@pytest.mark.parametrize("path", ["Report.docx", "page.HTML", "slides.pptx", "book.epub", "note.markdown"])
def test_what_is_stored_as_markdown_is_read_as_markdown(path: str):
    (chunk,) = chunks_of("x.md", "# Team\n\n- **Phone**: 555\n")
    note = note_of_chunks([Chunk(**{**_fields(chunk), "path": path})])
    assert [(unit.display_text(), unit.headings) for unit in note.reading.units] == [
        ("Phone: 555", ("Team",))
    ]


@pytest.mark.parametrize("path", ["Report.pdf", "letters.txt", "Board.canvas", "talk.json"])
def test_plain_text_has_the_headings_of_its_chunks(path: str):
    chunks = [
        fake_chunk("d", "- not a list. Two * stars.\n", path=path, heading_path=("Left",)),
        fake_chunk("d", "Another card.", ordinal=1, start=27, end=40, path=path, heading_path=("Right",)),
    ]
    units = note_of_chunks(chunks).reading.units
    assert [(unit.text, unit.start, unit.headings) for unit in units] == [
        ("- not a list.", 0, ("Left",)), ("Two * stars.", 14, ("Left",)), ("Another card.", 27, ("Right",))
    ]  # fmt: skip


def _fields(chunk: Chunk) -> dict[str, object]:
    return {name: getattr(chunk, name) for name in Chunk.__slots__}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Met Ruth on 2024-03-15.", True),
        ("## 2024-03-15\n\nMet Ruth.", True),
        ("- 15 March 2024\n  - Met Ruth.", True),
        ("Met Ruth on 2024-03-16.", False),
        ("Met Ruth.", False),
    ],
)
def test_a_unit_is_of_the_days_by_its_words_or_what_stands_above_it(text: str, expected: bool):
    days = Span(date(2024, 3, 15), date(2024, 3, 16))
    question = Question.of("Whom did I meet on 2024-03-15?").of_days(days, 19, 29)
    documents = {"Log.md": chunks_of("Log.md", f"{text}\n")}
    (found,) = [
        one
        for one in score_units(question, source_notes(results_of(documents), [0.9], documents))
        if "Ruth" in one.unit.text
    ]
    assert (found.level(DAYS) > 0) is expected


def test_the_words_of_the_notes_are_those_of_units_headings_titles_and_properties():
    documents = documents_of("Dune.md", "Team.md")
    notes = source_notes(results_of(documents), [0.9] * len(results_of(documents)), documents)
    vocabulary = vocabulary_of(notes)
    assert all(word in vocabulary for word in ("worms", "Bilal Khan", "Frank Herbert", "Dune", "555-0101"))
    assert vocabulary_of([]) == ""


def test_every_unit_of_the_notes_is_a_candidate():
    found = candidates("anything", *NOTES)
    assert len(found) == sum(
        len(note_of_chunks(chunks).reading.units) for chunks in documents_of(*NOTES).values()
    )
    assert candidates("", "Dune.md")
    assert score_units(Question.of("anything"), []) == []


def test_names_that_differ_in_a_number_are_different_names():
    notes = {"books_1.md": "---\npages: 80\n---\n", "books_8.md": "Nothing yet.\n"}
    documents = documents_of(*notes, notes=notes)
    best, *_ = score_units(
        Question.of("pages of books_8"), source_notes(results_of(documents), [0.9, 0.9], documents)
    )
    first = next(one for one in (best, *_) if one.note.title == "books_1")
    assert first.level("books_8") == 0.0


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who wrote Signals?", "author: Ada Klein"),
        ("Who is in the cast of Signals?", "cast: Ada Klein, Bo Lund"),
        ("Where was Signals shot?", "shot in: Oslo, Norway"),
    ],
)
def test_a_list_of_words_names_no_person(question: str, expected: str):
    note = "---\ngenre: Futurism, Nonfiction\nauthor: Ada Klein\ncast: Ada Klein, Bo Lund\nshot in: Oslo, Norway\n---\n"
    documents = documents_of("Signals.md", notes={"Signals.md": note})
    best, *_ = score_units(Question.of(question), source_notes(results_of(documents), [0.9], documents))
    assert best.unit.own() == expected


def test_a_sentence_that_repeats_in_many_notes_is_no_answer():
    notice = "If this guide has a fault, please open an issue."
    notes = {f"Dish {n}.md": f"# Dish {n}\n\n- salt: {n} g\n\n{notice}\n" for n in range(4)}
    documents = documents_of(*notes, notes=notes)
    results = results_of(documents)
    found = score_units(
        Question.of("Which guide has a fault?"), source_notes(results, [0.9] * len(results), documents)
    )
    assert found
    assert all(one.unit.text != notice for one in found)
    alone = documents_of("Dish 0.md", notes=notes)
    kept = score_units(Question.of("Which guide has a fault?"), source_notes(results_of(alone), [0.9], alone))
    assert kept[0].unit.text == notice
