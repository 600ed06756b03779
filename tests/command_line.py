"""The command line, run in the test's own process and in an empty folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agentic_rag.cli


class Ended:
    """What a command printed, and its exit code."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


Run = Callable[..., Ended]


def command_line(
    folder: Path, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Runs ``main`` with the given arguments, in the folder and so many columns wide."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", str(columns))
    for name in ("disable", "enable", "freeze"):  # for a process that ends with its command
        monkeypatch.setattr(f"gc.{name}", lambda: None)

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["agentic-rag", *arguments])
        capsys.readouterr()
        code = 0
        try:
            agentic_rag.cli.main()
        except SystemExit as end:
            code = int(end.code or 0)
        said = capsys.readouterr()
        return Ended(code, said.out, said.err)

    return run
