#!/bin/sh
# Make the environment with a Python of at least 3.11 and install the locked dependencies: all of them, or, where
# EXTRAS is set, those of the package with these extras.
set -eu
VENV=${VENV:-.venv}
python=""
for name in "${PYTHON:-}" python3.13 python3.12 python3.11 python3 python; do
  [ -n "$name" ] && command -v "$name" >/dev/null 2>&1 || continue
  if "$name" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
    python=$name
    break
  fi
done
if [ -z "$python" ]; then
  echo "error: no Python 3.11, 3.12 or 3.13 was found (looked for python3.13, python3.12, python3.11, python3, python)." >&2
  echo "Install one (for example: apt install python3 python3-venv, or brew install python@3.12) or set PYTHON=/path/to/python." >&2
  exit 1
fi
echo "environment: $VENV with $("$python" --version 2>&1)"
if ! "$python" -m venv --clear "$VENV"; then
  echo "error: $python cannot make an environment; on Debian and Ubuntu install python3-venv." >&2
  exit 1
fi
"$VENV/bin/python" -m pip install --quiet --disable-pip-version-check "uv==$(sed -n 's/^uv==\([0-9.]*\).*/\1/p' requirements.lock)"
# The lock's hashes are checked for every file.
if [ -n "${EXTRAS:-}" ]; then
  "$VENV/bin/uv" pip install --quiet --python "$VENV/bin/python" --compile-bytecode --constraint requirements.lock \
    --editable ".[$EXTRAS]"
  touch "$VENV/.usable"
  exit
fi
"$VENV/bin/uv" pip install --quiet --python "$VENV/bin/python" --require-hashes --compile-bytecode -r requirements.lock
"$VENV/bin/uv" pip install --quiet --python "$VENV/bin/python" --no-deps --no-build-isolation --editable .
touch "$VENV/.installed"
