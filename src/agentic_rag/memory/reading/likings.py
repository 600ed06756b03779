"""Patterns of what a person likes and dislikes: each thing is a slot of its own, with the value ``likes`` or ``dislikes``.

So a preference of the opposite sign about the same thing supersedes the earlier one, as another home does. A negated
liking is a dislike ("I don't like it any more"); a negated dislike only ends it. What the person "used to" like says
nothing of the present. Data only; ``slots`` and ``slots_zh`` read it.
"""

from __future__ import annotations

import regex

from agentic_rag.memory.reading.schemas import LIKING
from agentic_rag.memory.reading.slot_patterns import BE, HAVE, Rule

LIKES, DISLIKES = "likes", "dislikes"
ONCE = "once"
"""Sign of what a person used to like or dislike: the thing that the next clause may mean, and no statement itself."""
PRONOUNS = (f"{LIKING} it", f"{LIKING} them")
"""The slots of a thing that the clause before names."""

_RESTRICTIONS = r"when(?:ever)?|if|unless|than|as|except|without|more|less|only|until|while|or|that|which|who|where|what|how|why|not"
"""Words after which a clause says more than that the thing is liked: "more than tea", "when it rains"."""
_PRONOUNS = r"you|him|her|me|us|this|these|those|both|all|every\w*|some\w*|any\w*|one|many|most|your|the\s(?:idea|sound|way|plan|suggestion|look)"
_VERB = r"(?:likes?|loves?|enjoys?|adores?|hates?|dislikes?|detests?|loathes?|can['’]?t|cannot|do(?:es)?n['’]t|do(?:es)?\snot|lives?|works?|am|is|['’]m)\b"
_TIME = r"any\s?more|any\slonger|now(?:adays)?|these\sdays|at\sall|at\sthe\smoment|again|lately|either|too|as\swell|(?:so|very|that|all\sthat)?\s?much|a\slot|a\sbit|yesterday|last\s\w+|(?:since|in|on|from)\s[^,;]*\d|\w+\s(?:days?|weeks?|months?|years?)\sago"
_THING = (
    rf"(?!(?:{_PRONOUNS})\b)(?:to\s)?(?:eat(?:ing)?\s|drink(?:ing)?\s)?(?:(?:the|an?)\s)?(?!to\b)"
    rf"(?P<value>(?>(?!(?:{_RESTRICTIONS}|but|because|since)\b)[\w'’&/+#.-]+)(?:\s(?!(?:{_RESTRICTIONS}|it|th[ei]se|those|but|because|since)\b)[\w'’&/+#.-]+){{0,5}}?)"
    rf"(?=\s*(?:\Z|[;(!]|,(?!\s[\w\s]+(?:,|\s(?:and|or)\s))|[-–—]\s|(?:{_TIME}|but|because|since|and\s(?:\w+\s)?{_VERB})(?!\w)))"
)
_ADVERBS = r"(?:\s(?:now|still|really|also|just|always|absolutely|actually|truly|generally|usually|especially|personally|mostly|quite|rather|totally|simply|definitely|honestly|kinda|even|particularly|much|do|does|very))*"
_NOT = rf"{_ADVERBS}(?:\s(?:do|does)(?:n['’]t|\snot)|\sno\slonger){_ADVERBS}\s"
_I = r"(?<=\b(?:I|and|now|then|also))"
"""Before a verb in its bare form, which is a noun behind a name: "unconditional love"."""
_IS = rf"{BE}{_ADVERBS}"
_FAN = (
    r"(?:an?\s)?(?:(?:big|huge|great|real)\s)?(?:fan\sof|fond\sof|into|keen\son|crazy\sabout|in\slove\swith)"
)
_BEGAN = rf"(?:{HAVE})?{_ADVERBS}\s(?:(?:come|came|grown|grew|learn(?:ed|t)|started|begun|began)\sto\s|(?:started|begun|began)\s)"
_LIKE, _HATE = r"(?:like|love|enjoy|adore|care\sfor)", r"(?:hate|dislike|detest|loathe|despise)"
_LIKING, _HATING = r"(?:lik|lov|enjoy|ador)ing", r"(?:hat|dislik|detest|loath|despis)ing"
_END_OF_LIKING = rf"(?:{HAVE})?{_ADVERBS}\sstopped\s"

