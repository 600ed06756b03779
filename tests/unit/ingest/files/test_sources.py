"""Discovery: which files are documents, under which ids, and that one bad file never stops the rest."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.errors import InputError
from agentic_rag.ingest.files import folders, scanning
from agentic_rag.ingest.files.discovery import discover
from agentic_rag.ingest.files.extraction import Extractor
from agentic_rag.ingest.files.records import load_record, parse_record
from agentic_rag.ingest.files.scanning import SourceScan
from agentic_rag.ingest.files.source_text import SourceError
from written_files import write


def ids(scan: SourceScan) -> list[str]:
    return [item.document_id for item in scan.items]


def reasons(scan: SourceScan) -> dict[str, str]:
    return {Path(skipped.path).name: skipped.reason for skipped in scan.skipped_files}


def test_a_vault(tmp_path: Path) -> None:
    root = write(
        tmp_path / "My vault",
        {
            "B.md": "b",
            "a/A note.md": "---\ntitle: T\n---\n[[B]]",
            "a/board.canvas": "{}",
            "plain.txt": "x",
            "pic.MOV": b"\0",
            "pic2.mov": b"\0",
            "LICENSE": "",
            ".obsidian/app.json": '{"userIgnoreFilters": ["Templates/"]}',
            ".obsidian/x.md": "",
            ".trash/gone.md": "",
            ".hidden/x.md": "",
            ".dot.md": "",
            "Templates/t.md": "",
            ".gitignore": "*.log.md\ndrafts/\n",
            "x.log.md": "",
            "drafts/d.md": "",
            "sub/.gitignore": "!y.log.md\nz.md\n",
            "sub/y.log.md": "",
            "sub/z.md": "",
        },
    )
    scan = discover([root])
    assert ids(scan) == ["B.md", "plain.txt", "a/A note.md", "a/board.canvas", "sub/y.log.md"]
    assert scan.roots == (str(root),)
    assert reasons(scan) == {"My vault": "files of other kinds: 2 .mov, 1 without suffix"}
    item = scan.items[2]
    document = item.parse()
    assert (item.path, item.root) == ("a/A note.md", str(root))
    assert (document.id, document.title, document.path) == ("a/A note.md", "T", "a/A note.md")
    assert document.url == "obsidian://open?vault=My%20vault&file=a%2FA%20note.md"
    assert discover([root]).items[2].content_hash == item.content_hash


def test_a_daily_note_is_of_the_day_in_its_name(tmp_path: Path) -> None:
    note = "---\ndate: 2020-01-01\n---\nx"
    root = write(
        tmp_path,
        {
            ".obsidian/daily-notes.json": '{"folder": "Daily", "format": "YYYY/DD-MM-YY"}',
            "Daily/2024/05-01-24.md": note,
            "Daily/other.md": note,
            "Elsewhere/2024/05-01-24.md": note,
            "March 15th, 2024.md": "x",
        },
    )
    before = discover([root])
    assert {item.document_id: item.parse().date for item in before.items} == {
        "Daily/2024/05-01-24.md": datetime(2024, 1, 5, tzinfo=UTC),
        "Daily/other.md": datetime(2020, 1, 1, tzinfo=UTC),
        "Elsewhere/2024/05-01-24.md": datetime(2020, 1, 1, tzinfo=UTC),
        "March 15th, 2024.md": datetime(2024, 3, 15, tzinfo=UTC),
    }
    write(root, {".obsidian/daily-notes.json": "{"})
    after = discover([root])
    hashes = [{item.document_id: item.content_hash for item in scan.items} for scan in (before, after)]
    assert [name for name in hashes[0] if hashes[0][name] != hashes[1][name]] == ["Daily/2024/05-01-24.md"]
    (changed,) = [item for item in after.items if item.document_id.startswith("Daily/2024")]
    assert changed.parse().date == datetime(2020, 1, 1, tzinfo=UTC)


def test_templates_are_left_out_and_the_report_says_so(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            ".obsidian/templates.json": '{"folder": "Templates"}',
            ".obsidian/plugins/templater-obsidian/data.json": '{"templates_folder": "Other"}',
            "Templates/Meeting.md": "{{title}}",
            "Templates/deep/Day.md": "<% tp.date.now() %>",
            "Other/One.md": "x",
            "Real.md": "x",
        },
    )
    scan = discover([root])
    assert ids(scan) == ["Real.md"]
    assert reasons(scan) == {
        "Templates": "the vault's folder of templates; its 2 files are left out",
        "Other": "the vault's folder of templates; its 1 file is left out",
    }
    assert not any(skipped.is_unread for skipped in scan.skipped_files)
    assert len(discover([root], "files").items) == 4
    assert ids(discover([root / "Templates"])) == ["Meeting.md", "deep/Day.md"]


def test_a_folder_inside_a_vault_has_the_address_of_the_vault(tmp_path: Path) -> None:
    root = write(
        tmp_path / "vault",
        {".obsidian/app.json": '{"userIgnoreFilters": ["Projects/Old"]}', "Projects/Plan.md": "x", "Projects/Old/a.md": "x"},
    )  # fmt: skip
    (plan,) = discover([root / "Projects"]).items
    assert (plan.document_id, plan.root) == ("Plan.md", str(root / "Projects"))
    assert plan.parse().url == "obsidian://open?vault=vault&file=Projects%2FPlan.md"


def test_files_have_no_obsidian_address(tmp_path: Path) -> None:
    root = write(tmp_path / "v", {"a.md": "x"})
    assert discover([root], "files").items[0].parse().url is None
    scan = discover([root / "a.md"])
    assert (ids(scan), scan.roots) == (["a.md"], (str(root / "a.md"),))
    assert scan.items[0].parse().url is None


def test_what_changes_the_content_hash(tmp_path: Path) -> None:
    def content_hash(name: str, files: dict[str, str | bytes]) -> str:
        return discover([write(tmp_path / name, files)]).items[0].content_hash

    same = content_hash("x/v", {"a.md": "x"})
    assert content_hash("y/v", {"a.md": "x"}) == same
    others = [
        content_hash("z/v", {"a.md": "y"}),
        content_hash("u/v", {"b.md": "x"}),
        content_hash("u/w", {"a.md": "x"}),
    ]
    assert len({same, *others}) == 4


def test_a_missing_path_and_an_unknown_kind_are_input_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file or folder"):
        discover([tmp_path / "nothing"])
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="no file or folder"):
        discover([tmp_path / "file" / "below"])
    with pytest.raises(InputError, match="no file or folder"):
        discover([tmp_path / "a\0b"])
    with pytest.raises(InputError, match="use one of: auto, vault"):
        discover([tmp_path], "zip")  # type: ignore[arg-type]


def test_a_path_given_twice_counts_once(tmp_path: Path) -> None:
    root = write(tmp_path, {"a.md": "x"})
    scan = discover([root, root / ".", root])
    assert (ids(scan), scan.roots, scan.skipped_files) == (["a.md"], (str(root),), ())


def test_an_id_taken_by_another_root_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"one/README.md": "x", "two/README.md": "y"})
    scan = discover([tmp_path / "one", tmp_path / "two"])
    assert ids(scan) == ["README.md"]
    assert "already that of README.md" in scan.skipped_files[0].reason


def test_an_id_that_is_stored_from_a_given_root_stays_with_it(tmp_path: Path) -> None:
    write(tmp_path, {"one/N.md": "1", "two/N.md": "2"})
    roots = [tmp_path / "one", tmp_path / "two"]
    scan = discover(roots, holders={"N.md": str(tmp_path / "two")})
    assert [(item.document_id, item.root) for item in scan.items] == [("N.md", str(tmp_path / "two"))]
    assert [(skipped.path, skipped.reason) for skipped in scan.skipped_files] == [
        (str(tmp_path / "one" / "N.md"), f"its id 'N.md' is already that of N.md in {tmp_path / 'two'}")
    ]
    assert discover(roots, holders={"N.md": str(tmp_path / "three")}).items[0].root == str(tmp_path / "one")


def test_same_names_in_folders_are_different_documents(tmp_path: Path) -> None:
    scan = discover([write(tmp_path, {"a/N.md": "1", "b/N.md": "2", "N.md": "3"})])
    assert ids(scan) == ["N.md", "a/N.md", "b/N.md"]


def test_names_that_differ_only_in_case_are_different_documents(tmp_path: Path) -> None:
    root = write(tmp_path, {"Note.md": "1", "note.md": "2"})
    if len(list(root.iterdir())) < 2:
        pytest.skip("the file system does not tell cases apart")
    assert ids(discover([root])) == ["Note.md", "note.md"]


def test_a_decomposed_name_has_a_composed_id(tmp_path: Path) -> None:
    scan = discover([write(tmp_path, {"Cafe\u0301.md": "x"})])
    assert ids(scan) == ["Café.md"]
    assert scan.items[0].parse().title == "Café"


def test_of_twins_that_differ_in_normal_form_the_composed_one_is_kept(tmp_path: Path) -> None:
    root = write(tmp_path, {"Cafe\u0301.md": "decomposed", "Café.md": "composed"})
    if len(list(root.iterdir())) < 2:
        pytest.skip("the file system normalises names")
    scan = discover([root])
    assert [item.parse().text for item in scan.items] == ["composed"]
    assert scan.skipped_files[0].path == str(root / "Cafe\u0301.md")
    assert "differ only in Unicode normal form; rename it" in scan.skipped_files[0].reason


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("x")
    scan = discover([write(tmp_path, {"ok.md": "x"})])
    assert ids(scan) == ["ok.md"]
    assert "not valid UTF-8" in scan.skipped_files[0].reason
    scan.skipped_files[0].path.encode("utf-8")


def test_bad_files_are_skipped_with_a_reason_and_the_rest_is_read(tmp_path: Path) -> None:
    scan = discover(
        [write(tmp_path, {"latin.md": b"caf\xe9", "bin.md": b"a\0\0\0", "empty.md": "", "utf16.md": "\ufeffx".encode("utf-16-le"), "bom.md": b"\xef\xbb\xbfx", "nul.md": "0123456789\0"})]
    )  # fmt: skip
    assert ids(scan) == ["bom.md", "empty.md", "nul.md", "utf16.md"]
    assert [item.parse().text for item in scan.items] == ["x", "", "0123456789\0", "x"]
    assert scan.items[1].parse().blocks == ()
    assert "save it as UTF-8" in reasons(scan)["latin.md"]
    assert "binary" in reasons(scan)["bin.md"]


def test_a_malformed_canvas_fails_alone_when_parsed(tmp_path: Path) -> None:
    first, second = discover([write(tmp_path, {"a.canvas": "{", "b.md": "x"})]).items
    with pytest.raises(SourceError, match=r"a\.canvas"):
        first.parse()
    assert second.parse().text == "x"


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html"])
def test_a_text_beyond_the_bounds_is_told_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(scanning, "MAX_CHARACTERS", 50)
    monkeypatch.setattr(scanning, "MAX_LINES", 5)
    for text, told in (("x" * 60, r"60 characters in .*50 and 5; divide"), ("x\n\n" * 9, "18 lines")):
        (item,) = discover(
            [write(tmp_path, {name: text})], extractor=Extractor(reader="extractor_stand_in")
        ).items
        with pytest.raises(SourceError, match=told):
            item.parse()


def test_a_file_that_is_gone_or_broken_since_is_a_source_error(tmp_path: Path) -> None:
    items = discover([write(tmp_path, {"a.md": "x", "b.md": "x"})]).items
    (tmp_path / "a.md").unlink()
    (tmp_path / "b.md").write_bytes(b"\xff")
    for item in items:
        with pytest.raises(SourceError, match=item.path):
            item.parse()


def test_a_file_that_changed_since_is_no_source_of_that_hash(tmp_path: Path) -> None:
    """A text under another's hash would count as unchanged once the change is undone."""
    root = write(tmp_path, {"a.md": "red", "b.txt": "red", "c.canvas": "{}", "d.md": "red"})
    items = discover([root]).items
    write(tmp_path, {"a.md": "blue", "b.txt": "blue", "c.canvas": '{"nodes": []}'})
    for item in items[:3]:
        for call in (item.parse, item.read_text or item.parse):
            with pytest.raises(SourceError, match=rf"{item.path}: the file changed while it was being read"):
                call()
    write(tmp_path, {"a.md": "red"})
    assert [items[0].parse().text, items[3].parse().text] == ["red", "red"]


