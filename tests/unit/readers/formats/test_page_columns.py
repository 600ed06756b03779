"""The reading order of pages: columns that are stored row by row, and what must stay as it is."""

from __future__ import annotations

import random
from itertools import chain

import pytest

from agentic_rag_readers.formats.page_columns import Piece, in_reading_order

LEFT = [
    "the keeper raises the gates",
    "twice a day in winter and",
    "more often in the spring",
    "when the boats come",
]
RIGHT = [
    "boats wait at the north quay",
    "and pay a fee of six francs",
    "for a barge or two francs",
    "for a canoe at noon",
]
LINE = 14


def piece(text: str, left: float, top: float) -> Piece:
    return Piece(text, left, top - 10, left + 5 * len(text), top)


def page(*columns: list[str], by_row: bool = True, top: float = 700, width: float = 250) -> list[Piece]:
    placed = [
        (row, column, piece(text, 60 + column * width, top - row * LINE))
        for column, lines in enumerate(columns)
        for row, text in enumerate(lines)
    ]
    return [one for *_, one in (sorted(placed, key=lambda place: place[:2]) if by_row else placed)]


def texts(pieces: list[Piece]) -> list[str]:
    return [one.text for one in chain.from_iterable(in_reading_order(pieces))]


@pytest.mark.parametrize("by_row", [True, False])
def test_columns_are_read_one_after_the_other(by_row: bool) -> None:
    assert texts(page(LEFT, RIGHT, by_row=by_row)) == [*LEFT, *RIGHT]


def test_three_columns_and_columns_of_different_lengths() -> None:
    assert texts(page(LEFT, RIGHT, LEFT, width=170)) == [*LEFT, *RIGHT, *LEFT]
    assert texts(page([*LEFT, "and the end of it"], RIGHT)) == [*LEFT, "and the end of it", *RIGHT]


def test_lines_across_the_page_part_the_columns_above_from_those_below() -> None:
    above, title, below = (
        page(LEFT, RIGHT),
        piece("A title over the whole page " * 3, 60, 630),
        page(RIGHT, LEFT, top=600),
    )
    expected = [*LEFT, *RIGHT, title.text, *RIGHT, *LEFT]
    assert texts([*above, title, *below]) == expected


@pytest.mark.parametrize(
    "columns",
    [
        (["Item", "Piles", "Cranes", "Ropes"], ["Price", "210", "480", "12"]),
        (["corollary (env.)", "lemma (env.)", "proof (env.)", "case (env.)"], RIGHT),
        (["The Piles of Oak", "The Cranes of Steel", "The Ropes of Hemp", "The Nets"], ["Two Hundred and Ten", "Four Hundred Eighty", "Twelve and a Half", "Nine Each"]),
        (LEFT[:2], RIGHT[:2]),
    ],
)  # fmt: skip
def test_tables_labels_and_short_rows_stay_as_they_are_stored(columns: tuple[list[str], list[str]]) -> None:
    stored = page(*columns)
    assert texts(stored) == [one.text for one in stored]


def test_a_page_of_one_column_stays_as_it_is_stored() -> None:
    stored = page([*LEFT, *RIGHT])
    random.Random(1).shuffle(stored)
    assert texts(stored) == [one.text for one in stored]


def test_columns_of_han_characters_are_read_one_after_the_other() -> None:
    left, right = ["苏州的桥很多河水从城中流过"] * 4, ["老人每天早上在桥边喝茶聊天"] * 4
    assert texts(page(left, right)) == [*left, *right]


def test_no_piece_is_lost_or_doubled() -> None:
    rng = random.Random(2)
    for _ in range(200):
        stored = [
            piece(rng.choice([*LEFT, *RIGHT, "Item", "2"]), rng.choice([60, 200, 310, 400]), 700 - LINE * rng.randrange(20))
            for _ in range(rng.randrange(40))
        ]  # fmt: skip
        found = list(chain.from_iterable(in_reading_order(stored)))
        assert sorted(map(id, found)) == sorted(map(id, stored))
