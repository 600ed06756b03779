from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.domain import Block, Chunk, Document, DocumentGraph
from agentic_rag.ingest.chunking import chunk_document
from agentic_rag.ingest.facts.derivation import MAX_CHUNK_FACTS, MAX_FACTS, derive_graph
from agentic_rag.ingest.facts.names import TitleIndex, document_names
from agentic_rag.ingest.facts.properties import is_subject, note_interval, relation_name, tag_names
from agentic_rag.ingest.facts.prose import prose, readable
from agentic_rag.ingest.files.canvas import parse_canvas
from agentic_rag.ingest.files.discovery import discover
from agentic_rag.ingest.files.records import load_record, parse_record
from agentic_rag.notes.markdown import parse_markdown
from agentic_rag_lab.sources.locomo import parse_session, sessions
from growth import assert_linear

SHARED = Path(__file__).parents[4].parent / "shared"
OTHERS = [
    ("tea/Oolong.md", ("Oolong", "乌龙茶")),
    ("people/Lu Yu.md", ("Lu Yu", "陆羽")),
    ("tea/Green tea.md", ("Green tea",)),
]


def lengths(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) + sum(character > "\u2e80" for character in text) for text in texts]


def chunked(document: Document) -> tuple[Chunk, ...]:
    return chunk_document(document, max_tokens=300, count_tokens=lengths)


def derived(document: Document, others: Sequence[tuple[str, tuple[str, ...]]] = OTHERS) -> DocumentGraph:
    titles = TitleIndex([(document.id, document_names(document)), *others])
    return derive_graph(document, chunked(document), titles)


def note(text: str, path: str = "Notes on tea.md") -> DocumentGraph:
    return derived(parse_markdown(path, path, text))


def told(graph: DocumentGraph) -> list[tuple[str, str, str, str]]:
    return [(fact.source, fact.name, fact.target, fact.text) for fact in graph.facts]


def labels(graph: DocumentGraph) -> dict[str, tuple[str, ...]]:
    return {entity.key: entity.labels for entity in graph.entities}


def day(written: str) -> datetime:
    return datetime.fromisoformat(written).replace(tzinfo=UTC)


def check(graph: DocumentGraph) -> None:
    """What must hold of every graph."""
    chunks = {chunk.id for chunk in graph.chunks}
    keys = [entity.key for entity in graph.entities]
    assert len(keys) == len(set(keys))
    assert all(entity.name.strip() and entity.labels for entity in graph.entities)
    assert {mention.chunk_id for mention in graph.mentions} <= chunks
    assert {fact.chunk_id for fact in graph.facts} <= chunks
    ends = {key for fact in graph.facts for key in (fact.source, fact.target)}
    named = {mention.entity for mention in graph.mentions}
    assert ends | named == set(keys)
    assert len(set(graph.mentions)) == len(graph.mentions)
    identities = [(f.chunk_id, f.source, f.name, f.target, f.text) for f in graph.facts]
    assert len(identities) == len(set(identities))
    for fact in graph.facts:
        assert fact.source != fact.target
        assert fact.text.strip()
        assert fact.name
        assert fact.valid_at is None or fact.invalid_at is None or fact.valid_at < fact.invalid_at


def test_a_link_is_a_fact_with_its_sentence() -> None:
    graph = note("Many like **[[tea/Oolong|blue tea]]**. It is [old](people/Lu%20Yu.md).")
    assert told(graph) == [
        ("notes on tea", "LINKS_TO", "oolong", "Many like blue tea."),
        ("notes on tea", "LINKS_TO", "lu yu", "It is old."),
    ]
    assert labels(graph)["notes on tea"] == ("Note",)
    check(graph)


def test_a_link_to_a_note_not_written_yet_and_to_a_picture() -> None:
    graph = note("See [[plants/Rou Gui]] and ![[leaf.png]] and [[#Here]].")
    assert [(fact.target, fact.name) for fact in graph.facts] == [("rou gui", "LINKS_TO")]
    assert labels(graph)["rou gui"] == ("Unwritten",)


