from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.domain import Document
from agentic_rag.ingest.facts import names as names_module
from agentic_rag.ingest.facts.names import (
    TitleIndex,
    changed_names,
    document_names,
    is_mentionable,
    mentions_any,
)
from agentic_rag.notes.markdown import parse_markdown

VAULT = TitleIndex(
    [
        ("Index.md", ("Index",)),
        ("tea/Oolong.md", ("Oolong", "乌龙茶", "wulong")),
        ("tea/Green tea.md", ("Green tea",)),
        ("tea/Green tea/History.md", ("History of green tea", "History")),
        ("people/Lu Yu.md", ("Lu Yu", "陆羽")),
        ("boards/Map.canvas", ("Map",)),
        ("old/Oolong.md", ("Oolong",)),
    ]
)
RECORDS = TitleIndex(
    [
        ("r1", ("Terence Robinson (wrestler)",)),
        ("r2", ("Terence Robinson (footballer)",)),
        ("r3", ("Anna Lee (actress)",)),
        ("r4", ("Alive (film)",)),
        ("r5", ("Newton D . Baker House",)),
        ("r6", ("The Who",)),
        ("r7", ("Hush!",)),
        ("r8", ("Paris, Texas",)),
        ("r9", ("Paris",)),
        ("r10", ("1984",)),
        ("r11", ("NATO",)),
        ("r12", ("RRF",)),
        ("r13", ("Spider-Man",)),
        ("r14", ("O'Brien Castle",)),
        ("r15", ("to be",)),
    ]
)


def found(index: TitleIndex, text: str) -> list[str]:
    return [text[match.start : match.end] for match in index.mentions(text)]


@pytest.mark.parametrize(
    ("index", "text", "expected"),
    [
        (VAULT, "Oolong's scent, Green tea, and lu yu.", ["Oolong", "Green tea"]),
        (VAULT, "OOLONG and oolong and Oolongs", ["OOLONG", "oolong"]),
        (VAULT, "History of green tea is longer than Green tea.", ["History of green tea", "Green tea"]),
        (VAULT, "陆羽喜欢乌龙茶。", ["陆羽", "乌龙茶"]),
        (VAULT, "我在读Lu Yu的书，喝wulong茶", ["Lu Yu", "wulong"]),
        (VAULT, "Green\ntea", ["Green\ntea"]),
        (VAULT, "Green\n\ntea", []),
        (VAULT, "all Green. Tea follows", []),
        (VAULT, "See the Index and the Map", []),
        (VAULT, "preOolong Oolong2 x_Oolong_y", ["Oolong"]),
        (RECORDS, "Anna Lee's film", ["Anna Lee"]),
        (RECORDS, "He was alive. Alive!", []),
        (RECORDS, "Newton D. Baker House", ["Newton D. Baker House"]),
        (RECORDS, "Newton D . Baker House", ["Newton D . Baker House"]),
        (RECORDS, "the who and The Who", ["The Who"]),
        (RECORDS, "Hush! he said. Hush.", ["Hush"]),
        (RECORDS, "Paris, Texas is far from Paris. Texas is big.", ["Paris, Texas", "Paris"]),
        (RECORDS, "In 1984 nato met; NATO did", ["NATO"]),
        (RECORDS, "RRF adds up, rrf does not", ["RRF"]),
        (RECORDS, "Spider Man, Spider-Man, spiderman", ["Spider Man", "Spider-Man"]),
        (RECORDS, "O’Brien Castle and to be", ["O’Brien Castle"]),
    ],
)
def test_finds_mentions(index: TitleIndex, text: str, expected: list[str]) -> None:
    assert found(index, text) == expected


def test_a_title_without_its_disambiguation_may_be_ambiguous() -> None:
    (several,) = RECORDS.mentions("He met Terence Robinson.")
    assert several.ambiguous
    assert [target.key for target in several.targets] == [
        "terence robinson (footballer)",
        "terence robinson (wrestler)",
    ]
    (one,) = RECORDS.mentions("He met Terence Robinson (wrestler).")
    assert not one.ambiguous


def test_a_full_title_wins_over_one_that_is_cut() -> None:
    index = TitleIndex([("a", ("John Smith",)), ("b", ("John Smith (poet)",))])
    (match,) = index.mentions("John Smith wrote")
    assert [target.key for target in match.targets] == ["john smith"]


