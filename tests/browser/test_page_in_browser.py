"""The page as people use it, in Chromium: with the mouse, with the keyboard alone, in Chinese, on a phone, by axe."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from agentic_rag import RagConfig
from example_vault import EXAMPLE_VAULT
from service_server import running_service

CONNECT = "Polyphenol oxidase, catechins and oxidation: how do they hang together?"
TOOLS = Path(os.environ.get("AGENTIC_RAG_NODE", ".")) / "node_modules"
PICTURES = os.environ.get("AGENTIC_RAG_PICTURES")
"""Folder for screenshots, where they are wanted."""
HOSTILE = """# Hostile
<script>window.ran = 1; fetch("http://evil.example")</script><img src="http://evil.example/x.png" onerror="window.ran = 1">
[click](javascript:window.ran=1) 

The hostile kettle is made of copper and holds seven litres of tar. It was bought in Porto in 1987.
"""


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(EXAMPLE_VAULT, tmp_path_factory.mktemp("vaults") / "vault"))


@pytest.fixture(scope="module")
def address(example_data: Path, vault: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data = Path(shutil.copytree(example_data, tmp_path_factory.mktemp("browser") / "data"))
    with running_service(RagConfig(data_dir=data), roots=[vault]) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=os.environ["AGENTIC_RAG_BROWSER"], args=["--no-sandbox"]
        )
        yield chromium
        chromium.close()


def _opened(browser: Browser, address: str, problems: list[str], **options: Any) -> BrowserContext:
    context = browser.new_context(base_url=address, **{"locale": "en-US", **options})
    context.set_default_timeout(20_000)
    context.on("request", lambda request: _stays(request.url, address, problems))
    context.on("console", lambda told: problems.append(told.text) if told.type == "error" else None)
    context.on("weberror", lambda error: problems.append(str(error.error)))
    context.on("dialog", lambda dialog: dialog.accept())
    return context


def _stays(url: str, address: str, problems: list[str]) -> None:
    if not url.startswith((address, "data:", "blob:")):
        problems.append(f"a request left for {url}")


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """English, on a desk. What goes wrong in it, and any request that leaves its origin, fails the test."""
    problems: list[str] = []
    context = _opened(browser, address, problems)
    yield context.new_page()
    context.close()
    assert problems == []


def _asked(page: Page, question: str, operation: str = "auto") -> None:
    page.goto("/")
    page.get_by_label("Your question").fill(question)
    page.locator("select[name=operation]").select_option(operation)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("#answer section")).to_be_visible()


def _pictured(page: Page, name: str) -> None:
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/{name}.png", full_page=name != "page")


def test_a_question_is_answered_in_stages_and_a_citation_opens_its_passage(page: Page) -> None:
    _asked(page, "At what temperature and for how long is the second fire?")
    stages = page.locator("#stages li")
    expect(stages).to_contain_text(["question read", "answered"])
    expect(page.locator("#stop")).to_be_hidden()
    expect(page.locator("#answer")).to_contain_text("7 hours")
    page.locator("#answer a.mark").first.click()
    passage = page.locator("#beside mark#passage")
    expect(passage).to_be_in_viewport()
    expect(passage).to_be_focused()
    _pictured(page, "page")
    page.keyboard.press("Escape")
    expect(page.locator("#beside article")).to_have_count(0)
    expect(page.locator("#answer a.mark").first).to_be_focused()


NAMES = [
    "Polyphenol oxidase",
    "渥堆",
    "An examination of the tea gardens of Uji, with a letter to the gardener and what he answered",
    "Pneumonoultramicroscopicsilicovolcanoconiosis-hexadecanoyltransferase",
    "中国历代茶叶加工工艺从蒸青到炒青的演变及其对香气与滋味的影响研究",
    "#tea",
]
BOXES = """(selector) => [...document.querySelectorAll(selector)].map((one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return [left, right, top, bottom];
})"""


def _overlaps(boxes: list[list[float]]) -> list[tuple[list[float], list[float]]]:
    return [
        (one, other)
        for number, one in enumerate(boxes)
        for other in boxes[number + 1 :]
        if min(one[1], other[1]) > max(one[0], other[0]) and min(one[3], other[3]) > max(one[2], other[2])
    ]


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("count", [2, 30, 120])
def test_names_of_the_facts_are_readable_and_apart(page: Page, width: int, count: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    _asked(page, CONNECT, "concept_relation")
    named = [f"{NAMES[i % len(NAMES)]} {i}" for i in range(count)]
    facts = [
        {"source": named[i // 3], "target": named[i], "name": name}
        for i in range(count)
        for name in ("relates to", "is the reason of")[: 1 + i % 2]
    ]
    page.evaluate(
        "facts => { document.querySelector('#facts-data').textContent = JSON.stringify(facts) }", facts
    )
    page.get_by_text("Facts used").click()
    page.get_by_role("button", name="Draw the facts").click()
    expect(page.locator("#facts .name")).to_have_count(count)
    boxes = page.evaluate(BOXES, "#facts .name")
    lines = page.evaluate(BOXES, "#facts .name tspan")
    assert _overlaps(page.evaluate(BOXES, "#facts rect.thing")) == []
    assert _overlaps(boxes) == []
    assert min(bottom - top for _, _, top, bottom in [*boxes, *lines]) >= 11
    assert "".join(page.locator("#facts .name").nth(1).text_content().split()) == "".join(named[1].split())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    area = page.locator("#facts svg").bounding_box()
    assert area is not None
    assert area["width"] * area["height"] < count * 55_000
    page.locator("#facts").focus()
    page.keyboard.press("Tab")
    expect(page.locator("#facts .told text")).to_have_text("relates to")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#facts .told text")).to_have_count(1)
    page.keyboard.press("Shift+Tab")
    expect(page.locator("#facts .told text")).to_have_count(0)


@pytest.mark.parametrize("width", [1280, 400])
def test_labels_of_a_board_are_readable_and_apart(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    _asked(page, CONNECT, "concept_relation")
    page.locator("summary", has_text="Board").click()
    page.get_by_role("button", name="Draw as a board").click()
    expect(page.locator(".board .edge-label").first).to_be_visible()
    boxes = page.evaluate(BOXES, ".board .edge-back")
    assert len(boxes) >= 4
    assert _overlaps(boxes) == []
    assert min(bottom - top for _, _, top, bottom in page.evaluate(BOXES, ".board tspan")) >= 11
    inside = page.evaluate(BOXES, ".board .inside")
    shown = page.evaluate(BOXES, ".board .inside > :first-child")
    assert len(shown) == len(inside)


def test_why_and_as_of(page: Page) -> None:
    _asked(page, CONNECT, "concept_relation")
    page.get_by_text("Why these results").click()
    expect(page.locator("#answer table")).to_contain_text("rank 1")
    page.get_by_text("Facts used").click()
    page.get_by_role("button", name="Draw the facts").click()
    expect(page.locator("#facts .name").first).to_be_visible()
    day = page.locator("#fact-day")
    before = page.locator("#fact-day-told").text_content()
    day.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    assert page.locator("#fact-day-told").text_content() != before
    assert page.locator("#as_of").input_value() == page.locator("#fact-day-told").text_content()
    page.locator("#as_of").fill("2000-01-01")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("#answer input[name=as_of]").first).to_have_value("2000-01-01")


def test_a_board_is_saved_filled_in_and_checked(page: Page, vault: Path) -> None:
    _asked(page, "杀青、萎凋和渥堆各是什么？", "verification_canvas")
    page.get_by_text("Show the answer").first.click()
    page.locator("summary", has_text="Board").click()
    page.get_by_label("File beneath a root").fill("ours/tea.canvas")
    page.get_by_role("button", name="Draw as a board").click()
    expect(page.locator("#board svg.board")).to_be_visible()
    expect(page.locator("#board [role=status]")).to_contain_text("tea.canvas")
    frame = page.locator(".board-frame")
    before = float(page.locator("svg.board").get_attribute("width") or 0)
    frame.focus()
    page.keyboard.press("+")
    assert float(page.locator("svg.board").get_attribute("width") or 0) > before
    page.keyboard.press("-")
    page.keyboard.press("-")
    assert float(page.locator("svg.board").get_attribute("width") or 0) == pytest.approx(before, rel=0.01)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".board-frame")).not_to_have_js_property("scrollLeft", 0)
    _pictured(page, "board-on-the-page")
    path = vault / "ours" / "tea.canvas"
    board = json.loads(path.read_text("utf-8"))
    blanks = [node for node in board["nodes"] if node.get("text") == ""]
    blanks[0]["text"], blanks[1]["text"] = "微生物", "不知道"
    path.write_text(json.dumps(board, ensure_ascii=False), "utf-8")
    page.goto("/learn")
    page.get_by_label("File beneath a root").fill("ours/tea.canvas")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator("#checked")).to_contain_text("wrong")
    expect(page.locator("#checked")).to_contain_text("not answered")


def test_folders_are_ingested_with_progress_and_cancelled(page: Page, vault: Path, tmp_path: Path) -> None:
    page.goto("/notes")
    page.get_by_label("into", exact=True).fill("again")
    page.get_by_label("or name a folder").fill(str(vault))
    page.get_by_role("button", name="Ingest").click()
    job = page.locator("#jobs .said").first
    expect(job.locator("progress")).to_be_visible()
    job.get_by_role("button", name="Cancel").click()
    expect(job).to_contain_text("cancelled")
    page.get_by_label("into", exact=True).fill("uploaded")
    folder = tmp_path / "garden"
    folder.mkdir()
    (folder / "Roses.md").write_text("# Roses\nRoses are pruned in March.")
    (folder / "bad.md").write_bytes(b"\xff\x00\xfe\xff")
    page.locator("#choose").set_input_files(folder)
    done = page.locator("#jobs .said").first
    expect(done).to_contain_text("1 added")
    done.locator("summary").click()
    expect(done).to_contain_text("bad.md")
    page.reload()
    expect(page.locator("table").first).to_contain_text("uploaded")


def test_conversations_are_listed_and_deleted(page: Page) -> None:
    _asked(page, "What is kill-green?")
    page.goto("/conversations")
    page.get_by_role("link", name="What is kill-green?").click()
    expect(page.locator(".turn").first).to_contain_text("What is kill-green?")
    page.locator(".turn a.mark").first.click()
    expect(page.locator("#beside mark#passage")).to_be_visible()
    page.goto("/conversations")
    page.get_by_role("button", name="Delete What is kill-green?").click()
    expect(page.get_by_role("link", name="What is kill-green?")).to_have_count(0)


def test_a_follow_up_needs_no_choice_and_earlier_turns_stay_above(page: Page) -> None:
    _asked(page, "At what temperature is the second fire?")
    page.get_by_label("Your question").fill("And for how long?")
    page.keyboard.press("Enter")
    expect(page.locator("#answer .asked")).to_have_text("And for how long?")
    expect(page.locator("#answer")).to_contain_text("7 hours")
    expect(page.locator("#turns .asked")).to_have_text(["At what temperature is the second fire?"])
    page.reload()
    expect(page.locator("#turns .asked")).to_have_text(
        ["At what temperature is the second fire?", "And for how long?"]
    )
    page.get_by_role("link", name="New conversation").click()
    expect(page.locator("#turns .asked")).to_have_count(0)


def test_the_keyboard_alone(page: Page) -> None:
    page.goto("/")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "query":
            break
    page.keyboard.type("At what temperature is the second fire?")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#answer h2")).to_be_focused()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == "mark":
            break
    page.keyboard.press("Enter")
    expect(page.locator("#beside mark#passage")).to_be_focused()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.className") == "mark"


def test_in_chinese(browser: Browser, address: str) -> None:
    problems: list[str] = []
    context = _opened(browser, address, problems, locale="zh-CN")
    page = context.new_page()
    page.goto("/")
    page.get_by_label("你的问题").fill("渥堆是什么？")
    page.get_by_role("button", name="提问", exact=True).click()
    expect(page.locator("#answer h2")).to_contain_text("回答")
    expect(page.locator("#stages")).to_contain_text("检索图谱")
    page.get_by_role("button", name="English").click()
    expect(page.get_by_label("Your question")).to_be_visible()
    context.close()
    assert problems == []


def test_on_a_phone(browser: Browser, address: str) -> None:
    problems: list[str] = []
    context = _opened(browser, address, problems, viewport={"width": 400, "height": 800})
    page = context.new_page()
    _asked(page, CONNECT)
    for summary in page.locator("#answer details > summary").all():
        summary.click()
    page.locator("#answer a.mark").first.click()
    expect(page.locator("#beside article")).to_be_visible()
    _pictured(page, "phone")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    table = "/read/default/sessions/2025-05-03 Field trip to the Pines.md"
    for path in ("/notes", "/learn", "/conversations", "/health", table):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, path
    context.close()
    assert problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, address: str, scheme: str) -> None:
    context = _opened(browser, address, [], color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    axe = (TOOLS / "axe-core" / "axe.min.js").read_text("utf-8")

    def examined(name: str) -> None:
        page.evaluate(axe)
        found = page.evaluate("axe.run()")["violations"]
        told = [(one["id"], [node["html"][:120] for node in one["nodes"]][:3]) for one in found]
        assert told == [], name

    for path in ("/", "/notes", "/learn", "/conversations", "/health", "/login", "/read/default/index.md"):
        page.goto(path)
        examined(path)
    for operation in ("concept_relation", "verification_canvas", "weak_point_clustering"):
        _asked(page, CONNECT, operation)
        for summary in page.locator("#answer details > summary").all():
            summary.click()
        page.locator("#answer a.mark").first.click()
        expect(page.locator("#beside article")).to_be_visible()
        page.get_by_role("button", name="Draw as a board").click()
        expect(page.locator("#board svg.board")).to_be_visible()
        examined(operation)
    context.close()


def test_a_hostile_note_runs_nothing(page: Page, tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    (folder / "Hostile.md").write_text(HOSTILE)
    page.goto("/notes")
    page.get_by_label("into", exact=True).fill("hostile")
    page.locator("#choose").set_input_files(folder)
    expect(page.locator("#jobs .said", has_text="hostile")).to_contain_text("1 added")
    page.goto("/?dataset=hostile&q=What is the hostile kettle made of?")
    expect(page.locator("#answer")).to_contain_text("seven litres")
    page.locator("#answer a.mark").first.click()
    expect(page.locator("#beside")).to_contain_text("seven litres")
    page.locator("summary", has_text="Board").click()
    page.get_by_role("button", name="Draw as a board").click()
    expect(page.locator("#board svg.board")).to_be_visible()
    assert page.evaluate("window.ran") is None


VIEWER = """
import { JSONCanvasViewer, parser } from "json-canvas-viewer";
new JSONCanvasViewer({ container: document.getElementById("board"), parser, canvas: window.canvas });
"""


def test_boards_open_in_another_viewer(browser: Browser, page: Page, vault: Path, tmp_path: Path) -> None:
    (tmp_path / "viewer.js").write_text(VIEWER)
    command = [
        str(TOOLS / ".bin" / "esbuild"),
        "viewer.js",
        "--bundle",
        "--format=iife",
        "--outfile=bundle.js",
    ]
    environment = {**os.environ, "NODE_PATH": str(TOOLS)}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    for operation in ("verification_canvas", "weak_point_clustering", "concept_relation"):
        _asked(page, CONNECT, operation)
        page.locator("summary", has_text="Board").click()
        page.get_by_label("File beneath a root").fill(f"viewed/{operation}.canvas")
        page.get_by_role("button", name="Draw as a board").click()
        expect(page.locator("#board [role=status]")).to_be_visible()
        board = (vault / "viewed" / f"{operation}.canvas").read_text("utf-8")
        (tmp_path / "page.html").write_text(
            '<meta charset="utf-8"><div id="board" style="width:1200px;height:800px"></div>'
            f"<script>window.canvas = {board}</script><script src='bundle.js'></script>"
        )
        context = browser.new_context(viewport={"width": 1200, "height": 800})
        errors: list[str] = []
        context.on("weberror", lambda error, errors=errors: errors.append(str(error.error)))
        viewer = context.new_page()
        viewer.goto((tmp_path / "page.html").as_uri())
        viewer.wait_for_timeout(1000)
        _pictured(viewer, f"board-{operation}")
        shown = viewer.locator("#board").evaluate(
            "box => (box.shadowRoot || box).textContent + [...box.querySelectorAll('*')].map(e => e.shadowRoot?.textContent || '').join(' ')"
        )
        context.close()
        assert errors == []
        assert "hang together" in shown
