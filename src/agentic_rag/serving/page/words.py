"""The page's texts, English and Chinese."""

from __future__ import annotations

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
        "A property, such as year>=2023, lang=zh or title~pasta; folder=…, tags=…; path=… for one note",
        "一个属性，例如 year>=2023、lang=zh 或 title~面；folder=…、tags=…；path=… 指一篇笔记",
    ),
    "submit": ("Ask", "提问"),
    "stop": ("Stop", "停止"),
    "stages": ("Progress", "进行到"),
    "prepare_query": ("question read", "读题"),
    "retrieve_graphiti": ("graph searched", "检索图谱"),
    "retrieve_lancedb": ("passages searched", "检索段落"),
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
    "skipped": ("skipped, and why", "跳过的文件及原因"),
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
    "continue": ("continues this conversation", "继续这段对话"),
    "new": ("A new conversation, which is kept", "开始一段保留的对话"),
}


def language_of(cookie: str | None, accepted: str) -> Language:
    """The language chosen on the page, else the best one of the browser's header."""
    if cookie in ("en", "zh"):
        return cookie  # type: ignore[return-value]
    return "zh" if accepted.strip().lower().startswith("zh") else "en"


def word(key: str, language: Language) -> str:
    """One of the page's texts; an unknown key is returned as it is."""
    found = WORDS.get(key)
    return key if found is None else found[language == "zh"]
