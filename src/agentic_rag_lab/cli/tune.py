"""``tune``: tune under a progress bar, print the chosen settings with their significance, write the settings file.

The file's other contents are kept, and it is written atomically. A file in the usual form (``[section]``, then
``key = value`` lines) keeps its comments and order; a file in another form (dotted keys, inline tables) is rewritten
with the same values.
"""

from __future__ import annotations

import asyncio
import json
import re
import tomllib
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
from agentic_rag.errors import ConfigError, StoreError
from agentic_rag.rag import open_rag
from agentic_rag.settings.config import RagConfig
from agentic_rag.settings.environment import SETTINGS_FILE, load_config
from agentic_rag.stores.whole_file import write_whole
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


MARK = "# tuned by agentic-rag tune: "
"""Prefix of the line with date and data of the tuning."""


def read_settings(path: Path) -> str:
    """The file's text; "" if it does not exist.

    Raises:
        ConfigError: the file cannot be read or is not TOML.
    """
    if not path.exists():
        return ""
    try:
        text = path.read_text(encoding="utf-8")
        tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"cannot read the settings file {path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"the settings file {path} is not TOML: {error}") from error
    return text


def merged_settings(text: str, values: Mapping[str, Any], origin: str) -> str:
    """A settings file's text with some values replaced, and a first line with their origin.

    Args:
        text: current text of the file; valid TOML.
        values: by dotted name (``fusion.k``); None removes the setting.
        origin: where the values come from, one line.

    Raises:
        ConfigError: a section's name is used for something else in the file.

    >>> print(merged_settings("[fusion]\\nk = 60  # mine\\n", {"fusion.k": 20}, "today"))
    # tuned by agentic-rag tune: today
    [fusion]
    k = 20
    <BLANKLINE>
    """
    wanted = tomllib.loads(text)
    for name, value in values.items():
        section, _, key = name.partition(".")
        own = wanted.setdefault(section, {})
        if not isinstance(own, dict):
            raise ConfigError(
                f"{section!r} in the settings file is {own!r:.80}; make it a section, such as [{section}]"
            )
        own.pop(key, None)
        if value is not None:
            own[key] = value
        elif not own:
            del wanted[section]
    # Only "\n" ends a line of TOML; a "\r" before it is white space and is dropped here.
    lines = [line.rstrip("\r") for line in text.split("\n") if not line.startswith(MARK)]
    for name, value in values.items():
        section, _, key = name.partition(".")
        lines = _edit_section(lines, section, key, value)
    edited = "\n".join(lines)
    if not _says(edited, wanted):
        edited = "\n".join(_dump(wanted))
    head = MARK + " ".join(origin.split())
    return f"{head}\n{edited}".rstrip("\n") + "\n"


def file_values(text: str, settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> Json:
    """The ``values`` for ``merged_settings`` that make a file contain exactly the tuned settings.

    Args:
        text: current text of the file.
        settings: settings other than the defaults, by dotted name.
        defaults: default of every tunable setting; None: unset. A tunable setting in the file is set to it.
    """
    said = tomllib.loads(text)
    values = dict(settings)
    for name, default in defaults.items():
        section, _, key = name.partition(".")
        if name not in values and key in said.get(section, {}):
            values[name] = default
    return values


def write_settings(path: Path, text: str) -> None:
    """Write the file atomically.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        write_whole(path, text)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from error


def _says(text: str, wanted_values: Mapping[str, Any]) -> bool:
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return _full(said) == _full(wanted_values)


def _full(values: Mapping[str, Any]) -> Json:
    """The values without empty sections."""
    return {name: value for name, value in values.items() if value != {}}


def _edit_section(lines: list[str], section: str, key: str, value: Any) -> list[str]:
    """The lines with ``key`` of ``[section]`` set, or removed if the value is None."""
    head = re.compile(rf"\s*\[\s*{re.escape(section)}\s*\]\s*(#.*)?")
    start = next((number for number, line in enumerate(lines) if head.fullmatch(line)), None)
    written = [] if value is None else [f"{key} = {_value(value)}"]
    if start is None:
        gap = [""] if lines and lines[-1].strip() else []
        return [*lines, *gap, f"[{section}]", *written] if written else lines
    later = (number for number in range(start + 1, len(lines)) if lines[number].lstrip().startswith("["))
    end = next(later, len(lines))
    own = re.compile(rf"\s*{re.escape(key)}\s*=")
    for number in range(start + 1, end):
        if own.match(lines[number]):
            return [*lines[:number], *written, *lines[number + 1 :]]
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return [*lines[:end], *written, *lines[end:]]


def _dump(values: Mapping[str, Any], path: tuple[str, ...] = ()) -> list[str]:
    """TOML lines of nested plain values."""
    lines = [
        f"{_key(name)} = {_value(value)}" for name, value in values.items() if not isinstance(value, Mapping)
    ]
    for name, value in values.items():
        if isinstance(value, Mapping):
            place = (*path, name)
            lines += ["", f"[{'.'.join(map(_key, place))}]", *_dump(value, place)]
    return lines


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name)} = {_value(entry)}" for name, entry in value.items()) + "}"
    return str(value)
