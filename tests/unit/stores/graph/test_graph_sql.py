from __future__ import annotations

import pytest

from agentic_rag.stores.graph import sql


def test_values_are_quoted() -> None:
    assert sql.is_in("uuid", ["o'x", "b"]) == "uuid IN ('o''x', 'b')"
    assert sql.has_any("labels", ["a'"]) == "array_has_any(labels, make_array('a'''))"


@pytest.mark.parametrize("make", [sql.is_in, sql.has_any])
def test_no_value_matches_nothing(make: object) -> None:
    assert make("uuid", []) == make("uuid", ["\0"]) == sql.NOTHING  # type: ignore[operator]
