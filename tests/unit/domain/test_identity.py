"""Names that mean the same everywhere: injective, stable, in any script."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agentic_rag.domain.identity import (
    chunk_id,
    dataset_name,
    digest,
    entity_key,
    entity_uuid,
    episode_uuid,
    fact_uuid,
    group_id,
    mention_uuid,
)
from agentic_rag.errors import InputError

NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=120
).filter(lambda name: bool(name.strip()))


def test_a_plain_name_stays():
    assert group_id("notes") == "notes"
    assert group_id("LoCoMo-26") == "LoCoMo-26"


def test_another_name_is_its_bytes_in_hex():
    assert group_id("笔记") == "u_" + "笔记".encode().hex()
    assert group_id("a_b") == "u_" + b"a_b".hex()
    assert group_id("-x") == "u_" + b"-x".hex()


def test_a_long_name_is_a_digest():
    assert group_id("笔" * 16) == "u_d" + digest("笔" * 16, size=23)
    assert group_id("笔" * 15) == "u_" + ("笔" * 15).encode().hex()
    assert group_id("x" * 96) == "x" * 96
    assert group_id("x" * 97) != group_id("x" * 98)


def test_however_it_is_composed_it_is_one_name():
    assert group_id("cafe\u0301") == group_id("café")
    assert dataset_name("cafe\u0301") == "café"


@pytest.mark.parametrize("name", ["", "  ", "\n", "a\0", "\ud800", 5, None])
def test_what_is_no_name(name: Any):
    with pytest.raises(InputError, match="dataset needs a name"):
        group_id(name)


@settings(max_examples=200)
@given(NAMES, NAMES)
def test_group_ids_are_injective_and_safe(one: str, other: str):
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,98}", group_id(one))
    assume(dataset_name(one) != dataset_name(other))
    assert group_id(one) != group_id(other)


def test_the_group_id_of_a_group_id_is_another():
    """So nobody can name a dataset like another one's table."""
    assert group_id(group_id("笔记")) != group_id("笔记")


def test_digests_keep_their_parts_apart():
    assert digest("ab", "c") != digest("a", "bc") != digest("abc")
    assert digest("\ud800") != digest("\ud801")
    assert len(digest("a")) == 2 * 16
    assert len(digest("a", size=6)) == 2 * 6


def test_uuids_are_stable_and_differ_by_kind_and_dataset():
    uuids = {
        episode_uuid("notes", "a"),
        episode_uuid("other", "a"),
        entity_uuid("notes", "a"),
        mention_uuid("notes", "a", "b"),
        mention_uuid("notes", "b", "a"),
        fact_uuid("notes", "c", "a", "LINKS_TO", "b", "text"),
        fact_uuid("notes", "c", "a", "LINKS_TO", "b", "other text"),
        fact_uuid("notes", "c", "b", "LINKS_TO", "a", "text"),
    }
    assert len(uuids) == 8
    assert episode_uuid("notes", "a") == episode_uuid("notes", "a")
    assert all(
        re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", one) for one in uuids
    )


def test_names_of_one_thing_have_one_key():
    assert entity_key("Oolong  Tea\n") == entity_key("oolong tea") == "oolong tea"
    assert entity_key("ＡＢＣ") == "abc"
    assert entity_key("Straße") == "strasse"
    assert entity_key("茶") != entity_key("茶叶")


def test_chunk_ids_name_their_document():
    assert chunk_id("tea.md", "1") == "tea.md#1"
