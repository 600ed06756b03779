"""The judge of answers: each rule by hand, the reader's messages, figures, and the shared tool as an oracle."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.errors import InputError
from agentic_rag_lab.evaluation.answers import (
    Conversation,
    JudgedAnswer,
    Turn,
    answer_figures,
    citations_where_right,
    comparable,
    contains,
    figures_by,
    judge,
    read_conversations,
    steps_in_order,
)

SHARED = Path(__file__).resolve().parents[4] / "shared"
TOOL = SHARED / "tools" / "score_answers.py"
SETS = SHARED / "data" / "answers"


def verdict(turn: Turn, text: str, *paths: str, abstained: bool = False) -> str:
    return judge(turn, text, abstained, paths).verdict


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Ｆｕｌｌ　ＷＩＤＴＨ", "full width"),
        ("1,299 and 12,5 and 1,299,000", "1299 and 12,5 and 1299000"),
        ("**bold** _and_ `code`", "bold and code"),
        ("key:: [[Note]] == x", "key:: note x"),
        ("said so [1], and so [12]", "said so , and so"),
        ("[2](https://x)", "2(https://x)"),
        (" two \n lines\t", "two lines"),
    ],
)
def test_texts_are_compared_without_case_markup_and_spacing(text: str, form: str):
    assert comparable(text) == form


@pytest.mark.parametrize(
    ("text", "expected", "there"),
    [
        ("It costs 5.", "5", True),
        ("It costs 15", "5", False),
        ("It costs 5.2", "5", False),
        ("It costs 5,2", "5", False),
        ("It costs 2.5", "5", False),
        ("version v5", "5", False),
        ("5kg", "5", True),
        ("5 kg", "5kg", False),
        ("静置6分钟", "6", True),
        ("A freeze", "free", False),
        ("Carefree", "free", False),
        ("Free!", "FREE", True),
        ("a1b", "b", False),
        ("绿茶很好", "茶", True),
        ("C++ and C", "c++", True),
        ("**Lin** Mei [1]", "Lin Mei", True),
    ],
)
def test_a_number_and_a_latin_word_stand_alone(text: str, expected: str, there: bool):
    assert contains(comparable(text), expected) is there


@pytest.mark.parametrize(
    ("text", "steps", "count"),
    [
        ("a b c", ["a", "b", "c"], 3),
        ("c b a", ["a", "b", "c"], 1),
        ("b a c", ["a", "b", "c"], 2),
        ("z a b a c", ["c", "a", "b"], 2),
        ("a", ["a", "a"], 1),
        ("a a", ["a", "a"], 2),
        ("x", ["a"], 0),
        ("x", [], 0),
    ],
)
def test_steps_count_in_their_longest_order(text: str, steps: list[str], count: int):
    assert steps_in_order(text, steps) == count


def test_one_of_each_group_is_needed():
    turn = Turn("Which?", must=(("tea", "茶"), ("2024",), ("oolong",), ("pine",)))
    assert verdict(turn, "茶, oolong, pine, 2024") == "right"
    assert verdict(turn, "tea in 2024") == "partly"
    assert verdict(turn, "tea") == "wrong"
    assert judge(turn, "tea in 2024", False, []).reasons == ("lacks oolong, pine",)


def test_steps_weigh_as_many_groups():
    turn = Turn("How?", must=(("kettle",),), ordered=("wash", "slice", "fry"))
    assert verdict(turn, "wash, slice, fry in a kettle") == "right"
    assert verdict(turn, "fry, slice, wash in a kettle") == "partly"  # 1 + 1 of 4
    assert verdict(turn, "fry, slice, wash") == "wrong"
    assert judge(turn, "wash and fry in a kettle", False, []).reasons == ("has 2 of 3 steps in order",)


def test_an_unwanted_text_makes_it_wrong():
    turn = Turn("Which?", must=(("tea",),), must_not=("coffee",))
    assert verdict(turn, "tea") == "right"
    found = judge(turn, "tea and Coffee", False, [])
    assert (found.verdict, found.reasons) == ("wrong", ("contains coffee",))


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ([], "right"),
        (["a.md"], "right"),
        (["a.md", "x.md"], "right"),
        (["a.md", "x.md", "y.md"], "partly"),
        (["x.md", "a.md", "a.md"], "partly"),
        (["folder/deep/n.md"], "right"),
        (["folder"], "partly"),
        (["cafe\u0301.md"], "right"),
    ],
)
def test_citations_begin_with_and_are_half_of_the_expected_notes(paths: list[str], expected: str):
    turn = Turn("What?", must=(("tea",),), notes=("a.md", "folder/", "caf\u00e9.md"))
    assert verdict(turn, "tea", *paths) == expected


def test_citations_of_any_note_do_where_none_is_expected():
    assert verdict(Turn("What?", must=(("tea",),)), "tea", "x.md") == "right"


def test_citations_do_not_mend_a_wrong_answer():
    assert verdict(Turn("What?", must=(("tea",),), notes=("a.md",)), "milk", "a.md") == "wrong"


def test_a_refusal_is_right_only_where_it_is_expected():
    answerable = Turn("What?", must=(("tea",),))
    assert verdict(Turn("What?", refuse=True), "Not found.", abstained=True) == "right"
    assert verdict(Turn("What?", refuse=True), "tea") == "wrong"
    assert verdict(answerable, "Not found: tea", abstained=True) == "refused"


def test_a_turn_without_expectation_is_not_judged():
    with pytest.raises(InputError, match=r"'So\?' expects nothing; judge only turns with must, ordered or"):
        judge(Turn("So?", unjudged=True), "tea", False, [])


def line(*turns: Any, **changes: Any) -> str:
    record = {"id": "a-1", "vault": "v", "lang": "en", "kind": "fact", "turns": list(turns)}
    return json.dumps(record | changes)


ANY = {"ask": "What?", "must": [["tea"]]}


def test_conversations_are_read_from_a_file_and_a_folder(tmp_path: Path):
    second = {"ask": "And?", "ordered": ["a", "b"], "must_not": ["c"], "notes": ["n.md"]}
    (tmp_path / "b.jsonl").write_text(line(ANY, id="b-1") + "\n", encoding="utf-8")
    (tmp_path / "a.jsonl").write_text(
        line(ANY, second, {"ask": "So?", "refuse": True}) + "\n\n", encoding="utf-8"
    )
    turns = (
        Turn("What?", must=(("tea",),)),
        Turn("And?", ordered=("a", "b"), must_not=("c",), notes=("n.md",)),
        Turn("So?", refuse=True),
    )
    expected = Conversation("a-1", "v", "en", "fact", turns)
    assert read_conversations(tmp_path / "a.jsonl") == (expected,)
    assert [one.id for one in read_conversations(tmp_path)] == ["a-1", "b-1"]
    assert [expected.kind_of(number) for number in (1, 2, 3)] == ["fact", "follow-up", "follow-up"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", ":1: no JSON: "),
        ("[]", ":1: expected an object, not '[]"),
        (line(ANY, id=""), ":1: id is ''; give a string that is not empty"),
        (line(ANY, kind=3), ":1: kind is 3; give a string that is not empty"),
        (line(), ":1: turns is []; give a list of at least one turn"),
        (line("What?"), ":1: turn 1: expected an object, not 'What?'"),
        (line(ANY, {"must": [["a"]]}), ":1: turn 2: ask is None; give a string that is not empty"),
        (line(ANY | {"musst": []}), ":1: turn 1: unknown field 'musst'; use some of: ask, must, ordered, "),
        (line(ANY | {"must": ["tea"]}), ":1: turn 1: must is ['tea']; give a list of lists of alternatives"),
        (line(ANY | {"must": [[]]}), ":1: turn 1: must is [[]]; give a list of lists of alternatives"),
        (line(ANY | {"must": [["**"]]}), ":1: turn 1: must has '**'; give a text with letters, digits or"),
        (line(ANY | {"notes": "n.md"}), ":1: turn 1: notes is 'n.md'; give a list of strings"),
        (line(ANY | {"unjudged": 1}), ":1: turn 1: unjudged is 1; give true or false"),
        (line(ANY | {"refuse": True}), ":1: turn 1: it is to be refused and to be answered; leave out"),
        (line({"ask": "So?"}), ":1: turn 1: nothing is expected; give must, ordered, refuse or unjudged"),
        (line(ANY) + "\n" + line(ANY), ":2: id 'a-1' is that of "),
    ],
)
def test_invalid_conversations_are_named_with_their_line(tmp_path: Path, text: str, message: str):
    file = tmp_path / "set.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_conversations(file)
    assert f"{file}{message}" in str(caught.value)


def test_a_folder_without_conversations_is_an_error(tmp_path: Path):
    with pytest.raises(InputError, match=r"contains no \.jsonl file; name a file or folder"):
        read_conversations(tmp_path)


def judged(kind: str, verdict: Any, citations: int = 1, vault: str = "v") -> JudgedAnswer:
    return JudgedAnswer("a-1", 1, vault, "en", kind, False, verdict, citations)


def test_figures_are_shares_with_intervals_and_counts():
    answers = [
        judged("fact", "right"),
        judged("fact", "partly"),
        judged("list", "wrong"),
        judged("list", "refused"),
    ]
    figures = answer_figures(answers)
    assert (figures.turns, figures.right.value, figures.points) == (4, 1 / 4, 1 / 4 + 1 / 8)
    assert figures.right.low <= 1 / 4 <= figures.right.high
    by_kind = figures_by("kind", answers[::-1])
    assert {name: one.right.value for name, one in by_kind.items()} == {"fact": 1 / 2, "list": 0}
    assert list(by_kind) == ["fact", "list"]
    with pytest.raises(InputError):
        answer_figures([])


def test_citations_are_those_of_right_answers_that_cite():
    answers = [judged("fact", "right", 1), judged("fact", "right", 4), judged("fact", "right", 0)]
    others = [judged("fact", "wrong", 9), judged("list", "right", 9)]
    assert citations_where_right([*answers, *others], without=["list"]) == (1 + 4) / 2
    assert citations_where_right(others, without=["list"]) is None


@pytest.fixture(scope="module")
def oracle() -> Any:
    if not TOOL.is_file():
        pytest.skip(f"the shared tool is not beside this clone: no {TOOL}")
    spec = spec_from_file_location("score_answers", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WORDS = ["tea", "Tea", "5", "15", "5.2", "1,299", "1299", "茶", "六分钟", "6分钟", "**free**", "freeze", "[1]", "[2](x)", "-", "steam."]  # fmt: skip
PATHS = ["a.md", "b/c.md", "b/d.md", "caf\u00e9.md", "cafe\u0301.md"]
NOTES = ["a.md", "b/", "caf\u00e9.md"]


def drawn_turn(dice: random.Random) -> dict[str, Any]:
    """A turn with at most 3 groups and with 0, 1, 2 or 4 steps, whose shares are exact as binary fractions: the tool
    adds shares, and a sum of thirds can fall just below one half."""

    plain = [word for word in WORDS if comparable(word)]

    def texts(*counts: int) -> list[str]:
        return [" ".join(dice.choices(plain, k=dice.choice([1, 1, 2]))) for _ in range(dice.choice(counts))]

    turn: dict[str, Any] = {"ask": "What?", "must": [texts(1, 2) for _ in range(dice.randint(0, 3))]}
    turn |= {
        "ordered": texts(0, 1, 2, 4),
        "must_not": texts(0, 1),
        "notes": dice.sample(NOTES, dice.randint(0, 2)),
    }
    if not (turn["must"] or turn["ordered"]):
        turn["refuse"] = True
    return turn


def answers_to(turn: Turn, dice: random.Random) -> list[tuple[str, bool, list[str]]]:
    """Complete, partial, unordered, unwanted and noisy answers to a turn, and refusals."""
    parts = [dice.choice(group) for group in turn.must] + list(turn.ordered)
    some = [part for part in parts if dice.random() < 0.6]
    texts = [" ".join(parts), "\n- ".join(parts[::-1]), "; ".join(some), " ".join([*parts, *turn.must_not])]
    texts.append("".join(dice.choices([*WORDS, " ", "，"], k=12)))
    notes = [note + "n.md" if note.endswith("/") else note for note in turn.notes]
    return [
        (text, dice.random() < 0.1, dice.choices([*PATHS, *notes], k=dice.randint(0, 3))) for text in texts
    ]


def disagreement(oracle: Any, raw: dict[str, Any], turn: Turn, dice: random.Random) -> list[Any]:
    return [
        (raw, *answer)
        for answer in answers_to(turn, dice)
        if oracle.verdict(raw, *answer)[0] != judge(turn, *answer).verdict
    ]


def read_turns(tmp_path: Path, turns: list[dict[str, Any]]) -> tuple[Turn, ...]:
    (tmp_path / "drawn.jsonl").write_text(line(*turns), encoding="utf-8")
    return read_conversations(tmp_path / "drawn.jsonl")[0].turns


def test_the_shared_tool_judges_drawn_turns_alike(oracle: Any, tmp_path: Path):
    dice = random.Random(3)
    raw = [drawn_turn(dice) for _ in range(1_500)]
    pairs = zip(raw, read_turns(tmp_path, raw), strict=True)
    assert [one for pair in pairs for one in disagreement(oracle, *pair, dice)] == []


def test_the_shared_tool_judges_real_turns_alike(oracle: Any):
    if not SETS.is_dir():
        pytest.skip(f"the shared conversations are not beside this clone: no {SETS}")
    dice = random.Random(5)
    raw = [turn for one in oracle.conversations(sorted(SETS.glob("*.jsonl")), []) for turn in one["turns"]]
    own = [turn for one in read_conversations(SETS) for turn in one.turns]
    for _ in range(5):
        pairs = zip(raw, own, strict=True)
        assert [one for pair in pairs for one in disagreement(oracle, *pair, dice)] == []


@pytest.mark.parametrize("form", [comparable, lambda text: text], ids=["comparable", "as written"])
def test_the_shared_tool_reads_texts_alike(oracle: Any, form: Callable[[str], str]):
    dice = random.Random(7)
    for _ in range(2_000):
        text = "".join(dice.choices([*WORDS, " ", "*", "_", ".", ","], k=8))
        assert oracle.plain(form(text)) == comparable(form(text))
