"""The graph servers, Neo4j and FalkorDB: Graphiti's drivers, with LanceDB's write after each commit."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from functools import cached_property, partial
from typing import Any, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit

from agentic_rag.domain.json_values import Json
from agentic_rag.errors import ConfigError, StoreAway, first_line, needing
from agentic_rag.settings.config import GraphConfig
from agentic_rag.stores.graph.change import Change
from agentic_rag.stores.graph.commit import Committer
from agentic_rag.stores.graphiti.library import GraphDriverSession, Transaction
from agentic_rag.stores.uninterrupted import run_uninterrupted

GREETING_SECONDS = 10.0
"""The longest wait for a server's first answer."""
SILENT_SECONDS = 30.0
"""Without an answer, after which the server is greeted: a large change may take longer, but a server that hangs does not
answer a greeting."""
Answer = TypeVar("Answer")


def server_driver(config: GraphConfig, committer: Committer | None) -> Any:
    """A Graphiti driver whose write transactions go through the committer; without one, only to see whether it is there.

    Raises ``ConfigError`` for an address it cannot use or no password, ``MissingExtra`` for a backend not installed.
    """
    backend, uri = config.backend, config.uri
    password = config.password.get_secret_value() if config.password else None
    if not uri:
        raise ConfigError(
            f"the graph backend {backend!r} needs the server's address: set graph.uri, such as {_EXAMPLES[backend]}"
        )
    if not password:
        raise ConfigError(
            f"the graph backend {backend!r} needs a password: set AGENTIC_RAG_GRAPH__PASSWORD, here and for the server"
        )
    address, user = _address(backend, uri)
    driver = _DRIVERS[backend](address, user, password)
    driver.committer = committer
    driver.description = f"{backend} at {address.netloc}"
    return driver


def _address(backend: str, uri: str) -> tuple[SplitResult, str | None]:
    """The address without its user, and the user; ``ConfigError`` where a driver would leave a part of it out unsaid."""
    with suppress(ValueError):
        address = urlsplit(uri)
        routing = "" if address.scheme.startswith("neo4j") else address.query
        beside = (address.password, address.path.strip("/"), routing, address.fragment)
        if address.scheme in _SCHEMES[backend] and address.hostname and address.port != 0 and not any(beside):
            user = unquote(address.username) if address.username else _FIRST_USERS[backend]
            return address._replace(netloc=address.netloc.rpartition("@")[2]), user
    raise _unreadable(backend)


def _unreadable(backend: str) -> ConfigError:
    """It repeats nothing of the address: a password may stand anywhere in what cannot be read."""
    return ConfigError(
        f"graph.uri is no address of {backend!r}: write scheme, host and port, such as {_EXAMPLES[backend]}, "
        f"the scheme one of {', '.join(_SCHEMES[backend])}; a user stands before an @, the password in graph.password"
    )


