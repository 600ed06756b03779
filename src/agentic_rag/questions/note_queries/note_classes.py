"""Which kind of notes a question asks for: by a tag, or by a word for a folder, a category or a series of titles."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.domain.filters import Comparison, matches
from agentic_rag.questions import comparisons
from agentic_rag.questions.forms import KIND_LEAD, LAST_NOUN, NOUN, WHO, extreme_noun, head_noun
from agentic_rag.questions.generic_words import NOTE_NOUNS, QUERY_WORDS
from agentic_rag.questions.note_queries.draft import Draft
from agentic_rag.questions.note_queries.vocabulary import NoteClass
from agentic_rag.questions.words import Place, Word, is_named_apart, key_words, parts
from agentic_rag.text import starts_cjk

_TAG = re.compile(r"(?<![\w&/])#([^\s#,.;:!?，。；：！？()（）]+)")
_TAG_PHRASE = re.compile(r"\btagged(?: with| as)?\s+([\w/-]+)|标签(?:为|是)?\s*([\w/-]+)")
_IN = re.compile(r"(?:\bin(?: the| my)?|\bfolder|文件夹)$")
_POSSESSIVE = re.compile(r"\b(?:my|our|top \w+|(?:most \w+|\w+est)(?:[ -]rated)?)$")
MIN_LIKENESS, MIN_LEAD = 0.86, 0.005
"""Cosine from which a class in another script is the one that a noun names, and its lead over the next."""
MIN_ALIKE, MIN_ALIKE_LEAD, MAX_ALIKE = 0.91, 0.02, 32
"""The same of a class in its own script, and the classes that are compared, those of most notes first. Of 59 pairs that
were written for it, 16 of 16 classes are right at these, 24 of 29 at 0.9; 歌 is as near to 书籍 as to anything."""


PEOPLE = {
    parts(name)
    for name in (
        "people contacts colleagues coworkers friends family team staff members clients customers students neighbours neighbors"
        " 人 人物 联系人 同事 朋友 同学 客户 员工 家庭 亲友 学生 邻居"
    ).split()
}
"""Names of the class that "who" asks for."""
ONE_KIND = 0.8
"""Share of notes in one folder or category from which they are of one kind."""


def is_people(name: str) -> bool:
    """Whether a class is of people, by its name: ``contacts``, 家人."""
    return parts(name) in PEOPLE or (len(name) == 2 and name.endswith("人"))


def read_tags(draft: Draft) -> bool:
    """Add the tags that the question names, ``#rpg`` or "tagged rpg"; whether there are any."""
    known = {tag.casefold(): tag for tag, _ in draft.vocabulary.snapshot.schema.tags}
    marked = list(_TAG.finditer(draft.text))
    for match in marked:
        tag = known.get(match[1].strip("/").casefold(), match[1].strip("/"))
        draft.add(Comparison("tags", "$eq", tag), Place(*match.span()))
    named = None if marked else _TAG_PHRASE.search(draft.text)
    if named is None:
        return bool(marked)
    stored = known.get((named[1] or named[2]).casefold())
    if stored is not None:
        draft.add(Comparison("tags", "$eq", stored), Place(*named.span()))
    return stored is not None


async def read_class(draft: Draft) -> NoteClass | None:
    """Add the kind of notes that is asked for: the one named first, else the one of the nearest name."""
    met = [
        (one, place)
        for one, place in draft.vocabulary.classes_in(draft.words)
        if draft.is_free(place) and not _is_generic(draft, place) and not _is_of_property(draft, place)
    ]
    head = _people(draft) or min(met, key=lambda pair: pair[1].start, default=None)
    han, noun = _noun(draft), head_noun(draft.text) if draft.asks_many else None
    if head is None and han is not None:
        head = await _nearest_class(draft, han)
    if head is None:
        head = await _alike_class(draft, han or noun)
    if head is None:
        return None
    one, place = head
    draft.conditions.insert(0, one.condition)
    draft.classes.append(one.name)
    draft.cover(place)
    return one


def _is_of_property(draft: Draft, place: Place) -> bool:
    """Whether a word belongs to a property of several words that the question has all of: ``hours in garden``."""
    word = parts(draft.text[place.start : place.end])
    return any(
        word[0] in key_words(key) and is_named_apart(draft.words, key) for key in draft.vocabulary.keys
    )


def _people(draft: Draft) -> tuple[NoteClass, Place] | None:
    """The class of people, where the question asks for those of whom it says something."""
    who = WHO.search(draft.text)
    if who is None:
        return None
    named = [one for one in draft.vocabulary.classes if is_people(one.name)]
    if not named:
        return None
    folders = tuple(str(one.condition.value) for one in named if one.kind == "folder")
    one = named[0]
    if len(folders) > 1:
        one = NoteClass("people", "folder", Comparison("folder", "$in", folders), sum(n.count for n in named))
    return one, Place(*who.span())


