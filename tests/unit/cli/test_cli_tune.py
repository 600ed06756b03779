"""The settings file: other contents are kept, tuned settings are replaced, and the write is atomic."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.errors import ConfigError, StoreError
from agentic_rag_lab.cli.settings_file import (
    MARK,
    file_values,
    merged_settings,
    read_settings,
    write_settings,
)

MINE = """\
# my notes
data_dir = "notes"

[fusion]  # how
k = 60  # the paper's
strategy = "rrf"

[chat]
base_url = "http://127.0.0.1/v1"
"""


def test_a_file_keeps_its_comments_and_its_order():
    changed = {
        "fusion.k": 20,
        "fusion.strategy": None,
        "rerank.prior": 2.5,
        "fusion.normalization": "z_score",
    }
    assert merged_settings(MINE, changed, "today, on\nmy notes") == (
        "# tuned by agentic-rag tune: today, on my notes\n"
        "# my notes\n"
        'data_dir = "notes"\n'
        "\n"
        "[fusion]  # how\n"
        "k = 20\n"
        'normalization = "z_score"\n'
        "\n"
        "[chat]\n"
        'base_url = "http://127.0.0.1/v1"\n'
        "\n"
        "[rerank]\n"
        "prior = 2.5\n"
    )


def test_tuning_again_replaces_its_own_line():
    once = merged_settings(MINE, {"fusion.k": 20}, "first")
    twice = merged_settings(once, {"fusion.k": 5}, "second")
    assert twice.count(MARK) == 1
    assert twice.startswith(f"{MARK}second\n")
    assert merged_settings(twice, {"fusion.k": 5}, "second") == twice


@pytest.mark.parametrize(
    "text",
    [
        "",
        "fusion.k = 1\nfusion.limit = 7\n",
        'fusion = {k = 1, limit = 7}\nchat = {model = "m"}\n',
        '[fusion]\nlimit = 7\n"k" = 1\n',
        'x = """\n[fusion]\nk = 3\n"""\n[fusion]\nlimit = 7\n',
        "[other]\nlist = [1,\n2]\n[other.deep]\nyes = true\nwords = ['a\"b', 'c\\d']\n",
        "[fusion]\nk = [\n1,\n2\n]\n",
    ],
)
def test_however_it_is_written_it_says_the_same_and_what_was_tuned(text: str):
    expected = tomllib.loads(text)
    expected.setdefault("fusion", {})["k"] = 20
    told = merged_settings(text, {"fusion.k": 20, "answer.abstain_below": None}, "now")
    assert tomllib.loads(told) == expected
    assert told.startswith(MARK)


NAMES = st.sampled_from(["fusion", "rerank", "answer", "odd key", "键"])
VALUES = (
    st.booleans()
    | st.integers(-9, 9)
    | st.floats(0, 1)
    | st.text(st.characters(codec="utf-8"))
    | st.lists(st.text(st.characters(codec="utf-8")))
)


@settings(max_examples=60)
@given(
    st.dictionaries(NAMES, st.dictionaries(st.sampled_from(["k", "prior", "é"]), VALUES, min_size=1)),
    st.dictionaries(st.sampled_from(["fusion.k", "rerank.prior", "answer.sentences"]), st.none() | VALUES),
)
def test_any_values_come_back(before: dict[str, Any], changes: dict[str, Any]):
    text = ""
    for section, values in before.items():
        for key, value in values.items():
            text = merged_settings(text, {f"{section}.{key}": value}, "now")
    assert tomllib.loads(text) == before
    told = tomllib.loads(merged_settings(text, changes, "now"))
    for name, value in changes.items():
        section, key = name.split(".")
        assert told.get(section, {}).get(key) == value
    untouched = {
        (s, k): v for s, values in before.items() for k, v in values.items() if f"{s}.{k}" not in changes
    }
    assert {(s, k): told[s][k] for s, k in untouched} == untouched


def test_what_is_at_its_default_is_only_said_where_the_file_said_otherwise():
    defaults = {"fusion.strategy": None, "fusion.k": 60, "rerank.prior": 5.0}
    text = '[fusion]\nstrategy = "rrf"\nk = 5\nlimit = 9\n'
    assert file_values(text, {"rerank.prior": 1.0}, defaults) == {
        "fusion.strategy": None,
        "fusion.k": 60,
        "rerank.prior": 1.0,
    }
    assert file_values("", {}, defaults) == {}


def test_a_section_that_is_none_is_told():
    with pytest.raises(ConfigError, match="'fusion' in the settings file is 3"):
        merged_settings("fusion = 3\n", {"fusion.k": 20}, "now")


def test_reading(tmp_path: Path):
    assert read_settings(tmp_path / "settings.toml") == ""
    (tmp_path / "settings.toml").write_text("k =", encoding="utf-8")
    with pytest.raises(ConfigError, match="is not TOML"):
        read_settings(tmp_path / "settings.toml")
    with pytest.raises(ConfigError, match="cannot read"):
        read_settings(tmp_path)


def test_it_is_written_whole_with_the_permissions_it_had(tmp_path: Path):
    file = tmp_path / "new" / "settings.toml"
    write_settings(file, "a = 1\n")
    file.chmod(0o640)
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    write_settings(link, "a = 2\n")
    assert file.read_text(encoding="utf-8") == "a = 2\n"
    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [path.name for path in file.parent.iterdir()] == ["settings.toml"]


def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "settings.toml"
    file.write_text("a = 1\n", encoding="utf-8")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        write_settings(file, "a = 2\n")
    assert file.read_text(encoding="utf-8") == "a = 1\n"
    assert [path.name for path in tmp_path.iterdir()] == ["settings.toml"]
