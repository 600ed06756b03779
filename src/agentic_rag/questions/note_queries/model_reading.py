"""Lets a chat model read a question as a query to the notes; what it replies is checked against what the notes state."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentic_rag.dates.reading import read_spans
from agentic_rag.domain.filters import And, Comparison, Expression, Not
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.ports import Chat
from agentic_rag.domain.selection import Ask
from agentic_rag.errors import ModelError
from agentic_rag.questions import comparisons
from agentic_rag.questions.forms import ONE, asks_many
from agentic_rag.questions.note_queries.query import Query, is_span
from agentic_rag.questions.note_queries.values import comparison_on, is_date, is_number
from agentic_rag.questions.note_queries.vocabulary import Vocabulary, value_name
from agentic_rag.questions.words import Place, Words
from agentic_rag.text.prompts import DATA, fence_passages

SYSTEM = (
    "You translate a question into a query to a person's notes. Between tags stands what the notes state: properties with "
    f"their types and some of their values, folders and tags. {DATA} Reply with one JSON object alone: "
    '{"where": [{"property": name, "operator": one of = != > >= < <= ~ exists, "value": value}], "show": [names], '
    '"ask": one of list count largest smallest, "by": name}. All conditions of "where" hold; besides the properties '
    'there are "folder", "tags" and "date" (the day of the note, as 2024-03-15 or 2024-03). "~" is: contains. "exists" '
    'takes true or false. "show" names the properties that are asked for. "by" is for largest and smallest alone. Use '
    "names and values as they are written between the tags. If the question is for one thing that a note says, or cannot "
    'be expressed so, reply {"none": true}.'
)
MAX_NAMES = 40
"""Properties, folders and tags that the model is told, those of most notes first."""
MAX_VALUES = 8
"""Values of a property that it is told."""
MAX_CONDITIONS = 8
MAX_NUMBER = 1e15
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_OPERATORS: Mapping[str, comparisons.Operator] = {
    "=": "$eq", "==": "$eq", ">": "$gt", ">=": "$gte", "<": "$lt", "<=": "$lte",
}  # fmt: skip
_ASKS: Mapping[str, Ask] = {"list": "list", "count": "count", "largest": "extreme", "smallest": "extreme"}


def is_worth_asking(question: str, vocabulary: Vocabulary, query: Query | None) -> bool:
    """Whether a chat model may know better than the rules: they read nothing of a question that names no note, but a class,
    property or value of the notes, and asks for several or for the largest; or they found no class and left words unread.

    Args:
        question: as it stands alone.
        vocabulary: of the dataset.
        query: what the rules read.
    """
    if query is not None:
        is_open = query.target == "notes" and not query.classes and bool(query.residual)
        return is_open and not is_span(query.to_dict())
    words = Words.of(question)
    classes = vocabulary.classes_in(words)
    is_one = ONE.search(words.text) is not None and comparisons.extreme(words.text) is None
    if vocabulary.titles_written_in(question) or (is_one and not asks_many(question)):
        return False
    is_described = bool(comparisons.comparisons(words.text) or comparisons.extreme(words.text))
    if not (asks_many(question) or is_described):
        return False
    return bool(classes or vocabulary.keys_in(words) or vocabulary.values_in(words, slips=False))


async def read_by_model(question: str, vocabulary: Vocabulary, chat: Chat) -> Query | None:
    """The query that a chat model reads; None where it says that there is none.

    Args:
        question: as it stands alone.
        vocabulary: of the dataset; the model is told its schema.
        chat: is asked once.

    Raises:
        ModelError: the model failed, or its reply is no query to these notes; the message says why.
    """
    schema = json.dumps(schema_summary(vocabulary), ensure_ascii=False)
    reply = await chat.complete(SYSTEM, f"{fence_passages([schema])}\n\nQuestion: {question}")
    return query_of(_parse_reply(reply), vocabulary)


def schema_summary(vocabulary: Vocabulary) -> Json:
    """What the model is told of the notes: names, types, and the most frequent values."""
    schema = vocabulary.snapshot.schema.to_dict(MAX_NAMES, MAX_VALUES)
    properties = [
        {"name": one["name"], "types": one["types"], "values": one["range"] or list(one["values"])}
        for one in schema["properties"]
    ]
    return {"properties": properties, "folders": list(schema["folders"]), "tags": list(schema["tags"])}


def _parse_reply(reply: str) -> Mapping[str, Any]:
    match = _OBJECT.search(reply)
    try:
        value = json.loads(match.group()) if match else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ModelError(f"the chat model's reply is no JSON object: {reply.strip()[:80]!r}")
    return value


def query_of(reply: Mapping[str, Any], vocabulary: Vocabulary) -> Query | None:
    """The query that a reply states; None where it states that there is none.

    Args:
        reply: see ``SYSTEM``.
        vocabulary: of the dataset: a name or value that it does not have is refused.

    Raises:
        ModelError: the reply is no query to these notes; the message says why.
    """
    if reply.get("none") is True:
        return None
    where, shown, ask = reply.get("where"), reply.get("show", []), reply.get("ask", "list")
    if not isinstance(where, list) or not 1 <= len(where) <= MAX_CONDITIONS:
        raise ModelError(f"the chat model's query needs 1 to {MAX_CONDITIONS} conditions")
    if not isinstance(ask, str) or ask not in _ASKS:
        raise ModelError(f"the chat model's query asks for {ask!r}; known: {', '.join(_ASKS)}")
    if not isinstance(shown, list):
        raise ModelError("the chat model's query needs a list of properties to show")
    conditions = tuple(_condition(one, vocabulary) for one in where)
    names = [_key(name, vocabulary) for name in shown]
    order = None
    if _ASKS[ask] == "extreme":
        order = _ordered_by(reply.get("by"), vocabulary), ask == "largest"
        names += [order[0]] if order[0] != "date" else []
    compared_keys = [_key(one["property"], vocabulary) for one in where if one["property"] not in _PLACES]
    folders = tuple(str(one["value"]) for one in where if one["property"] == "folder")
    return Query(
        "notes",
        _ASKS[ask],
        folders,
        conditions,
        shown_keys=tuple(dict.fromkeys([*compared_keys, *names])),
        order=order,
    )


def _condition(one: Any, vocabulary: Vocabulary) -> Expression:
    if not isinstance(one, dict) or not isinstance(one.get("property"), str):
        raise ModelError(f"the chat model's query has a condition without a property: {one!r:.80}")
    name, operator, value = one["property"], one.get("operator", "="), one.get("value")
    if operator == "!=":
        return Not(_condition({**one, "operator": "="}, vocabulary))
    if name in _PLACES:
        return _PLACES[name](operator, value, vocabulary)
    key = _key(name, vocabulary)
    if operator == "exists" and isinstance(value, bool):
        return Comparison(key, "$exists", value)
    values = [one for one, _ in vocabulary.keys[key].values]
    if operator == "~" and isinstance(value, str):
        if not value or not any(value.casefold() in str(one).casefold() for one in values):
            raise _value_error(value, key)
        return Comparison(key, "$contains", value)
    if operator not in _OPERATORS:
        raise ModelError(f"the chat model's query compares {key!r} by {operator!r} with {value!r:.80}")
    if isinstance(value, bool):
        if operator != "=" or not any(isinstance(one, bool) for one in values):
            raise _value_error(value, key)
        return Comparison(key, "$eq", value)
    if isinstance(value, int | float):
        return _number(key, _OPERATORS[operator], value, values)
    if isinstance(value, str) and is_date(value) and any(is_date(value_name(one)) for one in values):
        return _days(key, operator, value)
    return _text(key, operator, value, values)


def _number(key: str, operator: comparisons.Operator, value: float, values: Sequence[Any]) -> Expression:
    numbers = [one for one in values if is_number(one)]
    if not numbers or not abs(value) < MAX_NUMBER:
        raise _value_error(value, key)
    return comparison_on(key, comparisons.Comparison(operator, float(value), Place(0, 0)), numbers)


def _text(key: str, operator: str, value: Any, values: Sequence[Any]) -> Expression:
    """The condition that a property has one of the values that are called so; how often each is written tells nothing."""
    name = str(value).strip().casefold()
    stored = tuple(one for one in values if name in (str(one).casefold(), value_name(one).casefold()))
    if operator not in ("=", "==") or not isinstance(value, str) or not stored:
        raise _value_error(value, key)
    return Comparison(key, "$eq", stored[0]) if len(stored) == 1 else Comparison(key, "$in", stored)


def _folder(operator: Any, value: Any, vocabulary: Vocabulary) -> Expression:
    known = {name.casefold(): name for name, _ in vocabulary.snapshot.schema.folders}
    folder = known.get(str(value).strip("/ ").casefold())
    if operator not in ("=", "==", "~") or folder is None:
        raise _value_error(value, "folder")
    return Comparison("folder", "$eq", folder)


def _tag(operator: Any, value: Any, vocabulary: Vocabulary) -> Expression:
    known = {name.casefold(): name for name, _ in vocabulary.snapshot.schema.tags}
    tag = known.get(str(value).strip("#/ ").casefold())
    if operator not in ("=", "==", "~") or tag is None:
        raise _value_error(value, "tags")
    return Comparison("tags", "$eq", tag)


def _note_date(operator: Any, value: Any, vocabulary: Vocabulary) -> Expression:
    if not isinstance(value, str) or operator not in _OPERATORS or not vocabulary.snapshot.days:
        raise _value_error(value, "date")
    return _days("date", operator, value)


_PLACES: Mapping[str, Callable[[Any, Any, Vocabulary], Expression]] = {
    "folder": _folder,
    "tags": _tag,
    "date": _note_date,
}
"""Names beside the properties, each with the reader of its conditions."""


def _days(key: str, operator: str, date_text: str) -> Expression:
    """The condition that a date compares so with a day, month or year."""
    spans = [
        one.span for one in read_spans(date_text) if one.span.start is not None and one.span.end is not None
    ]
    if len(spans) != 1:
        raise _value_error(date_text, key)
    first, after = str(spans[0].start), str(spans[0].end)
    match operator:
        case ">":
            return Comparison(key, "$gte", after)
        case ">=":
            return Comparison(key, "$gte", first)
        case "<":
            return Comparison(key, "$lt", first)
        case "<=":
            return Comparison(key, "$lt", after)
    return And((Comparison(key, "$gte", first), Comparison(key, "$lt", after)))


def _key(name: Any, vocabulary: Vocabulary) -> str:
    """The property of a name, in any case of letters."""
    if isinstance(name, str):
        if name in vocabulary.keys:
            return name
        alike = [key for key in vocabulary.keys if key.casefold() == name.strip().casefold()]
        if len(alike) == 1:
            return alike[0]
    raise ModelError(f"the chat model's query names the property {name!r:.80}, which no note has")


def _ordered_by(name: Any, vocabulary: Vocabulary) -> str:
    if name == "date":
        return "date"
    key = _key(name, vocabulary)
    if not any(is_number(one) or is_date(value_name(one)) for one, _ in vocabulary.keys[key].values):
        raise ModelError(f"the chat model's query orders by {key!r}, which has neither numbers nor dates")
    return key


def _value_error(value: Any, key: str) -> ModelError:
    return ModelError(
        f"the chat model's query compares {key!r} with {value!r:.80}, which does not fit its values"
    )
