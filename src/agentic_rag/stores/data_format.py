"""Which form a data folder has: one of a later version of this package is refused instead of misread."""

from __future__ import annotations

from pathlib import Path

from agentic_rag.errors import StoreError
from agentic_rag.stores.data_folder import REPAIR
from agentic_rag.stores.whole_file import write_whole

FILE = "format"
FORMAT = 5
"""Raise it with every change that earlier versions would misread. Folders of earlier forms are refused: their notes are
ingested again."""


def checked_format(folder: Path) -> None:
    """Note the form in a folder that has none noted, which is a new one.

    Raises:
        StoreError: the folder is of an earlier or later version, or what it notes cannot be read.
    """
    file = folder / FILE
    try:
        noted = int(file.read_text("utf-8"))
    except FileNotFoundError:
        noted = None
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{file} must hold the number of the data folder's format, such as {FORMAT}; run: {REPAIR}"
        ) from error
    if noted is not None and noted > FORMAT:
        raise StoreError(
            f"the data folder {folder} has format {noted}, and this version of agentic-rag reads up to {FORMAT}; "
            "upgrade agentic-rag, or use another --data-dir"
        )
    if noted is not None and noted < FORMAT:
        raise StoreError(
            f"the data folder {folder} has format {noted}, and this version of agentic-rag writes {FORMAT}; ingest the "
            "notes into a new --data-dir"
        )
    if noted is None:
        try:
            write_whole(file, f"{FORMAT}\n")
        except OSError as error:
            raise StoreError(f"cannot write {file}: {error.strerror or error}") from error
