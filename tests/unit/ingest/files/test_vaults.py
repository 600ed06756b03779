"""Which vault a folder belongs to, and which of its files are templates."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from agentic_rag.ingest.files.vaults import Vault
from written_files import write

CORE = ".obsidian/templates.json"
TEMPLATER = ".obsidian/plugins/templater-obsidian/data.json"


def test_both_kinds_of_templates(tmp_path: Path) -> None:
    vault = Vault.of(
        write(
            tmp_path, {CORE: {"folder": "Templates/"}, TEMPLATER: {"templates_folder": "/x/Vorlage a\u0308"}}
        )
    )
    assert vault.templates == ("Templates", "x/Vorlage ä")
    assert vault.template_folder("Templates/deep/Meeting.md") == "Templates"
    assert vault.template_folder("x/Vorlage a\u0308/Meeting.md") == "x/Vorlage ä"
    assert vault.template_folder("Templates.md") is None
    assert vault.template_folder("y/Templates/Meeting.md") is None


@pytest.mark.parametrize(
    "written",
    [
        "{",
        "[]",
        "",
        {},
        {"folder": ""},
        {"folder": "/"},
        {"folder": "."},
        {"folder": "../x"},
        {"folder": None},
        {"folder": 5},
    ],
)
def test_settings_without_a_folder_leave_nothing_out(tmp_path: Path, written: object) -> None:
    assert Vault.of(write(tmp_path, {CORE: written, TEMPLATER: "{"})).templates == ()


def test_a_folder_without_settings_is_its_own_vault(tmp_path: Path) -> None:
    vault = Vault.of(tmp_path)
    assert (vault.folder, vault.inside, vault.templates) == (tmp_path, "", ())


def test_a_folder_inside_a_vault(tmp_path: Path) -> None:
    root = write(
        tmp_path / "My vault",
        {
            CORE: {"folder": "Work/Templates"},
            TEMPLATER: {"templates_folder": "Other"},
            ".obsidian/daily-notes.json": {"folder": "Work/Days"},
            "Work/Projects/Plan.md": "x",
        },
    )
    vault = Vault.of(root / "Work")
    assert (vault.folder, vault.inside, vault.templates) == (root, "Work", ("Templates",))
    assert (
        vault.address("Projects/Plan.md") == "obsidian://open?vault=My%20vault&file=Work%2FProjects%2FPlan.md"
    )
    assert vault.day("Days/2024-03-01.md") == date(2024, 3, 1)
    assert vault.day("2024-03-01.md") is None


def test_a_folder_of_templates_that_is_named_itself_is_read(tmp_path: Path) -> None:
    root = write(tmp_path, {CORE: {"folder": "Templates"}, "Templates/deep/a.md": "x"})
    assert Vault.of(root / "Templates").templates == ()
    assert Vault.of(root / "Templates" / "deep").templates == ()
