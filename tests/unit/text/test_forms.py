"""Forms of writing that a search takes as one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.text.forms import amount_forms, as_written, fold, simplify


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Résumé ＡＢＣ ﬁnd", "Resume ABC find"),
        ("數據庫備份什麼時候運行", "数据库备份什么时候运行"),
        ("什么 什麼 什麽 裡 裏 為 爲", "什么 什么 什么 里 里 为 为"),
        ("مُحَمَّد أحمد كتــاب", "محمد احمد كتاب"),
        ("שָׁלוֹם", "שלום"),
        ("हिन्दी বাংলা தமிழ்", "हिन्दी বাংলা தமிழ்"),
        ("น้ำ", "น้ำ"),
        ("می‌خواهم", "میخواهم"),
    ],
)
def test_folded(text: str, plain: str):
    assert fold(text) == plain
    assert fold(plain) == plain


@given(st.text(alphabet=st.characters(min_codepoint=0x3400, max_codepoint=0x9FFF)))
def test_simplified_keeps_places_and_is_done_once(text: str):
    plain = simplify(text)
    assert len(plain) == len(text)
    assert simplify(plain) == plain


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("seat 12A", ["12", "A"]),
        ("seat 12 A", ["12A"]),
        ("230V and 10.5 kg, 5кг", ["230", "V", "10.5kg", "5", "кг"]),
        ("the 2nd of the 1990s", []),
        ("5 men in 3 rooms, v1.2a, A4, 2023年", []),
        ("", []),
    ],
)
def test_amount_forms(text: str, forms: list[str]):
    assert amount_forms(text) == forms


@pytest.mark.parametrize(
    ("text", "part", "written"),
    [
        ("質量和重量有什麼關係", "关系", "關係"),
        ("ＷＨＯ ａｒｅ ｙｏｕ", "WHO", "WHO"),
        ("Crème brûlée", "brulee", "brûlée"),
        ("e\u0301 \u0915\u093f tea", "tea", "tea"),
    ],
)
def test_a_part_of_the_folded_text_as_it_is_written(text: str, part: str, written: str):
    start = fold(text).index(part)
    assert as_written(text, start, start + len(part)) == written
