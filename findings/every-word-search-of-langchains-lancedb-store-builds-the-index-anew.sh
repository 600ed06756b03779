#!/bin/sh
# A search reads. A full-text search of LangChain's store for LanceDB writes: it makes the index of the whole table at
# the first call and means to remember that, but what it remembers is the result of create_fts_index, which is None. So
# each question builds the index over all rows again and leaves a new version of the table and the files of the old index
# on disk. The hybrid search does the same first and then raises a TypeError: LanceDB takes a vector and a text by the two
# methods of a hybrid query, and refuses the pair which the store gives it.
# Seen with langchain-community 0.4.2 and lancedb 0.40.0.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    langchain-community==0.4.2 langchain-core==1.8.3 lancedb==0.40.0 numpy==2.4.6
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PY'
from pathlib import Path

from langchain_community.vectorstores import LanceDB
from langchain_core.embeddings import DeterministicFakeEmbedding


def grown(query_type):
    """Versions and files that three questions add, and what each of them gave."""
    data = Path(query_type)
    store = LanceDB(uri=str(data), embedding=DeterministicFakeEmbedding(size=8), mode="append")
    store.add_texts([f"bridge {number} over the river" for number in range(500)])
    version = store.get_table().version
    files = sum(1 for file in data.rglob("*") if file.is_file())
    outcomes = []
    for _ in range(3):
        try:
            outcomes.append(len(store.similarity_search_with_score("river 17", k=5, query_type=query_type)))
        except TypeError as error:
            outcomes.append(str(error))
    later = sum(1 for file in data.rglob("*") if file.is_file())
    return store.get_table().version - version, later - files, outcomes


for query_type in ("vector", "fts", "hybrid"):
    versions, files, outcomes = grown(query_type)
    print(f"{query_type}: three questions make {versions} versions and {files} files more; {outcomes}")
    assert versions == (0 if query_type == "vector" else 3), versions
    assert (files > 6) == (query_type != "vector"), files
    assert all("tuple" in str(one) for one in outcomes) == (query_type == "hybrid"), outcomes
PY
