#!/bin/sh
# A Python datetime with an offset, given as a parameter to LadybugDB for a column of type TIMESTAMP_TZ, is stored with
# its wall clock read as UTC: it is another moment by the offset. The same moment as ISO text is stored right. Nothing is
# raised, and a comparison of one moment under two offsets is false.
# Seen with ladybug 0.22.0: noon at +05:00 comes back as 12:00 UTC from the datetime, as 07:00 UTC from the text.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ladybug==0.22.0
"$folder/venv/bin/python" - <<'PY'
from datetime import datetime, timedelta, timezone

import ladybug

noon = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=5)))
connection = ladybug.Connection(ladybug.Database(":memory:"))
connection.execute("CREATE NODE TABLE Moment(id STRING PRIMARY KEY, at TIMESTAMP_TZ)")
connection.execute("CREATE (:Moment {id: 'datetime', at: $at})", {"at": noon})
connection.execute("CREATE (:Moment {id: 'text', at: cast($at, 'TIMESTAMP_TZ')})", {"at": noon.isoformat()})
result = connection.execute("MATCH (m:Moment) RETURN m.id, m.at")
stored = dict(result.get_next() for _ in range(result.get_num_tuples()))
for name, moment in stored.items():
    print(f"{name}: {moment.isoformat()}, {moment - noon} away")
assert stored["text"] == noon, stored
assert stored["datetime"] - noon == timedelta(hours=5), stored
same = connection.execute("RETURN $a = $b", {"a": noon, "b": noon.astimezone(timezone.utc)}).get_next()
print("the same moment is equal:", *same)
assert same == [False]
PY
