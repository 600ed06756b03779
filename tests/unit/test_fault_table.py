"""The tests and benchmarks that the documentation names for its promises exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
FILES = {path.stem for folder in ("tests", "evaluation") for path in (PROJECT / folder).rglob("*.py")}
NAMED = re.compile(r"`?\b((?:test|bench)_[a-z_]+)`")


@pytest.mark.parametrize("page", ["reliability.md", "service.md"])
def test_every_named_test_exists(page: str) -> None:
    named = set(NAMED.findall((PROJECT / "docs" / page).read_text("utf-8")))
    assert named <= FILES


def test_every_row_of_the_fault_table_names_a_test() -> None:
    text = (PROJECT / "docs/reliability.md").read_text("utf-8")
    table = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert table is not None
    rows = table.group().splitlines()[2:]
    assert len(rows) > 40
    assert [row for row in rows if not NAMED.search(row.rstrip(" |").rpartition("|")[2])] == []
