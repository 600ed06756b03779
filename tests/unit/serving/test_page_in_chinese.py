"""The page in Chinese, in each of its states: no English is left but names, code, paths and quotes of the core."""

from __future__ import annotations

import ast
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request

import agentic_rag
from agentic_rag import RagConfig, errors
from agentic_rag.answer import Step
from agentic_rag.diagnosis import Finding
from agentic_rag_service import access, limits
from agentic_rag_service.page import routes
from agentic_rag_service.page.sentences import SENTENCES, in_chinese
from agentic_rag_service.page.words import WORDS
from service_server import called_service, ended

ALLOWED = re.compile(
    r"agentic-rag|AGENTIC_RAG_\w+|English|default|API|JSON|Base|Obsidian|Shift\S*|title~面|pip|http\S*|\S*[/.=:]\S*|"
    r"lang|zh|install|multilingual-\S+|Logseq|MCP|PDF|Office|PostgreSQL|SQLite|Kettle|copper|year|--root|FOLDER|\d\S*"
)
"""Names, code and paths; and the words of the notes of these tests."""
VOID = {"meta", "link", "img", "input", "br"}
SPOKEN = {"title", "placeholder", "aria-label", "alt", "value", "hx-confirm", "data-lost"}


class _Text(HTMLParser):
    """Texts of a page, and apart those that are marked as English."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.quotes: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("type") not in ("hidden", "range", "date") and tag not in ("option", "progress", "li"):
            self.texts += [value for key, value in attrs if key in SPOKEN and value]
        if tag not in VOID:
            kind = "user's" if tag in ("script", "code", "blockquote") else str(given.get("lang"))
            self._open.append(kind)

    def handle_endtag(self, tag: str) -> None:
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if "user's" not in self._open:
            (self.quotes if "en" in self._open else self.texts).append(data)


def _read(html: str) -> tuple[list[str], list[str]]:
    """Latin words that are not allowed, and texts that are marked as English."""
    parser = _Text()
    parser.feed(html)
    words = [word for text in parser.texts for word in re.findall(r"[^\s，。；：（）、“”]+", text)]
    latin = [word for word in words if re.search("[A-Za-z]{2}", word)]
    left = [word for word in latin if not ALLOWED.fullmatch(word.strip("(),;'«»「」…·"))]
    return left, [quote for quote in parser.quotes if quote.strip(" \n") not in ("", "English")]


def _rendered(template: str, **values: Any) -> str:
    scope = {"type": "http", "path": "/", "headers": [(b"accept-language", b"zh-CN")]}
    return routes._render(Request(scope), template, **values)


def _job(**values: Any) -> dict[str, Any]:
    job = {
        "id": "1",
        "dataset": "default",
        "status": "done",
        "stage": None,
        "done": 1,
        "total": 2,
        "error": None,
    }
    return {**job, "report": None, **values}


COUNTS = ("added", "changed", "failed", "recognised", "relinked", "removed", "skipped", "unchanged")
FILES = [
    {"path": "/a", "action": "skipped", "reason": "files of other kinds: 2 .png, 1 .zip"},
    {"path": "/b", "action": "recognised", "reason": "Logseq's graph: 3 pages"},
]
REPORT = {"counts": dict.fromkeys(COUNTS, 1), "seconds": 1.0, "files": FILES}
BUSY = "another job is ingesting into dataset 'default'; wait for it, or cancel it"


@pytest.mark.parametrize(
    ("template", "values"),
    [
        *(
            ("job.html", {"job": job, "limit": 9})
            for job in (
                _job(status="running", stage="read"),
                _job(status="running", stage="store"),
                _job(status="failed", error=BUSY),
                _job(status="cancelled"),
                _job(report=REPORT),
            )
        ),
        ("error.html", {"kind": "StoreLocked", "message": BUSY}),
        *(
            ("stage.html", {"step": Step("retrieve_graphiti", 1.0, {"status": status, "reason": reason})})
            for status, reason in (
                ("degraded", "no answer within 3 s"),
                ("partial", "1 of 3 statements left out: 1 against its passage"),
            )
        ),
        (
            "health.html",
            {
                "findings": [
                    Finding(
                        "chat model", "off", "none configured; answers quote the notes", "set A_B and C_D"
                    ),
                    Finding("data folder", "missing", "/a b/c is not writable", "chmod u+w '/a'"),
                    Finding("datasets", "ok", "default (3 chunks)"),
                ]
            },
        ),
    ],
)
def test_states_have_no_english(template: str, values: dict[str, Any]) -> None:
    left, quotes = _read(_rendered(template, **values))
    assert [word for word in left if word not in ("A_B", "C_D")] == []
    assert quotes in ([], ["chmod u+w '/a'"])


def test_a_text_of_the_core_without_chinese_is_quoted_below_a_chinese_line() -> None:
    html = _rendered("error.html", kind="InputError", message="Flux <b>too</b> high")
    assert "输入有误" in html
    assert _read(html) == ([], ["Flux <b>too</b> high"])
    assert _read(_rendered("error.html", kind="NoSuchKind", message="x"))[0] == []


def test_files_are_listed_by_what_became_of_them() -> None:
    remark = {"path": "/c", "action": "added", "reason": "its date is wrong"}
    html = _rendered("job.html", job=_job(report={**REPORT, "files": [*FILES, remark]}), limit=9)
    parts = re.findall(r"<summary>(.*?)</summary>.*?<li>(.*?):", html, re.DOTALL)
    assert parts == [
        ("跳过的文件及原因 (1)", "/a"),
        ("已读入，但有说明 (1)", "/c"),
        ("识别出的导出 (1)", "/b"),
    ]


async def _answer(page: httpx.AsyncClient, **form: str) -> str:
    """The HTML of all events of a question."""
    blocks = (await page.post("/page/ask", data=form)).text.strip().split("\n\n")
    return "\n".join(json.loads(block.split("\ndata: ")[1]).get("html", "") for block in blocks)


async def test_pages_and_answers_have_no_english(tmp_path: Path) -> None:
    (tmp_path / "铜壶.md").write_text("# 铜壶\n\n铜壶由紫铜制成，容量七升。[[茶]] 用它煮。\n")
    (tmp_path / "茶.md").write_text("---\nlang: zh\n---\n# 茶\n\n茶用铜壶煮。\n")
    (tmp_path / "x.bin").write_bytes(b"x")
    async with called_service(RagConfig(data_dir=tmp_path / "data"), roots=[tmp_path]) as page:
        await ended(page, await page.post("/ingest", json={"paths": ["."]}))
        page.headers["Accept-Language"] = "zh-CN"
        for path in ("/", "/notes", "/learn", "/conversations", "/login", "/read/default/茶.md"):
            left, quotes = _read((await page.get(path)).text)
            assert [word for word in left if str(tmp_path) not in word] == [], path
            assert quotes == [], path
        left, quotes = _read((await page.get("/health")).text)
        assert left == []
        (long,) = [quote for quote in quotes if quote.count(" ") > 4]
        assert long.startswith("dataset 'default' was embedded with")  # by the embedding of these tests
        for query, operation in (
            ("铜壶由什么制成？", "auto"),
            ("铜壶和茶有什么关系？", "concept_relation"),
            ("铜壶和茶有什么关系？", "verification_canvas"),
            ("量子纠缠的贝尔不等式是谁证明的？", "auto"),
        ):
            html = await _answer(page, query=query, operation=operation)
            left, quotes = _read(html)
            assert left == [], (query, operation)
            assert quotes == [], (query, operation)


def test_every_sentence_is_one_of_the_core() -> None:
    folder = Path(agentic_rag.__file__).parents[1]
    constants = [
        node.value
        for package in ("agentic_rag", "agentic_rag_readers", "agentic_rag_service")
        for file in (folder / package).rglob("*.py")
        if "page" not in file.parts
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    text = "\n".join(constants)
    for english, chinese in SENTENCES:
        lost = [part for part in re.split(r"\{\w+\}", english) if part.strip(" ,:;") not in text]
        assert lost == [], english
        assert set(re.findall(r"\{\w+\}", english)) == set(re.findall(r"\{\w+\}", chinese)), english


def test_sentences_are_translated_with_their_values() -> None:
    assert in_chinese("embedded, in the data folder") == "内嵌，在数据文件夹中"
    both = "2 of 9 graph hits have relevance ≥ 0.6, 3 needed; 1 carry no calibrated relevance"
    assert in_chinese(both) == "图谱命中 9 条，其中 2 条相关度 ≥ 0.6，需要 3 条；1 条没有校准的相关度"
    assert in_chinese("no cluster can be used at all") is None


@pytest.mark.parametrize("piece", ["; ", "a; ", "; run the same command again"])
def test_a_long_text_is_no_sentence_of_the_core(piece: str) -> None:
    assert in_chinese(piece * 10_000) is None


def test_the_errors_with_words_of_their_own_exist() -> None:
    kinds = {key.removeprefix("error_") for key in WORDS if key.startswith("error_")}
    classes = {name for module in (errors, access, limits) for name in vars(module)}
    assert kinds - classes == {"internal", "invalid_request"}
