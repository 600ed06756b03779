"""Every error this package raises on purpose.

    AgenticRagError
    ├── InputError                what the caller gave is wrong (exit code 2)
    │   ├── ConfigError           a setting is unknown, out of range or contradictory
    │   ├── UnknownOperation      no such canvas operation
    │   ├── UnknownDataset        nothing was ingested under that name
    │   ├── FilterError           a filter expression cannot be read or applied
    │   └── MissingExtra          an optional dependency is needed and not installed
    └── RunError                  the run failed though the input was right (exit code 1)
        ├── StoreError            a store refused, broke or could not be reached
        │   ├── StoreAway         its server cannot be reached, for now
        │   ├── StoreLocked       another process is writing
        │   └── ManifestMismatch  the stored vectors come from another model, dimension or metric
        ├── ModelError            an embedding, chat or rerank model failed
        │   └── BudgetSpent       a model was not asked, because the budget does not allow it
        └── AllSourcesFailed      no source could be searched; there is nothing to answer from

A message says what was wrong, which value, and what to do. ``InputError`` is a ``ValueError`` too and ``RunError`` a
``RuntimeError``: LangGraph's server passes on the messages of Python's own errors alone.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager


def install(extra: str) -> str:
    """The command that adds an extra. It is given in a clone: no index has the package."""
    return f"pip install '.[{extra}]', in the clone of agentic-rag"


def first_line(error: Exception) -> str:
    """The first line of an error's message, shortened; its type without a message."""
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__


class AgenticRagError(Exception):
    """Root of the tree; catch it to catch everything the package raises on purpose."""


class InputError(AgenticRagError, ValueError):
    """What the caller gave is wrong; the same call will fail again."""


class ConfigError(InputError):
    """A setting is unknown, out of range, or contradicts another one."""


class UnknownOperation(InputError):
    """The operation is not one of the canvas operations."""

    def __init__(self, operation: str, known_names: Iterable[str]) -> None:
        self.operation = operation
        self.known_names = tuple(known_names)
        super().__init__(f"unknown operation {operation!r}; use one of: {', '.join(self.known_names)}")


class UnknownDataset(InputError):
    """No document was ever ingested under this dataset name.

    ``place``: where it was looked for. Only the command line tells it: the callers of a service may not know its folders.
    """

    def __init__(self, dataset: str, known_names: Iterable[str], place: str | None = None) -> None:
        self.dataset = dataset
        self.known_names = tuple(sorted(known_names))
        have = ", ".join(self.known_names) if self.known_names else "none yet"
        where, other = (
            ("", "") if place is None else (f" in {place}", "name another folder with --data-dir, or ")
        )
        super().__init__(
            f"unknown dataset {dataset!r}{where} (known: {have}); "
            f"{other}ingest it first: agentic-rag ingest PATH --dataset {shlex.quote(dataset)}"
        )


class FilterError(InputError):
    """A filter expression cannot be parsed, or compares what cannot be compared."""


class MissingExtra(InputError):
    """An optional dependency is needed for what was configured."""

    def __init__(self, feature: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{feature} needs an extra: {install(extra)}")


@contextmanager
def needing(feature: str, extra: str) -> Iterator[None]:
    """Within it the modules of an extra are imported.

    Raises:
        MissingExtra: one of them cannot be imported; an import error of the package itself is passed on.
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "").startswith("agentic_rag"):
            raise
        raise MissingExtra(feature, extra) from error


class RunError(AgenticRagError, RuntimeError):
    """The run failed though the input was right; trying again may help."""


class StoreError(RunError):
    """A store refused, broke or could not be reached."""


class StoreAway(StoreError):
    """The server of a store cannot be reached, or does not answer; the same call may succeed once it is back."""


class StoreLocked(StoreError):
    """Another process holds the only write lock of a store."""


class ManifestMismatch(StoreError):
    """Stored vectors were made by another model, dimension or metric than the configured one."""


class ModelError(RunError):
    """An embedding, chat or rerank model failed or answered nonsense."""


class BudgetSpent(ModelError):
    """A model was not asked: it could have used more than the budget has left."""


class AllSourcesFailed(RunError):
    """Every source that was asked is degraded, so nothing can be answered honestly."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        self.reasons = dict(reasons)
        failed: dict[str, list[str]] = {}  # sources by reason: one model may stand behind all of them
        for name, reason in sorted(self.reasons.items()):
            failed.setdefault(reason, []).append(name)
        told = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in failed.items())
        cure = "" if "; run: " in told else "; run: agentic-rag doctor"
        super().__init__(f"no source could be searched ({told}){cure}")
