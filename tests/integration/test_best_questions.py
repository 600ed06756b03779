"""What is asked to be the best or hardest, of tables with ratings and without."""

from __future__ import annotations

from pathlib import Path

import pytest

from asked_vaults import asked, stored

VAULT = {
    "Books.md": "# Books\n\n| Book | Pages | Rating |\n|---|---|---|\n| Dune | 604 | 4 |\n| Emma | 474 | 5 |\n| Ulysses | 730 | 3 |\n",
    "Sleeping bags.md": (
        "# Sleeping bags\n\n| Bag | Comfort (°C) | Weight (g) |\n|---|---|---|\n| Lark | 4 | 620 |\n| Heron | -6 | 980 |\n\n"
        "For the hut in June the Heron is best, it is dry.\n"
    ),
    "Cafes.md": (
        "# Cafes\n\n| Cafe | Seats | Walk (min) |\n|---|---|---|\n| Blue Door | 20 | 5 |\n| Mill | 60 | 15 |\n\n"
        "The Blue Door is the best cafe for reading.\n"
    ),
    "Trails.md": (
        "# Trails\n\n| Trail | Climb (m) | Stars | Level |\n|---|---|---|---|\n| Gorge | 450 | 5 | 3 |\n| Ridge | 900 | 4 | 5 |\n"
        "| Lake | 120 | 3 | 1 |\n"
    ),
    "桌游.md": "# 桌游\n\n| 桌游 | 人数 | 时长（分钟） | 评分 |\n|---|---|---|---|\n| 卡坦岛 | 4 | 75 | 8 |\n| 花砖 | 4 | 45 | 9 |\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("best"), VAULT)


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("Which book is the best?", "Book: Emma"),
        ("What's the worst book?", "Book: Ulysses"),
        ("Which book has the most pages?", "Book: Ulysses"),
        ("Which is the lightest sleeping bag?", "Bag: Lark"),
        ("Which trail is the best?", "Trail: Gorge"),
        ("Which trail is the hardest?", "Trail: Ridge"),
        ("哪个桌游最好?", "桌游: 花砖"),
    ],
)
async def test_the_best_is_what_is_rated_so(data_dir: Path, question: str, line: str):
    answer = await asked(data_dir, question)
    assert line in answer.text
    assert len(answer.citations) == 1


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("Which sleeping bag is best for the hut?", "For the hut in June the Heron is best, it is dry."),
        ("Which cafe is the best?", "The Blue Door is the best cafe for reading."),
        ("What is the best cafe for reading?", "The Blue Door is the best cafe for reading."),
    ],
)
async def test_the_best_is_not_the_warmest_or_largest(data_dir: Path, question: str, line: str):
    assert line in (await asked(data_dir, question)).text
