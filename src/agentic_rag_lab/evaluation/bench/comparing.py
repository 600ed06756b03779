"""Finished runs, read again and compared with the first one."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentic_rag.errors import InputError
from agentic_rag_lab.designs.conversation import UNANSWERABLE
from agentic_rag_lab.evaluation.bench.figures import ANSWERABLE, DIGITS, RECALL, SUMMARY, latest, read_summary
from agentic_rag_lab.evaluation.bench.records import (
    RECORDS,
    QuestionRecord,
    folder_of,
    read_record,
)
from agentic_rag_lab.evaluation.records import read_rows
from agentic_rag_lab.evaluation.statistics import paired_tests

logger = logging.getLogger(__name__)


MEASURES = ("f1", ANSWERABLE, RECALL)


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run."""

    name: str
    """Name of its design; with a number if several runs have the same design."""
    folder: Path
    summary: Mapping[str, Any]
    records: tuple[QuestionRecord, ...]
    """The last record of each question."""


def short_name(name: str) -> str:
    """A design's name without the prefix and suffix common to all shipped files."""
    return name.removeprefix("locomo_").replace("_pipeline", "")


def read_run(folder: Path) -> Run:
    """A run in the folder that ``bench`` wrote.

    Raises:
        InputError: the folder holds no finished run.
    """
    file = folder / SUMMARY if folder.is_dir() else folder
    found = read_summary(file)
    if found is None:
        raise InputError(
            f"{folder} holds no finished run (no readable summary.json); give the folder that bench has named"
        )
    # Records of other tasks, from earlier or unfinished runs, may be in the same folder.
    journals = [file.parent / folder_of(task) / RECORDS for task in found["inserts"]]
    records = [
        read_record(row, f"{path}:{number}")
        for path in journals
        if path.is_file()  # a conversation without questions has no records
        for number, row in enumerate(read_rows(path), start=2)
    ]
    return Run(str(found["config"]), file.parent, found, tuple(latest(records)))


def read_runs(folders: Sequence[Path]) -> list[Run]:
    """Runs in the given order; repeated names get a number.

    A folder of an unfinished run is left out with a warning, because ``bench/*/`` matches it too.

    Raises:
        InputError: no folder is given, one does not exist, or none has a finished run.
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
    """By run (except the first) and measure: mean paired difference from the first run, ``p`` and ``p_holm``.

    Only questions of both runs count; their number is ``questions``. A randomisation test, with Holm's correction
    over all comparisons.
    """
    pairs = {
        (run.name, measure): both
        for run in runs[1:]
        for measure in MEASURES
        if (both := _common_values(run, runs[0], measure))[0]
    }
    found: dict[str, dict[str, dict[str, float]]] = {run.name: {} for run in runs[1:]}
    for (name, measure), test in paired_tests(pairs).items():
        own, first = pairs[name, measure]
        difference = round(sum(own) / len(own) - sum(first) / len(first), DIGITS)
        found[name][measure] = {"difference": difference, "questions": len(own), **test._asdict()}
    return found


def comparison(runs: Sequence[Run]) -> dict[str, Any]:
    """Everything that the comparison shows, as plain values."""
    tests = against_first(runs)
    told = "task service reader questions tested failed overall intervals by_category cost".split()
    return {
        "runs": [
            {
                "name": run.name,
                "folder": str(run.folder),
                **{key: run.summary[key] for key in told},
                **({"beam": run.summary["beam"]} if "beam" in run.summary else {}),
                "against_first": tests.get(run.name, {}),
            }
            for run in runs
        ],
        "baselines": {run.name: run.summary["baselines"] for run in runs},
    }


def _common_values(own: Run, first: Run, measure: str) -> tuple[list[float], list[float]]:
    """The values of two runs on their common questions."""
    ours, theirs = _values(own, measure), _values(first, measure)
    both = [key for key in ours if key in theirs]
    return [ours[key] for key in both], [theirs[key] for key in both]


def _values(run: Run, measure: str) -> dict[tuple[str, int], float]:
    read = {(record.task, record.question_id): _value(record, measure) for record in run.records}
    return {key: value for key, value in read.items() if value is not None}


def _value(record: QuestionRecord, measure: str) -> float | None:
    if measure == RECALL:
        return record.recall
    return None if measure == ANSWERABLE and record.category in UNANSWERABLE else record.f1
