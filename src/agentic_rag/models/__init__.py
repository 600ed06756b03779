"""Models behind the ports: embeddings, chat."""
