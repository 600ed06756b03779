"""A Ray cluster of several nodes on this machine, each a set of processes of its own."""

from __future__ import annotations

import logging
import os
import signal
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentic_rag_backends.distributed.cluster import import_ray

HERE = Path(__file__).parent
WORKER = "Map(Worker)"


@contextmanager
def ray_nodes(count: int = 2) -> Iterator[str]:
    """The address of a cluster whose head does no work, with that many nodes of one core."""
    import_ray()
    # So that workers find what the tests and the benchmarks define.
    places = (HERE, HERE / "distributed", HERE.parent / "evaluation")
    os.environ["PYTHONPATH"] = os.pathsep.join(map(str, places))
    from ray.cluster_utils import Cluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.getLogger("ray").setLevel(logging.ERROR)
        cluster = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 0, "include_dashboard": False},
            shutdown_at_exit=False,
        )
        try:
            for _ in range(count):
                cluster.add_node(num_cpus=1)
            cluster.wait_for_nodes()
            yield str(cluster.address)
        finally:
            cluster.shutdown()


def descendants() -> list[int]:
    """Process ids of what this process started, and of what that started: others may run Ray on this machine, too."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:  # it has ended
            continue
        children[int(parent)].append(int(folder.name))
    found = list(children[os.getpid()])
    for one in found:
        found += children[one]
    return found


def workers(called: str = WORKER) -> list[int]:
    """Process ids of the workers of this process's clusters whose title has the word."""
    found = []
    for pid in descendants():
        try:
            title = Path(f"/proc/{pid}/cmdline").read_text()
        except OSError:
            continue
        if title.startswith("ray::") and called in title:
            found.append(pid)
    return found


def kill(pid: int) -> None:
    """As the kernel does when memory is short."""
    os.kill(pid, signal.SIGKILL)
