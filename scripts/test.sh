#!/bin/sh
# Every check, in the order in which they fail fastest.
set -eu
BIN=${BIN:-.venv/bin}
started=$(date +%s)
echo "format";   "$BIN/ruff" format --check --quiet .
echo "lint";     "$BIN/ruff" check --quiet .
echo "names";    "$BIN/python" scripts/names.py
echo "types";    "$BIN/mypy" --no-error-summary
echo "imports";  "$BIN/lint-imports" --no-cache >/dev/null || "$BIN/lint-imports" --no-cache
# Workers import each test, and tests start programs: both read what was compiled before.
unset PYTHONDONTWRITEBYTECODE
# One worker more than there are cores: many tests wait for another program.
echo "tests";    "$BIN/python" -m pytest --numprocesses=$(($(getconf _NPROCESSORS_ONLN) + 1)) --dist=worksteal "$@"
echo "all checks passed in $(( $(date +%s) - started )) s"
