"""The command line: ``agentic-rag``. Commands import what they need when they run, so that help is quick."""

from __future__ import annotations

import gc
import io
import os
import sys

from agentic_rag.errors import AgenticRagError, InputError


def main() -> None:
    """Entry point. Errors go to stderr; exit code 2 for bad input, 1 for a failed run, 0 otherwise."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A question may hold what no encoding has, such as half of a surrogate pair; it is escaped.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    # Its warnings (of an index over many equal vectors) say nothing to do, in the midst of a progress bar.
    os.environ.setdefault("LANCEDB_LOG", "error")
    # Imports make many objects that all stay; collecting while they pile up only costs start-up time.
    gc.disable()
    from agentic_rag.cli.app import app

    try:
        app()
    except AgenticRagError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(2 if isinstance(error, InputError) else 1)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)  # noqa: T201
        sys.exit(130)
    finally:
        gc.freeze()  # else the interpreter looks through all of it once more before it ends


__all__ = ["main"]
