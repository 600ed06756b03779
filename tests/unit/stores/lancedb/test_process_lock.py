"""The process lock: writers share, a switch is exclusive, no starvation, no blocked thread."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path

import pytest

from agentic_rag.errors import StoreError, StoreLocked
from agentic_rag.stores.lancedb.process_lock import (
    in_use,
    is_alone,
    only_one,
    process_lock,
    switching,
    writing,
)


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "lance")


async def test_one_at_a_time(uri: str) -> None:
    inside = most = 0

    async def one() -> None:
        nonlocal inside, most
        async with process_lock(uri, "test"):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.001)
            inside -= 1

    await asyncio.gather(*(one() for _ in range(20)))
    assert most == 1


async def test_those_who_wait_take_no_thread(uri: str) -> None:
    """The holder may need one to go on, and there are few."""

    async def one() -> None:
        async with process_lock(uri, "test"):
            await asyncio.to_thread(lambda: None)

    await asyncio.wait_for(asyncio.gather(*(one() for _ in range(100))), 30)


async def test_writers_share_and_a_switch_is_alone(uri: str) -> None:
    writers = 0
    met = False

    async def write() -> None:
        nonlocal writers, met
        async with writing(uri, ["b", "a"]):
            writers += 1
            await asyncio.sleep(0.01)
            met = met or writers > 1
            writers -= 1

    async def switch() -> None:
        async with switching(uri, "a"):
            assert writers == 0
            await asyncio.sleep(0.01)
            assert writers == 0

    await asyncio.wait_for(asyncio.gather(*(write() for _ in range(10)), switch(), switch()), 30)
    assert met


async def test_a_stream_of_writers_lets_a_switch_in(uri: str) -> None:
    switched = asyncio.Event()

    async def write() -> None:
        while not switched.is_set():
            async with writing(uri, ["a"]):
                await asyncio.sleep(0.005)

    async def switch() -> None:
        await asyncio.sleep(0.05)
        async with switching(uri, "a"):
            switched.set()

    await asyncio.wait_for(asyncio.gather(*(write() for _ in range(8)), switch()), 10)


async def test_whoever_stops_waiting_holds_nothing(uri: str) -> None:
    async with process_lock(uri, "test"):
        waiting = asyncio.ensure_future(_taken(uri))
        await asyncio.sleep(0.02)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await asyncio.wait_for(_taken(uri), 5)


async def test_the_second_is_refused(uri: str) -> None:
    async with only_one(uri, "test", "taken"):
        with pytest.raises(StoreLocked, match="taken"):
            async with only_one(uri, "test", "taken"):
                raise AssertionError
    async with only_one(uri, "test", "taken"):
        pass


async def test_an_object_store_is_not_locked() -> None:
    async with process_lock("s3://bucket", "test"), only_one("s3://bucket", "test", "taken"):
        await _taken("s3://bucket")


async def _taken(uri: str) -> None:
    async with process_lock(uri, "test"):
        pass


async def test_a_folder_that_cannot_be_locked_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    with pytest.raises(StoreError, match="file/lance cannot be locked: Not a directory"):
        async with process_lock(str(tmp_path / "file" / "lance"), "test"):
            pass


async def test_a_file_system_without_locks_is_told(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")

    def without(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", without)
    with pytest.raises(StoreError, match="lance cannot be locked: No locks available"):
        async with process_lock(uri, "test"):
            pass


async def test_who_has_it_in_use_alone(uri: str) -> None:
    one, two = await in_use(uri), await in_use(uri)
    assert one is not None
    assert two is not None
    assert not is_alone(one)
    one.close()
    assert is_alone(two)
    waiting = asyncio.create_task(in_use(uri))
    await asyncio.sleep(0.02)
    assert not waiting.done(), "whoever comes waits until the cleaning is done"
    two.close()
    three = await waiting
    assert three is not None
    three.close()


async def test_a_folder_without_locks_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert await in_use(str(tmp_path / "file" / "lance")) is None
    assert await in_use("s3://bucket/lance") is None
