"""What a question wants decides: a sum of money, a reason, a measure behind a number, a list below its heading; and nothing is
made of a name alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from asked_vaults import asked, stored

VAULT = {
    "Courses/Bookbinding.md": "# Bookbinding\n\n## 2026-02-14 - Saturday class at Leaf & Thread\n\n- 12 people, two teachers\n"
    "- Linen is cheaper than leather\n- Glue dries for 40 minutes\n",
    "Courses/Pottery.md": "# Pottery\n\nPrice: 85\n\nThe kiln at Clay & Co fires at 1240 °C.\n",
    "Printer.md": "# Printer\n\nPaper jams come from damp paper, or when the tray is too full. The status light blinks "
    "red if the drum is worn.\n",
    "Boat/Log.md": "# Log\n\n- Decision: we moor at the north pier from May on.\n"
    "- Why: the south pier silts up after every storm.\n- North pier: 14 berths, the harbour office is beside it.\n"
    "- The old sail went to Marta, since ours is of the wrong cut.\n",
    "Server.md": "# Server\n\n## Worker settings\n\n| Task | Threads | Remark |\n|---|---|---|\n| Transcoding | 6 | at night |\n"
    "| Face scan | 3 | only after an import |\n\n"
    "## Machine\n\n| Field | Value |\n|---|---|\n| Name | server |\n| Room | cellar |\n",
    "People/Ada Lund.md": "# Ada Lund\n\nAda Lund repairs organs. Ada Lund was ill in May.\n",
    "Huts.md": "# Huts\n\n## Beds\n\n- Eagle hut: 22 beds, 1840 m\n- Fox hut: 8 beds, 960 m\n- Lynx hut: 14 beds, 2100 m\n\n"
    "## Walks\n\n| Walk | Distance (km) | Climb |\n|---|---|---|\n| Ridge | 17.5 | 900 m |\n| Mill | 6 | 80 m |\n"
    "| Gorge | 12 | 410 m |\n| Total | 35.5 | 1390 m |\n\n## Machines\n\n| Name | Status |\n|---|---|\n"
    "| kiln-01 | on, 16GB RAM, 2 TB disk |\n| mill-02 | on, 512 MB RAM, 20 GB disk |\n",
    "箱子.md": "# 箱子\n\n| 箱子 | 重量 | 位置 |\n|---|---|---|\n| 红箱 | 3.2kg | 阁楼 |\n| 蓝箱 | 800g | 车库 |\n| 绿箱 | 12kg | 车库 |\n",
    "Bags/Duffel.md": "---\nload: 9 kg\npockets: 3\n---\nBlue.\n",
    "Bags/Pouch.md": "---\nload: 600 g\npockets: 2\n---\nGreen.\n",
    "House/Fridge.md": "# Fridge\n\nStatus: in use. Defrosted in March.\n",
    "House/Heater.md": "# Heater\n\n- Warranty number: 7745-12\n- Installed in 2019\n",
    "House/Kettle.md": "# Kettle\n\n- Registered with its warranty number\n- Descaled twice\n",
    "物业.md": "# 物业\n\n## 物业可以上门做的事\n\n- 换灯泡\n- 通下水道\n- 检查煤气\n\n## 车位\n\n3号车位在门口，雨天积水。\n",
    "成绩.md": "# 期末\n\n大部分题目都练过。期末总分是276分，数学88分。\n",
    "租房.md": "# 梧桐里\n\n梧桐里的双人间有独立阳台，楼下有12家小店。\n",
    "明史.md": "# 明史\n\n开创永乐之治的朱棣迁都北京。朱棣是太祖的第四子，享年65岁。\n",
}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("values"), VAULT)


@pytest.mark.parametrize(
    "question",
    [
        "What did the Leaf & Thread bookbinding class cost?",
        "What does the kiln at Clay & Co charge?",
        "梧桐里的双人间租金多少？",
        "What is the warranty number of the fridge?",
        "When was the fridge installed?",
        "How many times was the fridge descaled?",
        "Which dentist married Ada Lund?",
        "Which marathon did Ada Lund run?",
        "Which pilot taught Ada Lund?",
    ],
)
async def test_no_sum_and_nothing_but_the_name_is_no_answer(data_dir: Path, question: str) -> None:
    assert (await asked(data_dir, question)).abstained


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How much does the pottery course cost?", "Price: 85"),
        # a verb behind "what", and no plural
        ("What makes the paper jam in the printer?", "Paper jams come from damp paper"),
        ("What makes the status light blink red?", "The status light blinks red if the drum is worn"),
        # a reason by its name, or by the word before it
        ("Why did the old sail go to Marta?", "since ours is of the wrong cut"),
        # all that stands below the heading
        ("物业可以上门做哪些事？", "- 换灯泡"),
        ("期末总分多少？", "期末总分是276分"),
        ("明成祖朱棣活到多少岁？", "享年65岁"),
    ],
)
async def test_the_first_line_has_the_value_that_is_wanted(data_dir: Path, question: str, first: str) -> None:
    answer = await asked(data_dir, question)
    assert first in answer.text.splitlines()[0]
    assert not answer.abstained


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("Which thread count has Transcoding in Server?", "Task: Transcoding; Threads: 6"),
        ("What threads are set for face scan in server?", "Task: Face scan; Threads: 3"),
    ],
)
async def test_the_title_of_a_note_is_no_value_of_its_rows(data_dir: Path, question: str, row: str) -> None:
    assert row in (await asked(data_dir, question)).text


async def test_a_reason_is_added_to_what_it_is_a_reason_for(data_dir: Path) -> None:
    answer = await asked(data_dir, "Why do we moor at the north pier?")
    assert "the south pier silts up after every storm" in answer.text


@pytest.mark.parametrize(
    ("question", "entries"),
    [
        ("Which huts have at least 14 beds?", ["Eagle hut", "Lynx hut"]),
        ("Which walks are longer than 10 km?", ["Ridge", "Gorge"]),
        ("What walks climb less than 500 m?", ["Mill", "Gorge"]),
        ("Which machine has more than 1 GB of RAM?", ["kiln-01"]),
        ("Which bags carry more than 2 kg?", ["Duffel"]),
        ("哪些箱子的重量超过 1kg？", ["红箱", "绿箱"]),
    ],
)
async def test_the_entries_whose_value_is_within_a_limit(
    data_dir: Path, question: str, entries: list[str]
) -> None:
    answer = await asked(data_dir, question)
    names = ["Eagle hut", "Fox hut", "Lynx hut", "Ridge", "Mill", "Gorge", "Total"]
    names += ["Duffel", "Pouch", "kiln-01", "mill-02", "红箱", "蓝箱", "绿箱"]
    assert [name for name in names if name in answer.text] == entries


@pytest.mark.parametrize(
    "question",
    ["Which huts have more than 90 beds?", "哪些箱子超过 50kg？", "Which walks are longer than 40 km?"],
)
async def test_a_limit_that_nothing_reaches_is_no_answer(data_dir: Path, question: str) -> None:
    assert (await asked(data_dir, question)).abstained


async def test_a_list_is_whole_where_its_heading_answers(data_dir: Path) -> None:
    lines = (await asked(data_dir, "可以请物业帮忙做哪些事？")).text.splitlines()
    assert [line.split(" [")[0] for line in lines] == ["- 换灯泡", "- 通下水道", "- 检查煤气"]
