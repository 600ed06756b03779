"""Configuration as people set it: call, then environment, then settings file, then defaults.

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
from typing import Any

from pydantic import ValidationError
from pydantic_settings import BaseSettings, DotEnvSettingsSource, EnvSettingsSource, SettingsConfigDict

from agentic_rag.config import RagConfig
from agentic_rag.errors import ConfigError
from agentic_rag.parameters import told

SETTINGS_FILE = "settings.toml"
PREFIX = "AGENTIC_RAG_"
DEFAULT_DATA_DIR = Path(".agentic-rag")


def load_config(
    data_dir: Path | None = None, settings: Path | None = None, overrides: Mapping[str, Any] | None = None
) -> RagConfig:
    """The configuration of a program run in the current folder.

    Args:
        data_dir: where the data lie; else AGENTIC_RAG_DATA_DIR, else ``.agentic-rag``.
        settings: settings file; else ``settings.toml`` in the data folder where there is one.
        overrides: values that win over all others, nested by section.

    Raises:
        ConfigError: a file cannot be read, a key is unknown or a value out of range.
    """
    environment = _environment()
    folder = data_dir or Path(environment.get("data_dir", DEFAULT_DATA_DIR))
    file = settings or folder / SETTINGS_FILE
    values = _file(file) if settings is not None or file.is_file() else {}
    for layer in (environment, {"data_dir": folder}, overrides or {}):
        values = merged(values, layer)
    return RagConfig(**values)


def parse_assignments(assignments: Sequence[str]) -> dict[str, Any]:
    """``["fusion.k=20"]`` as nested values; each value is read as JSON where it is JSON, else as text.

    Raises:
        ConfigError: not of the form NAME=VALUE.
    """
    values: dict[str, Any] = {}
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
        values = merged(values, value)
    return values


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Nested mappings as one; what stands in ``above`` wins."""
    result = dict(below)
    for name, value in above.items():
        old = result.get(name)
        result[name] = (
            merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
        )
    return result


def _file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read the settings file {path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"the settings file {path} is not TOML: {error}") from error


class _Environment(BaseSettings):
    """Only says how variables are named; the values are checked as a ``RagConfig``."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", env_file=".env", extra="ignore"
    )


def _environment() -> dict[str, Any]:
    class Fields(_Environment, RagConfig):  
        """``RagConfig``'s fields under the environment's naming."""

        model_config = SettingsConfigDict(
            env_prefix=PREFIX, env_nested_delimiter="__", env_file=".env", extra="ignore"
        )

    try:
        dotenv = DotEnvSettingsSource(Fields)()
        return merged(
            {k: v for k, v in dotenv.items() if k in RagConfig.model_fields}, EnvSettingsSource(Fields)()
        )
    except ValidationError as error:
        raise ConfigError(told(error)) from error
