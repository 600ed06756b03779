"""What a question asks for: its terms, the names among them, and the form that its answer takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

from agentic_rag.dates.spans import Span
from agentic_rag.questions.attributes import attributes_asked
from agentic_rag.questions.comparisons import Comparison, concept_of, limit_of
from agentic_rag.questions.computations import Computation, read_computation
from agentic_rag.questions.forms import POSSESSIVE, REASON, asks_many
from agentic_rag.questions.generic_words import ANSWER_HAN, ANSWER_STEMS, MEASURE_WORDS
from agentic_rag.questions.homophones import written_as
from agentic_rag.questions.money import SUMS, SUMS_HAN
from agentic_rag.questions.words import Span as Place
from agentic_rag.questions.words import any_of, regular
from agentic_rag.questions.written_kinds import WrittenKind, written_kinds
from agentic_rag.text import STOPWORDS, fold, placed_contents, script, simplify, starts_cjk, tokens
from agentic_rag.text.languages import function_words, language
from agentic_rag.text.numbers import NUMBER_WORDS, numbers

Form = Literal["howto", "list", "compare", "yesno", "definition", "fact", "topic"]
"""The form of an answer; ``topic``: words without a question."""
Kind = Literal["amount", "money", "duration", "frequency", "date", "person", "place"] | WrittenKind
"""What kind of value a question wants."""


_STEPS_LEAD = any_of(
    r"\b(?:walk|talk|take) me through\b|\bin (?:what|which) order\b|\bstep by step\b",
    r"\bin welche[rn] (?:reihenfolge|schritten)\b",
)
"""Words that ask for steps, which no step repeats."""
_HOWTO = any_of(
    r"\bhow (?:do|does|can|could|should|would|to|did|must) ?(?:i|we|you|one|people)?\b(?! (?:know|find out|like|feel|call|pronounce))",
    r"\bhow (?:is|are) .{1,40}\b(?:made|cooked|done|prepared|installed|set up|cleaned|built)\b",
    r"\b(?:steps?|instructions?|directions?|procedure|recipe) (?:to|for|of)\b|^(?!.*\b(?:which|what|who)\b).* recipe\W*$",
    r"\bwhat (?:should|must|can) i (?:try|do)\b",
    _STEPS_LEAD.pattern,
    r"怎么(?!样|回事|了)|如何|怎样|步骤|做法|方法|教程|流程",
    r"\bwie (?:mache|kann|koche|backe|bereite|geht|richte|installiere|stelle)\b",
)
MAKING = frozenset(("make", "do", "cook", "prepar"))
"""Stems of verbs that ask for steps of any kind: those of a recipe say brew and stir."""
_AMOUNT = any_of(
    r"\bhow (?:much|many|long|old|large|big|tall|high|deep|far|fast|heavy|often|wide|hot|warm|cold|late|early)\b",
    r"\b(?:price|cost|amount|number|temperature|size|length|duration|weight|percentage|rating|score)\b",
    r"\bwhat(?:['’]s| is| was| are| were)(?! an? \w+\W*$)(?: [\w'’]+){1,3}? (?:height|width|depth|speed|capacity|distance|population|dose|dosage)\b(?=\W*$| (?:of|for|per|in|at|on|from|to|when)\b)",
    r"多少|(?<!哪)[几多](?:个|页|岁|天|次|分钟|小时|克|元|块|钱|大|长|久|高|远|重|种|本|部|集|季|人|位|张|条|步|杯|勺)|温度|价格|时长",
    r"\bwie (?:viel|viele|lange|alt|groß|hoch|oft|teuer|weit)\b",
)
_MONEY = any_of(
    rf"\bwhat(?:['’]s| is| was| are| were)(?! an? \w+\W*$)(?: [\w'’]+){{1,3}}? (?:{'|'.join(SUMS)})\b(?=\W*$| (?:of|for|per|in|at|on|from|to|when)\b)",
    r"\b(?:what|how much) (?:does|do|did|would|will) .{1,60}\b(?:cost|charge)\b(?=\W*$| (?:for|per|in|at|on|us|me|you)\b)",
    rf"多少钱|(?:{'|'.join(SUMS_HAN)})[^，。,]{{0,6}}多少",
    r"\bwas (?:hat .{1,60}gekostet\b|kostete?n?\b|(?:be)?zahl(?:e|st|t|en|te|ten)\b)|\bwie teuer\b|\bwie ?viel geld\b|\bwas .{1,60} (?:zu|nach|an|be)?zahlen\b",
    r"\bhow much money\b",
)
_DURATION = any_of(
    r"\bhow (?:long|soon)\b|\b(?:by|until|till) when\b|\bduration\b|\bhow many (?:minutes|hours|days|weeks|months|years)\b",
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
_COMPARE = any_of(
    r"\bcompar(?:e|ing|ison)\b|\bdifferences?\b|\bversus\b|\bvs\.?\s|\bdiffer\b",
    r"比较|对比|区别|差别|不同|哪个[更要]|哪个.{0,6}[多少大小长短贵高低快慢好]|相比|分别|各是?多少",
    r"\b(?:vergleiche?|unterschied)\b",
    r"\bwhich (?:is|was|one is|of .{1,40} is) (?:\w+er|more|less)\b",
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
    r"^\s*(?:and )?what(?:'s|’s| is| are) (?!the\b|my\b|your\b|our\b|his\b|her\b|their\b|its\b|in\b|on\b|left\b|still\b|there\b)(?:(?!['’]s\b| of\b| for\b| in\b)[^?]){1,40}\??\s*$",
    r"^\s*什么是[^?？]{1,20}[?？]?\s*$",
    r"^\s*(?:and )?who(?:'s|’s| is| was) (?!the\b|my\b|your\b|our\b)(?:(?!['’]s\b| of\b| for\b| in\b| at\b)[^?]){1,40}\??\s*$",
    r"^\s*[^?？谁]{1,12}是谁[?？]?\s*$",
)
"""Asks what a thing is, or who a person is, by the name alone."""
_PHRASE = re.compile(
    r"^\s*(?:and )?(?:what(?:'s|’s| is| are)|什么是)\s*(?P<phrase>[^?？]+?)\s*[?？]?\s*$", re.IGNORECASE
)
_REQUEST = any_of(
    r"^\W*(?:please |can you |could you )*(?:tell|remind|show) me\b(?: again)?|^\W*(?:define|explain|describe)\b|\btakes? care of\b"
)
"""Words that only ask for an answer, or for who does something."""
_AUXILIARIES = "did|do|does|is|was|has|had|can|could|will|would|should|must"
_LIST = any_of(
    rf"\b(?:which|what) (?!(?:{_AUXILIARIES})\b)(?:\w+ ){{0,2}}?\w+s\b|\blist\b|\ball (?:the |my |of )?\w+s?\b|\bnames? (?:of|all)\b|\bwhat else\b|\bwho all\b",
    r"\bwhat (?:are|were) (?:the|my|our|his|her|their|all|some) (?:[\w-]+ ){0,3}?[\w-]+s\b",
    r"\bwhat (?:do|did|does) (?:i|we) (?:need|have|want|spend|buy|pack|write|do)\b|\bwhat(?:'s|’s| is) (?:on|in) (?:the|my)\b|\bingredients?\b",
    r"哪些|有什么|有哪|列出|清单|都有|几种|什么材料|材料|原料|配料|食材",
    r"\b(?:welche|liste|alle)\b",
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
_CAPITALISED_NAME = re.compile(r"(?<![\w'’])[A-ZÀ-ÖØ-Þ][\w'’&.-]*[\w]|(?<![\w'’])[A-Z](?![\w'’])")
_QUOTED_NAME = re.compile(r"[《「『“\"]([^》」』”\"]{1,60})[》」』”\"]")
_HOW = re.compile(
    r"\bhow (?P<word>much|many|long|old|large|big|tall|high|deep|far|fast|heavy|often|wide|hot|warm|cold|late|early)\b",
    re.IGNORECASE,
)
"""Words that ask with "how", which no answer repeats."""
_KIND_OF = re.compile(r"\b(?:what|which) (?:kinds?|types?|sorts?) of (?P<noun>\w+)", re.IGNORECASE)
_MEMBERS = re.compile(
    rf"\b(?:which|what|what (?:are|were)|name|list) (?:the |my |our )?(?P<count>{'|'.join(NUMBER_WORDS)}|[2-9]|1\d) (?!of\b)[a-z-]+"
    rf"|的(?P<han>[两二三四五六七八九十])[{MEASURE_WORDS}大]|哪(?P<which>[两二三四五六七八九十])[{MEASURE_WORDS}大]",
    re.IGNORECASE,
)
"""How many things there are of which the names are asked for: "which five kinds", 四个字母."""
_NUMBER_OF = re.compile(r"\b(?P<noun>[a-z]+ numbers?)\b(?= (?:of|for|on|is|was)\b|\W*$)", re.IGNORECASE)
_HOW_MANY = re.compile(r"\b(?:how many|wie viele?) (?P<noun>[a-z]{2,}?)s?\b", re.IGNORECASE)
_MEASURES = {
    "fast": "speed", "heavy": "weight", "tall": "height", "high": "height", "old": "age", "deep": "depth", "wide": "width",
    "hot": "temperature", "warm": "temperature", "cold": "temperature", "large": "size", "big": "size", "long": "duration",
    "often": "frequency", "far": "distance",
}  # fmt: skip
_VALUE_NOUNS = frozenset({"rate", "score"})
"""Stems that say no more than that there is a value, behind the noun that names it."""
_WITH_DIGIT = re.compile(r"(?:[^\W\u4e00-\u9fff]|[.-])*\d(?:[^\W\u4e00-\u9fff]|[.-])*")
_PARTICIPLE = re.compile(r"\w{0,5}ge\w+(?:t|en)")
"""A German verb that says what was done, ``ausgegeben``, ``gejoggt``: it is asked for like a noun."""
_FIRST_WORD = re.compile(r"^\W*[\w'’]+")


_OWNS = re.compile(rf"(?:{POSSESSIVE.pattern}|s['’]) $")
DAYS = "\u25f7"
"""Stands for a span of days among the terms of a question."""


@dataclass(frozen=True, slots=True)
class Term:
    """A content word of a question, or a pair of Chinese characters."""

    token: str
    """As ``text.tokens`` gives it."""
    start: int
    end: int
    """Its place in the question."""
    is_name: bool = False
    """Whether it belongs to a proper name, a number or something in quotation marks."""
    is_generic: bool = False
    """Whether it is too general to be missed in an answer."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, read once."""

    text: str
    terms: tuple[Term, ...]
    """Each token once, in order."""
    form: Form
    wants: frozenset[Kind]
    script: str
    days: Span | None = None
    """The span of days that it names, which an answer has to be of; ``DAYS`` stands for it among the terms."""
    measure: str = ""
    """Stem of what is asked for with "how" or compared, as notes name it: ``speed`` of "how fast is it?"."""
    asked_as: str = ""
    """The word behind "how" that asks for it: ``fast``."""
    count_noun: str = ""
    """What "how many" counts: ``book``, ``kilometre``."""
    computation: Computation | None = None
    """What is to be computed of several entries: a total, an average, how often, the largest or smallest."""
    attributes: tuple[tuple[Place, frozenset[str]], ...] = ()
    """Places of verbs, each with the names under which notes keep what it asks for: who ``owns`` it, the ``owner``."""
    limit: Comparison | None = None
    """The number that it limits values by: "more than 4 GB"."""

    @classmethod
    def of(cls, text: str, carried_text: str = "") -> Question:
        """Read a question in English or Chinese, and in part in German.

        Args:
            text: the question.
            carried_text: the thing of the conversation that it names for a pronoun: no answer has to name it again.
        """
        plain = fold(text)
        known = set(tokens(carried_text))
        computation = read_computation(simplify(text))
        limit = limit_of(text) if asks_many(text) else None
        if limit and computation and any(limit.span.overlaps(one) for one in computation.spans):
            computation = None  # "at least 14 beds" asks for no least
        spans = (*(computation.spans if computation else ()), *((limit.span,) if limit else ()))
        terms = _without_verbs(
            text,
            [
                replace(t, is_name=False, is_generic=True) if t.token in known else t
                for t in _terms(text, spans)
            ],
        )
        form = _form(plain)
        if form == "howto" and any(not (t.is_generic or _is_making(t)) for t in terms):
            terms = [replace(t, is_generic=t.is_generic or _is_making(t)) for t in terms]
        how = _HOW.search(plain)
        counted = _HOW_MANY.search(plain)
        word = "" if how is None else how["word"]
        return cls(
            text, tuple(terms), form, _wants(plain), script(text),
            measure=_measure(plain, word), asked_as=word,
            count_noun="" if counted is None else counted["noun"], computation=computation, limit=limit,
            attributes=attributes_asked(text),
        )  # fmt: skip

    @property
    def is_chinese(self) -> bool:
        """Whether it is written in Chinese characters."""
        return self.script == "cjk"

    @property
    def asks_one(self) -> bool:
        """Whether one value is asked for, and not what several notes say: "what was the fee?"."""
        return bool(self.wants - {"date"}) or self.form in ("definition", "yesno")

    @property
    def asks_reason(self) -> bool:
        """Whether a reason is asked for, which stands in other words than the question."""
        return REASON.search(self.text) is not None

    @property
    def member_count(self) -> int | None:
        """How many members what it asks for has: "which five kinds …?"; None where it does not say."""
        match = _MEMBERS.search(self.text)
        return None if match is None else int(max(numbers(next(filter(None, match.groups())))))

    @property
    def amount_names(self) -> frozenset[str]:
        """The terms that say of what a number is asked for: "how many pages …", "the phone number of …"."""
        nouns = " ".join(match["noun"] for match in _NUMBER_OF.finditer(self.text))
        names = {*tokens(nouns), *tokens(self.count_noun)}
        return frozenset(term.token for term in self.terms if term.token in names and not term.is_generic)

    def of_days(self, days: Span, start: int, end: int) -> Question:
        """The question with a span of days in place of the terms that name it.

        Args:
            days: the span.
            start, end: its place in the question.
        """
        left = [term for term in self.terms if not (start < term.end and term.start < end)]
        return replace(self, terms=(*left, Term(DAYS, start, end, is_name=True)), days=days)

    def names(self) -> list[tuple[str, ...]]:
        """The tokens of each name; those of one name stand side by side: ``books_8``, ``Dota 2``."""
        names: list[list[Term]] = []
        for term in (one for one in self.terms if one.is_name):
            if names and 0 <= term.start - names[-1][-1].end <= 1:
                names[-1].append(term)
            else:
                names.append([term])
        return [tuple(term.token for term in name) for name in names]

    def possessions(self) -> list[tuple[str, str]]:
        """The tokens of an owner's name and of what is asked of it: ``tobia`` and ``salari`` of "Tobias's salary"."""
        pairs = zip(self.terms, self.terms[1:], strict=False)
        return [
            (owner.token, own.token)
            for owner, own in pairs
            if owner.is_name and not own.is_name and _OWNS.search(self.text[owner.start : own.start])
        ]

    def in_words(self, spans: Iterable[tuple[int, int]], vocabulary: str) -> Question:
        """The question with its Chinese terms as words instead of pairs of characters.

        A word is the longest run that the notes have; else what the embedding model takes for one, single characters
        joined.

        Args:
            spans: places of the model's tokens in the question.
            vocabulary: text of the notes. A run that it has but for one character, and there one of the same sound, is
                taken as it is written there.
        """
        pairs = [term for term in self.terms if starts_cjk(term.token)]
        if not pairs:
            return self
        inside = sorted({place for term in pairs for place in range(term.start, term.end)})
        edges = {place for span in spans for place in span}
        terms = {term.token: term for term in self.terms if not starts_cjk(term.token)}
        words = _words_of(self.text, _runs(inside), edges, vocabulary)
        parts = [_without_particles(self.text, *word, vocabulary) for word in words]
        for token, start, end in _mend_words(self.text, parts, vocabulary):
            own = [term for term in pairs if term.start < end and start < term.end]
            is_generic = token in ANSWER_STEMS or all(term.is_generic for term in own)
            is_name = any(term.is_name for term in own)
            terms.setdefault(token, Term(token, start, end, is_name, is_generic))
        return replace(self, terms=tuple(sorted(terms.values(), key=lambda term: term.start)))