def test_a_note_may_be_called_like_a_file() -> None:
    document = parse_markdown("a.md", "a.md", "We use [[Node.js]] and [[Vue.js]] here.")
    graph = derived(document, [("tools/Node.js.md", ("Node.js",))])
    assert told(graph) == [("a", "LINKS_TO", "node.js", "We use Node.js and Vue.js here.")]
    assert labels(graph)["node.js"] == ("Note",)


def test_a_line_that_is_only_a_link_says_whose_it_is() -> None:
    assert told(note("- [[Oolong]]\n"))[0][3] == "Notes on tea: Oolong"


def test_properties_and_fields_name_relations() -> None:
    graph = note(
        "---\nauthor: '[[Lu Yu]]'\ncultivar: 乌龙茶\nplace: Fujian\nstatus: done\n朝代: 唐代\n---\n"
        "origin:: [[Wuyi]]\n\nText."
    )
    facts = {(fact.name, fact.target): fact.text for fact in graph.facts}
    assert facts == {
        ("AUTHOR", "lu yu"): "Notes on tea: author: Lu Yu",
        ("ORIGIN", "wuyi"): "Notes on tea: origin: Wuyi",
        ("CULTIVAR", "oolong"): "Notes on tea: cultivar: 乌龙茶",
        ("PLACE", "fujian"): "Notes on tea: place: Fujian",
        ("朝代", "唐代"): "Notes on tea: 朝代: 唐代",
    }
    check(graph)


def test_tags_lie_under_tags() -> None:
    graph = note("#tea/oolong is good")
    assert [(fact.name, fact.target, fact.text) for fact in graph.facts] == [
        ("HAS_TAG", "#tea/oolong", "Notes on tea #tea/oolong"),
        ("HAS_TAG", "#tea", "Notes on tea #tea"),
    ]
    assert labels(graph)["#tea"] == ("Tag",)
    assert tag_names("a/b") == ["#a/b", "#a"]


def test_a_tag_or_field_is_a_fact_of_the_chunk_that_holds_it() -> None:
    text = f"#teapot of Ann Lee\n\n{'word ' * 250}\n\n# Then\n\n#tea\n\nauthor:: Ann Lee\n"
    graph = note(text)
    where = {fact.target: fact.chunk_id for fact in graph.facts}
    assert where["#teapot"] == graph.chunks[0].id
    assert where["#tea"] == where["ann lee"] == graph.chunks[-1].id
    front = note(f"---\ntags: [teapot, tea]\nauthor: Ann Lee\n---\n{text}".replace("#tea\n", ""))
    assert {fact.chunk_id for fact in front.facts if fact.target == "#tea"} == {front.chunks[0].id}


def test_titles_in_running_text_are_mentions() -> None:
    graph = note("The 乌龙茶 came late. Oolong again.\n\nLu Yu's book. `Green tea` in code.")
    assert told(graph) == [
        ("notes on tea", "MENTIONS", "oolong", "The 乌龙茶 came late."),
        ("notes on tea", "MENTIONS", "lu yu", "Lu Yu's book."),
    ]
    check(graph)


@pytest.mark.parametrize(
    ("text", "mentioned"),
    [
        ("- Do this:\n\n  ```sh\n  brew Oolong\n  ```\n- Green tea.", ["green tea"]),
        ("1. ~~~~\r\n   Oolong\r\n   ~~~\r\n   Oolong\r\n   ~~~~~\r\n\r\n   Green tea", ["green tea"]),
        ("> ```\n> Oolong\n> ```\n> Green tea", ["green tea"]),
        ("- ```Oolong``` is code, Green tea is not", ["green tea"]),
        ("- ```\n  never closed\n\nOolong and Green tea", ["oolong", "green tea"]),
        ("%% Oolong %%\n\nGreen tea is not hidden by a mere 5 %% sign.", ["green tea"]),
        ("%%\nOolong\n\nand more\n%%\n\nGreen tea is not hidden by a mere 5 %% sign.", ["green tea"]),
        ("<!-- Oolong -->\n\nGreen tea", ["green tea"]),
        ("x <!-- it is\nOolong --> y\n\nGreen tea", ["green tea"]),
        ("`%%` Oolong\n\nGreen tea is not hidden by a mere 5 %% sign.", ["oolong", "green tea"]),
    ],
)
def test_what_code_or_a_comment_names_is_no_mention(text: str, mentioned: list[str]) -> None:
    graph = note(text)
    assert [fact.target for fact in graph.facts] == mentioned
    check(graph)


