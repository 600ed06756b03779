"""Datasets and notes over HTTP: list datasets, read a note, fill and empty a dataset."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import tempfile
import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, File, Form, UploadFile
from pydantic import BaseModel, ConfigDict, Field

from agentic_rag.boards.files import SUFFIX
from agentic_rag.domain.identity import group_id, notes_dataset
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.ports import DocumentRecord
from agentic_rag.domain.progress import Progress
from agentic_rag.errors import InputError, RunError, UnknownDataset
from agentic_rag.ingest.files.canvas import parse_canvas
from agentic_rag.ingest.files.discovery import made_text
from agentic_rag.ingest.files.extraction import Extractor
from agentic_rag.ingest.files.source_text import SourceError, decode
from agentic_rag.nodes.request import DEFAULT_DATASET
from agentic_rag.rag import Rag
from agentic_rag_service.access import Caller
from agentic_rag_service.errors import ERROR_RESPONSES
from agentic_rag_service.jobs import Job
from agentic_rag_service.service import Service, TheCaller, TheService, TheWriter

router = APIRouter(tags=["datasets"], responses=ERROR_RESPONSES)
UPLOAD_FOLDER = "uploads"
"""Subfolder of the data folder with the copies of uploaded files, by dataset."""
MAX_FILES = 20_000
"""Maximum number of files per upload."""
MAX_PATH = 1000
"""Maximum length of an uploaded file's path, in characters."""
SHOWN_LIMITS = (30, 5)
"""Properties, tags and folders of a dataset that a list of datasets names, and values of each property."""


class DatasetSummary(BaseModel):
    """What a dataset holds."""

    name: str
    documents: int
    chunks: int
    entities: int
    facts: int
    stated_schema: Json = Field(
        serialization_alias="schema",
        description="What the notes state: properties, tags, folders, tasks; the first ones of each.",
    )


class Datasets(BaseModel):
    """The caller's datasets."""

    datasets: list[DatasetSummary]


class IngestRequest(BaseModel):
    """Files and folders of the service's machine, beneath its roots."""

    model_config = ConfigDict(extra="forbid")

    paths: list[str] = Field(min_length=1, max_length=1000)
    dataset: str = Field(DEFAULT_DATASET, min_length=1, max_length=200)


class JobState(BaseModel):
    """An ingest that runs or has ended."""

    id: str
    dataset: str
    status: str
    started: str
    ended: str | None
    stage: str | None
    done: int
    total: int
    report: Json | None
    error: str | None


class JobStates(BaseModel):
    """The caller's ingests since the service began, newest first."""

    jobs: list[JobState]


class NoteText(BaseModel):
    """An ingested note, record or session as it is now on disk; citations' code points count in ``text``."""

    dataset: str
    path: str
    title: str
    text: str


async def dataset_names(rag: Rag, caller: Caller) -> list[str]:
    """Names of the datasets that a caller may see, sorted."""
    return [name for name in await rag.ledger.datasets() if caller.may(name)]


def note_path(dataset: str, document: str) -> str:
    """``dataset/document`` as URL path, each part quoted."""
    return f"{quote(dataset, safe='')}/{quote(document, safe='/')}"


async def summaries(rag: Rag, caller: Caller) -> list[DatasetSummary]:
    """Summaries of the caller's datasets."""
    found = []
    for name in await dataset_names(rag, caller):
        documents, chunks, graph, schema = await asyncio.gather(
            rag.ledger.records(name),
            rag.chunks.count(name),
            rag.knowledge.counts(name),
            rag.schema(name),
        )
        found.append(
            DatasetSummary(
                name=name,
                documents=len(documents),
                chunks=chunks,
                entities=graph.entities,
                facts=graph.facts,
                stated_schema=schema.to_dict(*SHOWN_LIMITS),
            )
        )
    return found


@router.get("/datasets")
async def datasets(service: TheService, caller: TheCaller) -> Datasets:
    """What the caller's datasets hold."""
    return Datasets(datasets=await summaries(service.rag, caller))


