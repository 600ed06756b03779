"""The questions over the example vault: their counts, quotes, judgements and README agree."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
DATASET = ROOT / "evaluation/datasets/vault_100"
VAULT = ROOT / "examples/vault"
OPERATIONS = ["verification_canvas", "weak_point_clustering", "concept_relation", "document_retrieval"]
CATEGORIES = ["direct", "paraphrase", "multi-hop", "time", "cross-language"]
LANGUAGES = ["en", "zh", "mixed"]
QUERIES: list[dict[str, Any]] = [
    json.loads(line)
    for line in (DATASET / "queries.jsonl").read_text(encoding="utf-8").split("\n")
    if line.strip()
]
ANSWERABLE = [query for query in QUERIES if query["answerable"]]
HAN = re.compile(r"[\u4e00-\u9fff]+")
LATIN = re.compile(r"[A-Za-z]{2,}")


def of_category(category: str) -> list[Any]:
    return [pytest.param(query, id=query["_id"]) for query in ANSWERABLE if query["category"] == category]


def best(query: dict[str, Any]) -> list[dict[str, Any]]:
    return [quote for quote in query["quotes"] if quote["grade"] == 2]


def grades() -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for query in QUERIES:
        for quote in query["quotes"]:
            pair = (query["_id"], quote["document"])
            found[pair] = max(found.get(pair, 0), quote["grade"])
    return found


def documents() -> set[str]:
    return {
        path.relative_to(VAULT).as_posix() for path in VAULT.rglob("*") if path.suffix in (".md", ".canvas")
    }


def readme() -> list[str]:
    return (DATASET / "README.md").read_text(encoding="utf-8").splitlines()


def test_there_are_112_queries_with_ids_and_texts_of_their_own():
    assert [query["_id"] for query in QUERIES] == [f"v{number:03d}" for number in range(1, 113)]
    assert len({query["text"] for query in QUERIES}) == 112


def test_each_operation_has_25_answerable_and_3_unanswerable():
    counts = Counter((query["operation"], query["answerable"]) for query in QUERIES)
    assert counts == {
        (operation, answerable): count
        for operation in OPERATIONS
        for answerable, count in ((True, 25), (False, 3))
    }


def test_categories_and_languages_are_known():
    assert {query["category"] for query in ANSWERABLE} == set(CATEGORIES)
    assert {query["category"] for query in QUERIES if not query["answerable"]} == {"unanswerable"}
    assert {query["language"] for query in QUERIES} == set(LANGUAGES)


@pytest.mark.parametrize("query", [pytest.param(query, id=query["_id"]) for query in QUERIES])
def test_the_language_is_that_of_the_text(query: dict[str, Any]):
    has_han, has_latin = bool(HAN.search(query["text"])), bool(LATIN.search(query["text"]))
    if query["language"] == "zh":
        assert has_han
    else:
        assert has_latin
        assert has_han == (query["language"] == "mixed")


@pytest.mark.parametrize("query", [pytest.param(query, id=query["_id"]) for query in ANSWERABLE])
def test_every_quote_stands_in_its_document(query: dict[str, Any]):
    assert best(query)
    for quote in query["quotes"]:
        assert quote["grade"] in (1, 2)
        assert quote["quote"].strip()
        assert quote["document"] in documents()
        assert quote["quote"] in (VAULT / quote["document"]).read_text(encoding="utf-8"), quote


def test_a_document_has_one_grade_in_a_query_and_a_quote_comes_once():
    for query in QUERIES:
        pairs = [(quote["document"], quote["quote"]) for quote in query["quotes"]]
        assert len(pairs) == len(set(pairs)), query["_id"]
        graded = {(quote["document"], quote["grade"]) for quote in query["quotes"]}
        assert len(graded) == len({document for document, _ in graded}), query["_id"]


def test_unanswerable_queries_have_a_reason_and_no_quotes():
    for query in QUERIES:
        assert query["answerable"] is ("reason" not in query)
        assert query["answerable"] is bool(query["quotes"])


def test_qrels_are_those_of_the_quotes():
    head, *lines = (DATASET / "qrels.tsv").read_text(encoding="utf-8").rstrip("\n").split("\n")
    assert head == "query-id\tcorpus-id\tscore"
    cells = [line.split("\t") for line in lines]
    judged = {(query, document): int(grade) for query, document, grade in cells}
    assert len(judged) == len(lines)
    assert judged == grades()


def test_the_corpus_is_the_vault():
    description = json.loads((DATASET / "dataset.json").read_text(encoding="utf-8"))
    assert description == {
        "name": "vault_100",
        "corpus": "../../../examples/vault",
        "kind": "vault",
        "unit": "document",
    }
    assert (DATASET / description["corpus"]).resolve() == VAULT.resolve()


@pytest.mark.parametrize("query", of_category("paraphrase"))
def test_a_paraphrase_shares_no_words_with_its_passages(query: dict[str, Any]):
    passages = " ".join(quote["quote"] for quote in best(query))
    assert not latin_words(query["text"]) & latin_words(passages)
    assert not han_trigrams(query["text"]) & han_trigrams(passages)


def latin_words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{5,}", text.lower()))


def han_trigrams(text: str) -> set[str]:
    return {run[start : start + 3] for run in HAN.findall(text) for start in range(len(run) - 2)}


@pytest.mark.parametrize("query", of_category("multi-hop"))
def test_multi_hop_needs_two_documents(query: dict[str, Any]):
    assert len({quote["document"] for quote in best(query)}) >= 2


@pytest.mark.parametrize("query", of_category("cross-language"))
def test_cross_language_passages_are_in_the_other_language(query: dict[str, Any]):
    assert query["language"] in ("en", "zh")
    for quote in best(query):
        assert bool(HAN.search(quote["quote"])) == (query["language"] == "en"), quote


@pytest.mark.parametrize("operation", [*OPERATIONS, "all"])
def test_readme_counts_categories(operation: str):
    queries = [query for query in QUERIES if operation in (query["operation"], "all")]
    counts = Counter(query["category"] for query in queries)
    answerable = sum(query["answerable"] for query in queries)
    cells = [operation, *(counts[category] for category in CATEGORIES), answerable, len(queries) - answerable]
    assert table_row(cells) in readme()


@pytest.mark.parametrize("language", LANGUAGES)
def test_readme_counts_languages(language: str):
    counts = Counter(query["answerable"] for query in QUERIES if query["language"] == language)
    assert table_row([language, counts[True], counts[False]]) in readme()


def test_readme_counts_labels():
    judged = grades()
    counts = {
        "quotes": sum(len(query["quotes"]) for query in QUERIES),
        "judged pairs": len(judged),
        "pairs of grade 2": list(judged.values()).count(2),
        "pairs of grade 1": list(judged.values()).count(1),
        "documents in the vault": len(documents()),
        "documents with grade 2 somewhere": len(
            {document for (_, document), grade in judged.items() if grade == 2}
        ),
    }
    rows = [table_row([name, count]) for name, count in counts.items()]
    assert [row for row in rows if row not in readme()] == []


def table_row(cells: list[Any]) -> str:
    return f"| {' | '.join(map(str, cells))} |"
