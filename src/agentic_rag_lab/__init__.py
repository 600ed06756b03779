"""What measures the core: evaluation and tuning on labelled queries, and memory designs on conversations."""
