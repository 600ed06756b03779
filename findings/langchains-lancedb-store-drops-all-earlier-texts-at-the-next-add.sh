#!/bin/sh
# Of every vector store of LangChain one expects that add_texts adds. LangChain's store for LanceDB adds to an existing
# table with LanceDB's mode "overwrite", because that is the default of its own argument `mode`: the second call of
# add_texts or add_documents replaces the table, and every text of the first call is gone, without a warning. The ids
# that the first call returned find nothing any more. With mode="append" it adds.
# Seen with langchain-community 0.4.2 and lancedb 0.40.0.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    langchain-community==0.4.2 langchain-core==1.8.3 lancedb==0.40.0 numpy==2.4.6
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PY'
from langchain_community.vectorstores import LanceDB
from langchain_core.embeddings import DeterministicFakeEmbedding


def rows_after_two_calls(**options):
    store = LanceDB(uri=f"data{len(options)}", embedding=DeterministicFakeEmbedding(size=8), **options)
    store.add_texts(["a bridge", "a river", "a mill"])
    before = store.get_table().count_rows()
    store.add_texts(["a weir"])
    return before, store.get_table().count_rows()


default, append = rows_after_two_calls(), rows_after_two_calls(mode="append")
print(f"rows after the first and the second call: {default} by default, {append} with mode='append'")
assert default == (3, 1), default
assert append == (3, 4), append
PY
