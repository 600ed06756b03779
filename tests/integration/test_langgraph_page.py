"""The programs of docs/langgraph.md run as they stand there, each in fewer than 15 lines."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from local_openai_server import LocalOpenAIServer, running

PAGE = Path(__file__).resolve().parents[2] / "docs" / "langgraph.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
pytestmark = pytest.mark.slow


@pytest.fixture
def server(
    example_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LocalOpenAIServer]:
    """A chat model on this machine, and the example's data where the page says they are."""
    shutil.copytree(example_data, tmp_path / ".agentic-rag")
    monkeypatch.chdir(tmp_path)
    with running() as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield model


def printed(program: str, capsys: pytest.CaptureFixture[str]) -> str:
    exec(compile(program, str(PAGE), "exec"), {"__name__": "__main__"})
    return capsys.readouterr().out


def test_there_are_three_and_they_are_short() -> None:
    lines = [len([line for line in program.splitlines() if line.strip()]) for program in PROGRAMS]
    assert len(lines) == 3
    assert max(lines) < 15


def test_every_node_is_streamed(server: LocalOpenAIServer, capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(PROGRAMS[0], capsys)
    nodes = re.findall(r"^(\w+) wrote", told, re.MULTILINE)
    assert (nodes[0], nodes[-1], len(nodes)) == ("prepare_query", "answer", 8)
    assert "[1]" in told


def test_a_conversation_with_ones_own_model(
    server: LocalOpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = "It keeps theanine [1]."
    assert printed(PROGRAMS[1], capsys) == "It keeps theanine [1].\n" * 2
    second = server.requests[-1]["messages"][-1]["content"]
    assert second.endswith(
        "Question: What does shading do to theanine? And what does theanine do to the taste?"
    )
    assert Path("talks.sqlite").exists()


def test_a_tool_of_an_agent(server: LocalOpenAIServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.answer = "Shade keeps theanine."
    assert printed(PROGRAMS[2], capsys) == "Shade keeps theanine.\n"
    (tool,) = [message for message in server.requests[-1]["messages"] if message["role"] == "tool"]
    assert "[1]" in tool["content"]