def _is_making(term: Term) -> bool:
    return regular(term.token) in MAKING or term.token == "recip"


MAX_WORD = 8


def _runs(places: Sequence[int]) -> list[tuple[int, int]]:
    """Runs of consecutive places."""
    runs: list[tuple[int, int]] = []
    for place in places:
        if runs and runs[-1][1] == place:
            runs[-1] = (runs[-1][0], place + 1)
        else:
            runs.append((place, place + 1))
    return runs


def _words_of(
    text: str, runs: Sequence[tuple[int, int]], edges: Set[int], vocabulary: str
) -> Iterator[tuple[int, int]]:
    for start, end in runs:
        place, single = start, None
        while place < end:
            longest = next(
                (
                    size
                    for size in range(min(MAX_WORD, end - place), 1, -1)
                    if simplify(text[place : place + size]) in vocabulary
                ),
                0,
            )
            if longest:
                if single is not None:
                    yield single, place
                single = None
                yield place, place + longest
                place += longest
                continue
            single = place if single is None else single
            place += 1
            if place in edges and place - single >= 2:
                yield single, place
                single = None
        if single is not None:
            yield single, end


def _without_particles(text: str, start: int, end: int, vocabulary: str) -> tuple[int, int]:
    """A run that is no word of the notes, without the particles at its edges: 给猫 as 猫."""
    if simplify(text[start:end]) not in vocabulary:
        while end - start > 1 and simplify(text[start]) in ANSWER_STEMS:
            start += 1
        while end - start > 1 and simplify(text[end - 1]) in ANSWER_STEMS:
            end -= 1
    return start, end


