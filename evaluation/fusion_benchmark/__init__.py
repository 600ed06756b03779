"""The parts of ``bench_fusion.py``, one question a file."""
