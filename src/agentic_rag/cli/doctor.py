"""``init`` and ``doctor``: create a starter folder; print findings with their remedies."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from agentic_rag.diagnosis import Finding


def print_findings(findings: list[Finding]) -> None:
    """A table, and the remedies below it."""
    table = Table(title="agentic-rag doctor", title_justify="left")
    for name in ("what", "status", "detail"):
        table.add_column(name)
    colours = {"ok": "green", "off": "dim", "missing": "red"}
    for finding in findings:
        table.add_row(
            finding.what,
            f"[{colours[finding.status]}]{finding.status}[/]",
            finding.detail.replace("[", "\\["),
        )
    out = Console(highlight=False)
    out.print(table)
    for finding in findings:
        if finding.cure is not None and finding.status != "ok":
            out.print(f"{finding.what}: {finding.cure}", markup=False, soft_wrap=True)
