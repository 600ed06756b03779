"""Words and scripts of a text."""

from __future__ import annotations

import random
import string
from concurrent.futures import ThreadPoolExecutor

import pytest

from agentic_rag import text as text_module
from agentic_rag.text import (
    STOPWORDS,
    asked_about,
    content_tokens,
    has_all,
    names_nothing,
    placed_tokens,
    script,
    script_beside,
    starts_cjk,
    tokens,
)
from example_vault import EXAMPLE_VAULT


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("...!?", []),
        ("Running tests", ["run", "test"]),
        ("苹果是水果", ["苹果", "果是", "是水", "水果"]),
        ("茶", ["茶"]),
        ("喝茶tea喝", ["喝茶", "tea", "喝"]),
        ("ラーメン", ["ラー", "ーメ", "メン"]),
        ("한국어", ["한국", "국어"]),
        ("ＡＢＣ１２３", ["abc", "123", "abc123"]),
        ("getUserName", ["get", "user", "name", "getusernam"]),
        ("résumé", ["resum"]),
        ("2023 3.50", ["2023", "3", "50"]),
        ("Ada's cats’ toys", ["ada", "cat", "toy"]),
        ("snake_case kebab-case", ["snake", "case", "kebab", "case"]),
        ("🍵", []),
        ("\0\ud800", []),
    ],
)
def test_tokens(text: str, found: list[str]):
    assert list(tokens(text)) == found


@pytest.mark.parametrize(("text", "starts"), [("々", True), ("ー", True), ("ｱ", True), ("가", True), ("𠮷", True), ("、", False), ("é", False), ("हि", False), ("", False)])  # fmt: skip
def test_what_counts_as_han_kana_or_hangul(text: str, starts: bool):
    assert starts_cjk(text) is starts


def test_content_tokens_leave_out_what_says_nothing():
    assert list(content_tokens("What is the oolong of the mountains?")) == ["oolong", "mountain"]
    assert list(content_tokens("什么是茶")) == ["么是", "是茶"]


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("What is Venice?", {"venic"}),
        ("Please tell me what my notes say about the K-2 kiln", {"k", "2", "kiln"}),
        ("什么是徐光启?", {"徐光", "光启"}),
        ("请问麦森在哪里?", {"麦森"}),
        ("介绍一下汝窑的釉色", {"汝窑", "釉色"}),
        ("What is it?", set()),
        ("是什么?", set()),
        ("", set()),
    ],
)
def test_what_a_question_asks_about(question: str, terms: set[str]):
    assert asked_about(question) == terms


def test_of_a_text_of_stopwords_all_are_kept():
    assert list(content_tokens("who is it")) == ["who", "is", "it"]
    assert {"who", "is", "it"} <= STOPWORDS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Oolong tea", "latin"),
        ("乌龙茶来自福建", "cjk"),
        ("东京のラーメン", "cjk"),
        ("한국어 문장", "cjk"),
        ("чай", "latin"),
        ("2023-06-30 !?", "other"),
        ("", "other"),
        ("用 LanceDB 存向量", "cjk"),
        ("The word 茶 means tea", "latin"),
    ],
)
def test_script(text: str, expected: str):
    assert script(text) == expected


def test_threads_do_not_mix_up_words():
    """LangGraph runs plain functions in threads, and a stemmer keeps the word it works on in itself."""
    draw = random.Random(7)
    words = ["".join(draw.choices(string.ascii_lowercase, k=12)) + "ational" for _ in range(4000)]
    text_module._stem.cache_clear()
    with ThreadPoolExecutor(8) as threads:
        mixed = list(threads.map(text_module._stem, words))
    text_module._stem.cache_clear()
    assert mixed == [text_module._stem(word) for word in words]


@pytest.mark.parametrize(
    ("query", "passage", "found"),
    [
        (
            "cjk",
            "中央广播电视总台春节联欢晚会 Spring Festival Gala 2020, 47 videos, last updated on Friday",
            "cjk",
        ),
        ("cjk", "Shortly after noon on November 22, 1963", "latin"),
        ("cjk", "乌龙 is a tea that is partly oxidised", "latin"),
        ("latin", "乌龙茶来自福建", "cjk"),
        ("latin", "Oolong tea", "latin"),
    ],
)
def test_a_passage_is_compared_in_the_script_of_the_query_where_it_has_a_phrase_of_it(
    query: str, passage: str, found: str
):
    assert script_beside(query, passage) == found  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "nothing"),
    [
        ("Is it better?", True),
        ("When did she take over?", True),
        ("那后来呢？", True),
        ("What is gongfu brewing and how do I do it?", False),
        ("Who is Anna and where is her cat?", False),
        ("When did Caroline take over her father's shop?", False),
        ("乌龙茶是什么，它怎么泡？", False),
        ("What is Venice?", False),
    ],
)
def test_a_question_that_points_back_before_it_names_anything(question: str, nothing: bool):
    assert names_nothing(question) == nothing


@pytest.mark.parametrize(
    ("text", "tokens_of"),
    [
        ("麵團發酵", ["面团", "团发", "发酵"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("বাংলা", ["বাংলা"]),
        ("தமிழ்", ["தமிழ்"]),
        ("مُحَمَّد", ["محمد"]),
        ("ผีเสื้อกินน้ำหวาน", ["ผี", "เสื้อ", "กิน", "น้ำหวาน"]),
        ("230V", ["230", "v", "230v"]),
        ("230 V", ["230v", "230", "v"]),
    ],
)
def test_tokens_of_other_scripts_and_forms(text: str, tokens_of: list[str]):
    assert list(tokens(text)) == tokens_of


@pytest.mark.parametrize("text", ["麵團 ﬁnd Résumé", "ＡＢＣ乌龙茶", "ภาษาไทย น้ำ", "مُحَمَّد x", "getUserName 12 A", "Ada's tea"])  # fmt: skip
def test_placed_tokens_are_the_tokens_where_they_stand(text: str):
    placed = placed_tokens(text)
    assert [token for token, _, _ in placed] == [
        one for one in tokens(text) if one in {t for t, _, _ in placed}
    ]
    for token, start, end in placed:
        assert token in tokens(text[start:end])


@pytest.mark.parametrize(
    ("asked", "text", "has"),
    [
        ("hoping studies", "They hope; a Study of it.", True),
        ("dying", "Some died.", True),
        ("die", "She is dying.", True),
        ("cafe", "The Café is open", True),
        ("userName", "the userName, read", True),
        ("乌龙茶", "喝乌龙茶", True),
        ("乌龙茶", "乌龙和茶", False),
        ("oolong tea", "oolong", False),
        ("on", "only", False),
        ("", "anything", True),
    ],
)
def test_whether_a_text_has_all_terms(asked: str, text: str, has: bool):
    assert has_all(frozenset(tokens(asked)), text) is has


def test_all_terms_of_each_word_are_in_a_text_with_it():
    words = {word for file in EXAMPLE_VAULT.rglob("*.md") for word in file.read_text("utf-8").split()}
    assert len(words) > 2_000
    assert not [word for word in words if not has_all(frozenset(tokens(word)), f"a {word} b")]
