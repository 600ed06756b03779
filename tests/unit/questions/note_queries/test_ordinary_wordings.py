"""Ordinary wordings of questions about many notes: counted nouns, bounds in words, what notes lack, places and dates."""

from __future__ import annotations

from datetime import date

import pytest

from agentic_rag.notes.catalogue import Snapshot
from agentic_rag.questions.note_queries.choosing import choose
from agentic_rag.questions.note_queries.query import is_span
from agentic_rag.questions.note_queries.reading import read_query
from agentic_rag.questions.note_queries.vocabulary import Vocabulary
from agentic_rag.questions.times import named_time
from note_rows import nearest, snapshot_of

MARINA = snapshot_of(
    {
        "boats/Heron.md": '---\nrefit: 2025-04-10\nruntime: 2 h\ncrew: 4\nberth: "[[Pier A]]"\n---\nx #sail\n',
        "boats/Otter.md": '---\nrefit: 2025-06-02\nruntime: 45 min\ncrew: 2\nberth: "[[Pier B]]"\n---\nx\n',
        "boats/Swift.md": '---\nruntime: 20 min\nberth: "[[Pier A]]"\n---\nSee [[Otter]].\n',
        "Pier A.md": "The long pier.\n",
        "Pier B.md": "- bollard\n- ladder\n",
        "Rules.md": "Moor slowly. #rules\n",
        "Upkeep.md": "# Upkeep\n\n## Spring\n- [ ] Scrub the hull\n- [x] Oil the deck\n\n## Before frost\n- [ ] Drain the tanks\n",
    }
)
TEA_HOUSE = snapshot_of(
    {
        "绿茶/龙井.md": "---\n价位: 4\n焙火: 20分钟\n存期: 1\n---\n茶。\n",
        "绿茶/碧螺春.md": "---\n价位: 5\n焙火: 35分钟\n存期: 1\n---\n茶。\n",
        "红茶/正山小种.md": "---\n价位: 2\n焙火: 50分钟\n存期: 3\n---\n茶。 #烟熏\n",
        "红茶/祁门.md": "---\n价位: 3\n焙火: 40分钟\n存期: 3\n---\n茶。见[[龙井]]。\n",
        "客人/老陈.md": "---\n出生: 1950-03-01\n---\n喝红茶。\n",
        "客人/小李.md": "---\n出生: 1999-08-15\n---\n喝绿茶。\n",
        "进货.md": "| 器具 | 重量 | 件数 |\n|---|---|---|\n| 茶海 | 2斤 | 12 |\n| 茶针 | 1斤 | 3 |\n",
    }
)


