"""Numbers that tell things apart, limit a column, or say how many members are meant; days without a year; steps by other
words."""

from __future__ import annotations

from pathlib import Path

import pytest

from asked_vaults import asked, stored

VAULT = {
    "Garden/Beds.md": "# Beds\n\n| Bed | Grown | Note |\n|---|---|---|\n| Bed 1 | leeks | 4 rows, zone 3 |\n"
    "| Bed 2 | beans | 1 row |\n| Bed 3 | garlic | 2 rows |\n",
    "Climbing.md": "# Climbing\n\nA grade 1 route needs no rope. A grade 4 route has 1 overhang and 2 bolts.\n\n"
    "A grade 2 route is steep for 1 pitch.\n",
    "Move.md": "# Move\n\n- Phase 1: pack the books\n- Phase 2: rent a van for 3 days\n- Phase 3: hand over the keys\n",
    "Flats.md": "# Flats\n\n## Near the harbour\n\n| No | Street | Rent | Heating | Total |\n|---|---|---|---|---|\n"
    "| 1 | Mill Lane | 900 € | 120 € | 1,020 € |\n| 2 | Quay Street | 1,150 € | 90 € | 1,240 € |\n"
    "| 3 | Rope Walk | 980 € | 260 € | 1,240 € |\n| 4 | Tide Row | 800 € | 95 € | 895 € |\n",
    "Loads.md": "# Scale of loads\n\n| Rank | Load | Points |\n|---|---|---|\n| 1 | Night shift | 88 |\n| 2 | Moving house | 71 |\n"
    "| 3 | New boss | 64 |\n| 4 | Long commute | 40 |\n",
    "Sport/Lifting.md": "# Lifting plan\n\n| Span | Weight | Sets |\n|---|---|---|\n| (Week 1) | 20 kg | 3 |\n| (Week 2) | 25 kg | 3 |\n"
    "| (Week 3) | 40 kg | 4 |\n",
    "Sport/Typing.md": "# Typing\n\n| Week | Words |\n|---|---|\n| 25 | 60 |\n| 40 | 72 |\n| 41 | 75 |\n",
    "Reading plan 2025.md": "# Reading plan 2025\n\n| Date | Books read |\n|---|---|\n| Mar 10 | 4 of 20 |\n| Apr 28 | 9 of 20 |\n"
    "| June 15 | 14 of 20 |\n",
    "Kitchen/Kombucha.md": "# Kombucha\n\nI like kombucha in summer.\n\n## Directions\n\n1. Brew black tea with sugar\n"
    "2. Let it cool to 25 °C\n3. Add the culture\n4. Cover with a cloth for ten days\n",
    "Boot.md": "# Boot\n\n## Reihenfolge beim Auftakeln\n\n1. Mast stellen\n2. Wanten spannen\n3. Baum anschlagen\n4. Segel setzen\n",
    "People/Ole Brandt.md": "# Ole Brandt\n\nOle is our contact at the shipyard since 2023.\n\nEmail: ole@yard.example\n",
    "Books/Harbour Lights.md": "# Harbour Lights\n\nAuthor: Mia Sand\n\nFinished: Jan 2026\n",
    "Knots.md": "# Knots\n\n## 3 families of knots\nAda Lund sorts knots into 3 families:\n\n### 1. Bends\nThey join two ropes.\n\n"
    "### 2. Hitches\nThey hold a rope to a post.\n\n### 3. Loops\nThey make an eye.\n\n- 1990: Ada Lund named three families of knots (below)\n"
    "- 1995: her book on knots went out of print\n",
    "复盘.md": "# 复盘\n\n## 四个问题\n\n- 目标是什么\n- 结果如何\n- 原因在哪里\n- 下次怎么改\n\n复盘的四个问题每周五写。\n",
}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("labels"), VAULT)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        # the number that tells one from another, and not any number
        ("What is grown in bed 3?", "garlic"),
        ("What does a grade 1 route need?", "A grade 1 route needs no rope"),
        ("What happens in phase 3 of the move?", "hand over the keys"),
        # "25 kg" is no week 25
        ("From which week on do I lift 25 kg?", "(Week 2)"),
        ("In which week do I lift 40 kg?", "(Week 3)"),
        # a day without a year
        ("How many books should I have read by 28 April?", "9 of 20"),
        ("How many books should I have read by 15 June 2025?", "14 of 20"),
        # steps
        ("Walk me through making kombucha", "1. Brew black tea"),
        ("How do I make kombucha?", "1. Brew black tea"),
        ("In which order do I make kombucha?", "1. Brew black tea"),
        ("In welcher Reihenfolge takele ich das Boot auf?", "1. Mast stellen"),
    ],
)
async def test_the_first_line(data_dir: Path, question: str, first: str) -> None:
    answer = await asked(data_dir, question)
    lines = [line for line in answer.text.splitlines() if not line.startswith("Read as")]
    assert not answer.abstained
    assert first in " ".join(lines[:2])


@pytest.mark.parametrize(
    ("question", "inside", "outside"),
    [
        (
            "Which streets near the harbour come to more than €1,100 in total?",
            ("Quay", "Rope"),
            ("Mill", "Tide"),
        ),
        ("Which streets near the harbour have a rent of more than €950?", ("Quay", "Rope"), ("Mill", "Tide")),
        ("Which loads count more than 70 on the scale of loads?", ("Night", "Moving"), ("boss", "commute")),
        ("Which three families of knots did Ada Lund name?", ("Bends", "Hitches", "Loops"), ("print",)),
        ("What are the three families of knots?", ("Bends", "Hitches", "Loops"), ("print",)),
        ("复盘的四个问题是什么？", ("目标", "结果", "原因", "下次"), ()),
    ],
)
async def test_the_members_that_are_meant(
    data_dir: Path, question: str, inside: tuple[str, ...], outside: tuple[str, ...]
) -> None:
    answer = await asked(data_dir, question)
    assert all(word in answer.text for word in inside), answer.text
    assert not any(word in answer.text for word in outside), answer.text


@pytest.mark.parametrize(
    "question",
    [
        "What is the licence number of Ole Brandt?",
        "How many pages does Harbour Lights have?",
        "How many chapters does Harbour Lights have?",
    ],
)
async def test_another_number_beside_the_name_is_no_answer(data_dir: Path, question: str) -> None:
    assert (await asked(data_dir, question)).abstained
