"""Which names that a chat model extracted are one entity without asking it: those written alike, sign for sign.

Graphiti compares Latin letters and digits alone, and nine tenths of a name suffice: it merges 1.12 with 11.2, −10 °C
with 10 °C, a report of 2023 with that of 2024. Here names that are not written alike go to the model, as the names do
that Graphiti is in doubt about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import regex

from agentic_rag.domain.identity import entity_key
from agentic_rag.text import CJK

_SIGNS = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—−", "-"),
        **dict.fromkeys("‘’ʼ′", "'"),
        **dict.fromkeys("“”„", '"'),
        **dict.fromkeys("•‧・⋅∙", "·"),
    }
)
_INVISIBLE = regex.compile(r"\p{Cf}+")
_DIGIT_BOUNDARY = regex.compile(r"(?<=\w)(?=[²³¹\u2070-\u207f])|(?<=\p{Nd})(?=\p{No})|(?<=\p{No})(?=\p{Nd})")
"""Where NFKC would run a power into its base: it makes 105 of 10⁵, and 10-5 of 10⁻⁵."""
_IDLE_SPACE = re.compile(r"(?<!\w) | (?!\w)")
_CJK_SPACE = regex.compile(rf"(?<=[{CJK}]) | (?=[{CJK}])")


def spelling(name: str) -> str:
    """The form in which names are compared: ``entity_key``, in one form of dashes, quotes and middle dots, without
    invisible characters and without spaces that part no words or numbers.

    >>> spelling("王芳 （北京）") == spelling("王芳(北京)"), spelling("Levi’s") == spelling("levi's")
    (True, True)
    >>> spelling("C++") == spelling("C#"), spelling("10⁵ cells") == spelling("105 cells")
    (False, False)
    """
    visible = _DIGIT_BOUNDARY.sub("^", _INVISIBLE.sub("", name))
    return str(_CJK_SPACE.sub("", _IDLE_SPACE.sub("", entity_key(visible).translate(_SIGNS))))


def merge_same_spelling(extracted_nodes: Sequence[Any], indexes: Any, state: Any) -> None:
    """In place of Graphiti's ``_resolve_with_similarity``: each extracted node becomes the one stored node of its
    spelling; where none or several have it, the model is asked.

    Of several the one written exactly so is taken. Writes ``state``, as Graphiti's own does.
    """
    for place, node in enumerate(extracted_nodes):
        same = [known for known in indexes.existing_nodes if spelling(known.name) == spelling(node.name)]
        same = [known for known in same if known.name == node.name] or same
        if len(same) != 1:
            state.unresolved_indices.append(place)
            continue
        state.resolved_nodes[place] = same[0]
        state.uuid_map[node.uuid] = same[0].uuid
        if same[0].uuid != node.uuid:
            state.duplicate_pairs.append((node, same[0]))
