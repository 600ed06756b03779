"""The error tree is the one its docstring draws, and messages say what to do."""

from __future__ import annotations

import pickle
import re
import sys

import pytest

from agentic_rag import errors
from agentic_rag.errors import (
    AgenticRagError,
    AllSourcesFailed,
    InputError,
    MissingExtra,
    RunError,
    UnknownDataset,
    UnknownOperation,
    needing,
)


def drawn() -> dict[str, str | None]:
    """Each class of the drawing with the one it hangs from."""
    parents: dict[str, str | None] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"    ([│├└─ ]*)([A-Z]\w+)(\s|$)", line)
        if found:
            depth = len(found.group(1)) // 4
            path = [*path[:depth], found.group(2)]
            parents[found.group(2)] = path[depth - 1] if depth else None
    return parents


def test_the_drawn_tree_is_the_tree():
    classes = {
        name: value.__base__.__name__
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, AgenticRagError)
    }
    assert {**drawn(), "AgenticRagError": "Exception"} == classes
    assert len(classes) >= 13


def test_input_and_run_errors_are_apart():
    assert not issubclass(InputError, RunError)
    assert not issubclass(RunError, InputError)


def test_they_are_pythons_own_errors_too_so_that_a_server_passes_their_messages_on():
    assert issubclass(InputError, ValueError)
    assert issubclass(RunError, RuntimeError)


def test_messages_name_the_value_and_what_to_do():
    unknown = UnknownOperation("guess", ["a", "b"])
    assert str(unknown) == "unknown operation 'guess'; use one of: a, b"
    assert (unknown.operation, unknown.known_names) == ("guess", ("a", "b"))
    dataset = UnknownDataset("x", {"b", "a"})
    assert "known: a, b" in str(dataset)
    assert "agentic-rag ingest PATH --dataset x" in str(dataset)
    assert "none yet" in str(UnknownDataset("x", []))
    assert "in /data (known: none yet); name another folder with --data-dir" in str(
        UnknownDataset("x", [], "/data")
    )
    assert str(UnknownDataset("My Notes: v1", [])).endswith("--dataset 'My Notes: v1'")
    assert "pip install '.[rerank]', in the clone of agentic-rag" in str(
        MissingExtra("the cross-encoder", "rerank")
    )
    failed = AllSourcesFailed({"lancedb": "gone", "graphiti": "locked"})
    assert "graphiti: locked; lancedb: gone" in str(failed)
    assert "agentic-rag doctor" in str(failed)
    assert failed.reasons == {"lancedb": "gone", "graphiti": "locked"}


@pytest.mark.parametrize("name", [name for name in drawn() if name != "AgenticRagError"])
def test_one_except_catches_them_all(name: str):
    assert issubclass(getattr(errors, name), AgenticRagError)


def test_a_plain_error_survives_pickling():
    again = pickle.loads(pickle.dumps(errors.StoreError("gone")))
    assert (type(again), str(again)) == (errors.StoreError, "gone")


def test_what_all_sources_failed_at_is_told_once():
    same = AllSourcesFailed({"lancedb": "the model is down", "graphiti": "the model is down"})
    assert (
        str(same)
        == "no source could be searched (graphiti, lancedb: the model is down); run: agentic-rag doctor"
    )
    apart = AllSourcesFailed({"lancedb": "locked", "graphiti": "gone"})
    assert "(graphiti: gone; lancedb: locked)" in str(apart)


def test_what_an_extra_brings_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    asked = r"the service needs an extra: pip install '\.\[service\]'"
    with pytest.raises(MissingExtra, match=asked), needing("the service", "service"):
        import uvicorn  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match=r"agentic_rag\.missing"), needing("the service", "service"):
        import agentic_rag.missing  # type: ignore[import-not-found]  # noqa: F401
