"""Words that name nothing by themselves, for telling names from other words; data only."""

from __future__ import annotations


def _words(word_list: str) -> frozenset[str]:
    return frozenset(word_list.split())


FUNCTION_WORDS = _words(
    """a about above across after again against ago all almost alone along already also although always am among
    an and another any anybody anyone anything anyway are aren't around as at away back be because been before
    behind being below beneath beside besides between beyond both but by can can't cannot could couldn't despite
    did didn't do does doesn't doing don't down during each either else enough even ever every everybody everyone
    everything few for from further had hadn't has hasn't have haven't having he he'd he'll he's hence her here
    here's hers herself him himself his how how's however i i'd i'll i'm i've if in indeed inside instead into is
    isn't it it'd it'll it's its itself just last later least less let let's like likewise many may maybe me
    meanwhile might mine more moreover most much must my myself near nearly neither never nevertheless next no
    nobody none nonetheless nor not nothing now nowadays of off often oh on once one ones only onto or other others
    otherwise our ours ourselves out outside over own per perhaps quite rather really same several shall she she'd
    she'll she's should shouldn't since so some somebody someone something sometimes somewhere soon still such
    than that that'll that's the their theirs them themselves then there there's thereafter therefore these they
    they'd they'll they're they've this those though through throughout thus till to together too toward towards
    under unless unlike until up upon us usually very via was wasn't we we'd we'll we're we've well were weren't
    what what's whatever when when's whenever where where's whereas wherever whether which while who who's whoever
    whole whom whose why why's will with within without won't would wouldn't yes yet you you'd you'll you're you've
    your yours yourself yourselves"""
)

OPENING_WORDS = _words(
    """absolutely according actually add additionally aims allow amazing apparently apply ask awesome bad based
    basically best better big bring briefly build buy bye call certainly change check choose clearly click close
    come compare compared congrats congratulations consequently consider contact continue cool copy create
    currently cute damn dear decide define definitely delete depending describe different discover download
    drag due early easy edit eight enable ensure enjoy especially essentially eventually every exactly example
    excellent exciting explain explore false fantastic feel finally find fine first five follow following
    four fortunately fun fundamentally furthermore generally get give given glad go god good gonna good-bye
    gotcha great guess guys ha haha happy hard hello help here hey hi historically hmm hooray hope hopefully
    huge hurry imagine important impressive incidentally include included includes including incredible initially
    install interesting interestingly join keep kinda know known late lately later learn leave likely limited
    list listen little located long look looks lots love lovely lucky make man mainly mean mind mom mostly move
    named namely neat need new nice nine notably note nope number obviously occasionally ok okay old omg open
    originally overall paste personally phew plan play please plus possible possibly practice preferably press
    previously probably proud provide put question read recently regarding regardless remember remove rename
    replace reportedly respect restart right run sadly save say second see seems select send set seven
    share short show similarly simply six small soon sorry sounds special specifically speaking start stay step
    stop strangely subsequently super sure surely surprisingly switch take talk tell ten thank thankfully thanks
    third thinking three tip tips true truly try turn two typically ultimately understand unfortunately unlike
    update upload use used useful using view visit wait wanna want warning watch way welcome who whoa wish
    wonderful wondering wooh woohoo woah aw aww nah alright cheers yess hah hehe hiya anytime appreciate same true
    work working wow write yay yeah yep yo yup zero
    answer answers caption dad grandma grandpa image mama momma mum papa photo photos picture pic pics video"""
)

CALENDAR_WORDS = _words(
    """january february march april may june july august september october november december jan feb mar apr jun
    jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu
    thur thurs fri sat sun today tomorrow yesterday tonight spring summer autumn fall winter morning afternoon
    evening night noon midnight week month year weekend am pm a.m p.m ad bc bce ce"""
)

GENERIC_TITLES = _words(
    """about abstract agenda alias aliases appendix archive article attachments author background basics book
    books bookmarks brainstorm card cards changelog chapter chapters class code concept concepts conclusion
    conclusions config contact contents contributing course courses credits daily dashboard data definition
    definitions demo description design diary discussion docs document documents draft drafts entry event events
    exam exercise exercises faq features feedback film films folder general glossary goal goals group guide
    history home homepage ideas image images inbox index info information installation instructions introduction
    issues item items journal language learning lecture lesson lessons license life link links list lists live
    log main manual media meeting meetings memo menu method methods minutes misc miscellaneous moc name names
    news note notes number options other others outline overview page pages paper papers part people person
    place places plan plans plugin plugins post posts preface problem problems progress project projects
    properties question questions quiz quote quotes readme reading recipe recipes reference references release
    reminder report reports research resources results review reviews schedule search section series session
    sessions settings sketch song source sources start story study subject summary support sync system table
    tag tags task tasks template templates test testing tests text thing things thoughts time timeline tips title
    tools todo topic topics travel tutorial tutorials types untitled update updates usage user users version
    video videos vocabulary welcome wiki word words work world writing
    概述 概要 总结 小结 简介 介绍 引言 前言 目录 索引 首页 主页 笔记 日记 日志 参考 参考资料 参考文献 附录 备注 说明
    例子 示例 例题 练习 问题 答案 要点 重点 结论 背景 定义 概念 方法 步骤 内容 其他 其它 待办 任务 计划 模板 资料 资源
    课程 作业 复习 考试 错题 相关 相关链接 链接 来源 标签 更新 未命名 无标题 见 也 目標 まとめ はじめに 概説 メモ"""
)
"""Titles of notes and headings that would match everywhere, or name no subject."""

