"""Words for money: those that ask for a sum, and the names that notes give to sums."""

from __future__ import annotations

import re

COSTS = frozenset(
    "cost price pay paid spend spent fee ausgegeben bezahlt gekostet kosten preis 钱 价 价格 价钱 花 花费 费用".split()
)
"""Words that an amount of money expresses: "paid 38 euros" says what something cost."""
SUM_NOUNS = frozenset("summ betrag 金额 数额".split())
"""Words for a sum of money, whatever it is of."""
SUMS = "fees? salary wage budget rent fare deposit stipend allowance".split()
"""Names of sums of money that are no cost of something; patterns."""
SUMS_HAN = "[房月年]?租金? 学费 票价 费用 工资 月薪 年薪 定价 售价 押金".split()
"""The same in Chinese, as a question asks for them; patterns."""
_NAME = re.compile(
    rf"(?<![a-z])(?:{'|'.join(SUMS)}|prices?|costs?|paid|spent|amount|miete|preis|kosten|betrag)(?![a-z])"
    r"|[价费租]$|费用|花费|价格|租金|金额|工资|钱",
    re.IGNORECASE,
)


def is_sum_name(name: str) -> bool:
    """Whether a property or column is called as a sum of money is: ``rent``, ``Price (EUR)``, 月租."""
    return _NAME.search(name.replace("_", " ")) is not None
