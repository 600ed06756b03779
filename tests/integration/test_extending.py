"""The examples of docs/extending.md, each installed as a package of its own, print what the page shows."""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentic_rag import extensions
from agentic_rag.ingest.files import formats, readers

PAGE = Path(__file__).resolve().parents[2] / "docs" / "extending.md"
SECTIONS = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]
EXAMPLES = {section.splitlines()[0]: section for section in SECTIONS if "```toml" in section}


def test_the_page_has_an_example_of_each_part() -> None:
    assert list(EXAMPLES) == ["A source", "A vector store", "A file format", "A step after retrieval"]


def _install(section: str, folder: Path) -> None:
    """What ``pip install`` leaves of the package: its module, and the metadata with its entry points."""
    name, code = re.search(r"`(\w+\.py)`:\n\n```python\n(.*?)```", section, re.DOTALL).groups()  # type: ignore[union-attr]
    (folder / name).write_text(code, encoding="utf-8")
    (toml,) = re.findall(r"```toml\n(.*?)```", section, re.DOTALL)
    metadata = folder / "example-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: example\nVersion: 1.0\n", encoding="utf-8"
    )
    groups = tomllib.loads(toml)["project"]["entry-points"]
    lines = [
        line
        for group, entries in groups.items()
        for line in (f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()))
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose packages are installed while the test lasts."""

    def look_again() -> None:
        for module in (extensions, formats, readers):
            for found in vars(module).values():
                if hasattr(found, "cache_clear"):
                    found.cache_clear()

    known = set(sys.modules)
    packages = tmp_path / "packages"
    packages.mkdir()
    monkeypatch.syspath_prepend(packages)
    look_again()
    yield packages
    for name in set(sys.modules) - known:
        if str(packages) in str(getattr(sys.modules[name], "__file__", None)):
            del sys.modules[name]
    monkeypatch.undo()
    importlib.invalidate_caches()
    look_again()


@pytest.mark.parametrize("title", EXAMPLES)
def test_the_example_prints_what_the_page_shows(
    title: str,
    installed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _install(EXAMPLES[title], installed)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    program, output = re.findall(r"```python\n([^`]*)```\n\n```text\n(.*?)```", EXAMPLES[title], re.DOTALL)[
        -1
    ]
    exec(compile(program, str(PAGE), "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == output


(SUITE,) = re.findall(r"```python\n(import pytest\n.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
exec(compile(SUITE, str(PAGE), "exec"))
"""The suite of the page, as a part of this module: pytest runs its tests with the others."""


def test_the_suite_of_the_page_runs() -> None:
    assert {name for name in dir(globals()["TestMyStore"]) if name.startswith("test_")}
