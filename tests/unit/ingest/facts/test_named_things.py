from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.ingest.facts.han_names import han_names
from agentic_rag.ingest.facts.named_things import named_things


def names(text: str) -> list[str]:
    return [thing.name for thing in named_things(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Terence D. Robinson was a wrestler for England.", ["Terence D. Robinson", "England"]),
        ("He served the Duke of York and Ludwig van Beethoven.", ["Duke of York", "Ludwig van Beethoven"]),
        ("When did Apollo 11 land?", ["Apollo 11"]),
        (
            "It stands on 44th Street in Washington, D.C., near O'Brien.",
            ["44th Street", "Washington", "D.C.", "O'Brien"],
        ),
        ("Then the 2008 Summer Olympics; In 2008 Anna Lee won.", ["2008 Summer Olympics", "Anna Lee"]),
        (
            "J.R.R. Tolkien met Dr. Chen and Jean-Paul Sartre.",
            ["J.R.R. Tolkien", "Dr. Chen", "Jean-Paul Sartre"],
        ),
        ("Anna's friend read NASA papers.", ["Anna", "NASA"]),
        ("Support was great. We asked Support again.", ["Support", "Support"]),
        ("Support was great.", []),
        ("Hey Mel! Wow, thanks. I can't, and I’ve to go on Monday in May.", ["Mel"]),
        ("Yesterday Anna came.", ["Anna"]),
        ("Ask Python and C. In Paris it rains.", ["Python", "Paris"]),
        (
            '" Play No Games" is from Lil Jon\'s album" Kings of Crunk" here.',
            ["Play No Games", "Lil Jon", "Kings of Crunk"],
        ),
        ("She said “Come here now.” and read “Charlotte's Web”.", ["Charlotte's Web"]),
        ("THIS IS ALL SHOUTED TEXT", []),
        ("what is oolong tea", []),
        ("", []),
        ("Tea | Water Temperature", ["Water Temperature"]),
        ("Москва и Иван Грозный", ["Иван Грозный"]),
    ],
)
def test_latin_names(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("陆羽在湖州写了《茶经》。", ["陆羽", "湖州", "茶经"]),
        ("乌龙茶产于福建武夷山。", ["福建", "武夷山"]),
        ("北京师范大学的张伟教授使用LanceDB。", ["北京师范大学", "张伟", "LanceDB"]),
        ("约翰·列侬是英国人", ["约翰·列侬", "英国人"]),
        ("今天天气很好，我们去散步。", []),
        ("城市的时间和方法", []),
        ("ジョン・レノンは東京でコーヒーを飲んだ。", ["ジョン・レノン", "コーヒー"]),
    ],
)
def test_names_of_other_scripts(text: str, expected: list[str]) -> None:
    found = names(text)
    assert [name for name in expected if name not in found] == []
    if not expected:
        assert found == []


def test_a_long_noun_counts_when_it_recurs() -> None:
    assert "儿茶素" in names("儿茶素会氧化，儿茶素味苦。") or "茶多酚" in names("茶多酚会氧化，茶多酚味苦。")
    assert han_names("") == []


@given(st.text(max_size=120) | st.text(alphabet="Ab c.'’\"“”《》\n|12-&王大明·あア", max_size=80))
def test_spans_are_in_order_and_inside(text: str) -> None:
    end = 0
    for thing in named_things(text):
        assert end <= thing.start < thing.end <= len(text)
        assert thing.name.strip()
        end = thing.end
    assert named_things(text) == named_things(text)


def test_jieba_is_silent_and_writes_nothing(tmp_path: Path) -> None:
    program = (
        "import sys, warnings; warnings.simplefilter('error')\n"
        "from agentic_rag.ingest.facts.named_things import named_things\n"
        "assert 'jieba' not in sys.modules\n"
        "named_things('Only Latin here'); assert 'jieba' not in sys.modules\n"
        "print([t.name for t in named_things('陆羽在湖州')])"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={"TMPDIR": str(tmp_path), "PYTHONIOENCODING": "utf-8", "PATH": ""},
        cwd=tmp_path,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.strip() == "['陆羽', '湖州']"
    assert list(tmp_path.iterdir()) == []
    han_names("陆羽")
    assert logging.getLogger("jieba").handlers == []
