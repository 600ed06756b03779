"""Files of a test: written into a folder, or packed into a zip."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any


def write(root: Path, files: Mapping[str, Any]) -> Path:
    """The folder with these files by path; what is neither text nor bytes is written as JSON."""
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(_raw(content))
    return root


def zipped(files: Mapping[str, Any]) -> bytes:
    """A zip archive of the files."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, _raw(content))
    return packed.getvalue()


def _raw(content: Any) -> bytes:
    if isinstance(content, bytes):
        return content
    return (content if isinstance(content, str) else json.dumps(content)).encode()
