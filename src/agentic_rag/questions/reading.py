"""Reads a question as a query to the catalogue of notes; None where it is no question about many notes."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentic_rag.domain.filters import And, Comparison, Expression, Not, Or, matches
from agentic_rag.domain.notes import ITEMS, Note, Row
from agentic_rag.questions import comparisons as compared
from agentic_rag.questions.query import Ask, Query, Target
from agentic_rag.questions.vocabulary import NoteClass, Value, Vocabulary
from agentic_rag.questions.words import Span, Word, Words, parts, stem, uncovered
from agentic_rag.text import STOPWORDS, starts_cjk

Nearest = Callable[[str, Sequence[str]], Awaitable[Mapping[str, float]]]
"""How near each name comes to a text by the embedding model: cosines by name."""

_MANY = re.compile(
    r"^\W*(?:and\s+)?(?:wh?ich|list|show|find|give|name|count|all|any|every|how many|wh(?:at|o) (?:are|were)\b|what (?!is\b|was\b|does\b|has\b)\w+s\b|notes?\b|welche|alle|wie viele)"
    r"|\bwhich of\b|\bhow many\b|\b(?:list|show)(?: me)?\b|\btagged\b|\bnotes (?:with|about|in|from|tagged|rated)\b"
    r"|哪些|哪几|有哪|多少[个本部篇款种道首只张条]|几[个本部篇款种道首只张条]|所有|列出|全部|都有|统计"
    r"|^\W*(?:不?[含用带加放]有?|没有)[^的是]{1,8}的[^的]{1,4}\W*$",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"\bhow many\b|\bnumber of\b|\bcount\b|多少[个本部篇款种道首只张条]|几[个本部篇款种道首只张条]|数量|统计|wie viele",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"^\W*(?:and |so )?(?:how (?:much|long|old|large|big|tall|high|far|do|does|did|can)|who(?! are| were)|whom|whose|where|why|what(?:'s|’s)? (?:is|was|did|does|do|are|were|the|kind)"
    r"|does|do|did|is|are|was|were|can|has|have)\b|谁|哪里|为什么|怎么|如何|多少钱|多久|多长",
    re.IGNORECASE,
)
"""Asks for one thing, not for notes."""
_VALUE = re.compile(
    r"^\W*(?:and |so )?(?:how|who|whom|whose|where|why|when)\b|谁|哪里|为什么|怎么|多少|几", re.IGNORECASE
)
"""Asks for a value that a unit of the notes gives."""
_TAG = re.compile(r"(?<![\w&/])#([^\s#,.;:!?，。；：！？()（）]+)")
_NOUN = re.compile(
    r"(?:哪些|哪几[个本部篇款种]|多少[个本部篇款种道首]|几[个本部篇款种样道首]|所有(?:的)?|列出(?:所有)?)(?P<noun>[\u4e00-\u9fff]{1,4}?)(?=[是有在的要被由用含放加带不没]|$|[^\u4e00-\u9fff])"
)
_LAST_NOUN = re.compile(r"的(?P<noun>[\u4e00-\u9fff]{1,4})(?:有哪些|有|都有哪些)?\W*$")
_ENGLISH_NOUN = re.compile(r"\b(?:which|what|how many|list(?: all)?)\s+(?P<noun>[a-z]+)")
ALIKE, APART = 0.86, 0.005
"""Cosine from which a class in another script is the one that a noun names, and its lead over the next."""
_HAS = re.compile(
    r"\b(?:with|without|use[sd]?|using|contain(?:s|ing)?|include[sd]?|need(?:s|ed)?|require[sd]?|ha(?:s|ve)|made (?:of|from)|mit|ohne)\b|含|用|有|加|放|带|需要",
    re.IGNORECASE,
)
"""Asks for what the lists of notes name."""
_TASKS = re.compile(
    r"(?<![a-z])(?:tasks?|to-?dos?|to do|todos?|action items?|(?<=open )actions?|check ?list|aufgaben?)(?![a-z])|任务|待办|清单项",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"^\W*(?:and )?(?:when|on (?:which|what) (?:days?|dates?)|(?:which|what) days?|how often|哪[几一]?天|什么时候|wann)",
    re.IGNORECASE,
)
_DAYS = re.compile(
    r"(?<![a-z])(?:days?|dates?|dailies|daily notes?|journals?|entries)(?![a-z])|日记|哪天|哪几天",
    re.IGNORECASE,
)
_BEFORE_DATE = re.compile(r"\b(?:price|prices|cost|costs|money|spend|spent)\b|价格|价钱", re.IGNORECASE)
FEW = 5
"""Notes up to which a question is about their tasks and not about the notes."""
_RATED = frozenset("分 星 star stars point points".split())
_MONEY = frozenset("块钱 $ € £ ¥ ￥ dollar dollars euro euros pound pounds usd eur yuan bucks 元 块".split())
GENERIC_HAN = re.compile(
    r"不[含用加放要带有]有?|没有|含有?|用到|加了?|放了?|要|到|我们?|你们?|的|有|是|哪些|哪[个本部篇种道家位]|列出|所有|全部|多少|几[个本部篇种样道首只条位]|吗|呢|里面?|中|在|了|和|都|篇|个|本|部|笔记|记录|标签|带|给|过|写|记|一共|总共|还|想|要|能|会|东西|什么|请|找|看|家|用|买|去|做|吃|喝"
)
"""Words of a Chinese question that no query has to express."""
GENERIC = STOPWORDS | frozenset(
    "note notes page pages file files thing things one ones item items list lists show shows give find name names called have has got my our all any"
    " every many much count number total please tell me which what do did does is are was were still want would like also yet ever already been rate"
    " rated score scored tagged tag tags with about kind kinds type types that those belong belongs there here in on at by of for from to and or"
    " how when where who know keep kept write wrote written vault notebook read day days date dates make made"
    " 笔记 我 我的 有 的 是 哪些 哪个 列出 所有 全部 多少 几个 吗 呢 里 中 在 了 和 都 篇 个 本".split()
)


@dataclass(slots=True)
class _Parse:
    """What was read so far; ``spans`` are the words that are accounted for."""

    words: Words
    conditions: list[Expression] = field(default_factory=list)
    entry_conditions: list[Expression] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    strength: int = 0
    """Number of conditions beside the class."""

    def free(self, span: Span) -> bool:
        """Whether no word of the span is accounted for."""
        return not any(span.overlaps(other) for other in self.spans)

    def cover(self, *spans: Span | None) -> None:
        """Account for these words."""
        self.spans += [span for span in spans if span is not None]


@dataclass(frozen=True, slots=True)
class Time:
    """A span of days that a question names: ISO dates, half-open; None is open."""

    start: str | None
    end: str | None
    span: Span


async def read_query(
    question: str, vocabulary: Vocabulary, nearest: Nearest, time: Time | None = None
) -> Query | None:
    """The query that a question about many notes states.

    Args:
        question: in English or Chinese.
        vocabulary: of the dataset.
        nearest: compares words of the question with names, where no letters agree.
        time: the span of days that it names.
    """
    words = Words.of(question)
    parse = _Parse(words)
    reader = _Reader(vocabulary, nearest, parse, time)
    return await reader.read()


class _Reader:
    def __init__(self, vocabulary: Vocabulary, nearest: Nearest, parse: _Parse, time: Time | None) -> None:
        self._vocabulary = vocabulary
        self._nearest = nearest
        self._parse = parse
        self._time = time
        self._text = parse.words.text
        self._is_many = _MANY.search(self._text) is not None

    async def read(self) -> Query | None:
        """The query; see ``read_query``."""
        parse = self._parse
        is_count = _COUNT.search(self._text)
        if is_count:
            parse.cover(Span(*is_count.span()))
        tagged = self._tags()
        titles = self._titles()
        if self._time is not None and any(place.overlaps(self._time.span) for _, place in titles):
            self._time = None  # the date belongs to the name of a note
        if (entries := self._entries_of(titles)) is not None:
            return entries
        tasks = self._tasks(titles)
        if tasks is not None:
            return tasks
        is_when = self._is_when()
        if titles and not tagged and not is_when:
            return self._of_span(titles)
        classes = await self._classes()
        await self._values()
        if titles and not parse.strength:
            return self._of_span(titles)
        tasks = self._tasks_of_members()
        if tasks is not None:
            return tasks
        extreme = self._extreme()
        await self._comparisons()
        self._booleans()
        await self._free()
        self._existing()
        self._containing()
        strength = parse.strength
        await self._time_condition()
        if parse.entry_conditions:
            entries = self._entries()
            if entries is not None or not strength:
                return entries
        order = await self._order(extreme)
        left = self._left()
        is_topic = bool(classes and strength) and not _ONE.search(self._text)
        is_dated = (
            self._time is not None and strength > 0 and len(left) <= 1 and not _VALUE.search(self._text)
        )
        if not (self._is_many or tagged or (is_when and strength) or is_topic or is_dated):
            return self._of_span(titles)
        if not (
            strength or tagged or (order and classes) or (is_count and classes) or self._is_listed(classes)
        ):
            return self._of_span(titles)
        if not classes and strength and self._is_many and left:
            noun = _NOUN.search(self._text)
            left = [word for word in left if noun is None or not word.text.startswith(noun["noun"])]
        if len(left) > min(1, parse.strength) and not (self._time and strength):
            return self._of_span(titles)
        if is_when:
            self._show_dates()
        ask: Ask = "count" if is_count else "extreme" if order else "list"
        return Query(
            "notes", ask, tuple(parse.classes), tuple(parse.conditions), shown=tuple(dict.fromkeys(parse.shown)),
            order=order, residual=_places(left),
        )  # fmt: skip

    def _entries_of(self, titles: Sequence[tuple[Note, Span]]) -> Query | None:
        """The rows or list items of a note that is named, by their numbers, values and dates."""
        if not self._is_many:
            return None
        for note, place in titles:
            rows = [row for row in note.rows if row.fields and row.state is None]
            conditions = self._row_conditions(rows) if len(rows) > 1 else []
            if conditions:
                self._parse.cover(place)
                ask: Ask = "count" if _COUNT.search(self._text) else "list"
                where = (Comparison("path", "$eq", note.path),)
                return Query("entries", ask, (note.title,), where, tuple(conditions))
        return None

    def _row_conditions(self, rows: Sequence[Row]) -> list[Expression]:
        values: dict[str, list[Any]] = {}
        for row in rows:
            for one in row.fields:
                values.setdefault(one.key, []).append(one.value)
        numeric = {key: its for key, its in values.items() if sum(map(_is_number, its)) * 2 >= len(its)}
        conditions: list[Expression] = []
        for number in compared.comparisons(self._text):
            named = [
                key
                for key in numeric
                if self._parse.words.find(key) or stem(number.unit.casefold()) in parts(key)
            ]
            if named and number.operator != "$eq":
                conditions.append(_compared(named[0], number, numeric[named[0]]))
        for key, its in values.items():
            named = [
                value for value in dict.fromkeys(map(str, its)) if not _is_number(value) and len(value) > 2
            ]
            conditions += [Comparison(key, "$eq", value) for value in named if self._parse.words.find(value)]
        keys = [
            key
            for key, its in values.items()
            if sum(bool(_DATE.fullmatch(str(v))) for v in its) * 2 >= len(its)
        ]
        if self._time is not None and keys:
            conditions.append(_within(keys[0], self._time))
        return conditions

    def _of_span(self, titles: Sequence[tuple[Note, Span]]) -> Query | None:
        """The notes of the span of days that is named, whose units are searched for the rest of the question."""
        if self._time is None:
            return None
        if any(note.date is None for note, _ in titles):
            return None
        self._parse.spans.clear()
        left = self._left(self._time.span)
        return Query("notes", "list", (), (_within("date", self._time),), residual=_places(left))

    def _show_dates(self) -> None:
        """The date properties of the selected notes, but for notes that are named by their day."""
        members = self._members()
        if all(note.date is not None and note.date in note.title for note in members):
            return
        keys = _date_keys(field for note in members for field in note.fields)
        stated = [key for key in keys if key.casefold() not in ("created", "modified", "updated")]
        self._parse.shown[:0] = stated or keys

    def _is_listed(self, classes: Sequence[NoteClass]) -> bool:
        """Whether all notes of a class are asked for: "list my books", "which games do I have?"."""
        return bool(classes) and self._is_many and not self._left()

    def _left(self, *spans: Span) -> list[Word]:
        """The words that nothing accounts for yet; of a Chinese run what is not generic in it."""
        words = []
        covered = (*self._parse.spans, *spans)
        for word in uncovered(self._parse.words, (), GENERIC):
            is_free = not any(Span(word.start, word.end).overlaps(span) for span in covered)
            if word.text.isascii():
                words += [word] if is_free else []
            elif is_free and not GENERIC_HAN.search(word.text):
                words.append(word)
            else:
                words += self._rest_of(word, covered)
        return words

    def _rest_of(self, word: Word, spans: Sequence[Span]) -> list[Word]:
        """The parts of a Chinese run that are neither accounted for nor generic."""
        free = [
            c if not any(s.start <= word.start + n < s.end for s in spans) else " "
            for n, c in enumerate(word.text)
        ]
        left = GENERIC_HAN.sub(lambda m: " " * len(m.group()), "".join(free))
        return [
            Word(m.group(), m.group(), word.start + m.start(), word.start + m.end())
            for m in re.finditer(r"\S+", left)
        ]

    def _is_when(self) -> bool:
        return _WHEN.search(self._text) is not None

    def _tags(self) -> bool:
        known = {tag.casefold(): tag for tag, _ in self._vocabulary.snapshot.schema.tags}
        met = False
        for match in _TAG.finditer(self._text):
            tag = known.get(match[1].strip("/").casefold(), match[1].strip("/"))
            self._parse.conditions.append(Comparison("tags", "$eq", tag))
            self._parse.cover(Span(*match.span()))
            self._parse.strength += 1
            met = True
        if not met and (
            named := re.search(r"\btagged(?: with| as)?\s+([\w/-]+)|标签(?:为|是)?\s*([\w/-]+)", self._text)
        ):
            tag = known.get((named[1] or named[2]).casefold())
            if tag is not None:
                self._parse.conditions.append(Comparison("tags", "$eq", tag))
                self._parse.cover(Span(*named.span()))
                self._parse.strength += 1
                met = True
        return met

    def _titles(self) -> list[tuple[Note, Span]]:
        """Notes that are named, but for those whose name is a word for a class of notes."""
        class_names = {parts(one.name) for one in self._vocabulary.classes}
        asks_for_several = self._is_many or self._is_when() or self._time is not None
        found = []
        for note, place in self._vocabulary.titles_in(self._parse.words):
            written = self._text[place.start : place.end]
            if (
                (asks_for_several and written in self._vocabulary.values)
                or parts(written) in class_names
                or written in GENERIC
                or (len(parts(written)) == 1 and written in self._key_names())
            ):
                continue
            found.append((note, place))
        return found

    def _key_names(self) -> frozenset[str]:
        return frozenset(stem(name.casefold()) for name in self._vocabulary.keys)

    def _tasks(self, titles: Sequence[tuple[Note, Span]]) -> Query | None:
        """Tasks: of the named note, of a class of notes, or of all."""
        parse = self._parse
        word = _TASKS.search(self._text)
        state = compared.state(self._text)
        holder = next(
            ((note, place) for note, place in titles if any(row.state is not None for row in note.rows)), None
        )
        asks_for_rows = state is not None and self._asks_what()
        if word is None and (holder is None or not asks_for_rows):
            return None
        if not any(count for _, count in self._vocabulary.snapshot.schema.tasks):
            return None
        if (
            word is None
            and state is not None
            and state[0] == "done"
            and not re.search(r"already|done|finished|完成|已经|watched|看过", self._text)
        ):
            return None
        conditions: list[Expression] = []
        if holder is not None:
            conditions.append(Comparison("path", "$eq", holder[0].path))
            parse.cover(holder[1])
        elif titles:
            return None
        else:
            for one, place in self._vocabulary.classes_in(parse.words):
                if word is None or not place.overlaps(Span(*word.span())):
                    conditions.append(one.condition)
                    parse.classes.append(one.name)
                    parse.cover(place)
                    break
        conditions += parse.conditions
        time = self._time
        if time is not None:
            conditions.append(_within("date", time))
            parse.cover(time.span)
        parse.cover(Span(*word.span()) if word else None, state[1] if state else None)
        left = self._left()
        if word is not None and len(left) > 1 and not conditions:
            return None
        ask: Ask = "count" if _COUNT.search(self._text) else "list"
        entries: tuple[Expression, ...] = ()
        target: Target = "tasks"
        return Query(target, ask, tuple(parse.classes), tuple(conditions), entries, state[0] if state else None,
                     residual=_places(left))  # fmt: skip

    def _tasks_of_members(self) -> Query | None:
        """The tasks of the few notes that are described: "what is left to do for the trip to Yunnan?"."""
        state = compared.state(self._text)
        if state is None or not self._parse.strength or not self._asks_what():
            return None
        members = self._members()
        if not 1 <= len(members) <= FEW or not any(
            row.state is not None for note in members for row in note.rows
        ):
            return None
        self._parse.cover(state[1])
        return Query("tasks", "list", tuple(self._parse.classes), tuple(self._parse.conditions), (), state[0])

    def _asks_what(self) -> bool:
        return (
            re.search(r"\b(?:which|what|list|show|how many)\b|哪些|什么|多少|几|还没|没[买做办]", self._text)
            is not None
        )

    async def _classes(self) -> list[NoteClass]:
        """The kind of notes that is asked for: by its name, else by the nearest name."""
        parse = self._parse
        met = [
            (one, place)
            for one, place in self._vocabulary.classes_in(parse.words)
            if parse.free(place) and not self._is_generic(place)
        ]
        head = self._head(met)
        if head is None and self._is_many:
            head = await self._nearest_class()
        if head is None:
            return []
        one, place = head
        parse.conditions.insert(0, one.condition)
        parse.classes.append(one.name)
        parse.cover(place)
        return [one]

    def _is_generic(self, place: Span) -> bool:
        """Whether a word such as "notes" is meant as such, and not as the folder of that name."""
        written = self._text[place.start : place.end]
        before = self._text[: place.start].rstrip()
        is_comparison = compared.extreme(written) is not None or compared.state(written) is not None
        return (is_comparison or written in GENERIC) and not re.search(
            r"(?:\bin(?: the| my)?|\bfolder|文件夹)$", before
        )

    def _head(self, met: Sequence[tuple[NoteClass, Span]]) -> tuple[NoteClass, Span] | None:
        """The class nearest to the beginning of the question, whose words ask for it."""
        ordered = sorted(met, key=lambda pair: pair[1].start)
        return ordered[0] if ordered else None

    async def _nearest_class(self) -> tuple[NoteClass, Span] | None:
        """The class that a Chinese noun names in part (课 of 课程), or in another script (游戏 of games)."""
        noun = _NOUN.search(self._text)
        if noun is None:
            return None
        span = Span(*noun.span("noun"))
        named = [one for one in self._vocabulary.classes if one.kind in ("folder", "category", "tag")]
        partly = [
            one
            for one in named
            if one.name.startswith(noun["noun"]) and len(one.name) <= len(noun["noun"]) + 2
        ]
        if partly:
            return max(partly, key=lambda one: one.count), span
        foreign = [one.name for one in named if one.name.isascii()]
        if not foreign:
            return None
        near = await self._nearest(noun["noun"], foreign)
        first, *others = sorted(near, key=lambda name: -near[name])
        if near[first] < ALIKE or (others and near[first] - near[others[0]] < APART):
            return None
        return next(one for one in named if one.name == first), span

    def _members(self) -> list[Note]:
        """The notes that the conditions so far select."""
        return [note for note in self._vocabulary.snapshot.notes if self._passes(note)]

    def _passes(self, note: Note) -> bool:
        facts = self._vocabulary.snapshot.facts[note.document_id]
        return all(matches(one, facts) for one in self._parse.conditions)

    async def _values(self) -> None:
        """Values of properties that the question names."""
        parse, members = self._parse, None
        slips = self._is_many
        for values, place in self._vocabulary.values_in(parse.words, slips=slips):
            is_generic = self._text[place.start : place.end] in GENERIC
            if not parse.free(place) or (is_generic and not parse.classes):
                continue
            if members is None:
                members = [self._vocabulary.snapshot.facts[n.document_id] for n in self._members()]
            conditions = [
                one for one in map(_of_value, values) if any(matches(one, facts) for facts in members)
            ]
            keys = {one.key: one for one in conditions}
            named = [key for key, _ in self._vocabulary.keys_in(parse.words) if key in keys]
            if not conditions or (
                is_generic and all(any(matches(one, f) for one in conditions) for f in members)
            ):
                continue
            if named:
                conditions = [keys[named[0]]]
            elif len(conditions) > 1:
                near = await self._nearest(self._parse.words.text, list(keys))
                best = max(near.values())
                conditions = [keys[key] for key in keys if near[key] >= best - 0.01]
            condition: Expression = conditions[0] if len(conditions) == 1 else Or(tuple(conditions))
            negation = compared.negated(self._text, place)
            parse.conditions.append(Not(condition) if negation else condition)
            parse.shown += [one.key for one in conditions]
            parse.cover(place, negation)
            parse.strength += 1
            members = None
        for key, place in self._vocabulary.keys_in(parse.words):
            if key in parse.shown:
                parse.cover(place)

    def _extreme(self) -> compared.Extreme | None:
        found = compared.extreme(self._text)
        if found is None or not self._parse.free(found.span):
            return None
        # "at least 300 pages" asks for no least.
        is_bound = any(one.span.overlaps(found.span) for one in compared.comparisons(self._text))
        return None if is_bound else found

    async def _comparisons(self) -> None:
        """Numbers that a property is compared with."""
        parse = self._parse
        for one in compared.comparisons(self._text):
            if not parse.free(one.span) or (self._time and one.span.overlaps(self._time.span)):
                continue
            keys = self._numeric()
            key, place = await self._key_for(one, keys)
            if key is None:
                keys = self._numeric(entries=True)
                key, place = await self._key_for(one, keys)
                if key is None:
                    continue
                parse.entry_conditions.append(Comparison(key, one.operator, _number(one.value)))
            else:
                parse.conditions.append(_compared(key, one, keys[key]))
                parse.strength += 1
                self._cover_parts(key)
            parse.shown.append(key)
            parse.cover(one.span, place)

    def _cover_parts(self, key: str) -> None:
        """Account for the words of a Chinese question that are a part of a property's name: 难度 of 预估烹饪难度."""
        for size in range(min(len(key), 6), 1, -1):
            for first in range(len(key) - size + 1):
                part = key[first : first + size].casefold()
                place = self._text.find(part) if starts_cjk(part) else -1
                if place >= 0 and self._parse.free(Span(place, place + size)):
                    self._parse.cover(Span(place, place + size))

    def _numeric(self, *, entries: bool = False) -> Mapping[str, Sequence[Any]]:
        """Properties of the selected notes with their values, where some are numbers or shares."""
        values: dict[str, list[Any]] = {}
        for note in self._members():
            fields = [f for row in note.rows for f in row.fields] if entries else note.fields
            for one in fields:
                for value in one.value if isinstance(one.value, list) else [one.value]:
                    if _is_number(value):
                        values.setdefault(one.key, []).append(value)
        return values

    async def _key_for(
        self, one: compared.Comparison, keys: Mapping[str, Sequence[Any]]
    ) -> tuple[str | None, Span | None]:
        """The property that is compared: named beside the number, by its unit, else by meaning."""
        named = [(key, place) for key, place in self._vocabulary.keys_in(self._parse.words) if key in keys]
        if named:
            key, place = min(named, key=lambda pair: abs(pair[1].start - one.span.start))
            return key, place
        beside = self._beside(one.span)
        partly = [key for key in keys if beside & set(parts(key))]
        if len(partly) == 1:
            return partly[0], None
        if one.unit:
            unit = stem(one.unit.casefold())
            for key in keys:
                if unit in parts(key) or (starts_cjk(unit) and unit in key):
                    return key, None
        share = [
            key for key in keys if isinstance(one.value, str) and any(str(v) == one.value for v in keys[key])
        ]
        if len(share) == 1:
            return share[0], None
        if one.operator == "$eq" and not share and not one.unit:
            return None, None
        if not keys:
            return None, None
        unit = one.unit.casefold()
        about = "price" if unit in _MONEY else "rating" if unit in _RATED else self._text
        near = await self._nearest(about, list(keys))
        return max(near, key=lambda name: near[name]), None

    def _beside(self, span: Span) -> set[str]:
        """The stems of the two words before a number."""
        before = [word for word in self._parse.words.words if word.end <= span.start]
        return {word.stem for word in before[-2:] if word.text not in STOPWORDS}

    def _booleans(self) -> None:
        """A yes/no property that the question names: "which shows would I rewatch?"."""
        parse = self._parse
        for key, place in self._vocabulary.keys_in(parse.words):
            known = self._vocabulary.keys.get(key)
            if known is None or "boolean" not in known.types[:1] or key in parse.shown:
                continue
            negation = compared.negated(self._text, place)
            parse.conditions.append(Comparison(key, "$eq", negation is None))
            parse.shown.append(key)
            parse.cover(place, negation)
            parse.strength += 1

    def _existing(self) -> None:
        """A property that the notes are to have: "how many books have I finished?" where some say when."""
        parse = self._parse
        if not parse.classes or parse.strength or not self._is_many:
            return
        members = self._members()
        for key, place in self._vocabulary.keys_in(parse.words):
            having = sum(
                any(f.key == key and f.value not in (None, "", []) for f in note.fields) for note in members
            )
            if parse.free(place) and 0 < having < len(members):
                parse.conditions.append(Comparison(key, "$exists", True))
                parse.shown.append(key)
                parse.cover(place)
                parse.strength += 1
                return

    def _containing(self) -> None:
        """A word that the lists of some of the notes have: "which recipes use eggs?", 不含酒精的饮料."""
        parse = self._parse
        left = self._left()
        if not self._is_many or parse.strength or not 1 <= len(left) <= 2 or not _HAS.search(self._text):
            return
        word = left[-1]
        if len(left) == 2:  # the other is the noun of what is asked for, which is no class
            if parse.classes:
                return
            nouns = (
                _LAST_NOUN.search(self._text),
                _NOUN.search(self._text),
                _ENGLISH_NOUN.search(self._text),
            )
            named = [one for noun in nouns if noun for one in left if one.text.startswith(noun["noun"])]
            if not named:
                return
            word = left[0] if named[0] is left[1] else left[1]
            parse.cover(Span(named[0].start, named[0].end))
        span = Span(word.start, word.end)
        negation = compared.negated(self._text, span)
        name = word.stem if word.text.isascii() else word.text
        condition: Expression = Comparison(ITEMS, "$contains", name)
        having = [matches(condition, self._vocabulary.snapshot.facts[n.document_id]) for n in self._members()]
        if not any(having) or all(having):
            return
        parse.conditions.append(Not(condition) if negation else condition)
        parse.cover(span, negation)
        parse.strength += 1

    async def _free(self) -> None:
        """What costs nothing: a price of 0, where the notes have a property like a price."""
        parse = self._parse
        place = compared.free(self._text)
        if place is None or not parse.free(place):
            return
        keys = self._numeric()
        zero = [key for key, values in keys.items() if any(value == 0 for value in values)]
        if not zero:
            return
        near = await self._nearest("price", zero)
        key = max(near, key=lambda name: near[name])
        negation = compared.negated(self._text, place)
        condition: Expression = Comparison(key, "$eq", 0)
        parse.conditions.append(Not(condition) if negation else condition)
        parse.shown.append(key)
        parse.cover(place, negation)
        parse.strength += 1

    async def _time_condition(self) -> None:
        """A span of days: of the date property that is named, else of the note's own date."""
        parse, time = self._parse, self._time
        if time is None:
            return
        members = self._members()
        if not parse.conditions:
            parse.conditions.append(_within("date", time))
            parse.cover(time.span)
            return
        keys = _date_keys(field for note in members for field in note.fields)
        rows = _date_keys(f for note in members for row in note.rows for f in row.fields)
        named = [
            (key, place) for key, place in self._vocabulary.keys_in(parse.words) if key in keys or key in rows
        ]
        left = self._left(time.span)
        dated = sum(note.date is not None for note in members)
        if named:
            key, place = named[0]
        elif dated * 2 >= len(members) and members and not (rows and not keys and left):
            key, place = "date", None
        elif keys or rows:
            near = await self._nearest(self._text, [*keys, *rows])
            key, place = max(near, key=lambda name: near[name]), None
            parse.cover(*(Span(word.start, word.end) for word in left[:1]))
        else:
            return
        condition = _within(key, time)
        if key in rows and key not in keys:
            parse.entry_conditions.append(condition)
        else:
            parse.conditions.append(condition)
            parse.strength += 1
        if key != "date":
            parse.shown.append(key)
        parse.cover(time.span, place)

    def _entries(self) -> Query | None:
        """List items or table rows with the compared property, of the class or note that is named."""
        parse = self._parse
        if not parse.entry_conditions:
            return None
        conditions = list(parse.conditions)
        for note, place in self._vocabulary.titles_in(parse.words):
            if any(row.fields for row in note.rows):
                conditions = [Comparison("path", "$eq", note.path)]
                parse.cover(place)
        left = self._left()
        if len(left) > 3:
            return None
        ask: Ask = "count" if _COUNT.search(self._text) else "list"
        return Query(
            "entries",
            ask,
            tuple(parse.classes),
            tuple(conditions),
            tuple(parse.entry_conditions),
            shown=tuple(parse.shown),
        )

    async def _order(self, extreme: compared.Extreme | None) -> tuple[str, bool] | None:
        """The property by which the largest or smallest is asked for."""
        if extreme is None or not (self._parse.conditions or self._is_many or self._is_when()):
            return None
        if extreme.concept == "date":
            self._parse.cover(extreme.span)
            return "date", extreme.largest
        keys = self._numeric()
        if not keys:
            return None
        named = [key for key, _ in self._vocabulary.keys_in(self._parse.words) if key in keys]
        if named:
            key = named[0]
        else:
            near = await self._nearest(extreme.concept, list(keys))
            key = max(near, key=lambda name: near[name])
        self._parse.cover(extreme.span)
        self._parse.shown.append(key)
        return key, extreme.largest


