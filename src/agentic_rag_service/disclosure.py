"""What errors and reports may say to a caller: no folder of this machine, and no name of another's dataset."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agentic_rag.errors import AgenticRagError, UnknownDataset
from agentic_rag.rag import Rag
from agentic_rag_service.access import Caller
from agentic_rag_service.roots import AllowedRoots


class Disclosure:
    """Removes from texts what a caller may not know.

    Args:
        rag: its data folder is named by no text.
        roots: no text names where they lie.
    """

    def __init__(self, rag: Rag, roots: AllowedRoots) -> None:
        folders = {*roots.roots, *_both(rag.config.data_dir)}
        # The longest first: one folder may lie in another.
        self._folders = sorted((folder for folder in folders if folder != folder.parent), key=_length)

    def text(self, caller: Caller, text: str) -> str:
        """The text with paths relative to the root or the data folder, for callers who do not see paths."""
        if caller.sees_paths:
            return text
        for folder in self._folders:
            text = text.replace(f"{folder}{os.sep}", "").replace(str(folder), folder.name)
        return text

    def values(self, caller: Caller, values: Any) -> Any:
        """JSON values with each text as ``text`` gives it."""
        match values:
            case str():
                return self.text(caller, values)
            case dict():
                return {key: self.values(caller, one) for key, one in values.items()}
            case list() | tuple():
                return [self.values(caller, one) for one in values]
        return values

    def error(self, caller: Caller, error: AgenticRagError) -> str:
        """The error's message."""
        if isinstance(error, UnknownDataset):
            error = UnknownDataset(error.dataset, filter(caller.may, error.known_names))
        return self.text(caller, str(error))


def _both(folder: Path) -> Iterable[Path]:
    """The folder as it is named in errors, with links and without."""
    return folder.absolute(), folder.resolve()


def _length(folder: Path) -> tuple[int, str]:
    return -len(folder.parts), str(folder)