def test_no_mention_where_the_sentence_links() -> None:
    graph = note("Here [[Oolong]] is oolong. Elsewhere oolong is cheap.")
    assert [(fact.name, fact.text) for fact in graph.facts] == [
        ("LINKS_TO", "Here Oolong is oolong."),
        ("MENTIONS", "Elsewhere oolong is cheap."),
    ]


def test_an_ambiguous_name_is_mentioned_without_a_fact() -> None:
    record = load_record(b'{"_id": "x", "title": "Games", "text": "There he met Anna Lee."}')
    others = [("a", ("Anna Lee (poet)",)), ("b", ("Anna Lee (actress)",))]
    graph = derived(parse_record(record, path="corpus.jsonl"), others)
    assert graph.facts == ()
    assert {mention.entity for mention in graph.mentions} == {
        "games",
        "anna lee (poet)",
        "anna lee (actress)",
    }
    assert labels(graph)["games"] == ("Record",)


def test_a_part_of_a_quoted_title_is_no_mention() -> None:
    record = load_record(b'{"_id": "x", "title": "Janet", "text": "Her album \\"All for You\\" sold well."}')
    graph = derived(parse_record(record, path="corpus.jsonl"), [("y", ("For You",))])
    assert graph.facts == ()
    assert "all for you" in labels(graph)


def test_named_things_and_headings_are_entities_without_facts() -> None:
    graph = note("# Kill green step\n\nHe met Pierre Curie in Paris.\n\n# Notes\n\nMore.")
    assert graph.facts == ()
    assert labels(graph)["pierre curie"] == ("Thing",)
    assert labels(graph)["kill green step"] == ("Heading",)
    assert "notes" not in labels(graph)


def test_generic_names_count_where_they_are_linked_only() -> None:
    document = parse_markdown("a.md", "a.md", "The Index is here. And [[Index]].")
    graph = derived(document, [("Index.md", ("Index",))])
    assert [fact.name for fact in graph.facts] == ["LINKS_TO"]


def test_canvas_relations_are_facts() -> None:
    source = {
        "nodes": [
            {"id": "g", "type": "group", "label": "Tea", "x": 0, "y": 0, "width": 500, "height": 500},
            {"id": "1", "type": "file", "file": "tea/Oolong.md", "x": 10, "y": 10, "width": 9, "height": 9},
            {"id": "2", "type": "text", "text": "Half oxidised", "x": 30, "y": 10, "width": 9, "height": 9},
        ],
        "edges": [
            {"id": "e", "fromNode": "1", "toNode": "2", "label": "is known as"},
            {"id": "f", "fromNode": "2", "toNode": "1", "label": "导致"},
        ],
    }
    graph = derived(parse_canvas("Board.canvas", "Board.canvas", json.dumps(source)))
    facts = {(fact.source, fact.name, fact.target): fact.text for fact in graph.facts}
    assert facts["oolong", "IS_KNOWN_AS", "half oxidised"] == "Oolong —is known as→ Half oxidised"
    assert facts["half oxidised", "导致", "oolong"] == "Half oxidised —导致→ Oolong"
    assert facts["tea", "CONTAINS", "oolong"] == "Tea: Oolong"
    assert facts["board", "LINKS_TO", "oolong"] == "Board: Oolong"
    assert labels(graph)["half oxidised"] == ("Card",)
    assert labels(graph)["board"] == ("Canvas",)
    check(graph)


def dialogue(*turns: tuple[str, str]) -> DocumentGraph:
    loaded = {
        "speaker_a": "Anna",
        "speaker_b": "Melanie",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": who, "dia_id": f"D1:{number}", "text": text}
            for number, (who, text) in enumerate(turns, 1)
        ],
    }
    (session,) = sessions(loaded, name="talk")
    return derived(parse_session(session, path="talk.json"))


