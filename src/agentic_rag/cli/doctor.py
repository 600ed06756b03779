"""``init`` and ``doctor``: create a starter folder; print findings with their remedies."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from rich.console import Console
from rich.table import Table

from agentic_rag.diagnosis import Finding
from agentic_rag.errors import InputError
from agentic_rag.stores.whole_file import write_whole

STARTER_NAMES = {"env": ".env", "settings.toml": ".agentic-rag/settings.toml"}
"""Target paths of starter files that are stored under another name, because packaging easily omits dot files."""


def write_starter(folder: Path) -> list[Path]:
    """Write the starter folder; returns the files, as paths relative to it.

    Raises:
        InputError: a file exists already (then nothing is written), or the folder cannot be created.
    """
    with as_file(files("agentic_rag.cli") / "starter") as starter:
        given = sorted(path for path in starter.rglob("*") if path.is_file() and path.suffix != ".pyc")
        contents = {_target(path.relative_to(starter)): path.read_text(encoding="utf-8") for path in given}
    if present := [str(path) for path in contents if (folder / path).exists()]:
        raise InputError(f"{folder} has {', '.join(present)} already; name another folder")
    try:
        for path, text in contents.items():
            write_whole(folder / path, text)
    except OSError as error:
        raise InputError(
            f"cannot write into {folder}: {error.strerror or error}; name another folder"
        ) from error
    return list(contents)


def _target(path: Path) -> Path:
    return Path(STARTER_NAMES.get(str(path), path))


def print_findings(findings: list[Finding]) -> None:
    """A table, and the remedies below it."""
    table = Table(title="agentic-rag doctor", title_justify="left")
    for name in ("what", "status", "detail"):
        table.add_column(name)
    colours = {"ok": "green", "off": "dim", "missing": "red"}
    for finding in findings:
        table.add_row(
            finding.what,
            f"[{colours[finding.status]}]{finding.status}[/]",
            finding.detail.replace("[", "\\["),
        )
    out = Console(highlight=False)
    out.print(table)
    for finding in findings:
        if finding.cure is not None and finding.status != "ok":
            out.print(f"{finding.what}: {finding.cure}", markup=False, soft_wrap=True)
