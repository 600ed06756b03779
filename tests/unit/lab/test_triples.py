"""Triples of statements: by sentence, and in a chat model's format."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag_lab.designs.conversation import Dialog
from agentic_rag_lab.designs.triples import Triple, dialog_statements, read_reply, triple_text
from word_counts import count_words


def said(*turns: tuple[str, str]) -> list[Dialog]:
    return [Dialog(speaker=speaker, text=text, date_time="2023-08-01") for speaker, text in turns]


def triples(*turns: tuple[str, str]) -> list[tuple[str, str, str]]:
    return [tuple(statement.triple) for statement in dialog_statements(said(*turns), count_words)]


def test_a_triple_in_natural_language() -> None:
    assert triple_text(Triple("Alice", "works at", "Google")) == "Alice works at Google"
    assert triple_text(Triple("小明", "喜欢", "喝茶")) == "小明喜欢喝茶"
    assert triple_text(Triple("小明", "工作于", "Google")) == "小明工作于 Google"
    assert triple_text(Triple("我 的 狗", "叫", "Rex")) == "我 的 狗叫 Rex"


def test_both_turns_in_order_with_their_places() -> None:
    statements = dialog_statements(
        said(("Alice", "I work at Google."), ("Bob", "I like green tea.")), count_words
    )
    assert [(tuple(s.triple), s.turn) for s in statements] == [
        (("Alice", "says", "I work at Google."), 0),
        (("Bob", "says", "I like green tea."), 1),
    ]


def test_the_same_is_told_once() -> None:
    assert triples(("Alice", "I drink tea. I drink Tea."), ("Alice", "I  drink tea.")) == [
        ("Alice", "says", "I drink tea.")
    ]


def test_chinese_is_told_in_chinese() -> None:
    (triple,) = triples(("小明", "我喜欢喝茶。"))
    assert triple_text(Triple(*triple)) == "小明说我喜欢喝茶。"


def test_the_photo_a_turn_shares() -> None:
    shared = "Look! [shares a photo: a photo of a dog on a beach]"
    assert triples(("Melanie", shared)) == [("Melanie", "shares a photo of", "a dog on a beach")]


def test_a_sentence_with_a_named_thing_tells_what_it_is_about() -> None:
    assert triples(("Jon", "This necklace is from my grandma in Sweden.")) == [
        ("Jon", "talks about", "Sweden: This necklace is from my grandma in Sweden.")
    ]


@pytest.mark.parametrize(
    "courtesy", ["Thanks, Gina!", "Hey, thanks!", "Have you been to Paris?", "Paris!", "That's great!"]
)
def test_courtesies_questions_and_bare_names_tell_nothing(courtesy: str) -> None:
    assert triples(("Jon", courtesy), ("Gina", "Yeah.")) == []


@pytest.mark.parametrize(
    "text", ["", " ", "👍", "?!", "[shares a photo: ]", "\ud800", "a" * 20_000, "I " * 5000]
)
def test_odd_turns_tell_nothing(text: str) -> None:
    assert triples(("Alice", text)) == []


def test_a_turn_without_a_speaker_tells_of_nobody() -> None:
    assert triples(("", "I work at Google in Zurich.")) == []
    assert dialog_statements([], count_words) == []


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
    assert (reply.triples, reply.malformed_lines) == ((triple,), 0)


def test_several_on_a_line_and_repeated() -> None:
    reply = read_reply("(a, b, c), (d, e, f)\n(a, b, c)")
    assert reply.triples == (("a", "b", "c"), ("d", "e", "f"))


@pytest.mark.parametrize("reply", ["None", "none.", '"None"', "(None)", "无", "", "\n", "```\nNone\n```"])
def test_no_triple(reply: str) -> None:
    read = read_reply(reply)
    assert (read.triples, read.malformed_lines) == ((), 0)


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
    assert (len(reply.triples), reply.malformed_lines) == (1, 1)


@given(st.text(max_size=300))
def test_any_text_gives_whole_triples(text: str) -> None:
    every = [
        statement.triple
        for statement in dialog_statements(said(("Alice", f"I like {text}"), ("小明", text)), count_words)
    ]
    every += read_reply(text).triples
    assert all(part.strip() == part != "" for triple in every for part in triple)