HAN_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭"
    "陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温庞樊葛邢安齐伍殷颜倪庄聂"
    "章鲁岳翟申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂成苗谷盛曲翁冉骆蓝路游辛靳管柴蒙鲍华喻祁蒲房滕屈饶"
    "解牟艾尤阳时穆农司卓古吉缪简车项连芦麦褚娄窦戚岑景党宫费卜冷晏席卫米柏宗瞿桂全佟应臧闵苟邬边卞姬师和仇栾隋商刁沙荣"
    "巫寇桑郎甄丛仲虞敖巩明佘池查麻苑迟邝官封谈匡鞠惠荆乐冀郁胥南班储原燕楚鄢劳谌奚皮粟冼蔺楼盘满闻位厉伊仝區劉張陳楊黃"
    "趙吳孫馬鄭謝許韓馮鄧葉蘇魏呂盧鍾譚陸賈韋鄒閻龍賀顧龔邵萬錢嚴湯龐齊顏莊聶魯歐關蘭寧紀單塗駱藍賴饒農簡項連麥婁竇閔"
)

HAN_COMMON = _words(
    """城市 城镇 和平 胜利 幸福 光明 解放 黄金 高山 大同 团结 东方 西方 南方 北方 中央 国际 世界 太阳 月亮 地球 家族 上市 二世
    成功 明白 高兴 文明 安全 和谐 美好 平安 自然 时代 新生 友谊 先锋 本地 当地 内地 外地 华人 汉字 金属 钻石 白金 英雄 史诗 成员国
    方向 方面 方式 方便 方才 方法 任何 任务 任意 任性 高度 高级 高温 高速 高中 温度 温和 时间 时候 时期 时刻 时常 常见 常常 严重 严格
    平均 平时 平衡 平台 和尚 强度 强调 明显 明确 明天 明年 成为 成本 成分 安排 安静 应该 应用 应当 于是 关于 由于 对于 连接 连续 党员
    万一 万元 单位 单独 单一 白色 金色 黄色 蓝色 项目 顾客 毛病 雷达 水平 路线 古代 古典 施工 管理 解决 解释 简单 简易 全部 全球 封面"""
)
"""Words the dictionary takes for places, brands or persons."""

CONNECTORS = _words(
    "of the & de del della di da do dos das des du van von der den ten ter zu y la le las los al el bin ibn ben"
)
"""Small words inside a name ("Duke of York")."""
ABBREVIATIONS = _words("dr mr mrs ms prof st sr jr gen col capt lt sgt rev hon mt ft no vs")
EVENTS = _words(
    """cup olympics games championship championships season election elections tour conference festival awards
    league series final open"""
)
"""What a year in front belongs to ("2008 Summer Olympics")."""
OPENING_TIMES = _words(
    "today tomorrow yesterday tonight spring summer autumn fall winter morning evening night week hour day"
)
PLAIN_CAPS = _words("i a ok tv am pm lol omg btw fyi imo todo faq id url etc ps diy asap nb eg ie us")
HAN_TAILS = _words(
    """大学 学院 中学 小学 公司 集团 银行 医院 研究所 研究院 协会 委员会 组织 联盟 基金会 博物馆 图书馆 出版社 杂志 日报 电视台
    政府 法院 机场 车站 大桥 广场 公园 寺 山 河 江 湖 海 岛 省 市 县 区 镇 村 路 街 战争 战役 事件 事变 运动 革命 条约 协定 会议
    奖 杯 主义 理论 定理 定律 效应 算法 方程 模型 法 茶 酒 菜 戏 剧 族 语 文 朝 帝 王"""
)
"""Words for a kind that end a name ("武夷" + "山")."""

NO_NAME_KEYS = _words(
    """aliases alias tags tag title cssclass cssclasses id uid uuid url link source permalink publish description
    summary date created updated modified published last day time status state type kind priority rating icon
    image cover banner color layout lang language version valid_from valid_until from until start end due
    标题 别名 标签 日期 创建 更新 状态 类型 优先级 描述 摘要 语言 版本"""
)
"""Properties whose value names nothing."""
NAMING_KEYS = _words(
    """author authors creator director artist publisher place location city country people person speaker teacher
    parent up related topic topics subject series project company organization organisation member members
    作者 人物 地点 产地 城市 国家 主题 朝代 出处 公司 组织 老师 导师 相关"""
)
"""Properties under which one capitalised word is a name ("author: Plato")."""
