"""Org files: what of them a note has, in the shapes in which Emacs writes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.ingest.files.discovery import discover
from agentic_rag.notes.catalogue import note_of
from agentic_rag_readers.formats.org_files import org_text
from growth import assert_linear

HOUSE = r"""#+TITLE: The house
#+FILETAGS: :home:mill:
#+STARTUP: overview
Intro, see [[file:boiler.org][the boiler]] and [[https://example.org][a site]].

* Repairs                                                   :work:
:PROPERTIES:
:CUSTOM_ID: rep
:COST:     250
:END:
Begun [2024-03-05 Tue 10:20] with *care*.
** TODO [#A] Call the plumber                               :phone:
DEADLINE: <2024-03-07 Thu> SCHEDULED: <2024-03-06 Wed 09:00 +1w>
:LOGBOOK:
CLOCK: [2024-03-05 Tue 10:00]--[2024-03-05 Tue 11:00] =>  1:00
:END:
Ask for the price.
** DONE Paint the gate
CLOSED: [2024-03-01 Fri 12:00]
** Notes
- [X] nails
- valve :: opens at 40 bar
# a comment
| part | price |
|------+-------|
| pump |   300 |
Below.
#+BEGIN_SRC python
,* stars
x = 1
#+END_SRC
* TODO Project
** WAITING Step one
"""
WRITTEN = """---
title: The house
tags:
- home
- mill
---
Intro, see [[boiler|the boiler]] and [a site](https://example.org).


# Repairs

#work
cost:: 250
Begun 2024-03-05 10:20 with **care**.
- [ ] Call the plumber #phone [due:: 2024-03-07] [scheduled:: 2024-03-06]

  Ask for the price.
- [x] Paint the gate [closed:: 2024-03-01]

## Notes

- [x] nails
- **valve**: opens at 40 bar

| part | price |
| --- | --- |
| pump |   300 |

Below.
```python
* stars
x = 1
```

# Project

- [ ] Project
- [ ] Step one
"""


def test_an_org_file_is_a_note(tmp_path: Path) -> None:
    assert org_text(HOUSE) == WRITTEN
    (tmp_path / "house.org").write_text(HOUSE, encoding="utf-8")
    (item,) = discover([tmp_path]).items
    document = item.parse()
    assert (document.title, document.text) == ("The house", WRITTEN)
    assert document.tags == ("home", "mill", "work", "phone")
    note = note_of(document)
    tasks = [(row.state, row.text) for row in note.rows if row.kind == "task"]
    assert tasks == [
        (" ", "Call the plumber #phone"), ("x", "Paint the gate"), ("x", "nails"), (" ", "Project"), (" ", "Step one"),
    ]  # fmt: skip
    assert [(f.key, f.value) for f in note.rows[0].fields] == [
        ("due", "2024-03-07"),
        ("scheduled", "2024-03-06"),
    ]
    assert note.links == ("boiler",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":PROPERTIES:\n:ID: 3f\n:ROAM_ALIASES: \"big mill\" mill\n:END:\n#+title: Mill\nText\n", "---\ntitle: Mill\naliases:\n- big mill\n- mill\n---\nText\n"),
        ("#+TODO: OPEN | SHUT\n* OPEN a\n* SHUT b\n* TODO c\n", "- [ ] a\n- [x] b\n- [ ] c\n"),
        (":not a drawer:\n:name:\nText\n", ":not a drawer:\n:name:\nText\n"),
        ("#+BEGIN_QUOTE\nWell.\n#+END_QUOTE\nText\n", "> Well.\n\nText\n"),
        ("[[id:1-2][Mill]] =a*b= 2*3*4 [[file:a b.pdf]]\n", "[[Mill]] `a*b` 2*3*4 [a b.pdf](a%20b.pdf)\n"),
        ("10^{6} g of H_{2}O\\\\\nnext\n", "10^6 g of H₂O\nnext\n"),
        ("\\(x^{2}\\) $y_{1}$ =z_{1}=\n", "\\(x^{2}\\) $y_{1}$ `z_{1}`\n"),
        ("#+CAPTION: Yield of *honey*\n| a | b |\n", "\nYield of **honey**\n\n\n| a | b |\n| --- | --- |\n"),
        ("It stays.[fn:1]\n\n[fn:1] Until March.\n", "It stays.[^1]\n\n[^1]: Until March.\n"),
        ("Paid.[fn:: By [[id:1][Ann]].] Then[fn:b:twice] more.\n", "Paid (By [[Ann]]). Then (twice) more.\n"),
        ("", "\n"),
    ],
)  # fmt: skip
def test_small_shapes(text: str, expected: str) -> None:
    assert org_text(text) == expected


@given(st.text(alphabet="*#+:|[]<>-= \nTODOBEGIN_SRCaé", max_size=200))
def test_any_text_is_read_and_what_is_under_the_next_heading(text: str) -> None:
    assert org_text(f"{text}\n* Heading\nplain words\n").endswith("\n# Heading\n\nplain words\n")


@pytest.mark.parametrize(
    "piece",
    [
        ":a:\n",
        "* TODO a\n",
        "| a | b |\n",
        "*a ",
        "[[a][",
        "#+BEGIN_SRC\n",
        "- a :: b\n",
        "[fn:a:",
        "\\\\(a",
        "a^{b",
    ],
)
def test_reading_takes_linear_time(piece: str) -> None:
    assert_linear(org_text, piece)