def _noun(draft: Draft) -> Place | None:
    """The Chinese noun of what is asked for: of 哪些游戏, 最贵的游戏, 用牛奶的饮料, 1995年的电影."""
    is_kind = draft.asks_many or draft.time is not None
    listed = NOUN.search(draft.text) if draft.asks_many else None
    if listed is not None:
        return Place(*listed.span("noun"))
    last = LAST_NOUN.search(draft.text) if is_kind else None
    return extreme_noun(draft.text) or (None if last is None else Place(*last.span("noun")))


def _is_generic(draft: Draft, place: Place) -> bool:
    """Whether a word such as "notes" is meant as such, and not as the folder of that name."""
    written = draft.text[place.start : place.end]
    if place == head_noun(draft.text):
        return False
    before = draft.text[: place.start].rstrip()
    if written not in NOTE_NOUNS and _POSSESSIVE.search(before):
        return False  # my shows, the longest show
    is_comparison = comparisons.extreme(written) is not None or comparisons.state(written) is not None
    return (is_comparison or written in QUERY_WORDS) and not _IN.search(before)


async def _nearest_class(draft: Draft, span: Place) -> tuple[NoteClass, Place] | None:
    """The class that a Chinese noun names in part (课 of 课程), or in another script (游戏 of games); of several folders
    whose names end with it, 荤菜 and 素菜 of 菜, all."""
    noun = draft.text[span.start : span.end]
    named = [one for one in draft.vocabulary.classes if one.kind in ("folder", "category", "tag")]
    near_names = [one for one in named if len(one.name) <= len(noun) + 2]
    partly = [one for one in near_names if one.name.startswith(noun)]
    kinds = [one for one in near_names if one.name.endswith(noun) and one.kind == "folder" and one.count > 1]
    if len(kinds) > 1 and not partly:
        folders = tuple(str(one.condition.value) for one in kinds)
        count = sum(one.count for one in kinds)
        return NoteClass(noun, "folder", Comparison("folder", "$in", folders), count), span
    if parts(noun) in PEOPLE:
        partly = [one for one in named if is_people(one.name)]
    if partly:
        return max(partly, key=lambda one: one.count), span
    foreign = [one.name for one in named if one.name.isascii()] if starts_cjk(noun) else []
    return await _nearest_name(draft, span, foreign, MIN_LIKENESS, MIN_LEAD)


async def _alike_class(draft: Draft, span: Place | None) -> tuple[NoteClass, Place] | None:
    """The folder or category whose name means what a noun means, Travel of trips, 餐馆 of 饭店; None of one that names a
    property."""
    if span is None or any(place.overlaps(span) for _, place in draft.vocabulary.keys_in(draft.words)):
        return None
    is_han = starts_cjk(draft.text[span.start])
    named = [one for one in draft.vocabulary.classes if one.kind != "tag" and starts_cjk(one.name) == is_han]
    most = sorted(named, key=lambda one: -one.count)[:MAX_ALIKE]
    return await _nearest_name(draft, span, [one.name for one in most], MIN_ALIKE, MIN_ALIKE_LEAD)


async def _nearest_name(
    draft: Draft, span: Place, names: Sequence[str], least: float, lead: float
) -> tuple[NoteClass, Place] | None:
    """The class among these whose name is the nearest to a noun, where its cosine and its lead over the next suffice."""
    if not names:
        return None
    near = await draft.nearest(draft.text[span.start : span.end], names)
    first, *others = sorted(near, key=lambda name: -near[name])
    if near[first] < least or (others and near[first] - near[others[0]] < lead):
        return None
    return next(one for one in draft.vocabulary.classes if one.name == first), span


def names_only_kind(draft: Draft, words: Sequence[Word]) -> bool:
    """Whether these words are one noun for the kind of all notes that have the properties of the conditions: 哪套房子,
    看过的房子."""
    lead = None if len(words) != 1 else KIND_LEAD.search(draft.text, 0, words[0].start)
    return lead is not None and not draft.classes and is_of_one_kind(draft)


def is_of_one_kind(draft: Draft) -> bool:
    """Whether the notes that have the properties of the conditions are of one kind, so that a noun which is no word of the
    vault may be another word for it."""
    facts = draft.vocabulary.snapshot.facts
    having = [
        one for one in facts.values() if any(one.get(key) not in (None, "", []) for key in draft.shown_keys)
    ]
    kinds = [one.condition for one in draft.vocabulary.classes if one.kind in ("folder", "category")]
    if not kinds or not having:
        return True
    shared = max(sum(matches(kind, one) for one in having) for kind in kinds)
    return shared >= ONE_KIND * len(having)
