"""Options that several commands share, spelled once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_type_hints

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
Operation = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Operation for all queries; default: the query's own, else document_retrieval."
    ),
]
Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="Only the first queries.")]
Figures = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the figures to this file.")
]
Charts = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Draw pictures there; needs the extra 'charts'.")
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Ask everything anew, also what an earlier run has answered.")
]


def configured(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--data-dir`` and ``--settings``; it gets what they configure as ``config``."""

    @functools.wraps(command)
    def read_and_run(*, data_dir: Path | None, settings: Path | None, **given: Any) -> None:
        from agentic_rag.settings.environment import load_config

        command(config=load_config(data_dir, settings), **given)

    hints = get_type_hints(command, localns={"RagConfig": Any}, include_extras=True)
    own = inspect.signature(command).parameters.values()
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in (("data_dir", DataDir), ("settings", Settings))
    ]
    parameters = [
        *(
            one.replace(kind=one.KEYWORD_ONLY, annotation=hints[one.name])
            for one in own
            if one.name != "config"
        ),
        *shared,
    ]
    read_and_run.__annotations__ = {one.name: one.annotation for one in parameters}
    read_and_run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    del read_and_run.__wrapped__  # whose signature would count instead
    return read_and_run
