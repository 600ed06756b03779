"""Questions for tasks by what they say and when they are due, for rows of tables, for people, and for totals of days."""

from __future__ import annotations

from datetime import date

import pytest

from agentic_rag.notes.catalogue import Snapshot
from agentic_rag.questions.note_queries.choosing import choose
from agentic_rag.questions.note_queries.query import Selection
from agentic_rag.questions.note_queries.reading import read_query
from agentic_rag.questions.note_queries.vocabulary import Vocabulary
from agentic_rag.questions.times import named_time
from note_rows import nearest, snapshot_of

CHOIR = snapshot_of(
    {
        "people/Ivy Sato.md": "---\nvoice: alto\nteaches: \"[[Finn Roy]]\"\n---\nx\n",
        "people/Finn Roy.md": "---\nvoice: tenor\n---\nx\n",
        "Concert.md": "# Concert\n\n## Risks\n- no organ\n\n- [ ] @Ivy print scores 📅 2024-05-02\n- [x] @Finn book hall ✅ 2024-04-10\n"
        "- [ ] René: sew robes #costume\n- [/] rehearse the Gloria\n",
        "Music.md": "| Piece | Pages | Bought | Borrowed |\n|---|---|---|---|\n| Gloria | 40 | 2019 | no |\n| Requiem | 90 | 2021 | yes |\n"
        "| Magnificat | 25 | 2021 | no |\n",
        "Days/2024-04-01.md": "---\nminutes of practice: 30\nvoice care: 2\n---\nx\n",
        "Days/2024-04-03.md": "---\nminutes of practice: 45\nvoice care: 5\n---\nx\n",
        "Days/2024-05-01.md": "---\nminutes of practice: 20\nvoice care: 3\nguests:\n---\nx\n",
        "practice/Scales.md": "---\nconcert: \"[[Concert]]\"\n---\nx\n",
        "2024 计划.md": "- [x] 换琴弦\n- [ ] 学新曲\n",
    }
)  # fmt: skip


async def selected(question: str, vault: Snapshot = CHOIR) -> Selection:
    time = named_time(question, date(2025, 6, 30), vault.days, vault.stated_days)
    query = await read_query(question, Vocabulary.of(vault), nearest, time)
    assert query is not None
    return choose(query, vault.notes, vault.facts)


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("Which tasks are due in May?", ["@Ivy print scores"]),
        ("What is due before June?", ["@Ivy print scores"]),
        ("What did I finish in April 2024?", ["@Finn book hall"]),
        ("What does Ivy still have to do?", ["@Ivy print scores"]),
        ("open tasks for Ivy Sato", ["@Ivy print scores"]),
        ("Which tasks does René have?", ["René: sew robes"]),
        ("tasks tagged #costume", ["René: sew robes"]),
        ("What is in progress?", ["rehearse the Gloria"]),
        ("2024计划还有哪些没完成？", ["学新曲"]),
    ],
)
async def test_tasks_by_what_they_say_and_when_they_are_due(question: str, texts: list[str]):
    found = await selected(question)
    assert found.query.target == "tasks"
    assert [entry.text[2:].split(" 📅")[0].split(" ✅")[0].split(" #")[0] for entry in found.entries] == texts


@pytest.mark.parametrize("question", ["Which tasks are about the tuba?", "What is the open string?"])
async def test_a_word_that_no_task_has_is_no_question_for_tasks(question: str):
    query = await read_query(question, Vocabulary.of(CHOIR), nearest, None)
    assert query is None or query.target != "tasks"


