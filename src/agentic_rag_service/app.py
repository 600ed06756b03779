"""The service: one FastAPI app with every interface; stores and models are opened once."""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager, suppress
from http import HTTPMethod
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentic_rag.cli.command_server import commands_served
from agentic_rag.errors import AgenticRagError, ConfigError, InputError
from agentic_rag.nodes.request import DEFAULT_DATASET
from agentic_rag.opening import Reach
from agentic_rag.rag import Rag, open_rag
from agentic_rag.settings.config import RagConfig
from agentic_rag.stores.checkpoints import kept_conversations
from agentic_rag_service import asking, boards, health, notes, people
from agentic_rag_service.access import LOOPBACK, Access, Gate
from agentic_rag_service.conversations import Conversations
from agentic_rag_service.errors import add_error_handlers
from agentic_rag_service.limits import MAX_RUNNING, QuestionSlots
from agentic_rag_service.mcp_server import http_door, mcp_server
from agentic_rag_service.openai import chat, responses
from agentic_rag_service.page.routes import error_part, mount_page
from agentic_rag_service.readiness import Readiness
from agentic_rag_service.roots import AllowedRoots
from agentic_rag_service.service import Service

logger = logging.getLogger(__name__)
OpenRag = Callable[[], AbstractAsyncContextManager[Rag]]
"""Opens a ``Rag``, or gives access to one that stays open."""
METHODS = frozenset(HTTPMethod)
ROUTERS = (asking, notes, boards, people, chat, responses, health)


def create_app(
    config: RagConfig,
    *,
    host: str = "127.0.0.1",
    roots: Sequence[Path] = (),
    mcp_write: bool = False,
    watched_folders: Sequence[Path] = (),
    dataset: str = DEFAULT_DATASET,
    store_opener: OpenRag | None = None,
) -> FastAPI:
    """The app; stores open when it starts and close when it ends.

    Args:
        config: configuration of the stores; ``config.service`` lists who may call.
        host: the address that it will listen on.
        roots: folders that clients may name.
        watched_folders: folders whose changes ``dataset`` follows.
        dataset: the dataset of ``watched_folders``.
        mcp_write: whether MCP clients may ingest, write boards and remember.
        store_opener: gives an open ``Rag``, which then stores no conversations of this app; None: the app opens its own.

    Raises:
        ConfigError: an address other than loopback without an API key, or a replica that only answers is told to
            write.
        InputError: a root is no folder.
    """
    if not config.service.writes and (watched_folders or mcp_write):
        raise ConfigError(
            "service.writes is false, so this replica cannot watch folders (--watch) nor let MCP clients write "
            "(--mcp-write); leave that to the replica that writes"
        )
    if config.lancedb_copies and config.service.writes:
        raise ConfigError(
            "lancedb_copies is set, so this service only answers questions: set service.writes to false, too, and let "
            "another replica write"
        )
    if host not in LOOPBACK and not config.service.keys:
        raise ConfigError(
            f"{host} can be reached by others; set an API key first: "
            """AGENTIC_RAG_SERVICE__KEYS='[{"key": "…", "user": "…"}]', or listen on 127.0.0.1"""
        )
    allowed = AllowedRoots(roots)
    if missing := [str(folder) for folder in watched_folders if not folder.is_dir()]:
        raise InputError(f"there is no folder {missing[0]!r} to watch")

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if store_opener is None:
                kept = await stack.enter_async_context(kept_conversations(config))
                rag = await stack.enter_async_context(open_rag(config, checkpointer=kept.saver))
            else:
                kept, rag = None, await stack.enter_async_context(store_opener())
            await stack.enter_async_context(commands_served(rag))
            limits = config.service
            slots = QuestionSlots(MAX_RUNNING, limits.timeout_seconds)
            conversations = Conversations(kept)
            readiness = Readiness(_needed_stores(rag, conversations))
            service = await asyncio.to_thread(  # it looks where its folders lie
                Service, rag, Access(limits.keys), slots, conversations, allowed, readiness
            )
            stack.push_async_callback(service.jobs.close)
            server = await asyncio.to_thread(mcp_server, rag, allowed, write=mcp_write, slots=slots)
            app.state.mcp = await stack.enter_async_context(http_door(server, service.access))
            app.state.service = service
            gc.collect()
            gc.freeze()  # what is loaded lives until the end, and collecting it sometimes costs a question 150 ms
            warming = asyncio.create_task(_warm_models(rag))
            stack.push_async_callback(_end_task, warming)
            stack.push_async_callback(_end_task, asyncio.create_task(service.metrics.watch_the_loop()))
            if watched_folders:
                following = asyncio.create_task(_follow(service, watched_folders, dataset))
                stack.push_async_callback(_end_task, following)
            try:
                yield
            finally:
                service.closing = True

    app = FastAPI(
        title="agentic-rag",
        summary="Ask your notes: a knowledge graph and a vector store searched together, answers with citations.",
        version=version("agentic-rag"),
        lifespan=lifespan,
        docs_url=None,  # would load scripts from elsewhere
        redoc_url=None,
    )
    add_error_handlers(app, error_part)
    for module in ROUTERS:
        app.include_router(module.router)
    mount_page(app)

    async def mcp(scope: Scope, receive: Receive, send: Send) -> None:
        await app.state.mcp(scope, receive, send)

    app.mount("/mcp", mcp)
    app.add_middleware(RequestTimer)
    if config.service.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=config.service.origins,
            allow_methods=["*"],
            allow_headers=["*"],
            allow_private_network=True,
        )
    app.add_middleware(Gate, config=config.service, host=host)
    return app


