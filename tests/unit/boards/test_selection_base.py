"""A selection as an Obsidian Base: the notes that it shows, what it cannot express, whose file it may replace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.boards.selection_base import selection_base, write_selection
from agentic_rag.domain.filters import Comparison, Or, as_dict, matches, parse_terms
from agentic_rag.domain.notes import Field, Note, Row
from agentic_rag.errors import FilterError, InputError, RunError
from agentic_rag.notes.bases import read_base, select
from agentic_rag.questions.note_queries.choosing import choose
from agentic_rag.questions.note_queries.query import Query

QUESTION = "Which games cost more than 20?"
PRICY = Comparison("price", "$gt", 20)


def note(path: str, opening: int = 900, at: int = 10, **properties: Any) -> Note:
    """A note whose text begins after its properties, which stand at ``at``."""
    fields = tuple(Field(key, value, at, at + 5) for key, value in properties.items())
    title = Path(path).stem
    url = f"obsidian://open?vault=vault&file={path}"
    return Note(path, path, title, url=url, fields=fields, opening=(opening, opening + 5))


NOTES = (
    note("games/Dota.md", price=0, genre="[[MOBA]]"),
    note("games/Elden Ring.md", price=59.99, genre="[[RPG]]"),
    note("games/New World.md", price=39.99, genre="[[RPG]]"),
    note("games/Unknown.md", price=None),
    note("books/Dune.md", price=25),
)


def state(
    query: Query, notes: Sequence[Note] = NOTES, filters: Sequence[str] = (), question: str = QUESTION
) -> dict[str, Any]:
    """The state of a run whose question was read as the query."""
    given = parse_terms(filters)
    facts = {one.document_id: one.facts() for one in notes}
    within = [one for one in notes if given is None or matches(given, facts[one.document_id])]
    chosen = choose(query, within, facts)
    selection = {
        "status": "ok" if chosen.entries else "none",
        "reason": None,
        "reading": query.text(),
        "query": query.to_dict(),
        "count": chosen.count,
        "entries": [asdict(entry) for entry in chosen.entries],
        "nearest": chosen.nearest,
    }
    request = {"asked": question, "filters": None if given is None else as_dict(given)}
    return {"request": request, "selection": selection}


def paths_of(run: dict[str, Any]) -> list[str]:
    return [entry["path"] for entry in run["selection"]["entries"]]


@pytest.mark.parametrize(
    ("query", "filters"),
    [
        (Query(conditions=(PRICY,), shown_keys=("price",)), []),
        (Query(conditions=(PRICY,)), ["folder=games"]),
        (Query(conditions=(Comparison("genre", "$eq", "[[RPG]]"),), order=("price", True)), []),
        (Query(ask="extreme", order=("price", False), shown_keys=("price",)), []),
        (Query(conditions=(Or((PRICY, Comparison("genre", "$eq", "[[MOBA]]"))),)), []),
        (Query(conditions=(Comparison("folder", "$eq", "games"),)), []),
        (Query(conditions=(PRICY,)), ["price>20", "price<50"]),
    ],
)
def test_a_base_shows_the_notes_of_the_answer(query: Query, filters: list[str]):
    run = state(query, filters=filters)
    base = selection_base(run, NOTES)
    (view,) = read_base(base.text, "a.base").views
    shown = [one.path for one in select(NOTES, view)]
    assert shown == paths_of(run) if query.order else sorted(shown) == sorted(paths_of(run))
    assert (view.unsupported_filters, view.limit) == ((), None)
    assert (base.notes, base.missing, base.extra) == (len(shown), (), ())


def test_the_file_as_obsidian_reads_it():
    query = Query(conditions=(PRICY,), shown_keys=("price",), order=("price", True))
    lines = selection_base(state(query), NOTES).text.splitlines()
    assert lines[0] == f"# {QUESTION}"
    assert lines[1].startswith("# agentic-rag ")
    assert lines[2:] == [
        "filters:",
        "  and:",
        "  - note.price > 20",
        "  - '!note.price.isEmpty()'",
        "views:",
        "- type: table",
        f"  name: '{QUESTION}'",
        "  order:",
        "  - file.name",
        "  - note.price",
        "  sort:",
        "  - property: note.price",
        "    direction: DESC",
    ]


def test_pictures_of_a_folder_are_not_shown():
    text = selection_base(state(Query(conditions=(Comparison("folder", "$eq", "games"),))), NOTES).text
    (view,) = read_base(text, "a.base").views
    assert select([Note("", "games/cover.png", "cover")], view) == []


def test_a_selection_that_is_empty_today_is_kept():
    base = selection_base(state(Query(conditions=(Comparison("price", "$gt", 99),))), NOTES)
    assert base.notes == 0
    assert "note.price > 99" in base.text


@pytest.mark.parametrize(
    ("selection", "reason"),
    [
        ({}, "was not read as such; ask by what agentic-rag stats lists"),
        ({"status": "empty", "reason": None}, "was not read as such"),
        ({"status": "degraded", "reason": "no model"}, r"\(no model\)"),
    ],
)
def test_a_question_that_selects_nothing(selection: dict[str, Any], reason: str):
    with pytest.raises(InputError, match=reason):
        selection_base({"request": {"asked": "x", "filters": None}, "selection": selection}, NOTES)


@pytest.mark.parametrize(
    ("query", "what"),
    [(Query(target="tasks", state="open"), "their tasks"), (Query(target="entries"), "list items and rows")],
)
def test_tasks_and_entries_are_no_notes(query: Query, what: str):
    notes = [Note("a.md", "a.md", "a", rows=(Row("task", "call", 0, 0, state=" "),))]
    with pytest.raises(InputError, match=f"{what}.*--canvas FILE"):
        selection_base(state(query, notes), notes)


def test_a_question_about_everything_selects_nothing():
    with pytest.raises(InputError, match="about all notes"):
        selection_base(state(Query(ask="overview")), NOTES)


def test_an_order_that_a_base_has_not():
    with pytest.raises(FilterError, match="cannot compare 'tags'"):
        selection_base(state(Query(conditions=(Comparison("tags", "$gt", "a"),))), NOTES)


def test_what_notes_state_in_their_text_is_not_in_a_base():
    inline = note("games/Inline.md", at=950, price=30)
    run = state(Query(conditions=(PRICY,)), [*NOTES, inline])
    assert selection_base(run, [*NOTES, inline]).missing == ("games/Inline.md",)
    with pytest.raises(
        InputError, match=r"none of the selected notes.*\(notes with price > 20\).*as properties"
    ):
        selection_base(state(Query(conditions=(PRICY,)), [inline]), [inline])
    cheap = Query(conditions=(Comparison("price", "$ne", 30), Comparison("folder", "$eq", "games")))
    assert selection_base(state(cheap, [*NOTES, inline]), [*NOTES, inline]).extra == ("games/Inline.md",)


def test_a_day_in_the_name_is_not_in_a_base():
    query = Query(conditions=(Comparison("date", "$gte", "2024-01-01"),))
    daily = Note("2024-05-01.md", "2024-05-01.md", "2024-05-01", date="2024-05-01")
    dated = Note("b.md", "b.md", "b", date="2024-05-02", fields=(Field("created", "2024-05-02", 0, 0),))
    base = selection_base(state(query, [daily, dated]), [daily, dated])
    assert (base.notes, base.missing) == (1, ("2024-05-01.md",))


def test_a_base_is_written_again_and_replaced_by_the_same_question_alone(tmp_path: Path):
    path = tmp_path / "games.base"
    report = write_selection(state(Query(conditions=(PRICY,), shown_keys=("price",))), NOTES, path)
    assert (report.path, report.notes, report.columns) == (str(path), 3, ("title", "price"))
    write_selection(state(Query(conditions=(PRICY,)), filters=["folder=games"]), NOTES, path)
    assert "inFolder" in path.read_text()
    with pytest.raises(InputError, match=r"of another question \('Which games cost more than 20\?'\)"):
        write_selection(state(Query(conditions=(PRICY,)), question="Others?"), NOTES, path)


@pytest.mark.parametrize(
    "change", [lambda text: text + "#", lambda text: text.partition("views")[0], lambda text: "views: []\n"]
)
def test_the_base_of_a_person_stays_as_it_is(tmp_path: Path, change: Any):
    path, run = tmp_path / "games.base", state(Query(conditions=(PRICY,)))
    write_selection(run, NOTES, path)
    path.write_text(change(path.read_text()))
    before = path.read_bytes()
    with pytest.raises(InputError, match="did not write, or that was changed since"):
        write_selection(run, NOTES, path)
    assert path.read_bytes() == before


def test_an_empty_file_is_filled(tmp_path: Path):
    (tmp_path / "a.base").touch()
    assert write_selection(state(Query(conditions=(PRICY,))), NOTES, tmp_path / "a.base").notes == 3


def test_paths_are_those_of_the_vault_around_it(tmp_path: Path):
    (tmp_path / ".obsidian").mkdir()
    for one in NOTES:
        (tmp_path / "mine" / "vault" / one.path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mine" / "vault" / one.path).touch()
    path = tmp_path / "bases" / "games.base"
    report = write_selection(state(Query(conditions=(Comparison("folder", "$eq", "games"),))), NOTES, path)
    assert (report.notes, report.missing) == (4, ())
    assert 'file.inFolder("mine/vault/games")' in path.read_text()
    assert 'file.inFolder("mine/vault")' in path.read_text()


def test_what_is_no_file_of_a_base(tmp_path: Path):
    with pytest.raises(InputError, match=r"suffix \.base, not 'games\.yaml'"):
        write_selection(state(Query(conditions=(PRICY,))), NOTES, tmp_path / "games.yaml")
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="cannot be written"):
        write_selection(state(Query(conditions=(PRICY,))), NOTES, tmp_path / "file" / "a.base")


@pytest.mark.parametrize("question", ["a\n# b\u2028c: 'd'", "什么\x00游戏？", "x" * 5000, "\udcff"])
def test_any_question_is_a_head_that_yaml_reads(tmp_path: Path, question: str):
    run = state(Query(conditions=(PRICY,)), question=question)
    for _ in range(2):
        write_selection(run, NOTES, tmp_path / "a.base")
    (view,) = read_base((tmp_path / "a.base").read_text("utf-8"), "a.base").views
    assert len(select(NOTES, view)) == 3