@router.delete("/datasets/{dataset}")
async def empty(dataset: str, service: TheWriter, caller: TheCaller) -> JobState:
    """Take everything out of a dataset. The files it came from are not touched, copies that were uploaded are deleted."""
    name = caller.require(notes_dataset(dataset))
    await service.rag.require_dataset(name)

    async def work(progress: Progress) -> Json:
        report = await service.rag.remove(None, dataset=name, progress=progress)
        await asyncio.to_thread(_delete_tree, upload_folder(service, name))
        return report.to_dict()

    return state_of(service, caller, service.jobs.start(name, caller.user_id, work))


@router.post("/ingest", status_code=202)
async def ingest(request: IngestRequest, service: TheWriter, caller: TheCaller) -> JobState:
    """Make a dataset hold what paths beneath the service's roots hold now."""
    roots = service.roots.of(caller, caller.require(notes_dataset(request.dataset)))
    paths = [roots.existing(path) for path in request.paths]
    return state_of(service, caller, start_ingest(service, caller, request.dataset, paths))


@router.post("/ingest/files", status_code=202)
async def ingest_files(
    service: TheWriter,
    caller: TheCaller,
    files: Annotated[
        list[UploadFile], File(description="Notes; the file names may have folders before them.")
    ],
    dataset: Annotated[str, Form(min_length=1, max_length=200)] = "default",
) -> JobState:
    """Ingest a copy of uploaded files, beside what was uploaded into the dataset before."""
    name = caller.require(notes_dataset(dataset))
    folder = upload_folder(service, name)
    if not 1 <= len(files) <= MAX_FILES:
        raise InputError(f"an upload has 1 to {MAX_FILES} files, not {len(files)}")
    targets = [upload_path(file.filename or "") for file in files]
    kept = asyncio.Event()

    async def keep() -> None:
        try:
            await asyncio.to_thread(_keep, folder, dict(zip(targets, files, strict=True)))
        finally:
            kept.set()

    job = start_ingest(service, caller, name, [folder], before=keep)
    await job.until(kept)  # the temporary uploads are deleted at the end of the request
    return state_of(service, caller, job)


@router.get("/ingest")
async def jobs(service: TheWriter, caller: TheCaller) -> JobStates:
    """The caller's ingests."""
    return JobStates(jobs=[state_of(service, caller, job) for job in service.jobs.of(caller)])


@router.get("/ingest/{job_id}")
async def job(job_id: str, service: TheWriter, caller: TheCaller) -> JobState:
    """How far an ingest is."""
    return state_of(service, caller, service.jobs.get(job_id, caller))


@router.delete("/ingest/{job_id}")
async def cancel(job_id: str, service: TheWriter, caller: TheCaller) -> JobState:
    """End an ingest; the next one of the dataset finishes what it began."""
    found = service.jobs.get(job_id, caller)
    await service.jobs.cancel(found)
    return state_of(service, caller, found)


@router.get("/notes/{dataset}/{path:path}")
async def note(dataset: str, path: str, service: TheService, caller: TheCaller) -> NoteText:
    """The text of an ingested note."""
    found = await read_note(service.rag, caller.require(notes_dataset(dataset)), path)
    return NoteText(dataset=dataset, path=found.path, title=found.title, text=found.text)


@dataclass(frozen=True, slots=True)
class Note:
    """An ingested note, read from its file."""

    path: str
    title: str
    text: str
    """Text in which citations count code points; cards and edges of a canvas as a list."""
    source: str
    """Content of the file; JSON for a canvas."""


async def read_note(rag: Rag, dataset: str, path: str) -> Note:
    """The text of a note that the dataset holds, by its document id or path.

    Raises:
        UnknownDataset: nothing was ingested under the name.
        InputError: the dataset has no such note, or its file is gone or now a link out of the folder.
    """
    records = await rag.ledger.records(dataset)
    if not records:
        raise UnknownDataset(dataset, [])
    record = records.get(path) or records.get(unicodedata.normalize("NFC", path))
    if record is None:
        raise InputError(f"dataset {dataset!r} holds no note {path!r}")
    text, source = await asyncio.to_thread(_texts, record, Extractor.of(rag.config.documents))
    return Note(record.path, record.names[0] if record.names else record.path, text, source)


