"""Conformance suites of the ports, for a store of your own.

They run under pytest with pytest-asyncio (``asyncio_mode = "auto"``). Inherit a class and override its fixture:

    class TestMyStore(ChunkStoreContract):
        @pytest.fixture
        async def store(self):
            async with open_my_store(dimension=DIMENSION) as store:
                yield store

``chunk_store.ChunkStoreContract``, ``graph_store.GraphStoreContract``, ``ledger.LedgerContract`` and
``source.SourceContract``. The stores of this distribution pass the same suites in ``tests/contract``.
"""

import pytest

pytest.register_assert_rewrite(
    *(f"{__name__}.{name}" for name in ("chunk_store", "graph_store", "ledger", "source"))
)
