"""Prompts that chat front ends send of their own accord: titles, tags, follow-ups, completions, queries, translations.

Notes cannot answer them. What follows from the conversation alone is answered in the form the prompt wants; the rest is
refused, and the front end uses its fallback. Recognised are not the wordings, which change and can be edited, but
the forms: a transcript between tags beside the key of the JSON object to return (Open WebUI), or a system prompt for a
transcript or for nothing but a title or translation (LobeChat).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from agentic_rag.serving.openai.conversation import Turn
from agentic_rag.serving.openai.parameters import UnsupportedParameter

LONGEST_TITLE = 50
"""Maximum length of a title, in characters."""
_HISTORY = re.compile(r"<(chat_?history)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_KEY = re.compile(r'\{\s*"(\w+)"\s*:')
_ROLE = re.compile(r"^(user|assistant): ?", re.IGNORECASE | re.MULTILINE)
_ONLY = re.compile(r"\b(?:output|return|write) only\b", re.IGNORECASE)
_TITLE = re.compile(r"\btitle\b|标题|標題", re.IGNORECASE)
_TRANSLATION = re.compile(r"\btranslat", re.IGNORECASE)
_REMEDY = (
    "it is a prompt of the front end itself, and the notes cannot answer it: choose another model for such tasks in the "
    "settings of the front end, or turn them off"
)


def background_answer(turns: Sequence[Turn]) -> str | None:
    """The answer to a front end's own prompt; None if the turns are a conversation.

    Raises:
        UnsupportedParameter: the prompt is a front end's own, and does not follow from the conversation.
    """
    system = "\n".join(one.text for one in turns if one.role == "system")
    texts = [one.text for one in turns if one.role != "system"]
    if len(texts) != 1:
        return None
    (text,) = texts
    history = _HISTORY.search(text) or _HISTORY.search(system)
    if history is not None:
        return _object(history[2], f"{system}\n{text}".replace(history[0], ""))
    transcript = _ROLE.match(text) is not None and bool(system.strip())
    if _TITLE.search(system) and (transcript or _ONLY.search(system)):
        return title(text)
    if transcript or (_TRANSLATION.search(system) and _ONLY.search(system)):
        raise _refusal(system)
    return None


def title(transcript: str) -> str:
    """The first line that the user wrote, shortened to ``LONGEST_TITLE`` characters; empty if there is none."""
    line = next((part for part in _user_texts(transcript)[0].splitlines() if part.strip()), "")
    words = " ".join(line.split())
    if len(words) <= LONGEST_TITLE:
        return words
    short = words[: LONGEST_TITLE - 1]
    return f"{short.rpartition(' ')[0] or short}…"


def _user_texts(transcript: str) -> list[str]:
    """What the user wrote, in order; the whole text if it marks no user."""
    _, *parts = _ROLE.split(transcript)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return [text.strip() for role, text in pairs if role.lower() == "user"] or [transcript.strip()]


def _queries(transcript: str) -> list[str]:
    return [text for text in _user_texts(transcript)[-1:] if text]


_VALUES: dict[str, Callable[[str], str | list[str]]] = {
    "title": title,
    "tags": lambda _: [],
    "follow_ups": lambda _: [],
    "queries": _queries,
    "text": lambda _: "",
}
"""By key of the JSON object: its value, from the transcript."""


def _object(transcript: str, instructions: str) -> str:
    """The JSON object that the instructions want; the first known key counts."""
    for key in _KEY.findall(instructions):
        if key in _VALUES:
            return json.dumps({key: _VALUES[key](transcript)}, ensure_ascii=False)
    raise _refusal(instructions)


def _refusal(instructions: str) -> UnsupportedParameter:
    return UnsupportedParameter("messages", instructions.strip(), _REMEDY)
