"""Prompts that chat front ends send of their own accord: titles, tags, follow-ups, completions, queries, translations.

Notes cannot answer them. What follows from the conversation alone is answered in the form the prompt wants; the rest is
refused, and the front end uses its fallback. Recognised are not the wordings, which change and can be edited, but
the forms: a transcript between tags, beside the key of the JSON object to return or a request for a title (Open WebUI,
LobeChat); a request for a title of the conversation in so many words or characters (NextChat, LibreChat, Chatbox, Cherry
Studio); a system prompt for a transcript, or for nothing but a title or translation (LobeChat); texts in braces as
examples and input (LobeChat); the object for a choice of tools in the system prompt (Open WebUI).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from agentic_rag_service.openai.conversation import Turn
from agentic_rag_service.openai.parameters import UnsupportedParameter

MAX_TITLE = 50
"""Maximum length of a title, in characters."""
_OPEN_HISTORY = re.compile(r"<(chat_?history|conversation)>", re.IGNORECASE)
_KEY = re.compile(r'\{\s*"(\w+)"\s*:')
_ROLE = re.compile(r"^(user|assistant): ?", re.IGNORECASE | re.MULTILINE)
_USER = re.compile(r"<user>((?:(?!<user>).)*?)</user>", re.DOTALL)
_INPUT = re.compile(r"(?:\w+: ?)?\{.*\}(?: \[[\w-]+\])?", re.DOTALL)
_ONLY = re.compile(r"\b(?:output|return|write) only\b", re.IGNORECASE)
_TITLE = re.compile(r"\btitle\b|标题|標題", re.IGNORECASE)
_NAME = re.compile(r"\b(?:title|name|topic)\b|标题|標題|主题|主題|命名", re.IGNORECASE)
_CONVERSATION = re.compile(
    r"\b(?:this|our|the|given|following) (?:given )?(?:conversation|chat|chat history|session|discussion)\b"
    r"|对话|對話|会话|會話|聊天|这句话|這句話",
    re.IGNORECASE,
)
_LENGTH = re.compile(
    r"\b(?:\d+|two|three|four|five|six|seven|eight|ten)[- ](?:word|character|char)s?\b"
    r"|(?<![\d一二三四五六七八九十])[\d一二三四五六七八九十]+个?字",
    re.IGNORECASE,
)
"""Of a title, in words or characters."""
_SENTENCE = re.compile(r"[^.!。！\n]+")
_TURN = re.compile(r"^\W{0,3}(user|human|assistant|ai|response)[:：]\s*", re.IGNORECASE | re.MULTILINE)
_BLOCK = re.compile(r"^(`{3,}+|-{9,}+)[^\n]*\n(.*?)(?:^\1|\Z)", re.DOTALL | re.MULTILINE)
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
    system = "\n".join(one.text for one in turns if one.role == "system").strip()
    texts = [one.text for one in turns if one.role != "system"]
    if system and all(_INPUT.fullmatch(one.text.strip()) for one in turns if one.role == "user"):
        raise _refusal(system)
    if len(texts) != 1:
        return title(texts[0]) if _asks_for_title(texts[-1]) else None
    if "tool_calls" in _KEY.findall(system):
        return '{"tool_calls": []}'
    (text,) = texts
    history = _history(text) or _history(system)
    if history is not None:
        return _of_transcript(history.transcript, f"{system}\n{text}".replace(history.element, ""))
    if _asks_for_title(text) or _asks_for_title(system):
        return _title_within(text, system)
    is_transcript = _ROLE.match(text) is not None and bool(system)
    is_form = _ONLY.search(system) is not None
    if (is_transcript or is_form) and _TITLE.search(system):
        return title(text)
    if is_transcript or (is_form and _TRANSLATION.search(system)):
        raise _refusal(system)
    return None


class _History(NamedTuple):
    """A transcript between tags."""

    element: str
    """With the tags."""
    transcript: str


def _history(text: str) -> _History | None:
    """The first transcript between tags.

    Only the first tag of each name is tried: if nothing closes it, nothing closes a later one, and a search from every
    tag would take quadratic time.
    """
    openings: dict[str, re.Match[str]] = {}
    for one in _OPEN_HISTORY.finditer(text):
        openings.setdefault(one[1].lower(), one)
    for name, opening in openings.items():
        closing = re.compile(f"</{name}>", re.IGNORECASE).search(text, opening.end())
        if closing is not None:
            element = text[opening.start() : closing.end()]
            return _History(element, text[opening.end() : closing.start()])
    return None


def _after_question(sentence: re.Match[str]) -> str:
    """What follows the last question mark."""
    return sentence[0][max(map(sentence[0].rfind, "?？")) + 1 :]


def _asks_for_title(text: str) -> bool:
    """Whether a paragraph wants, and does not ask for, a name for the conversation in so many words."""
    paragraphs = re.split(r"\n[ \t]*\n", _SENTENCE.sub(_after_question, text))
    return any(all(form.search(one) for form in (_NAME, _CONVERSATION, _LENGTH)) for one in paragraphs)


def _title_within(text: str, system: str) -> str:
    """The title of the transcript in a request: of its first turn, of what stands between fences, or as JSON.

    Raises:
        UnsupportedParameter: there is none.
    """
    for part in (text, system):
        if first := _TURN.search(part):
            return title(_TURN.sub(_role_mark, part[first.start() :]))
        if block := _BLOCK.search(part):
            return title(block[2])
        if turns := _json_turns(part):
            return title(turns)
    if _asks_for_title(text):
        raise _refusal(text)
    return title(text)


def _role_mark(turn: re.Match[str]) -> str:
    return "user: " if turn[1].lower() in ("user", "human") else "assistant: "


def _json_turns(text: str) -> str:
    """The transcript of a JSON list of messages; empty if the text is none."""
    try:
        turns = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(turns, list) or not all(isinstance(one, dict) and "role" in one for one in turns):
        return ""
    words = (
        next((one[key] for key in one if key != "role" and isinstance(one[key], str)), "") for one in turns
    )
    return "\n".join(f"{one['role']}: {of}" for one, of in zip(turns, words, strict=True))


def title(transcript: str) -> str:
    """The first line that the user wrote, shortened to ``MAX_TITLE`` characters; empty if there is none."""
    line = next((part for part in _user_texts(transcript)[0].splitlines() if part.strip()), "")
    words = " ".join(line.split())
    if len(words) <= MAX_TITLE:
        return words
    short = words[: MAX_TITLE - 1]
    return f"{short.rpartition(' ')[0] or short}…"


def _user_texts(transcript: str) -> list[str]:
    """What the user wrote, in order; the whole text if it marks no user."""
    if tagged := _USER.findall(transcript):
        return [text.strip() for text in tagged]
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


def _of_transcript(transcript: str, instructions: str) -> str:
    """The JSON object whose key the instructions name, the first known one; else a title, if they want one."""
    for key in _KEY.findall(instructions):
        if key in _VALUES:
            return json.dumps({key: _VALUES[key](transcript)}, ensure_ascii=False)
    if _TITLE.search(instructions):
        return title(transcript)
    raise _refusal(instructions)


def _refusal(instructions: str) -> UnsupportedParameter:
    return UnsupportedParameter("messages", instructions.strip(), _REMEDY)
