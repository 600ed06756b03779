"""What reaches the store of PDF, Word, PowerPoint, HTML, EPUB and text files: the words, their order, what is left out.

    python evaluation/bench_documents.py [--quick] [--json FILE] [--show FORMAT]

Ten documents per format are made by code, of words that are invented and known; each shows another thing that readers
lose (signs, text boxes, notes, comments, forms, columns, encodings). Counted are the share of the known words in the
text, the share of pairs of words that follow each other in the text as in the document, the share of words that
come more often than they are written, and the share of the things left out that the report names. The same is done
with other readers, as they are by default, where they are installed (Kreuzberg, markitdown; per format docx2python,
mammoth, python-docx, python-pptx, ebooklib, markdownify, pdfminer.six, pypdf). ``--quick`` leaves the other readers
out; ``--show`` prints the lost words of a format. Exits 1 when a floor is missed.
"""

from __future__ import annotations

import re
import sys
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, pairwise
from pathlib import Path

from agentic_rag.ingest.files.discovery import discover
from agentic_rag.ingest.files.source_text import SourceError
from figures import Row, options, report, row
from made_documents.pdf import pdf_files
from made_documents.peers import PEERS, Reader
from made_documents.pieces import Made
from made_documents.slides import slide_files
from made_documents.texts import text_files
from made_documents.web import epub_files, html_files
from made_documents.word import word_files

SEED = 50
FORMATS: dict[str, Callable[[int], list[Made]]] = {
    ".docx": word_files, ".pptx": slide_files, ".html": html_files, ".epub": epub_files, ".pdf": pdf_files,
    ".txt": text_files,
}  # fmt: skip
WORDS, PAIRS, DOUBLES = 0.995, 0.99, 0.005
_WORD = re.compile(r"[^\W_]+")
_HIGH = re.compile("[⁰¹²³⁴-⁹]+")
_HAN = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")


def share_of(part: int, whole: int) -> float:
    """1 of nothing."""
    return part / whole if whole else 1.0


def tokens(text: str) -> list[str]:
    """Words, and single Han characters, kana and hangul. 10⁶ and 10^6 are two words, 106 is another."""
    spaced = _HIGH.sub(lambda high: "^" + unicodedata.normalize("NFKC", high[0]), text)
    spaced = _HAN.sub(r" \1 ", unicodedata.normalize("NFC", spaced))
    return [word.casefold() for word in _WORD.findall(spaced)]


def ours(raw: bytes, suffix: str) -> tuple[str, str]:
    """Text and reasons that ingest has for a file."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / f"made{suffix}").write_bytes(raw)
        scan = discover([Path(folder)])
        try:
            documents = [item.parse() for item in scan.items]
        except SourceError as error:
            return "", str(error)
        reasons = [one.reason for one in scan.skipped_files] + [
            why for one in documents for why in one.warnings
        ]
        return "".join(one.text for one in documents), "; ".join(reasons)


def peer_text(read: Reader, raw: bytes, suffix: str) -> str:
    """A peer's text; empty where it gives up, which counts as every word lost."""
    try:
        return read(raw, suffix)
    except Exception as error:  # noqa: BLE001 - each library has errors of its own
        print(f"{read.__name__} {suffix}: {type(error).__name__}: {str(error)[:80]}", file=sys.stderr)
        return ""


def word_share(made: Sequence[Made], texts: Sequence[str]) -> float:
    """Known words that are in the texts, as often as they are written."""
    known = [Counter(chain.from_iterable(map(tokens, one.pieces))) for one in made]
    there = [Counter(tokens(text)) for text in texts]
    return share_of(
        sum((want & have).total() for want, have in zip(known, there, strict=True)),
        sum(want.total() for want in known),
    )


def pair_share(made: Sequence[Made], texts: Sequence[str]) -> float:
    """Pairs of neighbours in a piece that are neighbours in the text."""
    part = whole = 0
    for one, text in zip(made, texts, strict=True):
        there = set(pairwise(tokens(text)))
        wanted = [pair for piece in one.pieces for pair in pairwise(tokens(piece))]
        part += sum(pair in there for pair in wanted)
        whole += len(wanted)
    return share_of(part, whole)


def double_share(made: Sequence[Made], texts: Sequence[str]) -> float:
    """Known words that the text has more often than they are written; those of under four letters do not count."""
    part = whole = 0
    for one, text in zip(made, texts, strict=True):
        known = Counter(word for piece in one.pieces for word in tokens(piece) if len(word) > 3)
        there = Counter(tokens(text))
        part += sum(max(0, there[word] - times) for word, times in known.items())
        whole += known.total()
    return share_of(part, whole)


def rows_of(suffix: str, quick: bool, show: bool) -> list[Row]:
    """The rows of one format: ours, with floors, then each peer's words and pairs."""
    made = FORMATS[suffix](SEED)
    read = [ours(one.raw, suffix) for one in made]
    texts = [text for text, _ in read]
    if show:
        show_lost(made, read)
    told = [part in reasons for one, (_, reasons) in zip(made, read, strict=True) for part in one.left_out]
    words, pairs = word_share(made, texts), pair_share(made, texts)
    rows = [
        row(f"{suffix}: words", "share", words, bound="min", floor=WORDS),
        row(f"{suffix}: pairs of words in order", "share", pairs, bound="min", floor=PAIRS),
        row(f"{suffix}: words that come twice", "share", double_share(made, texts), floor=DOUBLES),
        row(f"{suffix}: things left out that are reported", "share", share_of(sum(told), len(told)), bound="min", floor=1.0),
    ]  # fmt: skip
    for name, peer in {} if quick else PEERS.get(suffix, {}).items():
        others = [peer_text(peer, one.raw, suffix) for one in made]
        for what, ours_, theirs in (
            ("words", words, word_share(made, others)),
            ("pairs of words in order", pairs, pair_share(made, others)),
        ):
            rows.append(
                row(f"{suffix}: {what}, {name}", "share", ours_, bound="min", peer=name, theirs=theirs)
            )
    return rows


def show_lost(made: Sequence[Made], read: Sequence[tuple[str, str]]) -> None:
    """Print what each document lost, and its reasons."""
    for one, (text, reasons) in zip(made, read, strict=True):
        there = set(pairwise(tokens(text)))
        lost = Counter(chain.from_iterable(map(tokens, one.pieces))) - Counter(tokens(text))
        parted = [pair for piece in one.pieces for pair in pairwise(tokens(piece)) if pair not in there]
        print(
            f"== {one.name}: lost {dict(lost)}; parted {parted[:8]}; reported: {reasons}\n{text if lost or parted else ''}"
        )


def main() -> int:
    """Make, read and count every format."""
    parser = options(__doc__, "without the other readers")
    parser.add_argument("--show", choices=FORMATS, help="print what a format's documents lost")
    given = parser.parse_args()
    rows = []
    for suffix in [given.show] if given.show else FORMATS:
        rows += rows_of(suffix, given.quick, given.show is not None)
    return report("What of documents reaches the store", rows, given.json)


if __name__ == "__main__":
    sys.exit(main())
