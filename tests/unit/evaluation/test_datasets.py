"""BEIR directories and LoCoMo files as judged queries, with everything that was repaired."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.errors import InputError, UnknownOperation
from agentic_rag_lab.evaluation.datasets import half_of, load_beir, load_dataset, load_locomo
from agentic_rag_lab.evaluation.locomo import repair_lines


def write_jsonl(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text(
        "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8"
    )


def beir(folder: Path, queries: list[dict[str, Any]], qrels: str, *, at: str = "qrels.tsv") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    write_jsonl(
        folder / "corpus.jsonl",
        [{"_id": "d1", "title": "", "text": "one\u2028line"}, {"_id": "d2", "text": "two"}],
    )
    write_jsonl(folder / "queries.jsonl", queries)
    (folder / at).parent.mkdir(exist_ok=True)
    (folder / at).write_text(qrels, encoding="utf-8")
    return folder


HEAD = "query-id\tcorpus-id\tscore\n"


def test_a_beir_directory(tmp_path: Path):
    queries = [
        {
            "_id": "q1",
            "text": "茶是什么",
            "operation": "document_retrieval",
            "category": "zh",
            "answers": ["a"],
        },
        {"_id": "q2", "text": "nobody knows", "answerable": False},
    ]
    dataset = load_dataset(beir(tmp_path / "tea", queries, HEAD + "q1\td1\t2\nq1\td2\t0\n"))
    first, second = dataset.queries
    assert (dataset.name, dataset.unit, dataset.repairs) == ("tea", "document", ())
    assert (first.relevant, first.operation, first.category) == ({"d1": 2}, "document_retrieval", "zh")
    assert first.fields == {"answers": ["a"]}
    assert (second.answerable, second.relevant, second.operation) == (False, {}, None)
    assert dataset.ranked_queries == (first,)
    assert dataset.source == tmp_path / "tea"


def test_the_published_layout_and_a_folder_named_after_its_split(tmp_path: Path):
    folder = beir(
        tmp_path / "scifact" / "train", [{"_id": "q", "text": "t"}], "q\td1\t1\n", at="qrels/test.tsv"
    )
    dataset = load_beir(folder)
    assert (dataset.name, dataset.queries[0].relevant) == ("scifact-train", {"d1": 1})
    with pytest.raises(InputError, match=r"no qrels/dev\.tsv; it has the splits test, name one"):
        load_beir(folder, split="dev")


def test_a_split_that_is_named_is_taken(tmp_path: Path):
    folder = beir(tmp_path / "x", [{"_id": "q", "text": "t"}], "q\td1\t1\n", at="qrels/train.tsv")
    with pytest.raises(InputError, match=r"neither qrels\.tsv nor qrels/test\.tsv; it has the splits train"):
        load_beir(folder)
    (folder / "qrels.tsv").write_text("q\td2\t1\n", encoding="utf-8")
    assert load_beir(folder).queries[0].relevant == {"d2": 1}
    assert load_beir(folder, split="train").queries[0].relevant == {"d1": 1}


@pytest.mark.parametrize(
    "qrels",
    [
        "q 0 d1 2\n",
        "q\tQ0\td1\t2\n",
        "q \t d1\t2 \n",
        "query_id\tdoc_id\trelevance\nq\td1\t2.0\n",
        "\ufeffq\td1\t2\r\n",
    ],
)
def test_judgements_as_other_tools_write_them(tmp_path: Path, qrels: str):
    dataset = load_beir(beir(tmp_path / "x", [{"_id": "q", "text": "t"}], qrels))
    assert dataset.queries[0].relevant == {"d1": 2}


def test_judgements_that_contradict_each_other_are_reported(tmp_path: Path):
    qrels = "q\td1\t1\nq\td2\t1\nq\td2\t1\nq\td1\t0\n"
    dataset = load_beir(beir(tmp_path / "x", [{"_id": "q", "text": "t"}], qrels))
    assert dataset.queries[0].relevant == {"d2": 1}
    assert repair_lines(dataset.repairs) == ["q: 'd1' → 0 (judged 1, 0: the last counts)"]


def test_what_does_not_fit_is_reported(tmp_path: Path):
    queries = [{"_id": "q1", "text": "t"}, {"_id": "q2", "text": "unjudged"}, {"_id": "q3", "text": " "}]
    dataset = load_beir(beir(tmp_path / "x", queries, HEAD + "q1\td9\t1\nq3\td1\t1\nq4\td1\t1\n\n"))
    assert [query.id for query in dataset.queries] == ["q1"]
    assert [(repair.query_id, repair.note) for repair in dataset.repairs] == [
        ("q2", "no judgement: left out"),
        ("q3", "no text: left out"),
        ("q4", "judged, but not among the queries"),
        ("q1", "relevant, not in the corpus"),
    ]


def test_judgements_that_say_nothing_are_reported(tmp_path: Path):
    queries = [{"_id": "q1", "text": "t"}, {"_id": "q2", "text": "u", "answerable": False}]
    dataset = load_beir(beir(tmp_path / "x", queries, "q1\td1\t0\nq2\td1\t1\r\n"))
    assert [(repair.query_id, repair.note.partition(":")[0]) for repair in dataset.repairs] == [
        ("q1", "nothing relevant"),
        ("q2", "not answerable"),
    ]
    assert dataset.ranked_queries == ()
    assert [query.relevant for query in dataset.unanswerable_queries] == [{}]


# ── a corpus that stands elsewhere ──────────────────────────────────────────────────────────────


def described(folder: Path, **changes: Any) -> Path:
    """A dataset over a vault beside it."""
    (folder.parent / "vault").mkdir(parents=True, exist_ok=True)
    folder.mkdir()
    write_jsonl(folder / "queries.jsonl", [{"_id": "q", "text": "t", "language": "zh", "quotes": ["a"]}])
    (folder / "qrels.tsv").write_text("q\tnotes/A.md\t1\n", encoding="utf-8")
    said = {"name": "tea notes", "corpus": "../vault", "kind": "vault", "unit": "document", **changes}
    (folder / "dataset.json").write_text(json.dumps(said), encoding="utf-8")
    return folder


def test_a_dataset_json_names_the_corpus(tmp_path: Path):
    dataset = load_dataset(described(tmp_path / "set"))
    assert (dataset.name, dataset.kind, dataset.unit) == ("tea notes", "vault", "document")
    assert dataset.source.resolve() == tmp_path / "vault"
    assert dataset.questions == tmp_path / "set" / "queries.jsonl"
    assert dataset.queries[0].relevant == {"notes/A.md": 1}
    assert dataset.queries[0].fields == {"language": "zh", "quotes": ["a"]}
    assert dataset.repairs == (), "what is in the corpus is known after ingest"


def test_a_corpus_jsonl_counts_before_a_dataset_json(tmp_path: Path):
    folder = described(tmp_path / "set")
    write_jsonl(folder / "corpus.jsonl", [{"_id": "d", "text": "t"}])
    dataset = load_dataset(folder)
    assert (dataset.source, dataset.name, len(dataset.repairs)) == (folder, "set", 1)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"corpus": "../nothing"}, "no corpus at"),
        ({"corpus": ""}, "corpus is ''"),
        ({"corpus": None}, "corpus is None"),
        ({"kind": "tarot"}, "kind is 'tarot'; use one of: auto, vault"),
        ({"unit": "word"}, "unit is 'word'"),
        ({"name": 3}, "name is 3"),
    ],
)
def test_a_dataset_json_that_cannot_be_used(tmp_path: Path, changes: dict[str, Any], told: str):
    with pytest.raises(InputError, match=told):
        load_dataset(described(tmp_path / "set", **changes))


def test_a_dataset_json_that_is_no_object(tmp_path: Path):
    folder = described(tmp_path / "set")
    for text in ("[]", "{"):
        (folder / "dataset.json").write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=r"dataset\.json"):
            load_dataset(folder)


# ── fewer queries ───────────────────────────────────────────────────────────────────────────────


def test_halves_split_by_the_id_alone(tmp_path: Path):
    queries = [{"_id": f"q{number}", "text": "t"} for number in range(60)]
    dataset = load_beir(beir(tmp_path / "x", queries, "".join(f"q{n}\td1\t1\n" for n in range(60))))
    first, second = (dataset.select(half=half).queries for half in ("first", "second"))
    ids = [{query.id for query in half} for half in (first, second)]
    assert ids[0] | ids[1] == {query.id for query in dataset.queries}
    assert not ids[0] & ids[1]
    assert 15 < len(first) < 45
    assert {half_of(query.id) for query in first} == {"first"}
    assert dataset.select(limit=5).queries == dataset.queries[:5]
    assert dataset.select(half="second", limit=3).queries == second[:3]
    assert dataset.select() == dataset
    with pytest.raises(InputError, match="first, second"):
        dataset.select(half="third")
    for limit in (0, -1):
        with pytest.raises(InputError, match=f"limit is {limit}"):
            dataset.select(limit=limit)


@pytest.mark.parametrize(
    ("queries", "qrels", "told"),
    [
        ([{"text": "t"}], HEAD, "queries.jsonl:1: _id"),
        ([{"_id": "q"}], HEAD, "queries.jsonl:1: text"),
        ([{"_id": "q", "text": "t"}, {"_id": "q", "text": "u"}], "q\td1\t1\n", "second time"),
        ([{"_id": "q", "text": "t", "answerable": "no"}], HEAD, "answerable"),
        ([{"_id": "q", "text": "t"}], HEAD + "q d1 1\n", "qrels.tsv:2"),
        ([{"_id": "q", "text": "t"}], HEAD + "q\td1\tmany\n", "qrels.tsv:2"),
        ([{"_id": "q", "text": "t"}], HEAD + "q\td1\t1\t3\n", "qrels.tsv:2"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(
    tmp_path: Path, queries: list[dict[str, Any]], qrels: str, told: str
):
    with pytest.raises(InputError, match=told):
        load_beir(beir(tmp_path / "x", queries, qrels))


def test_an_unknown_operation_is_refused(tmp_path: Path):
    with pytest.raises(UnknownOperation):
        load_beir(beir(tmp_path / "x", [{"_id": "q", "text": "t", "operation": "dance"}], HEAD))


def test_lines_that_are_no_objects_and_files_that_are_not_there(tmp_path: Path):
    folder = beir(tmp_path / "x", [], HEAD)
    for line in ("[1]", "{broken"):
        (folder / "queries.jsonl").write_text(line, encoding="utf-8")
        with pytest.raises(InputError, match=r"queries\.jsonl:1"):
            load_beir(folder)
    (folder / "queries.jsonl").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        load_beir(folder)
    with pytest.raises(InputError, match="neither"):
        load_dataset(tmp_path / "nothing")


# ── LoCoMo ──────────────────────────────────────────────────────────────────────────────────────


def turn(dia_id: str) -> dict[str, Any]:
    return {"speaker": "Ann", "dia_id": dia_id, "text": "hello"}


def locomo(tmp_path: Path, qa: list[dict[str, Any]], **changes: Any) -> Path:
    sample = {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [turn("D1:1"), turn("D1:2")],
            "session_9": [turn("D9:1"), turn("D9:17")],
            "session_11": [turn("D11:26")],
        },
        "qa": qa,
        **changes,
    }
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([sample]), encoding="utf-8")
    return path


def question(evidence: Any, category: int = 1, **more: Any) -> dict[str, Any]:
    return {"question": "Who?", "category": category, "evidence": evidence, **more}


@pytest.mark.parametrize(
    ("written", "turns", "repairs"),
    [
        (["D1:1", "D9:17", "D1:1"], ["1#D1:1", "9#D9:17"], []),
        (["D1:1; D9:17"], ["1#D1:1", "9#D9:17"], ["taken apart"]),
        (["D9:1 D1:1 D1:2"], ["9#D9:1", "1#D1:1", "1#D1:2"], ["taken apart"]),
        (["D:11:26"], ["11#D11:26"], ["mended"]),
        (["D9:01"], ["9#D9:1"], ["mended"]),
        (["D1:1", "D"], ["1#D1:1"], ["names no turn"]),
        (["D1:1", "D10:19"], ["1#D1:1"], ["D10:19 dropped"]),
        (["D1:1; D10:19"], ["1#D1:1"], ["D10:19 dropped"]),
        ("D1:1", ["1#D1:1"], []),
        ([], [], ["no evidence"]),
        (None, [], ["no evidence"]),
        (["D"], [], ["names no turn", "no evidence"]),
        (13, [], ["names no turn", "no evidence"]),
    ],
)
def test_evidence_is_repaired_and_reported(
    tmp_path: Path, written: Any, turns: list[str], repairs: list[str]
):
    dataset = load_locomo(locomo(tmp_path, [question(written)]))
    (query,) = dataset.queries
    assert query.relevant == {f"conv-1/session_{name}": 1 for name in turns}
    assert len(dataset.repairs) == len(repairs)
    for line, told in zip(repair_lines(dataset.repairs), repairs, strict=True):
        assert told in line
        assert line.startswith("conv-1/q1: ")
    assert dataset.ranked_queries == ((query,) if turns else ())


def test_a_question_without_a_text_is_left_out_and_reported(tmp_path: Path):
    texts = [None, "", " \n", "Who?"]
    dataset = load_locomo(locomo(tmp_path, [question(["D1:1"]) | {"question": text} for text in texts]))
    assert [(query.id, query.text) for query in dataset.queries] == [("conv-1/q4", "Who?")]
    assert repair_lines(dataset.repairs) == [f"conv-1/q{number}: no text: left out" for number in (1, 2, 3)]


def test_categories_search_spaces_and_answers(tmp_path: Path):
    qa = [question(["D1:1"], category, answer="2022") for category in (1, 2, 3, 4)] + [question(["D1:1"], 5)]
    dataset = load_dataset(locomo(tmp_path, qa))
    assert [query.category for query in dataset.queries] == [
        "multi-hop",
        "temporal",
        "open-domain",
        "single-hop",
        "adversarial",
    ]
    assert {query.dataset_key for query in dataset.queries} == {"conv-1"}
    assert (dataset.unit, dataset.name) == ("chunk", "locomo")
    assert dataset.queries[0].fields == {"answer": "2022"}
    trap = dataset.queries[-1]
    assert (trap.answerable, trap.relevant, trap.fields) == (False, {}, {})
    assert trap not in dataset.ranked_queries
    assert len({query.id for query in dataset.queries}) == 5


def test_what_is_odd_about_a_conversation_is_reported(tmp_path: Path):
    conversation = {
        "session_2": [turn("D2:1"), turn("D2:1"), turn("D2:3")],
        "session_10": [turn("D10:1")],
        "session_1": [],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_12_date_time": "no such session",
    }
    qa = [question(["D2:1"], answer=2022), question(["D2:3"], 5), question(["D2:3"], 5, answer="a")]
    dataset = load_locomo(locomo(tmp_path, qa, conversation=conversation))
    assert repair_lines(dataset.repairs) == [
        "conv-1: 'session_1_date_time' → - (a date without a session: left out)",
        "conv-1: 'session_12_date_time' → - (a date without a session: left out)",
        "conv-1: 'D2:1' → - (this turn's id comes a second time: the first counts)",
        "conv-1/q1: '2022' → 2022 (the answer is no text: taken as one)",
        "conv-1: 1 adversarial questions have no answer: judged by abstention",
    ]
    assert dataset.sessions == {
        "conv-1": ((), ("conv-1/session_2#D2:1", "conv-1/session_2#D2:3"), ("conv-1/session_10#D10:1",))
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"sample_id": None},
        {"conversation": []},
        {"qa": {}},
        {"qa": [{"question": "Who?", "category": 9}]},
        {"qa": [{"category": 1}]},
        {"qa": ["Who?"]},
        {"conversation": {"session_1": [{"text": "no id"}]}},
    ],
)
def test_what_is_no_locomo_file_is_refused(tmp_path: Path, changes: dict[str, Any]):
    with pytest.raises(InputError):
        load_locomo(locomo(tmp_path, **{"qa": [], **changes}))


def test_other_json_is_refused(tmp_path: Path):
    path = tmp_path / "x.json"
    sample = {"sample_id": "c", "conversation": {}, "qa": []}
    for text in ("[]", '"x"', "{broken", "[1]", json.dumps([sample, sample])):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError):
            load_locomo(path)


def test_one_conversation_alone(tmp_path: Path):
    path = tmp_path / "one.json"
    path.write_text(
        json.dumps(json.loads(locomo(tmp_path, [question(["D1:1"])]).read_text())[0]), encoding="utf-8"
    )
    assert len(load_locomo(path).queries) == 1
