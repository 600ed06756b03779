#!/bin/sh
# LanceDB opens a folder by its path, and its cloud by an address such as db://name. Its asynchronous client takes every
# relative path that begins with the letters db for an address of the cloud: "db/vectors" and "dbase" ask for an API key,
# where "./db/vectors", an absolute path and "data" open a folder. The synchronous client opens all of them.
# Seen with lancedb 0.40.0.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check lancedb==0.40.0
cd "$folder"
"$folder/venv/bin/python" - <<'PY'
import asyncio

import lancedb


async def opened(path):
    try:
        await lancedb.connect_async(path)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "a folder"


seen = {path: asyncio.run(opened(path)) for path in ("data", "./db/vectors", "db/vectors", "dbase")}
for path, what in seen.items():
    print(f"{path}: {what}")
    lancedb.connect(path)
assert seen["data"] == seen["./db/vectors"] == "a folder", seen
assert "api_key" in seen["db/vectors"] and "api_key" in seen["dbase"], seen
PY
