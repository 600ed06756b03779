"""Makes cards of the units of a passage: a definition, a property or a row with its owner, the order of steps, the members
of a list, a drawn relation, an amount or a name in a sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from agentic_rag.answering.operations.selection import units_of
from agentic_rag.answering.quotes import Card, CardKind
from agentic_rag.domain.results import Passage
from agentic_rag.notes.units import LIST_KINDS, Unit
from agentic_rag.text import content_tokens, script, tokens
from agentic_rag.text.patterns import lazy_pattern

GAP = "____"
MAX_TEXT = 240
"""Code points of a text that is asked about, or of an answer."""
MAX_ITEM, MAX_STEP = 48, 120
"""Code points of a member of a list, and of a step."""
MAX_WORDS = 4
"""Words of a member where a heading alone says what its list holds."""
MAX_COLUMNS = 3
"""Columns of a row that are asked for together."""
LONG_CELL = 40
"""Code points of a cell from which it is asked for alone: it says what the first cell is."""
MIN_TERMS = {"latin": 7, "cjk": 5, "other": 5}
"""Minimum terms of a sentence with a gap, by script."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A card with what it is made of."""

    card: Card
    unit: Unit
    """The first of its units, which reaches to the last one's end."""


def topic(result: Passage) -> str:
    """The note's title without a date before it."""
    title = str(result["metadata"].get("title") or result["id"])
    return re.sub(r"^\d{4}-\d{2}-\d{2}[\s_–-]+", "", title)


def name_pattern(name: str) -> re.Pattern[str]:
    """A pattern for a name as a whole word, in any case; anywhere in a script without spaces. A number matches as
    a whole number."""
    before = r"(?<!\d)(?<!\d[.,\s])" if name[:1].isdigit() else ""
    after = r"(?![.,\s]?\d)" if name[-1:].isdigit() else ""
    return re.compile(rf"(?<![A-Za-z]){before}{re.escape(name)}{after}(?![A-Za-z])", re.IGNORECASE)


def drafts_of(result: Passage) -> list[Draft]:
    """The cards that a result's units make, one for each unit or run of units."""
    title = topic(result)
    if DAY.fullmatch(title):
        return []
    units = [
        unit
        for unit in units_of(result)
        if not unit.failure
        and unit.state is None
        and unit.kind != "code"
        and not _ASIDE.search(" ".join(unit.headings))
    ]
    makers: tuple[Callable[[str, Sequence[Unit], str], Iterator[Draft]], ...] = (
        _definitions,
        _relations,
        _rows,
        _lists,
        _properties,
        _gaps,
    )
    content = str(result["content"])
    if DAY.search(str(result["metadata"].get("title") or "")):
        units = [unit for unit in units if unit.kind != "property"]  # of a meeting or a day
    made: dict[tuple[int, int], Draft] = {}
    for make in makers:
        for draft in make(title, units, content):
            made.setdefault((draft.unit.start, draft.unit.end), draft)
    return list(made.values())


def normal(text: str) -> str:
    """The text without case, markup and punctuation, to compare by."""
    return " ".join(tokens(text))


DAY = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")
_ASIDE = re.compile(
    r"\b(?:related|see also|references?|sources?|links|changelog|license|credits|contribut\w*|todo|footnotes?|questions?|backlinks)\b"
    r"|参考|参见|相关|附加内容|待办|链接|来源|许可",
    re.IGNORECASE,
)
"""Headings of what is no part of a note's matter."""
_OF_ITSELF = re.compile(
    r"\b(?:I|[Mm]y|[Mm]e|this (?:page|note|article|guide|section|document|file|vault)|learn more|for more|see|above|below|following|here)\b"
    r"|我(?!们)|本文|本页|本指南|这篇|参见|参考|详见|见上|如下|以下|上述|上面|下面"
)
"""Words of a text that speaks of itself, of its writer, or of what stands beside it."""
_URL = re.compile(r"https?://|\]\(|^\S+/\S+$|\w\\\w|\w/\w+/|\S@\S")
"""An address, a link, a path, a mailbox."""


def _place(title: str, unit: Unit) -> str:
    """The note, and the innermost heading above the unit where that says more."""
    heading = next((one for one in reversed(unit.headings) if one), "")
    if not heading or normal(heading) in normal(title):
        return title
    return heading if normal(title) in normal(heading) else f"{title} › {heading}"


