"""Reads the configuration by precedence: call, then environment, then settings file, then defaults.

Read only where a program is put together: the command line and ``graphs/``.

    AGENTIC_RAG_DATA_DIR=notes-data
    AGENTIC_RAG_FUSION__K=20                    two underscores go one level down
    AGENTIC_RAG_CHAT__BASE_URL=http://127.0.0.1:11434/v1

A settings file is TOML with the same keys; ``.env`` in the current folder is read like the environment.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic_settings import BaseSettings, DotEnvSettingsSource, EnvSettingsSource, SettingsConfigDict
from pydantic_settings.exceptions import SettingsError

from agentic_rag.domain.json_values import Json
from agentic_rag.errors import ConfigError
from agentic_rag.settings.config import RagConfig
from agentic_rag.settings.parameters import validate

SETTINGS_FILE = "settings.toml"
PREFIX = "AGENTIC_RAG_"
DEFAULT_DATA_DIR = Path(".agentic-rag")


def load_config(data_dir: Path | None = None, settings: Path | None = None) -> RagConfig:
    """The configuration of a program run in the current folder.

    Args:
        data_dir: the data folder; else AGENTIC_RAG_DATA_DIR, else ``.agentic-rag``.
        settings: settings file; else ``settings.toml`` in the data folder if it exists.

    Raises:
        ConfigError: a file cannot be read, a key is unknown or a value out of range.
    """
    environment = _environment()
    folder = data_dir or Path(str(environment.get("data_dir") or DEFAULT_DATA_DIR))
    file = settings or folder / SETTINGS_FILE
    values = _file(file) if settings is not None or file.is_file() else {}
    call = {"data_dir": data_dir} if data_dir is not None else {}
    for layer in (environment, call):
        values = merge(values, layer)
    return validate(RagConfig, {"data_dir": DEFAULT_DATA_DIR, **values})


def parse_assignments(assignments: Sequence[str]) -> Json:
    """``["fusion.k=20"]`` as nested values; each value is read as JSON where it is JSON, else as text.

    Raises:
        ConfigError: not of the form NAME=VALUE.
    """
    values: Json = {}
    for assignment in assignments:
        name, sign, text = assignment.partition("=")
        if not sign or not name.strip():
            raise ConfigError(f"cannot read --set {assignment!r}; write NAME=VALUE, such as fusion.k=20")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        for part in reversed(name.strip().split(".")):
            value = {part: value}
        values = merge(values, value)
    return values


def merge(below: Mapping[str, object], above: Mapping[str, object]) -> Json:
    """Nested mappings merged; values in ``above`` win."""
    result = dict(below)
    for name, value in above.items():
        old = result.get(name)
        result[name] = merge(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result


def _file(path: Path) -> Json:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read the settings file {path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"the settings file {path} is not TOML: {error}") from error


class _Fields(BaseSettings, RagConfig):
    """``RagConfig``'s fields under the environment's names; read here and then validated as a ``RagConfig``."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", env_file=".env", env_ignore_empty=True, extra="ignore"
    )


def _environment() -> Json:
    values: Json = {}
    try:
        for source in (DotEnvSettingsSource(_Fields), EnvSettingsSource(_Fields)):
            _check_names(source.env_vars)
            found = {name: value for name, value in source().items() if name in RagConfig.model_fields}
            values = merge(values, found)
    except SettingsError as error:
        raise ConfigError(f"cannot read the environment: {error}; give an object as JSON") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read .env: {error}") from error
    return values


def _check_names(variables: Mapping[str, object]) -> None:
    for name in variables:
        field = name.lower().removeprefix(PREFIX.lower()).partition("__")[0]
        if name.lower().startswith(PREFIX.lower()) and field not in RagConfig.model_fields:
            known = ", ".join(f"{PREFIX}{known.upper()}" for known in RagConfig.model_fields)
            raise ConfigError(f"unknown environment variable {name.upper()}; use one of: {known}")
