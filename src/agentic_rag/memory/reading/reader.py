"""Extracts statements from messages, by rules or by a chat model; every statement must occur in the text verbatim.

Besides the statements, each sentence in which a person says something becomes a memory of its own, so that a remark
can be found by itself.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from agentic_rag.dates.instants import moment_of
from agentic_rag.domain.ports import Chat
from agentic_rag.errors import ModelError
from agentic_rag.memory.reading.schemas import MemoryStatement
from agentic_rag.memory.schemas import MemoryType
from agentic_rag.text import asked_about, content_tokens
from agentic_rag.text.prompts import REMEMBER_SYSTEM, fence_passages
from agentic_rag.text.sentences import split_sentences

MIN_TERMS = 3
"""Minimum terms of a sentence that becomes a memory."""
MAX_CHARACTERS = 1_000
"""Maximum characters of such a sentence; a longer one is a list or a table."""
MAX_READ = 20_000
"""Maximum characters of a message that a chat model reads."""
_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_ARRAY = re.compile(r"\[.*\]", re.DOTALL)
logger = logging.getLogger(__name__)


class RuleStatements:
    """Extracts by rules, English and Chinese."""

    async def read(
        self, text: str, *, speaker: str, at: datetime | None, is_person: bool
    ) -> list[MemoryStatement]:
        """The statements of the rules, and the sentences in which a person says something."""
        # The patterns take longer to compile than all other imports of a question from the shell.
        from agentic_rag.memory.reading.statements import statements

        def find_statements() -> list[MemoryStatement]:
            read = statements(text, speaker=speaker, at=at, is_person=is_person)
            return [*read, *said_sentences(text, speaker, read)] if is_person else read

        return await asyncio.to_thread(find_statements)


@dataclass(frozen=True, slots=True)
class ChatStatements:
    """Extracts by a chat model; by rules if it fails."""

    chat: Chat

    async def read(
        self, text: str, *, speaker: str, at: datetime | None, is_person: bool
    ) -> list[MemoryStatement]:
        """The model's statements that occur in the text, and the sentences in which a person says something."""
        if not is_person:
            return await RuleStatements().read(text, speaker=speaker, at=at, is_person=is_person)
        try:
            reply = await self.chat.complete(REMEMBER_SYSTEM, fence_passages([text[:MAX_READ]]))
            found = parse_reply(reply, text, speaker)
        except ModelError as error:
            logger.warning("the chat model failed, reading by rules instead: %s", error)
            return await RuleStatements().read(text, speaker=speaker, at=at, is_person=is_person)
        return [*found, *await asyncio.to_thread(said_sentences, text, speaker, found)]


def said_sentences(text: str, speaker: str, statements: Sequence[MemoryStatement]) -> list[MemoryStatement]:
    """The meaningful sentences of a person's text, without code and without those that overlap a statement."""
    blank = _CODE.sub(lambda match: " " * len(match.group()), text)
    told = [(one.start, one.end) for one in statements if one.slot or one.memory_type is MemoryType.SEMANTIC]
    made = []
    for start, end in split_sentences(blank):
        sentence = blank[start:end].strip()
        begins = start + len(blank[start:end]) - len(blank[start:end].lstrip())
        span = (begins, begins + len(sentence))
        # A sentence that overlaps a statement gets no memory of its own: it would outlive the end of the fact.
        if any(first < span[1] and last > span[0] for first, last in told):
            continue
        if len(sentence) > MAX_CHARACTERS or not _says_something(sentence):
            continue
        made.append(
            MemoryStatement(
                memory_type=MemoryType.SEMANTIC,
                text=text[span[0] : span[1]],
                start=span[0],
                subject=speaker,
                reason="a sentence in which the person says something",
            )
        )
    return made


def _says_something(sentence: str) -> bool:
    """Whether it has terms besides question words."""
    return len(content_tokens(sentence)) >= MIN_TERMS and bool(asked_about(sentence))


def parse_reply(reply: str, text: str, speaker: str) -> list[MemoryStatement]:
    """The statements in a model's reply; those not in the text verbatim are left out.

    Raises:
        ModelError: the reply holds no JSON list, or one in which nothing is a memory.
    """
    match = _ARRAY.search(reply)
    try:
        items = json.loads(match.group()) if match else None
    except ValueError:
        items = None
    memories = [item for item in items or () if isinstance(item, dict) and {"type", "text"} <= item.keys()]
    if not memories and items != []:
        raise ModelError("the chat model was asked for a JSON list of memories and replied something else")
    found = [_statement(item, text, speaker) for item in memories]
    return [one for one in found if one is not None]


def _statement(item: dict[str, Any], text: str, speaker: str) -> MemoryStatement | None:
    sentence, kind = item.get("text"), item.get("type")
    start = text.find(sentence) if isinstance(sentence, str) and sentence.strip() else -1
    if start < 0 or kind not in ("semantic", "core", "procedural", "working"):
        return None
    subject, slot, value = (_text(item.get(name)) for name in ("subject", "slot", "value"))
    block = item.get("block") if item.get("block") in ("persona", "human", "preferences") else None
    steps = item.get("steps")
    made = MemoryStatement(
        memory_type=MemoryType(kind),
        text=str(sentence),
        start=start,
        subject=speaker if subject in (None, "user") else str(subject),
        slot=slot if value or item.get("ends") else None,
        value=value,
        ends=item.get("ends") is True,
        block=block,
        trigger=_text(item.get("trigger")),
        steps=tuple(map(str, steps)) if isinstance(steps, list) else (),
        valid_at=moment_of(item.get("valid_at")),
        reason="the chat model chose it",
    )
    return replace(made, block="human") if made.memory_type is MemoryType.CORE and block is None else made


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None
