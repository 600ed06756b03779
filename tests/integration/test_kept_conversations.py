"""Conversations in PostgreSQL: stored by one service, continued by another, forgotten by a user."""

from __future__ import annotations

import asyncio
import shutil
import traceback
from collections import defaultdict
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from agentic_rag import Answer, RagConfig, open_rag
from agentic_rag.errors import AllSourcesFailed, ConfigError, StoreAway, StoreError
from agentic_rag.stores.checkpoints import Checkpoints, kept_conversations
from service_server import running_service
from vector_stores import emptied_postgres


def _config(data: Path, uri: str | None) -> RagConfig:
    return RagConfig.model_validate({"data_dir": data, "service": {"conversations": uri}})


def test_a_conversation_goes_on_at_another_service(
    example_data: Path, tmp_path: Path, postgres_uri: str
) -> None:
    config = _config(Path(shutil.copytree(example_data, tmp_path / "data")), emptied_postgres(postgres_uri))
    with running_service(config) as address, httpx.Client(base_url=address, timeout=60) as client:
        client.post("/ask", json={"query": "What is kill-green? zebra", "thread_id": "one"})
        client.post("/ask", json={"query": "What is withering?", "thread_id": "two"})
    with running_service(config) as address, httpx.Client(base_url=address, timeout=60) as client:
        client.post("/ask", json={"query": "Why is it done?", "thread_id": "one"})
        kept = client.get("/threads").json()["conversations"]
        assert [(one["id"], one["turns"]) for one in kept] == [("one", 2), ("two", 1)]
        assert client.delete("/threads/two").status_code < 300
        assert client.delete("/memory").json()["conversations"] == 1
        assert client.get("/threads").json()["conversations"] == []
    assert not (tmp_path / "data" / "conversations.sqlite").exists()
    with psycopg.connect(postgres_uri) as connection:
        for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


@pytest.mark.parametrize(
    "uri",
    [
        "sqlite:///x",
        "localhost",
        "host=localhost password=SECRET",
        "postgresql://ada:p%SECRET@localhost:1/notes",
        "postgresql://ada:p@SECRET@localhost:1/notes",
        "postgresql://ada:p/SECRET@localhost:1/notes",
        "postgresql://ada:1/SECRET@localhost:1/notes",
        "postgresql://ada:p?a@SECRET@localhost:1/notes",
        "postgresql://localhost:1/notes?password=p&SECRET=1",
        "postgresql://ada:SECRET/notes",
        "postgresql://ada:[SECRET@localhost:1x/notes",
    ],
)
async def test_another_uri_is_refused_and_not_repeated(tmp_path: Path, uri: str) -> None:
    with pytest.raises(ConfigError, match=r"service\.conversations must be a URI .*%40 for @") as told:
        async with kept_conversations(_config(tmp_path, uri)):
            pass
    assert "SECRET" not in "".join(traceback.format_exception(told.value))


@pytest.mark.parametrize(
    "uri",
    [
        "postgresql://ada:p%40very%2Fsecret@127.0.0.1:1/notes",
        "postgresql://ada:p?very:secret@127.0.0.1:1/notes",
        "postgresql://127.0.0.1:1,127.0.0.1:2/notes?user=ada@home&password=very:secret",
        "postgres://ada@[::1]:1",
    ],
)
async def test_a_uri_with_its_parts_encoded_is_asked(tmp_path: Path, uri: str) -> None:
    with pytest.raises(StoreAway, match="start it") as told:
        async with kept_conversations(_config(tmp_path, uri)):
            pass
    assert "secret" not in str(told.value)


async def test_a_server_that_is_away_is_told_in_a_line(tmp_path: Path) -> None:
    config = _config(tmp_path, "postgresql://ada:very-secret@127.0.0.1:1/notes")
    with pytest.raises(StoreError, match="start it") as told:
        async with kept_conversations(config):
            pass
    assert "127.0.0.1" in str(told.value)
    assert "very-secret" not in str(told.value) + repr(config)
    assert "\n" not in str(told.value)


