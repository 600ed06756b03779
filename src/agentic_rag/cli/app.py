"""All commands of ``agentic-rag``."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from agentic_rag.cli.memory_commands import memory_app
from agentic_rag.cli.options import (
    Address,
    AskedUser,
    AsOf,
    BoardUser,
    Dataset,
    Engine,
    Filters,
    Json,
    TopK,
    filter_values,
    require_data,
    require_folder,
    warm,
    with_config,
)
from agentic_rag.cli.running import print_json, print_result, run, run_on_rag, with_stderr_silenced
from agentic_rag.errors import InputError
from agentic_rag.extensions import entries

if TYPE_CHECKING:
    from agentic_rag.domain.progress import Progress
    from agentic_rag.ingest.pipeline import IngestReport
    from agentic_rag.rag import Rag
    from agentic_rag.settings.config import RagConfig
    from agentic_rag.stores.lancedb.reindex import ReindexReport


class Commands(TyperGroup):
    """The commands of this package, and those of the entry points ``agentic_rag.commands``.

    Those are looked up where the help lists them, or a name is not one of this package.
    """

    _is_complete = False

    def list_commands(self, ctx: Any) -> list[str]:
        self._complete()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            self._complete()
        return super().get_command(ctx, cmd_name)

    def _complete(self) -> None:
        if self._is_complete:
            return
        self._is_complete = True
        for name, entry in entries("commands").items():
            try:
                more = get_group(entry.load())
            except ImportError as error:  # a broken distribution must not take the other commands away
                typer.echo(f"the commands of {name!r} are left out: {error}", err=True)
                continue
            self.commands = {
                **self.commands,
                **{k: v for k, v in more.commands.items() if k not in self.commands},
            }


app = typer.Typer(
    name="agentic-rag",
    cls=Commands,
    help="Ask your notes: a knowledge graph and a vector store searched together, answers with citations.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(memory_app, name="memory")


def _print_version(is_requested: bool) -> None:
    if is_requested:
        from importlib.metadata import version

        sys.stdout.write(f"agentic-rag {version('agentic-rag')}\n")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Ask your notes: a knowledge graph and a vector store searched together, answers with citations."""


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="Folder to make; it may exist without any of these files.")],
) -> None:
    """Make a folder to start in: example notes, settings, and files for LangGraph Studio."""
    from agentic_rag.cli.init import write_starter

    for path in write_starter(folder):
        typer.echo(folder / path)
    place = shlex.quote(str(folder))
    typer.echo(f"\nNow: cd {place} && agentic-rag ingest notes && agentic-rag ask 'Why was my loaf flat?'")


@app.command()
@with_config
def ingest(
    config: RagConfig,
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Vault, folder, file, export of notes or conversations, corpus.jsonl, LoCoMo or BEAM .json."
        ),
    ],
    dataset: Dataset = "default",
    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="auto, vault, files, chatgpt, claude, telegram, slack, whatsapp, locomo, beam, beam-control or jsonl.",
        ),
    ] = "auto",
    engine: Engine = "local",
    address: Address = None,
    as_json: Json = False,
) -> None:
    """Bring a dataset up to date with the paths.

    Unchanged files are not processed again; removed files are deleted from the dataset.
    """
    warm(config)
    from agentic_rag.cli.datasets import print_ingest, run_with_bars

    def work(rag: Rag, progress: Progress) -> Awaitable[IngestReport]:
        return rag.ingest(
            paths, dataset=dataset, kind=kind, progress=progress, engine=engine, address=address
        )

    report = run(run_with_bars(config, work, quiet=as_json), goes_on=True)
    print_result(report.to_dict(), as_json, lambda: print_ingest(report))
    if report.count("failed") or _is_named_and_skipped(paths, report):
        raise typer.Exit(1)


def _is_named_and_skipped(paths: list[Path], report: IngestReport) -> bool:
    """Whether a file named as an argument was skipped; skipped files within a folder are normal."""
    named = {os.path.realpath(path) for path in paths if not path.is_dir()}
    return any(file.action == "skipped" and os.path.realpath(file.path) in named for file in report.files)


@app.command()
@with_config
def watch(
    config: RagConfig,
    folders: Annotated[list[Path], typer.Argument(help="Vaults or folders to watch.")],
    dataset: Dataset = "default",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON value a line.")] = False,
) -> None:
    """Keep a dataset up to date with its folders, until interrupted.

    First brings it up to date, then follows every change; other programs can ask meanwhile.
    """
    warm(config)
    from agentic_rag.cli.datasets import watch_folders

    run(watch_folders(config, folders, dataset, as_json=as_json), goes_on=True)


