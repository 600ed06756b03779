"""Precedence of the configuration: call over environment over file over default."""

from __future__ import annotations

import os
import traceback
from pathlib import Path

import pytest

from agentic_rag.errors import ConfigError
from agentic_rag.settings.config import RagConfig
from agentic_rag.settings.environment import load_config, merge, parse_assignments

SECRET = "sk-very-secret"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and nothing of ours in the environment."""
    for name in [name for name in os.environ if name.upper().startswith("AGENTIC_RAG_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_with_nothing_set_all_is_default():
    config = load_config()
    assert config.data_dir == Path(".agentic-rag")
    assert (config.fusion.k, config.chat.base_url) == (60, None)


def test_each_layer_wins_over_the_one_below(folder: Path, monkeypatch: pytest.MonkeyPatch):
    write(
        folder / ".agentic-rag" / "settings.toml",
        "[fusion]\nk = 1\ngraphiti_weight = 0.1\ngraphiti_threshold = 1\n",
    )
    assert load_config().fusion.k == 1
    write(folder / ".env", "AGENTIC_RAG_FUSION__K=2\nAGENTIC_RAG_FUSION__GRAPHITI_WEIGHT=0.2\n")
    assert load_config().fusion.k == 2
    monkeypatch.setenv("AGENTIC_RAG_FUSION__K", "3")
    fusion = load_config().fusion
    assert (fusion.k, fusion.graphiti_weight, fusion.graphiti_threshold, fusion.graphiti_min_score) == (
        3,
        0.2,
        1,
        None,
    )


def test_the_data_folder_has_the_same_precedence(folder: Path, monkeypatch: pytest.MonkeyPatch):
    settings = write(folder / "mine.toml", 'data_dir = "by-file"\n')
    assert load_config(settings=settings).data_dir == Path("by-file")
    write(folder / ".env", "AGENTIC_RAG_DATA_DIR=by-dotenv\n")
    assert load_config(settings=settings).data_dir == Path("by-dotenv")
    monkeypatch.setenv("AGENTIC_RAG_DATA_DIR", "by-environment")
    assert load_config(settings=settings).data_dir == Path("by-environment")
    assert load_config(Path("by-call"), settings).data_dir == Path("by-call")


def test_the_settings_file_lies_in_the_data_folder(folder: Path, monkeypatch: pytest.MonkeyPatch):
    write(folder / "a" / "settings.toml", "fusion.k = 1\n")
    write(folder / "b" / "settings.toml", "fusion.k = 2\n")
    assert load_config(folder / "a").fusion.k == 1
    monkeypatch.setenv("AGENTIC_RAG_DATA_DIR", str(folder / "b"))
    assert load_config().fusion.k == 2
    assert load_config(settings=folder / "a" / "settings.toml").fusion.k == 1


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AGENTIC_RAG_DATA_DIR", "")
    monkeypatch.setenv("AGENTIC_RAG_FUSION__K", "")
    assert load_config() == RagConfig()
    assert load_config().data_dir == Path(".agentic-rag")


def test_variables_of_others_are_left_alone(folder: Path, monkeypatch: pytest.MonkeyPatch):
    write(folder / ".env", "OPENAI_API_KEY=x\nFUSION__K=3\n")
    monkeypatch.setenv("FUSION__K", "4")
    assert load_config().fusion.k == 60


def test_secrets_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch):
    write(folder / ".env", f"AGENTIC_RAG_CHAT__API_KEY={SECRET}\n")
    monkeypatch.setenv("AGENTIC_RAG_STORAGE_OPTIONS", '{"aws_access_key_id": "id"}')
    config = load_config()
    assert config.chat.api_key is not None
    assert config.chat.api_key.get_secret_value() == SECRET
    assert config.storage_options == {"aws_access_key_id": "id"}
    assert SECRET not in repr(config)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("AGENTIC_RAG_FUSION__K", "many", r"'fusion.k': .*\(given: 'many'\)"),
        ("AGENTIC_RAG_FUSION__KK", "1", r"'fusion.kk': no such setting"),
        (
            "AGENTIC_RAG_FUSON__K",
            "1",
            r"unknown environment variable AGENTIC_RAG_FUSON__K; use one of: AGENTIC_RAG_FUSION",
        ),
        ("agentic_rag_fuson", "1", r"AGENTIC_RAG_FUSON"),
        ("AGENTIC_RAG_FUSION", "{", r"cannot read the environment.*JSON"),
        ("AGENTIC_RAG_STORAGE_OPTIONS", "key=secret", r"storage_options"),
        ("AGENTIC_RAG_GRAPH__EXTRACTION", "oracle", r"'graph.extraction'"),
    ],
)
def test_a_wrong_variable_is_told(
    monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, value: str, told: str
):
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=told):
        load_config()
    monkeypatch.delenv(name)
    write(folder / ".env", f"{name}='{value}'\n")
    with pytest.raises(ConfigError, match=told):
        load_config()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AGENTIC_RAG_CHAT__API_KYE", SECRET),
        ("AGENTIC_RAG_STORAGE_OPTIONS", SECRET),
        ("AGENTIC_RAG_STORAGE_OPTIONS", f'{{"key": ["{SECRET}"]}}'),
        ("AGENTIC_RAG_PASSWORD", SECRET),
    ],
)
def test_an_error_never_holds_a_secret(monkeypatch: pytest.MonkeyPatch, name: str, value: str):
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as caught:
        load_config()
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("k = ", "is not TOML"),
        ("[fusion]\nkk = 1", "'fusion.kk'"),
        ("fusion = 3", "'fusion'"),
        ("x = 1", "'x'"),
    ],
)
def test_a_wrong_settings_file_is_told(folder: Path, text: str, told: str):
    with pytest.raises(ConfigError, match=told):
        load_config(settings=write(folder / "mine.toml", text))


def test_a_settings_file_that_cannot_be_read_is_told(folder: Path):
    with pytest.raises(ConfigError, match=r"cannot read the settings file .*none\.toml"):
        load_config(settings=folder / "none.toml")
    with pytest.raises(ConfigError, match="cannot read the settings file"):
        load_config(settings=folder)
    (folder / "binary.toml").write_bytes(b"\xff\xfe\0")
    with pytest.raises(ConfigError, match="is not TOML"):
        load_config(settings=folder / "binary.toml")


def test_a_dotenv_that_is_no_text_is_told(folder: Path):
    (folder / ".env").write_bytes(b"AGENTIC_RAG_DATA_DIR=\xff\xfe\n")
    with pytest.raises(ConfigError, match=r"cannot read \.env"):
        load_config()


@pytest.mark.parametrize(
    ("assignments", "values"),
    [
        ([], {}),
        (["fusion.k=20"], {"fusion": {"k": 20}}),
        (["fusion.k=20", "rerank.model=m"], {"fusion": {"k": 20}, "rerank": {"model": "m"}}),
        (["fusion.k=1", "fusion.k=2"], {"fusion": {"k": 2}}),
        (["service.writes=false"], {"service": {"writes": False}}),
        (["chat.model=qwen=2"], {"chat": {"model": "qwen=2"}}),
        (["chat.model="], {"chat": {"model": ""}}),
        (['chat.model="3"'], {"chat": {"model": "3"}}),
        ([" rerank.method =none"], {"rerank": {"method": "none"}}),
    ],
)
def test_assignments(assignments: list[str], values: dict[str, object]):
    assert parse_assignments(assignments) == values


@pytest.mark.parametrize("assignment", ["fusion.k", "=3", " =3", ""])
def test_an_assignment_that_cannot_be_read(assignment: str):
    with pytest.raises(ConfigError, match="NAME=VALUE"):
        parse_assignments([assignment])


def test_merging_changes_neither_layer():
    below, above = {"a": {"x": 1, "y": 1}, "b": 1}, {"a": {"y": 2}, "b": {"z": 2}}
    assert merge(below, above) == {"a": {"x": 1, "y": 2}, "b": {"z": 2}}
    assert (below, above) == ({"a": {"x": 1, "y": 1}, "b": 1}, {"a": {"y": 2}, "b": {"z": 2}})
