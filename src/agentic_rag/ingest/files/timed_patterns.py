"""Patterns of other people's files, searched for a bounded time: one that backtracks for long is passed over, and told."""

from __future__ import annotations

import logging
from typing import Any

import regex

from agentic_rag.errors import InputError

MAX_SECONDS = 0.05
"""For one search of a path."""
logger = logging.getLogger(__name__)


class TimedPattern:
    """A pattern with the ``search`` of ``re``; once a search takes longer than ``MAX_SECONDS``, it matches nothing.

    Args:
        pattern: a regular expression.
        setting_name: the pattern as the file has it, for the warning.

    Raises:
        InputError: it is no regular expression.
    """

    def __init__(self, pattern: str, setting_name: str) -> None:
        try:
            self._pattern = regex.compile(pattern)
        except regex.error as error:
            raise InputError(f"the pattern {setting_name!r} cannot be read: {error}") from error
        self._setting_name = setting_name
        self._is_slow = False

    def search(self, text: str) -> Any:
        """The first match in the text; None without one."""
        if self._is_slow:
            return None
        try:
            return self._pattern.search(text, timeout=MAX_SECONDS)
        except TimeoutError:
            self._is_slow = True
            logger.warning(
                "the pattern %r of ignored files takes too long to compare and is passed over",
                self._setting_name,
            )
            return None
