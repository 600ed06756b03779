"""What the wording of a question asks for: the form of its answer, and the kind of value."""

from __future__ import annotations

import re
from typing import Literal

from agentic_rag.questions.comparisons import concept_of
from agentic_rag.questions.forms import REASON
from agentic_rag.questions.money import SUMS, SUMS_HAN
from agentic_rag.questions.words import any_of
from agentic_rag.questions.written_kinds import WrittenKind, written_kinds
from agentic_rag.text import tokens
from agentic_rag.text.languages import language

Form = Literal["howto", "list", "compare", "yesno", "definition", "fact", "topic"]
"""The form of an answer; ``topic``: words without a question."""
Kind = (
    Literal["amount", "money", "duration", "frequency", "date", "person", "place", "decision"] | WrittenKind
)
"""What kind of value a question wants."""
STEPS_LEAD = any_of(
    r"\b(?:walk|talk|take) me through\b|\bin (?:what|which) order\b|\bstep by step\b",
    r"\bin welche[rn] (?:reihenfolge|schritten)\b|\bwie gehe?n? (?:ich|wir|man) vor\b|\bwie läuft .{1,40} ab\b",
)
"""Words that ask for steps, which no step repeats."""
_HOWTO = any_of(
    r"\bhow (?:do|does|can|could|should|would|to|did|must) ?(?:i|we|you|one|people)?\b(?! (?:know|find out|like|feel|call|pronounce))",
    r"\bhow (?:is|are) .{1,40}\b(?:made|cooked|done|prepared|installed|set up|cleaned|built)\b",
    r"\b(?:steps?|instructions?|directions?|procedure|recipe) (?:to|for|of)\b|\bwhat (?:are|were) the steps\b|\bwhich steps\b|\bwelche schritte\b|^(?!.*\b(?:which|what|who)\b).* recipe\W*$",
    r"\bwhat (?:should|must|can) i (?:try|do)\b|\bwhat (?:do|shall) (?:i|we) do(?=\W*$| (?:if|when|once|with|about|after)\b)",
    r"\bwhat to do(?=\W*$| (?:if|when|once|with|about|after)\b)|\b(?:now what|what now)\W*$",
    STEPS_LEAD.pattern,
    r"怎么(?!样|回事|了)|如何|怎样|步骤|做法|方法|教程|流程",
    r"\bwie (?:mache|kann|koche|backe|bereite|geht|richte|installiere|stelle)\b",
    r"\bwie (?!hei(?:ß|ss)|alt\b|oft\b|weit\b|heute\b)\w+(?:e|en|t) (?:ich|wir|man)\b|\bwas (?:ist zu |muss ich |sollen? wir |soll ich )?tun\b",
    r"\bwas (?:mach|tu)(?:e|en|t)? (?:ich|wir|man)(?=\W*$|,? (?:wenn|falls|bei|mit|gegen)\b)",
)
_AMOUNT = any_of(
    r"\bhow (?:much|many|long|old|large|big|tall|high|deep|far|fast|heavy|often|wide|hot|warm|cold|late|early)\b",
    r"\b(?:price|cost|amount|number|temperature|size|length|duration|weight|percentage|rating|score)\b",
    r"\bwhat(?:['’]s| is| was| are| were)(?! an? \w+\W*$)(?: [\w'’]+){1,3}? (?:height|width|depth|speed|capacity|distance|population|dose|dosage)\b(?=\W*$| (?:of|for|per|in|at|on|from|to|when)\b)",
    r"多少|(?<!哪)[几多](?:个|页|岁|天|次|分钟|小时|克|元|块|钱|大|长|久|高|远|重|种|本|部|集|季|人|位|张|条|步|杯|勺)|温度|价格|时长",
    r"\bwie (?:viel|viele|lange|alt|groß|hoch|oft|teuer|weit)\b",
)
_MONEY = any_of(
    rf"\bwhat(?:['’]s| is| was| are| were)(?! an? \w+\W*$)(?: [\w'’]+){{1,3}}? (?:{'|'.join(SUMS)})\b(?=\W*$| (?:of|for|per|in|at|on|from|to|when)\b)",
    r"\b(?:what|how much) (?:does|do|did|would|will) .{1,60}\b(?:cost|charge|pay)\b(?=\W*$| (?:for|per|in|at|on|us|me|you)\b)",
    rf"多少钱|(?:{'|'.join(SUMS_HAN)})[^，。,]{{0,6}}多少",
    r"\bwas (?:hat .{1,60}gekostet\b|kostete?n?\b|(?:be)?zahl(?:e|st|t|en|te|ten)\b)|\bwie teuer\b|\bwie ?viel geld\b|\bwas .{1,60} (?:zu|nach|an|be)?zahlen\b",
    r"\bhow much money\b|\bhow much (?:did|do|does|have|has|will|must) (?:i|we|he|she|they|you|it|[a-z]+) (?:still )?(?:have to )?(?:get|got|take|taken|make|made|earn\w*|owe|spend|spent|save\w*|lose|lost|raise\w*|claim\w*)\b(?! (?:to|of|off)\b)",
)
_DURATION = any_of(
    r"\bhow (?:long|soon|quickly)\b|\b(?:by|until|till) when\b|\bduration\b|\bhow many (?:minutes|hours|days|weeks|months|years)\b",
    r"多久|多长时间|几(?:分钟|小时|天|年|个月|周)|多少(?:分钟|小时|天|年)",
    r"\bwie lange\b",
)
_FREQUENCY = any_of(
    r"\bhow (?:often|frequently|regularly)\b|\bhow many times (?:an?|per|each|every)\b",
    r"(?:多久|多长时间|几天|几[周个]\w?|多少天|隔多久).{0,6}一?次|频率|每[几多]",
    r"\bwie (?:oft|häufig)\b",
)
_DATE = any_of(
    # "what happens when …" names no day
    r"(?:^|[,;:]|\b(?:and|so|but|or|know|say|said|tell me|remember|exactly|since|until|by|from))\W*when\b",
    r"\b(?:(?:what|which) (?:dates?|days?|years?|months?|time)|how long ago|birthday|deadline|due)\b",
    r"什么时候|何时|哪[一]?[天年月日]|几[点号月年]|日期|时间|生日",
    r"\b(?:wann|geburtstag|welche[nmrs]? (?:tage?n?|jahr|monat))\b",
)
_PERSON = any_of(r"\b(?:who|whom|whose|by whom)\b", r"谁|哪位|什么人", r"\b(?:wer|wen|wem|wessen)\b")
_PLACE = any_of(
    r"\b(?:where|which (?:city|country|place|town))\b", r"哪里|哪儿|在哪|什么地方", r"\b(?:wo|wohin|woher)\b"
)
_DECISION = any_of(
    r"\b(?:decided?|decision|agreed?|settled? on)\b",
    r"决定|定了",
    r"\b(?:beschlossen|beschluss|entschieden|entscheidung|vereinbart)\b",
)
COMPARE = any_of(
    r"(?<!\bwe )(?<!\bi )\bcompar(?:e|ing|ison)\b|\bdifferences?\b|\bversus\b|\bvs\.?\s|\bdiffer\b",
    r"比较(?![好大小多少快慢贵便高低难容简方合适新旧])|对比|区别|差别|不同|哪个[更要]|哪个.{0,6}[多少大小长短贵高低快慢好]|相比",
    r"\b(?:vergleiche?|unterschied)\b",
    r"\bwhich (?:is|was|one is|of .{1,40} is) (?:\w+er|more|less)\b",
    r"\b(?:was|wer|wo|welche[rs]?)\b(?= (?:\w+ ){1,4}?(?:mehr|weniger|\w{3,}er)\b,? [^?]*\boder\b)",
    r"\b(?:more|less|fewer|\w{2,}er)\b(?=[^?,]*, [^?]*\bor\b)|\b(?:\w{2,}er|more \w+|less \w+|fewer) than (?=[^?\d]+\??$)",
)
_YESNO = any_of(
    r"^\s*(?:is|are|was|were|do|does|did|can|could|has|have|had|will|should|must|may|am)\b",
    r"(?:吗|嘛|(?<![什怎这那多])么|没有|是否|能不能|可不可以|会不会|有没有|是不是|要不要)\s*[?？]?\s*$|是否|能不能|可不可以|有没有|是不是|要不要",
    r"^\s*(?:ist|sind|hat|haben|kann|darf|gibt|wird|muss)\b",
)
_WAS = re.compile(r"\s*was\b", re.IGNORECASE)
_WHAT_IN_GERMAN = re.compile(
    r"\s*was (?:ist|sind|war(?:en)?|habe?n?|hat(?:ten?)?|kommt|kam|geht|ging|gibt|gab|kann|konnen|muss(?:ten?)?|soll(?:te|en)?|darf"
    r"|will|wollten?|wird|wurde|mach(?:e|t|en)|brauch(?:e|t|en)|kostet|sagt|steht|fehlt|isst|esse|nehme|nimmt|passiert)\b",
    re.IGNORECASE,
)
_DEFINITION = any_of(
    r"^\s*(?:what(?:'s|’s| is| are| was| were)|define|explain|who(?:'s|’s| is| was| are)|tell me about|describe)\s",
    r"什么是|是什么|是[做干]什么的|什么意思|是谁|介绍一?下|指什么|解释",
    r"^\s*(?:was|wer) (?:ist|sind|war|bedeutet)\b",
)
_THING = any_of(
    r"^\s*(?:and )?what(?:'s|’s| is| are) (?!the\b|my\b|your\b|our\b|his\b|her\b|their\b|its\b|in\b|on\b|left\b|still\b|there\b|i\b|we\b|you\b|he\b|she\b|they\b|it\b)(?:(?!['’]s\b| of\b| for\b| in\b| (?:to|from|with|at|about)\W*$)[^?]){1,40}\??\s*$",
    r"^\s*什么是[^?？]{1,20}[?？]?\s*$",
    r"^\s*(?:and )?who(?:'s|’s| is| was) (?!the\b|my\b|your\b|our\b|on\b|\w+ing\b)(?:(?!['’]s\b| of\b| for\b| in\b| at\b)[^?]){1,40}\??\s*$",
    r"^\s*[^?？谁]{1,12}是谁[?？]?\s*$",
)
"""Asks what a thing is, or who a person is, by the name alone."""
_PHRASE = re.compile(
    r"^\s*(?:and )?(?:what(?:'s|’s| is| are)|什么是)\s*(?P<phrase>[^?？]+?)\s*[?？]?\s*$", re.IGNORECASE
)
REQUEST = any_of(
    r"\b(?:do|should|must|can) (?:i|we) (?:ring|call|phone|contact|e-?mail)\b",
    r"\b(?:what|which) (?:years?|months?|dates?|days?|weekdays?|time)\b(?! of\b)|\bwelche[nmrs]? (?:jahr|monat|tag|datum|uhrzeit|wochentag)\b",
    r"^\W*(?:please |can you |could you )*(?:tell|remind|show) me\b(?: again)?|^\W*(?:define|explain|describe)\b|\btakes? care of\b",
)
"""Words that only ask for an answer, for a time, or for who does something."""
_AUXILIARIES = "did|do|does|is|was|has|had|can|could|will|would|should|must"
_LIST = any_of(
    rf"\b(?:which|what) (?:(?!(?:{_AUXILIARIES})\b)\w+ ){{0,2}}?(?!(?:{_AUXILIARIES})\b)\w+s\b|\blist\b|(?:^\W*|\b(?:list|show|give|name|find|get|see|me|are|were|of) )all (?:the |my |of )?\w+s?\b|\bnames? (?:of|all)\b|\bwhat else\b|\bwho all\b",
    r"\bwhat (?:are|were) (?:the|my|our|his|her|their|all|some) (?:[\w-]+ ){0,3}?[\w-]+s\b",
    r"\bwhat (?:are|were) (?:i|we|they|you) \w+ing\b",
    r"\bwhich of (?:the|my|our|these|those|his|her|their)\b|\bwho(?:['’]s| is| are| was| were) (?:on|invited|coming)\b",
    r"\bwhat (?:do|did|does) (?:i|we) (?:need|have|want|spend|buy|pack|write|do)\b|\bwhat(?:'s|’s| is) (?:on|in) (?:the|my)\b|\bingredients?\b",
    r"分别|各是?多少|哪些|都[\u4e00-\u9fff]{0,4}什么|有什么|有哪|列出|清单|都有|几种|什么材料|材料|原料|配料|食材",
    r"\b(?:welche(?! \w+ (?:hat|ist|war|hatte|gilt|gehört|kommt|wird|kostet|braucht|steht|passt|nimmt|macht)\b)|liste|alle)\b",
)
_ASKS = any_of(
    r"[?？]\s*$", r"\b(?:what|which|who|whom|whose|when|where|why|how)\b", r"什么|哪|谁|几|多少|怎|为何|如何|吗\s*$",
    r"\b(?:was|wer|wo|wann|warum|wie|welche[rsnm]?)\b",
)  # fmt: skip
_VERB = re.compile(
    r"^\W*(?:and |so )?what \w+s (?:an?|the|my|our|your|his|her|their|it|me|us|him|them|when|if|to|\d\w*)\b",
    re.IGNORECASE,
)
"""A verb and not a plural after "what": "what stops a troll?"."""
_NOT_LIST = frozenset(
    "is was does has happens goes makes comes gets takes gives keeps lets says this its his us plus less across series class"
    " address process status".split()
)
HOW = re.compile(
    r"\bhow (?P<word>much|many|long|old|large|big|tall|high|deep|far|fast|heavy|often|wide|hot|warm|cold|late|early|soon|quickly)\b",
    re.IGNORECASE,
)
"""Words that ask with "how", which no answer repeats."""
_MEASURES = {
    "fast": "speed", "heavy": "weight", "tall": "height", "high": "height", "old": "age", "deep": "depth", "wide": "width",
    "hot": "temperature", "warm": "temperature", "cold": "temperature", "large": "size", "big": "size", "long": "duration",
    "often": "frequency", "far": "distance",
}  # fmt: skip


