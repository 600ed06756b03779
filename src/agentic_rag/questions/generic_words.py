"""Words that name nothing: what a query need not express, what an answer need not repeat."""

from __future__ import annotations

import re

from agentic_rag.text import STOPWORDS

QUERY_WORDS = STOPWORDS | frozenset(
    "note notes page pages file files thing things one ones item items list lists show shows give find name names called have has got my our all any"
    " every many much count number total please tell me which what do did does is are was were still want would like also yet ever already been rate"
    " rated score scored tagged tag tags with about kind kinds type types that those belong belongs there here in on at by of for from to and or"
    " how when where who know keep kept write wrote written vault notebook read day days date dates make made"
    " 笔记 我 我的 有 的 是 哪些 哪个 列出 所有 全部 多少 几个 吗 呢 里 中 在 了 和 都 篇 个 本".split()
)
"""Words of a question that no query has to express."""
NOTE_NOUNS = STOPWORDS | frozenset(
    "note notes page pages file files document documents entry entries item items thing things one ones kind kinds sort sorts type types day days date"
    " dates tag tags folder folders people person 笔记 记录 东西 个 篇".split()
)
"""What may stand where a question names the kind of notes, and names none."""
MEASURE_WORDS = "个本部篇款种样件道首只条张位门台幅座辆把套双棵支"
"""Chinese words between a number and what is counted."""
QUERY_HAN = re.compile(
    rf"不需要|不[含用加放要带有]有?|没有?|含有?|用到|加了?|放了?|要|到|我们?|你们?|的|有|是|哪些|哪[{MEASURE_WORDS}家天次]|列出|所有|全部|多少|多[大长久高远重]|几[{MEASURE_WORDS}]|吗|呢|里面?|中|在|了|和|都|篇|个|本|部|笔记|记录|标签|带|给|过|写|记|一共|总共|还|想|需?要|能|会|既|又|也|但是?|而且|东西|地方|什么|请|找|看|家|用|买|去|做好?|吃|喝"
)
"""The same in a run of Chinese."""
BASE_WORDS = QUERY_WORDS | frozenset(
    "base bases view views table tables obsidian open display see contents content contain contains contained selected"
    " selection select look hold holds inside entries 这个 那个 视图 打开 看看 显示 什么 内容 里面 里有 里有哪些 里有什么 里面有哪些".split()
)
"""Words of a question that names a base, beside its name."""
BASE_FRAME_HAN = re.compile(
    r"^(?:请|帮我|给我|看看|看一下|列出|显示|打开|展示|的|这个|那个|里面|里|中|都|有|是|哪些|什么|多少|几|篇|笔记|内容|视图|吗|呢|我|一下|所有|全部|条|个|了)+$"
)
"""The same as a whole run of Chinese."""
ANSWER_STEMS = frozenset(
    "accord anyth anyon someth someon thing kind sort way exact actual current usual also still ever again alreadi get got need want like come came along"
    " put let say said call name list give do happen mention concern refer fix solv handl deal first last next new good best main import note one two question answer detail info inform item"
    " exampl possibl someon peopl time use go went gone do did done left jemand mal mr mrs ms dr herr frau sinc until till pick choos chose select chang decid keep look take took give gave think want ask tell bring own old big long short larg small more most less bigger longer shorter larger smaller cheaper fewer 少 多 大 小 长 短 做 要 能 会 用 放 加 让 把 被 给 到 个 一 里 上 下 中 后 前 时 来 去 叫 说 看 想 得 着 过 人 东西 事 号 最 没 还 但 不 进 出 发生 对 起 好 打".split()
)
"""Stems too general to be missed in an answer. They count where they occur."""
ANSWER_HAN = re.compile(
    rf"(?:需?要|得)(?:买|准备|备|用|放)(?=些?(?:哪|什么))|(?:发现|出现|提到)了?(?=哪|什么|多少)|一起|一次|之行|[上下]次|还[有剩](?=哪|什么|多少|几|没)|打了?(?=几分|多少分)|哪一?[年月天日周]|[几哪][次趟回项件]|几[点号月日年天个种星分岁]|什么时候|何时|多[久长大高重远少]时?间?|怎么(?:样|办|做|弄)?|如何|怎样|需要|应该|可以|一共|总共|大概|分别|具体|打算|处理|安排|解决|现在|目前|显示|出来|[这那][次些边{MEASURE_WORDS}]|家里|哪个更?|哪[家款位]"
)
"""What asks in Chinese, and no answer repeats."""
