"""Logseq's graphs: pages, journals, tasks, properties of blocks, and references to blocks of other pages."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.ingest.files.discovery import discover, made_text
from agentic_rag.notes.catalogue import note_of
from agentic_rag_readers.programs.logseq_files import journal_day, page_name, page_text
from growth import assert_linear
from written_files import write

BLOCK = "64f0c0de-1111-4222-8333-abcdefabcdef"
FILES = {
    "logseq/config.edn": "{}",
    "logseq/bak/pages/House___Boiler/2024.md": "- old",
    "pages/House___Boiler.md": (
        "tags:: [[home]], #heat\nalias:: kettle\ntype:: machine\n\n- ## Service\n"
        f"\t- The boiler opens at 40 bar\n\t  id:: {BLOCK}\n\t  collapsed:: true\n"
        "\t- TODO [#A] Call the plumber\n\t  SCHEDULED: <2024-03-06 Wed>\n\t  :LOGBOOK:\n"
        "\t  CLOCK: [2024-03-05 Tue 10:00:12]\n\t  :END:\n\t- DONE Paint it\n- Pump\n  rating:: 5\n"
    ),
    "journals/2024_03_05.md": f"- Saw (({BLOCK})) with [[Ida]] {{{{query (todo now)}}}}\n- LATER Write to #[[Ida Lindt]]\n",
    "pages/Ida.md": f"- {{{{embed (({BLOCK}))}}}}, [as said]((({BLOCK})))\n- (({BLOCK[:-1]}0))\n",
}


def test_a_graph(tmp_path: Path) -> None:
    root = write(tmp_path / "My graph", FILES)
    scan = discover([root])
    assert [(one.reason) for one in scan.skipped_files] == ["Logseq's own folder; its 2 files are left out"]
    assert scan.exports == ((str(root), "Logseq's graph: 3 pages"),)
    journal, boiler, ida = (item.parse() for item in sorted(scan.items, key=lambda item: item.document_id))
    assert (boiler.id, boiler.title, boiler.tags, boiler.aliases) == (
        "pages/House___Boiler.md", "House/Boiler", ("home", "heat"), ("kettle",),
    )  # fmt: skip
    assert boiler.url == "logseq://graph/My%20graph?page=House%2FBoiler"
    assert boiler.metadata["type"] == "machine"
    assert boiler.text.endswith(
        "- Service\n\t- The boiler opens at 40 bar\n\t- [ ] Call the plumber [scheduled:: 2024-03-06]\n"
        "\t- [x] Paint it\n- Pump [rating:: 5]\n"
    )
    rows = {
        row.text: (row.kind, row.state, [(f.key, f.value) for f in row.fields])
        for row in note_of(boiler).rows
    }
    assert rows["Call the plumber"] == ("task", " ", [("scheduled", "2024-03-06")])
    assert rows["Pump"] == ("item", None, [("rating", 5)])
    assert (journal.title, journal.aliases) == ("2024-03-05", ("Mar 5th, 2024",))
    assert journal.date is not None
    assert journal.date.date() == date(2024, 3, 5)
    assert journal.text.endswith(
        "- Saw The boiler opens at 40 bar with [[Ida]] \n- [ ] Write to [[Ida Lindt]]\n"
    )
    assert made_text(root, "pages/Ida.md", "pages/Ida.md") == ida.text
    assert ida.text == f"- The boiler opens at 40 bar, as said\n- (({BLOCK[:-1]}0))\n"


def test_a_block_that_changes_changes_the_pages_that_refer_to_it(tmp_path: Path) -> None:
    root = write(tmp_path, FILES)
    before = {item.document_id: item.content_hash for item in discover([root]).items}
    page = root / "pages/House___Boiler.md"
    page.write_text(page.read_text().replace("40 bar", "50 bar"))
    (root / "pages/New.md").write_text("- new")
    after = {item.document_id: item.content_hash for item in discover([root]).items}
    assert {key for key in before if before[key] != after[key]} == set(before)
    (one,) = (item for item in discover([root / "journals"]).items)
    assert one.document_id == "2024_03_05.md"
    assert "page=Mar%205th%2C%202024" in str(one.parse().url)


def test_names_of_pages_and_days_of_journals() -> None:
    assert [page_name(path) for path in ("pages/a%2Fb.md", "pages/a___b.md", "journals/2024_03_11.md")] == [
        "a/b", "a/b", "Mar 11th, 2024",
    ]  # fmt: skip
    assert journal_day("journals/2024-03-22.md") == date(2024, 3, 22)
    assert journal_day("journals/2024_13_05.md") is None
    assert journal_day("pages/2024_03_05.md") is None


def test_code_and_what_is_not_closed_stay() -> None:
    text = "- ```python\n  x:: 1\n  ```\n- a\n  :LOGBOOK:\n  lost\n- TODO b\n  second line\n"
    assert page_text(text, "pages/a.md", {}) == "- ```python\n  x:: 1\n  ```\n- a\n- [ ] b\n  second line\n"


@given(st.text(alphabet="-#:()[]{}` \n\tTODOabid", max_size=200))
def test_any_text_is_read_and_the_block_after_it(text: str) -> None:
    assert "plain words" in page_text(f"{text}\n- plain words\n", "pages/a.md", {})


@pytest.mark.parametrize(
    "piece", ["a:: b\n", "- a\n", "{{embed ((", "- a\n  b:: c\n", "```\n", "[a](((", "#[["]
)
def test_reading_takes_linear_time(piece: str) -> None:
    assert_linear(lambda text: page_text(text, "pages/a.md", {}), piece)
