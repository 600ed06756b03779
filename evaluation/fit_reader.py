"""Fits the offline reader's weights on finished runs of the memory benchmark, and reports them cross-fitted.

    python evaluation/fit_reader.py RUN… [--write]

A run's records contain the reader's input for each question. Fitted is the decision to answer "not mentioned": a
logistic regression, with the threshold of the best F1 on the fitting data. Each conversation is reported with weights
fitted on the other conversations. ``--write`` fits on all of them and replaces the weights in the package; report the
reader only on other conversations.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize

from agentic_rag_lab.designs.conversation import ADVERSARIAL
from agentic_rag_lab.designs.post_retrieval.config import CONVERSATION_FORMAT_PROMPT
from agentic_rag_lab.designs.reading import NOT_MENTIONED
from agentic_rag_lab.designs.reading.doubt import FILE, SURER, ReaderWeights, signs
from agentic_rag_lab.designs.reading.extractive import answer_from
from agentic_rag_lab.designs.reading.history import read_history
from agentic_rag_lab.designs.reading.questions import ParsedQuestion, read_question
from agentic_rag_lab.designs.reading.statements import Statement, bearing_statements
from agentic_rag_lab.designs.scoring import score
from agentic_rag_lab.evaluation.bench.comparing import Run, read_runs

DOUBT_RIDGE = 1.0
BARS = [step / 4 for step in range(-12, 9)]
"""Log-odds that are tried as threshold."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """One question with the reader's input."""

    run: str
    conversation: str
    category: str
    question: ParsedQuestion
    answer: str
    statements: tuple[Statement, ...]
    history: str

    @property
    def is_trap(self) -> bool:
        return self.category == ADVERSARIAL

    @property
    def surer(self) -> bool:
        return self.question.kind in SURER


def cases_of(runs: Sequence[Run]) -> list[Case]:
    """Every question of the runs, parsed as by the reader."""
    found: list[Case] = []
    for run in runs:
        for record in run.records:
            texts = [str(memory["text"]) for memory in record.memories]
            text = "".join(f"{part}\n" for part in (CONVERSATION_FORMAT_PROMPT, *texts))
            history = read_history(text)
            asked = read_question(record.question, history.speakers)
            statements = bearing_statements(asked, history)
            answer = NOT_MENTIONED if record.answer is None else record.answer
            found.append(Case(run.name, record.task, record.category, asked, answer, tuple(statements), text))
    return found


@dataclass(frozen=True, slots=True)
class Answered:
    """A case, with the score of its answer and the features of doubt."""

    case: Case
    f1: float
    """F1 of the answer."""
    signs: Mapping[str, float]
    nothing: bool
    """Whether no sentence shares a word with it: then it is not answered at any threshold."""

    def value(self, doubt: float, bar: float) -> float:
        withheld = self.nothing or doubt > bar
        return float(self.case.is_trap) if withheld else 0.0 if self.case.is_trap else self.f1


def answered(cases: Sequence[Case]) -> list[Answered]:
    """The score of each case's answer."""
    found: list[Answered] = []
    for case in cases:
        history = read_history(case.history)
        shared = any(one.own + one.turn + one.before for one in case.statements)
        told = answer_from(case.question, case.statements, history) if case.statements else ""
        worth = score(case.category, told or NOT_MENTIONED, case.answer).f1
        own = signs(case.question, case.statements, history) if case.statements else {}
        found.append(Answered(case, worth, own, not shared))
    return found


def fitted_doubt(known: Sequence[Answered]) -> tuple[dict[str, float], float, float]:
    """Weights of the features, and the thresholds for sentences and for kinds that are right more often."""
    names = sorted({name for one in known for name in one.signs})
    table = np.array([[one.signs.get(name, 0.0) for name in names] for one in known])
    traps = np.array([1.0 if one.case.is_trap else -1.0 for one in known])
    penalised = np.array([name != "always" for name in names], dtype=float)

    def loss(weights: Floats) -> float:
        odds = table @ weights
        return float(np.logaddexp(0, -traps * odds).sum() + DOUBT_RIDGE * (penalised * weights**2).sum() / 2)

    best = minimize(loss, np.zeros(len(names)), method="L-BFGS-B").x
    doubts = table @ best

    def bar(*, surer: bool) -> float:
        own = [(one, float(d)) for one, d in zip(known, doubts, strict=True) if one.case.surer is surer]
        return max(BARS, key=lambda height: sum(one.value(doubt, height) for one, doubt in own))

    found = {name: round(float(weight), 2) for name, weight in zip(names, best, strict=True)}
    return found, bar(surer=False), bar(surer=True)


def fitted(cases: Sequence[Case]) -> ReaderWeights:
    """All weights."""
    doubt, bar, surer = fitted_doubt(answered(cases))
    names = tuple(sorted({case.conversation for case in cases}))
    return ReaderWeights(doubt=doubt, abstain_from=bar, abstain_surer_from=surer, fitted_on=names)


def cross_fitted(cases: Sequence[Case]) -> dict[str, dict[str, list[float]]]:
    """By run and category, F1 of each question with weights fitted on the other conversations."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for held in sorted({case.conversation for case in cases}):
        weights = fitted([case for case in cases if case.conversation != held])
        for one in answered([case for case in cases if case.conversation == held]):
            doubt = sum(weights.doubt.get(name, 0.0) * value for name, value in one.signs.items())
            bar = weights.abstain_surer_from if one.case.surer else weights.abstain_from
            value = one.value(doubt, bar)
            for category in ("all", one.case.category, *(() if one.case.is_trap else ("answerable",))):
                found[one.case.run][category].append(value)
    return found


def _table(figures: Mapping[str, Mapping[str, Sequence[float]]]) -> Table:
    columns = list(dict.fromkeys(name for of_run in figures.values() for name in of_run))
    shown = Table(title="F1, each conversation read with weights fitted on the others", title_justify="left")
    shown.add_column("run")
    for name in columns:
        shown.add_column(name, justify="right")
    for run, of_run in figures.items():
        cells = [f"{np.mean(of_run[name]):.3f}" if name in of_run else "–" for name in columns]
        shown.add_row(run, *cells)
    return shown


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folders that bench has named")
    parser.add_argument("--write", action="store_true", help="replace the weights in the package")
    arguments = parser.parse_args()
    cases = cases_of(read_runs(arguments.runs))
    conversations = {case.conversation for case in cases}
    console = Console(highlight=False)
    if len(conversations) > 1:
        console.print(_table(cross_fitted(cases)))
    else:
        console.print("one conversation only: nothing to cross-fit on")
    if arguments.write:
        weights = fitted(cases)
        FILE.write_text(json.dumps(asdict(weights), indent=1, sort_keys=True) + "\n", encoding="utf-8")
        console.print(f"wrote {FILE.name}, fitted on {', '.join(weights.fitted_on)}")


if __name__ == "__main__":
    main()
