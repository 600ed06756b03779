"""``watch``: output about files with problems."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentic_rag import RagConfig
from agentic_rag.cli import datasets
from agentic_rag.errors import InputError
from agentic_rag.ingest.pipeline import IngestReport
from agentic_rag.ingest.planning import FileReport
from agentic_rag.ingest.watching import WatchReport

GOOD = FileReport("Tea.md", "added")
SKIPPED = FileReport("old.md", "skipped", "not UTF-8 at byte 0")
BAD = FileReport("bad.canvas", "failed", "not JSON: line 1")


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder in which a file breaks after the first catching up, and is mended at last."""
    report = IngestReport("notes", (GOOD, SKIPPED), 1, 1, 0, 0, 0.1)
    reports = [report, *(replace(report, files=(SKIPPED, *files)) for files in ((BAD,), (BAD,), ()))]

    class Watching:
        config = RagConfig(data_dir=tmp_path)

        async def watch(self, *_: Any, **__: Any) -> AsyncGenerator[WatchReport]:
            for one in reports:
                yield WatchReport(one, 0.1)

    @asynccontextmanager
    async def opened(_: RagConfig) -> AsyncIterator[Watching]:
        yield Watching()

    monkeypatch.setattr(datasets, "open_rag", opened)


@pytest.mark.usefixtures("followed")
async def test_watch_tells_path_and_reason_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes").mkdir()
    await datasets.watch_folders(RagConfig(), [Path("notes")], "notes", as_json=False)
    told = capsys.readouterr().out.splitlines()
    assert [line for line in told if " · " not in line] == [
        "watching notes for notes, until Ctrl-C",
        "skipped: old.md: not UTF-8 at byte 0",
        "failed: bad.canvas: not JSON: line 1",
    ]
    assert "1 failed" in told[3]


@pytest.mark.usefixtures("followed")
async def test_watch_gives_the_reasons_as_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    await datasets.watch_folders(RagConfig(), [tmp_path], "notes", as_json=True)
    first, second, *_ = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["files"] == [{"path": "Tea.md", "action": "added", "reason": None}]
    assert second["files"] == [{"path": "bad.canvas", "action": "failed", "reason": "not JSON: line 1"}]


@pytest.mark.usefixtures("followed")
@pytest.mark.parametrize(("folder", "dataset"), [("gone", "notes"), ("a.md", "notes"), (".", "memory:me")])
async def test_watch_that_cannot_begin_prints_no_other_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, folder: str, dataset: str
) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    with pytest.raises(InputError):
        await datasets.watch_folders(RagConfig(), [tmp_path / folder], dataset, as_json=False)
    assert capsys.readouterr().out == ""
