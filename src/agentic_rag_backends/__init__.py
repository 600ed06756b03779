"""Stores and engines beside the embedded ones: Chroma, Milvus, PostgreSQL, Ray. Each needs the extra of its name."""
