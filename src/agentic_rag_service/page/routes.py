"""The page's routes: full pages, and fragments for htmx."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypedDict
from urllib.parse import quote
from uuid import uuid4

from fastapi import APIRouter, Depends, FastAPI, File, Form, Request, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.staticfiles import StaticFiles

from agentic_rag.answer import REPORTED_STATUSES, Answer, Step
from agentic_rag.answering.passages import is_plain, relation
from agentic_rag.boards.canvas import board_text, read_board
from agentic_rag.boards.drawing import draw_board
from agentic_rag.boards.files import SUFFIX
from agentic_rag.diagnosis import examine
from agentic_rag.domain.identity import entity_key, notes_dataset
from agentic_rag.domain.json_values import Json
from agentic_rag.errors import InputError
from agentic_rag.fusion import CanvasOperation
from agentic_rag.nodes.request import DEFAULT_DATASET
from agentic_rag.notes.schema_text import counts_text, values_text
from agentic_rag.rag import Rag
from agentic_rag.stores.set_aside import check_conversations
from agentic_rag_service.access import COOKIE, AccessRefusal, Caller, ErrorEnvelope
from agentic_rag_service.asking import (
    MAX_QUESTION,
    Ask,
    RequestId,
    answer_to,
    ask_stream,
    event,
    event_stream,
    filters_of,
)
from agentic_rag_service.boards import board_place, check_board, vault_of
from agentic_rag_service.conversations import StoredMessage
from agentic_rag_service.errors import request_of
from agentic_rag_service.notes import (
    IngestRequest,
    Note,
    dataset_names,
    empty,
    ingest,
    ingest_files,
    note_path,
    read_note,
    state_of,
    summaries,
)
from agentic_rag_service.openai.reply import note_url
from agentic_rag_service.page.answers import answer_parts, linked_lines
from agentic_rag_service.page.board_svg import board_svg
from agentic_rag_service.page.markdown import MAX_DRAWN, excerpt, note_html, render_markdown
from agentic_rag_service.page.sentences import in_words
from agentic_rag_service.page.words import Language, language_of, list_in_words, word
from agentic_rag_service.service import Service, TheCaller, TheService, TheWriter, caller_of

HERE = Path(__file__).parent
LANGUAGE = "agentic_rag_language"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
SHOWN_SKIPPED = 100
"""Maximum number of skipped files shown per ingest."""
router = APIRouter(include_in_schema=False)


_templates = Environment(
    loader=PackageLoader("agentic_rag_service.page"),
    autoescape=select_autoescape(default=True),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters |= {
    "relation": relation,
    "list_in_words": list_in_words,
    "counts": counts_text,
    "values_text": values_text,
}
_templates.filters["day_number"] = lambda day: (date.fromisoformat(day) - date(1970, 1, 1)).days


class Stranger(AccessRefusal):
    """A page was opened without a login."""


def _visitor(request: Request) -> Caller:
    """The caller of a page; raises ``Stranger`` if unknown."""
    try:
        return caller_of(request)
    except AccessRefusal as error:
        raise Stranger(str(error), error.status) from error


TheVisitor = Annotated[Caller, Depends(_visitor)]


def mount_page(app: FastAPI) -> None:
    """Add the page and its static files to the service; visitors without a login are redirected to it."""

    @app.exception_handler(Stranger)
    async def to_login(request: Request, error: Stranger) -> Response:
        return RedirectResponse(f"{_root(request)}/login")

    app.include_router(router)
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")


def _language(request: Request) -> Language:
    return language_of(request.cookies.get(LANGUAGE), request.headers.get("accept-language", ""))


def _root(request: Request) -> str:
    """Path prefix of the service; "" without one."""
    return str(request.scope.get("root_path") or "").rstrip("/")


def _render(request: Request, template: str, **values: Any) -> str:
    language = _language(request)
    page = {
        "t": partial(word, language=language),
        "say": partial(in_words, language=language),
        "language": language,
        "path": request.url.path,
        "root": _root(request),
    }
    return _templates.get_template(template).render(page, **values)


def _page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    return HTMLResponse(_render(request, template, **values), status_code=status, headers=HEADERS)


def error_part(request: Request, kind: str, message: str, status: int) -> HTMLResponse:
    """An error as a page fragment, or as a page if a browser opens the address: its kind in the page's language, and
    its message."""
    template = "error.html" if "hx-request" in request.headers else "error_page.html"
    return _page(request, template, status, kind=kind, message=message)


async def _names(rag: Rag, dataset: str) -> dict[str, str]:
    """Document ids by the note names of wikilinks."""
    records = await rag.ledger.records(dataset)
    return await asyncio.to_thread(
        lambda: {
            entity_key(name): document_id
            for document_id, record in sorted(records.items(), reverse=True)
            if record.names
            for name in (*record.names, Path(record.path).with_suffix("").as_posix())
        }
    )


def _resolver(root: str, dataset: str, names: Mapping[str, str]) -> Callable[[str], str | None]:
    def resolve(name: str) -> str | None:
        found = names.get(entity_key(name)) or names.get(entity_key(name.removesuffix(".md")))
        return None if found is None else f"{root}/read/{note_path(dataset, found)}"

    return resolve


@router.get("/")
async def ask_page(
    request: Request,
    service: TheService,
    caller: TheVisitor,
    q: str = "",
    dataset: str = "",
    thread: str = "",
) -> Response:
    """Ask."""
    held = await dataset_names(service.rag, caller)
    # An unknown dataset must give an error, not an answer from another dataset.
    choices = [*held, dataset] if dataset and dataset not in held else held or [DEFAULT_DATASET]
    said = await service.conversations.messages(service.rag, caller, thread) if thread else []
    last = next((one["dataset"] for one in reversed(said) if one.get("dataset")), None)
    if last is not None and not dataset and caller.may(last):
        dataset, choices = last, choices if last in choices else [*choices, last]
    if service.conversations.are_kept:
        thread = thread or uuid4().hex[:12]
    return _page(
        request,
        "ask.html",
        longest=MAX_QUESTION,
        held=held,
        choices=choices,
        chosen=dataset or DEFAULT_DATASET,
        question=q,
        operations=[one.value for one in CanvasOperation],
        thread=thread,
        turns=_turns(said, f"{_root(request)}/"),
    )


class ShownTurn(TypedDict):
    """A question of a conversation with the lines of its answer."""

    question: str
    lines: list[Markup]


def _turns(messages: Sequence[StoredMessage], base: str) -> list[ShownTurn]:
    """The questions of a conversation with the lines of their answers, whose marks lead to their notes."""
    turns: list[ShownTurn] = []
    for one in messages:
        if one["role"] == "user" or not turns:
            turns.append({"question": one["text"] if one["role"] == "user" else "", "lines": []})
        if one["role"] == "assistant":
            dataset = one.get("dataset") or DEFAULT_DATASET
            cited = {
                each["n"]: {**each, "address": note_url(base, dataset, each)}
                for each in one.get("citations", ())
            }
            turns[-1]["lines"] += linked_lines(one["text"], cited)
    return turns


@router.get("/login")
async def login_page(request: Request) -> HTMLResponse:
    """Asks for the API key."""
    return _page(request, "login.html")


@router.post("/login")
async def login(request: Request, service: TheService, key: Annotated[str, Form()]) -> Response:
    """Keeps the key in a cookie that no script reads and no other site sends."""
    key = key.strip()
    try:
        service.access.of_key(key)
    except AccessRefusal as error:
        return error_part(request, "AccessRefusal", str(error), error.status)
    answer = RedirectResponse(f"{_root(request)}/", status_code=303)
    if service.access.needs_key:
        answer.set_cookie(
            COOKIE,
            quote(key, safe=""),
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
            max_age=30 * 86_400,
        )
    return answer


@router.post("/page/language")
async def change_language(request: Request) -> Response:
    """The other language."""
    answer = RedirectResponse(request.headers.get("referer") or f"{_root(request)}/", status_code=303)
    other = "en" if _language(request) == "zh" else "zh"
    answer.set_cookie(LANGUAGE, other, samesite="strict", max_age=365 * 86_400)
    return answer


@router.post("/page/ask")
async def page_ask(
    request: Request,
    service: TheService,
    caller: TheCaller,
    query: Annotated[str, Form(max_length=MAX_QUESTION)],
    dataset: Annotated[str, Form()] = DEFAULT_DATASET,
    operation: Annotated[str, Form()] = "auto",
    as_of: Annotated[str, Form()] = "",
    only: Annotated[str, Form()] = "",
    thread_id: Annotated[str, Form()] = "",
    request_id: RequestId = None,
) -> StreamingResponse:
    """The run as events: stages as they end, words as they are written, the answer as a part of the page."""
    terms = [term for term in only.splitlines() if term.strip()]
    ask = request_of(
        Ask,
        query=query,
        dataset=dataset,
        operation=operation,
        as_of=as_of or None,
        thread_id=thread_id or None,
        filters=filters_of(terms),
    )

    async def events() -> AsyncGenerator[str]:
        started = time.perf_counter()
        yield event("started", {})
        async with aclosing(
            ask_stream(service, caller, ask, request_id=request_id, route="/page/ask")
        ) as parts:
            async for part in parts:
                match part:
                    case Step():
                        yield event("stage", {"html": _render(request, "stage.html", step=part)})
                    case str():
                        yield event("token", {"text": part})
                    case Answer():
                        seconds = time.perf_counter() - started
                        html = await answer_html(request, service, caller, part, seconds)
                        yield event("answer", {"html": html})

    def failure_event(error: ErrorEnvelope) -> str:
        told = error["error"]
        html = _render(request, "error.html", kind=told["type"], message=told["message"])
        return event("failed", {"html": html})

    return event_stream(service, caller, events(), failure_event, HEADERS)


async def answer_html(
    request: Request, service: Service, caller: Caller, answer: Answer, seconds: float
) -> str:
    """An answer with sources, explanation, facts and board, as a page fragment."""
    # A fact stated in several places is shown once.
    said = ("source", "name", "target", "valid_at", "invalid_at")
    found = {str([fact.get(key) for key in said]): fact for one in answer.results for fact in one["facts"]}
    # Plain links and mentions would hide the labelled relations.
    facts = {key: fact for key, fact in found.items() if not is_plain(fact)} or found
    days = sorted(
        str(fact[key])[:10] for fact in facts.values() for key in ("valid_at", "invalid_at") if fact.get(key)
    )
    base = f"{_root(request)}/"
    cited = {one["n"]: {**one, "address": note_url(base, answer.dataset, one)} for one in answer.citations}
    results = [
        {**one, "address": note_url(base, answer.dataset, {**one["metadata"], **_span(one)})}
        for one in answer.results
    ]
    return _render(
        request,
        "answer.html",
        answer=answer,
        parts=answer_parts(answer, cited),
        citations=list(cited.values()),
        results=results,
        facts=list(facts.values()),
        drawn=[_fact_in_words(request, fact) for fact in facts.values()],
        days=days,
        today=max([datetime.now(UTC).date().isoformat(), *days]),
        seconds=seconds,
        sources=sorted({name for one in answer.results for name in one["sources"]}),
        notices={
            name: (one["status"], one["reason"])
            for name, one in answer.outcomes.items()
            if isinstance(one, dict) and one["status"] in REPORTED_STATUSES
        },
        as_of=(answer.state["request"]["as_of"] or "")[:10],
        question=answer.state["request"]["asked"],
        filters=json.dumps(answer.state["request"]["filters"], ensure_ascii=False),
        can_save=bool(service.roots.of(caller, answer.dataset).roots),
    )


def _fact_in_words(request: Request, fact: Mapping[str, Any]) -> Json:
    """What is drawn of a fact, its relation in the page's language."""
    name = relation(str(fact["name"]), in_chinese=_language(request) == "zh")
    return {**{key: fact.get(key) for key in ("source", "target", "valid_at", "invalid_at")}, "name": name}


