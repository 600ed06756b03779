"""Documents made by code whose every word is known, for ``bench_documents``."""
