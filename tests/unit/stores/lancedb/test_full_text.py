"""Full text: indexed terms of a text, and searched terms of a question."""

from __future__ import annotations

import pytest

from agentic_rag.stores.lancedb.full_text import MAX_QUERY_WORDS, index_text, query_text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ""),
        ("plain words", "plain words"),
        ("résumé", "resume"),
        ("ＡＢＣ", "ABC"),
        ("がく", "がく がく"),
        ("茶", "茶"),
        ("乌龙茶。", "乌龙茶。 乌龙 龙茶"),
        ("getUserName()", "getUserName() get User Name"),
        ("HTTPServer2", "HTTPServer2 HTTP Server 2"),
        ("麵團", "面团 面团"),
        ("12A, 230 V", "12A, 230 V 12 A 230V"),
    ],
)
def test_indexed(text: str, found: str):
    assert index_text(text) == found


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What is the capital of France?", "capital France"),
        ("what is it", "what is it"),
        ("为什么乌龙茶很香？", "乌龙茶很香"),
        ("什么", "什么"),
        ("the IT department", "IT department"),
        ("The vitamin A and I", "vitamin A"),
        ("report_final-v2.pdf, C++!", "report_final-v2.pdf C"),
        ("\0\ud800 tea", "tea"),
        ("हिन्दी में क्या है?", "हिन्दी में क्या है"),
        ("น้ำหวานอะไร", "น้ำหวานอะไร"),
        ("월드컵은 몇 개", "월드컵은 몇 개 월드 드컵 컵은"),
        ("麵團", "面团"),
        ("seat 12 A", "seat 12 A 12A"),
        ("... 🍵", ""),
        ("", ""),
    ],
)
def test_searched(question: str, found: str):
    assert query_text(question) == found


def test_a_very_long_question_is_cut():
    assert len(query_text("tea leaf " * 2000).split()) == MAX_QUERY_WORDS
