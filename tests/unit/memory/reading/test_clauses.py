from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.memory.reading.clauses import MAX_SENTENCE, sentences


def asserted(text: str) -> list[str]:
    return [clause.text for sentence in sentences(text) for clause in sentence.clauses if clause.is_asserted]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Oslo.", ["I live in Oslo"]),
        ("I live in Oslo and I work at Acme.", ["I live in Oslo", "I work at Acme"]),
        ("I like Acme Corp. I'm at Globex.", ["I like Acme Corp.", "I'm at Globex"]),
        ("I work at Acme Corp. Can you help?", ["I work at Acme Corp."]),
        ("I'm 28, how can I make friends?", ["I'm 28"]),
        ("Can you help me, since I live in Oslo?", ["I live in Oslo"]),
        ("Can you help me, and I live in Oslo?", []),
        ("Do I live in Oslo?", []),
        ("If I moved, I'd be happy, and I live well.", []),
        ("I live in Oslo, but if I moved, I would tell you.", ["I live in Oslo"]),
        ("She said, I live in Oslo.", ["She said"]),
        ("In March 2023, I moved to Bergen.", ["In March 2023, I moved to Bergen"]),
        ("Translate this: I live in Oslo. I work at Acme.", []),
        ("> I live in Oslo.", []),
        ('"I live in Oslo. I work at Acme."', []),
        ("```\nI live in Oslo.\n```\nI work at Acme.", ["I work at Acme"]),
        ("我住在上海，我在华为工作。", ["我住在上海", "我在华为工作"]),
        ("如果我搬家，我会很开心。", []),
        ("我住在上海吗？", []),
        ("", []),
        ("x" * (MAX_SENTENCE + 1), []),
    ],
)
def test_what_is_asserted(text: str, expected: list[str]) -> None:
    assert asserted(text) == expected


@given(st.text(max_size=200) | st.text(alphabet='I, "“”`>?!.\nmyandif我，。：live', max_size=200))
def test_spans_are_verbatim_and_in_order(text: str) -> None:
    end = 0
    for sentence in sentences(text):
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.start >= end
        for clause in sentence.clauses:
            assert clause.text
            assert text[clause.start : clause.end] == clause.text
            assert end <= clause.start < clause.end <= sentence.end
            end = clause.end
