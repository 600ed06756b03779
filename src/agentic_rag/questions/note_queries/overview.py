"""Questions about all notes at once, and what is said of them: folders, tags, time, and the notes that others link to."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentic_rag.domain import folders_above
from agentic_rag.domain.notes import Note
from agentic_rag.domain.selection import OverviewValues, SelectionValues
from agentic_rag.notes.catalogue import Snapshot
from agentic_rag.questions.note_queries.query import Entry, Query, Selection
from agentic_rag.text import simplify

SHOWN_NOTES = 8
"""Notes whose first statement is shown."""
SHOWN_NAMES = 10
"""Folders and tags that are named."""
READING = "an overview of all notes"

_ADJECTIVE = r"(?:main|major|key|biggest|largest|most important|important|central|core|overall|general|common|recurring|different|top|principal)"
_THEME = r"(?:themes?|topics?|subjects?|subject areas?|areas|contents?|ideas|points|things)"
_THEMES = rf"(?:(?:all )?(?:of )?(?:the |my |our )?(?:{_ADJECTIVE} )*{_THEME})"
_PLACE = r"(?:vault|notebook|notebooks|note collection|collection|collection of notes|knowledge base|library|dataset|archive|second brain|zettelkasten|obsidian)"
_NOTES = (
    r"(?:(?:everything|all|the whole|the entirety|all that is) (?:(?:of|in|inside|from) )?)?"
    rf"(?:(?:all )?(?:of )?(?:my|our|the|these|those|this|your|all) (?:whole |entire |complete |obsidian )?(?:notes|documents|files|pages|{_PLACE})(?: here)?|notes|here|there)"
)
_ALL = rf"(?:{_NOTES}|everything|it all|all of it|all of this|all of them|all this)"
_SUMMARY = r"(?:(?:a |an |the |some )?(?:(?:brief|short|quick|general|high-level|high level|rough|concise|overall|broad|complete|bird's[- ]eye) )*(?:overview|summary|outline|digest|bird's[- ]eye view|big picture))"
_ABOUT = (
    rf"(?:,? (?:of|in|on|about|across|over|throughout|within|from|for|covered in|covered by|inside) {_ALL})"
)
_WRITE = r"(?:write|have i written|did i write|do i write|have i been writing|do i take notes|have i taken notes|are there notes|do i have notes|have i got notes|am i writing)"
_HEDGE = (
    r"(?: (?:mainly|mostly|generally|basically|usually|all|really|actually|typically|primarily|overall))?"
)
_WHOLE = tuple(
    re.compile(pattern)
    for pattern in (
        rf"what(?:'s| is| are|'re|s)? {_NOTES}{_HEDGE} (?:about|on)(?: overall| in general| as a whole)?",
        rf"what (?:do|does) {_NOTES}{_HEDGE} (?:cover|contain|talk about|deal with|say|discuss|include|hold|describe|consist of|have)(?: overall)?",
        rf"(?:what(?:'s| is|s)?|what all is)(?: there| stored| contained)?(?: in| inside| stored in| contained in) {_NOTES}",
        rf"what (?:do i have|have i got|did i write|have i written|have i saved|did i save|do i keep)(?: down| saved| stored)? (?:in|inside) {_NOTES}",
        rf"what {_WRITE}(?: mainly| mostly| usually)?(?: about| on)(?: (?:in|most|mostly|the most|overall)(?: {_NOTES})?)?",
        rf"(?:summari[sz]e|sum up|outline|describe|overview of|recap|survey|characteri[sz]e) (?:for me )?(?:{_ALL}|{_THEMES}{_ABOUT}?|the contents?{_ABOUT}?|what {_NOTES} (?:is|are) about|what(?:'s| is) in {_NOTES})",
        rf"(?:(?:give|show|write|make|provide|get|create|draw up)(?: me| us)? )?{_SUMMARY}(?:{_ABOUT}| of {_THEMES}{_ABOUT}?| of what {_NOTES} (?:is|are) about| of what(?:'s| is) in {_NOTES})?",
        rf"(?:what|which)(?: are|'re| is|'s)? {_THEMES}(?: here)?{_ABOUT}?",
        rf"(?:what|which) (?:{_ADJECTIVE} )*{_THEME} (?:are there|are covered|exist|come up|do i have|do i write about|have i written about|do i take notes on|does this cover)(?:(?: most| most often| a lot)?{_ABOUT})?",
        rf"(?:what|which) (?:{_ADJECTIVE} )*{_THEME} (?:do|does) {_NOTES} (?:cover|contain|deal with|discuss|have|include|talk about|address)",
        rf"what (?:kinds?|sorts?|types?) of (?:notes|things|stuff|topics|content) (?:(?:do i have|are there|have i got|is there|are|is)(?: (?:in|inside) {_NOTES})?)",
        rf"(?:list|name|show|give|tell)(?: me)? {_THEMES}{_ABOUT}?",
        rf"(?:tell me|explain|describe)(?: to me)? what(?:'s| is| are|s)? (?:in )?{_NOTES}(?: (?:is|are))?(?: about)?",
        rf"{_THEMES}{_ABOUT}",
        r"(?:the )?(?:main|major|key) (?:themes|topics)",
    )
)
"""Forms of whole questions; nothing else may stand beside them."""
_POLITE = re.compile(
    r"^(?:(?:please|hi|hello|hey|ok|okay|so|well|and)[ ,]+|(?:can|could|would|will) you (?:please |kindly )?|i(?:'d| would) like(?: to (?:have|see|get))? |i (?:want|need) (?:to (?:have|see|get) )?"
    r"|let me (?:have|see) )+"
)
_AFTER = re.compile(
    r"(?:[ ,]+(?:please|for me|briefly|in short|in brief|shortly|in general|overall|at a glance|in a nutshell|in (?:a few|two|three|some|five) (?:sentences|words|lines|points)))+$"
)

_OF_ZH = r"(?:(?:我们|我|你|这个|这些|这份|这|本|整个|全部|所有|当前)*(?:的)?(?:全部|所有|整个)?(?:笔记本|笔记库|笔记|知识库|资料库|仓库|文档|文件|资料|库|vault)(?:们)?(?:里面|里边|里头|里|中|内)?)"
_HEDGE_ZH = r"(?:都|主要|大概|大致|大体|总共|一共|总体|整体|到底|基本|通常|上|大多|一般|平时)*"
_WHAT_ZH = r"(?:什么|哪些|些什么|些啥|啥|哪些方面|哪几|几个|哪几个|哪几类)"
_THEME_ZH = r"(?:内容|主题|话题|东西|方面|要点|重点|题材|领域|类别|类型|笔记)"
_SHORT_ZH = r"(?:整体|总体|简单|简短|简要|大致|主要|的)*"
_KIND_ZH = r"(?:主要|核心|大致|大概|全部|整体|所有|总体|重要|大|的)*"
_WHOLE_ZH = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_OF_ZH}{_HEDGE_ZH}(?:是)?(?:写|记|讲|说|有|包含|包括|涉及|涵盖|记录|记载|关于|讨论|谈|存|放|收录|保存)(?:了|着|过|到|的是|的|及)*(?:关于)?{_WHAT_ZH}{_KIND_ZH}{_THEME_ZH}?(?:的)?",
        rf"(?:我|我们){_HEDGE_ZH}(?:写|记|记录)(?:了|过|的是|的|下)*(?:关于)?{_WHAT_ZH}{_KIND_ZH}{_THEME_ZH}?(?:的)?(?:笔记)?",
        rf"(?:概括|总结|概述|归纳|介绍|梳理|汇总|概览|总览|说说|讲讲|描述)(?:一下|下|出)?(?:{_OF_ZH}(?:的)?)?{_KIND_ZH}(?:内容|主题|话题|要点|重点)",
        rf"(?:概括|总结|概述|归纳|介绍|梳理|汇总|概览|总览|说说|讲讲|描述)(?:一下|下)?{_OF_ZH}",
        rf"(?:把)?{_OF_ZH}(?:的)?(?:{_KIND_ZH}(?:内容|主题|要点))?(?:概括|总结|概述|归纳|介绍|梳理|汇总)(?:一下|下)?",
        rf"(?:{_OF_ZH}(?:的)?)?{_HEDGE_ZH}(?:有|是|涉及|涵盖|包括|包含)(?:了)?{_WHAT_ZH}{_KIND_ZH}(?:主题|话题|内容|题材|领域)",
        rf"(?:{_OF_ZH}(?:的)?)?{_KIND_ZH}(?:主题|话题|内容|题材|领域|要点){_HEDGE_ZH}(?:有|是|包括)?{_WHAT_ZH}(?:主题|话题|内容)?",
        rf"(?:给)?(?:做|来|写|出|要|看|看看|生成)?(?:个|一个|一份|份)(?:{_OF_ZH}(?:的)?)?{_SHORT_ZH}(?:概览|概述|总览|概况|总结|摘要|综述)",
        rf"(?:{_OF_ZH}(?:的)?)?{_SHORT_ZH}(?:概览|总览|概况|综述)",
        rf"{_OF_ZH}(?:的)?(?:概览|概述|总览|概况|总结|摘要|综述|主要内容|主题)",
    )
)
_POLITE_ZH = re.compile(
    r"^(?:请|帮我|帮忙|麻烦|能不能|能否|可以|可不可以|你|给我|用几句话|简单|简要|简短|地|我想知道|我想看看|告诉我|一下)+"
)
_AFTER_ZH = re.compile(r"(?:吗|呢|吧|啊|呀|一下|好吗)+$")
_TRADITIONAL = str.maketrans("筆記庫寫總結識資檔題內講說覽類點領", "笔记库写总结识资档题内讲说览类点领")
_HAN = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Overview:
    """All notes in numbers and names."""

    notes: int
    folders: tuple[tuple[str, int], ...] = ()
    """Each folder that notes lie in, with the number of those in it and not below, most first."""
    tags: tuple[tuple[str, int], ...] = ()
    """With the number of notes, most first."""
    dates: tuple[str, str] | None = None
    """First and last month of the notes' dates, ISO 8601; None without any."""
    central: tuple[Note, ...] = ()
    """The notes that most others link to, then the first of the largest folders; each with a statement."""

    def to_dict(self) -> OverviewValues:
        """Plain values, for the state: what is said besides the notes."""
        return {
            "notes": self.notes,
            "folder_count": len(self.folders),
            "folders": [list(one) for one in self.folders[:SHOWN_NAMES]],
            "tags": [list(one) for one in self.tags[:SHOWN_NAMES]],
            "dates": None if self.dates is None else list(self.dates),
        }


