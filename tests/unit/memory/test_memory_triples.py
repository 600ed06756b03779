"""Triples of what was said: by pattern, by named things, and as a chat model writes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.memory.conversation import Dialog
from agentic_rag.memory.triples import Triple, dialog_statements, read_reply, refactored
from agentic_rag.memory.triples.chinese import chinese_statements
from agentic_rag.memory.triples.english import english_statements, photo_statement
from agentic_rag.memory.triples.verbs import third_person

LOCOMO = Path(__file__).parents[4] / "shared" / "data" / "locomo" / "locomo_conv26_conv30_conv49.json"


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def said(*turns: tuple[str, str]) -> list[Dialog]:
    return [Dialog(speaker=speaker, text=text, date_time="2023-08-01") for speaker, text in turns]


def triples(*turns: tuple[str, str]) -> list[tuple[str, str, str]]:
    return [tuple(statement.triple) for statement in dialog_statements(said(*turns), words)]


@pytest.mark.parametrize(
    ("sentence", "triple"),
    [
        ("I work at Google", ("Alice", "works at", "Google")),
        ("I'm a nurse.", ("Alice", "is", "a nurse")),
        ("I’m a nurse.", ("Alice", "is", "a nurse")),
        ("I am a single mom", ("Alice", "is", "a single mom")),
        ("I was born in Sweden", ("Alice", "was", "born in Sweden")),
        ("I live in Paris with my two kids", ("Alice", "lives in", "Paris with their two kids")),
        ("My dog is called Rex.", ("Alice's dog", "is called", "Rex")),
        ("My name's Ann", ("Alice's name", "is", "Ann")),
        ("My kids love dinosaurs", ("Alice's kids", "love", "dinosaurs")),
        ("We don't eat meat", ("Alice", "does not eat", "meat")),
        ("I’d like to be a counselor", ("Alice", "would like to be", "a counselor")),
        ("I have a cat named Bailey", ("Alice", "has", "a cat named Bailey")),
        ("Yesterday I met up with some friends", ("Alice", "met up with", "some friends yesterday")),
        ("Last week, I met Bob", ("Alice", "met", "Bob last week")),
        ("My husband and I went to Rome.", ("Alice", "went to", "Rome with their husband")),
        ("Jon and I opened a studio", ("Alice", "opened", "a studio with Jon")),
        ("I can't eat nuts", ("Alice", "cannot eat", "nuts")),
        ("I never drink coffee", ("Alice", "never drinks", "coffee")),
        ("I carry this necklace everywhere", ("Alice", "carries", "this necklace everywhere")),
        ("I've carved out some me-time", ("Alice", "has carved out", "some me-time")),
    ],
)  # fmt: skip
def test_what_people_say_of_themselves(sentence: str, triple: tuple[str, str, str]) -> None:
    assert english_statements(sentence, "Alice") == [triple]


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        # Turns of LoCoMo's conv-26, conv-30 and conv-49.
        (
            "Lost my job as a banker yesterday, so I'm gonna take a shot at starting my own business.",
            [
                ("X", "lost", "their job as a banker yesterday"),
                ("X", "is going to take", "a shot at starting their own business"),
            ],
        ),
        (
            "I went to a LGBTQ support group yesterday and it was so powerful.",
            [("X", "went to", "a LGBTQ support group yesterday")],
        ),
        (
            "I've known these friends for 4 years, since I moved from my home country.",
            [("X", "has known", "these friends for 4 years, since they moved from their home country")],
        ),
        (
            "Still enjoying my soda and candy, although I know it's not the best habit to have.",
            [("X", "is still enjoying", "their soda and candy")],
        ),
        ("Been only to Rome once.", [("X", "has been only to", "Rome once")]),
        (
            "Dance is pretty much my go-to for stress relief.",
            [("Dance", "is", "pretty much X's go-to for stress relief")],
        ),
        ("We love painting together lately.", [("X", "loves", "painting together lately")]),
        (
            "Inspiring 💪 I emailed some wholesalers and one replied and said yes today!",
            [("X", "emailed", "some wholesalers and one replied and said yes today")],
        ),
    ],
)
def test_real_turns(turn: str, expected: list[tuple[str, str, str]]) -> None:
    assert english_statements(turn, "X") == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Do you like my dog?",
        "Have I told you about my job?",
        "I love it!",
        "I'm so proud of you",
        "I'm here for you",
        "I'm sure it will work",
        "I think so",
        "I hope the party goes well",
        "I can't wait to see your show",
        "You work at Google",
        "Thanks for the kind words",
        "That's my dog",
        "My love for dance is big",
        "Been a while since we talked",
        "Been tough lately",
        "Trying new things is fun",
        "Gonna be a great night",
        "I",
        "My",
        "I'm",
        "I'm gonna",
        "I to",
        "I 100% agree",
        "",
        "!!!",
        "I " + "really " * 100 + "like tea",
    ],
)
def test_what_tells_nothing_of_the_speaker(sentence: str) -> None:
    assert english_statements(sentence, "Alice") == []


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("我在谷歌工作", [("小明", "工作于", "谷歌")]),
        ("我喜欢喝茶，也喜欢咖啡。", [("小明", "喜欢", "喝茶")]),
        ("去年我搬到了上海，我的狗叫旺财。", [("小明", "去年搬到了", "上海"), ("小明的狗", "叫", "旺财")]),
        ("我不喜欢吃香菜", [("小明", "不喜欢", "吃香菜")]),
        ("我在上海工作了三年", [("小明", "工作于", "上海（三年）")]),
        ("我是护士！", [("小明", "是", "护士")]),
        ("你喜欢茶吗？", []),
        ("我喜欢你", []),
        ("我在上海工作的时候很忙", []),
        ("今天天气很好。", []),
    ],
)
def test_chinese(sentence: str, expected: list[tuple[str, str, str]]) -> None:
    assert chinese_statements(sentence, "小明") == expected


def test_a_name_with_signs_in_it() -> None:
    assert english_statements("Dance is my joy.", r"J\1o") == [("Dance", "is", r"J\1o's joy")]


def test_a_triple_in_natural_language() -> None:
    assert refactored(Triple("Alice", "works at", "Google")) == "Alice works at Google"
    assert refactored(Triple("小明", "喜欢", "喝茶")) == "小明喜欢喝茶"
    assert refactored(Triple("小明", "工作于", "Google")) == "小明工作于 Google"
    assert refactored(Triple("我 的 狗", "叫", "Rex")) == "我 的 狗叫 Rex"


def test_both_turns_in_order_with_their_places() -> None:
    statements = dialog_statements(said(("Alice", "I work at Google."), ("Bob", "I like tea.")), words)
    assert [(tuple(s.triple), s.turn) for s in statements] == [
        (("Alice", "works at", "Google"), 0),
        (("Bob", "likes", "tea"), 1),
    ]


def test_the_same_is_told_once() -> None:
    assert triples(("Alice", "I like tea. I like Tea!"), ("Alice", "I  like tea.")) == [
        ("Alice", "likes", "tea")
    ]


def test_the_photo_a_turn_shares() -> None:
    shared = "Look! [shares a photo: a photo of a dog on a beach]"
    assert triples(("Melanie", shared)) == [("Melanie", "shares a photo of", "a dog on a beach")]
    assert photo_statement("no photo", "Melanie") is None


def test_named_things_no_pattern_told() -> None:
    assert triples(("Jon", "This necklace is from my grandma in Sweden.")) == [
        ("Jon", "talks about", "Sweden: This necklace is from my grandma in Sweden.")
    ]


@pytest.mark.parametrize(
    "said_to_gina",
    ["Yeah, Gina, thanks for having my back.", "Thanks for the great chat, Gina!", "Gina, keep up the work"],
)
def test_whom_a_turn_addresses_is_not_talked_about(said_to_gina: str) -> None:
    assert triples(("Jon", said_to_gina)) == []


def test_named_things_that_say_nothing() -> None:
    # The other speaker, a question, a name alone; and a sentence a pattern has read already.
    assert triples(("Jon", "Thanks, Gina! Have you been to Paris? Paris!"), ("Gina", "I live in Rome.")) == [
        ("Gina", "lives in", "Rome")
    ]


@pytest.mark.parametrize(
    "text", ["", " ", "👍", "?!", "[shares a photo: ]", "\ud800", "a" * 20_000, "I " * 5000]
)
def test_odd_turns_tell_nothing(text: str) -> None:
    assert triples(("Alice", text)) == []


def test_a_turn_without_a_speaker_tells_of_nobody() -> None:
    assert triples(("", "I work at Google in Zurich.")) == []
    assert dialog_statements([], words) == []


def test_third_person() -> None:
    told = [
        third_person(verb)
        for verb in ("work", "have", "go", "study", "play", "miss", "went", "need", "wanted")
    ]
    assert told == ["works", "has", "goes", "studies", "plays", "misses", "went", "needs", "wanted"]


def test_a_reply_as_the_page_shows_it() -> None:
    reply = read_reply("\n(Alice, works at, Google)\n")
    assert (reply.triples, reply.malformed) == ((("Alice", "works at", "Google"),), 0)


@pytest.mark.parametrize(
    ("line", "triple"),
    [
        ("1. (Alice, works at, Google)", ("Alice", "works at", "Google")),
        ("(12) (Alice, works at, Google)", ("Alice", "works at", "Google")),
        ("- (Alice, works at, Google).", ("Alice", "works at", "Google")),
        ('("Bob", "likes", "tea, coffee and milk")', ("Bob", "likes", "tea, coffee and milk")),
        ("(Bob, likes, tea, coffee and milk)", ("Bob", "likes", "tea, coffee and milk")),
        ('("Smith, Bob", likes, tea)', ("Smith, Bob", "likes", "tea")),
        ("（小明，喜欢，喝茶）", ("小明", "喜欢", "喝茶")),
        ("(Eve, owns, a house (in Rome))", ("Eve", "owns", "a house (in Rome)")),
        ("(Ann,  said ,  it's   fine)", ("Ann", "said", "it's fine")),
        ("[Ann, likes, tea]", ("Ann", "likes", "tea")),
    ],
)
def test_how_models_write_a_triple(line: str, triple: tuple[str, str, str]) -> None:
    reply = read_reply(line)
    assert (reply.triples, reply.malformed) == ((triple,), 0)


def test_several_on_a_line_and_repeated() -> None:
    reply = read_reply("(a, b, c), (d, e, f)\n(a, b, c)")
    assert reply.triples == (("a", "b", "c"), ("d", "e", "f"))


@pytest.mark.parametrize("reply", ["None", "none.", '"None"', "(None)", "无", "", "\n", "```\nNone\n```"])
def test_no_triple(reply: str) -> None:
    read = read_reply(reply)
    assert (read.triples, read.malformed) == ((), 0)


@pytest.mark.parametrize(
    "line",
    [
        "Here are the triples:",
        "(Alice, works)",
        "(Alice, , Google)",
        "Alice, works at, Google",
        "(a, b, c",
        "()",
    ],
)
def test_malformed_lines_are_counted_not_guessed(line: str) -> None:
    reply = read_reply(f"{line}\n(Alice, works at, Google)")
    assert (len(reply.triples), reply.malformed) == (1, 1)


@settings(deadline=None)  # the first call loads the dictionary of Chinese words
@given(st.text(max_size=300))
def test_any_text_gives_whole_triples(text: str) -> None:
    every = [
        statement.triple
        for statement in dialog_statements(said(("Alice", f"I like {text}"), ("小明", text)), words)
    ]
    every += read_reply(text).triples
    assert all(part.strip() == part != "" for triple in every for part in triple)


def test_a_whole_conversation_gives_the_same_triples_each_time() -> None:
    if not LOCOMO.exists():
        pytest.skip("needs ../shared/data/locomo")
    (sample,) = [s for s in json.loads(LOCOMO.read_text("utf-8")) if s["sample_id"] == "conv-30"]
    turns = [
        (turn["speaker"], turn["text"])
        for key, session in sample["conversation"].items()
        if key.startswith("session_") and isinstance(session, list)
        for turn in session
    ]
    first = [triples(turn) for turn in turns]
    assert first == [triples(turn) for turn in turns]
    # Most turns of a chat are courtesy; a third has something to remember.
    assert len(turns) / 3 < sum(bool(found) for found in first) < len(turns)
    every = [triple for found in first for triple in found]
    assert all(part.strip() == part != "" for triple in every for part in triple)
    assert not [triple for triple in every if {"i", "my", "you"} & set(" ".join(triple[:2]).lower().split())]
