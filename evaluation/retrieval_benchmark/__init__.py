"""The parts of ``bench_retrieval.py``, one question a file."""