def asks_many(question: str) -> bool:
    """Whether the words of a question ask for several notes or things."""
    return _MANY.search(question.casefold()) is not None


def _places(words: Sequence[Word]) -> tuple[tuple[int, int], ...]:
    return tuple((word.start, word.end) for word in words)


def _of_value(value: Value) -> Comparison:
    if len(value.stored) == 1:
        return Comparison(value.key, "$eq", value.stored[0])
    return Comparison(value.key, "$in", value.stored)


_SHARE = re.compile(r"\d+(?:\.\d+)?\s*/\s*\d+")
_STARS = re.compile(r"[★⭐]+")
_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?.*")
_MEASURE = re.compile(
    r"[$€£¥￥]?\s*(?P<number>\d[\d,]*(?:\.\d+)?)\s*(?:[^\W\d]{1,12}|[$€£¥￥%])?(?:\s?[^\W\d]{1,8})?"
)
"""A number with its unit: ``20天一次``, ``59.99 €``, ``30 min``."""


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    written = str(value).strip()
    return isinstance(value, int | float) or bool(
        _SHARE.fullmatch(written) or _STARS.match(written) or _MEASURE.fullmatch(written)
    )


def _number(value: float | str) -> float | int | str:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _compared(key: str, one: compared.Comparison, values: Sequence[Any]) -> Expression:
    """The comparison, with shares and stars that are written as text resolved to the texts that fit."""
    plain = _number(one.value)
    texts = [value for value in dict.fromkeys(values) if isinstance(value, str)]
    if isinstance(plain, str):
        return Comparison(key, "$eq", plain)
    if not texts:
        return Comparison(key, one.operator, plain)
    fitting = [v for v in texts if matches(Comparison(key, one.operator, plain), {key: _scale(v)})]
    written = Comparison(key, "$in", tuple(fitting))
    has_numbers = any(not isinstance(value, str) for value in values)
    return Or((written, Comparison(key, one.operator, plain))) if has_numbers else written


def _scale(written: str) -> float:
    stars = _STARS.match(written)
    if stars:
        return float(len(stars.group()))
    measure = _MEASURE.match(written.strip())
    return float(measure["number"].replace(",", "")) if measure else float(written.split("/")[0])


def _date_keys(fields: Any) -> list[str]:
    return list(dict.fromkeys(one.key for one in fields if _DATE.fullmatch(str(one.value).strip("[]"))))


def _within(key: str, time: Time) -> Expression:
    bounds = []
    if time.start is not None:
        bounds.append(Comparison(key, "$gte", time.start))
    if time.end is not None:
        bounds.append(Comparison(key, "$lt", time.end))
    return bounds[0] if len(bounds) == 1 else And(tuple(bounds))
