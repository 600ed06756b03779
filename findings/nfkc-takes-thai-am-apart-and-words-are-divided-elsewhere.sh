#!/bin/sh
# NFKC writes the Thai vowel am (U+0E33) as two characters, U+0E4D U+0E32, and NFC does not join them again. The two
# forms look the same. BudouX, trained on text as people type it, divides a sentence elsewhere after NFKC, so that a
# word index over normalised text has other words than the text.
# Seen with Python 3.11 (Unicode 14.0) and budoux 0.10.1:
#   as typed: ฉัน|ชอบ|ดื่ม|น้ำมะ|นาว|มาก
#   NFKC:     ฉัน|ชอบ|ดื่ม|น้ํามะนาว|มาก
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check budoux==0.10.1
"$folder/venv/bin/python" - <<'PY'
import unicodedata

import budoux

typed = "ฉันชอบดื่มน้ำมะนาวมาก"
normal = unicodedata.normalize("NFKC", typed)
assert "\u0e33" in typed and "\u0e33" not in normal and "\u0e4d\u0e32" in normal
assert unicodedata.normalize("NFC", normal) == normal, "NFC joins the vowel now"
parser = budoux.load_default_thai_parser()
before, after = parser.parse(typed), parser.parse(normal)
print("as typed:", "|".join(before))
print("NFKC:    ", "|".join(after))
assert [len(word) for word in before] == [3, 3, 4, 5, 3, 3], before
assert len(after) == len(before) - 1, after
PY
