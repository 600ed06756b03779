"""The README's picture is the compiled graph, and its Python example runs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from agentic_rag.cli.drawings import drawing

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "README.zh-CN.md")


def block(page: str, language: str) -> str:
    """The first fenced block of a language."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.search(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("page", PAGES)
def test_picture_has_the_compiled_graphs_nodes(page: str) -> None:
    picture = block(page, "mermaid").partition("\n")[2]
    ends = set(re.findall(r"(\w+)\(\[", picture))
    bare = re.sub(r'"[^"]*"|\(\[.*?\]\)', " ", picture)
    drawn = set(re.findall(r"[A-Za-z_]+", bare)) - ends
    assert drawn == set(re.findall(r"^\t(\w+)\(\1\)$", drawing("agentic_rag"), re.MULTILINE))


@pytest.mark.slow
def test_python_example_prints_cited_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Of the whole vault most of the time would go into the embedding.
    shutil.copytree(ROOT / "examples" / "vault" / "chemistry", tmp_path / "examples" / "vault" / "chemistry")
    monkeypatch.chdir(tmp_path)
    exec(compile(block("README.md", "python"), "README.md", "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    assert "[1]" in printed
    citations = re.findall(r"^(\d+) (.+) (\d+)–(\d+): (.+)$", printed, re.MULTILINE)
    assert citations
    for _, path, start, end, quote in citations:
        note = tmp_path / "examples" / "vault" / path
        if note.suffix == ".md":
            assert note.read_text(encoding="utf-8")[int(start) : int(end)] == quote
