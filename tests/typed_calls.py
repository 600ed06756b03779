"""What a type checker must say of calls: mypy reads this file in ``make test``, and an ignore that is not needed fails."""

from __future__ import annotations

from agentic_rag import Answer, Rag, RagConfig, open_rag_blocking
from agentic_rag.state import CanvasRAGState

RagConfig(data_dir="notes", answer={"method": "chat"}, rerank={"method": "none"})
RagConfig(data_dri="notes")  # type: ignore[call-arg]


def blocking() -> str:
    with open_rag_blocking() as rag:
        answer: Answer = rag.ask("What?", operation="document_retrieval", top_k=3)
        rag.ask("What?", operation="guess")  # type: ignore[arg-type]
        rag.ask("What?", top_kk=3)  # type: ignore[call-arg]
        wrong: int = rag.ask("What?").text  # type: ignore[assignment]
        return f"{answer.text}{wrong}"


async def graph(rag: Rag) -> list[str]:
    await rag.graph.ainvoke({"query": "What?", "top_k": 3}, context={"fusion": {"k": 20}})
    await rag.graph.ainvoke({"qery": "What?"})  # type: ignore[call-overload]
    state: CanvasRAGState = {"answer": "tea"}
    return [state["answer"], state["anser"]]  # type: ignore[typeddict-item]
