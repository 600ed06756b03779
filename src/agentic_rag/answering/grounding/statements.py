"""A chat model's answer as statements with their citation marks, and the answer again from those that are kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agentic_rag.answering.citations import MARK, mark_numbers
from agentic_rag.notes.readable import readable
from agentic_rag.text.sentences import split_sentences

Kind = Literal["claim", "frame", "code"]
"""A frame is a heading, a line that leads in what follows, a question, or no words at all."""
_FENCE = re.compile(
    r"^[ \t]*(?P<fence>```+|~~~+)[^\n]*\n.*?(?:^[ \t]*(?P=fence)[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_INLINE = re.compile(r"(?<!`)(`+)(?!`)[^`\n]+?\1(?!`)")
_ITEM = re.compile(r"[ \t]*(?:>[ \t]*)*(?:(?:[-*+•]|\d{1,3}[.)、]|→)[ \t]+|\d{1,3}、)+")
_RULE = re.compile(r"[\W_]*\Z")
_HEADING = re.compile(
    r"[ \t]*#{1,6}[ \t]|[ \t]*(?:\d+[.)][ \t]+)?(?:\*\*|__)[^*_\n]{1,80}(?:\*\*|__)[:：]?[ \t]*\Z"
)
_LEADS = re.compile(r"[:：]\W*\Z|[?？]\W*\Z")
_SEPARATOR = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}[-| \t:]*\Z")
_STOP = re.compile(r"[.!?。！？…]*[\"'”’」』）)*_]*[ \t]*\|?[ \t]*\Z")
_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_SENTENCE_END = re.compile(r"[.!?。！？…][\"'”’」』）)*_]*\s*\Z")


@dataclass(frozen=True, slots=True)
class Mark:
    """A citation mark that was taken out of the text at a place."""

    place: int
    text: str
    """The white space before it, as it is written again."""
    numbers: tuple[int, ...]
    opens_line: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, row, heading or code block of an answer; ``start`` and ``end`` are code points in its bare text."""

    start: int
    end: int
    text: str
    """As a person reads it."""
    kind: Kind
    marks: tuple[Mark, ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The cited numbers in order."""
        return tuple(dict.fromkeys(number for mark in self.marks for number in mark.numbers))


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """An answer without its marks, and its statements in order."""

    bare: str
    statements: tuple[Statement, ...]

    @classmethod
    def of(cls, answer: str) -> ParsedAnswer:
        """The statements of an answer. A mark belongs to the sentence before it on its line or, on a line of its own, to
        the one above; at the beginning of a line that goes on, to that line's."""
        bare, marks = _without_marks(answer.strip())
        breaks = [mark.place for mark in marks if mark.opens_line]
        spans = _join_short(bare, list(_break_at_marks(bare, _spans(bare), breaks)))
        found = [Statement(start, end, *_read(bare, start, end)) for start, end in spans]
        found = [_frame_line(bare, one, after) for one, after in zip(found, [*found[1:], None], strict=False)]
        return cls(bare, tuple(_with_marks(bare, found, marks)))

    def between(self, one: Statement, other: Statement) -> str:
        """The white space between two statements."""
        return self.bare[one.end : other.start]

    def rebuilt(self, kept_statements: Sequence[tuple[Statement, tuple[int, ...]]]) -> str:
        """The answer from some of its statements, each with the numbers that it cites."""
        numbers = {one.start: of for one, of in kept_statements}
        text, gap, lead = "", "", ""
        for n, one in enumerate(self.statements):
            if n:
                between = self.between(self.statements[n - 1], one)
                gap = _LINES.sub("\n\n", between if between.count("\n") >= gap.count("\n") else gap)
                lead = "" if "\n" in between else lead
            if one.start not in numbers:
                item = _ITEM.match(self.bare, one.start, one.end)
                lead = lead or (item.group() if item else "")
                continue
            text += (gap if text else "") + lead + _with_numbers(self.bare, one, numbers[one.start])
            gap = lead = ""
        return text.strip()


def _without_marks(answer: str) -> tuple[str, list[Mark]]:
    code = [match.span() for form in (_FENCE, _INLINE) for match in form.finditer(answer)]
    parts: list[str] = []
    marks: list[Mark] = []
    place = end = 0
    for match in MARK.finditer(answer):
        if any(start <= match.start("numbers") < stop for start, stop in code):
            continue
        parts.append(answer[end : match.start()])
        place += match.start() - end
        opens_line = not answer[: match.start()].rpartition("\n")[2].strip()
        marks.append(Mark(place, match["space"] or " " * opens_line, tuple(mark_numbers(match)), opens_line))
        end = match.end()
        if opens_line:
            end += len(answer[end:]) - len(answer[end:].lstrip(" \t"))
    return "".join([*parts, answer[end:]]), marks


def _spans(bare: str) -> list[tuple[int, int]]:
    """Sentences, and code blocks as wholes."""
    spans, start = [], 0
    for match in [*_FENCE.finditer(bare), None]:
        end = len(bare) if match is None else match.start()
        spans += [(start + a, start + b) for a, b in split_sentences(bare[start:end])]
        if match is not None:
            spans.append((match.start(), match.end()))
            start = match.end()
    return spans


def _break_at_marks(
    bare: str, spans: Sequence[tuple[int, int]], breaks: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """The spans, parted where a mark began a line."""
    for start, end in spans:
        for place in [*(one for one in breaks if start < one < end), end]:
            piece = bare[start:place]
            if piece.strip():
                yield start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
            start = place


def _join_short(bare: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans, where one of one word (Yes., 是的。) is part of the sentence that follows it on its line."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined:
            before = bare[joined[-1][0] : joined[-1][1]]
            if _YES.fullmatch(before) and "\n" not in bare[joined[-1][1] : start]:
                joined[-1] = joined[-1][0], end
                continue
        joined.append((start, end))
    return joined


_YES = re.compile(
    r"(?:yes|no|correct|right|true|false|是的?|不是|对|不对|有|没有|可以|不可以)[.!。！]", re.IGNORECASE
)


def _read(bare: str, start: int, end: int) -> tuple[str, Kind]:
    written = bare[start:end]
    if _FENCE.match(written):
        return written, "code"
    text = readable(written).removeprefix("→").strip()
    is_frame = (
        _RULE.match(text) or _SEPARATOR.match(written) or _HEADING.match(written) or _LEADS.search(text)
    )
    return text, "frame" if is_frame else "claim"


def _frame_line(bare: str, one: Statement, after: Statement | None) -> Statement:
    """A line without a full stop that is followed by a list, and a table's first row, lead in what follows."""
    if after is None or one.kind != "claim":
        return one
    follows = bare[after.start : after.end]
    opens_list = _ITEM.match(follows) and not _SENTENCE_END.search(bare[one.start : one.end])
    is_lead = opens_list and not _ITEM.match(bare, one.start) and "\n" in bare[one.end : after.start]
    return replace(one, kind="frame") if is_lead or _SEPARATOR.match(follows) else one


def _with_marks(bare: str, statements: Sequence[Statement], marks: Sequence[Mark]) -> list[Statement]:
    of: dict[int, list[Mark]] = {}
    for mark in marks:
        before = [n for n, one in enumerate(statements) if one.start < mark.place]
        after = next((n for n, one in enumerate(statements) if one.start >= mark.place), None)
        goes_on = after is not None and "\n" not in bare[mark.place : statements[after].start]
        if mark.opens_line and goes_on and after is not None:
            of.setdefault(after, []).append(replace(mark, place=statements[after].end))
        elif before:
            of.setdefault(before[-1], []).append(mark)
    return [replace(one, marks=tuple(of.get(n, ()))) for n, one in enumerate(statements)]


def _with_numbers(bare: str, one: Statement, numbers: Sequence[int]) -> str:
    """A statement with its marks where they were, as far as they cite these numbers; else before its full stop."""
    text = bare[one.start : one.end]
    if one.kind == "code":
        return f"{text}\n[{', '.join(map(str, numbers))}]" if numbers else text
    left = [number for number in numbers if number not in one.numbers]
    for mark in reversed(one.marks):
        own = [number for number in mark.numbers if number in numbers]
        if own:
            place = min(mark.place - one.start, len(text))
            text = f"{text[:place]}{mark.text}[{', '.join(map(str, own))}]{text[place:]}"
    if not left:
        return text
    head = text[: _end_of(text)].rstrip()
    tail = text[len(head) :]
    space = "" if tail.startswith(("。", "！", "？")) else " "
    return f"{head}{space}[{', '.join(map(str, left))}]{tail}"


def _end_of(text: str) -> int:
    """Where the full stop, or the end of a table row, begins."""
    stop = _STOP.search(text)
    return len(text) if stop is None else stop.start()
