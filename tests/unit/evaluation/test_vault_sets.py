"""The labelled questions over vaults: their counts, quotes, judgements and READMEs agree."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

DATASETS = Path(__file__).parents[3] / "evaluation/datasets"
OPERATIONS = ["verification_canvas", "weak_point_clustering", "concept_relation", "document_retrieval"]
CATEGORIES = ["direct", "paraphrase", "multi-hop", "time", "cross-language"]
LANGUAGES = ["en", "zh", "mixed"]
HAN = re.compile(r"[\u4e00-\u9fff]+")
LATIN = re.compile(r"[A-Za-z]{2,}")

Query = dict[str, Any]


@dataclass(frozen=True)
class VaultSet:
    """One set as its files hold it."""

    name: str
    corpus: str
    letter: str
    """Of its ids."""
    of_each: tuple[int, int]
    """Answerable and unanswerable queries of each operation."""

    @property
    def folder(self) -> Path:
        return DATASETS / self.name

    @property
    def vault(self) -> Path:
        return (self.folder / self.corpus).resolve()

    @cached_property
    def queries(self) -> list[Query]:
        lines = (self.folder / "queries.jsonl").read_text(encoding="utf-8").split("\n")
        return [json.loads(line) for line in lines if line.strip()]

    @cached_property
    def documents(self) -> set[str]:
        files = (path for path in self.vault.rglob("*") if path.suffix in (".md", ".canvas"))
        return {path.relative_to(self.vault).as_posix() for path in files}

    @cached_property
    def readme(self) -> list[str]:
        return (self.folder / "README.md").read_text(encoding="utf-8").splitlines()

    @cached_property
    def grades(self) -> dict[tuple[str, str], int]:
        found: dict[tuple[str, str], int] = {}
        for query in self.queries:
            for quote in query["quotes"]:
                pair = (query["_id"], quote["document"])
                found[pair] = max(found.get(pair, 0), quote["grade"])
        return found


SETS = [
    VaultSet("vault_100", "../../../examples/vault", "v", (25, 3)),
    VaultSet("vault_night_sky", "vault", "n", (16, 5)),
    VaultSet("vault_pottery", "vault", "p", (16, 5)),
]
each_set = pytest.mark.parametrize("one", [pytest.param(one, id=one.name) for one in SETS])


def of_category(*categories: str) -> pytest.MarkDecorator:
    """Every query of the categories, with its set."""

    def found() -> Iterator[Any]:
        for one in SETS:
            for query in one.queries:
                if query["category"] in categories:
                    yield pytest.param(one, query, id=query["_id"])

    return pytest.mark.parametrize(("one", "query"), list(found()))


def best(query: Query) -> list[dict[str, Any]]:
    return [quote for quote in query["quotes"] if quote["grade"] == 2]


@each_set
def test_queries_have_ids_and_texts_of_their_own(one: VaultSet):
    count = len(OPERATIONS) * sum(one.of_each)
    assert [query["_id"] for query in one.queries] == [
        f"{one.letter}{number:03d}" for number in range(1, count + 1)
    ]
    assert len({query["text"] for query in one.queries}) == count


@each_set
def test_every_operation_has_as_many(one: VaultSet):
    counts = Counter((query["operation"], query["answerable"]) for query in one.queries)
    assert counts == {
        (operation, answerable): count
        for operation in OPERATIONS
        for answerable, count in zip((True, False), one.of_each, strict=True)
    }


@each_set
def test_categories_and_languages_are_known(one: VaultSet):
    categories = {answerable: set[str]() for answerable in (True, False)}
    for query in one.queries:
        categories[query["answerable"]].add(query["category"])
    assert categories == {True: set(CATEGORIES), False: {"unanswerable"}}
    assert {query["language"] for query in one.queries} == set(LANGUAGES)


@of_category(*CATEGORIES, "unanswerable")
def test_the_language_is_that_of_the_text(one: VaultSet, query: Query):
    has_han, has_latin = bool(HAN.search(query["text"])), bool(LATIN.search(query["text"]))
    if query["language"] == "zh":
        assert has_han
    else:
        assert has_latin
        assert has_han == (query["language"] == "mixed")


@of_category(*CATEGORIES)
def test_every_quote_stands_in_its_document(one: VaultSet, query: Query):
    assert best(query)
    for quote in query["quotes"]:
        assert quote["grade"] in (1, 2)
        assert quote["quote"].strip()
        assert quote["document"] in one.documents
        assert quote["quote"] in (one.vault / quote["document"]).read_text(encoding="utf-8"), quote


@each_set
def test_a_document_has_one_grade_in_a_query_and_a_quote_comes_once(one: VaultSet):
    for query in one.queries:
        pairs = [(quote["document"], quote["quote"]) for quote in query["quotes"]]
        assert len(pairs) == len(set(pairs)), query["_id"]
        graded = {(quote["document"], quote["grade"]) for quote in query["quotes"]}
        assert len(graded) == len({document for document, _ in graded}), query["_id"]


@each_set
def test_unanswerable_queries_have_a_reason_and_no_quotes(one: VaultSet):
    for query in one.queries:
        assert query["answerable"] is ("reason" not in query)
        assert query["answerable"] is bool(query["quotes"])


@each_set
def test_qrels_are_those_of_the_quotes(one: VaultSet):
    head, *lines = (one.folder / "qrels.tsv").read_text(encoding="utf-8").rstrip("\n").split("\n")
    assert head == "query-id\tcorpus-id\tscore"
    cells = [line.split("\t") for line in lines]
    judged = {(query, document): int(grade) for query, document, grade in cells}
    assert len(judged) == len(lines)
    assert judged == one.grades


@each_set
def test_the_corpus_is_the_vault(one: VaultSet):
    description = json.loads((one.folder / "dataset.json").read_text(encoding="utf-8"))
    assert description == {"name": one.name, "corpus": one.corpus, "kind": "vault", "unit": "document"}
    assert one.vault.is_dir()


@of_category("paraphrase")
def test_a_paraphrase_shares_no_words_with_its_passages(one: VaultSet, query: Query):
    passages = " ".join(quote["quote"] for quote in best(query))
    assert not latin_words(query["text"]) & latin_words(passages)
    assert not han_trigrams(query["text"]) & han_trigrams(passages)


def latin_words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{5,}", text.lower()))


def han_trigrams(text: str) -> set[str]:
    return {run[start : start + 3] for run in HAN.findall(text) for start in range(len(run) - 2)}


@of_category("multi-hop")
def test_multi_hop_needs_two_documents(one: VaultSet, query: Query):
    assert len({quote["document"] for quote in best(query)}) >= 2


@of_category("cross-language")
def test_cross_language_passages_are_in_the_other_language(one: VaultSet, query: Query):
    assert query["language"] in ("en", "zh")
    for quote in best(query):
        assert bool(HAN.search(quote["quote"])) == (query["language"] == "en"), quote


@each_set
@pytest.mark.parametrize("operation", [*OPERATIONS, "all"])
def test_the_readme_counts_categories(one: VaultSet, operation: str):
    queries = [query for query in one.queries if operation in (query["operation"], "all")]
    counts = Counter(query["category"] for query in queries)
    answerable = sum(query["answerable"] for query in queries)
    cells = [operation, *(counts[category] for category in CATEGORIES), answerable, len(queries) - answerable]
    assert table_row(cells) in one.readme


@each_set
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_readme_counts_languages(one: VaultSet, language: str):
    counts = Counter(query["answerable"] for query in one.queries if query["language"] == language)
    assert table_row([language, counts[True], counts[False]]) in one.readme


@each_set
def test_the_readme_counts_labels(one: VaultSet):
    judged = one.grades
    counts = {
        "quotes": sum(len(query["quotes"]) for query in one.queries),
        "judged pairs": len(judged),
        "pairs of grade 2": list(judged.values()).count(2),
        "pairs of grade 1": list(judged.values()).count(1),
        "documents in the vault": len(one.documents),
        "documents with grade 2 somewhere": len(
            {document for (_, document), grade in judged.items() if grade == 2}
        ),
    }
    rows = [table_row([name, count]) for name, count in counts.items()]
    assert [row for row in rows if row not in one.readme] == []


def table_row(cells: list[Any]) -> str:
    return f"| {' | '.join(map(str, cells))} |"