@pytest.mark.parametrize(
    ("question", "ask", "pieces"),
    [
        ("How many pieces do we have?", "count", ["Gloria", "Requiem", "Magnificat"]),
        ("Which pieces did we buy in 2021?", "list", ["Requiem", "Magnificat"]),
        ("Which pieces are borrowed?", "list", ["Requiem"]),
        ("Which pieces are not borrowed?", "list", ["Gloria", "Magnificat"]),
        ("Which pieces have more than 30 pages?", "list", ["Gloria", "Requiem"]),
        ("Which piece has the fewest pages?", "extreme", ["Magnificat", "Gloria", "Requiem"]),
    ],
)
async def test_rows_of_the_table_that_the_noun_names(question: str, ask: str, pieces: list[str]):
    found = await selected(question)
    assert (found.query.target, found.query.ask) == ("entries", ask)
    assert [entry.text.split("; ")[0].removeprefix("Piece: ") for entry in found.entries] == pieces


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("Who sings tenor?", ["Finn Roy"]),
        ("Who teaches Finn?", ["Ivy Sato"]),
        ("Who is in the alto?", ["Ivy Sato"]),
    ],
)
async def test_people_by_what_their_notes_say(question: str, titles: list[str]):
    assert [entry.title for entry in (await selected(question)).entries] == titles


@pytest.mark.parametrize(
    "question", ["Who is Finn?", "What are the risks of Concert?", "What risks does the Concert have?"]
)
async def test_who_somebody_is_and_parts_of_a_note_are_no_selection(question: str):
    assert await read_query(question, Vocabulary.of(CHOIR), nearest, None) is None


@pytest.mark.parametrize(
    ("question", "reading", "first"),
    [
        ("How many minutes of practice did I do in April?", "sum of minutes of practice", "2024-04-03"),
        ("How many minutes did I spend on practice in April?", "sum of minutes of practice", "2024-04-03"),
        ("What was the average voice care in April 2024?", "average of voice care", "2024-04-03"),
        (
            "Which day had the most minutes of practice?",
            "notes by minutes of practice, largest first",
            "2024-04-03",
        ),
        ("Which day in May had the worst voice care?", "notes with date", "2024-05-01"),
    ],
)
async def test_totals_and_extremes_of_days(question: str, reading: str, first: str):
    found = await selected(question)
    assert found.query.text().startswith(reading)
    assert found.entries[0].title == first


async def test_of_two_names_that_differ_in_case_the_property_of_notes_is_the_one_that_is_lacked():
    vault = snapshot_of(
        {
            "trees/Oak.md": "---\nheight: 9\n---\nx\n",
            "trees/Elm.md": "x\n",
            "Saws.md": "| Saw | Height |\n|---|---|\n| A | 2 |\n",
        }
    )
    assert [entry.title for entry in (await selected("Which trees have no height?", vault)).entries] == [
        "Elm"
    ]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("What is Ivy's voice?", ["Ivy"]),
        ("When did Sato join?", ["Sato"]),
        ("2024还有什么？", []),
        ("What does Ann sing?", []),
    ],
)
def test_a_part_of_a_title_names_the_one_note_that_has_it(text: str, names: list[str]):
    vocabulary = Vocabulary.of(CHOIR)
    assert [text[place.start : place.end] for _, place in vocabulary.titles_in_part(text)] == names


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What is due before July?", None, "2024-07-01"),
        ("after May", "2024-06-01", None),
        ("before July 2025", None, "2025-07-01"),
        ("七月之前", None, "2024-07-01"),
    ],
)
def test_a_bound_without_a_year_is_of_the_year_of_the_latest_note(
    question: str, start: str | None, end: str | None
):
    time = named_time(question, date(2026, 6, 30), CHOIR.days)
    assert time is not None
    assert (time.start, time.end) == (start, end)


async def test_a_property_that_bounds_another_is_none_that_the_notes_have():
    vault = snapshot_of({"trips/Bari.md": "---\nbudget: 9\n---\nx\n", "trips/Kyiv.md": "x\n"})
    assert await read_query("Which trips were over budget?", Vocabulary.of(vault), nearest, None) is None


@pytest.mark.parametrize(
    "question", ["Which sheets are still open?", "Which sheets are open?", "what sheets are done?"]
)
async def test_a_state_that_notes_have_as_a_value_is_theirs_and_not_that_of_their_tasks(question: str):
    vault = snapshot_of(
        {
            "sheets/A.md": "---\nstatus: open\n---\n- [ ] one\n",
            "sheets/B.md": "---\nstatus: done\n---\n- [x] two\n",
        }
    )
    found = await selected(question, vault)
    assert [entry.title for entry in found.entries] == ["B" if "done" in question else "A"]
