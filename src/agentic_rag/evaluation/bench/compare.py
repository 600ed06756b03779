"""The memory benchmark, the comparison: runs beside each other, with tests on the questions they share."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentic_rag.errors import InputError
from agentic_rag.evaluation.bench.records import RECORDS, QuestionRecord, read_record
from agentic_rag.evaluation.bench.summary import RECALL, SUMMARY, latest, read_summary
from agentic_rag.evaluation.journal import read_rows
from agentic_rag.evaluation.statistics import holm, randomisation_test
from agentic_rag.lab.conversation import ADVERSARIAL

logger = logging.getLogger(__name__)
ANSWERABLE = "f1_answerable"
MEASURES = ("f1", ANSWERABLE, RECALL)


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run."""

    name: str
    """Of its design; with a number where two runs are of one."""
    folder: Path
    summary: Mapping[str, Any]
    records: tuple[QuestionRecord, ...]
    """Of each question the last."""


def short_name(name: str) -> str:
    """A design's name without what all the shipped files begin and end with."""
    return name.removeprefix("locomo_").replace("_pipeline", "")


def read_run(folder: Path) -> Run:
    """A run as ``bench`` left it.

    Raises:
        InputError: the folder holds no finished run.
    """
    file = folder / SUMMARY if folder.is_dir() else folder
    found = read_summary(file)
    if found is None:
        raise InputError(
            f"{folder} holds no finished run (no readable summary.json); give the folder that bench has named"
        )
    # Other tasks of the design may stand beside them, of runs before or of one that has not ended.
    journals = [file.parent / task / RECORDS for task in found["inserts"]]
    records = [
        read_record(row, f"{path}:{number}")
        for path in journals
        if path.is_file()  # of a conversation without questions there is none
        for number, row in enumerate(read_rows(path), start=2)
    ]
    return Run(str(found["config"]), file.parent, found, tuple(latest(records)))


def read_runs(folders: Sequence[Path]) -> list[Run]:
    """Runs in the order given; names that come twice get a number.

    A folder that ``bench`` has begun and not ended is left out with a warning, as ``bench/*/`` names it too.

    Raises:
        InputError: no folder, one that is not there, or none that holds a finished run.
    """
    if not folders:
        raise InputError("no run to compare; give the folders that bench has named")
    begun = [folder for folder in folders if folder.is_dir() and not (folder / SUMMARY).exists()]
    finished = [folder for folder in folders if folder not in begun]
    for folder in begun if finished else ():
        logger.warning("%s holds no finished run and is left out", folder)
    runs: list[Run] = []
    seen: dict[str, int] = {}
    for folder in finished or folders:
        run = read_run(folder)
        seen[run.name] = number = seen.get(run.name, 0) + 1
        name = run.name if number == 1 else f"{run.name} ({number})"
        runs.append(Run(name, run.folder, run.summary, run.records))
    return runs


def against_first(runs: Sequence[Run]) -> dict[str, dict[str, dict[str, float]]]:
    """By run (but the first) and measure: mean paired difference from the first run, ``p`` and ``p_holm``.

    Only questions that both runs have count; how many stands beside as ``questions``. A randomisation test,
    held for all comparisons together by Holm's method.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    p_values: dict[str, float] = {}
    for run in runs[1:]:
        found[run.name] = {}
        for measure in MEASURES:
            pairs = _pairs(runs[0], run, measure)
            if not pairs:
                continue
            first, own = ([pair[side] for pair in pairs] for side in (0, 1))
            p = randomisation_test(own, first)
            p_values[f"{run.name}\n{measure}"] = p
            found[run.name][measure] = {
                "difference": round(sum(own) / len(own) - sum(first) / len(first), 4),
                "questions": len(pairs),
                "p": p,
            }
    for key, p in holm(p_values).items():
        name, _, measure = key.partition("\n")
        found[name][measure]["p_holm"] = p
    return found


def comparison(runs: Sequence[Run]) -> dict[str, Any]:
    """Everything the comparison shows, as plain values."""
    tests = against_first(runs)
    return {
        "runs": [
            {
                "name": run.name,
                "folder": str(run.folder),
                **{
                    key: run.summary[key]
                    for key in ("task", "service", "reader", "questions", "tested", "failed")
                },
                "overall": run.summary["overall"],
                "intervals": run.summary["intervals"],
                "by_category": run.summary["by_category"],
                "cost": run.summary["cost"],
                "against_first": tests.get(run.name, {}),
            }
            for run in runs
        ],
        "baselines": {run.name: run.summary["baselines"] for run in runs},
    }


def _pairs(first: Run, second: Run, measure: str) -> list[tuple[float, float]]:
    values = _values(first, measure)
    return [(values[key], value) for key, value in _values(second, measure).items() if key in values]


def _values(run: Run, measure: str) -> dict[tuple[str, int], float]:
    read = {(record.task, record.question_id): _value(record, measure) for record in run.records}
    return {key: value for key, value in read.items() if value is not None}


def _value(record: QuestionRecord, measure: str) -> float | None:
    if measure == RECALL:
        return record.recall
    return None if measure == ANSWERABLE and record.category == ADVERSARIAL else record.f1
