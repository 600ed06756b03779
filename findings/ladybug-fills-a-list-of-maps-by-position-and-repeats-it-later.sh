#!/bin/sh
# The maps of a list become one type in LadybugDB, the last one's, and their values are taken in the order of their keys,
# not by their names. Two Python dicts that are equal in keys and differ in the order of them swap their values: the
# place is the name. A map alone is read by its names. And the query remembers it: a list whose maps agree, given to the
# same query afterwards, is swapped, too, where a fresh connection reads it right.
# Seen with ladybug 0.22.0; kuzu 0.11.3, from which it comes, has the first, not the second.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ladybug==0.22.0
"$folder/venv/bin/python" - <<'PY'
import ladybug

TEA = {"name": "sencha", "place": "Uji"}
OTHER = {"place": "Fujian", "name": "oolong"}


def opened():
    return ladybug.Connection(ladybug.Database(":memory:"))


def names(connection, rows):
    result = connection.execute("UNWIND $rows AS row RETURN row.name", {"rows": rows})
    return [result.get_next()[0] for _ in range(result.get_num_tuples())]


alone = opened().execute("RETURN $row.name", {"row": OTHER}).get_next()
print("a map alone:", *alone)
assert alone == ["oolong"]
assert names(opened(), [TEA, TEA]) == ["sencha", "sencha"]

connection = opened()
seen = names(connection, [TEA, OTHER])
print("keys in two orders:", *seen)
assert seen == ["Uji", "oolong"], seen
seen = names(connection, [TEA, TEA])
print("the same query, keys in one order:", *seen)
assert seen == ["Uji", "Uji"], seen
PY
