#!/bin/sh
# Haystack's DocumentJoiner with distribution_based_rank_fusion brings each list's scores to about 0 to 1 by their mean
# and deviation, and leaves a list whose scores do not differ as it is. A list of one hit is such a list: a document that
# shares one rare word with the question keeps its BM25 score, which has no upper limit, and stands first, above the best
# of the vectors. With a second keyword hit, however weak, the same document is scaled and falls back.
# Seen with haystack-ai 3.4.0: stationery 1.612 before guide .676; with a second hit guide comes first.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check haystack-ai==3.4.0
HAYSTACK_TELEMETRY_ENABLED=False "$folder/venv/bin/python" - <<'PY'
from haystack import Document
from haystack.components.joiners import DocumentJoiner
from haystack.document_stores.in_memory import InMemoryDocumentStore

DOCUMENTS = [
    Document(id="guide", content="how to brew green tea at seventy degrees", embedding=[1.0, 0.0]),
    Document(id="oolong", content="oolong wants hotter water", embedding=[0.9, 0.3]),
    Document(id="kettle", content="kettle", embedding=[0.7, 0.7]),
    Document(id="stationery", content="zebra stationery invoice", embedding=[0.0, 1.0]),
]


def joined(question):
    store = InMemoryDocumentStore()
    store.write_documents(DOCUMENTS)
    words = store.bm25_retrieval(question, top_k=3)
    vectors = store.embedding_retrieval([1.0, 0.05], top_k=3)
    joiner = DocumentJoiner(join_mode="distribution_based_rank_fusion")
    results = joiner.run([words, vectors])["documents"]
    print(f"{len(words)} keyword hits:", *(f"{one.id} {one.score:.3f}" for one in results))
    return len(words), results


hits, results = joined("which temperature for sencha from the zebra shop")
assert hits == 1, hits
assert results[0].id == "stationery", results
assert results[0].score > 1.5 and all(one.score < 1 for one in results[1:]), results
hits, results = joined("which temperature for green sencha from the zebra shop")
assert hits == 2, hits
assert results[0].id == "guide" and all(one.score < 1 for one in results), results
PY
