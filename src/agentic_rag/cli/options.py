"""Options that several commands share, spelled once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", metavar="DIR", help="Where the data lie; default .agentic-rag in the current folder."
    ),
]
Settings = Annotated[
    Path | None,
    typer.Option("--settings", metavar="FILE", help="TOML file; default settings.toml in the data folder."),
]
Dataset = Annotated[
    str, typer.Option("--dataset", metavar="NAME", help="Name of the dataset, in any script.")
]
TopK = Annotated[int, typer.Option("--top-k", metavar="N", min=1, max=1000, help="Most results.")]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="KEY>=VALUE",
        help="Condition on metadata, such as 'year>=2023' or 'lang=zh'; repeatable, joined by and. "
        "A value is read as JSON where it is JSON: 'title=\"1984\"' is the text.",
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option("--as-of", metavar="DATE", help="Only what held then: ISO date (its end, UTC) or time."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout.")]
Split = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Of a directory with qrels/NAME.tsv; default: its qrels.tsv, else test."
    ),
]
Half = Annotated[
    str | None,
    typer.Option(metavar="HALF", help="first or second half of the queries, told apart by a hash of the id."),
]
Corrections = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Overlay that puts wrong keys of LoCoMo right.")
]