Word = tuple[str, int, int]
"""A word as it is compared, and its place in the question."""


def _mend_words(text: str, parts: Sequence[tuple[int, int]], vocabulary: str) -> list[Word]:
    """The words as the vocabulary writes them, with their places: a character that it lacks beside a word joins the word
    whose character of the same sound it stands for."""
    words: list[Word] = []
    for start, end in parts:
        token = fold(text[start:end])
        is_pair = end - start == len(token) == 2 and starts_cjk(token) and token not in vocabulary
        words += (
            [(token[0], start, start + 1), (token[1], start + 1, end)] if is_pair else [(token, start, end)]
        )
    mended = _join_words(words, vocabulary)
    # Characters that joined no word are a word again.
    whole: list[Word] = []
    for token, start, end in mended:
        pair = (whole[-1][1], end) if whole else (0, 0)
        if pair in parts and len(token) == 1 and whole[-1][2] == start:
            whole[-1] = (whole[-1][0] + token, *pair)
        else:
            whole.append((token, start, end))
    return whole


def _join_words(words: list[Word], vocabulary: str) -> list[Word]:
    n = 0
    while n < len(words):
        token, start, end = words[n]
        before, (after, first, last) = words[n - 1] if n else ("", 0, 0), (*words, ("", 0, 0))[n + 1]
        beside = before[0] if before[2] == start and before[0] in vocabulary else ""
        behind = after if first == end and after in vocabulary else ""
        is_stray = len(token) == 1 and token not in ANSWER_STEMS and starts_cjk(token)
        joined = written_as(beside, token, behind, vocabulary) if is_stray and (beside or behind) else None
        if joined is not None and joined[0]:
            words[n - 1 : n + 1] = [(joined[0], before[1], end)]
        elif joined is not None:
            words[n : n + 2] = [(joined[1], start, last)]
        else:
            n += 1
    return words