class CommittedSession(GraphDriverSession):  # type: ignore[misc]
    """A server's session whose ``execute_write`` is followed by LanceDB's write.

    Args:
        begin: begins the server's own session, which may connect to it.
        driver: whose it is.
    """

    def __init__(self, begin: Callable[[], Any], driver: Any) -> None:
        self.provider = driver.provider
        self._begin = begin
        self._driver = driver

    @cached_property
    def _inner(self) -> Any:
        return self._begin()

    async def __aenter__(self) -> CommittedSession:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        if "_inner" in self.__dict__:
            await self._inner.close()

    async def run(self, query: Any, **kwargs: Any) -> Any:
        return await self._inner.run(query, **kwargs)

    async def execute_write(self, func: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        committer: Committer = self._driver.committer
        change = Change()
        exits = AsyncExitStack()

        async def attempt(transaction: Any, *_: Any, **__: Any) -> Any:
            nonlocal change
            change = Change()  # the server may run this again
            await exits.aclose()
            result = await func(CommittedTransaction(transaction, change), *args, **kwargs)
            await committer.before_commit(change, exits)
            return result

        async def write() -> Any:
            async with exits:
                result = await self._driver.wait_for_answer(self._inner.execute_write(attempt))
                await committer.after_commit(change)
                return result

        async with committer.turn():
            try:
                await self._driver.ensure_indexes()
                await run_uninterrupted(committer.prepare(self._driver.run_answered))
                return await run_uninterrupted(write())
            except self._driver.failures as error:
                raise self._driver.unusable(first_line(error).rstrip(":")) from error


class ServerDriver:
    """What the drivers of both servers share: reaching the server, and its errors.

    Indexes are made at the first write, not by the constructor, so a store can be opened and asked while the server
    is down.
    """

    description: str
    """Kind and address of the server."""
    failures: tuple[type[Exception], ...] = ()
    """What the driver raises where the server cannot be reached, or refuses the login."""
    entity_node_ops = episode_node_ops = entity_edge_ops = episodic_edge_ops = None
    """Graphiti's own would write the server past LanceDB; ``graphiti.nodes`` and ``graphiti.edges`` do without."""
    _indexes_wanted = False
    _indexes_made = False

    async def greet(self) -> None:
        """Raises one of ``failures`` where the server cannot be used, without trying again and again."""
        raise NotImplementedError

    async def run_alone(self, query: str, **parameters: Any) -> list[Json]:
        """Rows of a statement that commits by itself."""
        raise NotImplementedError

    def unusable(self, reason: str) -> StoreAway:
        """What to say of it, in one line."""
        return StoreAway(
            f"{self.description} cannot be used: {reason}; start it (docker compose --profile {self.description.partition(' ')[0]} up -d), "
            "or correct graph.uri and graph.password"
        )

    async def build_indices_and_constraints(self, delete_existing: bool = False) -> None:
        if self._indexes_wanted:
            await super().build_indices_and_constraints(delete_existing)  # type: ignore[misc]

    async def reach(self) -> None:
        """Raises ``StoreAway`` where the server cannot be used."""
        try:
            async with asyncio.timeout(GREETING_SECONDS):
                await self.greet()
        except TimeoutError as error:
            raise self.unusable(f"no answer within {GREETING_SECONDS:g} s") from error
        except self.failures as error:
            raise self.unusable(first_line(error).rstrip(":")) from error

    async def ensure_indexes(self) -> None:
        if not self._indexes_made:
            await self.reach()
            self._indexes_wanted = True
            await self.wait_for_answer(self.build_indices_and_constraints())
            self._indexes_made = True

    async def run_answered(self, query: str, **parameters: Any) -> list[Json]:
        """``run_alone``, ``wait_for_answer``."""
        return await self.wait_for_answer(self.run_alone(query, **parameters))

    async def wait_for_answer(self, request: Coroutine[Any, Any, Answer]) -> Answer:
        """The server's answer, however long it takes, as long as the server answers a greeting every SILENT_SECONDS.

        Raises:
            StoreAway: it does not answer the greeting.
        """
        answer = asyncio.ensure_future(request)
        try:
            while not answer.done():
                await asyncio.wait([answer], timeout=SILENT_SECONDS)
                if not answer.done():
                    await self.reach()
            return answer.result()
        finally:
            answer.cancel()
            await asyncio.wait([answer])


class CommittedTransaction(Transaction):  # type: ignore[misc]
    """A server's transaction that gathers what LanceDB must repeat."""

    def __init__(self, inner: Any, change: Change) -> None:
        self._inner = inner
        self.change = change

    async def begin(self) -> None:
        """Nothing to do: the transaction is open already."""

    async def run(self, query: str, **parameters: Any) -> Any:
        return await self._inner.run(query, **parameters)


def _neo4j(address: SplitResult, user: str | None, password: str | None) -> Any:
    from graphiti_core.driver.neo4j_driver import Neo4jDriver
    from neo4j.exceptions import (
        AuthError,
        ConfigurationError,
        DatabaseUnavailable,
        ServiceUnavailable,
        SessionExpired,
    )

    # Every query would warn about properties that no node has yet, and every new try that the server is down.
    logging.getLogger("neo4j").setLevel(logging.ERROR)

    class CommittedNeo4jDriver(ServerDriver, Neo4jDriver):  # type: ignore[misc]
        failures = (ServiceUnavailable, SessionExpired, AuthError, DatabaseUnavailable)

        async def greet(self) -> None:
            await self.client.verify_connectivity()

        def session(self, database: str | None = None) -> CommittedSession:
            return CommittedSession(partial(super().session, database), self)

        async def run_alone(self, query: str, **parameters: Any) -> list[Json]:
            return [record.data() for record in (await self.execute_query(query, params=parameters)).records]

    try:
        return CommittedNeo4jDriver(address.geturl(), user, password)
    except ConfigurationError:  # of what follows the question mark
        raise _unreadable("neo4j") from None


def _falkordb(address: SplitResult, user: str | None, password: str | None) -> Any:
    with needing("the FalkorDB backend", "falkordb"):
        from falkordb.asyncio import FalkorDB
        from graphiti_core.driver.falkordb_driver import FalkorDriver

    errors = importlib.import_module("redis.exceptions")

    class CommittedFalkorDriver(ServerDriver, FalkorDriver):  # type: ignore[misc]
        failures = (errors.ConnectionError, errors.TimeoutError, OSError)
        _own_client: FalkorDB | None = None

        @property
        def client(self) -> FalkorDB:
            """The client, made when it is first needed: making it asks the server, and blocks."""
            if self._own_client is None:
                self._own_client = FalkorDB(host=host, port=port, connection_pool=pool)
            return self._own_client

        @client.setter
        def client(self, driver: object) -> None:
            """Graphiti would have it when the driver is made."""

        async def greet(self) -> None:
            _, writer = await asyncio.open_connection(host, port)  # the client would try again for seconds
            writer.close()
            client = await asyncio.to_thread(lambda: self.client)
            await client.connection.ping()

        def session(self, database: str | None = None) -> CommittedSession:
            return CommittedSession(partial(super().session, database), self)

        def clone(self, database: str) -> CommittedFalkorDriver:
            """Groups share one graph: they are told apart by their group id, as on every backend."""
            return self

        async def run_alone(self, query: str, **parameters: Any) -> list[Json]:
            found = await self.execute_query(query, **parameters)
            return list(found[0]) if found else []

        async def close(self) -> None:
            if self._own_client is not None:
                await super().close()
            await pool.disconnect()

    redis = importlib.import_module("redis.asyncio")
    host, port = address.hostname, address.port or 6379
    # The default pool refuses the hundred-and-first connection; this one waits for a free one. Its client would give up
    # a statement after 5 s, and send it again.
    pool = redis.BlockingConnectionPool(
        connection_class=redis.SSLConnection if address.scheme == "rediss" else redis.Connection,
        host=host,
        port=port,
        username=user,
        password=password,
        decode_responses=True,
        max_connections=32,
        socket_timeout=None,
    )
    return CommittedFalkorDriver(falkor_db=pool)


_EXAMPLES = {"neo4j": "bolt://127.0.0.1:7687", "falkordb": "redis://127.0.0.1:6379"}
_FIRST_USERS = {"neo4j": "neo4j", "falkordb": None}
"""Whom a server knows before it is told of others; FalkorDB's needs no name."""
_SCHEMES = {
    "neo4j": ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"),
    "falkordb": ("redis", "rediss"),
}
"""With TLS those that end in s; ``ssc`` takes any certificate."""
_DRIVERS: dict[str, Callable[[SplitResult, str | None, str | None], Any]] = {
    "neo4j": _neo4j,
    "falkordb": _falkordb,
}
