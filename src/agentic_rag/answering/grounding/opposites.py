"""Words that turn a statement into its opposite: negations, and pairs of which a text has one or the other."""

from __future__ import annotations

import re

_NOT = re.compile(
    r"\b(?:not|no|never|without|none|nobody|nothing|neither|nor|cannot|\w+n['’]t|hardly|scarcely|barely)\b(?! (?:only|more|less|fewer|later))"
    r"|\b(?:rather than|instead of|free of|(?:is|are|was|were|voted) against|oppos(?:e|es|ed)|reject(?:s|ed)?|refus(?:e|es|ed)"
    r"|forb(?:id|ids|ade|idden)|prohibit(?:s|ed)?|bann?(?:s|ed)?|exclud(?:e|es|ed)|avoid(?:s|ed)?|lack(?:s|ed)?|closed on)\b"
    r"|不(?!超过|到|足|仅|但|过|断|久|少于|管|论|锈)|没|并非|而非|未(?!来)|勿|禁止|反对|拒绝|避免|谢绝|闭馆|无(?!论|线|人|数|锡)|非(?!常|洲)",
    re.IGNORECASE,
)
_OPPOSITES = tuple(
    (re.compile(one, re.IGNORECASE), re.compile(other, re.IGNORECASE))
    for one, other in (
        (r"\bbefore\b|之?前|提早", r"\bafter\b|之?后|[推延]迟|晚于"),
        (
            r"\b(?:rais|increas|ris|grow|grew)\w*|升高|增加|提高|上升|升为",
            r"\b(?:lower|decreas|fall|fell|reduc|shr[iau]nk)\w*|降低|减少|下降|降为",
        ),
        (r"\b(?:above|over|higher)\b|高于|以上", r"\b(?:below|under)\b|低于|以下"),
        (r"\bmore\b|多于|更多", r"\b(?:less|fewer)\b|少于|更少"),
        (r"\b(?:most|highest|maximum)\b|最[多高大]", r"\b(?:least|lowest|minimum)\b|最[少低小]"),
        (
            r"\b(?:all|everything|everyone|entire(?:ly)?|whole|completely|fully)\b|全部|所有|全都",
            r"\b(?:half|part(?:ly|ially)?|some|most|partial)\b|部分|一半|大半",
        ),
        (r"\b(?:better|best)\b|更好|最好", r"\b(?:worse|worst|less well)\b|更差|最差"),
        (r"\b(?:larger|bigger|largest|biggest)\b|更大", r"\b(?:smaller|smallest)\b|更小"),
        (r"\b(?:longer|longest)\b|很长", r"\b(?:shorter|shortest)\b|很短"),
        (r"\b(?:hotter|warmer|hottest)\b", r"\b(?:cooler|colder|coldest)\b"),
        (r"\b(?:faster|quicker)\b|更快", r"\bslower\b|更慢"),
        (r"\b(?:stronger|strongest)\b|浓得多", r"\b(?:weaker|weakest)\b|淡得多"),
        (r"\b(?:inner(?:most)?|inside)\b", r"\b(?:outer(?:most)?|outside)\b"),
        (r"\beast\w*", r"\bwest\w*"),
        (r"\bnorth\w*", r"\bsouth\w*"),
        (r"\bleft\b|左", r"\bright\b|右"),
        (r"\b(?:turn|switch)(?:ed)? on\b|\bon by default\b|\benabled\b|开启", r"\boff\b|\bdisabled\b|关闭"),
        (r"\balways\b|总是", r"\bnever\b|从不"),
        (r"\btogether\b|一起", r"\b(?:apart|alone|separate(?:ly)?)\b|分开|单独"),
        (r"\bhypo\w+", r"\bhyper\w+"),
        (r"\bendo\w+", r"\bexo\w+"),
        (r"\bmicro\w+", r"\bmacro\w+"),
    )
)


def is_opposite(word: str, other_text: str) -> bool:
    """Whether a text has the opposite of a word of another one in its place."""
    for pair in _OPPOSITES:
        for one, other in (pair, pair[::-1]):
            if (
                one.search(word)
                and other.search(other_text)
                and not (other.search(word) or one.search(other_text))
            ):
                return True
    return False


def is_negated(text: str) -> bool:
    """Whether a text denies something."""
    return _NOT.search(text) is not None
