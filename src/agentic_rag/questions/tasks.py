"""Questions for tasks: of a note that is named, of a class of notes, or of all, by their state."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.domain.filters import Comparison, Expression, Or
from agentic_rag.domain.notes import Note
from agentic_rag.questions.comparisons import state
from agentic_rag.questions.draft import Draft, places
from agentic_rag.questions.forms import COMPLETION, TASKS, WHAT
from agentic_rag.questions.query import Query
from agentic_rag.questions.values import date_keys, within
from agentic_rag.questions.words import Span

_OPENS = re.compile(r"\b(?:do|does|did|will|would|can|could|should|to)\s(?:\S+\s){0,6}open\b", re.IGNORECASE)
"""The verb: "at how many bar does the boiler open?"."""
FEW = 5
"""Notes up to which a question is about their tasks and not about the notes."""


def tasks_of_named(draft: Draft, titles: Sequence[tuple[Note, Span]]) -> Query | None:
    """Tasks of the named note, of a class of notes, or of all; None where no tasks are asked for."""
    word = TASKS.search(draft.text)
    task_state = state(draft.text)
    asks_for_tasks = task_state is not None and WHAT.search(draft.text) and not _OPENS.search(draft.text)
    if word is None and not asks_for_tasks:
        return None
    # A title may be the value of a link as well.
    named = titles or draft.vocabulary.titles_in(draft.words)
    holder = next(((note, place) for note, place in named if _has_tasks(note)), None)
    if word is None and holder is None:
        return None
    if not any(count for _, count in draft.vocabulary.snapshot.schema.tasks):
        return None
    if (
        word is None
        and task_state is not None
        and task_state[0] == "done"
        and not COMPLETION.search(draft.text)
    ):
        return None
    conditions: list[Expression] = []
    if holder is not None:
        conditions.append(Comparison("path", "$eq", holder[0].path))
        draft.cover(holder[1])
    elif titles:
        return None
    else:
        for one, place in draft.vocabulary.classes_in(draft.words):
            if word is None or not place.overlaps(Span(*word.span())):
                conditions.append(one.condition)
                draft.classes.append(one.name)
                draft.cover(place)
                break
    conditions += draft.conditions
    entry_conditions: list[Expression] = []
    if draft.time is not None:
        due = _due(draft)
        if due is None:
            conditions.append(within("date", draft.time))
        else:
            entry_conditions.append(Or(tuple(within(key, draft.time) for key in due)))
        draft.cover(draft.time.span)
    draft.cover(Span(*word.span()) if word else None, task_state[1] if task_state else None)
    rest = draft.rest()
    if word is not None and len(rest) > 1 and not conditions:
        return None
    return Query("tasks", draft.list_or_count, tuple(draft.classes), tuple(conditions), tuple(entry_conditions),
                 task_state[0] if task_state else None, residual=places(rest))  # fmt: skip


_DUE = re.compile(r"\bdue\b|\bdeadline|\bby when\b|截止|到期|期限")


def _due(draft: Draft) -> list[str] | None:
    """The properties of tasks that tell when they are due, where the question asks for that."""
    match = _DUE.search(draft.text)
    if match is None:
        return None
    fields = [
        one for note in draft.vocabulary.snapshot.notes for row in note.rows if row.state is not None for one in row.fields
    ]  # fmt: skip
    keys = [key for key in date_keys(fields) if _DUE.search(key) or "due" in key.casefold()]
    if not keys:
        return None
    draft.cover(Span(*match.span()))
    return keys


def tasks_of_members(draft: Draft) -> Query | None:
    """The tasks of the few notes that are described: "what is left to do for the trip to Yunnan?"."""
    task_state = state(draft.text)
    if task_state is None or not draft.strength or not WHAT.search(draft.text):
        return None
    members = draft.members()
    if not 1 <= len(members) <= FEW or not any(map(_has_tasks, members)):
        return None
    draft.cover(task_state[1])
    return Query("tasks", "list", tuple(draft.classes), tuple(draft.conditions), (), task_state[0])


def _has_tasks(note: Note) -> bool:
    return any(row.state is not None for row in note.rows)
