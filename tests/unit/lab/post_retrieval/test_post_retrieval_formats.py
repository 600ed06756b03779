"""Action format: the template is filled for each memory."""

from __future__ import annotations

from typing import Any

from agentic_rag_lab.designs.post_retrieval import PostRetrieval, PostRetrievalTools, parse_steps
from word_counts import count_words

PROMPT = "The following is some history information.\n"


async def history(memories: list[dict[str, Any]], kind: str, **settings: Any) -> str:
    """What stands below the prompt."""
    steps = parse_steps({"action": "format", "format_type": kind, **settings})
    written = await PostRetrieval(steps, PostRetrievalTools(None, None, None, count_words)).execute(
        {"question": "q", "memory_data": memories}
    )
    assert [memory["text"] for memory in written["memory_data"]] == [memory["text"] for memory in memories]
    text: str = written["history_text"]
    assert text.startswith(PROMPT)
    return text.removeprefix(PROMPT)


def memory(text: str, score: float | None = None, **metadata: Any) -> dict[str, Any]:
    return {"text": text, "score": score, "metadata": metadata or None}


async def test_a_template_is_filled_for_each_memory():
    memories = [
        memory("I like {score}", 0.5, timestamp="2023-08-01", speaker="Alice"),
        memory("tea", 0),
        memory("cake"),
    ]
    assert await history(
        memories, "template", memory_template="{index}. [{timestamp}] {speaker}: {text} ({score})"
    ) == ("1. [2023-08-01] Alice: I like {score} (0.500)\n2. [] : tea (0.000)\n3. [] : cake ()\n")