def _terms(text: str, computing: Sequence[Place] = ()) -> tuple[Term, ...]:
    """The terms of a question.

    Args:
        text: the question.
        computing: places of the words that ask for something to be computed or limit a value, which no answer repeats.
    """
    how = {match.span("word") for match in _HOW.finditer(text)}
    in_language = function_words(text)
    names = _name_spans(text)
    comparing = [match.span() for match in _COMPARE.finditer(text)]
    comparing += [(one.start, one.end) for one in computing]
    terms: dict[str, Term] = {}
    before = -1
    asked = text
    for pattern in (ANSWER_HAN, _STEPS_LEAD, _REQUEST):
        asked = pattern.sub(lambda phrase: " " * len(phrase.group()), asked)
    for place in computing:
        if starts_cjk(text[place.start]):
            asked = f"{asked[: place.start]}{' ' * (place.end - place.start)}{asked[place.end :]}"
    for token, start, end in placed_contents(asked):
        is_function_word = fold(text[start:end]).casefold() in in_language
        if (start, end) not in how and token not in terms and not is_function_word:
            is_name = any(a <= start and end <= b for a, b in names)
            is_generic = token in ANSWER_STEMS or any(a <= start and end <= b for a, b in comparing)
            is_compound = start - 1 == before and not text[:before].endswith(("'s", "’s"))
            is_generic |= token in _VALUE_NOUNS and is_compound  # "challenge rating"
            terms[token] = Term(token, start, end, is_name, is_generic)
        before = end
    kind = _KIND_OF.search(text)
    if kind is not None:  # jazz is not called music
        of_kind = {t.token for t in terms.values() if kind.start("noun") == t.start}
        if any(not t.is_generic and t.token not in of_kind for t in terms.values()):
            terms |= {token: replace(terms[token], is_generic=True) for token in of_kind}
    return tuple(terms.values())