def _span(result: Mapping[str, Any]) -> Json:
    start = result["metadata"].get("start")
    return {"start": start, "end": None if start is None else start + len(result["content"])}


@router.get("/read/{dataset}/{path:path}")
async def read(
    request: Request,
    service: TheService,
    caller: TheVisitor,
    dataset: str,
    path: str,
    start: int | None = None,
    end: int | None = None,
) -> Response:
    """A note, at a passage: a page of its own, or the part that stands beside an answer."""
    name = caller.require(notes_dataset(dataset))
    note = await read_note(service.rag, name, path)
    resolve = _resolver(_root(request), name, await _names(service.rag, name))
    board = word("board", _language(request))
    html, is_whole = await asyncio.to_thread(_note_html, note, start, end, resolve, board)
    beside = "hx-request" in request.headers
    return _page(
        request,
        "note.html" if beside else "note_page.html",
        note=note,
        html=Markup(html),
        dataset=name,
        whole=None if is_whole else f"{_root(request)}/notes/{note_path(name, path)}",
    )


def _note_html(
    note: Note, start: int | None, end: int | None, resolve: Callable[[str], str | None], frame: str
) -> tuple[str, bool]:
    """HTML of a note or board, and whether it is complete; a board that is too long is shown as text.

    ``frame``: the name of a board's frame for screen readers.
    """
    is_whole = max(len(note.source), len(note.text)) <= MAX_DRAWN
    if is_whole and note.path.endswith(SUFFIX):
        board = read_board(note.source, note.path)
        svg = board_svg(board, lambda text: render_markdown(text, resolve), title=note.title)
        return f'<div class="board-frame" tabindex="0" role="group" aria-label="{frame}">{svg}</div>', True
    first, text = excerpt(note.text, start)
    start = None if start is None else start - first
    end = None if end is None else min(end - first, len(text))
    return note_html(text, start, end, resolve), is_whole