def _is_han(text: str) -> bool:
    return script(text) == "cjk"


def _spanning(units: Sequence[Unit]) -> Unit:
    return replace(units[0], end=max(unit.end for unit in units))


_LABEL = re.compile(
    r"(?:notes?|tips?|hints?|examples?|e\.?g|i\.?e|warnings?|important|caution|info|why|questions?|answers?|sources?|see|for \w+|related|see also|default|option \w|step \d+)"
    r"|(?:注意|提示|说明|备注|例如?|比如|示例|问题?|答案?|来源|为什么|作者|图片?|相关|题目|注).{0,3}",
    re.IGNORECASE,
)
_DEFINES = r"(?:\s?[(（][^()（）]{1,40}[)）])?(?:,[^,]{1,40},)?\s(?P<verb>is|are|was|were)\s(?=(?:an?|the|one|any|what|how|when|where)\s)|{name}s?\s(?P<means>means|refers\sto|stands\sfor)\s"
_HAN_DEFINES = r"(?:[(（][^()（）]{1,30}[)）])?[,，]?(?:就?是(?!不|否|在|由|从|为)|指的?是?|即|叫做|称为)"
_LEADING_TERM = re.compile(r"(?:\[\[(?:[^\[\]|]*\|)?(?P<link>[^\[\]|]+)\]\]|\*\*(?P<bold>[^*]{2,40})\*\*)")


def _definitions(title: str, units: Sequence[Unit], content: str) -> Iterator[Draft]:
    """``Term: what it is`` in a sentence or item, and sentences that say what a name is."""
    keyed = Counter(unit.block for unit in units if unit.key is not None and unit.kind in LIST_KINDS)
    for unit in units:
        if unit.kind in ("property", "row") or len(unit.text) > MAX_TEXT or _OF_ITSELF.search(unit.own()):
            continue
        if unit.key is not None:
            if _MATERIALS.search(" ".join(unit.headings)):
                continue
            if _is_term(unit, content) and (keyed[unit.block] > 1 or "**" in content[unit.start : unit.end]):
                place = (
                    unit.parents[-1].rstrip(":： ") if unit.parents and unit.depth else _place(title, unit)
                )
                asks = (
                    f"「{place}」里，“{unit.key}”是什么？"
                    if _is_han(unit.text)
                    else f"{place}: what is “{unit.key}”?"
                )
                yield Draft(Card(asks, unit.text, "definition"), unit)
            continue
        if unit.lead is not None or not _ends_whole(unit.text):
            continue
        for name in _subjects(title, unit, content):
            form = _HAN_DEFINES if _is_han(unit.text) else _DEFINES
            match = re.match(
                rf"(?:(?:An?|The)\s)?{re.escape(name)}{form.replace('{name}', re.escape(name))}",
                unit.text,
                re.IGNORECASE,
            )
            if match is None or len(tokens(unit.text[match.end() :])) < 4:
                continue
            asks = f"{name}是什么？" if _is_han(unit.text) else f"What {match['verb'] or 'is'} {name}?"
            if normal(title) not in normal(name) and normal(name) not in normal(title):
                asks = f"{title}{'：' if _is_han(unit.text) else ': '}{asks}"
            yield Draft(Card(asks, unit.text, "definition"), unit)
            break


def _is_term(unit: Unit, content: str) -> bool:
    """Whether the name before a colon is one, and what follows says what it is, and is no list of links."""
    key, written = unit.key or "", content[unit.start : unit.end]
    is_name = re.match(r"[^\W\d_]", key) and not key[0].islower() and len(key) <= 40 and len(key.split()) <= 4
    unlinked = len(_LINK.sub("", written).partition(":")[2] or _LINK.sub("", written).partition("：")[2])
    says = len(tokens(unit.text)) >= 4 and unit.text[-1] not in ":：?？" and unlinked * 2 >= len(unit.text)
    is_noun = _is_han(unit.text) or bool(_NOUN.match(unit.text)) or not _ends_whole(unit.text)
    is_other = (
        "`" in written[: len(key) + 4]
        or _LABEL.fullmatch(key)
        or _CLAUSE.search(key)
        or _URL.search(unit.text)
        or DAY.search(key)
        or re.match(r"\*\*[^*]*[:：]\s?[^*\s]", written)  # the bold goes on behind the colon
    )
    return bool(is_name and says and is_noun and not is_other)


