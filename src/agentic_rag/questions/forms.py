"""How the wording of a question asks: for several notes, a count, a value, days, tasks, a noun."""

from __future__ import annotations

import re

from agentic_rag.questions.generic_words import MEASURE_WORDS, NOTE_NOUNS
from agentic_rag.questions.words import Place

MANY = re.compile(
    r"^\W*(?:and\s+)?(?:wh?ich|list|show|find|give|name|count|all|any|every|how many|wh(?:at|o) (?:are|were)\b|what (?!is\b|was\b|does\b|has\b)\w+s\b|notes?\b|welche|alle|wie viele)"
    r"|\bwhich of\b|\bhow many\b|\b(?:list|show)(?: me)?\b|\btagged\b|\bnotes (?:with|about|in|from|tagged|rated)\b"
    rf"|哪些|哪几|有哪|有什么|(?:多少|几)[{MEASURE_WORDS}]|所有|列出|全部|都有|统计"
    r"|^\W*(?:不?[含用带加放]有?|没有)[^的是]{1,8}的[^的]{1,4}\W*$",
    re.IGNORECASE,
)
"""Asks for several notes or things."""
COUNT = re.compile(
    rf"\bhow many\b|\bnumber of\b|\bcount\b|(?:多少|几)[{MEASURE_WORDS}]|数量|统计|wie viele",
    re.IGNORECASE,
)
ONE = re.compile(
    r"^\W*(?:and |so )?(?:how (?:much|long|old|large|big|tall|high|far|do|does|did|can)|who(?! are| were)|whom|whose|where|why|what(?:'s|’s)? (?:is|was|did|does|do|are|were|the|kind)"
    r"|does|do|did|is|are|was|were|can|has|have)\b|谁|哪里|为什么|怎么|如何|多少钱|多久|多长",
    re.IGNORECASE,
)
"""Asks for one thing, not for notes."""
VALUE = re.compile(
    r"^\W*(?:and |so )?(?:how|who|whom|whose|where|why|when)\b|谁|哪里|为什么|怎么|多少|几", re.IGNORECASE
)
"""Asks for a value that a unit of the notes gives."""
WHEN = re.compile(
    r"^\W*(?:and )?(?:when|on (?:which|what) (?:days?|dates?)|(?:which|what) days?|how often|什么时候|wann)|哪[几一]?天",
    re.IGNORECASE,
)
"""Asks for days."""
REASON = re.compile(
    r"^\W*(?:and |but )?(?:why|how come|warum|wieso)\b|为什么|为何|为啥|怎么会", re.IGNORECASE
)
"""Asks for a reason."""
HOW_MUCH_IS = re.compile(
    r"^\W*how much (?:is|was|were|are|did|does) (?:the|my|our|a|an|his|her|their|it|this|that)\b",
    re.IGNORECASE,
)
"""Asks for a number of one thing, without which nothing answers: "how much was the dinner?"."""
PRESENT = re.compile(
    r"\b(?:now|currently|current|nowadays|these days|at the moment|latest|newest|new|jetzt|aktuell\w*|derzeit|momentan|inzwischen|mittlerweile"
    r"|neue[rsnm]?)\b|现在|目前|最新|如今|新的",
    re.IGNORECASE,
)
"""Asks for what holds now."""
LAST = re.compile(
    r"\blast time\b|\b(?:did|have|has|was|were) (?:\w+ ){1,4}last\b|\bmost recent(?:ly)?\b|\bzuletzt\b|\bletzte[sn]? mal\b|上一?[次回]|最近一[次回]|最后一[次回]",
    re.IGNORECASE,
)
"""Asks for the latest of several times."""
FIRST = re.compile(
    r"\b(?:the )?first time\b|\b(?:did|have|has) (?:\w+ ){1,3}first\b(?! \w+ly)|\berstmals\b|\bzum ersten mal\b|第一[次回]|头一?[次回]|首次",
    re.IGNORECASE,
)
"""Asks for the first of several times."""
NEXT = re.compile(r"\bnext (?!to\b)|\bnächste[nrsm]?\b|下一?[次回]", re.IGNORECASE)
"""Asks for what comes."""
WE = re.compile(r"\b(?:i|we|me|us|my|our|ich|wir)\b|[我咱]")
"""Tells of what the writer did, on days of their own: "when did I meet Ann?", and not "when was Ann born?"."""
HAS = re.compile(
    r"(?<!\bi )(?<!\bwe )(?<!\byou )\b(?:with|without|use[sd]?|using|contain(?:s|ing)?|include[sd]?|need(?:s|ed)?|require[sd]?|ha(?:s|ve)|made (?:of|from)|mit|ohne)\b|含|用|有(?!哪|什么|几|多少)|加|放|带|需要",
    re.IGNORECASE,
)
"""Asks for what the lists of notes name; "which receipts do I need?" asks for what somebody needs, 学校有几个食堂 for what
one thing has."""
OF_ONE = re.compile(r"^\W*(?:which|what) [a-z]+ (?:do|does|did) (?!i\b|we\b|you\b)", re.IGNORECASE)
"""Asks for what one thing has, "which port does the proxy use?"."""
TASKS = re.compile(
    r"(?<![a-z])(?:tasks?|to-?dos?|to do|todos?|action items?|(?<=open )actions?|check ?list|aufgaben?)(?![a-z])|任务|待办|清单项",
    re.IGNORECASE,
)
WHAT = re.compile(r"\b(?:which|what|list|show|how many)\b|哪些|什么|多少|几|还没|没[买做办]")
"""Asks for tasks or entries of what it describes."""
COMPLETION = re.compile(r"already|done|finish|完成|已经|watched|看过")
"""Says that tasks are done, and not merely that something happened."""
NOUN = re.compile(
    rf"(?:哪些|有什么|(?:哪?几|多少)[{MEASURE_WORDS}]|所有(?:的)?|列出(?:所有)?)(?P<noun>[\u4e00-\u9fff]{{1,4}}?)(?=[是有在的要被由用含放加带不没比超既需大小高低多少最]|$|[^\u4e00-\u9fff])"
)
"""The Chinese noun of what is asked for."""
_HEAD_NOUN = re.compile(
    r"\b(?:which|what|how many|list|show(?: me)?)(?: all)?(?: of)?(?: the| my| our)?\s+(?P<noun>[a-z][\w'-]*)",
    re.IGNORECASE,
)
_SUPERLATIVE_NOUN = re.compile(
    r"\b(?:(?:most|least) [a-z]+|[a-z]{3,}est) (?P<noun>(?:my |the |our )?[a-z][\w'-]*)"
)
_PART_OF = re.compile(r"(?:piece|item|kind|type|bit)s? of (?:my |the |our )?[a-z][\w'-]*")
WHO_IS = re.compile(r"^\W*(?:and |so )?who(?:['’]s| is| are| was| were) (?:the|my|our)\b|谁是|是谁")
"""Asks for people themselves: "who is the oldest person?"."""
WHO = re.compile(
    r"^\W*(?:and |so )?who\s+(?!(?:is|are|was|were)\b)|^\W*(?:and |so )?who(?:['’]s| is| are| was| were) (?:in|at|on|from|with|based|born|\w+ing)\b"
    r"|^\W*(?:and |so )?whose \w+ (?:is|are|was|were|falls?)\b|^\W*谁(?!是)|有谁"
)
"""Asks for people by what is said of them: "who works in Cork?"."""
POSSESSIVE = re.compile(r"['’]s\b")
"""After a name: what follows is its own, or the name ``is``."""
AMOUNT = re.compile(
    r"^\W*(?:and |so )?how (?:much|many|long|old|large|big|tall|high|far|heavy)\b|多少|几|多[久长大高重远]"
)
"""Asks for a number."""
ACTIVITY = re.compile(
    r"\b(?:have|has|had|did) (?:i|we|you)(?: already| ever| really| all| both)? (?P<verb>[a-z]+)|(?P<han>[\u4e00-\u9fff])(?:过|完)(?!程|敏|期|年)"
)
"""Says what was done with the things that the notes are about: "have I read", 看过."""
OWN_DEED = re.compile(
    r"\b(?:that |which )?(?:i|we)(?:['’]ve| have| had)? [a-z]+(?: (?:at|on|in|to|for))?\W*$|[看买读住走去听吃玩][过了]的"
)
"""Says of things only that they are the writer's: "the flats I looked at", 看过的房子."""
KIND_LEAD = re.compile(
    rf"(?:[过了]的|哪[{MEASURE_WORDS}]|\bwhich (?:one of )?(?:the |my )?|\bwelche[rsnm]? )$"
)
"""Before a noun that says of what kind the things are that are asked for."""
MAKING = re.compile(
    r"\b(?:published|released|produced|made|issued|written|recorded|built|founded|dating)\b|出版|上映|发行|发布|拍摄"
)
"""Says that a year is that of the things themselves."""
PAST_DEED = re.compile(
    r"\b(?:watched|read|seen|played|visited|finished|completed|bought|attended|met|eaten|cooked|heard|listened|started)\b"
    r"|[看读玩听买去吃](?:的|过|完|了)"
)
"""Says so without a subject, "films watched in 2024": the time is that of the deed."""
_EXTREME_NOUN = re.compile(
    rf"最[^的]{{1,4}}的(?:[两二三四五六七八九十\d]+[{MEASURE_WORDS}])?(?P<noun>(?![是有在叫哪])[\u4e00-\u9fff]{{1,4}}?)(?=[是有在叫哪]|\W|$)"
    rf"|哪[{MEASURE_WORDS}次趟场](?P<first>[\u4e00-\u9fff]{{1,4}}?)(?:[花用要做][\u4e00-\u9fff]{{0,5}}|的[\u4e00-\u9fff]{{1,4}})?最"
)
LAST_NOUN = re.compile(r"的(?P<noun>[\u4e00-\u9fff]{1,4}?)(?:有哪些|有|都有哪些|是哪[些个]|是什么)?\W*$")
_LISTED_NOUN = re.compile(
    rf"的(?P<noun>[\u4e00-\u9fff]{{1,4}}?)(?:都?有哪些|有(?:几|多少)[{MEASURE_WORDS}])\W*$"
)
ENGLISH_NOUN = re.compile(r"\b(?:which|what|how many|list(?: all)?)\s+(?P<noun>[a-z]+)")