async def titles(question: str, vault: Snapshot) -> list[str] | None:
    """The notes or entries that the question selects; None where it is no such question."""
    time = named_time(question, date(2026, 1, 15), vault.days, vault.stated_days)
    query = await read_query(question, Vocabulary.of(vault), nearest, time)
    if query is None or is_span(query.to_dict()):
        return None
    return [
        entry.text.split(" — ")[0].split(";")[0] for entry in choose(query, vault.notes, vault.facts).entries
    ]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # so many of the largest, by any measure word
        ("价位最高的两样绿茶", ["碧螺春", "龙井"]),
        ("价位最低的三款茶有哪些？", ["正山小种", "祁门", "龙井"]),
        ("价位前三位的茶有哪些？", None),
        ("有几款红茶？", ["正山小种", "祁门"]),
        ("有多少件绿茶？", ["碧螺春", "龙井"]),
        # folders whose names end with the noun
        ("有哪些茶？", ["正山小种", "祁门", "碧螺春", "龙井"]),
        # a bound is no value
        ("焙火不到35分钟的茶有哪些？", ["龙井"]),
        ("焙火超过40分钟的茶有哪些？", ["正山小种"]),
        ("焙火半小时以内的茶有哪些？", ["龙井"]),
        ("焙火半个小时以上的红茶有哪些？", ["正山小种", "祁门"]),
        # a number right behind the property
        ("存期三年的茶有哪些？", ["正山小种", "祁门"]),
        ("价位四的茶有哪些？", ["龙井"]),
        ("存期1年的绿茶", ["碧螺春", "龙井"]),
        # what notes lack
        ("哪些笔记没有标签？", ["祁门", "碧螺春", "龙井", "老陈", "小李", "进货"]),
        ("没有链接的红茶有哪些？", ["正山小种"]),
        # people, by the name of their folder
        ("谁最年轻？", ["小李", "老陈"]),
        ("最老的人是谁？", ["老陈", "小李"]),
        ("有几位客人？", ["老陈", "小李"]),
        # a column with another unit is none
        ("哪些器具多于10元？", ["器具: 茶海"]),
        # the table whose first column is the noun
        ("最多的器具是什么？", ["器具: 茶海", "器具: 茶针"]),
        ("进货里最多的是哪个？", ["器具: 茶海", "器具: 茶针"]),
        ("进货里最少的是什么？", ["器具: 茶针", "器具: 茶海"]),
    ],
)
async def test_chinese(question: str, expected: list[str] | None):
    found = await titles(question, TEA_HOUSE)
    assert (
        found == expected if expected is None or "最" in question else sorted(found or []) == sorted(expected)
    )


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which boats have a runtime of less than an hour?", ["Otter", "Swift"]),
        ("Which boats have a runtime of more than half an hour?", ["Heron", "Otter"]),
        ("boats with a runtime under 45 min", ["Swift"]),
        ("Which boats have a runtime over one hour?", ["Heron"]),
        ("Which notes have no tags?", ["Pier A", "Pier B", "Otter", "Swift", "Upkeep"]),
        ("Which boats are untagged?", ["Otter", "Swift"]),
        ("Which pages have no links?", ["Pier A", "Pier B", "Rules", "Upkeep"]),
        ("What is in Pier A?", ["Heron", "Swift"]),
        ("What do we keep at Pier A?", ["Heron", "Swift"]),
        ("What is in Pier B?", None),
        # what they have
        ("Which notes have tags?", ["Heron", "Rules"]),
        ("Which notes have a berth?", ["Heron", "Otter", "Swift"]),
        ("How many notes have links?", ["Heron", "Otter", "Swift"]),
        # the heading above a task
        # a number as the last word
        ("Which boats have a crew of two?", ["Otter"]),
        ("Which boats have a crew of four?", ["Heron"]),
        ("Which berths have room for two?", None),
        ("Which spring tasks are open?", ["☐ Scrub the hull"]),
        ("What is still to do before frost?", ["☐ Drain the tanks"]),
        ("tasks for spring", ["☐ Scrub the hull", "☑ Oil the deck"]),
        ("refits in April 2025", ["Heron"]),
        ("Which refits were in June?", ["Otter"]),
        ("What did we refit in April 2025?", ["Heron"]),
        ("Which refit was first?", ["Heron", "Otter"]),
        ("Which refit was the latest?", ["Otter", "Heron"]),
    ],
)
async def test_english(question: str, expected: list[str] | None):
    found = await titles(question, MARINA)
    assert (
        found == expected
        if expected is None or "refit was" in question
        else sorted(found or []) == sorted(expected)
    )


RECORDS = snapshot_of(
    {
        "albums/Low Tide.md": "---\nplays: 40\nlength: 48:10\nlabel: The Cave\n---\nx\n",
        "albums/Ash.md": "---\nplays: 12\nlength: 1:02:30\nlabel: Moss\n---\nx\n",
        "albums/Kite.md": "---\nplays: 55\nlength: 31:05\nlabel: Moss\n---\nx\n",
        "shelves/Racks.md": "| rack | built | price |\n|---|---|---|\n| oak | 2019-05 | 300 |\n| pine | 2012-02 | 90 |\n| steel | 2021-08 | 150 |\n",
        "shelves/Rules.md": "Dust weekly.\n",
    }
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # lengths are written as on a clock
        ("Which album is the longest?", ["Ash", "Low Tide", "Kite"]),
        ("What is the shortest album?", ["Kite", "Low Tide", "Ash"]),
        ("Which albums have a length over 45 minutes?", ["Ash", "Low Tide"]),
        # the noun behind a superlative, and the table of a folder
        ("What is the cheapest rack?", ["rack: pine", "rack: steel", "rack: oak"]),
        ("Which piece of shelves is the most expensive?", ["rack: oak", "rack: steel", "rack: pine"]),
        ("What was the oldest rack?", ["rack: pine", "rack: oak", "rack: steel"]),
        ("What is the most played album?", ["Kite", "Low Tide", "Ash"]),
        # an article is no first name
        ("What is the album with the most plays?", ["Kite", "Low Tide", "Ash"]),
        ("Which albums are from The Cave?", ["Low Tide"]),
    ],
)
async def test_the_largest_by_length_and_of_tables(question: str, expected: list[str] | None):
    assert await titles(question, RECORDS) == expected