@app.command()
@with_config
def remove(
    config: RagConfig,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Paths as given to ingest; they need not exist any more."),
    ] = None,
    dataset: Dataset = "default",
    everything: Annotated[bool, typer.Option("--all", help="Remove all documents of the dataset.")] = False,
    as_json: Json = False,
) -> None:
    """Delete from a dataset the documents that were ingested from the paths.

    Use it when a folder or file was moved, renamed or deleted. The files themselves are not touched.
    """
    from agentic_rag.cli.datasets import print_ingest, run_with_bars

    if everything == bool(paths):
        raise InputError("give either the paths to remove, or --all to remove everything")

    def work(rag: Rag, progress: Progress) -> Awaitable[IngestReport]:
        return rag.remove(None if everything else paths, dataset=dataset, progress=progress)

    report = run(run_with_bars(config, work, quiet=as_json), goes_on=True)
    print_result(report.to_dict(), as_json, lambda: print_ingest(report))


@app.command()
@with_config
def reindex(
    config: RagConfig,
    dataset: Dataset = "default",
    engine: Engine = "local",
    address: Address = None,
    as_json: Json = False,
) -> None:
    """Embed a dataset anew with the configured model.

    Use it after changing the embedding model. Until it ends, searches use the old model.
    """
    from agentic_rag.cli.datasets import print_reindex, run_with_bars

    def work(rag: Rag, progress: Progress) -> Awaitable[ReindexReport]:
        return rag.reindex(dataset, progress=progress, engine=engine, address=address)

    require_data(config, dataset)
    warm(config)
    report = run(run_with_bars(config, work, quiet=as_json))
    print_result(report.to_dict(), as_json, lambda: print_reindex(report))


@app.command()
@with_config
def ask(
    config: RagConfig,
    question: Annotated[str, typer.Argument(help="The question, in any language.")],
    dataset: Dataset = "default",
    operation: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="auto (by the question's words), verification_canvas, weak_point_clustering, concept_relation "
            "or document_retrieval.",
        ),
    ] = "auto",
    top_k: TopK = 10,
    filters: Filters = None,
    as_of: AsOf = None,
    user_id: AskedUser = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Parameter for this call, such as fusion.k=20; repeatable."
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Show how the question was read, and each result's rank and relevance in each source.",
        ),
    ] = False,
    board: Annotated[
        Path | None,
        typer.Option("--canvas", metavar="FILE", help="Also write the answer as a board: a .canvas file."),
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option(
            "--base",
            metavar="FILE",
            help="Also write the notes that the question selects as an Obsidian Base: a .base file.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Ask a question; the answer cites a note for every claim."""
    started = time.perf_counter()
    from agentic_rag.settings.environment import parse_assignments

    if board is not None:
        from agentic_rag.boards.files import require_board_name

        require_board_name(board)
        require_folder(board)
    if base is not None:
        from agentic_rag.boards.selection_base import require_base_name

        require_base_name(base)
        require_folder(base)
    require_data(config, dataset)
    result = run_on_rag(
        config,
        "ask",
        question=question,
        options={
            "dataset": dataset,
            "operation": operation,
            "top_k": top_k,
            "filters": filter_values(filters),
            "as_of": as_of,
            "user_id": user_id,
            "parameters": parse_assignments(assignments or []),
        },
        explain=explain,
        board=None if board is None else str(board.absolute()),
        base=None if base is None else str(base.absolute()),
    )
    for name, file in (("board", board), ("base", base)):
        if file is not None and result[name] is not None:
            result[name]["path"] = str(file)
    result["seconds"] = round(time.perf_counter() - started, 3)
    if as_json:
        print_json(result)
    else:
        from agentic_rag.cli.render import print_answer

        print_answer(result, explain=explain)


@app.command()
@with_config
def check(
    config: RagConfig,
    board: Annotated[Path, typer.Argument(help="Board of questions from ask --canvas, with your answers.")],
    user_id: BoardUser = "local",
    as_json: Json = False,
) -> None:
    """Mark the answers that you wrote into a verification board.

    Colours the board, writes wrong answers as mistake notes, and prints when each question is due again.
    """
    from agentic_rag.cli.boards import check_file, print_check

    report = run(check_file(config, board, user_id))
    print_result(report.to_dict(), as_json, lambda: print_check(report))


@app.command()
@with_config
def due(
    config: RagConfig,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="Only this dataset; default: all.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also list questions that are not due yet.")
    ] = False,
    anki: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the questions to a text file for Anki.")
    ] = None,
    user_id: BoardUser = "local",
    as_json: Json = False,
) -> None:
    """List the questions that are due for repetition."""
    from agentic_rag.cli.boards import due_json, due_reviews, print_due, write_anki

    if anki is not None:
        require_folder(anki)
    found = due_reviews(config, user_id, dataset, everything=everything)
    if anki is not None:
        write_anki(found, anki)
    if as_json:
        print_json(due_json(found))
    else:
        print_due(found)
        if anki is not None:
            typer.echo(f"{len(found)} questions for Anki: {anki}")