def measure_of(text: str, asked_as: str) -> str:
    """Stem of what is compared, or asked for by the word behind "how" (``asked_as``), as notes name it; "" for none."""
    comparing = COMPARE.search(text)
    concept = concept_of(comparing.group()) if comparing else _MEASURES.get(asked_as, "")
    return next(iter(tokens(concept)), "")


def named_phrase(text: str) -> tuple[int, int] | None:
    """Place of the thing whose name alone a question asks for: "cost per use" of "What is cost per use?"."""
    if not _THING.search(text):
        return None
    match = _PHRASE.match(text)
    return None if match is None else match.span("phrase")


def form_of(text: str) -> Form:
    """The form of the answer to a folded question."""
    for form, pattern in (("compare", COMPARE), ("howto", _HOWTO), ("definition", _THING)):
        if pattern.search(text):
            return form  # type: ignore[return-value]
    listed = _LIST.search(text)
    if (
        listed is not None
        and listed.group().split()[-1].casefold() not in _NOT_LIST
        and not _YESNO.match(text)
        and not _VERB.match(text)
    ):
        return "list"
    if any(pattern.search(text) for pattern in (_AMOUNT, _MONEY, _FREQUENCY, _DATE)):
        return "fact"
    if _is_yesno(text):
        return "yesno"
    if _DEFINITION.search(text):
        return "definition"
    return "fact" if _ASKS.search(text) else "topic"