def test_speakers_talk_about_things() -> None:
    graph = dialogue(
        ("Anna", "Hey Mel! I was in Paris with Melanie last week."),
        ("Melanie", "Nice. Do you like Oolong? I lived in Rome in 1999."),
    )
    assert told(graph) == [
        ("anna", "TALKS_ABOUT", "paris", "Anna: I was in Paris with Melanie last week."),
        ("anna", "TALKS_ABOUT", "melanie", "Anna: I was in Paris with Melanie last week."),
        ("melanie", "TALKS_ABOUT", "oolong", "Melanie: Do you like Oolong?"),
        ("melanie", "TALKS_ABOUT", "rome", "Melanie: I lived in Rome in 1999."),
    ]
    # The talk took place on the turn's date, whatever time it is about.
    assert {(fact.valid_at, fact.invalid_at) for fact in graph.facts} == {
        (datetime(2023, 5, 8, 13, 56, tzinfo=UTC), None)
    }
    assert labels(graph)["anna"] == ("Person",)
    assert labels(graph)["melanie"] == ("Person",)
    spoken = [mention.chunk_id for mention in graph.mentions if mention.entity == "anna"]
    assert spoken == ["talk/session_1#D1:1"]
    check(graph)


def test_calling_one_who_takes_part_is_no_talk_about_them() -> None:
    graph = dialogue(("Anna", "Thanks, Mel! See you, Melanie."), ("Melanie", "Bye, Anna."))
    assert graph.facts == ()


def test_a_property_called_speaker_makes_no_dialogue() -> None:
    graph = note("---\nspeaker: Anna\n---\nWe were in Paris.")
    assert {fact.name for fact in graph.facts} == {"SPEAKER"}


DATED = "---\ndate: 2023-09-12\n---\n"


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        (DATED + "About [[Oolong]] here.", "2023-09-12", None),
        ("About [[Oolong]] here.", None, None),
        (DATED + "Grew [[Oolong]] from March 2020 to June 2021.", "2020-03-01", "2021-07-01"),
        (DATED + "自2024年7月起种[[乌龙茶]]。", "2024-07-01", None),
        (DATED + "As in [[2020-01-02 Oolong]] it was.", "2023-09-12", None),  # a note's name states no time
        ("---\nvalid_from: 2023-01-01\nvalid_until: 2023-12-31\n---\nUse [[Oolong]].", "2023-01-01", "2024-01-01"),
        ("---\ndate: 2023-09-12\nuntil: 2024\n---\nUse [[Oolong]].", "2023-09-12", "2025-01-01"),
        ("---\ndate: 2023-09-12\nuntil: 2022\n---\nUse [[Oolong]].", None, "2023-01-01"),
    ],
)  # fmt: skip
def test_times_of_a_fact(text: str, since: str | None, until: str | None) -> None:
    (fact,) = note(text).facts
    assert (fact.valid_at, fact.invalid_at) == (since and day(since), until and day(until))


def test_the_time_for_which_a_note_holds() -> None:
    assert note_interval({"valid_from": 2024, "valid_until": 2023}) == (None, None)
    assert note_interval({"from": "[[Anna]]"}) == (None, None)
    assert note_interval({"Valid-From": "June 2024"}) == (day("2024-06-01"), None)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("causes", "CAUSES"),
        ("is a kind-of", "IS_A_KIND_OF"),
        ("导致", "导致"),
        ("→", "LINKS_TO"),
        ("x" * 99, "X" * 60),
    ],
)
def test_relation_names(label: str, name: str) -> None:
    assert relation_name(label) == name


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Summary", False),
        ("Kill green", True),
        ("陆羽与茶经", True),
        ("概述", False),
        ("What is it?", False),
        ("3. Tea", False),
    ],
)
def test_headings_that_name_a_subject(heading: str, expected: bool) -> None:
    assert is_subject(heading) is expected


def test_markup_is_read_as_it_shows() -> None:
    assert readable("> - [ ] See ![[a/B.md#C]] and [[#Top]] ==now== ^id") == "See B and Top now"
    assert readable("| a | **b** |") == "a b"
    assert readable("- one\r\n^list-id\r\n") == "one"
    assert readable("| a |\r\n| --- |\r\n| b |") == "a b"
    assert readable("[^1]: A note[^2]: so") == "A note: so"
    assert readable('<span class="x">Tea</span><br>H<sub>2</sub>O, `<b>`, List<String>, a <b') == (
        "Tea H2O, <b>, List<String>, a <b"
    )
    document = parse_markdown("a.md", "a.md", "x `Code` [[dir/N.md#h|shown]] https://a.b/C\n")
    assert len(prose(document).text) == len(document.text)
    assert prose(document).text.replace("\ufffc", "").split() == ["x"]


