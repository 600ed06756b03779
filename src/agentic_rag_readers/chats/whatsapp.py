"""WhatsApp's text of a chat, of Android (``12/05/2024, 09:15 - Ann: …``) and iOS (``[12.05.24, 09:15:33] Ann: …``).

Order of day and month, clock and separators are those of the telephone, and nothing says which: the whole file does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise

from agentic_rag_readers.chats.messages import Message, Thread, name_of

_HEAD = re.compile(
    r"[\u200e\u200f\u202a\ufeff]*(?P<open>\[)?(?P<date>\d{1,4}[./-]\d{1,2}[./-]\d{1,4}),?\s"
    r"(?P<early>上午|凌晨|早上)?(?P<late>下午|晚上|中午)?(?P<hour>\d{1,2})[:.](?P<minute>\d\d)(?:[:.](?P<second>\d\d))?"
    r"(?:\s?(?P<half>[ap])\.?\s?m\.?)?(?(open)\]\s?|(?:\s[-–]|:)\s)",
    re.IGNORECASE,
)
_SENDER = re.compile(r"([^:\n\"“”«»]{1,100}):(?: |\n|\Z)")
_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_LEFT_OUT = re.compile(
    r"<[^<>\n]{1,60}>|(?:image|video|audio|sticker|GIF|document|contact card) omitted", re.IGNORECASE
)
_ATTACHMENT = re.compile(
    r"<[^<>:\n]{1,40}: (?P<ios>[^<>\n]+)>|(?P<left>[^\n•]+) • [^\n]*document omitted"
    r"|(?P<android>[A-Z]{3}-\d{8}-WA\d+\.\w+|[^\n]+\.\w+(?= \(file attached\))) \([^()\n]+\)"
)
_EDIT_NOTICE = re.compile("(?:\u200e<[^<>\\n]{1,60}>|<This message was edited>)\\Z")
_DELETION_NOTICES = frozenset({"This message was deleted", "You deleted this message", "null"})
_FILE_NAME = re.compile(r"(?:WhatsApp[ -]Chat (?:with |mit |- )?)?(.+?)(?: ?\(\d+\))?", re.IGNORECASE)


def looks_like_whatsapp(text: str) -> bool:
    """Whether the first line that is not blank begins a message, or a notice, of a chat."""
    return _HEAD.match(text.lstrip()) is not None


def whatsapp_thread(text: str, name: str) -> Thread:
    """The chat of a text that ``looks_like_whatsapp``.

    Args:
        text: of the whole file.
        name: of the file or what holds it, without suffix.
    """
    entries = _entries(text)
    order, is_guess = _order([head["date"] for head, _ in entries])
    messages = [message for head, body in entries if (message := _message(head, body, order)) is not None]
    named = _FILE_NAME.fullmatch(name)
    title = name_of(named and named[1]) or "WhatsApp"
    guess = f"its dates are read as {order}, as no day in it is after the 12th" if is_guess else None
    return Thread(title, title, tuple(messages), warning=guess)


def _entries(text: str) -> list[tuple[re.Match[str], str]]:
    """Each head of a message with all that follows up to the next; heads are at beginnings of lines alone."""
    found: list[tuple[re.Match[str], list[str]]] = []
    for line in text.splitlines():
        head = _HEAD.match(line)
        if head is not None:
            found.append((head, [line[head.end() :]]))
        elif found:
            found[-1][1].append(line)
    return [(head, "\n".join(lines)) for head, lines in found]


def _order(dates: Sequence[str]) -> tuple[str, bool]:
    """Places of day, month and year, such as ``day/month/year``; and whether they are a guess."""
    numbers = [[int(part) for part in re.split(r"[./-]", date)] for date in dates]
    if numbers and numbers[0][0] > 31:
        return "year/month/day", False
    orders = ("day/month/year", "month/day/year")
    beyond = Counter(order for one in numbers for order, part in zip(orders, one, strict=False) if part > 12)
    back = {order: _steps_back(dates, order) for order in orders}
    if beyond:
        return max(orders, key=lambda order: beyond[order]), False
    if back[orders[0]] != back[orders[1]]:
        return min(orders, key=lambda order: back[order]), False
    # A telephone that puts the month first writes no zeros before it, and separates by slashes.
    is_american = all("/" in date for date in dates) and not any(re.match(r"0|\d+/0", date) for date in dates)
    return orders[is_american], any(one[0] != one[1] for one in numbers)


def _steps_back(dates: Sequence[str], order: str) -> int:
    days = [day for date in dict.fromkeys(dates) if (day := _day(date, order)) is not None]
    return sum(later < earlier for earlier, later in pairwise(days))


@lru_cache(maxsize=1_000)
def _day(date: str, order: str) -> datetime | None:
    named = dict(zip(order.split("/"), (int(part) for part in re.split(r"[./-]", date)), strict=True))
    year = named["year"] + 2000 * (named["year"] < 100)
    try:
        return datetime(year, named["month"], named["day"], tzinfo=UTC)
    except ValueError:
        return None


def _time(head: re.Match[str], order: str) -> datetime | None:
    day, hour = _day(head["date"], order), int(head["hour"])
    half = (head["half"] or "").lower() or ("p" if head["late"] else "a" if head["early"] else "")
    hour = hour % 12 + 12 * (half == "p") if half else hour
    try:
        return day and day.replace(hour=hour, minute=int(head["minute"]), second=int(head["second"] or 0))
    except ValueError:
        return None


def _message(head: re.Match[str], body: str, order: str) -> Message | None:
    """None for a notice: it has no sender, or on iOS a mark before its text."""
    sender = _SENDER.match(body)
    if sender is None:
        return None
    written = body[sender.end() :]
    text, attachments = _content(_MARKS.sub("", _strip_notice(written)).strip())
    if head["open"] and written.startswith("\u200e") and not attachments:
        return None
    time = _time(head, order)
    key = f"{int(head['hour']):02}:{head['minute']}" if time is None else f"{time:%H:%M:%S}"
    name = name_of(_MARKS.sub("", sender[1])).removeprefix("~").strip()
    return Message(key, name, time, text, attachments)


def _strip_notice(text: str) -> str:
    """The text without the notice of its change, which in any language stands in brackets behind a mark."""
    rest = _EDIT_NOTICE.sub("", text.rstrip())
    return rest if rest.strip(" \u200e") else text


def _content(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without what stands for a file, and the files' names."""
    attached = _ATTACHMENT.match(text)
    if attached is not None:
        return text[attached.end() :].strip(), (next(filter(None, attached.groups())),)
    left_out = _LEFT_OUT.match(text)
    if left_out is not None and (left_out.end() == len(text) or text[left_out.end()] == "\n"):
        return text[left_out.end() :].strip(), ("",)
    return ("" if text.rstrip(".") in _DELETION_NOTICES else text), ()
