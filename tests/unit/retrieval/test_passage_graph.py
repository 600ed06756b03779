"""The walk: second hops are reached, restrictions hold during the walk, the same graph gives the same visits."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.domain.identity import entity_key
from agentic_rag.domain.ports import GraphLinks
from agentic_rag.retrieval import passage_graph
from agentic_rag.retrieval.entity_names import EntityNames, HashedPlaces
from agentic_rag.retrieval.passage_graph import PassageGraph

MENTIONS = {
    "film": ["Film", "Director"],
    "director": ["Director", "Town"],
    "town": ["Town", "River"],
    "other": ["Elsewhere"],
    "more": ["Elsewhere", "Stranger"],
}
"""Chunk to the entities it mentions; the first is its own."""
DATES = {"director": datetime(2024, 6, 1, tzinfo=UTC)}


def links(mentions: dict[str, list[str]] = MENTIONS, label: str = "Note") -> GraphLinks:
    names = sorted({name for found in mentions.values() for name in found})
    pairs = sorted((c, names.index(name)) for c, found in enumerate(mentions.values()) for name in found)
    mentioning, mentioned = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    dates = [DATES[c].replace(tzinfo=None) if c in DATES else None for c in mentions]
    return GraphLinks(
        chunk_ids=list(mentions),
        documents=np.arange(len(mentions), dtype=np.int32),
        titles=[found[0] for found in mentions.values()],
        aliases=[("Movie",) if found[0] == "Film" else () for found in mentions.values()],
        dates=np.array(dates, dtype="datetime64[us]"),
        names=names,
        labels=[("Thing",) if name == "Thelma" else (label,) for name in names],
        mentioning=mentioning,
        mentioned_entities=mentioned,
    )


GRAPH = PassageGraph(links())


def visits(
    question: str = "Who made Film?", found: dict[str, float] | None = None, **options: object
) -> dict[str, float]:
    return GRAPH.visits(started(GRAPH, question), found or {}, **{"limit": 10, **options})  # type: ignore[arg-type]


def started(graph: PassageGraph, question: str) -> dict[int, float]:
    """Where a walk for a question starts that names something: by rarity."""
    return graph.rarity(graph.named_in(question))


def place(name: str) -> int:
    (found,) = GRAPH.places([name])
    assert found is not None
    return found


def test_hops_fall_off_with_their_distance():
    reached = visits()
    assert list(reached) == ["film", "director", "town"]
    assert reached["film"] == 1.0
    assert 1.0 > reached["director"] > reached["town"] > 0.0


def test_a_walk_starts_at_what_an_alias_names():
    assert visits("Who made the Movie?") == visits("Who made Film?")


def test_the_walk_starts_at_what_was_found_too():
    assert "other" not in visits()
    with_found = visits(found={"more": 0.9, "gone": 1.0})
    assert with_found["more"] > with_found["other"] > 0


def test_a_question_that_names_nothing_with_a_place_names_nothing():
    assert GRAPH.named_in("Who was it?") == []
    assert PassageGraph(links(label="Thing")).named_in("Who made Film?") == []


@pytest.mark.parametrize(
    ("mentions", "leads"),
    [
        ({"one": ["Water"], "two": ["Warm"]}, False),
        ({"one": ["Water", "Thelma"], "two": ["Warm"]}, False),
        ({"one": ["Water"], "two": ["Warm", "Water"]}, True),
        ({"one": ["Water", "Anna"], "two": ["Warm", "Anna"]}, True),
        ({"one": ["Water", "Warm"], "two": ["Warm"]}, True),
        ({"one": ["Water", "Well"], "two": ["Warm"]}, True),
    ],
    ids=["alone", "a name of its own", "mentioned", "a name of both", "mentions another", "links to a note"],
)
def test_what_stands_alone_leads_nowhere(mentions: dict[str, list[str]], leads: bool):
    graph = PassageGraph(links(mentions))
    assert graph.leads_on(graph.named_in("Is Water clear?")) is leads


def test_a_number_is_named_where_another_document_mentions_what_is_called_so():
    numbers = {"one": ["17", "Anna"], "two": ["18", "Anna"], "three": ["Hall", "18"]}
    graph = PassageGraph(links(numbers))
    assert graph.named_in("What costs 17?") == []
    assert graph.names(graph.named_in("What costs 18?")) == ["18"]


def test_a_document_without_a_title_is_called_by_its_id():
    untitled = replace(links({"17#0": ["17", "Anna"], "18#0": ["18", "Anna"]}), titles=["", ""])
    assert PassageGraph(untitled).named_in("What costs 17?") == []


def test_the_walk_leans_to_where_more_of_it_starts():
    film, elsewhere = place("Film"), place("Elsewhere")
    near, far = (GRAPH.visits({film: weight, elsewhere: 1.0}, {}, limit=10)["film"] for weight in (0.5, 0.05))
    assert near > far


@given(
    st.dictionaries(st.integers(0, 5), st.floats(0.01, 10.0), min_size=1),
    st.dictionaries(st.sampled_from([*MENTIONS, "gone"]), st.floats(0.0, 1.0)),
    st.integers(1, 6),
    st.floats(0.01, 100.0),
)
def test_visits_are_shares_of_the_most_and_weights_count_by_their_proportion(
    entities: dict[int, float], found: dict[str, float], limit: int, times: float
):
    reached = GRAPH.visits(entities, found, limit=limit)
    shares = list(reached.values())
    assert 0 < len(shares) <= limit
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == 1.0
    assert shares[-1] > 0.0
    scaled = GRAPH.visits({n: times * weight for n, weight in entities.items()}, found, limit=10)
    assert scaled == pytest.approx(GRAPH.visits(entities, found, limit=10))


def test_passages_start_a_walk_by_the_square_of_their_relevance():
    apart = PassageGraph(links({name.lower(): [name] for name in ("Alone", "Apart", "Asked")}))
    reached = apart.visits(started(apart, "Asked"), {"alone": 0.9, "apart": 0.3}, limit=10)
    assert reached["alone"] / reached["apart"] == pytest.approx(9.0)
    assert reached["asked"] == 1.0


def test_rarity_is_the_logarithm_of_one_and_passages_for_each_that_mentions():
    told = GRAPH.rarity([place("Film"), place("Town")])
    assert told == pytest.approx({place("Film"): math.log(1 + 5 / 1), place("Town"): math.log(1 + 5 / 2)})


def test_the_rarest_that_has_a_place_says_how_telling_a_question_is():
    assert GRAPH.specificity([place("Film")]) == GRAPH.specificity([place("Film"), place("Town")]) == 1.0
    assert GRAPH.specificity([place("Town")]) == pytest.approx(math.log(1 + 5 / 2) / math.log(1 + 5))


def test_a_name_without_a_place_makes_no_question_more_telling():
    unplaced = links()
    labels = [("Thing",) if name == "Film" else ("Note",) for name in unplaced.names]
    graph = PassageGraph(replace(unplaced, labels=labels))
    named = graph.named_in("Did Film play in Town?")
    assert graph.names(named) == ["Film", "Town"]
    assert graph.specificity(named) == graph.specificity([place("Town")]) < 1.0


def test_places_are_found_by_names_however_they_are_written():
    assert GRAPH.places(["FILM", None, "Nowhere", "town"]) == [place("Film"), place("Town")]


def test_what_a_passage_mentions_of_what_was_asked():
    asked = [place("Town"), place("Director"), place("Film")]
    assert GRAPH.mentioned_in(["director", "more"], asked) == {"director": ["Director", "Town"], "more": []}


def test_the_walk_does_not_pass_through_what_may_not_be_seen():
    assert list(visits(within=["film", "town"])) == ["film"]
    assert list(visits(as_of=datetime(2024, 5, 31, tzinfo=UTC))) == ["film"]
    assert list(visits(as_of=datetime(2024, 6, 1, tzinfo=UTC))) == ["film", "director", "town"]
    assert visits(within=[]) == {}


def test_limit_keeps_the_most_visited():
    assert list(visits(limit=2)) == ["film", "director"]


def test_a_note_is_tied_more_to_its_own_passages_than_to_those_that_mention_it(
    monkeypatch: pytest.MonkeyPatch,
):
    shares = []
    for weight in (1.0, passage_graph.OWN_WEIGHT, 2 * passage_graph.OWN_WEIGHT):
        monkeypatch.setattr(passage_graph, "OWN_WEIGHT", weight)
        graph = PassageGraph(links())
        reached = graph.visits(started(graph, "Where is Town?"), {}, limit=10)
        shares.append(reached["town"] / reached["director"])
    assert shares[0] < shares[1] < shares[2]


def test_a_name_that_everyone_mentions_says_less():
    crowd = {f"turn{n}": ["Anna"] for n in range(20)} | {"note": ["Rare", "Anna"]}
    graph = PassageGraph(links(crowd))
    anna, rare = (graph.visits(started(graph, name), {}, limit=50) for name in ("Anna", "Rare"))
    assert min(anna.values()) > min(rare.values())


def test_picking_out_and_multiplying_give_the_same(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(3)
    many = {
        f"c{n}": [f"E{n % 40}", *(f"E{k}" for k in rng.integers(0, 40, 3) if k != n % 40)] for n in range(200)
    }
    many = {chunk: list(dict.fromkeys(names)) for chunk, names in many.items()}
    graph = PassageGraph(links(many))
    starts = started(graph, "E7 and E9"), {"c3": 0.8, "c9": 0.4}
    monkeypatch.setattr(passage_graph, "FEW", 1.0)
    picked = graph.visits(*starts, limit=200)
    monkeypatch.setattr(passage_graph, "FEW", -1.0)
    multiplied = graph.visits(*starts, limit=200)
    for chunk, share in multiplied.items():
        assert picked.get(chunk, 0.0) == pytest.approx(share, abs=1e-3)


def test_an_empty_graph_has_nothing_to_visit():
    empty = PassageGraph(links({}))
    assert empty.named_in("Film") == []


NAMES = (
    ("Da Hong Pao", "Note"),
    ("Hong", "Thing"),
    ("Oolong", "Note"),
    ("Green", "Thing"),
    ("乌龙茶", "Note"),
    ("茶", "Note"),
    ("Mercury (planet)", "Note"),
    ("Mercury (element)", "Note"),
    ("The", "Note"),
    ("1984", "Note"),
    ("Tea", "Note"),
    ("Anna Lee", "Person"),
    ("Python", "Note"),
)
LABELS = [("Entity", label) for _, label in NAMES]


def _entity_names(
    names: list[str], labels: list[tuple[str, str]], aliases: dict[str, list[str]] | None = None
) -> EntityNames:
    return EntityNames(names, list(map(entity_key, names)), labels, aliases)


FOUND = _entity_names([name for name, _ in NAMES], LABELS)


def named(question: str) -> list[str]:
    return [NAMES[place][0] for place in FOUND.named_in(question)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where does Da Hong Pao grow?", ["Da Hong Pao"]),
        ("where does da hong pao grow?", ["Da Hong Pao"]),
        ("is oolong roasted?", ["Oolong"]),
        ("which green leaves?", []),
        ("Who is Mr Green?", ["Green"]),
        ("乌龙茶怎么泡", ["乌龙茶"]),
        ("茶怎么泡", []),
        ("Python怎么用", ["Python"]),
        ("在1984里说了什么", ["1984"]),
        ("How far is Mercury?", ["Mercury (planet)", "Mercury (element)"]),
        ("the tea", []),
        ("Anna Lee's garden", ["Anna Lee"]),
        ("Anna Lee’s garden", ["Anna Lee"]),
        ("What is said in 1984?", ["1984"]),
        ("ＯＯＬＯＮＧ?", ["Oolong"]),
        ("", []),
        ("?!", []),
    ],
)
def test_names_in_questions(question: str, expected: list[str]):
    assert named(question) == expected


def test_only_what_has_a_place_of_its_own_is_placed():
    placed = {name for place, (name, _) in enumerate(NAMES) if FOUND.is_placed(place)}
    assert placed == {name for name, label in NAMES if label != "Thing"}


@given(st.text(max_size=80))
def test_any_question_is_accepted(question: str):
    places = FOUND.named_in(question)
    assert places == sorted(set(places))


def test_a_note_is_named_by_its_aliases_in_any_script():
    names = [name for name, _ in NAMES]
    found = _entity_names(
        names, LABELS, {"oolong": ["青茶", "Wu Long"], "da hong pao": ["青茶"], "gone": ["Gone"]}
    )

    def named(question: str) -> list[str]:
        return [NAMES[place][0] for place in found.named_in(question)]

    assert named("is wu long roasted?") == ["Oolong"]
    assert named("青茶和绿茶") == ["Da Hong Pao", "Oolong"]
    assert named("is oolong roasted?") == ["Oolong"]
    assert named("Gone?") == []


def test_places_of_texts() -> None:
    texts = ["tea", "milk", "tea", "茶"]
    places = HashedPlaces(texts, texts.__getitem__)
    assert [places.first(text) for text in ("tea", "milk", "茶", "coffee")] == [0, 1, 3, -1]
    assert list(places.every("tea")) == [0, 2]
    assert HashedPlaces(["tea"], lambda _: "another of the same hash").first("tea") == -1
