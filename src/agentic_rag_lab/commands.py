"""The commands ``eval``, ``tune`` and ``bench``: an entry of ``agentic_rag.commands``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentic_rag.cli.options import Address, Engine, Json, with_config
from agentic_rag.cli.running import print_result, run
from agentic_rag.errors import InputError

if TYPE_CHECKING:
    from agentic_rag.settings.config import RagConfig

Split = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Use qrels/NAME.tsv of a directory; default: its qrels.tsv, else test."
    ),
]
Half = Annotated[
    str | None,
    typer.Option(
        metavar="HALF", help="'first' or 'second': only that half of the queries, split by a hash of the id."
    ),
]
Corrections = Annotated[
    Path | None, typer.Option(metavar="FILE", help="JSON file with corrections to LoCoMo's answer key.")
]
Control = Annotated[
    bool,
    typer.Option(
        "--control",
        help="BEAM: remove the words 'always' and 'never', which reveal the evidence messages.",
    ),
]
Operation = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Operation for all queries; default: the query's own, else document_retrieval."
    ),
]
Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="Only the first N queries.")]
Figures = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the figures to this file.")
]
Charts = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder for charts; needs the extra 'charts'.")
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Run all questions again, including those with saved answers.")
]

app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command("eval")
@with_config
def evaluate(
    config: RagConfig,
    source: Annotated[
        Path, typer.Argument(help="BEIR directory, LoCoMo .json file, or BEAM folder (chats/100K/1).")
    ],
    systems: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Comma-separated: graphiti, lancedb, dense, sparse, rrf, …, NAME+rerank, full, full-graphiti, full-lancedb.",
        ),
    ] = "graphiti,lancedb,full",
    operation: Operation = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="System that the others are compared with; default: the first one."
        ),
    ] = None,
    limit: Limit = None,
    half: Half = None,
    split: Split = None,
    corrections: Corrections = None,
    control: Control = False,
    output: Figures = None,
    markdown: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write all tables, and the repairs of the data, to this file."),
    ] = None,
    charts: Charts = None,
    records: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File for the saved answers; default: in the data folder."),
    ] = None,
    fresh: Fresh = False,
    engine: Engine = "local",
    address: Address = None,
) -> None:
    """Score systems on labelled queries.

    Compares sources, fusions and the whole graph, with 95 % intervals, tests against a baseline, latency
    and abstention. After an interruption, run the same command again to continue.
    """
    from agentic_rag_lab.cli.evaluate import ReportFiles, evaluate_source
    from agentic_rag_lab.evaluation.run import EvalOptions

    if not source.exists():
        raise InputError(f"there is no file or folder {str(source)!r}")
    options = EvalOptions(
        systems=[name.strip() for name in systems.split(",") if name.strip()],
        operation=operation,
        baseline=baseline,
        limit=limit,
        split=split,
        half=half,
        corrections=corrections,
        control=control,
        records=records,
        fresh=fresh,
        engine=engine,
        address=address,
    )
    run(
        evaluate_source(config, source, options, ReportFiles(output, markdown, charts)),
        goes_on=True,
        fresh=fresh,
    )


@app.command()
@with_config
def tune(
    config: RagConfig,
    source: Annotated[
        Path, typer.Argument(help="BEIR directory, or LoCoMo .json file: your labelled queries.")
    ],
    operation: Operation = None,
    measure: Annotated[
        str,
        typer.Option(
            metavar="NAME@K", help="mrr, recall, ndcg, success or all_gold, with the number of ranks."
        ),
    ] = "mrr@10",
    write: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Settings file to write; default settings.toml in the data folder."
        ),
    ] = None,
    anyway: Annotated[
        bool, typer.Option("--write-anyway", help="Write the file even if the gain is not significant.")
    ] = False,
    limit: Limit = None,
    half: Half = None,
    split: Split = None,
    corrections: Corrections = None,
    output: Figures = None,
) -> None:
    """Fit the settings to your own labelled queries.

    Chooses strategy, weights, k, normalisation, thresholds and rerank weights by cross-validation. Tests
    whether the gain is significant; if it is, writes the settings file that ask uses.
    """
    from agentic_rag_lab.cli.tune import TuneFiles, tune_source
    from agentic_rag_lab.evaluation.tuning.run import TuneOptions

    if not source.exists():
        raise InputError(f"there is no file or folder {str(source)!r}")
    options = TuneOptions(
        operation=operation,
        measure=measure,
        anyway=anyway,
        limit=limit,
        split=split,
        half=half,
        corrections=corrections,
    )
    run(tune_source(config, source, options, TuneFiles(write, output)))


bench_app = typer.Typer(
    help="Run a memory design on LoCoMo or BEAM conversations, and compare finished runs.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(bench_app, name="bench")


@bench_app.callback()
@with_config
def bench(
    context: typer.Context,
    load: Callable[[], RagConfig],
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The memory design: a YAML file, as in configs/.")
    ] = None,
    task_id: Annotated[
        str | None,
        typer.Option(
            "--task-id",
            "--task_id",
            metavar="NAME",
            help="Conversation (conv-26, 100K/1), several by commas, or all; default: the only one in the data.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="LoCoMo .json file, or BEAM folder (chats); default: runtime.data of the design.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the run; default: in the data folder.")
    ] = None,
    control: Control = False,
    fresh: Fresh = False,
    engine: Engine = "local",
    address: Address = None,
    as_json: Json = False,
) -> None:
    """Run a memory design on LoCoMo or BEAM: insert turn by turn, ask, score, record.

    After an interruption, the same command continues. ``bench compare RUN…`` shows runs side by side.
    """
    if context.invoked_subcommand is not None:
        return
    if config is None:
        raise InputError(
            "name a memory design with --config, such as configs/locomo_short_term_memory_pipeline.yaml"
        )
    from agentic_rag_lab.cli.bench import bench_design, print_bench
    from agentic_rag_lab.evaluation.bench.run import BenchOptions

    options = BenchOptions(
        data=data, task_id=task_id, out=out, fresh=fresh, control=control, engine=engine, address=address
    )
    report = run(
        bench_design(load(), config, options, quiet=as_json),
        goes_on=True,
        fresh=fresh,
    )
    print_result({**report.summary, "folder": str(report.folder)}, as_json, lambda: print_bench(report))


@bench_app.command("compare")
def bench_compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Run folders, as printed by bench.")],
    charts: Charts = None,
    as_json: Json = False,
) -> None:
    """Compare finished runs: a table, and charts of the score by category and against cost."""
    from agentic_rag_lab.cli.bench import compare_runs, print_comparison

    found = compare_runs(runs, charts)
    print_result(found, as_json, lambda: print_comparison(found))
