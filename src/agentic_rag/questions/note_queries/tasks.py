"""Questions for tasks: of a note that is named, of a class of notes, or of all, by their state."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.domain.filters import Comparison, Or, matches
from agentic_rag.domain.notes import HEADINGS, TEXT, Field, Note, Row
from agentic_rag.questions.comparisons import state
from agentic_rag.questions.forms import COMPLETION, TASKS, WHAT
from agentic_rag.questions.note_queries.draft import Draft, places
from agentic_rag.questions.note_queries.query import Query
from agentic_rag.questions.note_queries.values import date_keys, within
from agentic_rag.questions.words import Place, any_of

_OPENS = re.compile(r"\b(?:do|does|did|will|would|can|could|should|to)\s(?:\S+\s){0,6}open\b", re.IGNORECASE)
"""The verb: "at how many bar does the boiler open?"."""
LEFT_TO_DO = any_of(
    r"\bwhat\b[^?]*\b(?:still|left|yet|remains?|outstanding)\b[^?]*\b(?:to (?:be )?\w+|missing|open)\b|\bwhat (?:is|['’]s) (?:still )?missing\b",
    r"\bwhat\b[^?]*\b(?:still (?:need|have)|needs? still|have (?:we|i) (?:still )?not|has not been)\b",
    r"\bnoch (?:zu \w+|offen|erledigen|machen|fehlt|besorgen)\b|\bwas (?:fehlt|muss|müssen|mussen)\b[^?]*\bnoch\b|\bnoch nicht (?:erledigt|gemacht)\b",
    r"还(?:需?要|得|该)[\u4e00-\u9fff]{0,2}(?:什么|哪些)|还有(?:什么|哪些)(?!问题)[\u4e00-\u9fff]{0,4}(?:没|要)|还(?:差|剩|缺)(?:什么|哪些)|(?:什么|哪些)[\u4e00-\u9fff]{0,3}还没",
)
"""Asks for what is open of what it names: "what still has to be done for the trip?"."""
OPEN_QUESTIONS = re.compile(r"\b(?:which|what|open|unanswered) (?:\w+ )?questions\b|哪些问题", re.IGNORECASE)
"""Questions may be open as tasks are, and stand in a list of their own."""
FEW = 5
"""Notes up to which a question is about their tasks and not about the notes."""


def tasks_of_named(draft: Draft, titles: Sequence[tuple[Note, Place]]) -> Query | None:
    """Tasks of the named note, of a class of notes, or of all, that have the words which are left; None where no tasks are
    asked for."""
    word = TASKS.search(draft.text)
    task_state = state(draft.text)
    due = _DUE.search(draft.text) if draft.time is not None else None
    asks_for_tasks = bool(task_state or due) and WHAT.search(draft.text) and not _OPENS.search(draft.text)
    # A title may be the value of a link as well.
    named = titles or draft.vocabulary.titles_in(draft.words)
    holder = next(((note, place) for note, place in named if _tasks_of(note)), None)
    is_done = task_state is not None and task_state[0] == "done"
    spans = [Place(*one.span()) for one in (word, due) if one] + ([task_state[1]] if task_state else [])
    if word is None and (
        not asks_for_tasks
        or OPEN_QUESTIONS.search(draft.text)
        or (is_done and not COMPLETION.search(draft.text))
        or (holder is None and not _says_no_more(draft, spans))
    ):
        return None
    draft = draft.copy()
    if holder is not None:
        draft.conditions.append(Comparison("path", "$eq", holder[0].path))
        draft.cover(holder[1])
    else:
        for one, place in draft.vocabulary.classes_in(draft.words):
            if draft.is_free(place) and not any(place.overlaps(span) for span in spans):
                draft.conditions.append(one.condition)
                draft.classes.append(one.name)
                draft.cover(place)
                break
    draft.cover(*spans)
    if draft.time is not None:
        _read_time(draft, "done" if is_done else "due" if due or draft.time.start is None else None)
    _read_words(draft)
    rest = [one for one in draft.rest() if state(one.text) is None]
    if not _tasks(draft) or (rest and not (draft.conditions or draft.entry_conditions)):
        return None
    asked_state = task_state[0] if task_state else "open" if due else None
    return Query("tasks", draft.list_or_count, tuple(draft.classes), tuple(draft.conditions), tuple(draft.entry_conditions),
                 asked_state, residual=places(rest))  # fmt: skip


_DUE = re.compile(r"\bdue\b|\bdeadlines?\b|\bby when\b|截止|到期|期限")
_KEYS = {"due": _DUE, "done": re.compile(r"done|complet|finish|完成")}
"""Properties of tasks that tell when they are due or were done."""


_NO_TASKS = re.compile(r"的(?:地方|人)|哪里|哪儿")
"""What is asked for and is no task: 想去但还没去的地方."""


def _says_no_more(draft: Draft, spans: Sequence[Place]) -> bool:
    """Whether a question has no words beside these and its time, but for somebody to whom a task is given, ``@ann``."""
    if _NO_TASKS.search(draft.text) or any(
        draft.is_free(place) for _, place in draft.vocabulary.classes_in(draft.words)
    ):
        return False
    time = () if draft.time is None else (draft.time.span,)
    said = "\n".join(row.facts()[TEXT] for row in _tasks(draft)).casefold()
    return all(f"@{one.text}" in said for one in draft.rest(*spans, *time))


def _read_time(draft: Draft, kind: str | None) -> None:
    """Add that the tasks are due, or were done, in the span of days; else that their notes are of these days."""
    if draft.time is None:
        return
    fields = [Field(key, value, 0, 0) for row in _tasks(draft) for key, value in row.facts().items()]
    keys = [key for key in date_keys(fields) if kind is not None and _KEYS[kind].search(key.casefold())]
    if keys:
        draft.entry_conditions.append(Or(tuple(within(key, draft.time) for key in keys)))
    else:
        draft.conditions.append(within("date", draft.time))
    draft.cover(draft.time.span)


def _read_words(draft: Draft) -> None:
    """Add what the tasks say themselves, or their headings: their tags in place of those of their notes, and the words
    that are left."""
    for tag in [one for one in draft.conditions if isinstance(one, Comparison) and one.key == "tags"]:
        draft.conditions.remove(tag)
        own = Comparison(TEXT, "$contains", f"#{tag.value}")
        is_own = any(matches(own, row.facts()) for row in _tasks(draft))
        (draft.entry_conditions if is_own else draft.conditions).append(own if is_own else tag)
    facts = [row.facts() for row in _tasks(draft)]
    for word in draft.rest():
        names = (word.text, word.stem)
        forms = (Comparison(key, "$contains", name) for key in (TEXT, HEADINGS) for name in names)
        own_word = next((form for form in forms if any(matches(form, one) for one in facts)), None)
        if own_word is not None and state(word.text) is None:
            draft.entry_conditions.append(own_word)
            draft.cover(Place(word.start, word.end))


def _tasks(draft: Draft) -> list[Row]:
    """The tasks of the notes that the conditions so far select."""
    return [row for note in draft.members() for row in _tasks_of(note)]


def tasks_of_members(draft: Draft) -> Query | None:
    """The tasks of the few notes that are described: "what is left to do for the trip to Yunnan?"."""
    task_state = state(draft.text)
    if task_state is None or not draft.strength or not WHAT.search(draft.text):
        return None
    states = (Place(one.start, one.end) for one in draft.words.words if state(one.text) is not None)
    if draft.classes and not all(map(draft.is_free, states)):
        return None  # the state is a value of the notes themselves
    members = draft.members()
    if not 1 <= len(members) <= FEW or not _tasks(draft):
        return None
    draft.cover(task_state[1])
    return Query("tasks", "list", tuple(draft.classes), tuple(draft.conditions), (), task_state[0])


def _tasks_of(note: Note) -> list[Row]:
    return [row for row in note.rows if row.state is not None]
