"""Notes as a search finds them: their chunks, and the results that name these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentic_rag.domain import Chunk
from agentic_rag.ingest.chunking import chunk_document
from agentic_rag.notes.markdown import parse_markdown
from word_counts import count_words

NOTES: Mapping[str, str] = {
    "Team.md": "# Team\n\n## Anna Weiss\n\n- Role: backend\n- Phone: 555-0101\n\n"
    "## Bilal Khan\n\n- Role: design\n- Phone: 555-0102\n",
    "Recipes.md": "- Pancakes\n\t- two eggs\n\t- 200 ml of milk\n- Waffles\n\t- four eggs\n\t- 300 ml of milk\n",
    "Pesto.md": "# Pesto\n\n## Ingredients\n\n- basil\n- oil\n\n## Steps\n\n1. Wash the basil\n2. Grind it\n3. Add oil\n",
    "Dune.md": "---\nrating: 5\nauthor: Frank Herbert\npublisher:\n---\nDune is a novel about sand. It has worms.\n",
    "Emma.md": "---\nrating: 4\nauthor: Jane Austen\n---\nEmma is a novel about matchmaking.\n",
    "Shopping.md": "# Shopping list\n\n- milk\n- eggs\n- yeast\n",
    "Snippet.md": "# Restart the mail server\n\n```sh\nsystemctl restart postfix\n```\n",
    "Rooms.md": "# Rooms\n\n| Room | Size |\n|---|---|\n| Attic | 20 m2 |\n| Cellar | 35 m2 |\n",
}


def chunks_of(path: str, text: str, *, max_tokens: int = 60) -> list[Chunk]:
    """The chunks of a Markdown note; tokens are words."""
    document = parse_markdown(path, path, text)
    return list(chunk_document(document, max_tokens=max_tokens, count_tokens=count_words))


def documents_of(*paths: str, notes: Mapping[str, str] = NOTES) -> dict[str, list[Chunk]]:
    """The chunks of some notes, by their path, which is their id."""
    return {path: chunks_of(path, notes[path]) for path in paths}


def results_of(documents: Mapping[str, Sequence[Chunk]]) -> list[dict[str, Any]]:
    """A result for each chunk, in order."""
    return [
        {
            "id": chunk.id,
            "content": chunk.text,
            "metadata": {
                "document_id": chunk.document_id,
                "path": chunk.path,
                "title": chunk.title,
                "start": chunk.start,
                "heading_path": list(chunk.heading_path),
            },
            "sources": {"lancedb": {"raw": 0.9, "weight": 1.0}},
            "rerank_score": 0.9,
        }
        for chunks in documents.values()
        for chunk in chunks
    ]
