"""What the core says in English sentences, in Chinese: a template for each, whose values stay as they are."""

from __future__ import annotations

import re

from markupsafe import Markup

from agentic_rag_service.page.words import Language

SENTENCES = (
    # Why an answer is as it is: nodes, fusion, answering.
    (
        "the best of {count} results has relevance {best}: {grade}",
        "{count} 个结果中最高相关度 {best}（{grade}）",
    ),
    ("strong", "强"),
    ("weak", "弱"),
    ("none", "无"),
    ("no source found anything", "所有来源都没有找到内容"),
    ("trying other words", "换词再查"),
    ("a unit says all that is asked", "有一条笔记内容完整回答了问题"),
    ("no unit of the notes answers", "笔记里没有能回答的内容"),
    ("a question about many notes: {reading}", "这是关于许多笔记的问题：{reading}"),
    ("no note fits {reading}", "没有笔记符合 {reading}"),
    ("nearest: {reading}", "最接近的：{reading}"),
    ("the notes that are nearest do not speak of: {words}", "最接近的笔记没有提到：{words}"),
    ("no note of that time says anything about: {words}", "那段时间的笔记没有提到：{words}"),
    ("stopped: {count} of {most} rewrites tried", "已停止：改写 {count} 次，上限 {most} 次"),
    ("stopped: {seconds} s of {most} s are used", "已停止：用时 {seconds} 秒，上限 {most} 秒"),
    ("stopped: the question is empty", "已停止：问题是空的"),
    (
        "stopped: there is no relevant result to take other words from",
        "已停止：没有相关结果可以提供别的词",
    ),
    ("stopped: {count} results are enough to choose from", "已停止：{count} 个结果已足够"),
    (
        "{high} of {count} graph hits have relevance ≥ {floor}, {needed} needed",
        "图谱命中 {count} 条，其中 {high} 条相关度 ≥ {floor}，需要 {needed} 条",
    ),
    ("{count} carry no calibrated relevance", "{count} 条没有校准的相关度"),
    ("both sources' ranks count alike, times their weights", "两个来源的名次同等计算，再乘以权重"),
    ("normalised scores times weights", "归一化分数乘以权重"),
    ('"{words}" asks for {wanted}.', "“{words}”要的是{wanted}。"),
    ("questions that test you", "检验你的问题"),
    ("your own mistakes and weak points", "你自己的错误和薄弱点"),
    ("a passage or a fact of your notes", "笔记里的段落或事实"),
    ("how things are connected", "事物之间的关联"),
    (
        "No words ask for a test, for mistakes or for a connection, so passages are searched for.",
        "没有要求检验、错误或关联的词，所以检索段落。",
    ),
    ("no answer within {seconds} s", "{seconds} 秒内没有回应"),
    ("the chat model took more than {seconds} s", "聊天模型用时超过 {seconds} 秒"),
    ("{count} of {claims} statements left out: {why}", "{claims} 句中略去 {count} 句：{why}"),
    ("{count} without a citation, and no passage supports it", "{count} 句没有引用，也没有段落支持"),
    ("{count} with an amount that its passage does not have", "{count} 句的数量在段落里没有"),
    ("{count} against its passage", "{count} 句与段落相反"),
    ("{count} about something that its passage does not say", "{count} 句说了段落没有说的内容"),
    # Ingest.
    (
        "{count} of {all} documents are not ingested yet; if no ingest is running, run it again",
        "{all} 份文档中有 {count} 份尚未导入；如果没有正在进行的导入，请再导入一次",
    ),
    ("files of other kinds: {counts}", "其他类型的文件：{counts}"),
    ("{counts} without suffix", "{counts} 个无后缀"),
    ("OCR of pictures {need}", "识别图片文字{need}"),
    ("needs an extra: {command}", "需要附加组件：{command}"),
    ("the vault's folder of templates", "笔记库的模板文件夹"),
    ("Logseq's own folder", "Logseq 自己的文件夹"),
    ("its {counts} left out", "略去 {counts}"),
    ("1 file is", "1 个文件"),
    ("{count} files are", "{count} 个文件"),
    ("neither a file nor a folder", "既不是文件也不是文件夹"),
    ("Logseq's graph: {count} pages", "Logseq 的图谱：{count} 页"),
    ("Notion's export: {count} pages and databases", "Notion 的导出：{count} 个页面和数据库"),
    ("Evernote's notebook: {count} notes", "Evernote 的笔记本：{count} 篇笔记"),
    # Errors that a visitor causes.
    (
        "another job is ingesting into dataset {name}; wait for it, or cancel it",
        "另一项任务正在导入到笔记库 {name}；请等它结束，或取消它",
    ),
    ("the question is empty", "问题是空的"),
    # Health: what is examined, what was seen, and the cure.
    ("configuration", "配置"),
    ("data folder", "数据文件夹"),
    ("embedding", "嵌入模型"),
    ("vectors", "向量"),
    ("tables", "数据表"),
    ("datasets", "笔记库"),
    ("graph", "图谱"),
    ("conversations", "对话"),
    ("chat model", "聊天模型"),
    ("service, page, MCP, watch", "服务、网页、MCP、监视"),
    ("PDF and Office documents", "PDF 与 Office 文档"),
    ("pictures and scans of text", "图片与扫描文字"),
    ("cross-encoder", "交叉编码器"),
    ("vectors in PostgreSQL", "PostgreSQL 中的向量"),
    ("conversations in PostgreSQL", "PostgreSQL 中的对话"),
    ("charts", "图表"),
    ("installed", "已安装"),
    ("not installed", "未安装"),
    ("none yet", "还没有"),
    ("none configured; answers quote the notes", "未配置；回答直接引用笔记"),
    ("embedded, in the data folder", "内嵌，在数据文件夹中"),
    ("SQLite, in the data folder", "SQLite，在数据文件夹中"),
    ("not in the data folder", "不在数据文件夹中"),
    ("in {place}", "在 {place}"),
    ("{place} does not exist yet; the first ingest creates it", "{place} 还不存在；第一次导入时创建"),
    ("{place} is not writable", "{place} 不可写"),
    ("{place} cannot be read", "{place} 无法读取"),
    ("{model}, {count} dimensions", "{model}，{count} 维"),
    ("its relevance is calibrated", "相关度已校准"),
    ("its relevance is calibrated by reference pairs", "相关度按参照文本对校准"),
    ("it hardly tells related from unrelated {scripts} texts", "它难以区分 {scripts} 文本是否相关"),
    ("English", "英文"),
    ("Chinese", "中文"),
    ("English and Chinese", "中英文"),
    ("{model} at {address}", "{model}，位于 {address}"),
    (
        "an ingest or remove was interrupted: {count} documents pending, {names}",
        "导入或清空中断：{count} 篇文档未完成，{names}",
    ),
    ("set {first} and {second}", "设置 {first} 和 {second}"),
    ("{command}, in the clone of agentic-rag", "{command}（在 agentic-rag 的代码目录中）"),
    ("run the same command again", "再次运行同一命令"),
    ("start the server, or correct {setting}", "启动服务器，或改正 {setting}"),
    ("correct the setting that it names", "改正其中提到的设置"),
    ("correct what the message names", "改正其中提到的问题"),
    ("install {what}", "安装 {what}"),
    ("{name} ({count} chunks)", "{name}（{count} 段）"),
)
"""English and Chinese; a value in braces is taken over, itself translated if it is one of these sentences."""
_VALUE = re.compile(r"\\\{(\w+)\\\}")
_FORMS = {
    **dict.fromkeys(("count", "most", "seconds", "best", "high", "floor", "needed", "claims"), r"[\d.]+"),
    **dict.fromkeys(("model", "address", "setting", "first", "second", "name"), r"\S+"),
    "place": r"\S+|/.+",
}
"""Values that are numbers or one word; any other is a text."""
_SPLIT = "; "


