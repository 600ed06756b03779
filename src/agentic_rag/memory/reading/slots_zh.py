"""Slots that a Chinese clause fills or ends; the same slots as in English, under the same names."""

from __future__ import annotations

from collections.abc import Iterator

import regex

from agentic_rag.ingest.facts.han_names import is_place_name
from agentic_rag.ingest.facts.stopwords import HAN_SURNAMES
from agentic_rag.memory.reading.likings import LIKINGS_ZH, ONCE, PRONOUNS
from agentic_rag.memory.reading.schemas import AGE, EMPLOYER, JOB, LIKING, LIVES_IN, NAME
from agentic_rag.memory.reading.slots import SlotStatement

_TIME = r"(?:今年|去年|前年|上周|上个?月|上星期|昨天|前天|今天|最近|现在|目前|如今|已经|已|刚刚?|终于|一直|仍然|依然|还是|还|又|正式|\d{4}年(?:\d{1,2}月)?(?:\d{1,2}[日号])?|\d{1,2}月(?:\d{1,2}[日号])?|[\d一二两三四五六七八九十几]+(?:天|周|个月|年)前)"
LEAD_ZH = regex.compile(
    rf"(?:(?:其实|对了|另外|还有|嗯|好的|好|你好|更新一下|更正一下|顺便说一?下?|因为|由于|既然|而且|不过|但是?|所以|请记住|记住|从{_TIME}(?:起|开始)|{_TIME})[，,：: ]*)*"
)
_RELATIVE = r"(?:姐姐?|哥哥?|妹妹?|弟弟?|妈妈?|爸爸?|母亲|父亲|妻子|老婆|太太|丈夫|老公|儿子|女儿|女朋友|男朋友|女友|男友|朋友|同事|老板|经理|室友|邻居|爷爷|奶奶|外公|外婆|叔叔|阿姨|表哥|表姐|堂弟|同学|老师)"
_ONE_OF_MANY = frozenset("朋友 同事 邻居 同学 老师 叔叔 阿姨 表哥 表姐 堂弟 室友".split())
_SUBJECT = regex.compile(
    rf"(?:我们(?P<we>)|我的?(?P<relative>{_RELATIVE})|我(?P<first>)|(?P<named>(?P<family>[\p{{Han}}])[\p{{Han}}]{{1,2}}?)(?=的|{_TIME}|在|住|搬|从|不|没|辞|离|结|今年|是))"
)
_END = r"(?=了|$|[\s，。；、,;！!（(]|生活|工作|上班|已经|快|这边|那边)"
_PLACE = rf"(?P<value>(?![^，。]{{0,6}}(?:家|房|楼|公司|宿舍|隔壁|附近|学校|外面|别的|一起|这|那|一个|一座|一间))[\p{{Han}}\p{{Latin}}·]{{2,10}}?){_END}"
_TOWN = r"(?P<value>[\p{Han}\p{Latin}·]{2,10}?)"
"""A place that the words around it do not tell from another noun, so that it is taken only if it is known as one."""
_ORG = r"(?P<value>(?![家这那哪外楼]|公司|学校|一家|一个)[\p{Han}\p{Latin}\d·&]{2,14}?)"
_PROFESSION = r"(?P<value>[\p{Han}]{0,6}?(?:工程师|程序员|医生|护士|老师|教师|律师|设计师|会计师?|经理|厨师|司机|记者|教授|研究员|分析师|建筑师|药剂师|翻译|编辑|顾问|总监))(?=了?$|[，。])"
_TOWN_NAME = regex.compile(
    r"(?:北京|上海|广州|深圳|杭州|南京|苏州|成都|重庆|武汉|西安|天津|长沙|青岛|大连|厦门|郑州|济南|合肥|福州|昆明|沈阳|哈尔滨|长春|石家庄|太原|南昌|南宁|贵阳|海口|兰州|银川|西宁|拉萨|乌鲁木齐|呼和浩特"
    r"|宁波|无锡|东莞|佛山|珠海|香港|澳门|台北|东京|大阪|首尔|新加坡|伦敦|巴黎|柏林|纽约|洛杉矶|旧金山|西雅图|波士顿|悉尼|墨尔本|多伦多|温哥华|奥斯陆|卑尔根|罗马|马德里|莫斯科"
    r"|中国|日本|韩国|美国|英国|法国|德国|加拿大|澳大利亚|挪威|瑞典|国内|国外|海外|[\p{Han}]+[市省县区国镇州])"
)
_NOW = rf"{_TIME}*"
_MARITAL = {"结婚": "已婚", "离婚": "离异", "订婚": "订婚", "单身": "单身", "已婚": "已婚", "未婚": "未婚", "离异": "离异"}  # fmt: skip

