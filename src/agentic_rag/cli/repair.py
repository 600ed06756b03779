"""Output of ``repair``: the damage, its repair, and the next commands."""

from __future__ import annotations

import shlex
from pathlib import Path

from agentic_rag.cli.render import console
from agentic_rag.domain.identity import user_of
from agentic_rag.repair import UNKNOWN_ROOT, MendedDataset, MendedTable, RepairReport
from agentic_rag.settings.config import RagConfig

DEFAULT_DATA_DIR = RagConfig().data_dir
_AGAIN = {
    "values": "; rebuilt from the chunks",
    "datasets": "; rebuilt from the other tables",
    "ledger": "; rebuilt from the chunks",
}
"""Result for tables that are derived from others."""
_NOT_IN_GRAPH = "(the graph does not hold core, procedural and working memories)"
_LOSSES = {
    0: "nothing of it is lost",
    None: f"how much of it is lost is unknown {_NOT_IN_GRAPH}",
}


def print_repair(report: RepairReport, config: RagConfig) -> None:
    """The damage, its repair, and the commands to run next."""
    out = console()
    if not report.tables and not report.indexes and not report.files:
        out.print(f"nothing is damaged: {report.checked} tables were read whole · {report.seconds:.1f} s")
        return
    for name, told in report.files.items():
        out.print(f"{name}: {told}", markup=False, soft_wrap=True)
    for name, reason in report.indexes.items():
        out.print(f"{name}: its indexes were rebuilt ({reason})", markup=False, soft_wrap=True)
    for table in report.tables:
        out.print(f"{table}: {table.reason}", markup=False, soft_wrap=True)
        out.print(f"  {_kept_text(table)}", markup=False, soft_wrap=True)
    for dataset in report.datasets:
        for line in _became(dataset):
            out.print(line, markup=False, soft_wrap=True)
    if report.aside is not None:
        out.print(f"the damaged files were moved to {report.aside}", markup=False, soft_wrap=True)
    commands = [_command(one, config) for one in report.datasets if one.pending]
    if commands:
        out.print("now run:", style="bold")
        for command in commands:
            out.print(f"  {command}", markup=False, soft_wrap=True)


def _kept_text(table: MendedTable) -> str:
    lost = "the number of lost rows is unknown" if table.lost is None else f"{table.lost} could not be read"
    older = "" if table.is_latest or not table.kept else "; some may be of an older version"
    return f"{table.kept} rows kept, {lost}{older}{_AGAIN.get(table.part, '')}"


def _became(dataset: MendedDataset) -> list[str]:
    user = user_of(dataset.dataset)
    called = dataset.dataset if user is None else f"memory of {user}"
    told = [f"{dataset.restored} chunks restored from the graph"] if dataset.restored else []
    if dataset.pending:
        told.append(f"{dataset.pending} documents to be ingested again")
    if user is not None:
        told.append(_LOSSES.get(dataset.lost, f"{dataset.lost} passages of it are lost {_NOT_IN_GRAPH}"))
    if dataset.problem is not None:
        told.append(dataset.problem)
    return [f"{called}: {', '.join(told)}"] if told else []


def _command(dataset: MendedDataset, config: RagConfig) -> str:
    roots = ["PATH" if Path(root).name == UNKNOWN_ROOT else shlex.quote(root) for root in dataset.roots]
    place = f" --data-dir {shlex.quote(str(config.data_dir))}" if config.data_dir != DEFAULT_DATA_DIR else ""
    line = f"agentic-rag ingest {' '.join(roots)} --dataset {shlex.quote(dataset.dataset)}{place}"
    return line + (
        "  (PATH: the folder of its notes, which is not recorded any more)" if "PATH" in roots else ""
    )