def _texts(record: DocumentRecord, documents: Extractor) -> tuple[str, str]:
    """The ingested text and the file's content; they differ only for a canvas."""
    root, path = Path(record.root), record.path
    file = root if root.is_file() else root / path
    try:
        # A link out of the folder is not followed, just as on ingest.
        if file.is_symlink() or not file.resolve(strict=True).is_relative_to(root.resolve(strict=True)):
            raise InputError(f"{path!r} is now a link, or lies outside its folder; ingest again")
        text = made_text(root, path, record.document_id, documents)
        if text is not None:
            return text, text
        source = decode(file.read_bytes())
        return parse_canvas(path, path, source).text if file.suffix.lower() == SUFFIX else source, source
    except OSError as error:
        raise InputError(
            f"{path!r} cannot be read any more ({error.strerror or error}); ingest again"
        ) from error
    except SourceError as error:
        raise InputError(f"{path!r} is not text any more: {error}") from error


def start_ingest(
    service: Service,
    caller: Caller,
    dataset: str,
    paths: Sequence[Path],
    before: Callable[[], Awaitable[None]] | None = None,
) -> Job:
    """Start an ingest in the background.

    Args:
        service: the open service.
        caller: the owner of the job.
        dataset: the dataset to fill.
        paths: files and folders that the dataset is to hold.
        before: runs first, while the job already holds the dataset.

    Raises:
        AccessRefusal: the dataset is not the caller's.
        StoreLocked: another job already fills the dataset.
    """
    name = caller.require(notes_dataset(dataset))

    async def work(progress: Progress) -> Json:
        if before is not None:
            await before()
        return (await service.rag.ingest(paths, dataset=name, progress=progress)).to_dict()

    service.metrics.jobs.inc()
    return service.jobs.start(name, caller.user_id, work)


def state_of(service: Service, caller: Caller, job: Job) -> JobState:
    """The job as a response model."""
    return JobState(**service.disclosure.values(caller, job.to_dict()))


def upload_folder(service: Service, dataset: str) -> Path:
    """Folder of the uploaded copies of a dataset; its last part is the vault's name in links to Obsidian."""
    return service.rag.config.data_dir.absolute() / UPLOAD_FOLDER / group_id(dataset)


def upload_path(name: str) -> Path:
    """Relative path of a file in the upload folder, from the name that a browser sends; never a parent folder.

    Raises:
        InputError: the name gives no such path.
    """
    plain = PurePosixPath(name.replace("\\", "/"))
    if (
        not plain.parts
        or plain.is_absolute()
        or "\0" in name
        or any(part in ("..", "") for part in plain.parts)
    ):
        raise InputError(f"{name!r} cannot name an uploaded file; give a relative path without ..")
    if len(name) > MAX_PATH:
        raise InputError(
            f"the name of an uploaded file has {len(name)} characters; give at most {MAX_PATH}, folders included"
        )
    if ":" in plain.parts[0]:
        raise InputError(f"{name!r} cannot name an uploaded file; give a relative path without a colon")
    return Path(*plain.parts)


def _keep(folder: Path, files: Mapping[Path, UploadFile]) -> None:
    """Copy the files into the folder, all or none: they are whole on the disk before one replaces an older one.

    Raises:
        RunError: one cannot be written.
    """
    target = folder
    made: list[Path] = []
    try:
        _make(folder.parent, made)
        with tempfile.TemporaryDirectory(dir=folder.parent) as waiting:
            for number, (path, file) in enumerate(files.items()):
                target = folder / path
                _make(target.parent, made)
                with (Path(waiting) / str(number)).open("wb") as copy:
                    shutil.copyfileobj(file.file, copy)
            for target in (folder / path for path in files):
                if target.is_dir():
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            for number, path in enumerate(files):
                (Path(waiting) / str(number)).replace(folder / path)
    except OSError as error:
        for one in reversed(made):
            with suppress(OSError):  # another upload may use it
                one.rmdir()
        raise RunError(
            f"the uploaded file {target.name!r} cannot be kept, and none was: {error.strerror or error}"
        ) from error


def _make(folder: Path, created_folders: list[Path]) -> None:
    """Make a folder and those above it; adds the new ones to ``created_folders``."""
    new = list(takewhile(lambda one: not one.exists(), (folder, *folder.parents)))
    for one in reversed(new):
        one.mkdir(exist_ok=True)
        created_folders.append(one)


def _delete_tree(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
