#!/bin/sh
# pint knows a century as a hundred years and a millennium as a thousand, and "decade" as a logarithmic step of frequency:
# ten decades are the number 1e10, cannot be converted to years, and "2.5 decades" is 316. A text that counts years in
# decades is read without an error; the first comparison with years fails, or the first sum is wrong by orders of magnitude.
# Seen with pint 0.25.3.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "pint==0.25.3"
"$folder/venv/bin/python" - <<'END'
import math

import pint

units = pint.UnitRegistry(autoconvert_offset_to_baseunit=True)
for name, years in (("century", 100), ("millennium", 1000)):
    assert math.isclose(units.Quantity(1, name).to("year").magnitude, years)
    print(f"1 {name} = {years} years")
for count, number in ((2.5, 316.23), (10, 1e10)):
    decades = units.Quantity(count, "decade").to_base_units()
    assert decades.dimensionless and math.isclose(decades.magnitude, number, rel_tol=1e-4), decades
    print(f"{count} decades = {decades.magnitude:.6g}, dimensionless")
try:
    units.Quantity(10, "decade").to("year")
except pint.DimensionalityError as error:
    print("to years:", error)
else:
    raise SystemExit("decades convert to years now")
print("pint", pint.__version__)
END
