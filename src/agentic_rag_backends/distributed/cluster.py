"""Connection to a Ray cluster, which may be started on this machine; translation of its errors."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from agentic_rag.errors import InputError, RunError, needing

_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # At every start of actors Ray Data reports, as an error on stderr, how it starts them.
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    # A thread of Ray Data that is still ending when this process leaves its cluster would join it again.
    "RAY_ENABLE_AUTO_CONNECT": "0",
}
"""Environment variables that Ray reads at import or at the start of a process; values set by the user are kept."""


ANSWERS_WITHIN = 5.0
"""Time limit in seconds for a connection to the head."""
_ERROR_LINE = re.compile(r"^[ \t]*((?:\w+\.)*\w*(?:Error|Exception): .+)$", re.MULTILINE)
_HOST = re.compile(r"(?:ray://)?\[?(?P<host>[^\]/]+)\]?:(?P<port>\d+)")


class Cluster:
    """A cluster that is joined when first needed, so that an ingest without work needs none.

    Args:
        address: address of a cluster's head (``HOST:6379``); None: the cluster this process is connected to, else a
            temporary one on all cores of this machine.
    """

    def __init__(self, address: str | None) -> None:
        self._address = address
        self._ray: Any = None
        self._is_ours = False

    def connect(self) -> Any:
        """The module ``ray``, connected. Takes seconds the first time, so call it in a thread.

        Raises:
            InputError: this process is connected to another cluster already.
            RunError: nothing answers at the address.
        """
        if self._ray is None:
            ray = import_ray()
            self._is_ours = not ray.is_initialized()
            if self._is_ours:
                _join(ray, self._address)
            else:
                _check_address(ray, self._address)
            _settle(ray)
            self._ray = ray
        return self._ray

    def leave(self) -> None:
        """Disconnect; a cluster started here is stopped."""
        if self._ray is not None and self._is_ours:
            self._ray.shutdown()
        self._ray = None


@asynccontextmanager
async def open_cluster(address: str | None) -> AsyncIterator[Cluster]:
    """The cluster at an address, left at the end; raises ``MissingExtra`` where Ray is not installed."""
    await asyncio.to_thread(import_ray)  # raises now if Ray is not installed
    cluster = Cluster(address)
    try:
        yield cluster
    finally:
        await asyncio.to_thread(cluster.leave)


def import_ray() -> Any:
    """The module ``ray``; raises ``MissingExtra``."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    with needing("the engine 'ray'", "distributed"):
        import ray
        import ray.data
    return ray


def _check_address(ray: Any, address: str | None) -> None:
    here = ray.get_runtime_context().gcs_address
    if address not in (None, "auto", here):
        raise InputError(
            f"this process is connected to the Ray cluster at {here} and cannot join {address} too; "
            "leave the address out, or call ray.shutdown() first"
        )


def _join(ray: Any, address: str | None) -> None:
    here = {} if address else {"include_dashboard": False, "num_cpus": os.cpu_count()}
    try:
        _check_answers(address)
        with _silence_stderr():
            ray.init(address=address or "local", logging_level=logging.ERROR, log_to_driver=False, **here)
    except (OSError, ValueError, RuntimeError) as error:
        raise RunError(
            f"no Ray cluster can be used at {address or 'this machine'}: {_reason(error)}; "
            "start one with `ray start --head`, or leave the address out"
        ) from error


@contextmanager
def _silence_stderr() -> Iterator[None]:
    """Silences stderr while Ray starts: Ray reports its own settings there, and LanceDB warns of forks although
    these become other programs at once."""
    kept = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _check_answers(address: str | None) -> None:
    """Raises ``OSError`` if nothing answers; Ray itself would try for minutes."""
    found = _HOST.fullmatch(address or "")
    if found:
        socket.create_connection((found["host"], int(found["port"])), ANSWERS_WITHIN).close()


def _settle(ray: Any) -> None:
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    # Documents are stored in their order, so that the stores equal those of a single machine.
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False


def cores(ray: Any) -> int:
    """Number of cores of the whole cluster; at least 1."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


@contextmanager
def translate_errors(doing: str) -> Iterator[None]:
    """Turns any error of Ray into ``RunError``."""
    import ray

    try:
        yield
    except ray.exceptions.RayError as error:
        raise RunError(
            f"the Ray cluster failed while {doing}: {_reason(error)}; run it again to finish"
        ) from error


def _reason(error: BaseException) -> str:
    """The original exception within Ray's report; else the first line of the report."""
    raised = [line for line in _ERROR_LINE.findall(str(error)) if not line.startswith("ray.")]
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (raised or lines or [type(error).__name__])[0]
