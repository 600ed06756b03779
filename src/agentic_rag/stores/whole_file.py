"""A file that is written whole or not at all, whatever ends the process meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_whole(path: Path, content: str | bytes) -> None:
    """Text as UTF-8; see ``whole_file``.

    Raises:
        OSError: it cannot be written.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    with whole_file(path) as file:
        file.write(data)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, over what is there: beside it first, then renamed; its permissions stay, and a link to it stays one.

    Its folder is made where there is none. Where this fails, the file is as it was and nothing lies beside it.

    Raises:
        OSError: it cannot be written.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():  # a pipe or a device has nothing to be renamed over
        with target.open("wb") as device:
            yield device
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}.new")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with beside.open("wb") as file:
            if target.exists():
                beside.chmod(target.stat().st_mode & 0o7777)
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
