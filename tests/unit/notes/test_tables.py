"""Tables in HTML and in directives of MyST, and what else stands in directives."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.notes.tables import MAX_COLUMNS
from agentic_rag.notes.units import read_units

Rows = list[tuple[tuple[str, str], ...]]


def rows_of(text: str) -> Rows:
    return [unit.columns for unit in read_units(text).units if unit.kind == "row"]


def html(*rows: str) -> str:
    return f"<table><tbody>{''.join(f'<tr>{row}</tr>' for row in rows)}</tbody></table>\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            html("<th>Title</th><th>Pages <span class=\"dataview small-text\">2</span></th>", "<td><span>Dune</span></td><td>600</td>"),
            [(("Title", "Dune"), ("Pages", "600"))],
        ),
        (
            html("<th>Boat</th><th>Crew</th>", '<td rowspan="2">Ketch</td><td>Ann</td>', "<td>Ben</td>"),
            [(("Boat", "Ketch"), ("Crew", "Ann")), (("Boat", "Ketch"), ("Crew", "Ben"))],
        ),
        (
            html("<th>Day</th><th>From</th><th>To</th>", "<td>Mon</td><td colspan=2>closed</td>"),
            [(("Day", "Mon"), ("From", "closed"), ("To", "closed"))],
        ),
        (html("<td>Rent</td><td>900 &euro;</td>"), [(("", "Rent"), ("", "900 €"))]),
        (html("<th>Rent</th><td><b>900</b></td>"), [(("", "Rent"), ("", "900"))]),
        ("<table><tr><th>A<th>B<tr><td>1<td>2", [(("A", "1"), ("B", "2"))]),
        (html("<th>A</th>", "<td></td>", "<td rowspan=99999 colspan=99999>x</td>")[:-1], [(("A", "x"),)]),
        (
            "```{list-table} Fees\n:header-rows: 1\n\n* - Boat\n  - Fee\n* - Ketch\n  - 40 €\n    a year\n* - Yawl\n  - 30 €\n```\n",
            [(("Boat", "Ketch"), ("Fee", "40 € a year")), (("Boat", "Yawl"), ("Fee", "30 €"))],
        ),
        (":::{list-table}\n- - Ketch\n  - two masts\n:::\n", [(("", "Ketch"), ("", "two masts"))]),
        (
            '```{csv-table}\n:header: Boat, "Crew, most"\n\nKetch, "4, or 5"\n```\n',
            [(("Boat", "Ketch"), ("Crew, most", "4, or 5"))],
        ),
        ("```{csv-table}\n---\nheader-rows: 1\ndelim: ;\n---\nBoat;Fee\nYawl;30\n```\n", [(("Boat", "Yawl"), ("Fee", "30"))]),
        ("```{list-table}\n:header-rows: 9\n* - A\n```\n", []),
    ],
    ids=[
        "Dataview", "rows joined", "columns joined", "no head", "names in front", "no ends", "endless spans",
        "list", "list in colons", "csv", "other sign", "nothing but a head",
    ],
)  # fmt: skip
def test_a_table_has_its_rows(text: str, expected: Rows) -> None:
    assert rows_of(f"# Club\n\n{text}") == expected


def test_a_row_is_quoted_where_it_stands_and_others_beside_the_table() -> None:
    text = f"<h3>May</h3><div>{html('<th>A</th>', '<td>one</td>').strip()}</div>\n"
    lead, row = (unit for unit in read_units(text).units if unit.text in ("May", "one"))
    assert (lead.kind, row.lead) == ("sentence", "May")
    assert text[row.start : row.end] == "<tr><td>one</td>"


def test_a_row_of_many_cells_is_cut() -> None:
    (columns,) = rows_of(html("<td>x</td>" * 3 * MAX_COLUMNS))
    assert len(columns) == MAX_COLUMNS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```{note}\n:class: x\n\nMind the *gap*.\n```\n", [((), "Mind the gap.")]),
        ("````{admonition} Care\n```{tip}\nAsk {term}`Ann <a>`.\n```\n````\n", [(("Care",), "Ask Ann.")]),
        (
            ":::{dropdown} Why so?\nBecause.\n:::\n\nOutside.\n",
            [(("Why so?",), "Because."), ((), "Outside.")],
        ),
        ("```{glossary}\nKetch\n: Two masts.\n```\n", [((), "Two masts.")]),
        ("```ad-warning\ntitle: Hot\ncollapse: open\nWear gloves.\n```\n", [(("Hot",), "Wear gloves.")]),
        ("```{figure} boat.png\nThe ketch in May.\n```\n", [((), "The ketch in May.")]),
        ("```{code-block} python\nx = 1\n```\n", [((), "x = 1")]),
        ("```{r}\nplot(x)\n```\n", [((), "plot(x)")]),
        ("````md\n:::{note}\nx\n:::\n````\n", [((), ":::{note}\nx\n:::")]),
        ("```{note}\nNo end.\n", [((), "No end.")]),
        ("```{note} About `sails`\nReef early.\n```\n", [(("About sails",), "Reef early.")]),
        ("````{note}\n:::{tip}\nReef early.\n:::\n````\n", [((), "Reef early.")]),
        (":::{code} sh\n:::\n\nOutside.\n", [((), "Outside.")]),
    ],
    ids=[
        "options",
        "nested",
        "colons",
        "glossary",
        "plugin",
        "caption",
        "code",
        "program",
        "shown",
        "open",
        "mark of code",
        "colons in marks",
        "code in colons",
    ],
)
def test_what_stands_in_a_directive_is_text_unless_it_is_code(
    text: str, expected: list[tuple[tuple[str, ...], str]]
) -> None:
    assert [(unit.headings, unit.text) for unit in read_units(text).units] == expected


@given(st.text(alphabet='<>tdrh/= 123`{}:-*,\n"ablelist', max_size=120))
def test_any_text_is_read_and_quoted_in_order(text: str) -> None:
    for opening in ("<table><tr>", "```{list-table}\n* - ", "```{csv-table}\n", "```{note}\n"):
        units = read_units(f"{opening}{text}").units
        assert all(a.start <= b.start and a.end <= b.end for a, b in pairwise(units))
