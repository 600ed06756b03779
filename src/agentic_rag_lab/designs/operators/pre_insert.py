"""PreInsert, first operator of the insert graph: makes the entries of a packet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from agentic_rag.errors import InputError
from agentic_rag.settings.parameters import Section
from agentic_rag.text.prompts import DATA, fence_passages
from agentic_rag_lab.designs.conversation import Dialog, Packet, latest_date
from agentic_rag_lab.designs.data_parser import dialog_lines
from agentic_rag_lab.designs.operators import NoAction, OperatorTools
from agentic_rag_lab.designs.post_retrieval.operator import Data
from agentic_rag_lab.designs.triples import (
    TRIPLE_EXTRACTION_PROMPT,
    TripleStatement,
    dialog_statements,
    distinct,
    read_reply,
    triple_text,
)


class TriEmbed(Section):
    """Settings: an entry for every statement of the packet, as a triple with its embedding."""

    action: Literal["tri_embed"] = "tri_embed"
    triple_extraction_prompt: str = Field(
        TRIPLE_EXTRACTION_PROMPT,
        min_length=1,
        description="system prompt for the chat model; it must ask for lines of (subject, predicate, object)",
    )


PreInsertSettings = NoAction | TriEmbed
PRE_INSERT: Mapping[str, type[PreInsertSettings]] = {"none": NoAction, "tri_embed": TriEmbed}
"""Settings class by action."""


@dataclass(frozen=True, slots=True)
class PreInsert:
    """Makes the entries of a packet, by action.

    ``none``: one entry ``{"data": packet}``. ``tri_embed``: for each statement an entry of ``dialogs`` (the
    packet's turns), ``triple``, ``refactor`` (the triple in natural language), ``embedding`` (of ``refactor``,
    unit vector as list of floats) and ``metadata`` (``timestamp``, ``speaker`` and ``sources`` where known).
    Statements come from the chat model, or, without one, from the sentences (see ``triples.dialog_statements``).

    Source: Liu et al., "Think-in-Memory", 2023, arXiv:2311.08719 (statements as relation triples).
    """

    settings: PreInsertSettings
    tools: OperatorTools

    async def execute(self, data: Data) -> dict[str, Any]:
        """``entries``: list, or None if there is nothing to remember; ``skipped_turns``: number of turns without
        a triple.

        ``malformed_lines`` counts the unreadable lines of a chat model's reply.

        Raises:
            InputError: the data have no ``dialogs``.
            ModelError: the chat model or the embedding failed.
        """
        dialogs = data.get("dialogs")
        if not isinstance(dialogs, Sequence) or isinstance(dialogs, str):
            raise InputError(f"a memory is given 'dialogs', a list of turns, not {dialogs!r:.80}")
        if isinstance(self.settings, NoAction):
            packet = {key: data[key] for key in Packet.__annotations__ if key in data}
            return {"entries": [{"data": packet}], "skipped_turns": 0}
        return await self._triples(self.settings, data, dialogs)

    async def _triples(self, settings: TriEmbed, data: Data, dialogs: Sequence[Dialog]) -> dict[str, Any]:
        malformed = 0
        chat = self.tools.chat
        if chat is None:
            statements = dialog_statements(dialogs, self.tools.count_tokens)
        else:
            system = f"{settings.triple_extraction_prompt}\n{DATA}"
            reply = read_reply(await chat.complete(system, fence_passages([dialog_lines(dialogs)])))
            malformed = reply.malformed_lines
            statements = distinct(
                [TripleStatement(triple, _turn_of(triple.subject, dialogs)) for triple in reply.triples]
            )
        told = {statement.turn for statement in statements}
        return {
            "entries": await self._embed_statements(statements, data, dialogs),
            # A triple with an unknown turn counts for all turns.
            "skipped_turns": 0 if None in told else len(dialogs) - len(told),
            "malformed_lines": malformed,
        }

    async def _embed_statements(
        self, statements: Sequence[TripleStatement], data: Data, dialogs: Sequence[Dialog]
    ) -> list[dict[str, Any]] | None:
        if not statements:
            return None
        refactors = [triple_text(statement.triple) for statement in statements]
        vectors = await self.tools.embedding.embed_passages(refactors)
        return [
            {
                "dialogs": [dict(dialog) for dialog in dialogs],
                "triple": list(statement.triple),
                "refactor": refactor,
                "embedding": [float(value) for value in vector],
                "metadata": _metadata(statement.turn, data, dialogs),
            }
            for statement, refactor, vector in zip(statements, refactors, vectors, strict=True)
        ]


def _turn_of(subject: str, dialogs: Sequence[Dialog]) -> int | None:
    """The turn of the subject; None if the subject does not speak, or speaks in several turns."""
    turns = [
        turn
        for turn, dialog in enumerate(dialogs)
        if dialog["speaker"] and _names(subject, dialog["speaker"])
    ]
    return turns[0] if len(turns) == 1 else None


def _names(subject: str, speaker: str) -> bool:
    """Whether a subject is the speaker, or something of the speaker's ("Alice's dog", "小明的狗")."""
    told, name = subject.casefold(), " ".join(speaker.casefold().split())
    return told == name or told.startswith((f"{name}'s ", f"{name}’s ", f"{name}的"))


def _metadata(turn: int | None, data: Data, dialogs: Sequence[Dialog]) -> dict[str, Any]:
    date = latest_date(dialogs if turn is None else dialogs[turn : turn + 1])
    metadata: dict[str, Any] = {} if date is None else {"timestamp": date}
    if turn is None:
        return metadata
    metadata["speaker"] = dialogs[turn]["speaker"]
    session, first = data.get("session_id"), data.get("dialog_id")
    if session is not None and isinstance(first, int):
        # One turn instead of the packet, so that evidence is measured by turn.
        metadata["sources"] = [[session, first + turn, 1]]
    return metadata