def test_documents_of_one_title_are_one_target() -> None:
    index = TitleIndex([("p#2", ("Paris Commune",)), ("p#1", ("Paris commune",))])
    (match,) = index.mentions("the Paris Commune")
    assert not match.ambiguous
    assert match.targets[0].name == "Paris commune"  # as the first document in order writes it
    assert index.target("p#1") == index.target("p#2")


def test_an_alias_leads_to_the_note() -> None:
    (match,) = VAULT.mentions("陆羽")
    assert (match.targets[0].key, match.targets[0].label) == ("lu yu", "Note")
    assert VAULT.document_named("乌龙茶") == VAULT.target("tea/Oolong.md")
    assert VAULT.document_named("nothing") is None


def test_katakana_and_hangul_have_word_ends() -> None:
    index = TitleIndex([("a.md", ("ティー",)), ("b.md", ("서울",)), ("c.md", ("ジョン",))])
    assert found(index, "パーティーとティー、서울에서 and 뉴서울") == ["ティー", "서울"]
    assert found(index, "ジョン・レノン") == ["ジョン"]


def test_normal_forms_do_not_matter() -> None:
    index = TitleIndex([("a.md", ("Cafe\u0301 Noir",)), ("b.md", ("ＡＢＣ公司",))])
    assert found(index, "Café Noir, ABC公司") == ["Café Noir", "ABC公司"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Tea", False),
        ("2024-03-09", False),
        ("May", False),
        ("Monday", False),
        ("October November", True),
        ("8 May 2023", False),
        ("README", False),
        ("目录", False),
        ("茶", False),
        ("白茶", True),
        ("It Is", True),
        ("it is", False),
        ("!!!", False),
        ("", False),
        ("x " * 60, False),
    ],
)
def test_which_names_running_text_can_mention(name: str, expected: bool) -> None:
    assert is_mentionable(name) is expected


@pytest.mark.parametrize(
    ("link", "source", "expected"),
    [
        ("oolong", "tea/Green tea.md", "tea/Oolong.md"),
        ("Oolong.md", "old/x.md", "old/Oolong.md"),
        ("Oolong", "Index.md", "old/Oolong.md"),  # equally near and deep: the first in order
        ("tea/oolong", "old/x.md", "tea/Oolong.md"),
        ("/tea/Oolong", "old/x.md", "tea/Oolong.md"),
        ("../tea/Oolong.md", "old/x.md", "tea/Oolong.md"),
        ("Green tea/History", "Index.md", "tea/Green tea/History.md"),
        ("Map.canvas", "Index.md", "boards/Map.canvas"),
        ("wulong", "Index.md", "tea/Oolong.md"),
        ("history of green tea", "Index.md", "tea/Green tea/History.md"),
        ("nowhere/Oolong", "Index.md", None),
        ("Black tea", "Index.md", None),
        ("", "Index.md", None),
    ],
)
def test_resolves_links_as_obsidian_does(link: str, source: str, expected: str | None) -> None:
    resolved = VAULT.resolve(link, source)
    assert resolved == (None if expected is None else VAULT.target(expected))


def test_nearest_of_two_notes() -> None:
    index = TitleIndex([(path, (path,)) for path in ("a/b/N.md", "a/N.md", "c/N.md", "N.md")])
    assert index.resolve("N", "a/b/x.md") == index.target("N.md")  # its exact path
    assert index.resolve("b/N", "c/x.md") == index.target("a/b/N.md")
    assert index.resolve("./N", "c/x.md") == index.target("c/N.md")
    without = TitleIndex([(path, (path,)) for path in ("a/b/N.md", "a/N.md", "c/N.md")])
    assert without.resolve("N", "a/b/x.md") == without.target("a/b/N.md")
    assert without.resolve("N", "c/x.md") == without.target("c/N.md")


def test_names_of_documents() -> None:
    note = parse_markdown("tea/Oolong.md", "tea/Oolong.md", "---\ntitle: Blue tea\naliases: [乌龙茶]\n---\nx")
    assert document_names(note) == ("Blue tea", "乌龙茶", "Oolong")
    record = Document("r", "corpus.jsonl", "Anna", "x", "record", ())
    assert document_names(record) == ("Anna",)
    assert document_names(Document("r", "corpus.jsonl", "", "x", "record", ())) == ("r",)


