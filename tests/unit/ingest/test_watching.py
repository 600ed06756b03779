"""Following: a refused ingest is reported and retried, and a folder that vanishes is waited for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import pytest
from watchfiles import Change

from agentic_rag import RagConfig, open_rag
from agentic_rag.errors import InputError
from agentic_rag.ingest import watching
from agentic_rag.ingest.pipeline import IngestReport
from agentic_rag.testing import HashingEmbedding


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "RETRY_SECONDS", 0.05)


async def test_a_folder_that_vanishes_before_its_ingest_is_waited_for(tmp_path: Path) -> None:
    vault, away = tmp_path / "vault", tmp_path / "away"
    vault.mkdir()
    (vault / "tea.md").write_text("# Tea\n\nTea is oolong.\n")
    problems: list[str | None] = []
    async with open_rag(RagConfig(data_dir=tmp_path / "data"), embedding=HashingEmbedding()) as rag:

        async def ingest(paths: Sequence[Path]) -> IngestReport:
            if not problems:
                vault.rename(away)
            return await rag.ingest(paths)

        async with aclosing(watching.follow([vault], ingest)) as followed:
            async for done in followed:
                problems.append(done.problem)
                if away.exists():
                    away.rename(vault)
                if done.problem is None:
                    break
        assert problems[0] is not None
        assert "there is no file or folder" in problems[0]
        assert list(await rag.ledger.records("default")) == ["tea.md"]


async def test_what_an_ingest_is_refused_for_is_told_until_it_is_mended(tmp_path: Path) -> None:
    inner = tmp_path / "vault" / "inner"
    inner.mkdir(parents=True)
    (inner / "tea.md").write_text("# Tea\n\nTea is oolong.\n")
    problems: list[str | None] = []
    async with open_rag(RagConfig(data_dir=tmp_path / "data"), embedding=HashingEmbedding()) as rag:
        await rag.ingest(tmp_path / "vault")
        async with aclosing(rag.watch(inner)) as followed:
            async for done in followed:
                problems.append(done.problem)
                if len(problems) == 2:
                    await rag.remove(tmp_path / "vault")
                if done.problem is None:
                    break
        assert problems[0] == problems[1] is not None
        assert list(await rag.ledger.records("default")) == ["tea.md"]


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("a.md", True),
        (".gitignore", True),
        (".obsidian/app.json", True),
        (".obsidian/daily-notes.json", True),
        (".obsidian/templates.json", True),
        (".obsidian/plugins/templater-obsidian/data.json", True),
        (".obsidian/plugins/periodic-notes/data.json", True),
        (".obsidian/plugins/other/data.json", False),
        (".obsidian/workspace.json", False),
        (".obsidian/plugins/templater-obsidian/main.js", False),
    ],
)
def test_settings_by_which_a_vault_is_read_count_as_changes(tmp_path: Path, path: str, counts: bool) -> None:
    assert watching._Notes([tmp_path])(Change.modified, str(tmp_path / path)) is counts


async def test_a_folder_must_be_there_at_the_start(tmp_path: Path) -> None:
    async def ingest(paths: Sequence[Path]) -> IngestReport:
        raise AssertionError("nothing is ingested")

    with pytest.raises(InputError, match="there is no folder"):
        await anext(watching.follow([tmp_path / "none"], ingest))
