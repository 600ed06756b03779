"""Conversations of LoCoMo and BEAM in a scan."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from agentic_rag.domain.identity import digest
from agentic_rag.ingest.files.readers import Reader, ScannedFile
from agentic_rag.ingest.files.scanning import PARSER_VERSION, SourceItem
from agentic_rag.ingest.files.source_text import SourceError, decode, load_json
from agentic_rag_lab.sources.beam import (
    batch_id,
    batches,
    looks_like_beam,
    name_of,
    parse_batch,
    read_chat,
    without_control_words,
)
from agentic_rag_lab.sources.locomo import RawSession, looks_like_locomo, parse_session, sessions

_FILES = {"locomo": "LoCoMo file", "beam": "chat.json", "beam-control": "chat.json"}
"""Kinds, each one JSON file, and what that is called; ``beam-control``: without the words that mark sources in a
conversation, see ``beam``."""
_NO_LOCOMO = "not a LoCoMo file: a list of objects with 'conversation' and 'qa' was expected"


class BenchmarkConversations(Reader):
    """Reads a JSON file of LoCoMo or BEAM."""

    kinds = tuple(_FILES)

    def read(self, root: Path, kind: str) -> None:
        """Read a file as one of a kind."""
        if root.is_dir():
            self.scan.skip(root, f"a folder; name the {_FILES[kind]} itself")
        elif not self._add(root, kind):
            is_beam = kind != "locomo"
            self.scan.skip(
                root,
                "not a BEAM conversation: a list of objects with 'turns' was expected"
                if is_beam
                else _NO_LOCOMO,
            )

    def take(self, file: ScannedFile) -> bool:
        """Read a file that is named itself as what its content shows."""
        return (
            file.kind == "auto" and file.is_root and file.suffix == ".json" and self._add(file.path, "auto")
        )

    def refusal(self, file: ScannedFile) -> str:
        """What a JSON file is not."""
        return _NO_LOCOMO if file.kind == "auto" and file.suffix == ".json" else ""

    def _add(self, path: Path, kind: str) -> bool:
        """Add the documents of a file, or tell that it is damaged; False where it is none of the kind."""
        try:
            loaded = load_json(decode(path.read_bytes()))
        except SourceError as error:
            self.scan.skip(path, str(error), is_unread=True)
            return True
        if kind != "locomo" and looks_like_beam(loaded):
            self._add_batches(path, loaded, control=kind == "beam-control")
        elif kind in ("auto", "locomo") and looks_like_locomo(loaded):
            self._add_sessions(path, loaded)
        else:
            return False
        return True

    def _add_batches(self, root: Path, json_value: list[Any], *, control: bool) -> None:
        name, messages = name_of(root), read_chat(json_value).messages
        for number, batch in batches(without_control_words(messages) if control else messages):
            said = json.dumps([asdict(message) for message in batch], sort_keys=True, default=str)
            document_id = batch_id(name, number)
            content_hash = digest(PARSER_VERSION, document_id, root.name, said)
            parse = partial(parse_batch, name, batch, path=root.name)
            item = SourceItem(document_id, root.name, str(root), content_hash, parse)
            self.scan.add(item, f"{root}: {document_id}")

    def _add_sessions(self, root: Path, json_value: Any) -> None:
        for session in sessions(json_value, name=unicodedata.normalize("NFC", root.stem)):
            parse = partial(parse_session, session, path=root.name)
            content_hash = _session_hash(session, root.name)
            item = SourceItem(session.document_id, root.name, str(root), content_hash, parse)
            self.scan.add(item, f"{root}: {session.document_id}")


def _session_hash(session: RawSession, path: str) -> str:
    """Of the session alone, so that a new session in the file leaves the others unchanged."""
    parts = [list(session.speakers), session.date_text, list(session.turns)]
    return digest(PARSER_VERSION, session.document_id, path, json.dumps(parts, sort_keys=True))