def asks_for_everything(question: str) -> bool:
    """Whether a question asks what all notes are about. With any further content it does not.

    >>> asks_for_everything("What are my notes about?"), asks_for_everything("What are my notes about tea about?")
    (True, False)
    """
    return _is_whole(plain_question(question), _WHOLE_ZH if _HAN.search(question) else _WHOLE)


def plain_question(question: str) -> str:
    """The question folded, without punctuation and polite words, to be compared with forms of whole questions."""
    return _plain_zh(question) if _HAN.search(question) else _plain(question)


def overview(snapshot: Snapshot) -> Overview:
    """What all notes of a dataset are about."""
    notes = snapshot.notes
    months = sorted(note.date[:7] for note in notes if note.date)
    folders = Counter(folder for note in notes for folder in folders_above(note.path)[:1])
    ranked = tuple(sorted(folders.items(), key=lambda one: (-one[1], one[0])))
    return Overview(
        len(notes),
        ranked,
        snapshot.schema.tags,
        (months[0], months[-1]) if months else None,
        tuple(_central(snapshot, [folder for folder, _ in ranked]))[:SHOWN_NOTES],
    )


def selection_of(view: Overview) -> Selection:
    """The overview's notes as entries, each with the span of its first statement."""
    entries = tuple(
        Entry(note.document_id, note.path, note.title, note.url, note.title, *_opening(note))
        for note in view.central
    )
    return Selection(Query("notes", "overview"), entries)


