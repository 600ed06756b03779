"""Choose the operation from the words of a question, Chinese or English: what ``operation = "auto"`` does."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentic_rag.fusion.strategy_selector import CanvasOperation
from agentic_rag.text import folded


@dataclass(frozen=True, slots=True)
class OperationChoice:
    """An operation, and one sentence of plain English that names the words which decided."""

    operation: CanvasOperation
    reason: str


def _pattern(*alternatives: str) -> re.Pattern[str]:
    """Any of the alternatives; ``…`` stands for up to 60 characters, each begins and ends with whole words."""
    joined = "|".join(one.replace("…", "(.{0,60}?[^a-z])??") for one in alternatives)
    return re.compile(rf"(?<![a-z])(?:{joined})(?![a-z])", re.IGNORECASE | re.DOTALL)


_RULES = (
    (
        CanvasOperation.DOCUMENT_RETRIEVAL,
        "a place in the notes",
        _pattern(
            r"where (?:did|do|have) (?:i|we) (?:\w+ )?(?:write|written|note|noted|save|saved|record|recorded|file|store)",
            r"where(?:'s|’s| is| are) (?:the|my|that|our)|(?:which|what|that|the) (?:note|page|file|document|folder)",
            r"(?:find|show|open|fetch|look up|pull up|locate)(?: me)? (?:the|that|my|our) (?:[\w'-]+ ){0,3}"
            r"(?:notes?|page|file|paper|letter|list|table|minutes|article|document|passage|quote|link)",
            r"[哪那]一?[篇页頁]|[写寫记記存放收][在到][哪了]|原[话話文]",
        ),
    ),
    (
        CanvasOperation.VERIFICATION_CANVAS,
        "questions that test you",
        _pattern(
            r"(?:quiz|test|drill|grill|examine|challenge|ask|check) (?:me|us|myself)|\Acheck my|self-test|prove me wrong",
            r"(?:check|make sure|verify|see)(?: that| whether| if) i|make sure i|\A(?:pop )?quiz ?:|(?:claim|statement) ?:",
            r"(?:\Ado i|do i (?:actually|really|still|truly)) (?:know|understand|remember|recall)",
            r"(?:give|ask|throw|set|write|make|pose|prepare|create|generate)…(?:questions|flash ?cards?|quiz|worksheet)",
            r"(?:practi[cs]e|revision|review) (?:questions|problems|exercises|cards)",
            r"true[ -]or[ -]false|fill[ -]in[ -](?:the[ -])?(?:blanks?|gaps?)|multiple[ -]choice",
            r"(?:examiner|interviewer|teacher|instructor)…ask|(?:without|hide|no|don't show) (?:me )?the (?:answers?|solutions?)",
            r"(?<![请請报報备備])[考问問]{1,2}(?:一?下)?[我自咱](?!的)|抽[查考问問背]|自[测測查检檢考]|[测測]一?[测測]|默[写寫]",
            r"出(?:(?![问問]).){0,4}[题題卷]|[判][断斷](?:[题題]|[对對正])|填空|快[问問]快答|[问問]答[题題卡]|[抽闪閃].?卡",
            r"(?:[检檢][验驗查测測]|[验驗][证證])一?下|(?:别|不要)…答案|分不分得清|[牢对對]不[牢对對]|是不是真|[讲講说說背答]得出[来來]?[吗嗎]",
            r"(?:掌握|理解|背|[弄搞]懂|[学學][会會]).{0,4}?(?:[没沒]|怎么样|怎麼樣|如何|了[吗嗎])",
        ),
    ),
    (
        CanvasOperation.WEAK_POINT_CLUSTERING,
        "your own mistakes and weak points",
        _pattern(
            r"(?:i|my|me|we|our)…(?:mistakes?|errors?|slips?|misses|wrong(?:ly)?|weak(?:est|ness(?:es)?)|fumbled?|struggl(?:e|ed|ing)"
            r"|confus(?:e|ed|ing)|mix(?:ed|ing)?(?: \w+)? up|stumbled?|los(?:e|t|ing) points|don['’]t (?:get|understand))",
            r"(?:mistakes?|errors?|slips?|bugs?) (?:that )?(?:i|we)|weak (?:points?|spots?|areas?|topics?)|blind spots?",
            r"(?:group|sort|cluster|bundle|pull together)…(?:mistakes|errors|slips|misses|failures)|which (?:slips?|misses|mistakes?)",
            r"(?:questions?|items?|ones?)…(?:i|we) miss(?:ed)?|i(?: \w+)? fail|cost me points|trips? me up|common culprit",
            r"[错錯][题題](?!本)|薄弱|弱[点點项項]|短板|盲[区區]|易[错錯]|[错錯]在|就[错錯]|不[该該][错錯]",
            r"[记記弄搞答写寫做想认認说說看背算听聽].?[错錯混岔]|我…(?<!不)[错錯](?![过過误誤峰觉覺])|分不清|混[为為淆]",
            r"(?:[没沒][搞弄学學想]|搞不|弄不)(?:懂|明白|清楚)|[丢丟失扣](?:的|了)?…(?:分|哪几[题題])|翻[车車]|栽[在了到]|毛病|踩坑|全[军軍]覆",
            r"[老总總][是爱愛]?(?:卡|忘|[弄搞记記答])",
        ),
    ),
    (
        CanvasOperation.CONCEPT_RELATION,
        "how things are connected",
        _pattern(
            r"relat(?:ed?|es|ing|ion(?:ship)?s?) (?:between|to|with|of)|(?:connections?|links?|interplay|differences?) between",
            r"(?:connected|linked|tied|compared?) (?:\w+ )?(?:to|with|and)|versus|vs|differs?|in common|map out",
            r"(?:hang|fit|work|tie|go) together|ha(?:s|ve|d)…to do with|(?:same|different) (?:\w+ )?(?:as|from)|effects? of … on",
            r"(?:how|why|what|which|do|does|did)…(?:affects?|influenced?|influences|depends? on|leads? to|causes?(?! of)|role of|role do(?:es)?)",
            r"what do(?:es)? … do to|why (?:does|do|is|are|can)(?! (?:i|we|my|our)\b)|how can (?:an?|one|the)",
            r"[关關][系係](?!型)|[联聯][系繫](?!方式|[电電]|人)|[关關][联聯]|[区區差][别別]|异同|異同|[对對]比|比[较較]一下|因果",
            r"影[响響]|[导導造][致成]|起.{0,6}作用|(?<![没沒])有[关關]|之[间間]|串[起成联聯]|一步步|一[环環]扣|差在|怎[么麼样樣][变變]|[对對][应應]",
            r"\A([^我咱]*)(?:[为為]什[么麼](?!\W*\Z)|[为為]何|凭什么)(?=[^我咱]*\Z)",
        ),
    ),
)  # fmt: skip
"""In this order, the first that matches decides: words for a place or a test say what the reply should be, while
mistakes and relations may be what it is about."""


def choose_operation(question: str) -> OperationChoice:
    """The operation that a question asks for; ``document_retrieval`` where its words name none.

    >>> choose_operation("Quiz me on the tea ceremony")
    OperationChoice(operation=<CanvasOperation.VERIFICATION_CANVAS: 'verification_canvas'>, reason='"Quiz me" asks for questions that test you.')
    """
    text = folded(question)
    for operation, wanted, pattern in _RULES:
        if found := pattern.search(text):
            words = found.group()
            for gap in filter(None, found.groups()):
                words = words.replace(gap, " … ", 1)
            return OperationChoice(operation, f'"{words.strip()}" asks for {wanted}.')
    return OperationChoice(
        CanvasOperation.DOCUMENT_RETRIEVAL,
        "No words ask for a test, for mistakes or for a connection, so passages are searched for.",
    )
