"""The pipeline on in-memory stores: the effect of successive ingests of a folder."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.errors import InputError
from agentic_rag.ingest.documents import DocumentWriter
from agentic_rag.ingest.files import discovery, extraction
from agentic_rag.ingest.files.extracted_text import ExtractedText
from agentic_rag.ingest.files.extraction import Extractor
from agentic_rag.ingest.pipeline import IngestPipeline
from agentic_rag.ingest.remembered import DatasetCache, SeenFiles, stamp_of
from in_memory_pipeline import actions, pipeline
from written_files import write


async def test_a_new_note_without_words_in_its_name_is_found_by_links(tmp_path: Path) -> None:
    vault = write(tmp_path, {"Day.md": "How I felt: [[🙂]].", "Other.md": "Nothing."})
    ingest = pipeline()
    await ingest.run([vault], "d")
    report = await ingest.run([write(vault, {"🙂.md": "---\ntitle: Smile\n---\nGlad."})], "d")
    assert actions(report) == {"Day.md": "relinked", "Other.md": "unchanged", "🙂.md": "added"}


async def test_notes_of_one_title_are_spelt_alike(tmp_path: Path) -> None:
    vault = write(tmp_path, {"b/Tea.md": "Author:: [[Lu Yu]]", "Other.md": "Nothing."})
    ingest = pipeline()
    await ingest.run([vault], "d")
    report = await ingest.run([write(vault, {"a/TEA.md": "Another."})], "d")
    assert actions(report) == {"a/TEA.md": "added", "b/Tea.md": "relinked", "Other.md": "unchanged"}


async def test_of_two_folders_the_one_that_holds_a_note_is_read_again(tmp_path: Path) -> None:
    write(tmp_path, {"one/N.md": "First.", "two/N.md": "Second."})
    ingest = pipeline()
    await ingest.run([tmp_path / "two"], "d")
    write(tmp_path, {"two/N.md": "Second, edited."})
    report = await ingest.run([tmp_path / "one", tmp_path / "two"], "d")
    assert actions(report) == {str(tmp_path / "one" / "N.md"): "skipped", "N.md": "changed"}


async def test_what_came_from_a_path_is_taken_out_whether_or_not_it_is_there(tmp_path: Path) -> None:
    write(
        tmp_path, {"gone/X.md": "Oolong, see [[Y]].", "kept/Y.md": "Withering. [[X]]", "solo.md": "Kettles."}
    )
    ingest = pipeline()
    await ingest.run([tmp_path / "gone", tmp_path / "kept", tmp_path / "solo.md"], "d")
    (tmp_path / "gone" / "X.md").unlink()
    (tmp_path / "gone").rmdir()
    report = await ingest.remove([tmp_path / "gone", tmp_path / "solo.md"], "d")
    assert actions(report) == {"X.md": "removed", "solo.md": "removed"}
    assert (report.documents, report.chunks) == (1, 1)
    assert actions(await ingest.run([tmp_path / "kept"], "d")) == {"Y.md": "relinked"}


async def test_a_folder_takes_out_what_came_from_below_it_and_none_everything(tmp_path: Path) -> None:
    write(tmp_path, {"a/b/X.md": "Oolong.", "a/c/Y.md": "Withering.", "d/Z.md": "Kettles."})
    ingest = pipeline()
    await ingest.run([tmp_path / "a" / "b", tmp_path / "a" / "c", tmp_path / "d"], "d")
    assert (await ingest.remove([tmp_path / "a"], "d")).documents == 1
    assert (await ingest.remove(None, "d")).documents == 0
    assert (await ingest.remove(None, "d")).documents == 0


async def test_a_path_that_nothing_came_from_takes_nothing_out(tmp_path: Path) -> None:
    vault = write(tmp_path, {"a/X.md": "Oolong.", "a/Y.md": "Withering."})
    ingest = pipeline()
    await ingest.run([vault / "a"], "d")
    with pytest.raises(InputError, match=rf"'{vault}/b'; it holds what came from {vault}/a"):
        await ingest.remove([vault / "a", vault / "b"], "d")
    with pytest.raises(InputError, match=r"X\.md"):
        await ingest.remove([vault / "a" / "X.md"], "d")
    assert (await ingest.run([vault / "a"], "d")).documents == 2
    with pytest.raises(InputError, match="it is empty"):
        await ingest.remove([vault], "other")


async def test_a_root_that_is_gone_is_told_with_what_it_still_holds(tmp_path: Path) -> None:
    write(tmp_path, {"old/X.md": "Oolong.", "old/Y.md": "Withering."})
    ingest = pipeline()
    await ingest.run([tmp_path / "old"], "d")
    (tmp_path / "old").rename(tmp_path / "new")
    (tmp_path / "new" / "Y.md").unlink()
    told = {file.path: file.reason for file in (await ingest.run([tmp_path / "new"], "d")).files}
    assert told[str(tmp_path / "old")] == (
        "missing, but 1 of its documents are stored; agentic-rag remove with this path removes them"
    )
    with pytest.raises(InputError, match="its documents are still stored"):
        await ingest.run([tmp_path / "old"], "d")
    await ingest.remove([tmp_path / "old"], "d")
    with pytest.raises(InputError, match=r"old'$"):
        await ingest.run([tmp_path / "old"], "d")
    assert actions(await ingest.run([tmp_path / "new"], "d")) == {"X.md": "relinked"}


async def test_what_another_path_brought_since_is_linked_once_a_path_is_given_again(tmp_path: Path) -> None:
    write(tmp_path, {"one/X.md": "Oolong, see [[Y]].", "one/Z.md": "Kettles.", "two/Y.md": "Withering."})
    ingest = pipeline()
    await ingest.run([tmp_path / "one"], "d")
    await ingest.run([tmp_path / "two"], "d")
    assert actions(await ingest.run([tmp_path / "one"], "d"))["X.md"] == "relinked"
    assert set(actions(await ingest.run([tmp_path / "one"], "d")).values()) == {"unchanged"}


async def test_a_part_of_what_is_held_already_is_not_ingested_a_second_time(tmp_path: Path) -> None:
    vault = write(
        tmp_path / "vault", {"X.md": "Oolong.", "sub/Y.md": "Withering.", ".hidden/Z.md": "Kettles."}
    )
    ingest = pipeline()
    await ingest.run([vault], "d")
    for part in ("X.md", "sub", "sub/Y.md"):
        with pytest.raises(
            InputError, match=rf"'{vault}/{part}' is part of {vault}, .* ingest {vault} again"
        ):
            await ingest.run([vault / part], "d")
    assert (await ingest.run([vault / ".hidden" / "Z.md"], "d")).documents == 3, (
        "the vault's ingest leaves it out"
    )
    assert (await ingest.run([vault / "sub"], "other")).documents == 1


async def test_a_folder_takes_over_what_was_ingested_of_its_parts(tmp_path: Path) -> None:
    notes = {
        "X.md": "Oolong, see [[Y]].",
        "sub/Y.md": "Withering.",
        "sub/Gone.md": "Roasting.",
        "Y.md": "Kettles.",
    }
    vault = write(tmp_path / "vault", notes)
    ingest = pipeline()
    await ingest.run([vault / "sub"], "d")
    await ingest.run([vault / "X.md"], "d")
    (vault / "sub" / "Gone.md").unlink()
    report = await ingest.run([vault], "d")
    # Y.md of the part and Y.md of the whole have one id: the second takes its place.
    assert actions(report) == {
        "Gone.md": "removed",
        "X.md": "changed",
        "Y.md": "changed",
        "sub/Y.md": "added",
    }
    assert report.documents == 3
    assert set(actions(await ingest.run([vault], "d")).values()) == {"unchanged"}
    with pytest.raises(InputError, match="is part of"):
        await ingest.run([vault / "sub"], "d")


async def test_what_a_folder_took_over_says_where_it_is_now_and_what_it_leaves_out_stays(
    tmp_path: Path,
) -> None:
    vault = write(tmp_path / "vault", {"sub/Y.md": "Withering.", ".hidden/Z.md": "Kettles."})
    ingest = pipeline()
    await ingest.run([vault / "sub", vault / ".hidden"], "d")
    report = await ingest.run([vault], "d")
    assert [(file.path, file.action, file.reason) for file in report.files] == [
        ("Y.md", "removed", f"it now belongs to {vault}, as sub/Y.md"),
        ("sub/Y.md", "added", None),
    ]
    assert report.documents == 2


async def test_what_cannot_mention_a_new_note_is_not_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = {
        "Far.md": "Nothing of it.",
        "Near.md": "The quince ripens.",
        "Linked.md": "See [q](Quince%20jam.md).",
        "Escaped.md": "Caf&eacute;",
        "Twin.md": "---\ntitle: Other\n---\nNothing.",
        "Board.canvas": '{"nodes": [], "edges": []}',
    }
    vault, ingest, parsed = write(tmp_path, notes), pipeline(), list[str]()
    await ingest.run([vault], "d")
    for suffix, parser in discovery._PARSERS.items():

        def counted(identity: str, *rest: Any, parser: Any = parser, **more: Any) -> Any:
            parsed.append(identity)
            return parser(identity, *rest, **more)

        monkeypatch.setitem(discovery._PARSERS, suffix, counted)
    report = await ingest.run([write(vault, {"Quince.md": "A fruit.", "Quince jam.md": "Sweet."})], "d")
    assert {path for path, action in actions(report).items() if action == "relinked"} == {
        "Near.md",
        "Linked.md",
    }
    assert set(parsed) == {
        "Quince.md", "Quince jam.md", "Near.md", "Linked.md", "Escaped.md", "Board.canvas",
    }  # fmt: skip


async def test_what_is_unchanged_goes_with_a_folder_that_was_moved(tmp_path: Path) -> None:
    old, new = tmp_path / "old" / "notes", tmp_path / "new" / "notes"
    write(old, {"A.md": "Oolong.", "B.md": "Kettles."})
    ingest = pipeline()
    await ingest.run([old], "d")
    new.parent.mkdir()
    old.rename(new)
    assert actions(await ingest.run([new], "d")) == {"A.md": "unchanged", "B.md": "unchanged"}
    (new / "B.md").unlink()
    assert actions(await ingest.run([new], "d")) == {"A.md": "unchanged", "B.md": "removed"}
    with pytest.raises(InputError, match="nothing in dataset 'd' was ingested from"):
        await ingest.remove([old], "d")
    assert (await ingest.remove([new], "d")).documents == 0


async def test_a_folder_and_a_part_of_it_may_be_given_together_again(tmp_path: Path) -> None:
    write(tmp_path, {"a/X.md": "Oolong.", "Y.md": "Kettles."})
    ingest = pipeline()
    paths = [tmp_path, tmp_path / "a"]
    await ingest.run(paths, "d")
    write(tmp_path, {"a/X.md": "Oolong, edited."})
    assert actions(await ingest.run(paths, "d")) == {
        "X.md": "changed",
        "a/X.md": "changed",
        "Y.md": "unchanged",
    }


async def test_a_path_that_leads_nowhere_is_told_as_any_other(tmp_path: Path) -> None:
    ingest = pipeline()
    await ingest.run([write(tmp_path / "vault", {"X.md": "Oolong."})], "d")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for nowhere in (loop, Path("no\0name")):
        with pytest.raises(InputError, match="was ingested from"):
            await ingest.remove([nowhere], "d")
    with pytest.raises(InputError, match="there is no file or folder"):
        await ingest.run([Path("no\0name")], "d")
    assert [file.action for file in (await ingest.run([loop], "d")).files] == ["skipped"]


async def test_a_root_that_cannot_be_looked_at_is_not_taken_for_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"drive/X.md": "Oolong.", "kept/X.md": "Kettles.", "kept/Y.md": "Withering."})
    ingest = pipeline()
    await ingest.run([tmp_path / "drive"], "d")
    exists = Path.exists

    def broken(path: Path) -> bool:
        if path == tmp_path / "drive":
            raise PermissionError(13, "Permission denied")
        return exists(path)

    monkeypatch.setattr(Path, "exists", broken)
    assert actions(await ingest.run([tmp_path / "kept"], "d")) == {"X.md": "skipped", "Y.md": "added"}


class Killed(BaseException):
    """Stands for a process that ends here."""


def dying(ingest: IngestPipeline, writes: int) -> IngestPipeline:
    """A pipeline on the same stores that dies instead of its n-th write, counted from 0."""
    left = writes

    class Dying:
        def __init__(self, store: Any) -> None:
            self._store = store

        def __getattr__(self, name: str) -> Any:
            whole = getattr(self._store, name)
            if name not in ("put", "remove", "replace_documents", "remove_documents", "optimize"):
                return whole

            async def write(*args: Any, **options: Any) -> Any:
                nonlocal left
                if left <= 0:
                    raise Killed
                left -= 1
                return await whole(*args, **options)

            return write

    chunks, graph, ledger = (Dying(store) for store in (ingest._chunks, ingest._graph, ingest._ledger))
    preparer = ingest._writer.preparer
    writer = DocumentWriter(chunks, graph, preparer._embedding, preparer._count_tokens)  # type: ignore[arg-type]
    return IngestPipeline(writer, ledger)  # type: ignore[arg-type]


async def held(ingest: IngestPipeline) -> Any:
    ids = sorted(await ingest._chunks.document_ids("d"))
    return await ingest._ledger.records("d"), ids, await ingest._graph.counts("d")


async def test_the_notes_edited_last_are_stored_first(tmp_path: Path) -> None:
    vault = write(tmp_path / "vault", {f"{number:02}.md": f"Note {number}." for number in range(20)})
    for number in range(20):
        os.utime(vault / f"{number:02}.md", (number, number))
    ingest = pipeline()
    with pytest.raises(Killed):
        await dying(ingest, 5).run([vault], "d")
    records, _, _ = await held(ingest)
    done = [record.path for record in records.values() if not record.pending]
    assert sorted(done) == ["16.md", "17.md", "18.md", "19.md"]
    report = await ingest.run([vault], "d")
    assert (report.count("added") + report.count("changed"), report.documents) == (16, 20)


@pytest.mark.parametrize("then", ["the same", "the vault restored", "remove"])
@pytest.mark.parametrize("run", ["ingest", "remove"])
async def test_whatever_follows_a_killed_run_starts_from_its_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: str, then: str
) -> None:
    """On the stores in memory; on the real ones, write by write, see ``integration/test_killed_runs``."""
    monkeypatch.setattr("agentic_rag.ingest.pipeline.BATCH_DOCUMENTS", 1)
    notes = {"A.md": "Oolong, see [[B]].", "B.md": "Withering.", "C.md": "B and A."}

    async def does(ingest: IngestPipeline, what: str) -> None:
        await (ingest.remove(None, "d") if what == "remove" else ingest.run([vault], "d"))

    vault = tmp_path / "vault"
    for writes in range(50):
        ingest, is_killed = pipeline(), False
        await ingest.run([write(vault, notes)], "d")
        if run == "ingest":
            (vault / "B.md").unlink()
            write(vault, {"A.md": "Kettles.", "D.md": "See [[C]]."})
        try:
            await does(dying(ingest, writes), run)
        except Killed:
            is_killed = True
        if then == "the vault restored":
            (vault / "D.md").unlink(missing_ok=True)
            write(vault, notes)
        last = {"the same": run, "the vault restored": "ingest", "remove": "remove"}[then]
        await does(ingest, last)
        fresh = pipeline()
        if last == "ingest":
            await fresh.run([vault], "d")
        assert await held(ingest) == await held(fresh), writes
        (vault / "D.md").unlink(missing_ok=True)
        if not is_killed:
            break
    assert 4 < writes < 49


async def test_a_killed_first_ingest_adds_what_it_has_not_stored(tmp_path: Path) -> None:
    ingest, vault = pipeline(), write(tmp_path, {"A.md": "Oolong.", "B.md": "Withering."})
    with pytest.raises(Killed):
        await dying(ingest, 1).run([vault], "d")
    assert set(actions(await ingest.run([vault], "d")).values()) == {"added"}
    write(vault, {"A.md": "Kettles."})
    with pytest.raises(Killed):
        await dying(ingest, 1).run([vault], "d")
    assert actions(await ingest.run([vault], "d")) == {"A.md": "changed", "B.md": "unchanged"}


async def test_a_root_whose_removal_was_killed_is_told_until_it_is_finished(tmp_path: Path) -> None:
    write(tmp_path, {"one/A.md": "Oolong.", "one/B.md": "Withering.", "two/C.md": "Kettles."})
    one, two, ingest = tmp_path / "one", tmp_path / "two", pipeline()
    await ingest.run([one, two], "d")
    with pytest.raises(Killed):
        await dying(ingest, 2).remove([one], "d")
    told = {file.path: file.reason for file in (await ingest.run([two], "d")).files}
    assert told[str(one)] == (
        "interrupted while 2 of its documents were written or removed; ingest or remove it again"
    )
    report = await ingest.remove([one], "d")
    assert (report.documents, report.chunks) == (1, 1)
    assert str(one) not in actions(await ingest.run([two], "d"))


async def test_of_a_followed_folder_only_what_changed_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "vault"
    folder.mkdir()
    for name in ("a", "b", "c"):
        note = folder / f"{name}.md"
        note.write_text(f"Note {name} is about tea.\n", encoding="utf-8")
        os.utime(note, (1_700_000_000, 1_700_000_000))
    monkeypatch.setattr("agentic_rag.ingest.remembered.SETTLED_NS", -(10**18))
    read: list[str] = []
    original = Path.read_bytes

    def noted(path: Path) -> bytes:
        read.append(path.name)
        return original(path)

    monkeypatch.setattr(Path, "read_bytes", noted)
    ingest, remembered = pipeline(), DatasetCache()
    await ingest.run([folder], "notes", cache=remembered)
    read.clear()
    (folder / "b.md").write_text("Note b is about coffee.\n", encoding="utf-8")
    (folder / "c.md").unlink()
    report = await ingest.run([folder], "notes", cache=remembered)
    assert {file.path: file.action for file in report.files} == {
        "a.md": "unchanged",
        "b.md": "changed",
        "c.md": "removed",
    }
    assert set(read) == {"b.md"} or set(read) == {
        "a.md",
        "b.md",
    }  # a name is gone: who mentions it is looked up
    # The same size and the same time of change: the file's number and its own clock tell it.
    (folder / "b.md").unlink()
    (folder / "b.md").write_text("Note b is about soffee.\n", encoding="utf-8")
    os.utime(folder / "b.md", (1_700_000_000, 1_700_000_000))
    report = await ingest.run([folder], "notes", cache=remembered)
    assert report.count("changed") == 1


def test_a_file_that_was_changed_just_now_is_read_again(tmp_path: Path):
    seen = SeenFiles[str]()
    note = tmp_path / "a.md"
    note.write_text("tea", encoding="utf-8")
    key = (str(note), str(tmp_path), None)
    seen.keep(key, stamp_of(note), "tea")
    assert seen.get(key, stamp_of(note)) is None
    assert stamp_of(tmp_path / "gone.md") is None
    seen.keep(key, None, "tea")
    assert seen.get(key, None) is None


async def test_an_ingest_that_is_cancelled_keeps_the_batches_that_it_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentic_rag.ingest.pipeline.BATCH_DOCUMENTS", 2)
    vault = write(tmp_path, {f"{name}.md": f"Tea of {name}." for name in "ABCDE"})
    ingest, reached = pipeline(), asyncio.Event()
    store, stored = ingest._writer.store, 0

    async def until_the_third(*given: Any) -> Any:
        nonlocal stored
        stored += 1
        if stored == 3:
            reached.set()
            await asyncio.Event().wait()
        return await store(*given)

    with monkeypatch.context() as patch:
        patch.setattr(ingest._writer, "store", until_the_third)
        running = asyncio.create_task(ingest.run([vault], "d"))
        await reached.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert Counter(actions(await ingest.run([vault], "d")).values()) == {"unchanged": 4, "added": 1}


async def test_a_name_that_differs_in_case_alone_is_refused(tmp_path: Path) -> None:
    ingest, vault = pipeline(), write(tmp_path, {"A.md": "Oolong."})
    await ingest.run([vault], "notes")
    with pytest.raises(InputError, match="dataset 'Notes' differs from 'notes' in case alone"):
        await ingest.run([vault], "Notes")
    assert (await ingest.run([vault], "notes")).count("unchanged") == 1


def documents_pipeline(before: IngestPipeline, documents: Extractor) -> IngestPipeline:
    """A pipeline on the same stores."""
    return IngestPipeline(before._writer, before._ledger, documents=documents)


def only_oolong_is_read(self: Extractor, raw: bytes, suffix: str) -> ExtractedText:
    assert raw == b"Oolong."
    return ExtractedText("Oolong.")


async def test_a_file_that_ends_its_process_is_not_tried_again_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = write(tmp_path, {"a.html": "exit now", "b.html": "Oolong.", "c.md": "Tea."})
    ingest = documents_pipeline(pipeline(), Extractor(reader="extractor_stand_in"))
    report = await ingest.run([vault], "d")
    assert actions(report) == {"a.html": "failed", "b.html": "added", "c.md": "added"}
    reason = report.files[0].reason
    assert reason is not None
    assert "exit code 3" in reason
    assert report.documents == 2
    with monkeypatch.context() as patched:
        patched.setattr(Extractor, "extract", only_oolong_is_read)
        write(vault, {"d.md": "B and oolong."})
        report = await ingest.run([vault], "d")
        assert (report.files[0].action, report.files[0].reason) == ("skipped", reason)
        assert (await ingest.run([vault], "d")).count("skipped") == 1
        with pytest.raises(AssertionError):  # other limits are another attempt
            await documents_pipeline(ingest, Extractor(61, reader="extractor_stand_in")).run([vault], "d")
    report = await ingest.run([write(vault, {"a.html": "Sound again."})], "d")
    assert actions(report)["a.html"] == "added"
    assert await ingest._ledger.failures("d") == {}


async def test_a_file_that_now_ends_its_process_keeps_its_stored_text(tmp_path: Path) -> None:
    vault = write(tmp_path, {"a.html": "Oolong.", "b.html": "crash now"})
    ingest = documents_pipeline(pipeline(), Extractor(reader="extractor_stand_in"))
    await ingest.run([vault], "d")
    write(vault, {"a.html": "crash now"})
    assert actions(await ingest.run([vault], "d")) == {"a.html": "failed", "b.html": "skipped"}
    report = await ingest.run([vault], "d")
    assert actions(report) == {"a.html": "skipped", "b.html": "skipped"}
    assert (report.documents, report.chunks) == (1, 1)
    (vault / "b.html").unlink()
    await ingest.run([vault], "d")
    assert list(await ingest._ledger.failures("d")) == ["a.html"]
    await ingest.remove(None, "d")
    assert await ingest._ledger.failures("d") == {}


async def test_a_dataset_with_nothing_but_an_unreadable_file_can_be_removed(tmp_path: Path) -> None:
    vault = write(tmp_path, {"a.html": "crash now"})
    ingest = documents_pipeline(pipeline(), Extractor(reader="extractor_stand_in"))
    assert (await ingest.run([vault], "d")).documents == 0
    await ingest.remove([vault], "d")
    assert await ingest._ledger.failures("d") == {}


async def test_a_cancelled_ingest_ends_what_it_reads(tmp_path: Path) -> None:
    vault = write(tmp_path, {f"{number}.html": "hang now" for number in range(20)})
    extractor = Extractor(30, reader="extractor_stand_in")
    running = asyncio.create_task(documents_pipeline(pipeline(), extractor).run([vault], "d"))

    def reading() -> list[Any]:  # another test's idle process may be in the pool
        return [one for one in extraction._POOL._all if one.extractor is extractor]

    while not reading():
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.5)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    async with asyncio.timeout(10):
        await asyncio.get_running_loop().shutdown_default_executor()
    assert not reading()


async def test_texts_are_stored_before_a_document_is_read(tmp_path: Path) -> None:
    vault = write(tmp_path, {"slow.html": "hang now", "A.md": "Oolong, see [[slow]].", "B.md": "Withering."})
    ingest = documents_pipeline(pipeline(), Extractor(30, reader="extractor_stand_in"))
    running = asyncio.create_task(ingest.run([vault], "d"))
    async with asyncio.timeout(20):
        while await ingest._chunks.count("d") < 2 or (await ingest._ledger.records("d"))["A.md"].pending:
            await asyncio.sleep(0.02)
    waiting = (await ingest._ledger.records("d"))["slow.html"]
    assert (waiting.pending, waiting.chunks) == (True, 0), "it counts as not ingested yet"
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    write(vault, {"slow.html": "Kettles."})
    again = await ingest.run([vault], "d")
    assert actions(again) == {"A.md": "relinked", "B.md": "unchanged", "slow.html": "added"}


async def test_a_document_that_waited_and_cannot_be_read_is_pending_no_more(tmp_path: Path) -> None:
    vault = write(tmp_path, {"bad.html": "exit now", "A.md": "Oolong."})
    ingest = documents_pipeline(pipeline(), Extractor(reader="extractor_stand_in"))
    assert actions(await ingest.run([vault], "d")) == {"bad.html": "failed", "A.md": "added"}
    assert list(await ingest._ledger.records("d")) == ["A.md"]


@pytest.mark.parametrize("gone", [False, True])
async def test_in_layers_or_at_once_the_same_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: bool
) -> None:
    """Notes that name documents, edited and new ones of both kinds, with a removed one or without."""
    before = {
        "A.md": "See [[Kettle]].",
        "B.md": "Kettle and Cup.",
        "Kettle.html": "Of iron.",
        "Old.md": "Old.",
    }
    after = {
        "A.md": "See [[Cup]] and [[Kettle]].",
        "Cup.html": "Of clay.",
        "Kettle.html": "Of steel.",
        "C.md": "Cup.",
    }
    stored = []
    for at_once in (False, True):
        ingest = documents_pipeline(pipeline(), Extractor(reader="extractor_stand_in"))
        with monkeypatch.context() as patch:
            if at_once:
                patch.setattr("agentic_rag.ingest.pipeline.layers", lambda *_: None)
            vault = write(tmp_path / str(at_once), before)
            first = actions(await ingest.run([vault], "d"))
            write(vault, after)
            if gone:
                (vault / "Old.md").unlink()
            second = actions(await ingest.run([vault], "d"))
        links = await ingest._graph.links("d")
        assert links is not None
        texts = await ingest._chunks.get_chunks("d", list(links.chunk_ids))
        pairs = {
            (links.chunk_ids[chunk], links.names[entity])
            for chunk, entity in zip(links.mentioning, links.mentioned_entities, strict=True)
        }
        records = {
            (one.path, one.graph_hash, one.pending) for one in (await ingest._ledger.records("d")).values()
        }
        stored.append((first, second, {one.text for one in texts.values()}, pairs, records))
    assert stored[0] == stored[1]