def _measure(text: str, asked_as: str) -> str:
    comparing = _COMPARE.search(text)
    concept = concept_of(comparing.group()) if comparing else _MEASURES.get(asked_as, "")
    return next(iter(tokens(concept)), "")


def named_phrase(text: str) -> tuple[int, int] | None:
    """Place of the thing whose name alone a question asks for: "cost per use" of "What is cost per use?"."""
    if not _THING.search(text):
        return None
    match = _PHRASE.match(text)
    return None if match is None else match.span("phrase")


def _form(text: str) -> Form:
    for form, pattern in (("compare", _COMPARE), ("howto", _HOWTO), ("definition", _THING)):
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


def _wants(text: str) -> frozenset[Kind]:
    if REASON.search(text):  # "why does it cost so much?"
        return frozenset()
    kinds: tuple[tuple[Kind, re.Pattern[str]], ...] = (
        ("duration", _DURATION), ("amount", _AMOUNT), ("money", _MONEY), ("frequency", _FREQUENCY), ("date", _DATE), ("person", _PERSON), ("place", _PLACE),
    )  # fmt: skip
    wanted = {kind for kind, pattern in kinds if pattern.search(text)}
    written = written_kinds(text)
    if written and not (wanted & {"date", "person", "place"} or _HOWTO.search(text) or _is_yesno(text)):
        return frozenset(written)  # "when did the phone number change?" wants a day
    if _THING.search(text):  # of the person that is named, anything is wanted
        wanted.discard("person")
    if "frequency" in wanted:
        return frozenset(wanted - {"amount", "duration"})
    return frozenset(wanted - {"amount"} if wanted & {"duration", "money"} else wanted)