def state_of(view: Overview) -> SelectionValues:
    """What the state keeps of an overview: see ``selection_of`` and ``Overview.to_dict``."""
    selection = selection_of(view).to_dict()
    return {**selection, "reading": READING, "count": view.notes, "overview": view.to_dict()}


def _plain(question: str) -> str:
    text = re.sub(r"\s+", " ", question.replace("’", "'").casefold()).strip(" ?!.…:;\"'“”")
    return _AFTER.sub("", _POLITE.sub("", text)).strip(" ,")


def _plain_zh(question: str) -> str:
    text = re.sub(
        r"[\s，。？！、：；,.?!:;…“”\"'·~～]+", "", simplify(question).translate(_TRADITIONAL).casefold()
    )
    return _AFTER_ZH.sub("", _POLITE_ZH.sub("", text))


def _is_whole(text: str, forms: Sequence[re.Pattern[str]]) -> bool:
    return bool(text) and any(form.fullmatch(text) for form in forms)


def _central(snapshot: Snapshot, folders: Sequence[str]) -> Iterator[Note]:
    """The notes with a statement that others link to, most first; then one of each of the largest folders in turn."""
    named = snapshot.notes_by_title()
    linking: dict[str, set[str]] = defaultdict(set)
    for note in snapshot.notes:
        for link in note.links:
            target = named.get(link.casefold())
            if target is not None and target.opening is not None and target is not note:
                linking[target.document_id].add(note.document_id)
    stated = [note for note in snapshot.notes if note.opening is not None]
    linked = [note for note in stated if note.document_id in linking]
    yield from sorted(linked, key=lambda note: (-len(linking[note.document_id]), note.path))
    of: dict[str, list[Note]] = defaultdict(list)
    for note in stated:
        if note.document_id not in linking:
            of[next(iter(folders_above(note.path)), "")].append(note)
    queues = [of[folder] for folder in (*folders, "") if of[folder]]
    for turn in range(max(map(len, queues), default=0)):
        yield from (queue[turn] for queue in queues if turn < len(queue))


def _opening(note: Note) -> tuple[int, int]:
    return note.opening or (0, 0)
