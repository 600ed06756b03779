"""Answers that are steps: an ordered list, the longest list of a section, or sections with numbered headings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.answering.evidence import Candidate
from agentic_rag.answering.forms.lines import (
    NEAR,
    ComposedAnswer,
    Line,
    block_of,
    clear_terms,
    line_of,
    stripped_span,
)
from agentic_rag.answering.source_notes import SourceNote
from agentic_rag.notes.units import LIST_KINDS, Unit
from agentic_rag.questions.question import Question
from agentic_rag.questions.terms import MAKING
from agentic_rag.text import tokens

_LIST_NUMBER = re.compile(
    r"^(?:(?:step|schritt)\s*)?\d{1,2}[.):：、]?\s|^第?[一二三四五六七八九十]+[、.步]", re.IGNORECASE
)


def steps(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The steps of the best note, in order: an ordered list, the longest list of its best section, or the sections
    whose headings are numbered."""
    if question.form != "howto":
        return None
    best = candidates[0]
    own = clear_terms(best.own)
    names_asked = best.unit.key is not None and not own.isdisjoint(tokens(best.unit.key))
    if len(own) == len(question.terms) and names_asked:
        return ComposedAnswer((line_of(best.unit, best.note),), (best,))
    note = best.note
    blocks = _blocks(note, [one for one in candidates if one.note is note])
    headed = _numbered_sections(candidates, note)
    if headed is not None and (not blocks or headed[0] >= blocks[0][0]):
        return ComposedAnswer(headed[1], (best,))
    if not blocks or blocks[0][0] <= 0:
        return None
    _, units = blocks[0]
    units = _of_instructions(note, units)
    leads_in = (
        not best.unit.parents
        and best.unit.headings == units[0].headings
        and best.unit.block + 1 == units[0].block
    )
    is_led_in = leads_in and all(unit.kind == "step" for unit in units)
    is_apt = is_led_in or _is_called_steps(question, units, candidates, note)
    if best.unit not in units and not is_apt and not _covers(question, units, best, candidates):
        return None
    first = next(one for one in candidates if one.note is note and one.unit in units)
    return ComposedAnswer(block_of(units, note, _number_texts(units)), (first, best))


def _is_called_steps(
    question: Question, units: Sequence[Unit], candidates: Sequence[Candidate], note: SourceNote
) -> bool:
    """Whether a list stands below a heading of instructions, and what is above it speaks of half of the question."""
    if _INSTRUCTIONS.search(" ".join(units[0].headings[-1:])) is None:
        return False
    of_list = (one for one in candidates if one.note is note and one.unit in units)
    spoken = {term for one in of_list for term in clear_terms(one.near) | clear_terms(one.above)}
    asked = question.specific_tokens
    return 2 * len(spoken.intersection(asked)) >= len(asked)


def _covers(
    question: Question, units: Sequence[Unit], best: Candidate, candidates: Sequence[Candidate]
) -> bool:
    """Whether a list speaks of all that the best unit says itself, or its label does: else that unit is to the point, and
    not the list."""
    if best.unit.kind in ("row", "property"):  # no instruction, unless it alone has a name that is asked for
        names = {term.token for term in question.terms if term.is_name} & clear_terms(best.own)
        of_units = (one for one in candidates if one.note is best.note and one.unit in units)
        return names <= set().union(*(clear_terms(one.own) | clear_terms(one.near) for one in of_units))
    of_list = [one for one in candidates if one.note is best.note and one.unit in units]
    if best.nearness and max((one.total for one in of_list), default=0.0) >= best.total - NEAR:
        return True
    beside = (unit for unit in best.note.reading.units if unit.headings == best.unit.headings)
    is_code = any(unit.kind == "code" for unit in beside)  # its own heading says what it does
    is_labelled = best.unit.kind == "sentence" and bool(best.unit.parents)
    named = clear_terms(best.near) if is_code or is_labelled else set()
    wanted = (clear_terms(best.own) | named) - clear_terms(best.above) - _MAKING
    spoken: set[str] = set()
    for one in of_list:
        spoken |= clear_terms(one.own) | clear_terms(one.near)
    return wanted <= spoken


