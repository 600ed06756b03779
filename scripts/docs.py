"""Write the generated parts of the documentation, so that what it says is what the code says.

    python scripts/docs.py            settings, help texts, error tree, drawing: write them
    python scripts/docs.py --check    exit 1 if one of them is not what the code gives
    python scripts/docs.py --outputs  run the pages' examples anew and write what they print

A generated part stands between ``<!-- generated: NAME -->`` (or ``<!-- output: NAME -->``) and
``<!-- end -->``. Outputs are not checked: they change with the answers, not with the code's interface.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import annotated_types
import typer.main
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from agentic_rag import errors
from agentic_rag.cli.app import app
from agentic_rag.cli.drawings import drawing
from agentic_rag.memory.agents import AGENTS
from agentic_rag.memory.routing.decision import MIN_WEIGHTS
from agentic_rag.memory.schemas import RetrievalStrategy
from agentic_rag.settings.config import RagConfig
from agentic_rag.settings.parameters import Parameters
from agentic_rag_lab.designs.config import RuntimeConfig
from agentic_rag_service.openai.parameters import CHAT, RESPONSES, Parameter

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 100
_PART = re.compile(
    r"(?P<head><!-- (?P<kind>generated|output): (?P<name>[\w-]+) -->\n)(?P<body>.*?)(?P<tail><!-- end -->)",
    re.DOTALL,
)
_BOUNDS: Mapping[type[Any], tuple[str, str]] = {
    annotated_types.Ge: ("ge", "≥"),
    annotated_types.Gt: ("gt", ">"),
    annotated_types.Le: ("le", "≤"),
    annotated_types.Lt: ("lt", "<"),
}
_WORDS: Mapping[Any, str] = {
    bool: "`true`, `false`",
    int: "whole number",
    float: "number",
    str: "text",
    Path: "path",
    SecretStr: "secret text",
}


def settings() -> str:
    """One table a section, from the pydantic models."""
    plain = {name: field for name, field in RagConfig.model_fields.items() if not _section(field)}
    parts = ["### Top level\n\n" + _table("", plain)]
    for name, field in RagConfig.model_fields.items():
        model = _section(field)
        if model is None:
            continue
        call = " Per call too." if name in Parameters.model_fields else " Fixed when the stores are opened."
        told = " ".join(inspect.cleandoc(model.__doc__ or "").split("\n\n")[0].split())
        parts.append(f"### `{name}`\n\n{told}{call}\n\n" + _table(name, model.model_fields))
    return "\n\n".join(parts)


def commands() -> str:
    """The help text of the program and of every command."""
    program = typer.main.get_command(app)
    program.list_commands(typer.Context(program))  # finds those of the entry points
    parts = [f"```text\n{_help(program, 'agentic-rag')}\n```"]
    for name, command in _leaves(program, ()):
        parts.append(f"## `{name}`\n\n```text\n{_help(command, f'agentic-rag {name}')}\n```")
    return "\n\n".join(parts)


def error_tree() -> str:
    """The tree as ``errors.py`` draws it."""
    drawn = inspect.cleandoc(errors.__doc__ or "").split("\n\n")[1]
    return f"```text\n{inspect.cleandoc(drawn)}\n```"


def graph() -> str:
    """The compiled main graph."""
    return f"```mermaid\n{drawing('agentic_rag').strip()}\n```"


def memory_graphs() -> str:
    """The three memory graphs, compiled."""
    names = ("memory_main", "memory_insert", "memory_test")
    return "\n\n".join(f"```mermaid\n{drawing(name).strip()}\n```" for name in names)


def memory_retrieval() -> str:
    """The graph that searches a user's memories."""
    return f"```mermaid\n{drawing('memory_retrieval').strip()}\n```"


def memory_strategies() -> str:
    """Which agent implements which strategy, and what it weighs where nothing speaks for it."""
    names = [f"`{strategy.value}`" for strategy in RetrievalStrategy]
    rows = [f"| agent | `least` | {' | '.join(names)} |", "|---" * (len(names) + 2) + "|"]
    for agent in AGENTS:
        has = ["default" if one is agent.strategies[0] else "yes" if one in agent.strategies else "–" for one in RetrievalStrategy]  # fmt: skip
        rows.append(f"| {agent.memory_type.value} | {MIN_WEIGHTS[agent.memory_type]} | {' | '.join(has)} |")
    return "\n".join(rows)


def memory_runtime() -> str:
    """``runtime`` of a memory design."""
    return _table("runtime", RuntimeConfig.model_fields)