def _is_yesno(text: str) -> bool:
    is_german_what = _WHAT_IN_GERMAN.match(text) or (_WAS.match(text) and language(text) == "german")
    return _YESNO.search(text) is not None and not is_german_what


def kinds_wanted(text: str) -> frozenset[Kind]:
    """The kinds of value that a folded question wants; none for one that asks for a reason."""
    if REASON.search(text):  # "why does it cost so much?"
        return frozenset()
    kinds: tuple[tuple[Kind, re.Pattern[str]], ...] = (
        ("duration", _DURATION), ("amount", _AMOUNT), ("money", _MONEY), ("frequency", _FREQUENCY), ("date", _DATE), ("person", _PERSON), ("place", _PLACE), ("decision", _DECISION),
    )  # fmt: skip
    wanted = {kind for kind, pattern in kinds if pattern.search(text)}
    written = written_kinds(text)
    if not written.isdisjoint(("time", "weekday")):
        wanted.discard("date")
    if written and not (wanted & {"date", "person", "place"} or _HOWTO.search(text) or _is_yesno(text)):
        return frozenset(written)  # "when did the phone number change?" wants a day
    if _THING.search(text):  # of the person that is named, anything is wanted
        wanted.discard("person")
    if "frequency" in wanted:
        return frozenset(wanted - {"amount", "duration"})
    return frozenset(wanted - {"amount"} if wanted & {"duration", "money"} else wanted)