_RULES: tuple[tuple[str, bool, regex.Pattern[str]], ...] = tuple(
    (slot, ends, regex.compile(pattern))
    for slot, ends, pattern in (
        (LIVES_IN, False, rf"{_NOW}(?:住在|居住在|定居在|定居于|住到|住进){_PLACE}"),
        (LIVES_IN, False, rf"{_NOW}(?:从[\p{{Han}}\p{{Latin}}·]{{2,10}}?)?(?:搬家?|迁居?|移居)(?:到|去|至|回到?|往)了?{_PLACE}"),
        (LIVES_IN, False, rf"(?:的|把)?家{_NOW}就?(?:搬到?|安)?在?了?{_TOWN}了?$"),
        (LIVES_IN, False, rf"{_NOW}在{_TOWN}(?:(?:租|合租)了?(?:[一两]?[间套个])?(?:公寓|单间|房子?)住?|租住|定居|落户|安了?家)了?$"),
        (LIVES_IN, False, rf"{_NOW}(?:定居|落户|租住在?|住)了?{_TOWN}了?$"),
        (LIVES_IN, True, rf"{_NOW}(?:不再|不|没有?|没再)(?:住|居住)在?{_PLACE}"),
        (LIVES_IN, True, rf"{_NOW}(?:搬离|搬出)了?{_PLACE}"),
        (EMPLOYER, False, rf"{_NOW}(?:在|去)了?{_ORG}(?:公司)?(?:工作|上班|任职|就职)(?=了?$|[，。])"),
        (EMPLOYER, False, rf"{_NOW}(?:入职|跳槽到|跳槽去)了?{_ORG}(?=了?$|[，。])"),
        (EMPLOYER, True, rf"{_NOW}(?:不再|不|没有?|没再)在{_ORG}(?:公司)?(?:工作|上班|任职|就职)"),
        (EMPLOYER, True, rf"{_NOW}从{_ORG}(?:公司)?(?:辞职|离职|离开)"),
        (EMPLOYER, True, rf"{_NOW}(?:辞职|离职|失业|退休|被裁员?)(?:了|$)(?P<value>)"),
        (JOB, False, rf"{_NOW}是(?:一[名个位])?{_PROFESSION}"),
        (JOB, False, rf"{_NOW}(?:升职?[为到成]|升任|当上了?|转行做了?|成为了?){_PROFESSION}"),
        (JOB, True, rf"{_NOW}不(?:再)?是(?:一[名个位])?{_PROFESSION}"),
        (NAME, False, r"(?:的?名字)?(?:叫做?|改名叫|改名为)(?P<value>(?!.*[他她你它我们去来做把了])[\p{Han}·]{2,5}|[\p{Latin}]+(?:\s\p{Latin}+)?)$"),
        (AGE, False, rf"{_NOW}(?:满)?(?P<value>\d{{1,3}})岁了?$"),
        ("marital status", False, rf"{_NOW}(?P<value>结婚|离婚|订婚|单身|已婚|未婚|离异)了?$"),
    )
)  # fmt: skip
_VERB = rf"{_NOW}(?:变成|改成|改为|变为|改到|涨到|降到|提高到|降低到|推迟到|提前到|延期到|延长到|增加到|减少到|调整[为到]|是|为|叫)了?(?P<changes>)"
_ATTRIBUTES: tuple[tuple[str, regex.Pattern[str]], ...] = tuple(
    (rule, regex.compile(pattern))
    for rule, pattern in (
        ("favourite", rf"的?(?P<slot>最(?:喜欢|爱)的[\p{{Han}}]{{1,6}}?){_VERB}(?P<value>[^，。；]{{1,20}})$"),
        ("name of family", rf"[的家]*(?P<slot>(?:狗狗?|猫咪?|宠物|女儿|儿子|妻子|老婆|丈夫|老公|女朋友|男朋友)(?:的名字)?){_NOW}(?:叫|改名叫|改名为|的名字是)(?P<value>[\p{{Han}}\p{{Latin}}]{{1,8}})$"),
        ("e-mail", r"的?(?P<slot>(?:工作|个人|私人|公司)?(?:邮箱|电子邮件|邮件地址))" + _VERB + r"\s*(?P<value>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"),
        ("phone number", r"的?(?P<slot>(?:工作|个人|家庭)?(?:手机号码?|电话号码|电话))" + _VERB + r"\s*(?P<value>\+?\d[\d -]{4,18}\d)"),
        ("address", r"的?(?P<slot>(?:家庭|公司|工作)?(?:地址|住址))" + _VERB + r"(?P<value>(?=[^。]*[\d\p{Han}])[^，。；]{4,40})$"),
        ("person", r"的?(?P<slot>老板|经理|上司|主管|导师|医生|牙医|房东)" + _VERB + r"(?P<value>[\p{Han}]{2,4}|\p{Lu}[\p{Latin} ]{1,30})$"),
        ("measure", rf"的?(?P<slot>(?:[^，。；的]{{1,16}}的)?[\p{{Han}}]{{0,6}}?(?:截止日期|截止时间|预算|房租|工资|薪水|体重|身高|生日|目标体重|发布日期|上线日期|交付日期)){_VERB}(?P<value>[^，。；]{{0,6}}[\d一二三四五六七八九十百千万][^，。；]{{0,16}})$"),
    )
)  # fmt: skip
_THING = regex.compile(
    r"(?P<slot>(?!我|你|他|她|它|这|那|如果|谁|要是)[^，。；的\s]{2,16}的(?:截止日期|截止时间|预算|发布日期|上线日期|交付日期|价格))"
    + _VERB
    + r"(?P<value>[^，。；]{0,6}[\d一二三四五六七八九十百千万][^，。；]{0,16})$"
)
_GUARD = regex.compile(
    r"[想梦]|打算|准备|计划|可能|也许|大概|如果|要是|希望|考虑|或者|曾|以前|之前|原来|差点|几乎|暂时|临时|假装|据说|听说|兼职|将|会(?!计)|就好了|也在|不一定|应该|本来"
)
_NOT_NAMED = regex.compile(
    r"[我你他她它们这那谁哪不没想要会如果可能都就也还再今昨每从在有是和把被让叫给跟对的了]"
)


