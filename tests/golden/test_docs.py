"""The documentation matches the code."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
import typer.main

from agentic_rag.cli.app import app
from agentic_rag.memory.agents import AGENTS
from agentic_rag.memory.derivation import BLOCK_CHARACTERS
from agentic_rag.memory.exchange import FORMAT, VERSION
from agentic_rag.memory.orchestrator import FLOOR, PENALTY
from agentic_rag.memory.schemas import DEFAULT_TIMEOUT_MS, OPERATIONS
from agentic_rag.memory.writing import NOT_A_PERSON, WORKING_HOURS
from agentic_rag.state import CanvasRAGState

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def docs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_script", ROOT / "scripts" / "docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_parts_are_what_the_code_gives(docs: ModuleType) -> None:
    assert docs.stale() == [], "run: python scripts/docs.py"


def test_every_row_of_a_table_is_one_line() -> None:
    for page in sorted((ROOT / "docs").glob("*.md")):
        rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
        assert [row for row in rows if not row.endswith("|")] == [], page.name


def test_check_tells_a_part_that_differs(docs: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "errors.md"
    page.write_text("<!-- generated: errors -->\nanother tree\n<!-- end -->\n", encoding="utf-8")
    assert docs.stale(tmp_path) == ["docs/errors.md: errors"]


def test_every_output_has_its_page(docs: ModuleType) -> None:
    named = {
        name
        for page in docs.documents()
        for name in re.findall(r"<!-- output: ([\w-]+) -->", page.read_text(encoding="utf-8"))
    }
    assert named == {*docs.OUTPUTS, *docs.EXAMPLES}


@pytest.mark.parametrize("name", ["memory-python", "memory-designs-python"])
def test_the_memory_examples_print_what_their_pages_say(docs: ModuleType, tmp_path: Path, name: str) -> None:
    page = (ROOT / docs.EXAMPLES[name]).read_text(encoding="utf-8")
    assert f"```text\n{docs.example(name, tmp_path)}\n```" in page


def test_the_memory_page_has_every_parameter_and_bound() -> None:
    page = (ROOT / "docs" / "memory.md").read_text(encoding="utf-8")
    for operation in OPERATIONS:
        assert f"| `{operation}` |" in page
    own = {name for agent in AGENTS for name in agent.fields} - {"block"}
    for parameter in (*own, "block_type", "name_query", "trigger", "steps", "expires_at", "after", "before"):
        assert f"`{parameter}`" in page
    assert f"{BLOCK_CHARACTERS:,} characters" in page
    assert f"Each agent has {DEFAULT_TIMEOUT_MS // 1000} seconds" in page
    assert f"max({FLOOR}, 1 - {PENALTY} · place)" in page
    assert f'"format": "{FORMAT}", "version": {VERSION}' in page
    assert WORKING_HOURS == 24
    for role in NOT_A_PERSON:
        assert f"`{role}`" in page


def test_every_generated_part_has_its_page(docs: ModuleType) -> None:
    named = {
        name
        for page in docs.documents()
        for name in re.findall(r"<!-- generated: ([\w-]+) -->", page.read_text(encoding="utf-8"))
    }
    assert named == set(docs.GENERATED)


def test_state_page_has_every_key() -> None:
    page = (ROOT / "docs" / "state.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert documented == set(CanvasRAGState.__annotations__)


def test_links_between_pages_lead_somewhere(docs: ModuleType) -> None:
    broken = []
    for page in docs.documents():
        for target in re.findall(r"\]\((?!https?://)([^)\s]+)\)", page.read_text(encoding="utf-8")):
            path, _, anchor = target.partition("#")
            linked = page.parent / path if path else page
            if not linked.exists() or (anchor and anchor not in _anchors(linked)):
                broken.append(f"{page.name}: {target}")
    assert broken == []


def test_commands_in_the_pages_exist(docs: ModuleType) -> None:
    program = typer.main.get_command(app)
    known = set(program.list_commands(typer.Context(program)))  # type: ignore[attr-defined]
    for page in docs.documents():
        called = re.findall(r"^(?:`)?agentic-rag ([a-z]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(called) <= known, page.name


def test_both_readmes_have_the_same_shape(docs: ModuleType) -> None:
    english, chinese = (
        (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh-CN.md")
    )
    for pattern in (r"^(#+) ", r"^```(\w+)$", r"<!-- (output: [\w-]+) -->", r"^\| `(\w+)`"):
        assert re.findall(pattern, english, re.MULTILINE) == re.findall(pattern, chinese, re.MULTILINE)
    assert docs.first_python_block(english) == docs.first_python_block(chinese)


def _anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
