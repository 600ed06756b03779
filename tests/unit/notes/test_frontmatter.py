"""Frontmatter: YAML as Obsidian reads it, made safe for JSON, and never an exception."""

from __future__ import annotations

import json

import pytest

from agentic_rag.notes.frontmatter import read_frontmatter


def values(yaml: str) -> dict[str, object]:
    return read_frontmatter(f"---\n{yaml}\n---\n").values


def test_where_it_ends() -> None:
    assert read_frontmatter("---\na: 1\n---\nbody").end == len("---\na: 1\n---")
    assert read_frontmatter("--- \r\na: 1\r\n---  \r\nbody").values == {"a": 1}
    assert read_frontmatter("---\ra: 1\r---\rbody").values == {"a": 1}
    assert read_frontmatter("---\n---\n").end == 7
    assert read_frontmatter("---\na: |\n  ---\n  x\n---\n").values == {"a": "---\nx\n"}


@pytest.mark.parametrize(
    "text",
    ["", "---", "---\n", "---\nno end", "text\n---\na: 1\n---\n", " ---\na: 1\n---\n", "----\na: 1\n----\n"],
)
def test_no_frontmatter(text: str) -> None:
    assert read_frontmatter(text).end == 0


def test_scalars_as_obsidian_reads_them() -> None:
    read = values(
        "a: yes\nb: 12:30\nc: true\nd: 1e3\ne: 007\nf: 0x10\ng: 2023-09-12\nh: 2023-13-45\ni:\nj: <<\nk: 1_000"
    )
    assert read == {
        "a": "yes", "b": "12:30", "c": True, "d": 1000.0, "e": 7, "f": 16, "g": "2023-09-12", "h": "2023-13-45",
        "i": None, "j": "<<", "k": "1_000",
    }  # fmt: skip


def test_values_are_json() -> None:
    read = values(
        "a: .nan\nb: [1, .inf, {c: 2023-01-01 10:00:00}]\n2: x\ntrue: y\n2023-01-01: z\nd: !!binary aGk="
    )
    assert read == {
        "b": [1, {"c": "2023-01-01T10:00:00"}], "2": "x", "true": "y", "2023-01-01": "z",
    }  # fmt: skip
    json.dumps(read, allow_nan=False).encode("utf-8")


def test_unquoted_wikilinks_are_what_was_written() -> None:
    assert values("a: [[Ann]]\nb:\n  - [[B]]\n  - c") == {"a": "[[Ann]]", "b": ["[[B]]", "c"]}


def test_links_stand_under_their_key() -> None:
    links = read_frontmatter(
        '---\nauthor: "[[Ann|A]]"\ngenre:\n  - "[[Jazz]]"\n# no [[comment]]\n"the key": [[X]]\n---\n'
    ).links
    assert [(link.target, link.relation) for link in links] == [
        ("Ann", "author"),
        ("Jazz", "genre"),
        ("X", "the key"),
    ]


@pytest.mark.parametrize(
    "yaml",
    [
        "a: {{b}}",
        "a: 'unclosed",
        "a: b: c",
        "\tx: 1",
        "a: !!python/object:os.system x",
        "a: &a [*a]",
        "a: " + "[" * 100_000,
        "- " * 100_000 + "x",
        "{a: " * 50_000,
        "a: \x07",
        "a: &a [1,1,1,1,1,1,1,1,1]\n" + "\n".join(f"{n}: &{n} [{','.join(['*' + p] * 9)}]" for p, n in zip("abcdefgh", "bcdefghi", strict=True)),
    ],
)  # fmt: skip
def test_broken_hostile_or_endless_yaml_is_a_warning(yaml: str) -> None:
    front = read_frontmatter(f"---\n{yaml}\n---\n")
    assert front.values == {}
    assert len(front.warnings) == 1
    assert front.end > 0


def test_a_warning_names_the_line_of_the_file() -> None:
    (warning,) = read_frontmatter("---\na: 1\nb: 'x\n---\n").warnings
    assert "line " in warning


@pytest.mark.parametrize("yaml", ["- a\n- b", "just text", "42"])
def test_no_mapping_is_a_warning(yaml: str) -> None:
    front = read_frontmatter(f"---\n{yaml}\n---\n")
    assert (front.values, len(front.warnings)) == ({}, 1)


def test_an_integer_of_any_length_does_not_fail() -> None:
    assert values("a: " + "9" * 5000)["a"] == "9" * 5000


@pytest.mark.parametrize(
    ("yaml", "told"),
    [
        ("tags: [a]\ndate: {{date}}", "line 3: found unhashable key (put a value in braces"),
        ("title: One: two", "(put a value that holds a colon in quotes)"),
        ("tags:\n\t- a", "(indent with spaces, not with a tab"),
        ("who: @ann", "begins with @"),
    ],
)
def test_what_mends_broken_yaml_is_told(yaml: str, told: str) -> None:
    (warning,) = read_frontmatter(f"---\n{yaml}\n---\n").warnings
    assert told in warning