def _pattern(english: str) -> re.Pattern[str]:
    return re.compile(
        _VALUE.sub(lambda value: f"(?P<{value[1]}>{_FORMS.get(value[1], '.+')})", re.escape(english)),
        re.DOTALL,
    )


_PATTERNS = tuple((_pattern(english), chinese) for english, chinese in SENTENCES)


def in_chinese(text: str) -> str | None:
    """The Chinese of a sentence, or of sentences with a semicolon between them; None if one is not known.

    >>> in_chinese("the best of 9 results has relevance 0.65: strong")
    '9 个结果中最高相关度 0.65（强）'
    """
    for pattern, chinese in _PATTERNS:
        if found := pattern.fullmatch(text):
            values = {name: in_chinese(value) or value for name, value in found.groupdict().items()}
            return chinese.format(**values)
    head, mark, rest = text.partition(_SPLIT)
    if not mark:
        return None
    first = in_chinese(head)
    others = None if first is None else in_chinese(rest)
    return None if others is None else f"{first}；{others}"


def in_words(text: str, language: Language) -> str | Markup:
    """A text of the core in the page's language; what has no Chinese is marked as English."""
    if language == "en" or not re.search("[A-Za-z]{2}", text):
        return text
    known = in_chinese(text)
    return Markup('<span lang="en">{}</span>').format(text) if known is None else known
