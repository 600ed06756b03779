"""A file that is written whole or not at all, whatever ends the process meanwhile."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """UTF-8, over what is there: beside it first, then renamed; its permissions stay, and a link to it stays one.

    Its folder is made where there is none. Where this fails, the file is as it was and nothing lies beside it.

    Raises:
        OSError: it cannot be written.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():  # a pipe or a device has nothing to be renamed over
        target.write_text(text, encoding="utf-8", errors="backslashreplace")
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}.new")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with beside.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            if target.exists():
                beside.chmod(target.stat().st_mode & 0o7777)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
