"""The page, OpenAI's surface, MCP and the HTTP API, at /service of LangGraph's server, on the same stores."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agentic_rag import Rag
from agentic_rag.settings.environment import load_config
from agentic_rag.shared import shared_rag
from agentic_rag_service.app import create_app, mounted_at

config = load_config()


@asynccontextmanager
async def open_rag() -> AsyncIterator[Rag]:
    """The stores that the graphs use too; they stay open until the process ends."""
    yield await shared_rag(config).get()


app = mounted_at(create_app(config, store_opener=open_rag), "/service")
