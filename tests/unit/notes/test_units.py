"""The units of a note: what each kind is, where it stands, and what gives it meaning."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.notes import units
from agentic_rag.notes.catalogue import note_of
from agentic_rag.notes.markdown import parse_markdown
from agentic_rag.notes.units import MAX_ITEM, Unit, read_plain, read_units
from growth import assert_linear


def units_of(text: str) -> tuple[Unit, ...]:
    return read_units(text).units


def shown(text: str) -> list[str]:
    return [unit.display_text() for unit in units_of(text)]


@pytest.mark.parametrize(
    ("text", "headings", "expected"),
    [
        ("# Team\n\n## Bilal Khan\n\nHe draws.\n", ("Team", "Bilal Khan"), "He draws."),
        ("# A\n\n### Deep\n\nx y z.\n\n## B\n\nLast one.\n", ("A", "B"), "Last one."),
        ("Ferry\n=====\n\nSummer\n------\n\nIt leaves at seven.\n", ("Ferry", "Summer"), "It leaves at seven."),
        ("**Summer timetable**\n\nThe tram leaves.\n", ("Summer timetable",), "The tram leaves."),
        ("__Owner:__\n\nKept by Priya.\n", ("Owner",), "Kept by Priya."),
        ("# A\n\n**Bold**\nOf this paragraph.\n", ("A", "Bold"), "Of this paragraph."),
        ("# A\n\n**Bold**\nOf it.\n\nNot of it.\n", ("A",), "Not of it."),
        ("**Bold**\n\nOf it.\n\n# A\n\nNot of it.\n", ("A",), "Not of it."),
        ("# [[tea/Oolong|Oolong]] **tea**\n\nRolled.\n", ("Oolong tea",), "Rolled."),
        ("> [!warning] Acid\n> Pour acid into water.\n", ("Acid",), "Pour acid into water."),
        ("> [!faq]- How long?\n> Forty minutes.\n", ("How long?",), "Forty minutes."),
        ("> [!tip] A\n> > [!tip] Nested\n> > Wear gloves.\n", ("A", "Nested"), "Wear gloves."),
        ("> [!note]\n> No title.\n", (), "No title."),
        ("# 标题\n\n放盐！\n", ("标题",), "放盐！"),
    ],
)  # fmt: skip
def test_a_sentence_stands_under_its_headings(text: str, headings: tuple[str, ...], expected: str):
    unit = units_of(text)[-1]
    assert (unit.kind, unit.headings, unit.display_text()) == ("sentence", headings, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One sentence. And another one.\n", ["One sentence.", "And another one."]),
        ("Wrapped\nover lines.\n", ["Wrapped over lines."]),
        ("炒菜很好。放盐！\n", ["炒菜很好。", "放盐！"]),
        ("Water<sub>2</sub> &amp; *oil* with [a link](x.md).\n", ["Water2 & oil with a link."]),
        ('<div class="x"><b>Bold</b> text in the box.</div>\n', ["Bold text in the box."]),
        ("> Said by someone.\n> Twice.\n", ["Said by someone.", "Twice."]),
        ("> [!info] Title alone\n", ["Title alone"]),
        ("> [!failure] Bad\n> It broke.\n", ["✗ It broke."]),
        ("A block. ^a1b2c3\n", ["A block."]),
        ("Before.\r\n\r\nFirst one. Second\r\none.\r\n", ["Before.", "First one.", "Second one."]),
        ("a\x00b \ud800 c.\n", ["ab \ud800 c."]),
    ],
)
def test_sentences_as_they_are_read(text: str, expected: list[str]):
    assert shown(text) == expected


NESTED = "- Pancakes\n\t- two eggs\n\t- 200 ml of milk\n- Waffles\n\t- four eggs\n"
HOSTS = "# Hosts\n\n* Nimbus\n    * address: 10.0.0.12\n    * port: 9090\n"


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        (NESTED, "item", ["Pancakes", "Pancakes: two eggs", "Pancakes: 200 ml of milk", "Waffles", "Waffles: four eggs"]),
        (HOSTS, "item", ["Nimbus", "Nimbus: address: 10.0.0.12", "Nimbus: port: 9090"]),
        ("* 盐 = 1.5g\n* 可乐\n", "item", ["盐 = 1.5g", "可乐"]),
        ("- A:\n  - b:\n    - c\n", "item", ["A:", "A: b:", "A: b: c"]),
        ("1. Mix\n2) Bake\n", "step", ["Mix", "Bake"]),
        ("> 1. one\n> 2. two\n", "step", ["one", "two"]),
        ("- first\n\n  More of the first.\n", "item", ["first", "first: More of the first."]),
    ],
)  # fmt: skip
def test_a_list_item_is_shown_below_the_items_above_it(text: str, kind: str, expected: list[str]):
    assert shown(text) == expected
    assert {unit.kind for unit in units_of(text)} == {kind}


def test_steps_have_their_numbers_and_what_stands_below_them_is_of_their_list():
    units = units_of("1. Mix\n2. Bake\n   - hot\n7. Eat\n\n- apart\n")
    assert [(unit.kind, unit.number, unit.depth) for unit in units] == [
        ("step", 1, 0), ("step", 2, 0), ("item", None, 1), ("step", 7, 0), ("item", None, 0)
    ]  # fmt: skip
    assert [unit.block for unit in units[:4]] == [units[0].block] * 4
    assert units[4].block != units[0].block


@pytest.mark.parametrize(
    ("text", "state", "expected"),
    [
        ("- [ ] call plumber\n", " ", "☐ call plumber"),
        ("- [x] Scrape the hull\n", "x", "☑ Scrape the hull"),
        ("* [X] Scrape\n", "X", "☑ Scrape"),
        ("- [/] Sew the sail\n", "/", "◐ Sew the sail"),
        ("- [-] Install radar\n", "-", "☒ Install radar"),
        ("- [?] Why\n", "?", "[?] Why"),
        ("1. [ ] numbered\n", " ", "☐ numbered"),
        ("- Garden\n  - [ ] Dig the pond\n", " ", "☐ Garden: Dig the pond"),
        ("> [!todo] Now\n> - [ ] Order gloves\n", " ", "☐ Order gloves"),
    ],
)
def test_a_task_has_its_state(text: str, state: str, expected: str):
    unit = units_of(text)[-1]
    assert (unit.kind, unit.state, unit.display_text()) == ("task", state, expected)


@pytest.mark.parametrize("text", ["- [] no box\n", "- [xx] no box\n", "- [x]no space\n", "[ ] no list\n"])
def test_what_is_no_box_is_no_task(text: str):
    assert all(unit.kind != "task" for unit in units_of(text))


def test_a_board_has_its_lanes_as_headings_and_its_settings_are_nothing():
    text = (
        "---\n\nkanban-plugin: basic\n\n---\n\n## Doing\n\n- [ ] Dig the pond\n\n\n## Done\n\n**Complete**\n"
        '- [x] Sow the beans\n\n\n%% kanban:settings\n```\n{"kanban-plugin":"basic"}\n```\n%%\n'
    )
    assert [(unit.display_text(), unit.headings) for unit in units_of(text)] == [
        ("☐ Dig the pond", ("Doing",)), ("☑ Sow the beans", ("Done", "Complete"))
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "columns"),
    [
        ("| Attic | blue |", (("Room", "Attic"), ("Key", "blue"))),
        ("| Cellar |  |", (("Room", "Cellar"),)),
        ("| Bath | a \\| b |", (("Room", "Bath"), ("Key", "a | b"))),
        ("| [[Rooms/Hall\\|Hall]] | **red** |", (("Room", "Hall"), ("Key", "red"))),
        ("Porch | green", (("Room", "Porch"), ("Key", "green"))),
    ],
)
def test_a_row_has_the_names_of_its_columns(row: str, columns: tuple[tuple[str, str], ...]):
    text = f"# Rooms\n\n| Room | Key |\n|---|:-:|\n{row}\n"
    (unit,) = units_of(text)
    assert (unit.kind, unit.columns, unit.text) == ("row", columns, columns[0][1])
    assert unit.display_text() == " · ".join(f"{name}: {cell}" for name, cell in columns)
    assert text[unit.start : unit.end] == row


@pytest.mark.parametrize("table", ["| a |\n|---|\n", "| a | b |\n|---|---|\n|  |  |\n"])
def test_a_table_without_cells_has_no_rows(table: str):
    assert units_of(table) == ()


@pytest.mark.parametrize(
    ("line", "expected", "value"),
    [
        ("rating: 5", "rating: 5", 5),
        ("done: true", "done: true", True),
        ("genre: [a, b]", "genre: a, b", ["a", "b"]),
        ("genre:\n  - a\n  - b", "genre: a, b", ["a", "b"]),
        ("wellbeing:\n  mood: 3", "wellbeing.mood: 3", 3),
        ('author: "[[Ann|A.]]"', "author: A.", "[[Ann|A.]]"),
        ("date: 2024-05-01", "date: 2024-05-01", "2024-05-01"),
        ("评分: 5", "评分: 5", 5),
    ],
)
def test_a_property_has_its_name_and_value(line: str, expected: str, value: Any):
    text = f"---\n{line}\n---\nText.\n"
    unit, sentence = units_of(text)
    assert (unit.kind, unit.display_text(), unit.value, unit.headings) == ("property", expected, value, ())
    assert text[unit.start : unit.end].strip() in line
    assert (sentence.kind, sentence.text) == ("sentence", "Text.")


@pytest.mark.parametrize("line", ["empty:", "empty: []", 'empty: ""'])
def test_a_property_without_a_value_is_told_and_no_unit(line: str):
    reading = read_units(f"---\n{line}\n---\n")
    assert (reading.units, reading.empty) == ((), frozenset({"empty"}))


@pytest.mark.parametrize(
    "line",
    [
        "aliases: [q]",
        "cssclasses: wide",
        "publish: true",
        "layout: page",
        "dg-publish: true",
        "dgPassFrontmatter: true",
        'title: "{{title}}"',
    ],
)
def test_what_steers_the_program_is_no_unit(line: str):
    assert units_of(f"---\n{line}\n---\n") == ()


@pytest.mark.parametrize(
    ("text", "kind", "expected", "fields"),
    [
        ("price:: 20\n", "property", "price: 20", {}),
        ("**Basic Field**:: value\n", "property", "Basic Field: value", {}),
        ("I met [[Ann]] [mood:: good] today.\n", "sentence", "I met Ann mood: good today.", {"mood": "good"}),
        ("It was (weather:: wet) again.\n", "sentence", "It was wet again.", {"weather": "wet"}),
        ("- 500g oatmeal [expires:: 2023-05-05]\n", "item", "500g oatmeal (expires: 2023-05-05)", {"expires": "2023-05-05"}),
        ("- Phone: 555-0101\n", "item", "Phone: 555-0101", {}),
        ("- **Term**: what it means\n", "item", "Term: what it means", {}),
        ("What drives the tides::The moon.\n", "sentence", "What drives the tides: The moon.", {}),
    ],
)  # fmt: skip
def test_named_values_inside_the_text(text: str, kind: str, expected: str, fields: dict[str, Any]):
    (unit,) = units_of(text)
    assert (unit.kind, unit.display_text()) == (kind, expected)
    assert {one.key: one.value for one in unit.fields} == fields
    assert all(text[one.start : one.end].strip() == str(one.value) for one in unit.fields)


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("- mood:: great\n", "property", "mood: great"),
        ("* **sleep**:: 9\n", "property", "sleep: 9"),
        ("- [with:: Ann]\n", "property", "with: Ann"),
        ("- Ash\n  - price:: 31\n", "item", "Ash: price: 31"),
        ("- [ ] due:: 2025-05-01\n", "task", "☐ due: 2025-05-01"),
        ("- met [with:: Ann] again\n", "item", "met with: Ann again"),
    ],
)
def test_an_item_that_is_one_field_is_a_property_of_the_note(text: str, kind: str, expected: str):
    unit = units_of(text)[-1]
    assert (unit.kind, unit.display_text()) == (kind, expected)


@pytest.mark.parametrize("text", ["empty::\n", "- empty::\n", "**Empty**::\n"])
def test_a_field_without_a_value_is_told_and_no_unit(text: str):
    reading = read_units(text)
    assert reading.units == ()
    assert {name.casefold() for name in reading.empty} == {"empty"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```sh\nrun --fast\n```\n", ["run --fast"]),
        ("~~~\na\n\nb  \n~~~\n", ["a\n\nb"]),
        ("Before.\n\n```py\nx = 1\n", ["Before.", "x = 1"]),
        ("```\n%% kept %%\n<!-- kept -->\n```\n", ["%% kept %%\n<!-- kept -->"]),
        ("```dataview\nLIST\n```\n\n```mermaid\ngraph TD\n```\n", []),
        ("```\n```\n", []),
        ("```\n\n\n", []),
    ],
)
def test_code_is_one_unit_and_programs_of_plugins_are_none(text: str, expected: list[str]):
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "lead"),
    [
        ("To restart:\n\n```sh\nrun\n```\n", "To restart:"),
        ("What is needed?\n\n- flour\n", "What is needed?"),
        ("Ingredients\n- flour\n", "Ingredients"),
        ("Which planet?\n?\nJupiter.\n", "Which planet?"),
        ("Lu Yu wrote it. He lived in Tang.\n", "Lu Yu wrote it."),
        ("#flashcards\n\nWater is wet.\n", None),
        ("A sentence that is complete.\n\n- flour\n", None),
        ("To restart:\n\n# Other\n\n- flour\n", None),
    ],
)
def test_what_leads_a_block_gives_it_meaning(text: str, lead: str | None):
    unit = units_of(text)[-1]
    assert unit.lead == lead
    assert lead is None or lead not in unit.display_text()


@pytest.mark.parametrize(
    ("line", "key", "text"),
    [
        ("人数：3", "人数", "3"),
        ("价格：20元", "价格", "20元"),
        ("**房间**：402", "房间", "402"),
        ("12：30 开始", None, "12：30 开始"),
        ("比分 3：2", None, "比分 3：2"),
    ],
)
def test_a_line_names_its_number_after_a_wide_colon(line: str, key: str | None, text: str):
    (unit,) = read_units(line).units
    assert (unit.key, unit.text) == (key, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Checked yearly.[^1]\n\n[^1]: By Lindt and Co.\n", ["Checked yearly. (By Lindt and Co.)"]),
        ("Sea.[^a]\n\nSky above.[^b]\n\n[^a]: One.\n[^b]: Two.\n", ["Sea. (One.)", "Sky above. (Two.)"]),
        ("Inline.^[The key is with [[Ruth]].]\n", ["Inline. (The key is with Ruth.)"]),
        ("- item[^1]\n\n[^1]: Its note.\n", ["item (Its note.)"]),
        ("No such note.[^9]\n", ["No such note."]),
    ],
)
def test_a_footnote_belongs_to_what_refers_to_it(text: str, expected: list[str]):
    assert shown(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\n",
        "# Heading alone\n",
        "%% a comment %%\n",
        "%% over\n\nlines\n\n- [ ] with a task\n%%\n",
        "%% never closed\n\nmore\n",
        "<!-- a comment -->\n",
        "<!--\nover lines\n-->\n",
        "<!--SR:!2024-08-12,3,250-->\n",
        "# {{title}}\n\n<% tp.date.now() %>\n\nDate: {{date}}\n\n- <% tp.x %> item\n",
        "![[pic.png]]\n\n![a caption](x.png)\n",
        "#tag #other/tag\n",
        "https://example.org\n",
        "---\n\n***\n",
        "^block-id\n",
        "---\nexcalidraw-plugin: parsed\n---\n# Excalidraw Data\n\n## Text Elements\n",
        "::: details\n\n:::\n",
        "1. [Design](#1-design)\n2. [[#Deploy]]\n- **[Ask](#ask)**\n",
    ],
)
def test_what_states_nothing_is_no_unit(text: str):
    assert units_of(text) == ()


@pytest.mark.parametrize("line", ["Budget: 60", "预算：6 万", "Next trip: May"])
def test_a_named_value_right_below_a_list_is_no_item(line: str):
    text = f"- [ ] call Ann\n{line}\n- tea\n"
    assert [(unit.kind, unit.key) for unit in read_units(text).units] == [
        ("task", None),
        ("sentence", line.replace("：", ":").split(":")[0]),
        ("item", None),
    ]


def test_a_long_label_is_a_sentence_that_leads_the_others():
    label, other = units_of("**Review within one business week.** Timely reviews help.\n")
    assert (label.text, label.parents) == ("Review within one business week.", ())
    assert (other.text, other.lead) == ("Timely reviews help.", "Review within one business week.")
    assert shown("**Angry clients.** Stay calm.\n") == ["Angry clients: Stay calm."]


def test_of_a_container_its_title_and_text_are_shown():
    note = "::: ::: note\nOne.\n:::\n\n:::: danger{open} Mind the step\n\nTwo.\n::::\n\n| a |\n|---|\n| 3 |\n:::\n"
    assert shown(note) == ["One.", "Mind the step", "Two.", "a: 3"]
    assert shown("```md\n::: tip\n:::\n```\n") == ["::: tip\n:::"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Slates come from Wales. <!-- 4200 -->\n", ["Slates come from Wales."]),
        ("Slates %% or tiles %% come.\n", ["Slates come."]),
        ("Use `%% x %%` and `<!-- y -->` here.\n", ["Use %% x %% and <!-- y --> here."]),
        ("A.\n\n<!--\nnot this\n-->\n\nB.\n", ["A.", "B."]),
        ("| a |\n|---|\n| b %% c %% |\n", ["a: b"]),
    ],
)
def test_comments_are_left_out_of_what_is_shown(text: str, expected: list[str]):
    assert shown(text) == expected


def test_of_a_drawing_its_texts_alone_are_units():
    written = (
        "---\nexcalidraw-plugin: parsed\ntags: [excalidraw]\n---\n==⚠  Switch to EXCALIDRAW VIEW ⚠== You can.\n\n\n"
        "# Excalidraw Data\n\n## Text Elements\nIntake valve ^a1B2c3D4\n\nIt opens at 40 bar ^Zx9Yw8Vu\n\n"
        "## Embedded Files\n0a1b: [[v.png]]\n\n%%\n## Drawing\n```compressed-json\nN4KAk\n```\n%%"
    )
    text = parse_markdown("", "Valve.md", written).text
    assert shown(text) == ["Intake valve", "It opens at 40 bar"]
    assert text.index("Intake") == written.index("Intake")
    assert not any(word in text for word in ("SWITCH", "EXCALIDRAW VIEW", "0a1b", "%%", "N4KAk"))
    assert {unit.headings for unit in units_of(text)} == {()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\nkey: [unclosed\nb: 2\n---\nText.\n", ["Text."]),
        ("---\n- a list\n---\nText.\n", ["Text."]),
        ("---\nkey: 1\nText.\n", ["key: 1 Text."]),
        ("Text.\n\n---\nkey: 1\n---\n", ["Text."]),
    ],
)
def test_broken_properties_leave_the_text(text: str, expected: list[str]):
    assert [one for one in shown(text) if "Text" in one] == expected


def test_a_long_item_is_divided_into_sentences():
    text = f"- {'A sentence of some words here. ' * 20}\n"
    units = units_of(text)
    assert len(text) > MAX_ITEM
    assert [unit.text for unit in units] == ["A sentence of some words here."] * 20
    assert {unit.kind for unit in units} == {"item"}


def test_the_title_is_the_heading_that_a_note_begins_with():
    assert read_units("# Book\n\nText.\n").title == "Book"
    assert read_units("---\na: 1\n---\n# Book\n").title == "Book"
    assert read_units("## Part\n\n# Book\n").title is None
    assert read_units("Text.\n").title is None


def test_headings_have_their_places_and_sections_their_units():
    text = "# A\n\nOne.\n\n## B\n\nTwo.\n\n## C\n\nThree.\n"
    reading = read_units(text)
    assert {path: text[a:b].strip() for path, (a, b) in reading.headings.items()} == {
        ("A",): "# A", ("A", "B"): "## B", ("A", "C"): "## C"
    }  # fmt: skip
    assert [unit.text for unit in reading.under(("A", "B"))] == ["Two."]
    assert [unit.text for unit in reading.under(("A",))] == ["One.", "Two.", "Three."]


def test_a_part_of_a_note_has_the_offsets_and_headings_of_the_note():
    text = "# A\n\n## B\n\nI saw (mood:: good) it.\n"
    at = text.index("I saw")
    (unit,) = read_units(text[at:], start=at, headings=("A", "B")).units
    (whole,) = units_of(text)
    assert (unit.start, unit.end, unit.headings) == (whole.start, whole.end, whole.headings)
    assert unit.fields == whole.fields
    assert text[unit.fields[0].start : unit.fields[0].end] == "good"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two *stars*.\n\nThree", ["One.", "Two *stars*.", "Three"]),
        ("", []),
        ("- - -\n\n***", []),
        ("\ud800 x.", ["\ud800 x."]),
    ],
)
def test_plain_text_has_sentences_and_no_markup(text: str, expected: list[str]):
    units = read_plain(text, start=7, headings=("Group",)).units
    assert [unit.text for unit in units] == expected
    assert all(text[unit.start - 7 : unit.end - 7].split() == unit.text.split() for unit in units)
    assert all(unit.headings == ("Group",) for unit in units)


SECRET = "SECRET"
SNIPPETS = (
    "# Heading\n\n", "## Part *two*\n\n", "Setext\n------\n\n", "**Bold line**\n\n", "A sentence. Another one!\n\n",
    "- item\n- [ ] task\n- [x] done [due:: 2024-05-01]\n\n", "- parent\n    - child: value\n        - [/] deep\n\n",
    "1. step\n2. step two\n   - below\n\n", "| a | b |\n|---|---|\n| 1 | x \\| y |\n| 2 | |\n\n", "key:: value\n\n",
    "> [!tip] Title\n> Text of it.\n> > [!note] In it\n> > - [ ] task\n\n", "> quoted.\n\n", "```py\ncode = 1\n```\n\n",
    "~~~\nnever closed\n\n", "    indented\n\n", f"%% {SECRET} %%\n\n", f"<!-- {SECRET}\n{SECRET} -->\n\n",
    f"Open <!-- {SECRET} --> text. %%{SECRET}%%\n\n", "Note.[^1]\n\n[^1]: Its text.\n\n", "In line.^[Its text.]\n\n",
    "![[pic.png]]\n\n", "#tag #other\n\n", "<% tp.now() %>\n\n", "{{title}} x\n\n", "<div>\nhtml text\n</div>\n\n",
    "可乐很好。放盐！\n\n", "* 盐 = 1.5g\n\n", "What is it?\n?\nAn answer.\n\n", "***\n\n", "text ^id-1\n\n", "\t\n", "\x0c\x0b\n",
    "\ud800\u2028x\n\n", "a\x00b\n\n",
)  # fmt: skip
notes = st.lists(st.sampled_from(SNIPPETS), max_size=8).map("".join)
fronts = st.sampled_from(
    ["", "---\nrating: 5\ntags: [a]\n---\n", "---\nbroken: [\n---\n", "---\nnot closed: 1\n\n"]
)


@given(fronts, notes)
def test_units_lie_in_order_and_apart_and_are_quoted_as_they_are_written(front: str, body: str):
    text = front + body
    place = 0
    for unit in units_of(text):
        assert place <= unit.start < unit.end <= len(text)
        place = unit.end
        quote = text[unit.start : unit.end]
        assert quote == quote.strip() or unit.kind == "code"
        assert any(map(str.isalnum, quote))
        assert unit.display_text().strip()
        assert SECRET not in unit.display_text() or unit.kind == "code"
        assert not quote.startswith(("%%", "<!--")) or unit.kind == "code"
        assert all(unit.start <= one.start <= one.end <= unit.end for one in unit.fields)


@given(fronts, notes)
def test_line_ends_change_nothing_that_is_read(front: str, body: str):
    text = front + body
    windows = units_of(text.replace("\n", "\r\n"))
    assert [(unit.kind, unit.display_text(), unit.headings) for unit in windows] == [
        (unit.kind, unit.display_text(), unit.headings) for unit in units_of(text)
    ]


@given(notes, st.integers(1, 10_000))
def test_a_moved_text_has_moved_units(body: str, by: int):
    moved = read_units(body, start=by).units
    still = read_units(f"\n{body}").units  # no properties at its beginning
    assert [(unit.start - by + 1, unit.end - by + 1, unit.display_text()) for unit in moved] == [
        (unit.start, unit.end, unit.display_text()) for unit in still
    ]


@given(st.text(max_size=200))
def test_any_text_is_read(text: str):
    for unit in units_of(text):
        assert 0 <= unit.start < unit.end <= len(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "[a:: b] ",
        "x [a:: b].\n",
        "- [a:: b] c\n",
        "a:: b\n",
        "- a:: b\n",
        "|1|2|\n",
        "One.\n\n",
        "word ",
        "[^",
        "[^a",
        "`",
        "~",
        "**A b** c\n\n",
        "***x***. y",
    ],
)
def test_reading_takes_linear_time(piece: str):
    assert_linear(
        lambda text: note_of(parse_markdown("n.md", "n.md", f"|a|b|\n|-|-|\n{text}")), piece, 20_000
    )
    assert_linear(read_plain, piece, 40_000)


def test_a_note_is_read_up_to_its_last_unit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(units, "MAX_UNITS", 5)
    counted: list[str] = []

    def counting(text: str) -> str:
        counted.append(text)
        return text

    monkeypatch.setattr(units, "readable", counting)
    assert len(units_of("- item\n" * 1000)) == 5
    assert len(counted) < 20
