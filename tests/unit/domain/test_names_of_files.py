from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.domain import name_and_suffix

_NAMES = st.text("ab.é水 ", min_size=1).filter(lambda name: name not in (".", ".."))


@given(st.lists(_NAMES, min_size=1, max_size=3).map("/".join))
def test_a_files_name_and_suffix_are_those_of_pathlib(path: str) -> None:
    expected = PurePosixPath(path)
    assert name_and_suffix(path) == (expected.stem, expected.suffix)


@pytest.mark.parametrize("path", ["a/.hidden", "a/b.", "a.b/c", "notes.tar.gz", "Dr. Who"])
def test_the_dots_that_begin_no_suffix(path: str) -> None:
    assert name_and_suffix(path) == (PurePosixPath(path).stem, PurePosixPath(path).suffix)
