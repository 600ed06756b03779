"""Boards over HTTP: an answer drawn, saved into a vault and checked; and the questions that are due again."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from agentic_rag.boards.checking import CheckReport, filled_board
from agentic_rag.boards.drawing import drawn
from agentic_rag.boards.files import SUFFIX
from agentic_rag.boards.vault import Vault
from agentic_rag.serving.access import Caller
from agentic_rag.serving.asking import Ask, RequestId, answer_to
from agentic_rag.serving.errors import DOCUMENTED
from agentic_rag.serving.service import Service, TheCaller, TheService, TheWriter

router = APIRouter(tags=["boards"], responses=DOCUMENTED)


class BoardRequest(Ask):
    """A question whose answer is drawn as a board."""

    path: str | None = Field(
        None,
        description="Where to write it: a .canvas file beneath the service's roots; none: only drawn.",
        max_length=1000,
    )


class BoardMade(BaseModel):
    """A board, and what became of its file."""

    board: dict[str, Any]
    answer: str
    abstained: bool
    written: dict[str, Any] | None


class CheckRequest(BaseModel):
    """A board that was filled in."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(min_length=1, max_length=1000)


class Checked(BaseModel):
    """How right each answer is."""

    board: str
    dataset: str
    degraded: str | None
    answers: list[dict[str, Any]]


class Due(BaseModel):
    """Questions to be asked again, longest overdue first."""

    questions: list[dict[str, Any]]


async def checked(service: Service, caller: Caller, path: str) -> CheckReport:
    """Mark a board below the roots; its dataset must be one of the caller's."""
    board = service.roots.existing(path)
    _, known = filled_board(board)
    caller.require(known.dataset)
    return await service.rag.check(board, user_id=caller.user_id)


@router.post("/boards")
async def make_board(
    request: BoardRequest, service: TheService, caller: TheCaller, request_id: RequestId = None
) -> BoardMade:
    """Ask, and draw the answer as a board (JSON Canvas)."""
    path = None if request.path is None else service.roots.writable(request.path, SUFFIX)
    ask = Ask(**request.model_dump(exclude={"path"}))
    answer = await answer_to(service, caller, ask, request_id=request_id)
    if answer.abstained:
        return BoardMade(board={}, answer=answer.text, abstained=True, written=None)
    vault = Vault(None) if path is None else Vault.around(path, answer.citations)
    board = drawn(answer.to_dict(), vault).board
    written = None
    if path is not None:
        written = asdict(service.rag.write_board(answer, path))
    return BoardMade(board=board, answer=answer.text, abstained=False, written=written)


@router.post("/boards/check")
async def check(request: CheckRequest, service: TheWriter, caller: TheCaller) -> Checked:
    """Mark what was written into a verification board beneath the roots; colours it and writes mistake notes."""
    report = await checked(service, caller, request.path)
    return Checked(**report.to_dict())


@router.get("/boards/due")
async def due(service: TheWriter, caller: TheCaller) -> Due:
    """The caller's questions that are to be asked again."""
    found = service.rag.reviews(caller.user_id).due(datetime.now(UTC))
    return Due(
        questions=[
            {
                "asks": one.asks,
                "due": one.due.isoformat(),
                "mark": one.mark,
                "board": one.board,
                "source": one.source,
            }
            for one in found
            if caller.may(one.dataset)
        ]
    )
