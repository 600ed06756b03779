"""Addresses of servers: whether they can be used, and how they are shown."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import SplitResult, urlsplit, urlunsplit


def is_http(address: str) -> bool:
    """Whether it names a host by http or https, and its port, if any, is one."""
    parts = _parts(address)
    return (
        parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    )


def has_password(address: str) -> bool:
    """Whether an address has a password, or may have one in an unreadable part; a path has none."""
    parts = _parts(address)
    return "://" in address and (parts is None or parts.password is not None)


def without_login(address: str) -> str:
    """The address without user, password and query, which may hold a key; a path as it is."""
    if "://" not in address:
        return address
    parts = _parts(address)
    if parts is None:
        return "(not an address)"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _parts(address: str) -> SplitResult | None:
    with suppress(ValueError):
        parts = urlsplit(address)
        parts.port  # noqa: B018 - read for what it raises, as where a bare / or ? of a password ends the host
        return parts
    return None
