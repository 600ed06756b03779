"""Boards over HTTP: an answer drawn, saved into a vault and checked; and the questions that are due again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from agentic_rag.answer import Answer
from agentic_rag.boards.checking import CheckReport, filled_board
from agentic_rag.boards.drawing import draw_board
from agentic_rag.boards.files import SUFFIX
from agentic_rag.boards.vault import Vault
from agentic_rag.domain.json_values import Json
from agentic_rag.errors import InputError
from agentic_rag.rag import Rag
from agentic_rag_service.access import Caller
from agentic_rag_service.asking import Ask, RequestId, answer_to
from agentic_rag_service.errors import ERROR_RESPONSES
from agentic_rag_service.roots import AllowedRoots
from agentic_rag_service.service import Service, TheCaller, TheService, TheWriter

router = APIRouter(tags=["boards"], responses=ERROR_RESPONSES)


class BoardRequest(Ask):
    """A question whose answer is drawn as a board."""

    path: str | None = Field(
        None,
        description="Where to write it: a .canvas file beneath the service's roots; none: only drawn.",
        max_length=1000,
    )


class BoardMade(BaseModel):
    """A board, and what became of its file."""

    board: Json
    answer: str
    abstained: bool
    written: Json | None


class CheckRequest(BaseModel):
    """A board that was filled in."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(min_length=1, max_length=1000)


class CheckBody(BaseModel):
    """How right each answer is."""

    board: str
    dataset: str
    degraded: str | None
    answers: list[Json]


class Due(BaseModel):
    """Questions to be asked again, longest overdue first."""

    questions: list[Json]


async def check_board(service: Service, caller: Caller, path: str) -> CheckReport:
    """Mark a board below the caller's roots for its dataset.

    Raises:
        InputError: there is no such board, or it is of a dataset that the caller may not use or that the root is
            not for; the message names neither question nor dataset.
    """
    roots = service.roots.of(caller)
    board = roots.existing(path)
    _, known = filled_board(board)
    roots = roots.of(caller, known.dataset)
    if not caller.may(known.dataset) or not any(map(board.is_relative_to, roots.roots)):
        raise InputError(f"{path!r} is no board of a dataset that may be checked here")
    return await service.rag.check(board, user_id=caller.user_id, within=roots.around(board))


@dataclass(frozen=True, slots=True)
class BoardPlace:
    """Where a board is to be written."""

    file: Path
    root: Path
    """The root that holds it; no file outside of it is read or written."""


async def board_place(rag: Rag, roots: AllowedRoots, caller: Caller, path: str, dataset: str) -> BoardPlace:
    """The place of a dataset's board; a relative path lies in the vault of the dataset.

    Raises:
        InputError: the path is no board beneath the caller's roots for the dataset.
        AccessRefusal: the caller may not use the dataset.
    """
    name = caller.require(dataset)
    allowed = roots.of(caller, name)
    homes = {record.root for record in (await rag.ledger.records(name)).values()}
    file = allowed.writable(path, SUFFIX, homes)
    return BoardPlace(file, allowed.around(file))


def vault_of(place: BoardPlace | None, answer: Answer) -> Vault:
    """The vault whose notes a board's cards name."""
    return Vault(None) if place is None else Vault.around(place.file, answer.citations, place.root)


@router.post("/boards")
async def make_board(
    request: BoardRequest, service: TheService, caller: TheCaller, request_id: RequestId = None
) -> BoardMade:
    """Ask, and draw the answer as a board (JSON Canvas)."""
    place = None
    if request.path is not None:
        place = await board_place(service.rag, service.roots, caller, request.path, request.dataset)
    ask = Ask(**request.model_dump(exclude={"path"}, exclude_unset=True))
    answer = await answer_to(service, caller, ask, request_id=request_id, route=f"/boards {request.path}")
    if answer.abstained:
        return BoardMade(board={}, answer=answer.text, abstained=True, written=None)
    board = draw_board(answer.to_dict(), vault_of(place, answer)).board
    written = None
    if place is not None:
        report = service.rag.write_board(answer, place.file, within=place.root)
        written = service.disclosure.values(caller, asdict(report))
    return BoardMade(board=board, answer=answer.text, abstained=False, written=written)


@router.post("/boards/check")
async def check(request: CheckRequest, service: TheWriter, caller: TheCaller) -> CheckBody:
    """Mark what was written into a verification board beneath the roots; colours it and writes mistake notes."""
    report = await check_board(service, caller, request.path)
    return CheckBody(**service.disclosure.values(caller, report.to_dict()))


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
                "board": service.disclosure.text(caller, one.board),
                "source": one.source,
            }
            for one in found
            if caller.may(one.dataset)
        ]
    )
