"""An answer as statements with marks, and from some of them again."""

from __future__ import annotations

import pytest

from agentic_rag.answering.grounding.statements import ParsedAnswer, Statement


def _read(answer: str) -> list[tuple[str, tuple[int, ...], str]]:
    return [(one.text, one.numbers, one.kind) for one in ParsedAnswer.of(answer).statements]


def _all(answer: str) -> str:
    parsed = ParsedAnswer.of(answer)
    return parsed.rebuilt([(one, one.numbers) for one in parsed.statements])


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("Tea is old [1]. Milk is white [2].", [("Tea is old.", (1,)), ("Milk is white.", (2,))]),
        ("Tea is old. [1] Milk is white.[2]", [("Tea is old.", (1,)), ("Milk is white.", (2,))]),
        ("Tea is old. Milk is white [1, 2].", [("Tea is old.", ()), ("Milk is white.", (1, 2))]),
        ("It is old, e.g. 3.5 ka [1], or more [2].", [("It is old, e.g. 3.5 ka, or more.", (1, 2))]),
        ("茶很老。[1]牛奶【2】是白的。", [("茶很老。", (1,)), ("牛奶是白的。", (2,))]),
        ("她说：“好茶。”[1]", [("她说：“好茶。”", (1,))]),
        ("- Tea is old.\n  [1]\n- Milk [2]", [("Tea is old.", (1,)), ("Milk", (2,))]),
        ("[1] Tea.md\n[2] Milk.md", [("Tea.md", (1,)), ("Milk.md", (2,))]),
        ("Yes. Tea is old [1].", [("Yes. Tea is old.", (1,))]),
        ("Tea [[1]](http://x/read/a?start=1) is `a[2]` old.", [("Tea is a[2] old.", (1,))]),
        ("[1]", []),
        ("", []),
    ],
)
def test_a_mark_belongs_to_the_sentence_that_it_follows(
    answer: str, read: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert [(text, numbers) for text, numbers, _ in _read(answer)] == read


@pytest.mark.parametrize(
    ("answer", "kinds"),
    [
        ("# Tea\n\nTea is old.", ["frame", "claim"]),
        ("**Tea**\n\nTea is old.", ["frame", "claim"]),
        ("Here is what the notes say:\n- Tea is old.", ["frame", "claim"]),
        ("Two kinds\n- Green tea\n- Red tea", ["frame", "claim", "claim"]),
        ("Tea is old.\n- Green tea", ["claim", "claim"]),
        ("1. How old is tea?\n   → 5,000 years", ["frame", "claim"]),
        ("| Tea | g |\n|---|---|\n| Green | 3 |", ["frame", "frame", "claim"]),
        ("Run:\n\n```sh\nmake [1]\n```\n", ["frame", "code"]),
        ("---", ["frame"]),
    ],
)
def test_what_states_nothing_is_a_frame(answer: str, kinds: list[str]) -> None:
    assert [kind for _, _, kind in _read(answer)] == kinds


@pytest.mark.parametrize(
    "answer",
    [
        "Tea is old [1]. Milk is white [2].",
        "Tea is old. [1] Milk is white.[2]",
        "茶很老。[1]牛奶是白的[2]。",
        "Here:\n\n- Tea is old [1].\n- Milk is white [2].\n\n| Tea | g |\n|---|---|\n| Green | 3 g [1] |",
        "Run:\n\n```sh\nx = a[1]\n```\n[2]",
    ],
)
def test_an_answer_of_which_all_is_kept_is_as_it_was(answer: str) -> None:
    assert _all(answer) == answer


def _kept(answer: str, *texts: str, numbers: tuple[int, ...] | None = None) -> str:
    parsed = ParsedAnswer.of(answer)

    def cited(one: Statement) -> tuple[int, ...]:
        return one.numbers if numbers is None else numbers

    return parsed.rebuilt([(one, cited(one)) for one in parsed.statements if one.text in texts])


def test_what_is_left_out_leaves_no_gap() -> None:
    assert _kept("A is. B is [1]. C is.", "B is.") == "B is [1]."
    assert _kept("- A is. B is [1].\n- C is.\n\nD is.", "B is.", "D is.") == "- B is [1].\n\nD is."
    assert _kept("A is.\n\nB is.\n\n\nC is.", "A is.", "C is.") == "A is.\n\nC is."


def test_a_new_mark_stands_before_the_full_stop() -> None:
    assert _kept("A is. B is.", "A is.", "B is.", numbers=(3,)) == "A is [3]. B is [3]."
    assert _kept("甲。乙”。", "甲。", numbers=(3,)) == "甲[3]。"
    assert _kept("| A | 3 g |", "| A | 3 g |", numbers=(3,)) == "| A | 3 g [3] |"
    assert _kept("A is [1][2].", "A is.", numbers=(2,)) == "A is[2]."