def chat_parameters() -> str:
    """The parameters of chat completions."""
    return _parameters(CHAT)


def response_parameters() -> str:
    """The parameters of responses."""
    return _parameters(RESPONSES)


def _parameters(parameters: tuple[Parameter, ...]) -> str:
    """One row for all with the same effect and note."""
    rows: dict[tuple[str, str], list[str]] = {}
    for one in parameters:
        note = f"{one.note}; {one.remedy}" if one.remedy else one.note
        rows.setdefault((one.effect, note), []).append(f"`{one.name}`")
    lines = [f"| {', '.join(names)} | {effect} | {note} |" for (effect, note), names in rows.items()]
    return "\n".join(["| parameter | effect | |", "|---|---|---|", *lines])


GENERATED: Mapping[str, Callable[[], str]] = {
    "chat-parameters": chat_parameters,
    "response-parameters": response_parameters,
    "settings": settings,
    "commands": commands,
    "errors": error_tree,
    "graph": graph,
    "memory-graphs": memory_graphs,
    "memory-retrieval": memory_retrieval,
    "memory-runtime": memory_runtime,
    "memory-strategies": memory_strategies,
}

DOCUMENT = ["--operation", "document_retrieval"]
BO = ["--user-id", "bo"]
CHART = ["ask", "Which chart is in force?", *DOCUMENT, "--set", "answer.sentences=2"]
EXAMPLES: Mapping[str, str] = {
    "python": "README.md",
    "memory-python": "docs/memory.md",
    "memory-designs-python": "docs/memory-designs.md",
}
"""By name: the page whose first block of Python is run."""
OUTPUTS: Mapping[str, tuple[list[str], int | None]] = {
    "ingest": (["ingest", "examples/vault"], None),
    "ask": (["ask", "杀青、萎凋和渥堆各是什么？", "--operation", "verification_canvas"], 14),
    "explain": (
        ["ask", "At what temperature and for how long is the second fire?", *DOCUMENT, "--explain"],
        None,
    ),
    "selection": (["ask", "Which notes are tagged brewing?"], 6),
    "as-of": ([*CHART, "--as-of", "2024-06-30"], 5),
    "overview": (["ask", "What are these notes about?"], 11),
    "abstain": (["ask", "What is the capital of Mongolia?"], 8),
    "memory-add": (
        ["memory", "add", "I live in Oslo. I prefer short answers.", *BO, "--at", "2024-01-10"],
        None,
    ),
    "memory-change": (["memory", "add", "I live in Bergen now.", *BO, "--at", "2024-06-05"], None),
    "memory-search": (["memory", "search", "Where do I live?", *BO, "--top-k", "2", "--explain"], None),
}
"""By name: the command, and how many lines of what it prints are shown."""


def documents(root: Path = ROOT) -> list[Path]:
    """Every page that may hold a generated part."""
    return sorted([*root.glob("*.md"), *(root / "docs").glob("*.md")])


def stale(root: Path = ROOT) -> list[str]:
    """``FILE: NAME`` of every generated part that is not what the code gives."""
    return [
        f"{path.relative_to(root)}: {part['name']}"
        for path in documents(root)
        for part in _PART.finditer(path.read_text(encoding="utf-8"))
        if part["kind"] == "generated" and part["body"].strip() != _made(part["name"])
    ]


def write(kind: str, made: Callable[[str], str]) -> None:
    """Put ``made(name)`` into every part of the kind."""
    for path in documents():
        text = path.read_text(encoding="utf-8")

        def filled(part: re.Match[str]) -> str:
            if part["kind"] != kind:
                return part[0]
            return f"{part['head']}{made(part['name'])}\n{part['tail']}"

        path.write_text(_PART.sub(filled, text), encoding="utf-8")


def outputs() -> dict[str, str]:
    """What the pages' examples print, one after the other in a data folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        printed = {name: example(name, Path(folder)) for name in EXAMPLES}
        for name, (arguments, lines) in OUTPUTS.items():
            printed[name] = _cut(_run(folder, arguments, name), lines)
    return {name: f"```text\n{text}\n```" for name, text in printed.items()}


def example(name: str, folder: Path) -> str:
    """What the page's first block of Python prints, run in a folder where ours for examples and designs are at hand."""
    for ours in ("examples", "configs"):
        if not (folder / ours).exists():
            (folder / ours).symlink_to(ROOT / ours)
    code = first_python_block((ROOT / EXAMPLES[name]).read_text(encoding="utf-8"))
    return _run(str(folder), ["-c", code], name)


