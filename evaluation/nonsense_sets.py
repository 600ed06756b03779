"""Twelve small and large sets of notes: 1, 4, 15 and 300 Markdown notes, each in Chinese, in English and in both.

    python evaluation/nonsense_sets.py FOLDER [--data DIR]

Writes every set into a folder of its own below FOLDER. Those of 300 need data that are not part of this project
(DIR, by default ../shared/data); without them they are skipped, and the reason is printed.
"""

from __future__ import annotations

import argparse
import html
import json
import random
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

PROJECT = Path(__file__).parents[1]
DATA = PROJECT.parent / "shared" / "data"
SEED = 7
MANY = 300
"""Notes in a large set."""
LONGEST_NAME = 60
"""Maximum characters of a file name without its suffix; at least 1."""
NAMELESS = 16
"""Characters of its text that name a document without a title."""
_UNSAFE = re.compile(r'[\\/:*?"<>|#^\[\]\x00-\x1f]+')
"""Characters forbidden in a file name or in a link to a note."""
_STAMP = re.compile(r"^(?:[A-Z][a-z]{2} \d{1,2}, \d{4} \.\.\. )?\W*")
"""A date before a text, as search engines show it, and signs."""
_LANGUAGE = re.compile(r"^lang: (\w+)$", re.MULTILINE)
"""A property of the notes of this project's vaults."""

WRITTEN: Mapping[str, Mapping[str, str]] = {
    "one_zh": {"豆浆": "豆浆：黄豆泡一夜，加水磨碎，滤掉豆渣，煮沸十分钟再喝。"},
    "one_en": {
        "Bicycle chain": "Oil the bicycle chain every two hundred kilometres and wipe off the rest.\n"
        "A worn chain is replaced before it ruins the cassette."
    },
    "one_mixed": {
        "Basil 罗勒": "罗勒喜欢阳光，每天早上浇水。\n"
        "Basil dies below ten degrees, so bring it indoors in October."
    },
    "four_zh": {
        "苹果": "苹果是水果。",
        "雨伞": "雨伞在门后的架子上。",
        "地铁": "地铁二号线的末班车是晚上十一点。",
        "牙医": "牙医的预约在每年三月和九月。",
    },
    "four_en": {
        "Router": "The router's password is written on its back.",
        "Rex": "Rex the dog eats twice a day and hates carrots.",
        "Rent": "The rent is due on the fifth of each month.",
        "Espresso": "Grind eighteen grams of coffee for one espresso.",
    },
    "four_mixed": {
        "饺子": "饺子下锅以后点三次凉水。",
        "图书馆": "图书馆周一闭馆，借书期限三十天。",
        "Spare key": "The spare key is with Anna on the third floor.",
        "Bin day": "Paper is collected on Tuesday, glass on Friday.",
    },
}
"""One- and two-line notes, by set and title."""

TEA = Path("examples", "vault")
STARS = Path("evaluation", "datasets", "vault_night_sky", "vault")
POTS = Path("evaluation", "datasets", "vault_pottery", "vault")
TAKEN: Mapping[str, Mapping[Path, str]] = {
    "fifteen_zh": {
        TEA: "processing/渥堆 processing/杀青 processing/萎凋 processing/焙火 plants/铁观音",
        POTS: "wares/汝窑 wares/钧窑 wares/龙泉青瓷 faults/缩釉 colour/氧化钴",
        STARS: "sky/月食 sky/土星 sky/昴星团 calendar/置闰 history/郭守敬",
    },
    "fifteen_en": {
        TEA: "chemistry/Caffeine chemistry/Theanine places/Uji plants/Yabukita processing/Shading",
        POTS: "wares/Raku faults/Crazing work/Centring colour/Copper wares/Jian_bowls",
        STARS: "sky/Jupiter sky/Orion_Nebula gear/Binoculars calendar/Precession history/William_Herschel",
    },
    "fifteen_mixed": {
        TEA: "processing/萎凋 plants/铁观音 史/茶马古道 chemistry/Catechins teas/Oolong places/Uji",
        POTS: "materials/草木灰 work/素烧 wares/Raku colour/Copper",
        STARS: "sky/月食 sky/土星 gear/Eyepieces sky/Double_stars sky/Jupiter",
    },
}
"""Notes of this project's vaults, by set; ``_`` stands for a space in a name."""

CMRC = "beir/cmrc2018/trial"
RGB_ZH = "beir/rgb/zh_fact"
HOTPOT = "beir/multihop/hotpot_train100"
DRAWN: Mapping[str, Sequence[tuple[str, int]]] = {
    "many_zh": ((CMRC, 256), (RGB_ZH, 44)),
    "many_en": ((HOTPOT, MANY),),
    "many_mixed": ((CMRC, MANY // 2), (HOTPOT, MANY // 2)),
}
"""Numbers of documents and their corpora, by set."""
NAMES = (*WRITTEN, *TAKEN, *DRAWN)
"""Names of all sets, the smallest first."""


def write_dataset(name: str, folder: Path, data: Path = DATA) -> int | None:
    """Write one set's notes into a folder; returns their number, or None if their data are missing.

    Args:
        name: one of NAMES.
        folder: created if missing.
        data: contains the corpora of DRAWN.
    """
    if name in WRITTEN:
        notes = {title: f"{text}\n" for title, text in WRITTEN[name].items()}
    elif name in TAKEN:
        notes = _own(name)
    else:
        if lacking := [path for path, _ in DRAWN[name] if not (data / path / "corpus.jsonl").is_file()]:
            print(f"{name} is skipped: {data} lacks {', '.join(lacking)}")
            return None
        notes = {}
        for path, count in DRAWN[name]:
            _draw(notes, data / path / "corpus.jsonl", count)
    folder.mkdir(parents=True, exist_ok=True)
    for title, text in notes.items():
        (folder / f"{title}.md").write_text(text, encoding="utf-8")
    return len(notes)


def _own(name: str) -> dict[str, str]:
    """Notes of this project's vaults, in the set's language by their ``lang``."""
    notes = {}
    wanted = {"zh", "en"} if name.endswith("mixed") else {name.rpartition("_")[2]}
    for vault, paths in TAKEN[name].items():
        for path in paths.split():
            file = PROJECT / vault / f"{path.replace('_', ' ')}.md"
            text = file.read_text("utf-8")
            if not wanted.issuperset(_LANGUAGE.findall(text)[:1]):
                raise ValueError(f"{file} is not in {' or '.join(sorted(wanted))}")
            notes[file.stem] = text
    return notes


def _draw(notes: dict[str, str], corpus: Path, count: int) -> None:
    """Add random documents of a corpus, with a fixed seed, under unused names."""
    documents = [json.loads(line) for line in corpus.read_bytes().splitlines()]
    random.Random(SEED).shuffle(documents)
    wanted = len(notes) + count
    for document in documents:
        if len(notes) == wanted:
            return
        title, text = html.unescape(document.get("title") or ""), document["text"].strip()
        name = _file_name(title or _STAMP.sub("", text)[:NAMELESS])
        if name and text and name not in notes:
            notes[name] = f"# {title}\n\n{text}\n" if title else f"{text}\n"
    if len(notes) < wanted:
        raise ValueError(f"{corpus} has no {count} documents with names of their own")


def _file_name(title: str) -> str:
    return " ".join(_UNSAFE.sub(" ", title).split())[:LONGEST_NAME].strip(" .")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--data", type=Path, default=DATA, metavar="DIR")
    given = parser.parse_args(arguments)
    for name in NAMES:
        count = write_dataset(name, given.folder / name, given.data)
        if count is not None:
            print(f"{name}: {count} notes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
