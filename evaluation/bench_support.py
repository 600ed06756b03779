"""Agreement of the check of a chat model's sentences with labels.

    python evaluation/bench_support.py [--quick] [--json FILE]

Each sentence of ``datasets/support`` cites one of two passages and is labelled: supported, or unsupported, contradicted or
of a wrong number, which are all to be refused. It is checked with the tokens of the bundled model and without any. Then it is
given without its mark, with both passages: it should cite the right one, or be left out. The half ``reported`` chose
nothing. The quick form checks a fifth. Exits 1 when the floor is missed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentic_rag.answering.citations import cited_numbers, only_known
from agentic_rag.answering.grounding.cited_answers import CitedAnswer, cited_answer
from agentic_rag.domain.ports import TokenEmbedding
from agentic_rag.models.bundled import BundledEmbedding
from agentic_rag.text import script
from figures import OWN, Row, options, report, share

FOLDER = OWN / "support"
MIN_AGREEMENT = 0.85
QUICK = 5


@dataclass(frozen=True, slots=True)
class Labelled:
    """A labelled sentence with its mark, and its passages."""

    half: str
    label: str
    question: str
    answer: str
    passages: tuple[str, ...]

    @property
    def is_supported(self) -> bool:
        return self.label == "supported"

    @property
    def bare(self) -> str:
        """Without its mark."""
        return only_known(self.answer, ())

    @property
    def cited(self) -> int:
        """The number of the passage it was written for."""
        return cited_numbers(self.answer, range(1, len(self.passages) + 1))[0]

    @property
    def language(self) -> str:
        """Its script, or that its passage is in another one."""
        own = script(self.bare)
        other = own != script(self.passages[self.cited - 1])
        return "across" if other else {"latin": "English", "cjk": "Chinese"}[own]


def read_sentences() -> list[Labelled]:
    """The labelled sentences in the order of their file."""
    passages = json.loads((FOLDER / "passages.json").read_text())
    texts = {name: f"{one['title']}\n{one['text']}" for name, one in passages.items()}
    rows = map(json.loads, (FOLDER / "sentences.jsonl").read_text().splitlines())
    return [
        Labelled(
            row["half"],
            row["label"],
            row["question"],
            row["answer"],
            tuple(texts[name] for name in row["passages"]),
        )
        for row in rows
    ]


async def _checked(sentences: Sequence[Labelled], model: TokenEmbedding | None) -> list[float]:
    """1 where the check of the cited passage alone agrees with the label."""
    agreed = []
    for one in sentences:
        answer = f"{one.bare[:-1]} [1]{one.bare[-1]}"
        found = await cited_answer(answer, one.question, [one.passages[one.cited - 1]], model)
        agreed.append(float(bool(found.text) == one.is_supported))
    return agreed


async def _without_marks(
    sentences: Sequence[Labelled], model: TokenEmbedding
) -> list[tuple[Labelled, CitedAnswer]]:
    return [(one, await cited_answer(one.bare, one.question, one.passages, model)) for one in sentences]


def _rows(sentences: Sequence[Labelled], agreed: Mapping[str, Sequence[float]]) -> list[Row]:
    kinds = ("supported", "unsupported", "contradicted", "wrong_number", "English", "Chinese", "across")
    groups = [("reported half", "reported", MIN_AGREEMENT), ("choosing half", "choosing", None)]
    groups += [(f"reported, {kind}", kind, None) for kind in kinds]
    rows = []
    for name, kind, floor in groups:
        half = "choosing" if kind == "choosing" else "reported"
        at = [
            n
            for n, one in enumerate(sentences)
            if one.half == half and kind in (half, one.label, one.language)
        ]
        ours = [agreed["tokens"][n] for n in at]
        rows.append(share(f"{name}, of {len(at)}", "min", ours, floor=floor))
    reported = [agreed["letters"][n] for n, one in enumerate(sentences) if one.half == "reported"]
    rows.append(share("reported half by letters alone", "min", reported))
    return rows


def _citing_rows(found: Sequence[tuple[Labelled, CitedAnswer]]) -> list[Row]:
    kept = [float(held.numbers == (one.cited,)) for one, held in found if held.text]
    supported = [float(one.is_supported) for one, held in found if held.text]
    reached = [float(bool(held.text)) for one, held in found if one.is_supported]
    return [
        share(f"without marks: of {len(kept)} cited anew, the right passage", "min", kept),
        share("without marks: of these, supported by it", "min", supported),
        share(f"without marks: of {len(reached)} supported, cited anew", "min", reached),
    ]


async def _measured(sentences: Sequence[Labelled]) -> list[Row]:
    model = BundledEmbedding()
    agreed = {"tokens": await _checked(sentences, model), "letters": await _checked(sentences, None)}
    reported = [one for one in sentences if one.half == "reported"]
    return [
        *_rows(sentences, agreed),
        *_citing_rows(await _without_marks(reported, model)),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit code."""
    chosen = options(__doc__, f"check every {QUICK}th sentence").parse_args(arguments)
    sentences = read_sentences()[:: QUICK if chosen.quick else 1]
    rows = asyncio.run(_measured(sentences))
    return report("agreement with the labels", rows, chosen.json)


if __name__ == "__main__":
    sys.exit(main())