def test_links_out_of_the_folder_and_loops_are_not_followed(tmp_path: Path) -> None:
    root = write(tmp_path / "v", {"a.md": "x", "sub/b.md": "y"})
    write(tmp_path, {"secret/s.md": "secret"})
    (root / "out").symlink_to(tmp_path / "secret")
    (root / "out.md").symlink_to(tmp_path / "secret" / "s.md")
    (root / "sub" / "loop").symlink_to(root)
    (root / "self").symlink_to(root / "self")
    (root / "broken.md").symlink_to(root / "none.md")
    (root / "in.md").symlink_to(root / "a.md")
    scan = discover([root])
    assert ids(scan) == ["a.md", "sub/b.md"]
    told = reasons(scan)
    assert "outside the folder" in told["out"]
    assert "outside the folder" in told["out.md"]
    assert "inside the folder" in told["loop"]
    assert "inside the folder" in told["in.md"]
    assert "a broken link" in told["self"]
    assert "a broken link" in told["broken.md"]


def test_a_given_path_may_itself_be_a_link(tmp_path: Path) -> None:
    write(tmp_path / "real", {"a.md": "x"})
    (tmp_path / "link").symlink_to(tmp_path / "real")
    scan = discover([tmp_path / "link"])
    assert (ids(scan), scan.roots) == (["a.md"], (str(tmp_path / "real"),))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "cannot be read" in discover([tmp_path / "loop"]).skipped_files[0].reason


