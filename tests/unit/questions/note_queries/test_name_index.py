"""The index of names leaves out no name that a question contains."""

from __future__ import annotations

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.questions.note_queries.name_index import NameIndex
from agentic_rag.questions.words import Likeness, Words

NAMES = (
    "board games", "Board", "boards", "games", "gaming", "colour", "colours", "color", "Fujian tea", "the Garden", "garden",
    "乌龙茶", "烏龍", "A股", "3年", "茶", "Café", "rewatched", "would rewatch", "12", "", "—",
)  # fmt: skip
QUESTIONS = st.lists(
    st.sampled_from(
        [*NAMES, "which", "my", "bord", "gardn", "是", "rewatch", "2023年", "gardenn", "gameing"]
    ),
    max_size=6,
)


@given(QUESTIONS)
def test_each_name_that_is_met_is_near(parts: list[str]):
    words = Words.of(" ".join(parts))
    index = NameIndex(NAMES)
    for likeness in get_args(Likeness):
        near = index.near(words, likeness)
        assert near == sorted(near)
        met = {n for n, name in enumerate(NAMES) if words.find(name, likeness) is not None}
        assert met <= set(near)


def test_names_without_anything_in_common_are_not_near():
    index = NameIndex(NAMES)
    assert [NAMES[n] for n in index.near(Words.of("where is my garden?"), "stem")] == ["garden"]
    assert [NAMES[n] for n in index.near(Words.of("乌龙"), "stem")] == ["乌龙茶", "烏龍"]
    assert index.near(Words.of("unrelated"), "slip") == []