def _without_verbs(text: str, terms: Sequence[Term]) -> Sequence[Term]:
    """The terms of a question, of a German one with its verbs and adjectives as too general to be missed: its nouns, which
    have capitals, say what it asks about. Not where it has no noun of its own."""
    if language(text) != "german" or not any(text[t.start].isupper() and not t.is_generic for t in terms):
        return terms
    return [
        replace(t, is_generic=True)
        if text[t.start].islower() and not _PARTICIPLE.fullmatch(text[t.start : t.end])
        else t
        for t in terms
    ]


def _name_spans(text: str) -> list[tuple[int, int]]:
    """Places of capitalised words but for the first and for German ones, of words with a digit, and of what is in quotation
    marks."""
    opening = _FIRST_WORD.match(text)
    begin = 0 if opening is None else opening.end()
    spans = [match.span(1) for match in _QUOTED_NAME.finditer(text)]
    spans += [match.span() for match in _WITH_DIGIT.finditer(text)]
    if language(text) != "german" and any(
        word.islower() for word in re.findall(r"[A-Za-z]+", text)
    ):  # capitals tell nothing where each word has one
        capitals = _CAPITALISED_NAME.finditer(text, begin)
        spans += [match.span() for match in capitals if match.group().casefold() not in STOPWORDS]
    return spans