@router.post("/page/board")
async def page_board(
    request: Request,
    service: TheService,
    caller: TheCaller,
    query: Annotated[str, Form()],
    dataset: Annotated[str, Form()],
    operation: Annotated[str, Form()],
    as_of: Annotated[str, Form()] = "",
    file: Annotated[str, Form()] = "",
    download: Annotated[bool, Form()] = False,
) -> Response:
    """The answer as a board: drawn, saved beneath a root, or as a file."""
    place = await board_place(service.rag, service.roots, caller, file, dataset) if file else None
    ask = request_of(Ask, query=query, dataset=dataset, operation=operation, as_of=as_of or None)
    answer = await answer_to(service, caller, ask)
    report = None if place is None else service.rag.write_board(answer, place.file, within=place.root)
    board = draw_board(answer.to_dict(), vault_of(place, answer)).board
    if download:
        headers = {**HEADERS, "Content-Disposition": 'attachment; filename="board.canvas"'}
        return Response(board_text(board), media_type="application/json", headers=headers)
    resolve = _resolver(_root(request), dataset, await _names(service.rag, dataset))
    svg = await asyncio.to_thread(board_svg, board, lambda text: render_markdown(text, resolve), title=query)
    return _page(
        request, "board.html", svg=Markup(svg), report=report, shown=partial(service.disclosure.text, caller)
    )


