"""The commands of ``agentic-rag memory``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from agentic_rag.cli.options import AsOf, Json, TopK, UserId, is_new, with_config
from agentic_rag.cli.running import print_result, run_on_rag
from agentic_rag.domain.identity import memory_dataset
from agentic_rag.errors import InputError
from agentic_rag.memory.schemas import MemoryType, RetrievalStrategy

if TYPE_CHECKING:
    from agentic_rag.settings.config import RagConfig

memory_app = typer.Typer(
    help="Memories of each user: add, search, list, forget, export, import.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@memory_app.command()
@with_config
def add(
    config: RagConfig,
    text: Annotated[str, typer.Argument(help="What was said; it is kept verbatim.")],
    user_id: UserId,
    at: Annotated[
        str | None, typer.Option(metavar="DATE", help="When it was said: ISO date or time; default: now.")
    ] = None,
    speaker: Annotated[str | None, typer.Option(metavar="NAME", help="Who said it; default: user.")] = None,
    role: Annotated[
        str | None,
        typer.Option(
            metavar="ROLE",
            help="Role of the speaker, such as user or assistant; no facts about the user are read from an assistant.",
        ),
    ] = None,
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Stored and returned with the text; repeatable. Read as JSON if it is JSON.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Remember a message, and the facts in it.

    Shows each memory that is new, repeated, superseded or ended, and why.
    """
    from agentic_rag.cli.memory_output import metadata_given, print_added

    memory_dataset(user_id)
    given = metadata_given(metadata or [], speaker, role)
    result = run_on_rag(config, "memory add", user_id=user_id, text=text, at=at, metadata=given)
    print_result(result, as_json, lambda: print_added(result))


@memory_app.command()
@with_config
def search(
    config: RagConfig,
    query: Annotated[str, typer.Argument(help="What to look for.")],
    user_id: UserId,
    top_k: TopK = 10,
    types: Annotated[
        list[MemoryType] | None, typer.Option("--type", help="Search only this kind of memory; repeatable.")
    ] = None,
    strategy: Annotated[
        RetrievalStrategy | None,
        typer.Option(
            help="Search strategy, for each kind of memory that has it; default: chosen by the question."
        ),
    ] = None,
    as_of: AsOf = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the routing, each agent's outcome, each memory's sources.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Search all memories of a user together; best first."""
    from agentic_rag.cli.memory_output import print_found
    from agentic_rag.dates.instants import parse_as_of

    if not query.strip():
        raise InputError(
            'the question is empty; write it in quotes: agentic-rag memory search "…" --user-id ID'
        )
    parse_as_of(as_of)
    result = _of_user(
        config,
        "memory search",
        {"query": query, "known": 0, "memories": [], "routing": None, "outcomes": {}, "seconds": 0.0},
        user_id=user_id,
        query=query,
        top_k=top_k,
        types=types or None,
        strategy=strategy,
        as_of=as_of,
    )
    print_result(result, as_json, lambda: print_found(result, explain=explain))
    if result["outcomes"] and all(
        one["status"] in ("failed", "timeout") for one in result["outcomes"].values()
    ):
        raise typer.Exit(1)


@memory_app.command("list")
@with_config
def list_(
    config: RagConfig,
    user_id: UserId,
    kind: Annotated[MemoryType | None, typer.Option("--type", help="Only this kind of memory.")] = None,
    include_ended: Annotated[
        bool, typer.Option("--ended", help="Also show memories that no longer hold.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the memories of a user, in the order of their messages."""
    from agentic_rag.cli.memory_output import print_listed

    result = _list_records(config, user_id, kind, with_ended=include_ended)
    print_result(result, as_json, lambda: print_listed(result))


@memory_app.command()
@with_config
def forget(
    config: RagConfig,
    user_id: UserId,
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of memories, as list shows them.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Delete all memories of the user.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before deleting everything.")] = False,
    as_json: Json = False,
) -> None:
    """Delete memories, their messages and all that rests on these alone; then check that no search finds them."""
    from agentic_rag.cli.memory_output import print_forgotten

    if everything == bool(ids):
        raise InputError("give either the ids of the memories to forget, or --all to forget everything")
    if everything and not yes and (held := len(_list_records(config, user_id, with_ended=True)["memories"])):
        typer.confirm(f"Delete all {held} memories of {user_id!r}?", abort=True, err=True)
    nothing = {"deleted": 0, "searched": 0, "found": 0}
    result = _of_user(config, "memory forget", nothing, user_id=user_id, ids=None if everything else ids)
    print_result(result, as_json, lambda: print_forgotten(result))


@memory_app.command()
@with_config
def export(
    config: RagConfig,
    file: Annotated[Path, typer.Argument(help="File of JSON lines to write; replaced if it is there.")],
    user_id: UserId,
    as_json: Json = False,
) -> None:
    """Write all memories of a user to a file, including those that no longer hold."""
    from agentic_rag.cli.memory_output import print_moved

    result = _run_on_file(config, "memory export", user_id, file)
    print_result(result, as_json, lambda: print_moved(result, "written to"))


@memory_app.command("import")
@with_config
def import_(
    config: RagConfig,
    file: Annotated[Path, typer.Argument(help="File that export wrote.")],
    user_id: UserId,
    as_json: Json = False,
) -> None:
    """Add the memories of an exported file to a user's; all of them or none."""
    from agentic_rag.cli.memory_output import print_moved

    result = _run_on_file(config, "memory import", user_id, file)
    print_result(result, as_json, lambda: print_moved(result, "read from"))


def _of_user(config: RagConfig, command: str, nothing: dict[str, Any], **arguments: Any) -> Any:
    """The command's result, or ``nothing`` where no data folder is: reading must not make one."""
    memory_dataset(arguments["user_id"])
    if is_new(config):
        return {"user_id": arguments["user_id"], **nothing}
    return run_on_rag(config, command, **arguments)


def _run_on_file(config: RagConfig, command: str, user_id: str, file: Path) -> dict[str, Any]:
    """The result of a command on a file, with the file as it was given."""
    memory_dataset(user_id)
    result = run_on_rag(config, command, user_id=user_id, file=str(file.absolute()))
    return {**result, "file": str(file)}


def _list_records(
    config: RagConfig, user_id: str, kind: MemoryType | None = None, *, with_ended: bool = False
) -> dict[str, Any]:
    nothing: dict[str, Any] = {"known": 0, "memories": []}
    arguments = {"user_id": user_id, "kind": kind, "with_ended": with_ended}
    return cast("dict[str, Any]", _of_user(config, "memory list", nothing, **arguments))
