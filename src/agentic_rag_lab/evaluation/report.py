"""Evaluation, the report: as JSON, and as Markdown for readers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentic_rag.domain.usage import UsageValues, usage_text
from agentic_rag_lab.evaluation.beam_scores import MEASURES as BEAM_MEASURES
from agentic_rag_lab.evaluation.files import write_text
from agentic_rag_lab.evaluation.scores import MEASURES

SIGNIFICANT = 0.05
"""Adjusted p below which a difference from the baseline is marked."""
LATENCY = ("p50", "p95")


@dataclass(frozen=True, slots=True)
class EvalReport:
    """Scores of every system on the same queries."""

    dataset: str
    queries: int
    """Number of queries for the ranking measures; unanswerable ones are counted in ``abstention``."""
    baseline: str
    systems: dict[str, dict[str, Any]]
    """See ``scores.system_figures``."""
    abstention: dict[str, Any]
    """``answerable``, ``unanswerable``, ``systems``: see ``abstention_figures``; empty without unanswerable queries."""
    degenerate: dict[str, Any]
    """``ranking`` and ``abstention`` of baselines without a search; see ``scores.degenerate_rankings``."""
    repairs: tuple[str, ...]
    """One line per change to invalid data."""
    settings: dict[str, Any]
    versions: dict[str, str]
    records: Path
    """File of the stored answers."""
    reused_answers: int
    """Number of answers from an earlier run."""
    beam: dict[str, Any] = field(default_factory=dict)
    """By system, for a BEAM conversation: see ``beam_scores.score``; empty for other data."""

    usage: UsageValues = field(default_factory=UsageValues)
    """Usage of the model endpoints in this run (see ``domain.usage``); empty without a call."""

    def to_dict(self) -> dict[str, Any]:
        """JSON values; only ``latency_ms`` depends on the machine's speed."""
        named = "dataset queries systems baseline abstention degenerate repairs settings versions".split()
        named += [name for name in ("beam", "usage") if getattr(self, name)]
        return {**{name: getattr(self, name) for name in named}, "repairs": list(self.repairs)}

    def write_json(self, path: Path) -> None:
        """``to_dict`` in a file."""
        write_text(path, json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n")

    def write_markdown(self, path: Path) -> None:
        """``markdown`` in a file."""
        write_text(path, markdown(self))


def mark(comparison: Mapping[str, float] | None) -> str:
    """`` ▲`` if a system is significantly better than the baseline, `` ▼`` if worse, else nothing."""
    if comparison is None or comparison["p_holm"] >= SIGNIFICANT:
        return ""
    return " ▲" if comparison["difference"] > 0 else " ▼"


def markdown(report: EvalReport) -> str:
    """All scores as tables, then every repair and the settings."""
    parts = [
        f"# {report.dataset}: {report.queries} queries",
        "Mean over queries with its 95 % bootstrap interval; a query without results counts 0. "
        f"▲ ▼: differs from `{report.baseline}` with p < {SIGNIFICANT} (paired randomisation test, Holm's "
        "correction over all systems and measures of this table). Latency in milliseconds, model calls a query.",
        _quality(report),
        *_comparisons(report),
        *_categories(report),
        *_beam(report),
        *_abstention(report),
        f"## Repairs: {len(report.repairs)}",
        "\n".join(f"- {_cell(line)}" for line in report.repairs) or "Everything was taken as it stood.",
        "## Settings",
        f"```json\n{json.dumps({**report.settings, 'versions': report.versions}, indent=2, ensure_ascii=False)}\n```",
        *([f"Models behind endpoints used: {usage_text(report.usage)}."] if report.usage else []),
    ]
    return "\n\n".join(parts) + "\n"


def _quality(report: EvalReport) -> str:
    rows = []
    for name, figures in report.systems.items():
        against = figures["against_baseline"]
        cells = [f"{_interval(figures[measure])}{mark(against.get(measure))}" for measure in MEASURES]
        latency = [f"{figures['latency_ms'][point]:.0f}" for point in LATENCY]
        rows.append(
            [f"`{name}`", *cells, *latency, f"{figures['model_calls']['mean']:g}", str(figures["degraded"])]
        )
    for name, figures in report.degenerate.get("ranking", {}).items():
        rows.append(
            [f"{name} (no search)", *(_interval(figures[measure]) for measure in MEASURES), *([""] * 4)]
        )
    return _table(["system", *MEASURES, *LATENCY, "calls", "degraded"], rows)


def _comparisons(report: EvalReport) -> Iterator[str]:
    rows = [
        [
            f"`{name}`",
            measure,
            f"{found['difference']:+.3f} ({found['low']:+.3f} to {found['high']:+.3f})",
            f"{found['p']:.4f}",
            f"{found['p_holm']:.4f}",
        ]
        for name, figures in report.systems.items()
        for measure, found in figures["against_baseline"].items()
    ]
    if rows:
        yield f"## Against `{report.baseline}`"
        yield _table(["system", "measure", "difference", "p", "p (Holm)"], rows)


def _categories(report: EvalReport) -> Iterator[str]:
    rows = [
        [_cell(category), str(figures["queries"]), f"`{name}`", *(_interval(figures[m]) for m in MEASURES)]
        for name, of_system in report.systems.items()
        for category, figures in of_system["by_category"].items()
    ]
    if rows:
        yield "## By category"
        yield _table(["category", "queries", "system", *MEASURES], sorted(rows, key=lambda row: row[0]))


def _beam(report: EvalReport) -> Iterator[str]:
    if not report.beam:
        return
    yield "## BEAM, by kind of question"
    yield (
        "Share of a question's sources among the first 10 and 20 messages; both, newer: a message of each named set, of "
        "the newest one, is among the first 10; tau: Kendall's, between the order found and that of the conversation, "
        "over questions with two sources found."
    )
    rows = [
        [f"`{name}`", _cell(kind), *(_plain(figures.get(measure)) for measure in BEAM_MEASURES)]
        for name, found in report.beam.items()
        for kind, figures in {"six kinds": found["six_kinds"], **found["by_kind"]}.items()
    ]
    yield _table(["system", "kind", *BEAM_MEASURES], rows)


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _abstention(report: EvalReport) -> Iterator[str]:
    if not report.abstention:
        return
    yield "## Abstention"
    yield (
        f"{report.abstention['unanswerable']} unanswerable queries, {report.abstention['answerable']} answerable "
        "ones. The threshold that refuses at most 10 % is chosen on these answerable queries: it tells how well "
        "the confidence orders them, not how well a threshold fixed beforehand would do."
    )
    rows = []
    for name, found in report.abstention["systems"].items():
        run, chosen = found["as_run"], found["at_refused_10"]
        rows.append(
            [
                f"`{name}`",
                _interval(run["unanswerable_abstained"]),
                _interval(run["answerable_refused"]),
                _interval(chosen["unanswerable_abstained"]),
                f"{chosen['threshold']:.3f}",
                _interval(found["roc_area"]),
            ]
        )
    for name, found in report.degenerate["abstention"].items():
        shares = [f"{found[key]:.3f}" for key in ("unanswerable_abstained", "answerable_refused")]
        rows.append([f"always {name} (right on {found['right']:.3f} of all)", *shares, "", "", ""])
    head = ["system", "abstained on unanswerable", "refused answerable", "abstained at ≤ 10 % refused"]
    yield _table([*head, "threshold", "area under ROC"], rows)


def _interval(figure: Mapping[str, float]) -> str:
    return f"{figure['value']:.3f} ({figure['low']:.3f} to {figure['high']:.3f})"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    """Escapes names and texts of a file for a table cell."""
    escaped = text.replace("\\", "\\\\")
    for sign in "|<>`*_[]":
        escaped = escaped.replace(sign, f"\\{sign}")
    return " ".join(escaped.split())
