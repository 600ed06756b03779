"""Stores and engines beside the embedded ones: Chroma, Milvus, PostgreSQL, Neo4j, FalkorDB, Ray. Each but
Neo4j needs the extra of its name."""
