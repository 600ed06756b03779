"""URLs of servers: validation, and a form without secrets for display."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import SplitResult, urlsplit, urlunsplit


def is_http(address: str) -> bool:
    """Whether the URL has the scheme http or https, a host, and a valid port if any."""
    parts = _parts(address)
    return (
        parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    )


def has_password(address: str) -> bool:
    """Whether a URL has a password, or may have one in an unreadable part; a path has none."""
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
