"""The rules of the routing: evidence for memory types in the words of a query, Chinese or English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agentic_rag.dates.stated import asked_interval
from agentic_rag.ingest.facts.named_things import named_things
from agentic_rag.memory.schemas import MemoryType
from agentic_rag.text import as_written, fold
from agentic_rag.text.patterns import lazy_pattern

MAX_CHARACTERS = 2_000
"""Maximum characters of a query that are read; a long pasted text matches rules of every type."""

_CORE, _EPISODIC, _SEMANTIC, _PROCEDURAL, _WORKING = MemoryType


@dataclass(frozen=True, slots=True)
class RoutingEvidence:
    """Evidence for a type: its weight (above 0), and its reason, worded to follow the type's name."""

    memory_type: MemoryType
    weight: float
    reason: str


def _pattern(*alternatives: str) -> re.Pattern[str]:
    """Any of the alternatives, as whole words: ``~`` is any ending, ``…`` up to 40 characters within a clause."""
    joined = "|".join(alternatives).replace("~", "[a-z]*").replace("…", "[^.,;:?!。，；：？！]{0,40}?")
    return lazy_pattern(rf"(?<![a-z])(?:{joined})(?![a-z])", re.IGNORECASE)


_PAST = (
    "(?:went|met|saw|had|told|said|bought|got|ate|drank|made|gave|took|came|left|lost|won|found|spoke|wrote|read|sent|paid"
    "|began|started|agreed|(?![a-z]*eed(?![a-z]))[a-z]+ed)"
)
_MONTH = "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_OPEN = r"(?:open|left|missing|pending|due|outstanding|unfinished)"
_ADVICE = _pattern(
    r"suggest|recommend~?|advi[cs]e|what should i|which …should i|help me (?:plan|choose|decide|find|pick)",
    r"(?:can|could|would|will) you (?:show|help|explain|walk|guide|give|teach|design|draft|write|plan|tell me how)|how should i",
    r"i(?:'m|’m| am) (?:planning|looking|trying|thinking|considering|preparing|working) (?:to|for|of|about|on)",
    r"建议|推荐(?!过)|帮我(?:想|选|挑|规划|安排|设计|写)|[能可]不?[能可]?以?[帮给]我(?:解释|讲|介绍|设计|写)|我(?:想|打算|准备)",
)
_RULES: tuple[tuple[MemoryType, float, str, re.Pattern[str]], ...] = (
    (_CORE, 2.0, "asks who the person is or what suits them", _pattern(
        r"(?:do|would|will|could|can|might|should) i (?:\w+ )?(?:like|love|enjoy|prefer|hate|dislike|speak|believe|eat|drink|want"
        r"|own|live|care|identify|tolerate|fear|value|look like|need to avoid|do for a living)",
        r"how do i (?:feel|think|look|take|like)|(?:did|was) i (?:grow up|born|raised|study|major|graduate)",
        r"(?:who|how old|how tall|where) am i(?! \w+ing)|am i (?:an?|allergic|married|vegan|vegetarian|afraid|into|good)",
        r"(?:know|tell me|remember|learned|noted) (?:\w+ )?about me|i(?:'d|’d| would) (?:\w+ )?(?:like|love|enjoy|prefer)(?! to)",
        r"my (?:\w+ )?(?:names?|nicknames?|favou?rites?|preferences?|tastes?|diet~|jobs?(?= *[?.!]|\Z)|profession|occupation|age|birthday"
        r"|hobb~|allerg~|personality|hometown|pronouns|values|religion|faith|languages?|interests|dislikes|likes|goals?|sizes?"
        r"|background|profile|blood type|kind of|sort of|type of|cup of)|what (?:kind|sort|type) of …(?:am|do) i",
        r"(?:suits?|fits?) me|to my (?:taste|liking)|for (?:someone|somebody) like me|(?:ideas?|gifts?|presents?) for me",
        r"(?:pick|choose|recommend|suggest) …(?:me|my|i)|what (?:should|could|shall) i (?:wear|read|watch|cook|eat|get|order)",
        r"我(?:叫什么|有[几多]|住|是谁|是(?:个|一个)?(?:什么样|怎样)|是做什么|多大|几岁|这个人|属于哪种人|会[说讲])",
        r"我的?(?:姓?名字?|爱好|喜好|偏好|口味|生日|年龄|职业|工作是|性格|家乡|老家|星座|母语|习惯|信仰|兴趣|血型|昵称|称呼)",
        r"我的?.{0,3}(?:尺码|身高|体重)",
        r"我(?:一般|平时|最|比较|更|都|不)*(?:喜欢|爱|讨厌|偏爱|害怕|怕|擅长|能吃|能喝|在意)|我.{0,6}(?:过敏|忌口|性格|爱好|喜好)",
        r"(?:适合|合|符合|对)我的?(?:口味|胃口|喜好|风格|性格)?|(?:关于|了解)我|推荐(?!过)|[给帮替]我[挑选]",
        r"我(?:会|应该)不?会?[喜买穿送]",
    )),
    (_CORE, 2.0, "asks how the assistant is to be", _pattern(
        r"who are you|your (?:name|role|persona|personality|tone|style|character|job)|(?:call|address|talk to|speak to|treat) me",
        r"would you …me|(?:should|do|must|are) (?:you|your (?:answers?|replies|responses?)) …(?:me|be|sound|tone|style)",
        r"以后[^，。]{0,4}(?:回答|说话|叫)|你(?:(?:是|扮演)(?:谁|什么)|叫什么|的(?:名字|角色|身份|人设|职责|语气|风格))|称呼我",
        r"叫我|[跟和对]我说话",
        r"(?:语气|口吻|风格|方式).{0,6}(?:[跟和对]|回答|称呼)",
    )),
    (_CORE, 2.0, "asks for advice or help, which depends on what the person prefers", _ADVICE),
    (_PROCEDURAL, 1.5, "asks for advice or help, for which a standing instruction may hold", _ADVICE),
    (_EPISODIC, 2.0, "asks of a time in the past", _pattern(
        r"when (?:did|was|were|had|have|has)|(?:what|which) (?:day|date|time|year|month) (?:did|was|were)|yesterday|the other day",
        r"how long (?:ago|since)|(?<!minute )(?<!moment )(?<!second )(?<!minutes )(?<!seconds )ago|(?:first|last) time",
        rf"(?:last|previous|past) (?:night|week~|month|year|spring|summer|autumn|fall|winter|christmas|{_DAY}|{_MONTH})",
        rf"the (?:time|day|night) (?:when|that|we|i)|(?:on|since) {_DAY}|(?:since|during) {_MONTH}|in (?!may(?![a-z])){_MONTH}",
        r"上(?:一?次|一?周|个?星期|个?礼拜|个?月|回)|昨[天晚日夜]|前[天晚年]|去年|那[天次回年晚]|什么时候|何时|哪[天年]|哪一[天年]",
        r"几[号月]|多久[前以]|第一次|最后一次|当时|当年|[天周月年]前",
    )),
    (_EPISODIC, 1.5, "asks what was said or happened", _pattern(
        r"\A(?:did|was|were)|\A(?:has|have) (?!the|that|this|you|we)\w+(?= \w)",
        r"(?:did|was|were|wasn't|weren't|didn't) (?:i|we|you|he|she|it|they|my|our|the|that|this|anyone|somebody)",
        r"(?:what|who|which|where|how|why) …(?:did|was|were)|(?:had|have) (?:i|we|he|she|they)|what happened",
        rf"(?:i|we|you) (?:\w+ly |ever |never |once )?{_PAST}|(?:what|who|which \w+) {_PAST}",
        r"(?:do|can) you (?:still )?(?:remember|recall) (?:when|the|what|how|my|our)|(?:mention|talk about|discuss)(?:ed)?",
        r"(?:conversation|chat|talk|discussion|argument|quarrel|fight|trip|visit|wedding|party|interview|appointment|date|concert"
        r"|hike|accident|funeral|holiday|vacation|flight) (?:with|about|at|in|to|when|on|over)",
        r"(?:my|our|the) (?:\w+ )?(?:conversation|argument|trip|visit|wedding|party|interview|concert|hike|accident|funeral|vacation)",
        r"[说聊提讲谈去做见买吃看写][到起]?了|[\u4e00-\u9fff]过(?![程敏期于度来去渡滤])|(?<![为除])了(?:什么|谁|哪|多少|几)|谁了",
        r"来着|有一?[回次天]|怎么(?:说|讲|过|回[事答复])|有没有[^，。]{0,6}[回说提讲]|发生|记得|回忆|的事|因为什么|见面",
        r"是(?:在|从|[跟和]|怎么过)[^，。]{0,12}的[吗？?]?\Z",
        r"旅[行游]|聚[会餐]|婚礼|面试|约会|吵架|事故|葬礼|音乐会|演唱会|那[场顿趟]",
    )),
    (_SEMANTIC, 1.0, "asks what something is", _pattern(
        r"what(?:'s|’s| is| are| does| do)(?! (?:i|we|you|my|our|next|left|new|up|going)(?![a-z]))",
        r"who(?:'s|’s| is| are)(?! (?:you|i|we)(?![a-z]))",
        r"(?:where|why) (?:is|are|does|do)(?! (?:i|we|you|my|our)(?![a-z]))",
        r"how (?:many|much|big|old|tall|far|large|high|long)(?! ago)",
        r"(?:which|what) (?:\w+ ){1,3}(?:is|are|does|do|has|have)(?! (?:i|we|you)(?![a-z]))|tell me about (?!me|my|our)",
        r"mean(?:s|ing)?|stands? for|difference between|definition of|define|consists? of|capital of|founder of|author of",
        r"\A(?:is|are|does|do|can) (?!(?:i|we|you|my|our|there (?:any|some)thing)(?![a-z]))",
        r"什么是|是(?:什么(?!时候)|做什么的|谁|哪|多少|几)|[什啥]么?意思|属于|区别|差别|为什么|为何|多少",
        r"[几哪][个家所座国省种市里位]|介绍|定义|含义|是不是|原理",
    )),
    (_SEMANTIC, 3.0, "asks how a thing came about or works", _pattern(
        r"(?:was|were|is|are) …(?:built|founded|invented|discovered|painted|composed|born)",
        r"how do(?:es)? (?!i|we|you|one|they)…work",
        r"(?:怎么|怎样|如何)[^，。]{0,4}(?:起作用|工作|运作|形成|产生|影响|来的)|为什么会",
    )),
    (_SEMANTIC, 1.0, "asks what is known of someone or something", _pattern(
        r"who (?:founded|invented|wrote|painted|discovered|directed|composed|built|created|designed|owns|runs|leads|manages|makes)",
        r"acquired|founded|invented|works?|lives?|married|related|located|based|born|employed|belongs?|(?:phone )?number|e-?mail",
        r"address",
        r"manager|boss|wife|husband|partner|sister|brother|father|mother|daughter|son|price|population|founder|ceo|owner|size",
        r"colou?r|breed",
        r"住在?|上班|工作|就职|结婚|离婚|丈夫|妻子|老公|老婆|老板|经理|父亲|母亲|女儿|儿子|电话|邮箱|地址|价格|人口|创始人|负责人",
        r"品种|首都",
        r"作者|职位|关门|开门|营业",
    )),
    (_PROCEDURAL, 2.5, "asks how something is done", _pattern(
        r"how (?:do|can|should|could|would|must) (?:i|we|one|they)(?! (?:feel|think|look|like))|how (?:do|can|would) you",
        r"how (?:to|we|does one)|what do (?:i|we) need (?:for|to)(?! avoid)",
        r"how(?:'s|’s| is| are) (?!my|the weather)…(?:done|made|kept|[a-z]+ed)|how the …works?",
        r"where do (?:i|we|you) (?:click|press|find)",
        r"\A(?!going|doing|being|nothing|anything|something|everything|during|morning|evening)[a-z]+ing [a-z]+(?! (?:is|was)(?![a-z]))",
        r"(?<!next )steps?(?! (?:are|am|did) (?:we|i))|instructions?|procedures?|recipes?|guide|tutorial|checklist|workflow",
        r"protocol",
        r"routine|how-to|manual|playbook|method|technique|template|process|format for|set-?up",
        r"(?:rules?|policy|tips|tricks?) (?:for|on)",
        r"(?:walk|guide|talk|take) me through|(?:show|teach|tell|explain)(?: me)? (?:how|the way)|teach me|(?:way|trick) to",
        r"comes first",
        r"(?:best|usual|right|proper|correct|standard) way|(?:which|what) (?:command|script|setting)|commands? (?:for|to)",
        r"in (?:what|which) order|what now",
        r"(?:怎么(?!样|回|了|说|讲|过)|怎样|如何)(?![^，。]{0,4}(?:起作用|工作|运作|形成|产生|影响|来的))|步骤|流程|做法|教我|教程",
        r"方法|指南|操作|食谱|配方|菜谱|手续|攻略|顺序|规[定则范]|格式|模板|材料",
        r"(?:要|需要)(?:先|怎|准备|注意)|(?:该|得)(?:先|用|找|按)|用哪|之[前后][^，。]{0,6}要|时[先应该要]|哪个命令|一步步|必须",
    )),
    (_PROCEDURAL, 2.5, "asks what to do when something occurs", _pattern(
        r"whenever|(?:every|each|any) time|as soon as|in case|before (?:every|each|any)|(?:has|have|needs?) to be \w+(?:ed|en|ne)",
        rf"(?:should|do|need to do|must) …(?:when|if|before|after|once|on {_DAY}s)|then what|what has to",
        r"what i (?:must|have to|need to|should) do|what(?:'s|’s| is| happens| do).*(?:when|if) (?:an?|the|some~|we|i|you)",
        r"(?:when|if|once) ….{0,2}(?:what|who) (?:do|should|then|gets?|must|is|are|will|has)",
        r"每[次当逢天周月]|的时候[^，。]*(?:应该|要|该)|(?:遇到|如果|万一|要是).*[该要怎]|[了坏].{0,4}(?:怎么办|找谁|该|要怎)",
    )),
    (_WORKING, 3.0, "points at the task or talk at hand", _pattern(
        r"next(?=\W*\Z)|next (?:step|task|item)|where (?:were|are|am|did) (?:we|i)(?=\W*\Z)|(?:left|leave) off",
        r"back to (?:it|what|the|where|work)",
        r"continue|resume|carry on|keep going|go on|pick (?:\w+ )?up|(?:i|we|you|i've|we've|you've)(?: have)? just",
        r"did (?:i|we|you) just|just now",
        r"(?:minutes?|moment|seconds?) ago|came here for|gone through|so far|(?:my|your) last (?:question|message|answer)",
        r"(?:are|have) (?:we|you) (?:done|on|at|up to|finished|ready)",
        r"\A(?:is|are|has|have) (?:the|that|this) …(?:finished|done|ready|over|completed?|running|online|back|up)(?=\W*\Z)",
        r"刚[才刚]|我?刚(?=[说问给让发提])|下一步|接下来|继续|接着|进行到|[到在]哪[了一儿里]?[步了]|[改写做看读]到|做完|这一?步",
        r"[写改做弄]好了吗|正在",
    )),
    (_WORKING, 2.0, "asks what is going on now", _pattern(
        r"now|currently|current|at (?:the|this) (?:moment|point)|today~|tonight|tomorrow|yet|urgent|let's|let us",
        r"this (?:morning|afternoon|evening|meeting|session|conversation|chat|call|task|sprint)|in progress|progress on",
        r"how far along",
        r"what else|left(?=\W*\Z)|am i (?:done|finished|ready|supposed)|\A(?:is|are) (?:any|some)\w+ \w+ing",
        r"(?:am|are|is|was|were) (?:i|we|everyone) (?:\w+ )?\w+ing|(?:i'm|i’m|we're|we’re|i am|we are) (?:\w+ )?\w+ing",
        rf"(?:things?|we|it) stands?|still {_OPEN}|left (?:to|on|in|of) \w+|to-?dos?|pending|remain(?:s|ing)",
        r"on (?:my|our) (?:plate|list|agenda)|open \w+s",
        r"现在|目前|当[前下]|今[天晚早日]|明[天早晚]|刚(?![好性果])|手[头上里]|待办|还[剩差缺有没]|没(?:做|写|完|弄|处理)",
        r"进[展度]|眼下|此刻|这会儿|等会|待会|等一?下|一会儿|马上|第几|剩下",
        r"[这本]份|[这本][次个篇](?:会|任务|对话|项目)",
    )),
)  # fmt: skip
"""Several rules may match; their weights add up per type. Phrases that often occur with those of another type ("what
is", "who works") weigh less than specific ones ("how do I"), so that the specific one decides."""
_FIRST_PERSON = _pattern(r"i|me|my|mine|myself", "我(?!们)")
_WEAK, _NAME_WEIGHT, _DATE_WEIGHT = 0.5, 1.0, 1.0
"""Weights of a first person, a name and a date. A name together with a first person weighs _WEAK too."""


