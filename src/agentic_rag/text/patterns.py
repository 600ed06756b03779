"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """What ``re.compile`` gives, compiled at its first use; for patterns that most questions do not need.

    The long ones of dates, comparisons and routing take a quarter of a second together, which each command would wait.
    Its methods work as those of ``re.Pattern``; it is no argument for the functions of ``re``.

    >>> lazy_pattern("A+", re.IGNORECASE).fullmatch("aa") is not None
    True

    Raises:
        re.error: at its first use, the pattern is wrong.
    """
    return cast(re.Pattern[str], _LazyPattern(pattern, flags))


class _LazyPattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(*self._source)

    def __getattr__(self, name: str) -> Any:
        # From now on an attribute of its own is read, as quickly as the compiled pattern's.
        self.__dict__[name] = member = getattr(self._pattern, name)
        return member