def _needed_stores(rag: Rag, conversations: Conversations) -> dict[str, Reach]:
    """The stores that requests need. A replica that only answers does not need the graph server: searches do not
    use it."""
    reach: dict[str, Reach] = {**rag.reach, "conversations": conversations.reach}
    if not rag.config.service.writes:
        reach.pop("graph", None)
    return reach


async def _warm_models(rag: Rag) -> None:
    """Load the models while the first requests are answered."""
    with suppress(AgenticRagError):
        await rag.warm_up()
    # Without a collection, which would hold the requests that are being answered for as long.
    gc.freeze()


async def _end_task(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def mounted_at(app: FastAPI, prefix: str) -> Starlette:
    """The service under a path prefix of a server that has its own routes (LangGraph's has /threads, /mcp, …)."""

    @asynccontextmanager
    async def lifespan(outer: Starlette) -> AsyncIterator[None]:
        async with app.router.lifespan_context(app):
            yield

    return Starlette(routes=[Mount(prefix, app)], lifespan=lifespan)


async def _follow(service: Service, folders: Sequence[Path], dataset: str) -> None:
    """Keep the dataset up to date until cancelled; the next start finishes incomplete work."""
    names = ", ".join(map(str, folders))
    service.watched_folders[dataset] = names
    try:
        async with aclosing(service.rag.watch(folders, dataset=dataset)) as changes:
            async for done in changes:
                service.watched_folders[dataset] = (
                    names if done.problem is None else f"{names}: {done.problem}"
                )
    except Exception as error:  # it must say that it ended, and how
        logger.exception("watching has ended")
        service.watched_folders[dataset] = f"{names}: watching ended with {type(error).__name__}; see the log"


class RequestTimer:
    """Counts requests by route, not by path, because a path may name a note. An unknown method counts as "other"."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            service: Service | None = getattr(scope["app"].state, "service", None)
            if service is not None:
                route = getattr(scope.get("route"), "path", "unknown")
                method = scope["method"] if scope["method"] in METHODS else "other"
                observed = service.metrics.requests.labels(method, route, str(status))
                observed.observe(time.perf_counter() - started)