_LINK = re.compile(r"!?\[\[[^\]]*\]\]")
_NOUN = re.compile(r"(?:An?|The|One|Any|All|Every|Both|[a-z0-9\"“(])")
"""Beginning of a value that says what something is, and not what to do with it."""
_CLAUSE = re.compile(
    r"→|\b(?:it|is|are|was|were|has|have|can|must|matters?|needs?)\b|[是说有要不会能]", re.IGNORECASE
)
"""Words of a clause, which is no name of anything."""


def _subjects(title: str, unit: Unit, content: str) -> list[str]:
    """Names that a sentence may define: the note's, the heading's, a term in bold or linked at its beginning."""
    written = content[unit.start : unit.start + 90]
    led = _LEADING_TERM.match(re.sub(r"^(?:(?:An?|The)\s)", "", written))
    names = [title, *unit.headings[-1:], *([led["link"] or led["bold"]] if led else [])]
    singular = [name[:-1] for name in names if name.endswith("s") and name.isascii()]
    return [name.strip() for name in dict.fromkeys([*names, *singular]) if name.strip()]


def _ends_whole(text: str) -> bool:
    return re.search(r"[.!。！…][\"'”’」』）)\]]*\Z", text) is not None


_ARROW = re.compile(r"(?P<source>[^—→\n]{1,60}?) —(?P<name>[^→\n]{1,60})→ (?P<target>[^—→\n]{1,60})")


def _relations(title: str, units: Sequence[Unit], content: str) -> Iterator[Draft]:
    """``A —relation→ B``, as canvases draw it; all the targets of one source together."""
    targets: dict[tuple[str, str], list[str]] = {}
    first: dict[tuple[str, str], Unit] = {}
    for unit in units:
        match = _ARROW.fullmatch((unit.key or unit.text).strip())
        if match is not None and not DAY.search(unit.own()):
            pair = match["source"].strip(), match["name"].strip()
            targets.setdefault(pair, []).append(match["target"].strip())
            first.setdefault(pair, unit)
    for (source, name), ends in targets.items():
        asks = f"{title}: {source} —{name}→ {GAP}{_WHAT[_is_han(source + name)]}"
        yield Draft(Card(asks, ", ".join(ends), "relation"), first[source, name])


_WHAT = {False: ". What fills the gap?", True: "。空格里是什么？"}


def _rows(title: str, units: Sequence[Unit], content: str) -> Iterator[Draft]:
    """A table's row, asked for by its first cell and the names of its other columns."""
    for unit in units:
        if unit.kind != "row" or len(unit.columns) < 2:
            continue
        (_, first), *others = unit.columns
        others = [
            (name.rstrip("?？ "), cell)
            for name, cell in others
            if len(cell) <= MAX_TEXT // 2 and not _URL.search(cell) and not DAY.search(cell)
        ]
        longest = max(others, key=lambda column: len(column[1]), default=("", ""))
        others = [longest] if len(longest[1]) >= LONG_CELL else others[:MAX_COLUMNS]
        is_named = (
            re.match(r"\W{0,2}\w", first)
            and re.search(r"[^\W\d]", first)
            and first[-1] not in ":："
            and not re.search(r"\b(?:19|20)\d\d\b", first)
        )
        if not is_named or not others or not all(name for name, _ in others) or len(first) > 60:
            continue
        if others == [longest] and set(content_tokens(first)) & set(content_tokens(longest[1])):
            continue
        names, place = [name for name, _ in others], _place(title, unit)
        if _is_han("".join([first, *names])):
            asks = f"「{place}」里，{first} 的 {'、'.join(names)} 是什么？"
        else:
            asks = f"What does “{place}” give for {first}: {', '.join(names)}?"
        answer = " · ".join(f"{name}: {cell}" for name, cell in others) if len(others) > 1 else others[0][1]
        yield Draft(Card(asks, answer, "row"), unit)