def _blocks(note: SourceNote, candidates: Sequence[Candidate]) -> list[tuple[float, list[Unit]]]:
    """Lists of a note by how well they fit as steps, best first."""
    matches = {(one.unit.start, one.unit.end): one for one in candidates}
    groups: dict[int, list[Unit]] = {}
    for unit in note.reading.units:
        if unit.kind in LIST_KINDS:
            groups.setdefault(unit.block, []).append(unit)
    ranked = []
    for block, units in groups.items():
        of_it = [matches[unit.start, unit.end] for unit in units if (unit.start, unit.end) in matches]
        if len(units) < 2 or not of_it:
            continue
        above = max(len(clear_terms(one.near) - _MAKING) for one in of_it)
        inside = len(set().union(*(clear_terms(one.own) for one in of_it)) - _MAKING)
        ordered = sum(unit.kind == "step" for unit in units) / len(units)
        place = " ".join((*units[0].headings[1:], units[0].lead or "")) or " ".join(units[0].headings)
        named = bool(_INSTRUCTIONS.search(place)) - bool(_MATERIALS.search(place))
        verbs = sum(len(unit.text) > 25 or unit.text[:1].isupper() for unit in units) / len(units)
        ranked.append(
            (
                2.0 * above + 0.5 * inside + 1.5 * ordered + 2.0 * named + verbs + 0.02 * min(len(units), 20),
                -block,
                units,
            )
        )
    return [(value, units) for value, _, units in sorted(ranked, key=lambda one: one[:2], reverse=True)]


_MATERIALS = re.compile(
    r"ingredients?|materials?|tools?|you need|shopping|原料|材料|食材|配料|用料|工具|计算|zutaten",
    re.IGNORECASE,
)


def _of_instructions(note: SourceNote, units: Sequence[Unit]) -> list[Unit]:
    """The list, with the other lists below the heading of instructions that it stands under."""
    headings = units[0].headings
    for depth in range(1, len(headings)):
        if _INSTRUCTIONS.search(headings[depth - 1]) and depth > 1:
            path = headings[:depth]
            return [u for u in note.reading.units if u.headings[:depth] == path and u.kind in LIST_KINDS]
    return list(units)


_MAKING = MAKING | frozenset("creat build get set use instal 做 制作 弄 煮 用".split())
"""Words that ask for steps, and tell no list from another."""
_BARE_NUMBER = re.compile(
    r"(?:step|schritt|第)?\s*[\d一二三四五六七八九十]{1,3}\s*步?[.):：、]?", re.IGNORECASE
)
BELOW = 3
"""Units below a heading that is only a number, which are its step."""
_INSTRUCTIONS = re.compile(
    r"instructions?|directions?|steps?|method|procedure|preparation|how to|操作|步骤|做法|方法|流程|制作|zubereitung|anleitung",
    re.IGNORECASE,
)


def _number_texts(units: Sequence[Unit]) -> list[str]:
    texts, count = [], 0
    for unit in units:
        if unit.depth == 0:
            count += 1
            texts.append(f"{count}. {unit.own()}")
        else:
            texts.append(f"{'   ' * unit.depth}- {unit.own()}")
    return texts


def _numbered_sections(
    candidates: Sequence[Candidate], note: SourceNote
) -> tuple[float, tuple[Line, ...]] | None:
    """Numbered headings below the heading, or in the note, that is asked for, each with its first sentence."""
    sections: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for path in note.reading.headings:
        if _LIST_NUMBER.match(path[-1]):
            sections.setdefault(path[:-1], []).append(path)
    best: tuple[float, tuple[Line, ...]] | None = None
    for parent, paths in sections.items():
        if len(paths) < 2:
            continue
        of_it = [one for one in candidates if one.note is note and one.unit.headings[: len(parent)] == parent]
        words = max((len(clear_terms(one.above)) for one in of_it), default=0)
        value = 2.0 * words + 2.0
        if words and (best is None or value > best[0]):
            lines = []
            for path in paths:
                place = stripped_span(note, note.reading.headings[path])
                below = [unit for unit in note.reading.units if unit.headings == path][:BELOW]
                is_bare = _BARE_NUMBER.fullmatch(path[-1]) is not None
                text = (
                    f"{path[-1]}: {' '.join(unit.own() for unit in below)}" if is_bare and below else path[-1]
                )
                end = below[-1].end if is_bare and below else place[1]
                lines.append(Line(text, note, place[0], end, path[:-1]))
            best = value, tuple(lines)
    return best
