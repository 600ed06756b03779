"""Questions for the notes that link to a note: "which notes link to Plan?", 哪些笔记链接到计划？"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from agentic_rag.domain.filters import Comparison
from agentic_rag.questions.note_queries.draft import Draft
from agentic_rag.questions.words import Place
from agentic_rag.text import fold

_LINKING = re.compile(
    r"(?:\blink(?:s|ed|ing)? (?:back )?to|\bbacklinks (?:to|of)|链接(?:到|至)了?|链接着)\s*"
    r"(?:(?:the|my) )?(?:(?:note|page)s? )?[\[\"'“”‘’「《]*(?P<name>[^\[\]\"“”「」《》?？]+?)[\]\"'“”’」》]*"
    r"(?: (?:note|page))?(?:的(?:笔记|页面)?(?:有哪些|有多少)?)?\s*[?？.。!！]*$"
)


def read_links(draft: Draft) -> bool:
    """Add that notes link to the one that the question names; whether it asks for that.

    It does not where no note is called so and no link leads there.
    """
    match = _LINKING.search(draft.text)
    if match is None or not draft.asks_many:
        return False
    names = tuple(dict.fromkeys(_names(draft, match["name"])))
    if not names:
        return False
    draft.add(Comparison("links", "$in", names), Place(*match.span()))
    return True


def _names(draft: Draft, target: str) -> Iterator[str]:
    """What links to a note may be written as: its names, and the ways of writing them that occur."""
    notes = draft.vocabulary.snapshot.notes
    called = {target}
    for note in notes:
        own = (PurePosixPath(note.path).stem, note.title, *note.aliases)
        if target in map(_form, own):
            called.update(map(_form, own))
            yield from own
    yield from sorted(link for link in {one for note in notes for one in note.links} if _form(link) in called)


def _form(name: str) -> str:
    """A name as a question has it."""
    return fold(name).casefold()
