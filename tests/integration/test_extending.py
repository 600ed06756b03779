"""The examples of docs/extending.md, each installed as a package of its own, print what the page shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("title", EXAMPLES)
def test_the_example_prints_what_the_page_shows(title: str, tmp_path: Path) -> None:
    packages, here = tmp_path / "packages", tmp_path / "here"
    packages.mkdir()
    here.mkdir()
    _install(EXAMPLES[title], packages)
    program, output = re.findall(r"```python\n([^`]*)```\n\n```text\n(.*?)```", EXAMPLES[title], re.DOTALL)[
        -1
    ]
    paths = os.pathsep.join([str(packages), *filter(None, [os.environ.get("PYTHONPATH")])])
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=here,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ended.stdout, ended.returncode) == (output, 0), ended.stderr


def test_the_suite_of_the_page_runs(tmp_path: Path) -> None:
    (suite,) = re.findall(r"```python\n(import pytest\n.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (tmp_path / "test_my_store.py").write_text(suite, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n", encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ended.returncode, " passed" in ended.stdout) == (0, True), ended.stdout
