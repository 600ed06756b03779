"""Leaves out units that say of somebody else what a question asks of the person who asks: "Her birthday is 4 May" is no
answer to "What is my birthday?"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.answering.evidence import Candidate, SourceNote
from agentic_rag.text import tokens

_FIRST = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Ww]e|[Uu]s|[Oo]urs?)\b|[我咱]")
_THIRD = re.compile(r"\b(?:he|she|his|hers?|him)\b|[他她](?!们)", re.IGNORECASE)
_ASKER = re.compile(
    r"\bmy\s+(?P<owned>[^?.!,]+)|\b(?:am|do|was|did)\s+i\b(?:\s+(?P<state>[a-z]+))?|^\s*我(?!们)",
    re.IGNORECASE,
)
_SUBJECT = r"^\W*(?:he|she|they|his|her|their)\b|^\W*[他她]"
_OWNER = r"(?:\b(?:his|her|their)|\w['’]s)\s+(?:[\w-]+\s+){0,2}?"


def of_asker(question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The units that may say what the asker is or has; all of them where the question asks for nothing of that kind.

    A question that names somebody else ("what did I tell her?") asks for nothing of the asker's own.
    """
    asker = _ASKER.search(question)
    if asker is None or _THIRD.search(question):
        return list(candidates)
    named = set(tokens(question))
    notes = {one.note.document_id: one.note for one in candidates}
    others = {key: note for key, note in notes.items() if named.isdisjoint(tokens(note.title))}
    persons = {key for key, note in others.items() if _is_person(note)}
    forms = [rf"{_OWNER}{re.escape(word)}\b" for word in re.findall(r"[\w-]+", asker["owned"] or "")]
    if asker["state"]:
        forms.append(rf"\w\s{re.escape(asker['state'])}e?s\b")  # "lives", which nobody says of himself
    of_somebody = re.compile("|".join((_SUBJECT, *forms)), re.IGNORECASE)

    def is_of_another(one: Candidate) -> bool:
        text = one.unit.own()
        if one.note.document_id not in others or _FIRST.search(text):
            return False
        of_note = one.unit.kind == "property" or _begins_with_title(one.note, text)
        return of_somebody.search(text) is not None or (of_note and one.note.document_id in persons)

    return [one for one in candidates if not is_of_another(one)]


def _is_person(note: SourceNote) -> bool:
    """Whether the note speaks of what it is called after as of a person."""
    texts = [unit.own() for unit in note.reading.units if unit.kind != "property"]
    return any(_THIRD.search(text) for text in texts) and any(
        _begins_with_title(note, text) for text in texts
    )


def _begins_with_title(note: SourceNote, text: str) -> bool:
    title = tokens(note.title)
    return bool(title) and title[0] in tokens(text)[:1]