def test_a_folder_without_permission_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(tmp_path, {"closed/a.md": "x", "open/b.md": "y"})
    real = os.scandir

    def refusing(path: Any) -> Any:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(folders.os, "scandir", refusing)
    scan = discover([root])
    assert ids(scan) == ["open/b.md"]
    assert reasons(scan) == {"closed": "cannot be read: Permission denied"}


@pytest.mark.parametrize("make", [lambda root: [root], lambda root: [root / "a.md"]])
def test_a_file_without_permission_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], list[Path]]
) -> None:
    root = write(tmp_path, {"a.md": "x"})

    def refusing(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refusing)
    assert reasons(discover(make(root))) == {"a.md": "cannot be read: Permission denied"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert reasons(discover([tmp_path])) == {"pipe.md": "neither a file nor a folder"}
    assert reasons(discover([tmp_path / "pipe.md"])) == {"pipe.md": "neither a file nor a folder"}


def test_a_deep_tree(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d"] * 200)
    deep.mkdir(parents=True)
    (deep / "a.md").write_text("x")
    assert ids(discover([tmp_path])) == ["/".join(["d"] * 200 + ["a.md"])]


def test_other_files_given_by_name_are_skipped(tmp_path: Path) -> None:
    write(tmp_path, {"a.mov": "x", "b": "x", "c.json": "[1]", "d.json": "{", "e.json": b"\xff"})
    scan = discover([tmp_path / name for name in ("a.mov", "b", "c.json", "d.json", "e.json")])
    assert ids(scan) == []
    told = reasons(scan)
    assert ".mov is not read" in told["a.mov"]
    assert "without suffix" in told["b"]
    assert "not a LoCoMo file" in told["c.json"]
    assert "no valid JSON" in told["d.json"]
    assert "UTF-8" in told["e.json"]


def test_records(tmp_path: Path) -> None:
    corpus = (
        '\ufeff{"_id": "a", "text": "x"}\r\n\nbroken\n{"_id": "a", "text": "y"}\n{"_id": "b", "text": "茶"}'
    )
    write(tmp_path, {"corpus.jsonl": corpus, "queries.jsonl": "", "note.md": "x"})
    scan = discover([tmp_path])
    assert ids(scan) == ["a", "b"]
    assert [item.parse().text for item in scan.items] == ["x", "茶"]
    assert [Path(skipped.path).name for skipped in scan.skipped_files] == ["corpus.jsonl:3", "corpus.jsonl:4"]
    assert ids(discover([tmp_path / "corpus.jsonl"])) == ["a", "b"]
    assert ids(discover([tmp_path], "vault")) == ["note.md"]
    (tmp_path / "corpus.jsonl").write_text('{"_id": "c", "text": "other"}')
    with pytest.raises(SourceError, match="changed while it was being read"):
        scan.items[1].parse()
    (tmp_path / "corpus.jsonl").unlink()
    with pytest.raises(SourceError, match="cannot be read"):
        scan.items[1].parse()
    assert "cannot be read" in discover([tmp_path], "jsonl").skipped_files[0].reason


def test_many_bad_lines_are_summed_up(tmp_path: Path) -> None:
    path = write(tmp_path, {"c.jsonl": "bad\n" * 50}) / "c.jsonl"
    scan = discover([path])
    assert len(scan.skipped_files) == 21
    assert scan.skipped_files[-1].reason == "30 more lines that are no records"


# --- records -------------------------------------------------------------------------------------


def test_a_record() -> None:
    line = b'{"_id": 7, "title": "T", "text": "One.\\n\\nTwo.", "metadata": {"url": "https://e.org", "year": 1}, "year": 2, "date": "2023-01-02"}\n'
    record = load_record(line)
    document = parse_record(record, path="corpus.jsonl")
    assert (document.id, document.title, document.text, document.kind) == ("7", "T", "One.\n\nTwo.", "record")
    assert document.metadata == {"url": "https://e.org", "year": 2, "date": "2023-01-02"}
    assert (document.url, document.date) == ("https://e.org", datetime(2023, 1, 2, tzinfo=UTC))
    assert [(block.start, block.end) for block in document.blocks] == [(0, 4), (6, 10)]


def test_the_title_stands_in_for_an_empty_text() -> None:
    document = parse_record({"_id": "a", "title": "T", "text": " "}, path="c.jsonl")
    assert document.text == "T"


def test_odd_fields_are_kept_apart_from_the_text() -> None:
    document = parse_record(
        {"_id": "a\ud800", "text": "x\ud800", "metadata": [1], "n": float("nan")}, path="c"
    )
    assert (document.id, document.text, document.metadata) == ("a\ufffd", "x\ufffd", {"metadata": [1]})
    deep: list[object] = []
    for _ in range(100):
        deep = [deep]
    assert parse_record({"_id": "a", "text": "x", "deep": deep}, path="c").warnings


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "no valid JSON"),
        (b"\xff{}", "not UTF-8"),
        (b"[1]", "not a JSON object"),
        (b'{"text": "x"}', "no _id"),
        (b'{"_id": " ", "text": "x"}', "no _id"),
        (b'{"_id": true, "text": "x"}', "no _id"),
        (b'{"_id": "a"}', "neither text nor title"),
        (b'{"_id": "a", "text": 5}', "must be strings"),
        (b"[" * 100_000, "no valid JSON"),
    ],
)
def test_bad_lines(line: bytes, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        load_record(line)