_STEPS = re.compile(
    r"\b(?:steps?|directions?|instructions?|method|procedure|preparation|how to|to \w+.*:$)\b|操作|步骤|做法|流程|制作",
    re.IGNORECASE,
)
_PREPARES = re.compile(
    r"备用|洗净|切[成片末段丝丁块]|\b(?:wash|chop|slice|dice|peel|set aside)\b", re.IGNORECASE
)
"""What is done in any order before the first step."""
_MATERIALS = re.compile(r"\bingredients?\b|原料|材料|食材|用料|配料|计算|用量", re.IGNORECASE)
_NAMED_AMOUNT = lazy_pattern(
    r"(?P<name>[^\d:：=＝]{1,20}?)\s*[:：=＝]?\s*(?P<amount>[\d.]+\s?(?:[-–~～至到]\s?[\d.]+)?\s?(?:[a-zA-Z]{1,3}|[\u4e00-\u9fff]{1,2}))"
)


def _lists(title: str, units: Sequence[Unit], content: str) -> Iterator[Draft]:
    """The order of steps, the members of a short list, the amounts of a recipe's ingredients."""
    blocks: dict[int, list[Unit]] = {}
    for unit in units:
        if unit.kind in LIST_KINDS:
            blocks.setdefault(unit.block, []).append(unit)
    places = Counter(block[0].headings for block in blocks.values())
    for block in blocks.values():
        top = [unit for unit in block if unit.depth == 0]
        heading = " ".join([*top[0].headings[-1:], top[0].lead or ""]) if top else ""
        is_whole = places[block[0].headings] == 1 and len(top) == len(block)
        if _are_steps(top, heading):
            if is_whole:
                yield from _steps(title, top)
        elif _MATERIALS.search(heading) and any(_NAMED_AMOUNT.fullmatch(unit.own()) for unit in top):
            yield from _ingredients(title, top)
        elif is_whole:
            yield from _members(title, top, content)


def _are_steps(items: Sequence[Unit], heading: str) -> bool:
    """Whether the items follow each other: a heading or lead says so, or they are numbered and tell what to do."""
    telling = sum(bool(_INSTRUCTION.search(unit.text)) for unit in items)
    is_numbered = all(unit.kind == "step" for unit in items) and len(heading.split()) > 1
    return bool(_STEPS.search(heading)) or (is_numbered and telling * 2 >= len(items) > 0)


