"""Common parts of the commands: shared options, settings, and a fast start."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from agentic_rag.cli.lean_imports import lean_imports
from agentic_rag.errors import InputError, UnknownDataset

if TYPE_CHECKING:
    from agentic_rag.settings.config import RagConfig


DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", metavar="DIR", help="Data folder; default .agentic-rag in the current folder."
    ),
]
Settings = Annotated[
    Path | None,
    typer.Option("--settings", metavar="FILE", help="TOML file; default settings.toml in the data folder."),
]
Dataset = Annotated[
    str, typer.Option("--dataset", metavar="NAME", help="Name of the dataset, in any language.")
]
TopK = Annotated[
    int, typer.Option("--top-k", metavar="N", min=1, max=1000, help="Maximum number of results.")
]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="KEY>=VALUE",
        help="Condition on metadata, such as 'year>=2023', 'tags=recipe', 'folder=games' or 'title~pasta' (contains); "
        "repeatable, joined by AND. "
        "A value is read as JSON if it is JSON; for the text 1984 write 'title=\"1984\"'.",
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="DATE",
        help="Only what was valid at this time: ISO date (its end, UTC) or date and time.",
    ),
]
UserId = Annotated[
    str,
    typer.Option("--user-id", metavar="ID", help="User whose memories the command reads or changes."),
]
AskedUser = Annotated[
    str | None,
    typer.Option(
        "--user-id",
        metavar="ID",
        help="User whose memories are searched besides the notes.",
    ),
]
Roots = Annotated[
    list[Path] | None,
    typer.Option(
        "--root",
        metavar="[DATASET=]FOLDER",
        help="Folder that clients may ingest from and write boards into, for this dataset alone if one is named; repeatable.",
    ),
]
BoardUser = Annotated[
    str, typer.Option("--user-id", metavar="U", help="User whose board answers and memories are used.")
]
Engine = Annotated[
    str,
    typer.Option(metavar="ENGINE", help="local, or ray: the workers of a Ray cluster, with the same result."),
]
Address = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="Head of the Ray cluster; default: start one on this machine."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout.")]


def with_config(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--data-dir`` and ``--settings``.

    The command gets the configuration as ``config``; or, if it has a parameter ``load``, a function that reads it.
    """

    @functools.wraps(command)
    def read_and_run(*, data_dir: Path | None, settings: Path | None, **values: Any) -> None:
        from agentic_rag.settings.environment import load_config

        load = functools.partial(load_config, data_dir, settings)
        if "load" in own:
            command(load=load, **values)
            return
        config = load()
        try:
            command(config=config, **values)
        except UnknownDataset as error:
            raise UnknownDataset(error.dataset, error.known_names, place_of(config)) from error

    own = inspect.signature(command).parameters
    hints = get_type_hints(command, localns={"RagConfig": Any}, include_extras=True)
    asked = [
        one.replace(kind=one.KEYWORD_ONLY, annotation=hints[one.name])
        for one in own.values()
        if one.name != ("load" if "load" in own else "config")
    ]
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in (("data_dir", DataDir), ("settings", Settings))
    ]
    parameters = [*asked, *shared]
    read_and_run.__annotations__ = {one.name: one.annotation for one in parameters}
    read_and_run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    del read_and_run.__wrapped__  # otherwise its signature would be used
    return read_and_run


STORES = (
    "lancedb",
    "agentic_rag.stores.graphiti.store",
    "agentic_rag.stores.lancedb.chunk_store",
    "agentic_rag.stores.lancedb.ledger",
)


def require_data(config: RagConfig, dataset: str) -> None:
    """Raises ``UnknownDataset`` without a data folder; a question must not create one."""
    if is_new(config):
        raise UnknownDataset(dataset, [])


def filter_values(terms: Sequence[str] | None) -> Mapping[str, Any] | None:
    """The conditions of ``--filter`` as a dict; raises ``FilterError`` where one cannot be read."""
    if not terms:
        return None
    from agentic_rag.domain.filters import term_values

    return term_values(terms)


def is_new(config: RagConfig) -> bool:
    """Whether nothing can have been stored yet."""
    return config.lancedb_uri is None and not config.data_dir.exists()


def place_of(config: RagConfig) -> str:
    """The place of the datasets, for messages."""
    from agentic_rag.settings.addresses import without_login

    return without_login(config.lancedb_uri or str(config.data_dir.absolute()))


def require_data_folder(config: RagConfig) -> None:
    """Raises ``InputError`` without a data folder; a question must not create one."""
    if is_new(config):
        raise InputError(
            f"there is no data folder {config.data_dir.absolute()}; name another with --data-dir, or make it: "
            "agentic-rag ingest PATH"
        )


def require_folder(file: Path) -> None:
    """Raises ``InputError`` if the folder of an output file does not exist: the path may be mistyped."""
    folder = file.absolute().parent
    if not folder.is_dir():
        raise InputError(f"cannot write {file}: there is no folder {folder}; make it, or name another file")


def warm(config: RagConfig) -> None:
    """Import the stores while the bundled model, if configured, loads in a thread."""
    if config.embedding.base_url is None:
        from agentic_rag.models.bundled import load_ahead

        load_ahead()
    with lean_imports():
        for name in STORES:
            importlib.import_module(name)
