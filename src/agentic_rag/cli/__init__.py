"""The command line ``agentic-rag``. Commands import their dependencies when they run, so that help is fast."""

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
            # A question may contain code points without an encoding, such as a lone surrogate; they are escaped.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    # LanceDB's warnings (of an index over many equal vectors) need no action, and would disturb a progress bar.
    os.environ.setdefault("LANCEDB_LOG", "error")
    # Imports create many permanent objects; collecting garbage during start-up only costs time.
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
        gc.freeze()  # otherwise the interpreter traverses all objects once more at exit


__all__ = ["main"]