@app.command()
@with_config
def search(
    config: RagConfig,
    query: Annotated[str, typer.Argument(help="What to look for.")],
    dataset: Dataset = "default",
    strategy: Annotated[str, typer.Option(metavar="NAME", help="dense, sparse or hybrid.")] = "hybrid",
    top_k: TopK = 4,
    threshold: Annotated[float, typer.Option(metavar="X", help="Minimum relevance, from 0 to 1.")] = 0.0,
    filters: Filters = None,
    as_json: Json = False,
) -> None:
    """Search the vector store only, without the graph and without an answer."""
    started = time.perf_counter()
    require_data(config, dataset)
    result = run_on_rag(
        config,
        "search",
        query=query,
        dataset=dataset,
        strategy=strategy,
        top_k=top_k,
        threshold=threshold,
        filters=filter_values(filters),
    )
    result["seconds"] = round(time.perf_counter() - started, 3)
    if as_json:
        print_json(result)
    else:
        from agentic_rag.cli.render import print_search

        print_search(result)


@app.command()
def graph(
    name: Annotated[
        str, typer.Argument(help="agentic_rag, memory_retrieval, memory_main, memory_insert or memory_test.")
    ] = "agentic_rag",
) -> None:
    """Print a compiled graph's Mermaid text."""
    from agentic_rag.cli.drawings import drawing

    sys.stdout.write(drawing(name))


@app.command()
@with_config
def stats(
    config: RagConfig,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="Only this dataset; default: all.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show rows, indexes, versions, size and model of each dataset, and what its notes state.

    Questions and --filter can name these properties, tags and folders.
    """
    from agentic_rag.cli.datasets import collect, print_stats

    found = run(collect(config, dataset))
    print_result(found, as_json, lambda: print_stats(found, config))


@app.command()
@with_config
def backup(
    config: RagConfig,
    target: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder for the copy; it must not exist yet.")
    ],
    as_json: Json = False,
) -> None:
    """Copy the data folder while it is in use.

    The copy is a data folder: ask it with --data-dir, or restore it by copying it back.
    """
    from agentic_rag.backup import back_up

    report = run(back_up(config, target))
    if as_json:
        print_json(report.to_dict())
    else:
        size = report.size_bytes / 1e6
        sys.stdout.write(f"{report.path}: {report.files} files, {size:.1f} MB, {report.seconds:.1f} s\n")


@app.command()
@with_config
def repair(
    config: RagConfig,
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            metavar="NAME",
            help="Only this dataset, and the tables that all datasets share; default: all.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Repair a data folder with damaged files.

    Reads every table whole, sets unreadable files aside, and prints the command that restores missing data.
    """
    from agentic_rag.cli.repair import print_repair
    from agentic_rag.repair import repair as repair_folder

    report = run(with_stderr_silenced(repair_folder(config, dataset)), goes_on=True)
    print_result(report.to_dict(), as_json, lambda: print_repair(report, config))


@app.command()
@with_config
def doctor(load: Callable[[], RagConfig], as_json: Json = False) -> None:
    """Check the configuration, the servers and the installation.

    For each missing part it prints the command that fixes it.
    """
    from agentic_rag.cli.doctor import print_findings
    from agentic_rag.diagnosis import examine

    findings = run(with_stderr_silenced(examine(load, thorough=True)))
    print_result([finding.to_dict() for finding in findings], as_json, lambda: print_findings(findings))
    if any(finding.status == "missing" for finding in findings):
        raise typer.Exit(1)
