"""Folders of this machine that a client may name: only paths below the roots given at start.

A root given as ``DATASET=FOLDER`` belongs to that dataset. Any other root is for callers whose key opens all datasets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentic_rag.domain.identity import notes_dataset
from agentic_rag.errors import InputError
from agentic_rag_service.access import Caller


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that clients may use."""

    folder: Path
    """Resolved."""
    dataset: str | None
    """The only dataset that is filled from it and whose boards go into it; None: any."""

    @classmethod
    def parse(cls, path_text: Path) -> Root:
        """A root from ``FOLDER`` or ``DATASET=FOLDER``.

        Raises:
            InputError: it names no folder.
        """
        name, equals, place = str(path_text).partition("=")
        folder = Path(place).expanduser()
        if not path_text.is_dir() and equals and folder.is_dir():
            return cls(folder.resolve(), notes_dataset(name))
        if not path_text.is_dir():
            raise InputError(f"the root {str(path_text)!r} is no folder; give FOLDER or DATASET=FOLDER")
        return cls(path_text.resolve(), None)


class AllowedRoots:
    """Resolves paths that clients name.

    Args:
        roots: allowed folders, as ``Root.parse`` reads them; none: no path is allowed.

    Raises:
        InputError: a root is no folder.
    """

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self._roots = tuple(map(Root.parse, roots))

    @property
    def roots(self) -> tuple[Path, ...]:
        """The allowed folders, resolved."""
        return tuple(root.folder for root in self._roots)

    def of(self, caller: Caller, dataset: str | None = None) -> AllowedRoots:
        """The roots that a caller may use for a dataset; None: for any of theirs."""
        name = None if dataset is None else notes_dataset(dataset)
        narrowed = AllowedRoots()
        narrowed._roots = tuple(
            root
            for root in self._roots
            if (caller.datasets is None if root.dataset is None else caller.may(root.dataset))
            and (name is None or root.dataset in (None, name))
        )
        return narrowed

    def around(self, path: Path) -> Path:
        """The innermost root that holds an allowed path."""
        return max(
            (root for root in self.roots if path.is_relative_to(root)), key=lambda root: len(root.parts)
        )

    def existing(self, path_text: str) -> Path:
        """An existing file or folder.

        Raises:
            InputError: it does not exist, or is not below a root after links are resolved.
        """
        path = self._resolve(path_text)
        if not path.exists():
            raise InputError(f"there is no file or folder {path_text!r} beneath {self._root_names()}")
        return path

    def writable(self, path_text: str, suffix: str, homes: Iterable[str] = ()) -> Path:
        """A file that may be written; it need not exist.

        Args:
            path_text: a relative path lies below a root that holds one of ``homes``, if there is one.
            suffix: the suffix that the file must have.
            homes: resolved folders that the dataset was ingested from.

        Raises:
            InputError: it has another suffix, or is not below a root after links are resolved.
        """
        path = self._resolve(path_text, _near(self.roots, homes))
        if path.suffix.lower() != suffix or path.is_dir():
            raise InputError(f"{path_text!r} does not name a {suffix} file")
        return path

    def _resolve(self, path_text: str, preferred_folders: Sequence[Path] = ()) -> Path:
        """The path below a root; a relative path is tried below each root, and the first existing one counts."""
        if not self.roots:
            raise InputError(
                f"the path {path_text!r} is not allowed, because no root is set for it; start with --root FOLDER or --root DATASET=FOLDER"
            )
        if not path_text.strip() or "\0" in path_text:
            raise InputError(f"{path_text!r} is not a path")
        named = Path(path_text)
        candidates = (
            [named] if named.is_absolute() else [root / named for root in preferred_folders or self.roots]
        )
        try:
            resolved = [candidate.resolve() for candidate in candidates]
            inside = [path for path in resolved if any(path.is_relative_to(root) for root in self.roots)]
            found = next((path for path in inside if path.exists()), inside[0] if inside else None)
        except (OSError, RuntimeError, ValueError) as error:
            # The error's own text would reveal the path of the root.
            why = (error.strerror if isinstance(error, OSError) else None) or "it cannot be resolved"
            raise InputError(f"the path {path_text!r} cannot be used: {why}") from error
        if found is None:
            raise InputError(f"{path_text!r} does not lie beneath {self._root_names()}")
        return found

    def _root_names(self) -> str:
        """The roots by their last parts; clients may not see the full paths."""
        return ", ".join(root.name or str(root) for root in self.roots)


def _near(roots: Sequence[Path], homes: Iterable[str]) -> list[Path]:
    """The roots that hold one of the folders, or lie in one."""
    folders = [Path(home) for home in homes]
    return [
        root
        for root in roots
        if any(folder.is_relative_to(root) or root.is_relative_to(folder) for folder in folders)
    ]
