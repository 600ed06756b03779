"""The vector half on other stores, through langchain-core's ``VectorStore``: Chroma, Milvus, PostgreSQL.

``adapter`` is the one implementation of ``ports.ChunkStore``; ``chroma``, ``milvus`` and ``pgvector`` hold
what differs. Nothing here is imported unless such a store is configured.
"""
