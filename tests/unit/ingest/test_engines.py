"""Prepared documents form the same batches wherever they were prepared."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.ingest.engines import BATCH_CHUNKS, FIRST_DOCUMENTS, group_documents


@given(st.lists(st.integers(0, 2 * BATCH_CHUNKS)), st.integers(1, 20))
def test_a_batch_is_as_large_as_it_may_be(chunks: list[int], most: int) -> None:
    batches = list(group_documents(chunks, lambda count: count, most))
    assert [count for batch in batches for count in batch] == chunks
    for batch in batches:
        assert len(batch) == 1 or (len(batch) <= most and sum(batch) <= BATCH_CHUNKS)
    limits = [min(FIRST_DOCUMENTS * 2**number, most) for number in range(len(batches))]
    assert all(len(batch) <= limit for batch, limit in zip(batches, limits, strict=True))
    for (batch, following), limit in zip(pairwise(batches), limits, strict=False):
        assert len(batch) == limit or sum(batch) + following[0] > BATCH_CHUNKS