def test_changed_names() -> None:
    old = {"a.md": ("Tea house", "茶馆"), "b.md": ("Anna Lee (actress)",), "c.md": ("Same",)}
    assert changed_names(old, old) == frozenset()
    assert changed_names({}, {"a.md": ("Tea house",)}) == {"Tea house"}
    assert changed_names(old, {**old, "a.md": ("Tea house",)}) == {"茶馆"}
    renamed = {"a.md": ("Tea room", "茶馆"), "b.md": old["b.md"], "c.md": old["c.md"]}
    assert changed_names(old, renamed) == {"Tea house", "Tea room", "茶馆"}
    assert changed_names({"b.md": old["b.md"]}, {}) == {"Anna Lee (actress)", "Anna Lee"}
    moved = {"a.md": old["a.md"], "b.md": old["b.md"], "x/c.md": ("Same",)}
    assert changed_names(old, moved) == {"Same"}


@pytest.mark.parametrize(
    ("text", "is_mentioned"),
    [
        ("in the TEA  HOUSE", True),
        ("老舍的《茶馆》", True),
        ("Cafe\u0301 noir", True),
        ("[x](Tea%20house.md)", True),
        ("[[folder/Tea house|there]]", True),
        ("a link to [[🙂]]", True),
        ("[x](%F0%9F%99%82.md)", True),
        ("a link to [[☹]]", False),
        ("a teahouse", False),
        ("", False),
    ],
)
def test_mentions_any(text: str, is_mentioned: bool) -> None:
    assert mentions_any(text, frozenset({"Tea house", "茶馆", "Café Noir", "🙂"})) is is_mentioned
    assert not mentions_any(text, frozenset())


_NAMES = st.lists(
    st.one_of(
        st.text(alphabet="abAB 一茶-'.()", min_size=1, max_size=12),
        st.sampled_from(["Green tea", "乌龙茶", "Anna Lee (x)"]),
    ),
    max_size=6,
)


@given(_NAMES, st.text(alphabet="abAB 一茶-'.()\nGretnLd乌龙", max_size=80))
def test_mentions_are_in_order_and_never_missed_by_the_quick_test(names: list[str], text: str) -> None:
    index = TitleIndex([(f"{number}.md", (name,)) for number, name in enumerate(names)])
    matches = index.mentions(text)
    end = 0
    for match in matches:
        assert end <= match.start < match.end <= len(text)
        assert match.targets
        end = match.end
    if matches:
        assert mentions_any(text, changed_names({}, {str(n): (name,) for n, name in enumerate(names)}))
    assert index.mentions(text) == matches


def test_sixteen_thousand_names_are_quick() -> None:
    index = TitleIndex([(f"{n}", (f"Title number {n}", f"茶{n}号")) for n in range(16_000)])
    text = "The Title number 77 and 茶88号 are in this paragraph of a few words about nothing at all. " * 5
    began = time.process_time()
    for _ in range(300):
        assert len(index.mentions(text)) == 10
    assert time.process_time() - began < 1.2  # 15,000 in a minute


@given(
    text=st.text(alphabet="aA éÉßſ①ﬁ́가각한茶カー-_.[]%20'", max_size=30),
    names=st.frozensets(st.text(alphabet="aAéßſﬁ가茶カ ", min_size=1, max_size=4), min_size=1, max_size=3),
)
def test_looking_for_first_words_finds_all_that_taking_the_text_apart_finds(
    text: str, names: frozenset[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(names_module, "FEW_WORDS", -1)
        expected = mentions_any(text, names)
    assert mentions_any(text, names) == expected


def test_no_whole_text_is_kept() -> None:
    names = frozenset({"Gyokuro"})
    mentions_any("words of a name are kept", names)
    kept = names_module._normal.cache_info().currsize
    assert not mentions_any("a long note about rivers and boats", names)
    assert names_module._normal.cache_info().currsize == kept


def test_many_names_without_words_cost_one_reading_of_a_text() -> None:
    names = frozenset(chr(0x1F300 + n) for n in range(500))
    text = "Tee für alle und mehr. " * 1000
    assert not mentions_any(text, names)
    began = time.process_time()
    assert not mentions_any(text, names)
    assert time.process_time() - began < 0.1
