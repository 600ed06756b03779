"""Dates in names: the usual forms, the formats of moment.js, and the settings of Obsidian's daily notes."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.dates.names import (
    DAILY_SETTINGS,
    DailyNotes,
    date_in_name,
    moment_format,
    read_daily_settings,
)

DAY = date(2024, 3, 15)


@pytest.mark.parametrize(
    "name",
    [
        "2024-03-15", "2024-03-15 Walk", "Trip 2024_03_15b", "20240315", "202403151530 x", "March 15th, 2024", "15.3.2024", "Walk 15.03.2024",
        "2024年3月15日", "记2024年03月15日", "15 March 2024 at the pier", "March_15_2024", "Friday, March 15th, 2024", "2024.03.15 x",
    ],
)  # fmt: skip
def test_a_day(name: str) -> None:
    assert date_in_name(name) == datetime(2024, 3, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "day"), [("2024-W18", (2024, 4, 29)), ("2024-03", (2024, 3, 1)), ("March 2024", (2024, 3, 1))]
)
def test_a_week_or_month_is_its_first_day(name: str, day: tuple[int, int, int]) -> None:
    assert date_in_name(name) == datetime(*day, tzinfo=UTC)


@pytest.mark.parametrize(
    "name",
    ["Budget 2024", "Call 20240315", "2024-1-1", "20241340", "3.4", "March 15", "Room 2024-B", "31.4.2024"],
)
def test_names_without_a_date(name: str) -> None:
    assert date_in_name(name) is None


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("YYYY-MM-DD", "2024-03-15"),
        ("DD.MM.YYYY", "15.03.2024"),
        ("D-M-YY", "15-3-24"),
        ("MM-DD-YYYY", "03-15-2024"),
        ("dddd, MMMM Do YYYY", "Friday, March 15th 2024"),
        ("ddd D MMM YYYY", "Fri 15 Mar 2024"),
        ("YYYY/MM/YYYY-MM-DD", "2024/03/2024-03-15"),
        ("YYYY/MM-MMMM/YYYY-MM-DD-dddd", "2024/03-March/2024-03-15-Friday"),
        ("YYYYMMDD", "20240315"),
        ("[Day] DDDD [of] YYYY", "Day 075 of 2024"),
        ("YYYY年M月D日", "2024年3月15日"),
        ("GGGG-[W]WW-E", "2024-W11-5"),
        ("YYYY-MM-DD HHmm", "2024-03-15 0930"),
    ],
)
def test_formats_of_moment(form: str, name: str) -> None:
    assert moment_format(form).day(name) == DAY


def test_weeks_and_months_of_moment() -> None:
    assert moment_format("gggg-[W]ww").day("2024-W18") == date(2024, 4, 29)
    assert moment_format("MMMM YYYY").day("March 2024") == date(2024, 3, 1)


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("YYYY-MM-DD", "2024-03-15 walk"), ("YYYY-MM-DD", "2024-02-30"), ("YYYY/YYYY-MM-DD", "2023/2024-03-15"), ("MM-DD", "03-15"), ("YYYY", "2024"),
        ("YYYY-DDDD", "2023-366"), ("gggg-ww", "2024-60"), ("", "2024-03-15"), ("[", "2024"), ("MMMM D YYYY", "Foo 3 2024"), ("YYYY-MM-DD", "0000-03-15"),
    ],
)  # fmt: skip
def test_names_of_another_format(form: str, name: str) -> None:
    assert moment_format(form).day(name) is None


@given(st.text(alphabet="YMDdgGwWE[]-/. (+*", max_size=30), st.text(max_size=20))
def test_a_format_never_fails(form: str, name: str) -> None:
    found = moment_format(form).day(name)
    assert found is None or type(found) is date


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"folder": "Daily", "format": "DD.MM.YYYY"}, DailyNotes("Daily", "DD.MM.YYYY")),
        ({"folder": "/Daily/Log/", "format": ""}, DailyNotes("Daily/Log")),
        ({"folder": None, "format": 3}, DailyNotes()),
        ([], DailyNotes()),
    ],
)
def test_the_settings_of_a_vault(tmp_path: Path, settings: object, expected: DailyNotes) -> None:
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian" / "daily-notes.json").write_text(json.dumps(settings))
    assert read_daily_settings(tmp_path) == expected


@pytest.mark.parametrize(
    ("periodic", "expected"),
    [
        ({"daily": {"enabled": True, "folder": "Log", "format": "YYYY/MM/YYYY-MM-DD"}}, DailyNotes("Log", "YYYY/MM/YYYY-MM-DD")),
        ({"daily": {"enabled": True, "folder": "", "format": ""}}, DailyNotes()),
        ({"daily": {"enabled": False, "folder": "Log"}}, DailyNotes("Daily")),
        ({"daily": []}, DailyNotes("Daily")),
        ([], DailyNotes("Daily")),
    ],
)  # fmt: skip
def test_periodic_notes_go_first_where_they_make_the_daily_ones(
    tmp_path: Path, periodic: object, expected: DailyNotes
) -> None:
    for parts, settings in zip(DAILY_SETTINGS, ({"folder": "Daily"}, periodic), strict=True):
        file = tmp_path.joinpath(*parts)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings))
    assert read_daily_settings(tmp_path) == expected


@pytest.mark.parametrize("written", [None, b"", b"{", b"\xff\xfe\x00", b"[" * 100_000])
def test_settings_that_cannot_be_read_are_the_defaults(tmp_path: Path, written: bytes | None) -> None:
    (tmp_path / ".obsidian").mkdir()
    if written is not None:
        (tmp_path / ".obsidian" / "daily-notes.json").write_bytes(written)
    assert read_daily_settings(tmp_path) == DailyNotes("", "YYYY-MM-DD")


def test_only_notes_of_the_folder_are_daily() -> None:
    daily = DailyNotes("Daily", "YYYY/MM.DD.YYYY")
    assert daily.day("Daily/2024/03.15.2024.md") == DAY
    assert [daily.day(path) for path in ("2024/03.15.2024.md", "Daily.md", "Daily/03.15.2024.md", "DailyX/2024/03.15.2024.md")] == [None] * 4  # fmt: skip
    assert DailyNotes().day("2024-03-15.md") == DAY
    assert DailyNotes().day("Journal/2024-03-15.md") is None
