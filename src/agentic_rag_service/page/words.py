"""The page's texts, English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

Language = Literal["en", "zh"]
WORDS: Mapping[str, tuple[str, str]] = {
    "ask": ("Ask", "提问"),
    "datasets": ("Notes", "笔记"),
    "conversations": ("Conversations", "对话"),
    "learn": ("Learn", "学习"),
    "health": ("Health", "状态"),
    "skip": ("Skip to the content", "跳到正文"),
    "theme": ("Light or dark", "明暗"),
    "language": ("中文", "English"),
    "question": ("Your question", "你的问题"),
    "question_hint": ("What do you want to know from your notes?", "想从笔记里知道什么？"),
    "dataset": ("Notes to ask", "笔记库"),
    "operation": ("Purpose", "用途"),
    "auto": ("chosen from the question", "由问题决定"),
    "verification_canvas": ("test myself", "检验白板"),
    "weak_point_clustering": ("find weak points", "薄弱点聚类"),
    "concept_relation": ("connect concepts", "概念关联"),
    "document_retrieval": ("find the passage", "文档检索"),
    "as_of": ("As of", "截至"),
    "as_of_hint": ("What was known then; empty: now", "当时已知的内容；空着：现在"),
    "filter": ("Only notes with", "只问这样的笔记"),
    "filter_hint": (
        "A property a line, such as year>=2023, lang=zh or title~pasta; folder=…, tags=…; path=… for one note",
        "每行一个属性，例如 year>=2023、lang=zh 或 title~面；folder=…、tags=…；path=… 指一篇笔记",
    ),
    "read_as": ("Read as", "理解为"),
    "use_filter": ("Use as filter", "用作筛选条件"),
    "carried": ("Completed from the conversation", "由对话补全"),
    "base_download": ("Keep as Base", "存为 Base"),
    "base_hint": (
        "Downloads a .base file; in the vault, Obsidian shows these notes from their properties",
        "下载 .base 文件；放进笔记库后，Obsidian 按属性显示这些笔记",
    ),
    "schema": ("What the notes state", "笔记里写了什么"),
    "properties": ("property", "属性"),
    "entries": ("property of list items and rows", "列表项与表格行的属性"),
    "type": ("type", "类型"),
    "values": ("values", "值"),
    "tags": ("tags", "标签"),
    "folders": ("folders", "文件夹"),
    "tasks": ("tasks", "任务"),
    "text": ("text", "文本"),
    "number": ("number", "数字"),
    "date": ("date", "日期"),
    "boolean": ("yes or no", "是或否"),
    "link": ("link", "链接"),
    "submit": ("Ask", "提问"),
    "stop": ("Stop", "停止"),
    "stages": ("Progress", "进行到"),
    "prepare_query": ("question read", "读题"),
    "retrieve_graphiti": ("graph searched", "检索图谱"),
    "retrieve_lancedb": ("passages searched", "检索段落"),
    "agent": ("searched by the agent", "智能体检索"),
    "select_notes": ("notes selected", "筛选笔记"),
    "retrieve_memory": ("memories searched", "检索记忆"),
    "fuse_results": ("fused", "融合"),
    "rerank": ("reranked", "重排"),
    "check_quality": ("checked", "自检"),
    "rewrite_query": ("question rewritten", "改写"),
    "answer_node": ("answered", "作答"),
    "answer": ("Answer", "回答"),
    "sources": ("Sources", "出处"),
    "why": ("Why these results", "为什么是这些结果"),
    "facts": ("Facts used", "用到的事实"),
    "facts_show": ("Draw the facts", "画出事实"),
    "facts_at": ("valid on", "在此日有效"),
    "board": ("Board", "白板"),
    "board_draw": ("Draw as a board", "画成白板"),
    "board_save": ("Save into the vault", "存入笔记库"),
    "board_path": ("File beneath a root", "根目录下的文件"),
    "board_download": ("Download the board", "下载白板"),
    "board_saved": ("saved", "已保存"),
    "open_note": ("Note", "原文"),
    "open_obsidian": ("open in Obsidian", "在 Obsidian 中打开"),
    "part": ("Too long to show in full: this is a part.", "太长，只显示一部分。"),
    "whole": ("Full text", "全文"),
    "close": ("Close", "关闭"),
    "show_answer": ("Show the answer", "看答案"),
    "result": ("result", "结果"),
    "score": ("relevance", "相关度"),
    "rank": ("rank", "名次"),
    "graphiti": ("graph", "图谱"),
    "lancedb": ("passages", "段落"),
    "memory": ("memory", "记忆"),
    "degraded": ("degraded", "降级"),
    "partial": ("in part", "部分略去"),
    "nothing": ("Nothing here yet.", "这里还没有内容。"),
    "drop": ("Drop a folder of notes here", "把笔记文件夹拖到这里"),
    "drop_hint": (
        "A copy is uploaded; boards made from it are downloaded.",
        "会上传一份副本；由它做出的白板以下载方式取回。",
    ),
    "choose": ("or choose a folder", "或选择文件夹"),
    "path": ("or name a folder of this machine", "或写出本机文件夹"),
    "ingest": ("Ingest", "导入"),
    "into": ("into", "导入到"),
    "holds": ("documents, chunks, entities, facts", "文档、段落、实体、事实"),
    "cancel": ("Cancel", "取消"),
    "running": ("running", "进行中"),
    "done": ("done", "完成"),
    "failed": ("failed", "失败"),
    "cancelled": ("cancelled", "已取消"),
    "delete": ("Delete", "删除"),
    "delete_sure": ("Delete this for good?", "确定删除？"),
    "remove_sure": ("Remove all notes from this dataset? The files stay.", "清空这个笔记库？文件不受影响。"),
    "due": ("Due for review", "到期复习"),
    "check": ("Check a board", "批改白板"),
    "check_go": ("Check", "批改"),
    "right": ("right", "对"),
    "partly": ("partly", "部分对"),
    "wrong": ("wrong", "错"),
    "empty": ("not answered", "未作答"),
    "expected": ("the notes say", "笔记里写"),
    "login": ("Your API key", "你的 API 密钥"),
    "enter": ("Enter", "进入"),
    "no_roots": (
        "The page may not read any folder of this machine; start the service with --root FOLDER.",
        "没有向页面开放的本机文件夹；请用 --root FOLDER 启动。",
    ),
    "seconds": ("s", "秒"),
    "new": ("New conversation", "新对话"),
    "keys": ("Enter asks, Shift+Enter begins a new line", "回车提问，Shift+回车换行"),
    "all_well": ("Everything that is needed answers.", "一切正常。"),
    "in_order": ("What is in order", "正常的部分"),
    "ok": ("ok", "正常"),
    "off": ("off", "未启用"),
    "missing": ("missing", "有问题"),
    "ms": ("ms", "毫秒"),
    "tier": ("tier", "层级"),
    "rrf": ("rrf", "倒数名次融合"),
    "cascade": ("cascade", "级联"),
    "weighted_graphiti": ("weighted_graphiti", "加权，偏图谱"),
    "weighted_lancedb": ("weighted_lancedb", "加权，偏段落"),
    "rewrite": ("rewrite", "改写"),
    "selection": ("selection", "筛选笔记"),
    "added": ("added", "新增"),
    "changed": ("changed", "更新"),
    "unchanged": ("unchanged", "未变"),
    "relinked": ("relinked", "重新链接"),
    "removed": ("removed", "移除"),
    "recognised": ("recognised", "识别出的导出"),
    "skipped": ("skipped", "跳过"),
    "skipped_why": ("skipped, and why", "跳过的文件及原因"),
    "remarks": ("read, with remarks", "已读入，但有说明"),
    "read": ("reading", "读取"),
    "store": ("storing", "写入"),
    "older": ("Older conversations", "更早的对话"),
    "lost": ("The service does not answer.", "服务没有回应。"),
    "error": ("Error", "没有做成"),
    "error_UnknownDataset": ("There is no such dataset", "没有这个笔记库"),
    "error_InputError": ("The input is wrong", "输入有误"),
    "error_invalid_request": ("The input is wrong", "输入有误"),
    "error_AccessRefusal": ("Refused", "没有权限"),
    "error_StoreLocked": ("Another job is writing", "另一项任务正在写入"),
    "error_Busy": ("The service is busy", "服务正忙"),
    "error_TooLate": ("No answer in time", "没有及时得到回答"),
    "error_TooLarge": ("Too large", "太大"),
    "error_AllSourcesFailed": ("No source can be searched", "没有可以检索的来源"),
    "error_ModelError": ("A model failed", "模型出错"),
    "error_StoreAway": ("A store cannot be reached", "存储无法连接"),
    "error_internal": ("The service failed", "服务出错"),
}

RELATIONS = {
    "LINKS_TO": "链接到",
    "MENTIONS": "提到",
    "CONTAINS": "包含",
    "HAS_TAG": "有标签",
    "TALKS_ABOUT": "谈到",
}
"""Relations that the ingest names, in Chinese; the others are the words of the notes."""


def language_of(cookie: str | None, accept_language: str) -> Language:
    """The language chosen on the page, else the best one of the browser's header."""
    if cookie in ("en", "zh"):
        return cookie  # type: ignore[return-value]
    return "zh" if accept_language.strip().lower().startswith("zh") else "en"


def word(key: str, language: Language) -> str:
    """One of the page's texts; an unknown key is returned as it is."""
    found = WORDS.get(key)
    return key if found is None else found[language == "zh"]


def relation(name: str, language: Language) -> str:
    """The relation of a fact as words."""
    words = name.replace("_", " ").lower()
    return RELATIONS.get(name, words) if language == "zh" else words


def list_in_words(text: str, language: Language) -> str:
    """A list of values as ``schema_text`` makes it, with its end in the page's language."""
    return re.sub(r", and (\d+) more\Z", r"，另有 \1 项", text) if language == "zh" else text