def first_python_block(text: str) -> str:
    """The first fenced Python block of a page."""
    found = re.search(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    if found is None:
        raise SystemExit("the page has no Python block")
    return found[1]


def main(arguments: list[str]) -> int:
    """Entry point."""
    if "--check" in arguments:
        differing = stale()
        for part in differing:
            sys.stderr.write(f"{part} is out of date; run: python scripts/docs.py\n")
        return 1 if differing else 0
    write("generated", _made)
    if "--outputs" in arguments:
        write("output", outputs().__getitem__)
    return 0


def _made(name: str) -> str:
    if name not in GENERATED:
        raise SystemExit(f"nothing generates {name!r}; known: {', '.join(GENERATED)}")
    return GENERATED[name]().strip()


def _run(folder: str, arguments: list[str], name: str) -> str:
    program = (
        arguments if arguments[0] == "-c" else ["-c", "from agentic_rag.cli import main; main()", *arguments]
    )
    environment = {**os.environ, "COLUMNS": str(WIDTH), "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, *program], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"the example {name!r} failed: {done.stderr}")
    lines = [line.rstrip() for line in done.stdout.splitlines() if "obsidian://" not in line]
    return _table_only(lines) if name == "explain" else "\n".join(lines).strip()


def _table_only(lines: list[str]) -> str:
    """The explain table, up to the start of its fourth row."""
    start = next(number for number, line in enumerate(lines) if line.startswith("why these"))
    rows = [n for n, line in enumerate(lines) if n > start and re.match(r"\s*[│]?\s+\d+\s", line)]
    end = rows[3] if len(rows) > 3 else len(lines)
    return "\n".join([*lines[start:end], "…"])


def _cut(text: str, count: int | None) -> str:
    """The first lines; a mark says where more follow, but for a single line, which stands for itself."""
    lines = text.splitlines()
    if count is None or len(lines) <= count:
        return text
    return "\n".join(lines[:count] if count == 1 else [*lines[:count], "…"])


def _section(field: FieldInfo) -> type[BaseModel] | None:
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _table(section: str, fields: Mapping[str, FieldInfo]) -> str:
    rows = ["| setting | values | default | what it does |", "|---|---|---|---|"]
    for name, field in fields.items():
        path = f"{section}.{name}" if section else name
        values, told = _values(field), (field.description or "").replace("|", "\\|")
        if f"`{told.partition(',')[0]}`" not in values:
            told = told[:1].upper() + told[1:]
        rows.append(f"| `{path}` | {values} | {_default(field)} | {told} |")
    return "\n".join(rows)


def _values(field: FieldInfo) -> str:
    kinds = [kind for kind in get_args(field.annotation) if kind is not NoneType]
    kind = field.annotation if get_origin(field.annotation) in (Literal, dict) or not kinds else kinds[0]
    if get_origin(kind) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(kind))
    if get_origin(field.annotation) is tuple:
        return "list of texts" if kind is str else "list of mappings"
    if get_origin(kind) is dict:
        return f"names and {'texts' if str in get_args(kind)[1:] else 'numbers'}"
    if isinstance(kind, type) and hasattr(kind, "__members__"):
        return ", ".join(f"`{member.value}`" for member in kind)  # type: ignore[attr-defined]
    known = [(bound, *_BOUNDS[type(bound)]) for bound in field.metadata if type(bound) in _BOUNDS]
    bounds = [f"{sign} {getattr(bound, name)}" for bound, name, sign in known]
    return " ".join([_WORDS.get(kind, getattr(kind, "__name__", str(kind))), ", ".join(bounds)]).strip()


def _default(field: FieldInfo) -> str:
    value = field.default_factory() if field.default_factory else field.default  # type: ignore[call-arg]
    if value is None or value is PydanticUndefined or value in ("", {}, ()):
        return "–"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    written = str(value).replace("\n", "\\n")  # a row of a table is one line
    return f"`{written}`"


def _leaves(command: Any, above: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name, inner in getattr(command, "commands", {}).items():
        path = (*above, name)
        if not hasattr(inner, "commands") or inner.invoke_without_command:
            yield " ".join(path), inner
        yield from _leaves(inner, path)


def _help(command: Any, name: str) -> str:
    context = command.make_context(name, [], resilient_parsing=True, terminal_width=WIDTH)
    text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    return text.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
