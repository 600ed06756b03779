"""What every ``retrieval.sources.Source`` promises, checked against those of the main graph."""

from __future__ import annotations

import pytest

from agentic_rag.retrieval.sources import GraphSource, MemorySource, Source, VectorSource
from agentic_rag.testing import FakeGraphEngine, FakeMemory, FakeRetrievalEngine, fake_chunk
from agentic_rag.testing.contracts.source import SourceContract

TEXT = "Where does oolong come from?"


class TestSource(SourceContract):
    @pytest.fixture(params=["graph", "vectors", "memories"])
    def source(self, request: pytest.FixtureRequest) -> Source:
        chunks = [(fake_chunk("Oolong comes from Fujian."), 0.8), (fake_chunk("Tea is a drink."), 0.3)]
        if request.param == "graph":
            return GraphSource(FakeGraphEngine(chunks))
        if request.param == "vectors":
            return VectorSource(FakeRetrievalEngine(chunks))
        return MemorySource(FakeMemory({"ada": [("Oolong comes from Fujian.", 0.8)]}))

    @pytest.fixture
    def known_text(self) -> str:
        return TEXT
