"""Writes at once whose store drops some, or fails some, as one without conditional writes does."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import lancedb
import pytest

from agentic_rag.errors import StoreError
from agentic_rag.stores.lancedb.commits import lost_writes

WriteFaults = Callable[..., None]


@pytest.fixture
def write_faults(monkeypatch: pytest.MonkeyPatch) -> WriteFaults:
    """Which of the eight writes, by number, are dropped without a word, and which fail."""
    add = lancedb.AsyncTable.add

    def arranged(dropped: tuple[int, ...] = (), failing: tuple[int, ...] = ()) -> None:
        numbers = count()

        async def faulty(table: Any, rows: Any) -> Any:
            number = next(numbers)
            if number in failing:
                raise RuntimeError("lance error: LanceError(IO): invalid range 0..426 for 425 bytes")
            return None if number in dropped else await add(table, rows)

        monkeypatch.setattr(lancedb.AsyncTable, "add", faulty)

    return arranged


@pytest.mark.parametrize(
    ("dropped", "failing", "lost"),
    [((), (), 0), ((3,), (), 1), ((0, 1, 6), (2,), 3), ((0, 1, 2, 4, 5, 6), (3, 7), 6)],
)
async def test_writes_without_a_row_or_an_error_are_lost(
    dropped: tuple[int, ...], failing: tuple[int, ...], lost: int, write_faults: WriteFaults, tmp_path: Path
) -> None:
    write_faults(dropped, failing)
    assert await lost_writes(str(tmp_path), {}) == lost


async def test_a_failing_write_is_raised_where_none_is_lost(
    write_faults: WriteFaults, tmp_path: Path
) -> None:
    write_faults(failing=(5,))
    with pytest.raises(StoreError, match=r"writing at once to .*invalid range"):
        await lost_writes(str(tmp_path), {})