def filled_zh(clause: str, speaker: str) -> list[SlotStatement]:
    """The statements of an asserted Chinese clause about slots; see ``slots.slot_statements``."""
    lead = LEAD_ZH.match(clause)
    start = lead.end() if lead is not None else 0
    bare = clause.rstrip("。！!.，,")
    if _GUARD.search(clause):
        return [one for one in _slot_statements(bare, start, speaker) if one.value == ONCE]
    return list(_slot_statements(bare, start, speaker))


def _slot_statements(clause: str, start: int, speaker: str) -> Iterator[SlotStatement]:
    thing = _THING.match(clause, start)
    if thing is not None:
        yield SlotStatement(speaker, thing["slot"], thing["value"].strip(), False, "measure")
        return
    subject = _SUBJECT.match(clause, start)
    if subject is None:
        # "现在不喜欢了" leaves out both the person and the thing.
        yield from (one for one in _liking(clause, start, speaker) if one.slot in PRONOUNS)
        return
    if subject["relative"]:
        own = _attribute(clause, subject.start("relative"), speaker)
        if own is not None:
            yield own
            return
    who = _who(subject, speaker)
    if who is None:
        return
    attribute = _attribute(clause, subject.end(), who)
    if attribute is not None:
        yield attribute
        return
    yield from _predicate(clause, subject.end(), who, we=subject["we"] is not None)


def _who(match: regex.Match[str], speaker: str) -> str | None:
    if match["relative"]:
        return None if match["relative"] in _ONE_OF_MANY else f"{speaker}的{match['relative']}"
    if match["first"] is not None or match["we"] is not None:
        return speaker
    named = str(match["named"])
    surname = match["family"] in HAN_SURNAMES or match["family"] in "小老阿"
    return named if surname and not _NOT_NAMED.search(named) else None


def _attribute(clause: str, at: int, who: str) -> SlotStatement | None:
    for rule, pattern in _ATTRIBUTES:
        found = pattern.match(clause, at)
        if found is not None and not found["value"].startswith(tuple("不没得着什怎我你他她")):
            slot = found["slot"].removesuffix("的名字") + ("的名字" if rule == "name of family" else "")
            return SlotStatement(who, slot, found["value"].strip().removesuffix("了"), False, rule)
    return None


def _predicate(clause: str, at: int, who: str, *, we: bool) -> Iterator[SlotStatement]:
    liking = [] if we else list(_liking(clause, at, who))
    yield from liking
    if liking:
        return
    for slot, ends, pattern in _RULES:
        found = pattern.match(clause, at)
        if found is None or (we and slot != LIVES_IN):
            continue
        value = found["value"]
        is_town = _TOWN_NAME.fullmatch(value) is not None
        if is_town and slot == EMPLOYER:
            continue
        if _TOWN in pattern.pattern and not (is_town or is_place_name(value)):
            continue
        yield SlotStatement(who, slot, _MARITAL.get(value, value), ends, slot)
        if slot == EMPLOYER and ends and not value:
            yield SlotStatement(who, JOB, "", True, slot)
        return


def _liking(clause: str, at: int, who: str) -> Iterator[SlotStatement]:
    for sign, ends, pattern in LIKINGS_ZH:
        found = pattern.match(clause, at)
        if found is not None:
            slot = PRONOUNS[0] if found["value"] is None else f"{LIKING} {found['value']}"
            yield SlotStatement(who, slot, sign, ends, LIKING)
            return
