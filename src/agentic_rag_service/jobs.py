"""Background jobs: ingests that can be watched and cancelled, one at a time per dataset."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal
from uuid import uuid4

from agentic_rag.domain.json_values import Json
from agentic_rag.domain.progress import Progress
from agentic_rag.errors import AgenticRagError, InputError, StoreLocked
from agentic_rag_service.access import Caller

logger = logging.getLogger(__name__)
Status = Literal["running", "done", "failed", "cancelled"]
MAX_KEPT = 100
"""Maximum number of ended jobs that are still listed."""


@dataclass(slots=True)
class Job:
    """One ingest of the service, with its progress."""

    dataset: str
    user_id: str
    id: str = field(default_factory=lambda: uuid4().hex)
    status: Status = "running"
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    ended_at: datetime | None = None
    stage: str | None = None
    finished_work: int = 0
    total: int = 0
    report: Json | None = None
    """``IngestReport.to_dict`` of a finished job."""
    error: str | None = None
    _task: asyncio.Task[None] | None = field(default=None, repr=False)

    def report_progress(self, stage: str, finished_work: int, total: int) -> None:
        """Progress callback of the pipeline."""
        self.stage, self.finished_work, self.total = stage, finished_work, total

    async def until(self, event: asyncio.Event) -> None:
        """Wait for the event or for the job's end: a job cancelled before it begins never sets the event."""
        waiting = asyncio.create_task(event.wait())
        try:
            await asyncio.wait(
                [waiting, *([self._task] if self._task else [])], return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            waiting.cancel()

    def to_dict(self) -> Json:
        """JSON values."""
        return {
            "id": self.id,
            "dataset": self.dataset,
            "status": self.status,
            "started": self.started_at.isoformat(),
            "ended": None if self.ended_at is None else self.ended_at.isoformat(),
            "stage": self.stage,
            "done": self.finished_work,
            "total": self.total,
            "report": self.report,
            "error": self.error,
        }


class UnknownJob(InputError):
    """There is no such job, or it is another user's."""


class Jobs:
    """Starts, lists and cancels jobs."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def start(self, dataset: str, user_id: str, work: Callable[[Progress], Awaitable[Json]]) -> Job:
        """Run ``work`` in the background.

        Args:
            dataset: the dataset that the job fills.
            user_id: the user who may see it.
            work: gets a progress callback; returns the report.

        Raises:
            StoreLocked: another job already fills the dataset.
        """
        if any(job.dataset == dataset and job.status == "running" for job in self._jobs.values()):
            raise StoreLocked(f"another job is ingesting into dataset {dataset!r}; wait for it, or cancel it")
        job = Job(dataset, user_id)
        self._jobs[job.id] = job
        ended = [one.id for one in self._jobs.values() if one.status != "running"]
        for job_id in ended[: max(0, len(ended) - MAX_KEPT)]:
            del self._jobs[job_id]
        job._task = asyncio.create_task(self._run(job, work), name=f"ingest {dataset}")
        return job

    def of(self, caller: Caller) -> list[Job]:
        """The user's jobs in the datasets that the key opens, newest first."""
        return [job for job in reversed(self._jobs.values()) if _is_theirs(job, caller)]

    def get(self, job_id: str, caller: Caller) -> Job:
        """The caller's job with this id; raises ``UnknownJob`` otherwise."""
        job = self._jobs.get(job_id)
        if job is None or not _is_theirs(job, caller):
            raise UnknownJob(f"there is no job {job_id!r}; a service that restarts forgets its jobs")
        return job

    async def cancel(self, job: Job) -> None:
        """Cancel the job; the next ingest does what is left."""
        task = job._task
        if task is not None and job.status == "running":
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if job.status == "running":  # the job had not begun
                job.status, job.ended_at = "cancelled", datetime.now(UTC)

    async def close(self) -> None:
        """Cancel all running jobs."""
        await asyncio.gather(*(self.cancel(job) for job in list(self._jobs.values())))

    async def _run(self, job: Job, work: Callable[[Progress], Awaitable[Json]]) -> None:
        try:
            job.report = await work(job.report_progress)
            job.status = "done"
        except asyncio.CancelledError:
            job.status = "cancelled"
        except AgenticRagError as error:
            job.status, job.error = "failed", str(error)
        except Exception as error:  # the job must end with its reason
            logger.exception("the job %s failed", job.id)
            job.status, job.error = "failed", f"{type(error).__name__}; see the service's log"
        finally:
            job.ended_at = datetime.now(UTC)


def _is_theirs(job: Job, caller: Caller) -> bool:
    return job.user_id == caller.user_id and caller.may(job.dataset)
