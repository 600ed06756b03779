"""Options that several commands share, spelled once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Where the data lie; default .agentic-rag in the current folder."),
]
Settings = Annotated[
    Path | None, typer.Option("--settings", help="TOML file; default settings.toml in the data folder.")
]
Dataset = Annotated[str, typer.Option("--dataset", help="Name of the dataset, in any script.")]
TopK = Annotated[int, typer.Option("--top-k", min=1, max=1000, help="Most results.")]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        help="Condition on metadata, such as 'year>=2023' or 'lang=zh'; repeatable, joined by and.",
    ),
]
AsOf = Annotated[
    str | None, typer.Option("--as-of", help="Only what held then: ISO date (its end, UTC) or time.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout.")]
