"""The programs of docs/langgraph.md run as they stand there, each in fewer than 15 lines."""

from __future__ import annotations

import gc
import re
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_openai.chat_models import _client_utils

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
        model.answer = "Shade keeps theanine [1]."
        yield model
    kept = _client_utils._cached_async_httpx_client
    if kept.cache_info().currsize:
        with warnings.catch_warnings():
            # ChatOpenAI keeps connections open past the event loop that made them.
            warnings.simplefilter("ignore", ResourceWarning)
            kept.cache_clear()
            gc.collect()


def output_of(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What the program with these words prints."""
    (program,) = [one for one in PROGRAMS if words in one]
    exec(compile(program, str(PAGE), "exec"), {"__name__": "__main__"})
    return capsys.readouterr().out


def test_they_are_short() -> None:
    lines = [len([line for line in program.splitlines() if line.strip()]) for program in PROGRAMS]
    assert max(lines) < 15


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ('stream_mode="updates"', r"prepare_query wrote request, .*answer wrote .*\[1\]"),
        ('stream_mode="messages"', r"\A(?P<line>[^\n]+\[1\])(?!.*(?P=line))"),
        ("It also cures cancer", r"\AUnder cover theanine stays \[1\]\.\n(?!.*cancer)(?!.*radioactive)"),
        ("talks.sqlite", r"\A(Shade keeps theanine \[\d\]\.\n){2}\Z"),
        ("they take turns", r"\A\['human', 'ai', 'human', 'ai', 'human', 'ai'\]\n.*Uji.*\[1\]"),
        ("create_agent", r"Shade keeps theanine.*\['[^']+\.md'"),
        ('"method": "agent"', r"\AShade keeps theanine \[1\]\. \[\{'tool': 'search'"),
        ("insert_node", r"\A\['2\d{3}-"),
        ("RetrieverSource", r"\AGyokuro is shaded for three weeks\. \[1\]"),
        ("llama_index", r"(\A|\n)0\.\d+ .*heanine"),
        ("haystack", r"(\A|\n)0\.\d+ .*heanine"),
        ("data_dri", r"\A'data_dri': no such setting"),
    ],
)
def test_what_a_program_prints(
    server: LocalOpenAIServer, capsys: pytest.CaptureFixture[str], words: str, printed: str
) -> None:
    assert re.search(printed, output_of(words, capsys), re.DOTALL)
    if words == "talks.sqlite":
        second = server.requests[-1]["messages"][-1]["content"]
        assert second.endswith("does shading do to theanine? And what does theanine do to the taste?")
    if words == "create_agent":
        (tool,) = [message for message in server.requests[-1]["messages"] if message["role"] == "tool"]
        assert re.search(r"\]\n\n\[1\] \S+\.md: ", tool["content"])


def test_every_program_is_run() -> None:
    assert len(PROGRAMS) == 12