def evidence(query: str) -> tuple[RoutingEvidence, ...]:
    """All evidence for memory types in a query, in a fixed order; empty if no rule matches.

    >>> [found.reason for found in evidence("How do you descale a kettle?")]
    ['the query asks how something is done ("How do you")']
    """
    text = query[:MAX_CHARACTERS]
    plain = fold(text)
    person = _FIRST_PERSON.search(plain)
    found = list(_by_words(text, plain))
    if person:
        found.append(
            RoutingEvidence(_CORE, _WEAK, f'the query is about the person ("{_quote(text, person)}")')
        )
    if asked_interval(plain):
        found.append(RoutingEvidence(_EPISODIC, _DATE_WEIGHT, "the query states a time"))
    if things := named_things(plain):
        weight = _WEAK if person else _NAME_WEIGHT
        found.append(RoutingEvidence(_SEMANTIC, weight, f'the query names something ("{things[0].name}")'))
    return tuple(found)


def _by_words(text: str, plain: str) -> Iterator[RoutingEvidence]:
    for memory_type, weight, says, pattern in _RULES:
        if match := pattern.search(plain):
            yield RoutingEvidence(memory_type, weight, f'the query {says} ("{_quote(text, match)}")')


def _quote(text: str, match: re.Match[str]) -> str:
    return as_written(text, match.start(), match.end()).strip()