async def test_conversations_are_listed_while_one_is_forgotten(tmp_path: Path) -> None:
    async with kept_conversations(_config(tmp_path, None)) as kept:
        insert = "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id) VALUES (?, '', '1')"
        await kept.saver.conn.executemany(insert, [(f"ann/{number}",) for number in range(500)])
        await kept.saver.conn.commit()
        for number in range(20):
            listed, *_ = await asyncio.gather(
                kept.threads("ann/"), kept.saver.adelete_thread(f"ann/{number}"), kept.purge(), kept.reach()
            )
            assert len(listed) in (500 - number, 499 - number)


async def test_a_file_that_cannot_be_written_is_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "data" / "conversations.sqlite").mkdir(parents=True)
    (tmp_path / "file").touch()
    for data in (tmp_path / "data", tmp_path / "file"):
        with pytest.raises(StoreError, match=r"conversations\.sqlite cannot be written: [^\n]*\Z"):
            async with kept_conversations(_config(data, None)):
                pass


async def test_a_server_that_goes_away_meanwhile_is_told_in_a_line(
    example_data: Path, tmp_path: Path, postgres_uri: str
) -> None:
    config = _config(Path(shutil.copytree(example_data, tmp_path / "data")), postgres_uri)
    async with kept_conversations(config) as kept, open_rag(config, checkpointer=kept.saver) as rag:
        await rag.ask("What is kill-green?", thread_id="one")
        await kept.pool.close()  # type: ignore[attr-defined]
        with pytest.raises(StoreAway, match=r"service\.conversations failed: .*; ask without thread_id"):
            await rag.ask("Why is it done?", thread_id="one")
        assert (await rag.ask("Why is kill-green done?")).citations


