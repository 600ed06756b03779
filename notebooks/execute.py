"""Execute the notebooks and keep their outputs: all beside this file, or those that are named."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

NOTEBOOKS = Path(__file__).resolve().parent
SECONDS_A_CELL = 300


async def executed(path: Path) -> NotebookNode:
    """The notebook with the outputs of a fresh kernel; the file stays as it is.

    Only what is the same on every machine is kept of the metadata.

    Raises:
        CellExecutionError: a cell failed.
    """
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=SECONDS_A_CELL,
        kernel_name="python3",
        record_timing=False,
        extra_arguments=["--log-level=ERROR"],
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.resolve().parent)}},
    )
    await client.async_execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = {"tags": tags} if tags else {}
    return notebook


async def main(names: list[str]) -> None:
    paths = [Path(name) for name in names] or sorted(NOTEBOOKS.glob("*.ipynb"))
    for path in paths:
        notebook = await executed(path)
        path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
        print(path.name)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
