"""Totals, averages, counts and extremes of the entries of tables and lists, asked as people ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from asked_vaults import asked, stored

VAULT = {
    "Rowing 2023.md": (
        "# Rowing 2023\n\n| Date | Distance (km) | Time |\n|---|---|---|\n"
        "| 2023-08-05 | 4.5 | 24:10 |\n| 2023-08-19 | 6.0 | 33:20 |\n"
    ),
    "Rowing 2024.md": (
        "# Rowing 2024\n\n| Date | Distance (km) | Time |\n|---|---|---|\n| 2024-07-06 | 5.5 | 29:40 |\n"
        "| 2024-07-20 | 7.25 | 39:05 |\n| 2024-08-03 | – | – |\n| 2024-08-17 | 9.0 | 48:30 |\n"
    ),
    "Bike bills.md": (
        "# Bike bills\n\n- 2024-03-04 chain: £32.50\n- 2024-03-18 tyres: £64\n- 2024-04-09 chain: £28\n"
        "- 2024-05-02 bell, a present\n- Total: £124.50\n"
    ),
    "Choir hours.md": (
        "# Choir hours\n\n- 2024-01-10: 1h 30m warm-up and Bach\n- 2024-01-17: 45m\n- 2024-02-07: 2h concert\n- 2024-02-14: cancelled, nobody had a key\n"
    ),
    "Kiln.md": "# Kiln\n\nA firing takes 11 hours and 40 kWh. The kiln cost 2,300 € in 2019. In October 2024 I paid 41 € for a bucket of glaze.\n",
    "Garten.md": "# Garten\n\n- 02.07. Kirschen 1,5 kg\n- 16.07. Kirschen 2,75 kg\n- 16.07. Salat 0,4 kg\n",
    "Walking.md": "# Walking\n\n| Day | Steps |\n|---|---|\n" + "".join(f"| walk {n} | 100 |\n" for n in range(40)),
    "水电费.md": "# 水电费\n\n## 电\n- 1月：126.5元\n- 2月：98元\n- 3月：101.3元\n\n## 水\n- 1月：33元\n- 3月：35.6元\n",
    "片单.md": "# 片单\n\n| 片名 | 评分 |\n|---|---|\n| 站台 | 5 |\n| 山河故人 | 4 |\n| 小武 | 5 |\n",
    "游泳.md": "# 游泳\n\n| 日期 | 米 | 泳池 |\n|---|---|---|\n| 2024-05-02 | 800 | 体育馆 |\n| 2024-05-16 | 1200 | 河边 |\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("totals"), VAULT)


@pytest.mark.parametrize(
    ("question", "first_line"),
    [
        ("How far did I row in 2024 in total?", "Distance, total: 21.75 km (3 of 4 entries)"),
        ("How many km did I row in August 2023?", "Distance, total: 10.5 km (2 entries)"),
        ("What was my average rowing distance in 2023?", "Distance, average: 5.25 km (2 entries)"),
        ("How much did I spend on the bike altogether?", "Total: £124.50 (3 entries)"),
        ("How much did I pay for chains?", "Total: £60.50 (2 entries)"),
        ("How many times did I buy a chain?", "2 entries:"),
        ("How many times did I have choir in 2024?", "3 entries:"),
        ("How many hours of choir did I have in January?", "Total: 2 h 15 min (2 entries)"),
        ("Wie viel kg Kirschen habe ich geerntet?", "Total: 4.25 kg (2 entries)"),
        ("电费一共花了多少钱？", "合计：325.80 元（3 项）"),
        ("五月一共游了多少米？", "合计：2000 米（2 项）"),
    ],
)
async def test_what_is_computed_stands_above_the_entries(data_dir: Path, question: str, first_line: str):
    answer = await asked(data_dir, question)
    assert not answer.abstained
    assert answer.text.splitlines()[0] == first_line
    assert len(answer.citations) >= 2


@pytest.mark.parametrize(
    ("question", "entry"),
    [
        ("When did I row the farthest in 2024?", "2024-08-17"),
        ("What was the most expensive bike bill?", "tyres: £64"),
        ("When did I last buy a chain?", "2024-04-09"),
        ("游泳哪次游得最远？", "2024-05-16"),
    ],
)
async def test_of_an_extreme_the_entry_alone_is_given(data_dir: Path, question: str, entry: str):
    answer = await asked(data_dir, question)
    assert entry in answer.text
    assert len(answer.citations) == 1


@pytest.mark.parametrize(
    "question",
    [
        "How many km did I swim in 2024?",
        "How much did I spend on the bike in June?",
        "How much did I spend on saddles?",
        "How long does a firing take?",
        "What did the kiln cost?",
        "What did I pay for the glaze in October 2024?",
    ],
)
async def test_entries_of_something_else_are_not_added_up(data_dir: Path, question: str):
    answer = await asked(data_dir, question)
    assert "otal:" not in answer.text
    assert "entries" not in answer.text


async def test_of_many_entries_the_first_are_shown(data_dir: Path):
    answer = await asked(data_dir, "How many steps did I walk in total?")
    lines = answer.text.splitlines()
    assert (lines[0], len(lines), lines[-1]) == ("Steps, total: 4000 (40 entries)", 32, "… and 10 more")


@pytest.mark.parametrize(
    ("question", "count"),
    [("我给了5分的片有几部？", 2), ("评分低于5的片有哪些？", 1), ("评分高于3的片有几部？", 3)],
)
async def test_rows_are_called_as_the_list_that_they_are_in(data_dir: Path, question: str, count: int):
    answer = await asked(data_dir, question)
    assert f"共 {count} 项:" in answer.text


async def test_a_sentence_answers_beside_a_log_of_other_days(data_dir: Path):
    answer = await asked(data_dir, "What did I pay for the glaze in October 2024?")
    assert "41 €" in answer.text