@router.post("/page/base")
async def page_base(
    service: TheService,
    caller: TheCaller,
    query: Annotated[str, Form()],
    dataset: Annotated[str, Form()],
    filters: Annotated[str, Form()] = "null",
) -> Response:
    """The notes that a question selects, as an Obsidian Base to download."""
    try:
        given = json.loads(filters)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the filters are not JSON: {error}") from error
    answer = await answer_to(service, caller, request_of(Ask, query=query, dataset=dataset, filters=given))
    base = await service.rag.selection_base(answer)
    headers = {**HEADERS, "Content-Disposition": 'attachment; filename="notes.base"'}
    return Response(base.text, media_type="application/yaml", headers=headers)


@router.get("/notes")
async def notes_page(request: Request, service: TheService, caller: TheVisitor) -> Response:
    """Datasets and ingests."""
    return _page(
        request,
        "notes.html",
        datasets=await summaries(service.rag, caller),
        jobs=[state_of(service, caller, job) for job in service.jobs.of(caller)],
        roots=_shown_roots(service, caller),
        watched=service.watched_folders if caller.sees_paths else dict.fromkeys(service.watched_folders, ""),
        limit=SHOWN_SKIPPED,
    )


def _shown_roots(service: Service, caller: Caller) -> list[str]:
    """Roots to choose from; "." for callers who do not see folder paths."""
    roots = service.roots.of(caller).roots
    return [str(root) for root in roots] if caller.sees_paths else ["."] if roots else []


