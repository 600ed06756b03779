"""Files that ``repair`` has set aside in a data folder: forgetting must reach them, or say that they are there."""

from __future__ import annotations

import shutil
from pathlib import Path

from agentic_rag.domain.identity import group_id
from agentic_rag.errors import StoreError
from agentic_rag.stores.checkpoints import FILE as CONVERSATIONS
from agentic_rag.stores.data_folder import REPAIR, REPAIRING, SET_ASIDE, VECTORS
from agentic_rag.stores.graph.schemas import group_of
from agentic_rag.stores.lancedb.manifests import of_generation


def place_of(table: str) -> tuple[str | None, str]:
    """Group and part of a table by its name; ledger and manifests have no group."""
    base, _ = of_generation(table)
    for part in ("chunks", "values"):
        if base.startswith(f"{part}_"):
            return base.removeprefix(f"{part}_"), part
    group = group_of(base)
    return (None, base) if group is None else (group, base.rpartition("_")[2])


def delete_tables(data: Path, dataset: str) -> None:
    """Delete the tables of a dataset that were set aside.

    Raises:
        StoreError: a repair is unfinished, so that a table may be missing; or one cannot be deleted.
    """
    if (data / REPAIRING).exists():
        raise StoreError(f"a repair was interrupted; run: {REPAIR}, then forget again")
    for table in data.glob(f"{SET_ASIDE}/{VECTORS}/*.lance"):
        if place_of(table.stem)[0] == group_id(dataset):
            try:
                shutil.rmtree(table)
            except OSError as error:
                place = table.relative_to(data).as_posix()
                raise StoreError(
                    f"cannot delete {place} in the data folder: {error.strerror}; delete it, then forget again"
                ) from error


def check_conversations(data: Path) -> None:
    """Raises ``StoreError`` while conversations of all users are set aside: nobody can read whose they are."""
    if found := sorted(data.glob(f"{SET_ASIDE}/{CONVERSATIONS}*")):
        place = found[0].relative_to(data).as_posix()
        raise StoreError(
            f"what can be read was deleted, but {place} in the data folder may hold conversations of this user; "
            "delete it, then forget again"
        )