@pytest.mark.parametrize("of", ["sqlite", "postgres"])
async def test_questions_of_a_conversation_wait_for_each_other(
    of: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """In PostgreSQL also those of two services, more at once than may run, which started at once."""
    uris = [None] if of == "sqlite" else [request.getfixturevalue("postgres_uri")] * 2
    running: dict[str, int] = defaultdict(int)
    most: dict[str, int] = defaultdict(int)

    async def question(kept: Checkpoints, thread: str) -> None:
        async with kept.turn(thread):
            running[thread] += 1
            most[thread] = max(most[thread], running[thread])
            await asyncio.sleep(0.01)
            running[thread] -= 1

    async with AsyncExitStack() as stack:
        services = await asyncio.gather(
            *(stack.enter_async_context(kept_conversations(_config(tmp_path, uri))) for uri in uris)
        )
        threads = ("one", "two")
        await asyncio.gather(*(question(kept, one) for kept in services for one in threads for _ in range(4)))
        for kept in services:
            await kept.reach()
    assert most == {"one": 1, "two": 1}


async def test_two_services_that_start_at_once_make_the_tables_once(
    tmp_path: Path, postgres_uri: str
) -> None:
    config = _config(tmp_path, emptied_postgres(postgres_uri))

    async def opened() -> list[Any]:
        async with kept_conversations(config) as kept:
            return list(await kept.threads(""))

    assert await asyncio.gather(*(opened() for _ in range(4))) == [[]] * 4
    with psycopg.connect(postgres_uri) as connection:
        migrations = connection.execute("SELECT count(*), count(DISTINCT v) FROM checkpoint_migrations")
        made, distinct = migrations.fetchone() or (0, 0)
    assert made == distinct > 0


async def test_the_turn_of_a_question_that_is_ended_is_free(tmp_path: Path, postgres_uri: str) -> None:
    async with kept_conversations(_config(tmp_path, postgres_uri)) as kept:

        async def question(held: asyncio.Event) -> None:
            async with kept.turn("one"):
                held.set()
                await asyncio.Event().wait()

        for _ in range(2):
            held = asyncio.Event()
            asked, waits = asyncio.create_task(question(held)), asyncio.create_task(question(held))
            await held.wait()
            waits.cancel()
            asked.cancel()
            await asyncio.gather(asked, waits, return_exceptions=True)
            assert (asked.cancelled(), waits.cancelled()) == (True, True)
        async with asyncio.timeout(30), kept.turn("one"):
            pass


@pytest.mark.parametrize("of", ["sqlite", "postgres"])
def test_a_request_sent_twice_is_answered_once(
    of: str, example_data: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    uri = None if of == "sqlite" else emptied_postgres(request.getfixturevalue("postgres_uri"))
    config = _config(Path(shutil.copytree(example_data, tmp_path / "data")), uri)
    question = {"query": "What is kill-green?", "thread_id": "one"}
    with running_service(config) as address, httpx.Client(base_url=address, timeout=60) as client:

        def asked(key: str, query: str = "") -> dict[str, Any]:
            sent = question | ({"query": query} if query else {})
            answer = client.post("/ask", json=sent, headers={"Idempotency-Key": key})
            assert answer.status_code == 200
            return {name: value for name, value in answer.json().items() if name != "seconds"}

        def turns() -> int:
            return int(client.get("/threads").json()["conversations"][0]["turns"])

        assert asked("a") == asked("a")
        headers = {"Idempotency-Key": "a", "Accept": "text/event-stream"}
        events = client.post("/ask", json=question, headers=headers).text
        assert ("event: answer" in events, "event: step" in events, turns()) == (True, False, 1)
        asked("b")
        assert turns() == 2
        assert asked("a")["query"] == question["query"]  # no longer the last answer
        assert turns() == 2
        board = {"query": question["query"], "thread_id": "one"}
        others: list[tuple[str, dict[str, Any]]] = [
            ("/ask", question | {"query": "What is withering?"}),
            ("/ask", question | {"top_k": 3}),
            ("/ask", question | {"thread_id": "two"}),
            ("/ask", {"query": question["query"]}),
            ("/boards", board),
        ]
        for path, sent in others:
            answer = client.post(path, json=sent, headers={"Idempotency-Key": "b"})
            assert (answer.status_code, answer.json()["error"]["type"]) == (422, "OtherRequest"), (path, sent)
        assert turns() == 2
        for _ in range(2):
            assert client.post("/boards", json=board, headers={"Idempotency-Key": "c"}).status_code == 200
        assert turns() == 3
        client.delete("/memory")
        asked("b", "What is withering?")  # nothing is left of the earlier request
        assert turns() == 1


@pytest.mark.parametrize("of", ["sqlite", "postgres"])
async def test_pages_of_conversations_are_stable_beside_new_ones(
    of: str, example_data: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    uri = None if of == "sqlite" else emptied_postgres(request.getfixturevalue("postgres_uri"))
    config = _config(Path(shutil.copytree(example_data, tmp_path / "data")), uri)
    with running_service(config) as address, httpx.Client(base_url=address, timeout=60) as client:

        def ask(thread: str) -> None:
            assert client.post("/ask", json={"query": "What is tea?", "thread_id": thread}).status_code == 200

        def page(cursor: str | None) -> tuple[list[str], str | None]:
            answer = client.get(
                "/threads", params={"limit": 2, **({"cursor": cursor} if cursor else {})}
            ).json()
            return [one["id"] for one in answer["conversations"]], answer["next"]

        for number in range(5):
            ask(f"old-{number}")
        found, cursor = page(None)
        while cursor:
            ask(f"new-{len(found)}")
            more, cursor = page(cursor)
            found += more
        assert found == [f"old-{number}" for number in reversed(range(5))]
        for wrong in ({"limit": 0}, {"limit": 101}, {"cursor": "\0"}):
            assert client.get("/threads", params=wrong).status_code == 422


@pytest.mark.parametrize("of", ["sqlite", "postgres"])
async def test_a_question_that_failed_leaves_nothing_and_may_be_sent_again(
    of: str,
    example_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    uri = None if of == "sqlite" else emptied_postgres(request.getfixturevalue("postgres_uri"))
    config = _config(Path(shutil.copytree(example_data, tmp_path / "data")), uri)

    async def away(*_: object, **__: object) -> None:
        raise StoreError("it is away")

    async with kept_conversations(config) as kept, open_rag(config, checkpointer=kept.saver) as rag:

        async def asked(question: str) -> str:
            parts = rag.stream(question, thread_id="one", request_id=question)
            texts = [part.text async for part in parts if isinstance(part, Answer)]
            return texts[-1]

        for number, question in enumerate(("What is kill-green?", "Why is it done?")):
            with monkeypatch.context() as patched:
                for engine in (rag.retrieval, rag.graph_engine):
                    patched.setattr(type(engine), "find", away)
                for _ in range(2):
                    with pytest.raises(AllSourcesFailed):
                        await asked(question)
            assert len(await rag.messages("one")) == 2 * number
            answer = await asked(question)
            assert answer == await asked(question)
            assert len(await rag.messages("one")) == 2 * number + 2
