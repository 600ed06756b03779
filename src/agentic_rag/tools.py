"""Asking as a langchain-core tool and retriever, for agents and chains that are not this package's graph."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import Field

from agentic_rag.answer import Answer
from agentic_rag.domain.loops import result_of
from agentic_rag.domain.results import Citation
from agentic_rag.errors import AgenticRagError
from agentic_rag.retrieval.langchain_retriever import DocumentRetriever

Ask = Callable[[str], Awaitable[Answer]]
Question = Annotated[str, Field(description="A whole question, in the language of the notes.")]


def answer_tool(ask: Ask, loop: asyncio.AbstractEventLoop, name: str, description: str) -> BaseTool:
    """A tool with one argument, ``question``.

    Its content is ``cited_text`` of the answer, its artifact the citations. What ``ask`` raises becomes an error message
    to the model.

    Args:
        ask: asks a question.
        loop: the event loop on which it works; a synchronous call from another thread runs there.
        name, description: what the model reads.
    """

    async def call(question: Question) -> tuple[str, list[Citation]]:
        try:
            answer = await ask(question)
        except AgenticRagError as error:
            raise ToolException(str(error)) from error
        return cited_text(answer), answer.citations

    def call_from_thread(question: Question) -> tuple[str, list[Citation]]:
        return result_of(call(question), loop)

    return StructuredTool.from_function(
        call_from_thread,
        coroutine=call,
        name=name,
        description=description,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


def cited_text(answer: Answer) -> str:
    """The answer, then a line for each citation: its mark, the note's path, and the quote."""
    quotes = [f"[{one['n']}] {one['path'] or one['title']}: {one['quote']}" for one in answer.citations]
    return "\n\n".join([answer.text, *(["\n".join(quotes)] if quotes else [])])


def answer_retriever(ask: Ask, loop: asyncio.AbstractEventLoop) -> BaseRetriever:
    """The fused and reranked results of a question as documents, best first.

    A document has the passage as ``page_content``, its id, and as metadata the note's properties and place, with
    ``relevance_score`` (of the rerank, higher is better) and ``sources`` on top.
    """

    async def documents(query: str) -> list[Document]:
        return [document_of(result) for result in (await ask(query)).results]

    return DocumentRetriever(search=documents, home=loop)


def document_of(result: Mapping[str, Any]) -> Document:
    """A result of the main graph as a langchain-core document."""
    ranked = {"relevance_score": result.get("rerank_score"), "sources": list(result["sources"])}
    return Document(
        id=result["id"], page_content=result["content"], metadata={**result["metadata"], **ranked}
    )
