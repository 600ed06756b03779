"""Questions for the notes that link to a note: by any of its names, in vaults and in exports of other programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from agentic_rag.ingest.files.discovery import discover
from agentic_rag.notes.catalogue import Snapshot, note_of
from agentic_rag.questions.note_queries.choosing import choose
from agentic_rag.questions.note_queries.reading import read_query
from agentic_rag.questions.note_queries.vocabulary import Vocabulary
from note_rows import nearest, snapshot_of

PLAN, HOME, IDEA = (f"{letter}123456789abcdef0123456789abcdef" for letter in "abc")
VAULT = snapshot_of({
    "games/Dota.md": "See [[plan]].\n",
    "Home.md": "Go to [[work/Plan|the plan]] and [[Tasks]].\n",
    "Other.md": "Read [this](work/Plan.md#top), not [[Nowhere]].\n",
    "work/Plan.md": "---\naliases: [Roadmap]\ntitle: The way ahead\n---\nBack [[Home]]. ![[Other]]\n",
    "会议.md": "参见[[Roadmap]]。\n",
    "Tasks.md": "- [ ] call plumber\n",
})  # fmt: skip


async def linking(question: str, snapshot: Snapshot = VAULT) -> Sequence[str] | None:
    """Paths of the notes that are selected; None where the question is read as no query."""
    query = await read_query(question, Vocabulary.of(snapshot), nearest)
    if query is None:
        return None
    return sorted(entry.path for entry in choose(query, snapshot.notes, snapshot.facts).entries)


@pytest.mark.parametrize(
    ("question", "paths"),
    [
        ("Which notes link to Plan?", ["Home.md", "Other.md", "games/Dota.md", "会议.md"]),
        ("which pages link to [[Roadmap]]", ["Home.md", "Other.md", "games/Dota.md", "会议.md"]),
        ('How many notes link to the note "The way ahead"?', ["Home.md", "Other.md", "games/Dota.md", "会议.md"]),
        ("Which games link to Plan?", ["games/Dota.md"]),
        ("哪些笔记链接到Plan？", ["Home.md", "Other.md", "games/Dota.md", "会议.md"]),
        ("链接到Plan的笔记有哪些？", ["Home.md", "Other.md", "games/Dota.md", "会议.md"]),
        ("which notes link to Tasks?", ["Home.md"]),
        ("which notes link to Nowhere?", ["Other.md"]),
        ("which notes link to 会议?", []),
        ("which notes link to Elsewhere?", None),
        ("Where does the path link to Home?", None),
    ],
)  # fmt: skip
async def test_notes_that_link_to_a_note(question: str, paths: Sequence[str] | None) -> None:
    assert await linking(question) == paths


@pytest.mark.parametrize(
    ("files", "paths"),
    [
        (
            {
                f"Plan {PLAN}.md": "# Plan\n\nMove out.\n",
                f"Home {HOME}.md": f"# Home\n\nSee [Plan](Plan%20{PLAN}.md).\n",
                f"Work/Idea {IDEA}.md": f"# Idea\n\nGoal: Plan (../Plan%20{PLAN}.md)\n\nNew.\n",
                f"Work/Other {HOME}.md": f"# Other\n\nSee [the plan](../Plan%20{PLAN}.md).\n",
            },
            ["Home.md", "Work/Idea.md", "Work/Other.md"],
        ),
        (
            {
                "logseq/config.edn": "{}",
                "pages/work___Plan.md": "alias:: Plan\n\n- Move out\n",
                "pages/Home.md": "- See [[work/Plan]]\n",
                "journals/2024_03_05.md": "- Wrote [[Plan]]\n",
            },
            ["journals/2024_03_05.md", "pages/Home.md"],
        ),
    ],
)
async def test_links_of_exports(tmp_path: Path, files: dict[str, str], paths: Sequence[str]) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    snapshot = Snapshot.of(note_of(item.parse()) for item in discover([tmp_path]).items)
    assert await linking("Which notes link to Plan?", snapshot) == paths
