"""``tune``: tune under a progress bar, print the chosen settings with their significance, write the settings file.

The file's other contents are kept, and it is written atomically. A file in the usual form (``[section]``, then
``key = value`` lines) keeps its comments and order; a file in another form (dotted keys, inline tables) is rewritten
with the same values.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agentic_rag.cli.render import bars
from agentic_rag.domain.json_values import Json
from agentic_rag.errors import ConfigError
from agentic_rag.rag import open_rag
from agentic_rag.settings.config import RagConfig
from agentic_rag.settings.environment import SETTINGS_FILE, load_config
from agentic_rag_lab.cli.settings_file import file_values, merged_settings, read_settings, write_settings
from agentic_rag_lab.cli.tables import interval, report_table
from agentic_rag_lab.evaluation.files import check_writable, write_text
from agentic_rag_lab.evaluation.tuning.run import Gain, TuneOptions, TuneReport, default_settings, tune

STAGES = {
    "read": "reading",
    "store": "storing",
    "ask": "collecting",
    "search": "choosing, fold by fold",
}


@dataclass(frozen=True, slots=True)
class TuneFiles:
    """The files that a tuning run writes."""

    settings: Path | None = None
    """None: ``settings.toml`` in the data folder."""
    json: Path | None = None


async def tune_source(config: RagConfig, source: Path, options: TuneOptions, outputs: TuneFiles) -> None:
    """Tune, print, and write the settings if a gain is significant (or ``options.anyway``)."""
    target = outputs.settings or config.data_dir / SETTINGS_FILE
    text = await asyncio.to_thread(read_settings, target)
    for file in (target, outputs.json):
        if file is not None:
            check_writable(file, source=source)
    with bars(STAGES, quiet=False) as progress:
        async with open_rag(config) as rag:
            report = await tune(rag, source, options, progress)
    console = Console(highlight=False)
    for table in tables(report):
        console.print(table)
    written = None
    if report.settings:
        written = await asyncio.to_thread(_write, report, target, text, datetime.now())
    if outputs.json is not None:
        said = {**report.to_dict(), "written": None if written is None else str(target)}
        text_of_json = json.dumps(said, indent=2, ensure_ascii=False) + "\n"
        await asyncio.to_thread(write_text, outputs.json, text_of_json)
    for line in verdict(report, None if written is None else target):
        console.print(line, markup=False, soft_wrap=True)
    if written is not None:
        for line in await asyncio.to_thread(_override_lines, config.data_dir, target, written):
            console.print(line, markup=False, soft_wrap=True)


def _write(report: TuneReport, target: Path, text: str, now: datetime) -> Json:
    """Write the settings; returns them."""
    values = file_values(text, report.settings, default_settings())
    write_settings(target, merged_settings(text, values, _provenance(report, now)))
    return values


def _provenance(report: TuneReport, now: datetime) -> str:
    figure = report.ranking
    return (
        f"{now:%Y-%m-%d %H:%M}, {report.dataset}, {report.queries} queries, {report.operation}; "
        f"{report.measure} held out {figure.default['value']:.3f} -> {figure.chosen['value']:.3f}, "
        f"p = {figure.p:.3g}"
    )


def _override_lines(data_dir: Path, target: Path, values: Mapping[str, Any]) -> list[str]:
    """A line for each setting that the environment overrides."""
    try:
        told = load_config(data_dir, target).model_dump(mode="json")
    except ConfigError as error:
        return [f"note: with this file the settings cannot be read: {error}"]
    names = []
    for name, value in values.items():
        section, _, key = name.partition(".")
        if value is not None and told[section][key] != value:
            names.append(name)
    return [f"note: environment variables override the file's {', '.join(names)}"] if names else []


def tables(report: TuneReport) -> list[Table]:
    """The settings that differ from the defaults, then the values on held-out queries."""
    return [_settings(report), _figures(report)]


def _settings(report: TuneReport) -> Table:
    title = f"{report.dataset}: {report.queries} queries, {report.operation}"
    shown = report_table(title, ["parameter", "default", "chosen", "to write", "chosen in folds"])
    for name, default in default_settings().items():
        in_folds = [fold[name] for fold in report.chosen_in_folds if name in fold]
        if name in report.chosen or name in report.settings or in_folds:
            chosen = _value_text(report.chosen[name]) if name in report.chosen else ""
            taken = f"[bold]{_value_text(report.settings[name])}[/bold]" if name in report.settings else ""
            shown.add_row(
                name,
                _value_text(default),
                chosen,
                taken,
                _count_choices(in_folds, len(report.chosen_in_folds)),
            )
    if not shown.row_count:
        shown.add_row("[dim]every one at its default[/dim]")
    return shown


def _count_choices(values: list[Any], folds: int) -> str:
    """How often each value was chosen; the other folds chose the default."""
    counts = {value: values.count(value) for value in sorted(set(values), key=str)}
    return ", ".join(f"{_value_text(value)} in {count} of {folds}" for value, count in counts.items())


def _value_text(value: Any) -> str:
    return "–" if value is None else escape(f"{value:g}" if isinstance(value, float) else str(value))


def _figures(report: TuneReport) -> Table:
    kind = "conversations" if report.grouped else "folds"
    title = f"on queries held out, {report.folds} {kind}"
    shown = report_table(title, ["measure"], ["default", "chosen", "gain", "p"])
    rows = {report.measure: report.ranking}
    if report.abstention is not None:
        rows[f"abstention ({report.unanswerable} unanswerable)"] = report.abstention
    for name, gain in rows.items():
        gained = interval(gain.difference, sign="+") + (" ▲" if gain.beyond_chance else "")
        shown.add_row(name, interval(gain.default), interval(gain.chosen), gained, f"{gain.p:.3g}")
    shown.caption = "mean, 95 % interval; ▲ beyond chance: p < 0.05, interval above 0"
    return shown


def verdict(report: TuneReport, target: Path | None) -> list[str]:
    """The meaning of the values, and what was written; one line each."""
    lines = [_meaning(report.measure, report.ranking)]
    if report.abstention is not None:
        lines.append(_meaning("abstention", report.abstention))
    if target is not None:
        lines.append(f"written: {target}, read by every command with this data folder or --settings FILE")
        lines.append(f"measured with --operation {report.operation}; the file holds for every operation")
    elif report.beyond_chance:
        lines.append("nothing written: on all queries together the defaults are best")
    elif report.chosen:
        lines.append("nothing written: the gain is not significant; to write it all the same: --write-anyway")
    else:
        lines.append("nothing written: no setting is significantly better than its default")
    if report.repairs:
        lines.append(f"repairs of the data: {len(report.repairs)}; --json FILE lists them")
    return lines


def _meaning(name: str, gain: Gain) -> str:
    value, p = gain.difference["value"], gain.p
    if gain.beyond_chance:
        return f"{name}: the gain of {value:+.3f} is beyond chance (p = {p:.3g})"
    return f"{name}: no gain beyond chance ({value:+.3f}, p = {p:.3g})"
