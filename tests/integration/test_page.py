"""The page without a browser: the output of its routes in both languages, and that text of a note runs no script."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from agentic_rag import RagConfig
from example_vault import EXAMPLE_VAULT
from service_server import running_service

HOSTILE = """# Hostile
<script>alert(1)</script> <img src=x onerror=alert(1)> [click](javascript:alert(1))
![pixel](http://evil.example/pixel.png) <iframe src="http://evil.example"></iframe>
The hostile passage says "seven" here. <a href="x" onclick="alert(1)">a</a>
"""


@pytest.fixture(scope="module")
def page(example_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("page")
    data = Path(shutil.copytree(example_data, folder / "data"))
    vault = Path(shutil.copytree(EXAMPLE_VAULT, folder / "vault"))
    with (
        running_service(RagConfig(data_dir=data), roots=[vault]) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client


@pytest.mark.parametrize("path", ["/", "/notes", "/learn", "/conversations", "/health", "/login"])
@pytest.mark.parametrize(("language", "word"), [("en", "Conversations"), ("zh-CN", "对话")])
def test_pages_speak_both_languages_and_load_nothing_from_elsewhere(
    page: httpx.Client, path: str, language: str, word: str
) -> None:
    answer = page.get(path, headers={"Accept-Language": language})
    assert answer.status_code == 200
    assert word in answer.text
    assert f'lang="{language}"' in answer.text
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert not re.search(r'(?:src|href)="https?://', answer.text)
    assert not re.search(r'<script(?![^>]*(?:src=|type="application/json"))|\son\w+=|\sstyle=', answer.text)


def test_what_is_first_shown_is_small(page: httpx.Client) -> None:
    first = page.get("/").text
    files = re.findall(r'(?:src|href)="(/static/[^"]+)"', first)
    assert sum(len(page.get(file).content) for file in set(files)) + len(first) < 300_000


def test_an_answer_comes_as_parts_of_the_page(page: httpx.Client) -> None:
    form = {"query": "At what temperature and for how long is the second fire?"}
    with page.stream("POST", "/page/ask", data=form) as response:
        text = response.read().decode()
    blocks = [block.split("\ndata: ") for block in text.strip().split("\n\n")]
    events = [(name.removeprefix("event: "), json.loads(data)) for name, data in blocks]
    assert events[0][0] == "started"
    html = events[-1][1]["html"]
    assert 'hx-target="#beside"' in html
    address = re.search(r'hx-get="(/read/[^"]+)"', html)
    assert address is not None
    note = page.get(address[1].replace("&amp;", "&"), headers={"HX-Request": "true"}).text
    assert '<mark id="passage"' in note
    assert "<html" not in note
    whole = page.get(address[1].replace("&amp;", "&")).text
    assert "<html" in whole


def test_a_property_restricts_what_is_asked(page: httpx.Client) -> None:
    form = {"query": "What is kill-green?", "only": "lang=zh"}
    with page.stream("POST", "/page/ask", data=form) as response:
        cited = set(re.findall(r'hx-get=\\?"(/read/[^"?]+)', response.read().decode()))
    assert cited
    for address in cited:
        note = page.get(address.replace("/read/", "/notes/").replace("\\", "")).json()["text"]
        assert "lang: zh" in note
    wrong = page.post("/page/ask", data={"query": "x", "only": "=="}, headers={"HX-Request": "true"})
    assert wrong.status_code == 400


def test_a_link_to_a_dataset_that_is_not_there_asks_no_other(page: httpx.Client) -> None:
    shown = page.get("/?dataset=gone&q=tea").text
    assert '<option value="gone" selected>gone</option>' in shown
    answered = page.post(
        "/page/ask", data={"query": "tea", "dataset": "gone"}, headers={"hx-request": "true"}
    )
    assert "gone" in answered.text
    assert "error" in answered.text


def test_errors_are_told_on_the_page(page: httpx.Client) -> None:
    with page.stream("POST", "/page/ask", data={"query": "x", "dataset": "none"}) as response:
        assert "unknown dataset" in response.read().decode()
    answer = page.post("/page/check", data={"file": "none.canvas"}, headers={"HX-Request": "true"})
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text


def test_a_hostile_note_runs_and_loads_nothing(page: httpx.Client) -> None:
    files = [("files", ("h/Hostile.md", HOSTILE.encode()))]
    job = page.post("/page/upload", files=files, data={"dataset": "hostile"}).text
    job_id = re.search(r'id="job-(\w+)"', job)
    assert job_id is not None
    for _ in range(400):
        if page.get(f"/ingest/{job_id[1]}").json()["status"] == "done":
            break
    text = page.get("/notes/hostile/h/Hostile.md").json()["text"]
    start = text.index("The hostile passage")
    note = page.get(f"/read/hostile/h/Hostile.md?start={start}&end={start + 38}").text
    article = note[note.index("<article") : note.index("</article>")]
    assert "The hostile passage" in article
    assert not re.search(r"<(?:script|img|iframe)|<a[^>]*(?:javascript|onclick)", article)
    with page.stream(
        "POST", "/page/ask", data={"query": "the hostile passage", "dataset": "hostile"}
    ) as response:
        answer = response.read().decode()
    assert "<script>alert" not in answer


def test_a_board_is_drawn_and_downloaded(page: httpx.Client) -> None:
    form = {"query": "What is kill-green?", "dataset": "default", "operation": "document_retrieval"}
    drawn = page.post("/page/board", data=form, headers={"HX-Request": "true"}).text
    assert '<svg xmlns="http://www.w3.org/2000/svg" class="board"' in drawn
    assert " style=" not in drawn
    downloaded = page.post("/page/board", data={**form, "download": "true"})
    assert downloaded.json()["nodes"]
    assert "attachment" in downloaded.headers["content-disposition"]
    saved = page.post(
        "/page/board", data={**form, "file": "ours/b.canvas"}, headers={"HX-Request": "true"}
    ).text
    assert "b.canvas" in saved
    board = page.get("/read/default/boards/Processing chain.canvas").text
    assert 'class="board"' in board


def test_the_language_is_changed_and_kept(page: httpx.Client) -> None:
    with httpx.Client(base_url=page.base_url) as other:
        other.post("/page/language", headers={"Accept-Language": "en"})
        assert "对话" in other.get("/", headers={"Accept-Language": "en"}).text
