"""Twelve judged sets, in ten languages and across Chinese and English, from freely licensed reading comprehension.

    python evaluation/language_sets.py FOLDER

FOLDER holds the originals, copied from their repositories (all with licences that allow it; none is part of this
project): ``xquad.LANG.json`` (google-deepmind/xquad, CC BY-SA 4.0), ``drcd.json`` (DRCD_dev.json of
DRCKnowledgeTeam/DRCD, CC BY-SA 3.0), ``jsquad.json`` (valid-v1.3.json of yahoojapan/JGLUE, CC BY-SA 4.0),
``piaf.json`` (piaf-v1.0.json of etalab-ia/piaf-code, MIT), ``tydi_ko.json`` and ``tydi_bn.json`` (TyDi QA, Apache 2.0,
by language, of sagorbrur/tydiqa-language-specific). Each set becomes a folder in the BEIR layout beside them: passages
without titles, and QUESTIONS questions. XQuAD is one text in all its languages, so two sets ask the passages of one
language the questions of the other.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

QUESTIONS = 400
"""Half of them may choose parameters."""
PASSAGES = 400


@dataclass(frozen=True, slots=True)
class Original:
    """Where a set comes from."""

    passages: str
    """File with the passages."""
    questions: str = ""
    """File with the questions; "": the same."""


SETS = {
    "de": Original("xquad.de"),
    "fr": Original("piaf"),
    "ru": Original("xquad.ru"),
    "ar": Original("xquad.ar"),
    "hi": Original("xquad.hi"),
    "th": Original("xquad.th"),
    "ja": Original("jsquad"),
    "ko": Original("tydi_ko"),
    "zh-Hant": Original("drcd"),
    "bn": Original("tydi_bn"),
    "zh-en": Original("xquad.en", "xquad.zh"),
    "en-zh": Original("xquad.zh", "xquad.en"),
}
"""Originals by set; ``zh-en`` asks in Chinese what English passages answer."""


def main() -> int:
    if len(sys.argv) != 2:
        print((__doc__ or "").splitlines()[2].strip(), file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    for name, original in SETS.items():
        print(name, *_write(folder, name, original))
    return 0


def _write(folder: Path, name: str, original: Original) -> tuple[int, int]:
    """Write one set; its numbers of passages and questions."""
    passages = dict(_paragraphs(folder / f"{original.passages}.json"))
    questions = dict(_paragraphs(folder / f"{original.questions or original.passages}.json"))
    dice = random.Random(7)
    drawn = sorted(dice.sample(sorted(passages), min(PASSAGES, len(passages))))
    asked = [(place, qa) for place in drawn for qa in questions[place]["qas"]]
    asked = sorted(dice.sample(asked, min(QUESTIONS, len(asked))), key=lambda one: str(one[1]["id"]))
    rows = [{"_id": place, "title": "", "text": _text(passages[place]["context"])} for place in drawn]
    own = folder / name
    own.mkdir(exist_ok=True)
    _lines(own / "corpus.jsonl", rows)
    _lines(own / "queries.jsonl", [{"_id": str(qa["id"]), "text": qa["question"].strip()} for _, qa in asked])
    judged = "".join(f"{qa['id']}\t{place}\t1\n" for place, qa in asked)
    (own / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}", encoding="utf-8")
    return len(rows), len(asked)


def _paragraphs(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Paragraphs in the SQuAD layout, by their place, which is the same in all languages of XQuAD."""
    articles = json.loads(file.read_text("utf-8"))["data"]
    for article, held in enumerate(articles):
        for paragraph, own in enumerate(held["paragraphs"]):
            yield f"p{article:04}-{paragraph:03}", own


def _text(context: str) -> str:
    """JSQuAD puts the title before its marker [SEP]."""
    return context.rpartition("[SEP]")[2].strip()


def _lines(file: Path, rows: list[dict[str, str]]) -> None:
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
