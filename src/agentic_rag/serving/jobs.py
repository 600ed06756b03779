"""Work that outlives a request: ingests, one at a time for a dataset, that can be watched and cancelled."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import uuid4

from agentic_rag.domain.progress import Progress
from agentic_rag.errors import AgenticRagError, InputError, StoreLocked
from agentic_rag.serving.access import Caller

logger = logging.getLogger(__name__)
Status = Literal["running", "done", "failed", "cancelled"]
MOST_KEPT = 100
"""Jobs that ended and are still told of."""


@dataclass(slots=True)
class Job:
    """One ingest."""

    dataset: str
    user_id: str
    id: str = field(default_factory=lambda: uuid4().hex)
    status: Status = "running"
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    ended: datetime | None = None
    stage: str | None = None
    done: int = 0
    total: int = 0
    report: dict[str, Any] | None = None
    """As ``IngestReport.to_dict``, once it is done."""
    error: str | None = None
    _task: asyncio.Task[None] | None = field(default=None, repr=False)

    def told(self, stage: str, done: int, total: int) -> None:
        """Progress, as the pipeline tells it."""
        self.stage, self.done, self.total = stage, done, total

    async def until(self, event: asyncio.Event) -> None:
        """Wait for the event, or for the job's end: one that is cancelled before it begins sets none."""
        waiting = asyncio.create_task(event.wait())
        try:
            await asyncio.wait(
                [waiting, *([self._task] if self._task else [])], return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            waiting.cancel()

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "id": self.id,
            "dataset": self.dataset,
            "status": self.status,
            "started": self.started.isoformat(),
            "ended": None if self.ended is None else self.ended.isoformat(),
            "stage": self.stage,
            "done": self.done,
            "total": self.total,
            "report": self.report,
            "error": self.error,
        }


class UnknownJob(InputError):
    """No such job, or another user's."""


class Jobs:
    """Starts, keeps and ends jobs."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def start(self, dataset: str, user_id: str, work: Callable[[Progress], Awaitable[dict[str, Any]]]) -> Job:
        """Run ``work`` in the background.

        Args:
            dataset: what it fills.
            user_id: who may see it.
            work: is given what it tells its progress to; gives its report.

        Raises:
            StoreLocked: the dataset is being filled already.
        """
        if any(job.dataset == dataset and job.status == "running" for job in self._jobs.values()):
            raise StoreLocked(f"dataset {dataset!r} is being filled already; wait for that job, or cancel it")
        job = Job(dataset, user_id)
        self._jobs[job.id] = job
        ended = [one.id for one in self._jobs.values() if one.status != "running"]
        for job_id in ended[: max(0, len(ended) - MOST_KEPT)]:
            del self._jobs[job_id]
        job._task = asyncio.create_task(self._run(job, work), name=f"ingest {dataset}")
        return job

    def of(self, caller: Caller) -> list[Job]:
        """A user's jobs of the datasets that the key opens, newest first."""
        return [job for job in reversed(self._jobs.values()) if _is_theirs(job, caller)]

    def get(self, job_id: str, caller: Caller) -> Job:
        """One of them; ``UnknownJob`` otherwise."""
        job = self._jobs.get(job_id)
        if job is None or not _is_theirs(job, caller):
            raise UnknownJob(f"there is no job {job_id!r}; jobs are forgotten when the service ends")
        return job

    async def cancel(self, job: Job) -> None:
        """End it; what it has not finished, the next ingest does."""
        task = job._task
        if task is not None and job.status == "running":
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if job.status == "running":  # it had not begun
                job.status, job.ended = "cancelled", datetime.now(UTC)

    async def close(self) -> None:
        """End all that run."""
        await asyncio.gather(*(self.cancel(job) for job in list(self._jobs.values())))

    async def _run(self, job: Job, work: Callable[[Progress], Awaitable[dict[str, Any]]]) -> None:
        try:
            job.report = await work(job.told)
            job.status = "done"
        except asyncio.CancelledError:
            job.status = "cancelled"
        except AgenticRagError as error:
            job.status, job.error = "failed", str(error)
        except Exception as error:  # a job must end, and say how
            logger.exception("the job %s failed", job.id)
            job.status, job.error = "failed", f"{type(error).__name__}; see the service's log"
        finally:
            job.ended = datetime.now(UTC)


def _is_theirs(job: Job, caller: Caller) -> bool:
    return job.user_id == caller.user_id and caller.may(job.dataset)
