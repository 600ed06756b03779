"""The memory benchmark, the conversations: from a LoCoMo file or BEAM's folders, as input of a memory design."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agentic_rag.errors import InputError
from agentic_rag_lab.designs.conversation import Conversation, Dialog, Question, Session
from agentic_rag_lab.evaluation import beam
from agentic_rag_lab.evaluation.files import read_json
from agentic_rag_lab.evaluation.locomo import read_locomo, repair_lines
from agentic_rag_lab.sources.beam import CHAT, Message, batches
from agentic_rag_lab.sources.locomo import RawSession, parse_session_date, sessions, speaker_and_text


def read_tasks(path: Path, task_id: str | None, *, control: bool = False) -> list[Conversation]:
    """The selected conversations.

    Args:
        path: a LoCoMo file, or a folder of BEAM conversations (one, a tier, or ``chats``).
        task_id: see ``chosen_tasks``; None: the only conversation.
        control: for BEAM, remove the words "always" and "never" from the messages.

    Raises:
        InputError: no such file, folder or task; invalid data; or ``control`` for other data.
    """
    if beam.is_beam(path):
        folders = beam.find_conversations(path)
        tasks = chosen_tasks(folders, task_id or _only_one(folders))
        return [read_beam(folders[name], control=control) for name in tasks]
    if control:
        raise InputError(f"the control is for BEAM conversations; {path} holds none")
    conversations = read_conversations(path)
    return [conversations[name] for name in chosen_tasks(conversations, task_id or _only_one(conversations))]


def data_files(path: Path, tasks: list[Conversation]) -> list[Path]:
    """The files of the tasks."""
    if path.is_file() and path.name != CHAT:
        return [path]
    folders = beam.find_conversations(path)
    return [folders[task.task_id] / name for task in tasks for name in (CHAT, beam.QUESTIONS)]


def read_beam(folder: Path, *, control: bool = False) -> Conversation:
    """A BEAM conversation: one session per batch, one turn per message; raises as ``beam.load_conversation``."""
    read = beam.load_conversation(folder, control=control)
    return Conversation(
        task_id=read.name,
        sessions=tuple(
            Session(number, tuple(map(_dialog, inner)), tuple(message.id for message in inner))
            for number, inner in batches(read.messages)
        ),
        questions=tuple(
            Question(
                question_id=number,
                text=question.text,
                answer=question.answer if question.answerable else None,
                category=question.kind,
                evidence=question.sources,
                evidence_sets=question.source_sets,
                rubric=question.rubric,
            )
            for number, question in enumerate(read.questions, start=1)
        ),
        repairs=tuple(repair_lines(read.repairs)),
        benchmark="beam",
    )


def _dialog(message: Message) -> Dialog:
    return Dialog(
        speaker=message.role,
        text=message.text,
        date_time="" if message.date is None else message.date.date().isoformat(),
        role=message.role,
        dia_id=message.id,
    )


def _only_one(conversations: Mapping[str, object]) -> str:
    first, *others = conversations
    if others:
        raise InputError(f"no task: give --task-id {first} (or all), or set runtime.task_id")
    return first


def read_conversations(path: Path) -> dict[str, Conversation]:
    """Every conversation of a LoCoMo file by its ``sample_id``.

    Evidence is repaired as in ``evaluation.locomo``; the text of a turn includes the caption of its photo.

    Raises:
        InputError: the file cannot be read, or is no LoCoMo data.
    """
    if not path.is_file():
        raise InputError(
            f"there is no file {str(path)!r}; give a LoCoMo .json, or a folder of BEAM conversations, with --data"
        )
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


def chosen_tasks(conversations: Mapping[str, object], task_id: str) -> list[str]:
    """The selected tasks: one conversation, several separated by commas, or ``all``.

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


def _session(raw_session: RawSession) -> Session:
    moment = parse_session_date(raw_session.date_text)
    date = moment.date().isoformat() if moment is not None else (raw_session.date_text or "").strip()
    dialogs: list[Dialog] = []
    ids: list[str] = []
    for number, turn in enumerate(raw_session.turns, start=1):
        speaker, text = speaker_and_text(turn)
        dialogs.append(Dialog(speaker=speaker, text=text, date_time=date))
        ids.append(str(turn.get("dia_id") or f"D{raw_session.number}:{number}"))
    return Session(raw_session.number, tuple(dialogs), tuple(ids))