def _steps(title: str, steps: Sequence[Unit]) -> Iterator[Draft]:
    words = sum(len(tokens(unit.text)) for unit in steps)
    if (
        len(steps) < 3
        or words < 4 * len(steps)
        or any(_OF_ITSELF.search(unit.text) or "→" in unit.text or unit.text[-1] in ":：" for unit in steps)
    ):
        return
    place, is_han = _place(title, steps[0]), _is_han(steps[0].text)
    if len(steps) <= 5 and all(len(unit.text) <= MAX_STEP // 2 for unit in steps):
        asks = (
            f"「{place}」的 {len(steps)} 步依次是什么？"
            if is_han
            else f"{place}: what are the {len(steps)} steps, in order?"
        )
        answer = " · ".join(f"{n}: {unit.text}" for n, unit in enumerate(steps, 1))
        yield Draft(Card(asks, answer, "steps"), _spanning(steps))
        return
    for step, following in pairwise(steps):
        if _INSTRUCTION.search(f"{step.text} {following.text}") or _PREPARES.search(following.text):
            continue
        if max(len(step.text), len(following.text)) <= MAX_STEP and len(tokens(following.text)) >= 4:
            one = step.text.rstrip("。.；;，, ")
            asks = (
                f"「{place}」：“{one}”的下一步是什么？"
                if is_han
                else f"{place}: which step comes after “{one}”?"
            )
            yield Draft(Card(asks, following.text, "steps"), _spanning([step, following]))


def _ingredients(title: str, items: Sequence[Unit]) -> Iterator[Draft]:
    for unit in items:
        match = _NAMED_AMOUNT.fullmatch(unit.own())
        if match is not None:
            name, amount = match["name"].strip(), match["amount"].strip()
            asks = (
                f"「{title}」要用多少{name}？" if _is_han(name) else f"{title}: how much {name} does it take?"
            )
            yield Draft(Card(asks, amount, "amount"), unit)


def _members(title: str, items: Sequence[Unit], content: str) -> Iterator[Draft]:
    texts = [unit.text.rstrip("。.；;，, ") for unit in items]
    is_short = 3 <= len(items) <= 7 and all(len(text) <= MAX_ITEM and not _URL.search(text) for text in texts)
    links = sum(bool(_LINK.fullmatch(content[unit.start : unit.end].strip())) for unit in items)
    if (
        not is_short
        or links * 2 > len(items)
        or any(unit.key or unit.fields for unit in items)
        or re.search(r"[→,，;；。:：]|\d{4}-\d{2}", "".join(texts))
    ):
        return
    first, count = items[0], len(items)
    lead = (first.lead or "").rstrip(":： ")
    if lead and (_OF_ITSELF.search(lead) or lead[-1] in "?？" or len(content_tokens(lead)) < 2):
        return
    if not lead and (not first.headings or normal(first.headings[-1]) in normal(title)):
        return
    if not lead and max(len(text.split()) for text in texts) > MAX_WORDS:
        return
    place = title if lead else _place(title, first)
    is_han = _is_han("".join(texts))
    if lead:
        asks = f"{place}：{lead}——哪 {count} 项？" if is_han else f"{place}: {lead} – which {count}?"
    else:
        asks = f"「{place}」有哪 {count} 项？" if is_han else f"What are the {count} items of “{place}”?"
    yield Draft(Card(asks, ("、" if is_han else ", ").join(texts), "members"), _spanning(items))


_SILENT = re.compile(
    r"(?:tags?|cover|image|banner|icon|id|uid|created|updated|modified|date|time|day|published|permalink|url|link|source|status|type|class"
    r"|categor(?:y|ies)|topics?|template|rating|version|up|next|prev(?:ious)?|parent|file|path|title|name|cssclass(?:es)?|description|last|week|month"
    r"|lang(?:uage)?|colou?r|coordinates|location|isbn\d*|twitter|e-?mail|phone|quiz|concept|related|people|week|note)\b.*",
    re.IGNORECASE,
)
"""Names of properties that keep a note in order, and say nothing of its subject."""
_OF_WORKS = re.compile(r"genre|isbn|pages|publish|series|director|artist", re.IGNORECASE)
"""Names of properties beside which an author is the work's, not the note's."""


def _properties(title: str, units: Sequence[Unit], content: str) -> Iterator[Draft]:
    is_work = any(unit.kind == "property" and _OF_WORKS.search(str(unit.key)) for unit in units)
    for unit in units:
        if unit.kind != "property" or (unit.key == "author" and not is_work):
            continue
        key, value = str(unit.key).replace("_", " ").strip(), unit.text
        is_fact = isinstance(unit.value, str | list) or (
            isinstance(unit.value, int) and "year" in key.casefold()
        )
        letters = sum(map(str.isalpha, value))
        if (
            not (is_fact and (letters * 2 > len(value) or _AMOUNT.search(value) or "year" in key))
            or "." in key
            or value.startswith(("=", "$="))
            or _SILENT.fullmatch(key)
            or _URL.search(value)
            or len(value) > MAX_TEXT // 3
            or DAY.search(value)
        ):
            continue
        asks = (
            f"「{title}」的“{key}”是什么？"
            if _is_han(key) or _is_han(title)
            else f"What does “{title}” give for “{key}”?"
        )
        yield Draft(Card(asks, value, "property"), unit)


_UNIT = (
    r"(?:%|‰|°\s?[CF]|℃|[kKMGT]?i?[Bb]\b|[mcdkµμ]?(?:g|m|l|L|s|W|V|A|Hz)\b|(?:milli|centi|kilo)?(?:gram|metre|meter|litre|liter)s?\b|percent\b|degrees?\b"
    r"|seconds?\b|minutes?\b|hours?\b|days?\b|weeks?\b|months?\b|years?\b|euros?\b|dollars?\b|miles?\b|feet\b|characters?\b|pixels?\b"
    r"|度|毫?克|公?斤|毫?升|毫?米|厘米|公里|秒|分钟|小时|天|周|个月|年(?!\s?\d|[初末底春夏秋冬])|倍|岁|元|成|亩|两|勺|层|颗)"
)
_FIGURE = r"(?:\d{1,3}(?:[,\s]\d{3})+|\d+)(?:\.\d+)?(?:\s?(?:–|-|~|to|至|到)\s?\d[\d.]*)?"
_HAN_FIGURE = r"[一二三四五六七八九十百千万两半]{1,6}(?:至[一二三四五六七八九十]{1,5})?"
_AMOUNT = lazy_pattern(
    rf"(?<![\w.,×/–-])-?(?:{_FIGURE}\s?{_UNIT}(?:\s?{_FIGURE}\s?{_UNIT})?|{_HAN_FIGURE}(?:摄氏)?{_UNIT})(?![\d\w-](?<![\u4e00-\u9fff]))|(?<=\b[Ii]n )1\d{{3}}\b(?!s)"
    rf"|(?<![\u4e00-\u9fff几数第]){_HAN_FIGURE}{_UNIT}"
)
_NAMING_PHRASE = re.compile(
    r"(?:\b(?:called|named|known as|termed)\s(?:the\s|an?\s)?|叫做?|名为|称为|称作|俗称)[\"“「]?(?:\*\*|\[\[(?:[^\[\]|]*\|)?)"
    r"(?P<term>[^*:：,，、;；\[\]|#]{2,40})(?:\*\*|\]\])"
)
_SUBJECT = re.compile(
    r"(?:The\s|An?\s)?\*\*(?P<term>[^*:：,，、;；]{2,40})\*\*(?=\s(?:is|are|was|were|means)\b|是|指)"
)
_INSTRUCTION = re.compile(
    r"\b(?:you|your|yours|please|select|click|press|choose|open|type|drag|let's)\b|你|您|请", re.IGNORECASE
)


def _gaps(title: str, units: Sequence[Unit], content: str) -> Iterator[Draft]:
    """A sentence that stands alone, with a gap for an amount or for a term in bold."""
    for unit in units:
        if (
            unit.kind not in ("sentence", "item")
            or unit.lead is not None
            or unit.parents[:-1]
            or unit.key is not None
        ):
            continue
        text = unit.text
        is_whole = (
            _ends_whole(text) and not text[0].islower() and len(tokens(text)) >= MIN_TERMS[script(text)]
        )
        if not is_whole or len(text) > MAX_TEXT or _OF_ITSELF.search(text) or _DEPENDS.match(text):
            continue
        links = " ".join(_LINK.findall(content[unit.start : unit.end]))
        figures = [match.group() for match in _AMOUNT.finditer(text) if match.group() not in links]
        if 0 < len(figures) <= 3:
            yield from _gap_card(title, unit, figures[0], "amount")
        elif not figures and (term := _term(content[unit.start : unit.end])):
            yield from _gap_card(title, unit, term, "name")


def _term(sentence: str) -> str | None:
    """The term that a sentence names, or begins with and says something of."""
    found = _SUBJECT.match(sentence) or _NAMING_PHRASE.search(sentence)
    return None if found is None else found["term"].strip()


_DEPENDS = re.compile(
    r"(?:It|They|He|She|This|These|That|Those|Its|Their|His|Her|Both|But|And|So|Then|Thus|Hence|However|Also|Today|Now|Otherwise|Instead|Yet|If so)\b"
    r"|.{0,7}(?:[它她这此]|(?<![吉其维])他|那(?!么)|其(?![他实中]))|但|而(?!且)|所以|因此|于是|不过|同样|否则|然后|如果",
)
"""Beginning of a sentence that depends on the one before."""


def _gap_card(title: str, unit: Unit, term: str, kind: CardKind) -> Iterator[Draft]:
    """The sentence with a gap, after the note's title if it lacks that; nothing if that title has the term."""
    latin = script(unit.text) != "cjk"
    gloss = r"(?:\s*[(（]?[\u4e00-\u9fff]{1,8}[)）]?)?" if latin and term.isascii() and kind == "name" else ""
    match = re.search(name_pattern(term).pattern + gloss, unit.text, re.IGNORECASE)
    if match is None or len(match.group()) * 3 > len(unit.text) or term.casefold() in title.casefold():
        return
    asks = name_pattern(match.group()).sub(GAP, unit.text)
    if title.casefold() not in unit.text.casefold():
        asks = f"{title}{': ' if latin else '：'}{asks}"
    asks += " What fills the gap?" if latin else "空格里是什么？"
    yield Draft(Card(asks, match.group().strip(), kind), unit)