LIKINGS = tuple(
    Rule(LIKING, regex.compile(rf"(?:{pattern})\s{_THING}", regex.IGNORECASE), ends=ends, sign=sign)
    for sign, ends, pattern in (
        (LIKES, False, rf"{_ADVERBS}\s{_LIKE}s|{_I}{_ADVERBS}\s{_LIKE}|{_IS}\s{_FAN}|(?:{HAVE})?{_ADVERBS}\sfell\sin\slove\swith|{_BEGAN}(?:{_LIKE}|{_LIKING})"),
        (DISLIKES, False, rf"{_ADVERBS}\s{_HATE}s|{_I}{_ADVERBS}\s{_HATE}|{_BEGAN}(?:{_HATE}|{_HATING})|{_ADVERBS}\s(?:can['’]?t|cannot)\s(?:stand|bear)|{_IS}\s(?:sick\sof|fed\sup\swith)|(?:{HAVE})?{_ADVERBS}\s(?:had\senough\sof|lost\sinterest\sin)"),
        (DISLIKES, False, rf"{_NOT}{_LIKE}s?|{BE}(?:n['’]t|\snot|\sno\slonger){_ADVERBS}\s{_FAN}|{_END_OF_LIKING}{_LIKING}|(?:{HAVE})?\s(?:gone|went)\soff|\snever\s(?:liked|enjoyed|cared\sfor)"),
        (DISLIKES, True, rf"{_NOT}{_HATE}s?|{_END_OF_LIKING}{_HATING}"),
        (ONCE, True, rf"\sused\sto\s(?:{_LIKE}|{_HATE}|be\s{_FAN})"),
    )
)  # fmt: skip

_ADVERBS_ZH = r"(?:真的?|很|更|最|比较|特别|非常|还是|一直|也|挺|超级?|都|并|其实|完全|越来越|开始|变得|已经|现在|如今|目前|今年|最近|从小|就)*"
_WORD_ZH = r"(?!因为|但|不过|比|如果|时候|而且|还是|所以)[\p{Han}\p{Latin}\d·]"
_THING_ZH = rf"(?:它们?|(?:[吃喝](?!(?:了|啦|的)*$))?(?P<value>(?![你我他她它这那的过把被和跟了啦])(?:{_WORD_ZH}){{1,12}}?))?(?:了|啦|的)*$"
_LOVE_ZH = r"(?:喜欢|热爱|爱(?!人|心|情|好|护))"
LIKINGS_ZH: tuple[tuple[str, bool, regex.Pattern[str]], ...] = tuple(
    (sign, ends, regex.compile(rf"{_ADVERBS_ZH}{pattern}"))
    for sign, ends, pattern in (
        (ONCE, True, rf"(?:以前|之前|原来|曾经?|过去|本来){_ADVERBS_ZH}(?:{_LOVE_ZH}上?|讨厌|反感){_THING_ZH}"),
        (DISLIKES, True, rf"不(?:再|怎么)?(?:讨厌|反感){_THING_ZH}"),
        (DISLIKES, False, rf"(?:(?:再也)?不(?:再|太|怎么|是很)?{_LOVE_ZH}|讨厌|厌恶|受不了|反感){_THING_ZH}"),
        (DISLIKES, False, r"对(?P<value>[\p{Han}\p{Latin}]{1,12}?)(?:不(?:再|太)?感|没有?(?:什么)?|失去了?)兴趣了?$"),
        (LIKES, False, rf"(?:{_LOVE_ZH}上?了?|迷上了?){_THING_ZH}"),
        (LIKES, False, r"对(?P<value>[\p{Han}\p{Latin}]{1,12}?)(?:很|非常|越来越)?感兴趣了?$"),
    )
)  # fmt: skip
