"""Answers of the shapes that the main graph gives, made at random: for the tests of boards."""

from __future__ import annotations

import random
from typing import Any

WORDS = "leaf oxidation 杀青 渥堆 kettle Uji catechins 茶多酚 firing rest white 1051 slow microbes cup 萎凋".split()
OPERATIONS = ("verification_canvas", "weak_point_clustering", "concept_relation", "document_retrieval")


def board_answer(rng: random.Random, operation: str, *, query: str = "what is 杀青?") -> dict[str, Any]:
    """An answer with one to eight citations, in the form of its operation."""
    number = rng.randint(1, 8)
    citations = [_citation(rng, n) for n in range(1, number + 1)]
    lines = [_line(rng, operation, citation) for citation in citations]
    return {
        "query": query,
        "operation": operation,
        "dataset": "default",
        "answer": "\n".join(lines),
        "abstained": False,
        "citations": citations,
        "results": [{"metadata": {"title": one["title"], **one}} for one in citations],
    }


def _said(rng: random.Random, least: int = 2) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(least, 40)))


def _citation(rng: random.Random, number: int) -> dict[str, Any]:
    title = " ".join(rng.sample(WORDS, 2))
    path = f"notes/{title}.md"
    return {
        "n": number,
        "chunk_id": f"{path}#{number}",
        "document_id": path,
        "path": path,
        "title": title,
        "heading_path": rng.choice([[], [title], [title, "A: heading #1 [x]"]]),
        "start": 0,
        "end": 10,
        "quote": _said(rng),
        "score": 0.5,
        "url": f"obsidian://open?vault=vault&file={number}",
    }


def _line(rng: random.Random, operation: str, citation: dict[str, Any]) -> str:
    mark = f"[{citation['n']}]"
    if operation == "verification_canvas":
        return f"{citation['n']}. {_said(rng)}?\n   → {_said(rng, 1)} {mark}"
    if operation == "weak_point_clustering":
        theme = [f"{rng.choice(WORDS)} (2)\n"] if citation["n"] == 1 or rng.random() < 0.5 else []
        return "".join([*theme, f"  - {citation['title']}: {_said(rng)} {mark}"])
    if operation == "concept_relation":
        source, target = rng.choice(WORDS), rng.choice(WORDS)
        return f"{source} —{rng.choice(WORDS)}→ {target}: {_said(rng)} {mark}"
    return f"{_said(rng)} {mark}"
