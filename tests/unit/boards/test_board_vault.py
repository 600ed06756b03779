"""The paths by which a board's cards name notes."""

from __future__ import annotations

from pathlib import Path

from agentic_rag.boards.vault import Vault


def test_the_file_of_a_note_from_a_folder_inside_the_vault(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    for name in ("Projects/Plan.md", "Plan.md", ".obsidian/app.json"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    url = "obsidian://open?vault=vault&file=Projects%2FPlan.md"
    board = Vault.around(root / "Board.canvas", [])
    assert board.file_of({"path": "Plan.md", "url": url}) == "Projects/Plan.md"
    assert board.file_of({"path": "Plan.md", "url": "obsidian://open?vault=vault&file=Plan.md"}) == "Plan.md"
