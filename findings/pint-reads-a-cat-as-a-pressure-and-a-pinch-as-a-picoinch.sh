#!/bin/sh
# pint reads everyday nouns as units without an error, because prefixes join symbols and aliases that nobody types:
# "2 cats" is 2 centi-"at" (technical atmospheres), 1961 Pa; "1 pinch" is a pico-inch, 2.54e-14 m; "10 toe" is ten tonnes of
# oil equivalent, 4.2e11 J; "3 bags" is 128 kg, and a chain, a link and a hand are lengths. Beside them a cup and a stone,
# which are meant. Who finds out by parsing whether a word behind a number is a unit, adds pets to pressures.
# Seen with pint 0.25.3.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "pint==0.25.3"
"$folder/venv/bin/python" - <<'END'
import math

import pint

units = pint.UnitRegistry()
EXPECTED = {
    "2 cats": ("centitechnical_atmosphere", 1961.33, "pascal"),
    "1 pinch": ("picoinch", 2.54e-14, "meter"),
    "10 toe": ("tonne_of_oil_equivalent", 4.1868e11, "joule"),
    "3 bags": ("bag", 127.9, "kilogram"),
    "2 chains": ("chain", 40.23, "meter"),
    "4 links": ("link", 0.8047, "meter"),
    "2 hands": ("hand", 0.2032, "meter"),
    "1 cup": ("cup", 2.366e-4, "meter ** 3"),
}
for text, (unit, value, base) in EXPECTED.items():
    quantity = units.parse_expression(text)
    assert str(quantity.units) == unit, (text, quantity)
    assert math.isclose(quantity.to(base).magnitude, value, rel_tol=1e-3), (text, quantity.to(base))
    print(f"{text}: {quantity} = {quantity.to(base):.4g}")
print("pint", pint.__version__)
END
