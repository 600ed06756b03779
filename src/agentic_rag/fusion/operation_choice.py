"""Choose the operation from the words of a question, Chinese or English: what ``operation = "auto"`` does."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentic_rag.fusion.strategy_selector import CanvasOperation
from agentic_rag.text import as_written, fold

MAX_CHARACTERS = 2_000
"""Characters of a question that are read; a pasted text has words of every kind."""


@dataclass(frozen=True, slots=True)
class OperationChoice:
    """An operation, and one sentence of plain English that names the words which decided."""

    operation: CanvasOperation
    reason: str


def _pattern(*alternatives: str) -> re.Pattern[str]:
    """Any of the alternatives, as whole words: ``~`` is any ending, ``…`` up to 60 characters between words."""
    joined = "|".join(alternatives).replace("~", "[a-z]*").replace("…", "(.{0,60}?[^a-z])??")
    return re.compile(rf"(?<![a-z])(?:{joined})(?![a-z])", re.IGNORECASE | re.DOTALL)


_RULES = (
    (CanvasOperation.VERIFICATION_CANVAS, "questions that test you", _pattern(
        r"(?:quiz|test|drill|grill|examine|challenge|probe|ask|check) (?:me|us|myself)(?! (?:to|for|if) )|put me (?:to|through)",
        r"(?:check|make sure|verify|see)(?: that| whether| if)? i|\Acheck my|(?:spot|self)-check~|self-(?:test|quiz)",
        r"(?:\Ado i|do i (?:actually|really|still|truly)|how (?:well|much) do i|(?:if|have) i(?:'ve|’ve)?)"
        r" (?:actually |still )?(?:know|understand|understood|remember|recall|grasped)|am i (?:ready|right|correct)",
        r"(?<!\bi )(?<!\bwe )(?<!\bwho )(?<!\bpeople )(?<!where to )(?<!how to )(?:give|ask|throw|set|write|make|put|pose|prepare|create|generate)…(?:questions|flash ?cards?|quiz|worksheet)",
        r"(?:practi[cs]e|revision|review|exam) (?:questions|problems|exercises|cards|prep~)|rehears~|rapid-fire|cloze",
        r"(?:true[ -]or[ -]false|multiple[ -]choice|prove me wrong|you ask|(?:make|let) me (?:first |try to )?(?:recall|name"
        r"|list|say|tell|explain|recite|guess|answer|try|see)|\A(?:pop )?quiz ?:)",
        r"fill[ -]in[ -](?:the[ -])?(?:blanks?|gaps?)|(?:claim|statement) ?:|is (?:this|it|that) (?:right|correct|true)",
        r"(?:examiner|interviewer|teacher|instructor|committee|might|would)…(?:ask|be asked)|cover up",
        r"(?:without|hide|no|don't show) (?:me )?the (?:answers?|solutions?|definitions?)",
        r"(?<![报备拟])考{1,2}(?:一?下)?[我咱]|(?:来|再|[你官，,。：:])问{1,2}[我咱]|问自己|考倒|难(?:为|住|倒)|提问|自[测查检考]",
        r"测一?[测下]|小测|抽[查考问背]|随机…[我题]|[默听]写|出(?:题|[几一两三五十\d些点道个份套张组]+.{0,12}?(?<!问)[题卷])|(?:设计|编|列)(?:几|一|些|\d).{0,8}[题问测]",
        r"判断(?:题|[对正])|填空|快问|问答|[抽闪].?卡|模拟(?:面试|口试|问答|一[次场])|让我(?:先|来)?[说答猜讲背写选填认]",
        r"(?:检[验测]|验证)(?:一?下|…理解|…掌握)|检查…我…[懂会清牢]|(?:别|不要)…答案|分不分得清|[牢对]不[牢对]|是不是真"
        r"|[讲说背答]得出来?吗|[说话]…(?:严谨|正确|对)吗",
        r"(?:掌握|理解|[弄搞]懂|学会|[背记]熟|背).{0,4}?(?:没|怎么样|如何|了吗)",
    )),
    (CanvasOperation.DOCUMENT_RETRIEVAL, "a passage or a fact of your notes", _pattern(
        r"where (?:did|do|have) (?:i|we) (?:\w+ )?(?:writ~|not~|sav~|record~|fil~|stor~)|(?:which|what|that) (?:note|page|file)",
        r"where(?:'s|’s| is| are) (?:the|that|my|our) (?:\w+ )?(?:notes?|page|file|list|table|paper|document)",
        r"(?:find|show|open|fetch|look up|pull up|locate)(?: me)? (?:the|that|my|our) (?:[\w'-]+ ){0,3}"
        r"(?:notes?|page|file|paper|letter|list|table|minutes|article|document|passage|quote|link)",
        r"(?:phone|e-?mail|address|password|receipt|invoice|recipe|message)",
        r"[哪那]一?[篇页]|[写记存放收][在到][哪了]|原[话文]|摘抄|纪要|提到过|电话|邮箱|地址|密码|联系方式|几号|几点钟|哪天|多少钱",
    )),
    (CanvasOperation.WEAK_POINT_CLUSTERING, "your own mistakes and weak points", _pattern(
        r"(?:i|my|me|we|our)(?![a-z])…(?:mistakes?|errors?(?! (?:code|message|[a-z]?\d))|slips?|blunders?|misses|wrong(?:ly)?|incorrect~|weak(?:est|ness~)|flunk~|fumbl~"
        r"|struggl~|confus~|mix(?:ed|ing)?(?: \w+)? up|mess~ up|stumbl~|los(?:e|t|ing) points|thinnest|shak(?:y|iest)|rusty"
        r"|do(?:n't|n’t| not) (?:get|understand)|never (?:seem|get|manage)|keep (?:forget~|miss~|fail~))",
        r"(?:mistakes?|errors?|slips?|bugs?) (?:that |did |do |have )?(?:i|we)|weak (?:points?|spots?|areas?|topics?)|blind spots?|gaps? in",
        r"(?:am|are) (?:i|we) (?:\w+ )?weak|(?:group|sort|cluster|bundle|pull together)…(?:mistakes|errors|slips|misses|fail~|loss~)|which (?:slips?|misses|mistakes?)",
        r"(?:questions?|items?|ones?)…(?:i|we) miss(?:ed)?|i(?: \w+)? (?:fail~|flunk~|had to redo)|cost me points|trips? me up",
        r"common culprit|needs? (?:(?:more|extra|some) )?(?:work|practice)|trouble with|hard(?:est)? for me|pitfalls?",
        r"我(?:们)?(?:的|有|犯)[^，。？！,]{0,6}错误(?!信息|代码|日志|码)|错题(?!本)|薄弱|弱[点项]|软肋|短板|盲[区点]|漏洞|易错|错在|就错|不该错|犯…错|[踩掉][过进了]?的?坑|毛病|失误|翻车|栽[在了到]",
        r"[记弄搞答写做想认说看背算听].?[错混岔]|我…(?<!不)错(?![过误峰觉])|分不清|混[为淆]|张冠李戴|全军覆|失分|丢分|扣分|丢的?…题",
        r"(?:没[搞弄学想]|搞不|弄不|学不|听不)(?:懂|会|明白|清楚)|不过关|不熟|不牢|没掌握|记不[住牢清]|(?:总|老是?)…(?:卡|忘|错|混|输|怕|答)",
    )),
    (CanvasOperation.CONCEPT_RELATION, "how things are connected", _pattern(
        r"relat(?:ed?|es|ionships?|ions?) (?:between|to|with|of)|(?:connections?|links?|interplay|differences?|overlap~) between",
        r"how (?:is|are|was|were)…(?:related|connected|linked)|\A(?:please )?(?:link|connect|relate|compare|contrast|trace|map)|(?:connected|linked|tied|compared?) (?:\w+ )?(?:to|with|and)",
        r"versus|vs|differs?|distinguish~|similarit~|in common|hand in hand|mechanisms?|influence of|(?:impact|effects?) of … on",
        r"(?:hang|fit|work|tie|go|belong) together|ha(?:s|ve|d)…to do with|(?:same|different) (?:\w+ )?(?:as|from)|builds? (?:up)?on",
        r"(?:how|why|what|which|do|does|did)…(?:affects?|influenced?|influences|depends? on|leads? to|causes?(?! of)|role (?:of|does|do))",
        r"what do(?:es)?…do to|(?:why (?:does|do|is|are|can)|how come)(?! (?:i|we|my|our)\b)|how can (?:an?|one|the)",
        r"关系(?!型)|联系(?!人|方)|关联|挂钩|区别|差[别异在]|异同|对比|比较一下|因果|影响|导致|造成|起.{0,6}作用|(?<!没)有关|之间|串[起成联]",
        r"互[为相]|启发|继承|推动|带动|促成|引[起发]|一步步|一环|怎[么样](?:变|挂|[连串联])|对应|连[得不]?起|机[制理]|道理|同一种|一回事",
        r"\A([^我咱]*)(?:为什么(?!\W*\Z)|为何|凭什么|决定|意味着|反而|一定…吗)(?=[^我咱]*\Z)",
    )),
)  # fmt: skip
"""The first rule that matches decides. Tests come first: a request for a test is explicit, while mistakes and
relations may be the subject of a test or a passage."""


def choose_operation(question: str) -> OperationChoice:
    """The operation that a question asks for; ``document_retrieval`` where its words name none.

    >>> choose_operation("Quiz me on the tea ceremony").reason
    '"Quiz me" asks for questions that test you.'
    """
    text = question[:MAX_CHARACTERS]
    plain = fold(text)
    for operation, wanted, pattern in _RULES:
        if found := pattern.search(plain):
            return OperationChoice(operation, f'"{_quote(text, found)}" asks for {wanted}.')
    reason = "No words ask for a test, for mistakes or for a connection, so passages are searched for."
    return OperationChoice(CanvasOperation.DOCUMENT_RETRIEVAL, reason)


def _quote(text: str, match: re.Match[str]) -> str:
    """What was found, with ``…`` for what stands between its words."""
    gaps = [match.span(group) for group in range(1, len(match.groups()) + 1)]
    edges = [match.start(), *(edge for gap in gaps if gap[0] < gap[1] for edge in gap), match.end()]
    parts = zip(edges[::2], edges[1::2], strict=True)
    return " … ".join(as_written(text, start, end).strip() for start, end in parts).strip()
