"""Post-retrieval, action format: the memories as text for history_text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from xml.sax.saxutils import escape, quoteattr

from agentic_rag.dates.instants import moment_of
from agentic_rag_lab.designs.post_retrieval.config import FormatStep, fill_template
from agentic_rag_lab.designs.post_retrieval.items import Items, StepOutcome, StepRequest, lines_of

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
UNKNOWN_VALUE = "unknown"
"""Heading for memories without a value or a date."""

Format = Callable[[FormatStep, Items], str]


async def format_items(step: FormatStep, items: Items, request: StepRequest) -> StepOutcome:
    """The memories unchanged, and their text."""
    return StepOutcome(items, body=FORMATS[step.format_type](step, items))


def template(step: FormatStep, items: Items) -> str:
    """``memory_template`` filled for each memory, one line each; missing values are empty."""
    return "\n".join(
        fill_template(
            step.memory_template,
            {
                "text": item.text,
                "timestamp": _value_text(item.get(step.time_field)),
                "speaker": _value_text(item.get("speaker")),
                "score": "" if item.score is None else f"{item.score:.3f}",
                "index": str(index),
            },
        )
        for index, item in enumerate(items, start=1)
    )


def format_sections(step: FormatStep, items: Items) -> str:
    """A section for each value of ``section_field``, ascending, numbers first; memories without a value last."""
    sections: dict[tuple[int, float, str], list[str]] = {}
    headings: dict[tuple[int, float, str], str] = {}
    by_day = step.section_field == "day"
    for item in items:
        value = (_day(item.get(step.time_field)) or None) if by_day else item.get(step.section_field)
        key = _place(value)
        sections.setdefault(key, []).append(item.text)
        headings.setdefault(key, UNKNOWN_VALUE if value is None else _value_text(value))
    parts = []
    for key in sorted(sections):
        heading = fill_template(step.section_heading, {"field": step.section_field, "value": headings[key]})
        parts.append("\n".join([heading, *sections[key]]))
    return "\n\n".join(parts)


def chat(step: FormatStep, items: Items) -> str:
    """``Speaker: text`` lines under their dates, oldest first; within a date in the order of the memories.

    Turns are read from lines such as ``(2023-08-01)Alice: Hello``; other text gets the memory's own time and
    speaker. A line that begins no turn continues the turn before it.
    """
    days: dict[str, list[str]] = {}
    for item in items:
        day, speaker = _day(item.get(step.time_field)), _value_text(item.get("speaker"))
        for n, line in enumerate(lines_of(item.text)):
            day = _day(line.date) or day
            begins = f"{line.speaker or speaker}: " if line.speaker or (speaker and n == 0) else ""
            days.setdefault(day, []).append(begins + line.text)
    # Only ISO dates sort as text; others keep their order.
    ordered = sorted(days, key=lambda day: (not day, moment_of(day) is None, day if moment_of(day) else ""))
    return "\n\n".join("\n".join([f"{day or UNKNOWN_VALUE}:", *days[day]]) for day in ordered)


def xml(step: FormatStep, items: Items) -> str:
    """One element per memory, with its metadata as attributes; text is escaped."""
    tags = step.xml_tags
    lines = [f"<{tags.root}>"]
    for index, item in enumerate(items, start=1):
        held = [(name, item.get(name)) for name in step.xml_fields]
        attributes = "".join(
            f" {name}={quoteattr(_legal(_value_text(value)))}" for name, value in held if value is not None
        )
        lines.append(
            f'<{tags.memory} index="{index}"{attributes}>{escape(_legal(item.text))}</{tags.memory}>'
        )
    return "\n".join([*lines, f"</{tags.root}>"])


FORMATS: Mapping[str, Format] = {
    "template": template,
    "structured": format_sections,
    "chat": chat,
    "xml": xml,
}


def _day(value: object) -> str:
    """The ISO date of a time; unchanged if it is none."""
    moment = moment_of(value)
    return _value_text(value) if moment is None else moment.date().isoformat()


def _place(value: object) -> tuple[int, float, str]:
    if value is None:
        return 2, 0.0, ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return 0, float(value), ""
    return 1, 0.0, _value_text(value)


def _value_text(value: object) -> str:
    """The value on one line; "" for None."""
    return "" if value is None else " ".join(str(value).split())


def _legal(text: str) -> str:
    """The text with characters that XML forbids replaced by the replacement character."""
    return _NOT_XML.sub("\ufffd", text)