@router.post("/page/ingest")
async def page_ingest(
    request: Request,
    service: TheWriter,
    caller: TheCaller,
    folder: Annotated[str, Form()],
    dataset: Annotated[str, Form()] = DEFAULT_DATASET,
) -> HTMLResponse:
    """Ingest a folder of this machine."""
    wanted = request_of(IngestRequest, paths=[folder], dataset=dataset or "default")
    state = await ingest(wanted, service, caller)
    return _page(request, "job.html", job=state, limit=SHOWN_SKIPPED)


@router.post("/page/upload")
async def page_upload(
    request: Request,
    service: TheWriter,
    caller: TheCaller,
    files: Annotated[list[UploadFile], File()],
    dataset: Annotated[str, Form()] = DEFAULT_DATASET,
) -> HTMLResponse:
    """Ingest a copy of a dropped folder."""
    state = await ingest_files(service, caller, files, dataset or "default")
    return _page(request, "job.html", job=state, limit=SHOWN_SKIPPED)


@router.get("/page/jobs/{job_id}")
async def page_job(job_id: str, request: Request, service: TheWriter, caller: TheCaller) -> HTMLResponse:
    """How far an ingest is."""
    return _page(
        request,
        "job.html",
        job=state_of(service, caller, service.jobs.get(job_id, caller)),
        limit=SHOWN_SKIPPED,
    )


@router.delete("/page/jobs/{job_id}")
async def page_cancel(job_id: str, request: Request, service: TheWriter, caller: TheCaller) -> HTMLResponse:
    """End an ingest."""
    job = service.jobs.get(job_id, caller)
    await service.jobs.cancel(job)
    return _page(request, "job.html", job=state_of(service, caller, job), limit=SHOWN_SKIPPED)


@router.delete("/page/datasets/{dataset}")
async def page_empty(dataset: str, request: Request, service: TheWriter, caller: TheCaller) -> HTMLResponse:
    """Empty a dataset."""
    state = await empty(dataset, service, caller)
    return _page(request, "job.html", job=state, limit=SHOWN_SKIPPED)


@router.get("/conversations")
async def conversations_page(
    request: Request, service: TheService, caller: TheVisitor, before: str | None = None
) -> Response:
    """Conversations that are kept, newest first; ``before``: where the page of newer ones ended."""
    found, older = await service.conversations.of(service.rag, caller, before=before)
    return _page(request, "conversations.html", conversations=found, older=older)


@router.delete("/page/conversations/{conversation_id}")
async def page_forget(conversation_id: str, service: TheService, caller: TheCaller) -> HTMLResponse:
    """Delete a conversation; nothing stays in its place."""
    await service.conversations.forget(caller, conversation_id)
    check_conversations(service.rag.config.data_dir)
    return HTMLResponse("", headers=HEADERS)


@router.get("/learn")
async def learn_page(request: Request, service: TheWriter, caller: TheVisitor) -> Response:
    """What is to be asked again, and boards to be checked."""
    due = [
        one for one in service.rag.reviews(caller.user_id).due(datetime.now(UTC)) if caller.may(one.dataset)
    ]
    return _page(
        request,
        "learn.html",
        due=due,
        roots=service.roots.of(caller).roots,
        shown=partial(service.disclosure.text, caller),
    )


@router.post("/page/check")
async def page_check(
    request: Request, service: TheWriter, caller: TheCaller, file: Annotated[str, Form()]
) -> HTMLResponse:
    """Mark a board."""
    report = await check_board(service, caller, file)
    return _page(request, "checked.html", report=report)


@router.get("/health")
async def health_page(request: Request, service: TheService, caller: TheVisitor) -> Response:
    """What ``doctor`` says."""
    findings = await examine(lambda: service.rag.config)
    if caller.datasets is not None:  # callers limited to some datasets see neither other datasets nor paths
        findings = [
            replace(finding, detail="", cure="") for finding in findings if finding.what != "datasets"
        ]
    told = partial(service.disclosure.values, caller)
    findings = [
        replace(finding, detail=told(finding.detail), cure=told(finding.cure)) for finding in findings
    ]
    return _page(request, "health.html", findings=findings)


@router.get("/favicon.ico")
async def icon() -> Response:
    """The drawing that stands on the tab."""
    return Response((HERE / "static" / "icon.svg").read_bytes(), media_type="image/svg+xml")