def test_an_address_is_no_prose_wherever_it_begins() -> None:
    document = parse_markdown("a.md", "a.md", "见https://a.b/Oolong 和 HTTP://a.b/Oolong\n")
    assert prose(document).text.split() == ["见", "和"]


@pytest.mark.slow
def test_prose_of_a_long_note_takes_linear_time() -> None:
    assert_linear(lambda text: prose(parse_markdown("a.md", "a.md", text)), "a.")
    code = "```\nx\n```\n\n"

    def with_blocks(text: str) -> None:
        blocks = [Block("code", start, start + 9) for start in range(0, len(text), len(code))]
        assert len(prose(Document("b.md", "b.md", "b", text, "markdown", tuple(blocks))).text) == len(text)

    assert_linear(with_blocks, code)


def test_long_sentences_are_cut_around_the_name() -> None:
    (fact,) = note("word " * 300 + "[[Oolong]]" + " word" * 300).facts
    text = fact.text
    assert "Oolong" in text
    assert len(text) < 700
    assert text.startswith("…")
    assert text.endswith("…")


def test_caps_hold() -> None:
    graph = note(" ".join(f"[[Note {number}]]" for number in range(MAX_FACTS + 500)))
    assert len(graph.facts) <= MAX_FACTS
    by_chunk = [sum(fact.chunk_id == chunk.id for fact in graph.facts) for chunk in graph.chunks]
    assert max(by_chunk) == MAX_CHUNK_FACTS
    check(graph)


def test_a_document_without_chunks_gives_nothing() -> None:
    document = parse_markdown("a.md", "a.md", " \n")
    assert derive_graph(document, (), TitleIndex()) == DocumentGraph("a.md", ())


def test_a_retitled_note_is_found_by_its_new_name() -> None:
    document = parse_markdown("a.md", "a.md", "We drink Blue tea with Oolong.")
    before = derived(document)
    after = derived(document, [("tea/Oolong.md", ("Blue tea", "Oolong"))])
    assert [fact.target for fact in before.facts] == ["oolong"]
    assert [(fact.target, fact.name) for fact in after.facts] == [("blue tea", "MENTIONS")]


_PIECES = st.sampled_from(
    [
        "---\n", "author: Lu Yu\n", "tags: [a/b]\n", "valid_from: 2020\n", "# Green tea\n", "\n\n", "[[Oolong]]", "[[", "]]", "|",
        "**", "`", "```\n", "乌龙茶", "Lu Yu's", "from 2019 to 2020", "自2024年7月起", "#tag", "> ", "- ", "x:: [[Anna]]\n", "%%", "\r\n",
        "\x00", "😀", "[a](b.md)", "![[p.png]]", "In Paris. ", "“Green tea”", "\u0301", "<b>", "http://x.y",
    ]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=25).map("".join))
def test_any_note_gives_a_sound_graph(text: str) -> None:
    document = parse_markdown("x/Green tea.md", "x/Green tea.md", text)
    graph = derived(document)
    check(graph)
    assert derived(document) == graph


@given(
    st.lists(
        st.tuples(st.sampled_from(["Anna", "Melanie", "王 明"]), st.lists(_PIECES).map("".join)), max_size=5
    )
)
def test_any_dialogue_gives_a_sound_graph(turns: list[tuple[str, str]]) -> None:
    if any(text.strip() for _, text in turns):
        check(dialogue(*turns))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["obsidian-help-en", "kepano-obsidian", "canvas-samples", "obsidian-tasks-demo"]
)
def test_real_vaults_give_sound_graphs(name: str) -> None:
    root = SHARED / "data" / "vaults" / name
    if not root.exists():
        pytest.skip("the sample vaults are not on this machine")
    documents = [item.parse() for item in discover([root]).items if item.path.endswith((".md", ".canvas"))]
    titles = TitleIndex((document.id, document_names(document)) for document in documents)
    graphs = [derive_graph(document, chunked(document), titles) for document in documents]
    for graph in graphs:
        check(graph)
    assert sum(len(graph.facts) for graph in graphs) > len(documents)