def asks_many(question: str) -> bool:
    """Whether the words of a question ask for several notes or things."""
    return MANY.search(question.casefold()) is not None


def extreme_noun(text: str) -> Place | None:
    """The span in which a Chinese question names the kind of what is the largest or smallest: 最贵的游戏, 哪个游戏最贵."""
    match = _EXTREME_NOUN.search(text)
    return None if match is None else Place(*match.span("noun" if match["noun"] else "first"))


def superlative_noun(text: str) -> Place | None:
    """The span in which an English question names the kind of what is the largest or smallest: ``gear`` of "the most expensive
    gear", with the words before it in "which piece of gear is the cheapest"."""
    match = _PART_OF.search(text)
    if match is not None:
        return Place(*match.span())
    match = None if head_noun(text) else _SUPERLATIVE_NOUN.search(text)
    return None if match is None or match["noun"] in NOTE_NOUNS else Place(*match.span("noun"))


def head_noun(text: str) -> Place | None:
    """The span in which a question names the kind of what it asks for: ``shows`` of "which shows are rated 5?"; None where it names
    none, or asks for notes as such.

    Args:
        text: the question, folded.
    """
    match = _HEAD_NOUN.search(text) or NOUN.search(text) or _LISTED_NOUN.search(text)
    return None if match is None or match["noun"] in NOTE_NOUNS else Place(*match.span("noun"))
