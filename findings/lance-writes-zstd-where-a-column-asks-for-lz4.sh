#!/bin/sh
# A column says by the metadata of its field how Lance compresses it: "lance-encoding:compression", for which Lance's own
# constants name lz4, zstd and none. On wide values in the layout "fullzip", where each value is compressed by itself, lz4 is
# taken for zstd without a word, and so is a name that does not exist: the file says zstd, and each value is a frame of
# it. Who chose lz4 so that single rows are read quickly pays for zstd.
# Seen with pylance 13.0.0, data storage version 2.2.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pylance==13.0.0
"$folder/venv/bin/python" - "$folder" <<'PY'
import re
import sys
from pathlib import Path

import lance
import pyarrow as pa
from lance.file import LanceFileReader

TEXTS = [f"line {n} of a log, " * 40 for n in range(2_000)]


def written(compression):
    metadata = {"lance-encoding:compression": compression, "lance-encoding:structural-encoding": "fullzip"}
    schema = pa.schema([pa.field("text", pa.string(), nullable=False, metadata=metadata)])
    uri = f"{sys.argv[1]}/{compression}.lance"
    lance.write_dataset(pa.table({"text": TEXTS}, schema=schema), uri, data_storage_version="2.2")
    (file,) = Path(uri, "data").iterdir()
    page = LanceFileReader(str(file)).metadata().columns[0].pages[0]
    values = page.buffers[0]
    content = file.read_bytes()[values.position : values.position + values.size]
    scheme = re.findall(r"CompressionAlgorithm\w+", page.encoding)
    return scheme, content.count(b"\x28\xb5\x2f\xfd")


for name in ("zstd", "lz4", "lz5"):
    scheme, frames = written(name)
    print(f"{name}: {scheme}, {frames} frames of zstd for {len(TEXTS)} values")
    assert scheme == ["CompressionAlgorithmZstd"], scheme
    assert frames == len(TEXTS), frames
PY
