"""What went wrong at a model's endpoint, in our own words: no key, no prompt and no server text gets out.

A server's error text may hold the key it refused or the passage it choked on, so it is never repeated;
the kind of failure says what to do.
"""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

_BY_STATUS = {
    400: (
        "refused the request",
        "the text may be too long for the model, or it does not take an option (some models take no temperature but 1)",
    ),
    401: ("refused the key", "check {section}.api_key"),
    403: ("refused the key", "check {section}.api_key and what it is allowed to use"),
    404: ("does not know the model or the path", "check {section}.model and {section}.base_url"),
    413: ("refused the request as too long", "use a model with more room"),
    422: ("refused the request", "the server may not speak the OpenAI protocol in full"),
    429: ("is over its limit", "wait, or raise the limit of the account"),
}


def failure_text(error: BaseException, section: str) -> str:
    """What happened and what to do; ``section`` is where it is configured: ``chat`` or ``embedding``."""
    happened, cure = _kind(error)
    return f"{happened}; {cure.format(section=section)}"


def happened(error: BaseException) -> str:
    """What happened, without the cure: ``is over its limit (HTTP 429)``."""
    return _kind(error)[0]


def status(error: BaseException) -> int | None:
    """HTTP status of an error of any client that keeps one as ``status_code``."""
    code = getattr(error, "status_code", None)
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def without_login(url: str) -> str:
    """The address without user, password and query, which may hold a key."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        return urlunsplit((parts.scheme, host, parts.path, "", ""))
    except ValueError:
        return "(not an address)"


def _kind(error: BaseException) -> tuple[str, str]:
    code = status(error)
    if code is not None:
        if code in _BY_STATUS:
            words, cure = _BY_STATUS[code]
            return f"{words} (HTTP {code})", cure
        if code >= 500:
            return f"broke (HTTP {code})", "look at the server's log, or try again"
        return f"answered HTTP {code}", "check {section}.base_url"
    name = type(error).__name__
    if isinstance(error, TimeoutError) or "Timeout" in name:
        return "gave no answer in time", "raise {section}.timeout_seconds, or use a faster model"
    if isinstance(error, ConnectionError) or "Connection" in name:
        return "cannot be reached", "check that it runs, and {section}.base_url"
    return f"gave an answer that cannot be read ({name})", "check {section}.base_url and {section}.model"
