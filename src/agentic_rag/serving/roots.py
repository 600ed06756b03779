"""Folders of this machine that a client may name: only paths below the roots given at start."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentic_rag.errors import InputError


class AllowedRoots:
    """Resolves paths that clients name.

    Args:
        roots: allowed folders; none: no path is allowed.

    Raises:
        InputError: a root is no folder.
    """

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        for root in roots:
            if not root.is_dir():
                raise InputError(f"the root {str(root)!r} is no folder")
        self.roots = tuple(root.resolve() for root in roots)

    def existing(self, given: str) -> Path:
        """An existing file or folder.

        Raises:
            InputError: it does not exist, or is not below a root after links are resolved.
        """
        path = self._resolved(given)
        if not path.exists():
            raise InputError(f"there is no file or folder {given!r} beneath {self._named()}")
        return path

    def writable(self, given: str, suffix: str) -> Path:
        """A file that may be written; it need not exist.

        Raises:
            InputError: it has another suffix, or is not below a root after links are resolved.
        """
        path = self._resolved(given)
        if path.suffix.lower() != suffix or path.is_dir():
            raise InputError(f"{given!r} does not name a {suffix} file")
        return path

    def _resolved(self, given: str) -> Path:
        """The path below a root; a relative path is tried below each root, and the first existing one counts."""
        if not self.roots:
            raise InputError(
                f"the path {given!r} is not allowed, because no root is set; start with --root FOLDER"
            )
        if not given.strip() or "\0" in given:
            raise InputError(f"{given!r} is not a path")
        named = Path(given)
        candidates = [named] if named.is_absolute() else [root / named for root in self.roots]
        try:
            resolved = [candidate.resolve() for candidate in candidates]
            inside = [path for path in resolved if any(path.is_relative_to(root) for root in self.roots)]
            found = next((path for path in inside if path.exists()), inside[0] if inside else None)
        except (OSError, RuntimeError, ValueError) as error:
            # The error's own text would reveal the path of the root.
            why = (error.strerror if isinstance(error, OSError) else None) or "it cannot be resolved"
            raise InputError(f"the path {given!r} cannot be used: {why}") from error
        if found is None:
            raise InputError(f"{given!r} does not lie beneath {self._named()}")
        return found

    def _named(self) -> str:
        """The roots by their last parts; clients may not see the full paths."""
        return ", ".join(root.name or str(root) for root in self.roots)
