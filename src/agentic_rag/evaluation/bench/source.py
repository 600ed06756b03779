"""The memory benchmark, the source: conversations of a LoCoMo file, with their questions repaired."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agentic_rag.errors import InputError
from agentic_rag.evaluation.locomo import read_locomo, repair_lines
from agentic_rag.evaluation.reading import read_json
from agentic_rag.ingest.conversation import RawSession, parse_session_date, sessions, spoken
from agentic_rag.lab.conversation import Conversation, Dialog, Question, Session


def read_conversations(path: Path) -> dict[str, Conversation]:
    """Every conversation of a LoCoMo file by its ``sample_id``.

    Evidence is repaired as ``evaluation.locomo`` does; a turn that shares a photo has its caption in the text.

    Raises:
        InputError: the file cannot be read, or is no LoCoMo data.
    """
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}; give a LoCoMo .json with --data")
    data = read_json(path)
    samples = [data] if isinstance(data, Mapping) else data
    read = read_locomo(data, str(path))
    written: dict[str, list[RawSession]] = {}
    for session in sessions(samples, name=path.stem):
        written.setdefault(session.conversation, []).append(session)
    repairs: dict[str, list[str]] = {name: [] for name in read.sessions}
    for repair, line in zip(read.repairs, repair_lines(read.repairs), strict=True):
        name = repair.query_id.partition("/")[0]
        repairs.setdefault(name, []).append(line)
    return {
        name: Conversation(
            task_id=name,
            sessions=tuple(map(_session, written.get(name, ()))),
            questions=tuple(
                Question(
                    question_id=int(question.id.rpartition("/q")[2]),
                    text=question.text,
                    answer=question.answer if question.answerable else None,
                    category=question.category,
                    evidence=tuple(chunk.rpartition("#")[2] for chunk in question.evidence),
                )
                for question in read.questions
                if question.conversation == name
            ),
            repairs=tuple(repairs[name]),
        )
        for name in read.sessions
    }


def chosen_tasks(conversations: Mapping[str, Conversation], task_id: str) -> list[str]:
    """The tasks asked for: one conversation, several by commas, or ``all``.

    Raises:
        InputError: no such conversation; the error lists the known ones.
    """
    if task_id == "all":
        return list(conversations)
    asked = [name.strip() for name in task_id.split(",") if name.strip()]
    for name in asked:
        if name not in conversations:
            raise InputError(f"unknown task {name!r}; use one of: {', '.join(conversations)}, or all")
    if not asked:
        raise InputError(f"no task was named; use one of: {', '.join(conversations)}, or all")
    return list(dict.fromkeys(asked))


def _session(written: RawSession) -> Session:
    moment = parse_session_date(written.date_text)
    date = moment.date().isoformat() if moment is not None else (written.date_text or "").strip()
    dialogs: list[Dialog] = []
    ids: list[str] = []
    for number, turn in enumerate(written.turns, start=1):
        speaker, text = spoken(turn)
        dialogs.append(Dialog(speaker=speaker, text=text, date_time=date))
        ids.append(str(turn.get("dia_id") or f"D{written.number}:{number}"))
    return Session(written.number, tuple(dialogs), tuple(ids))
