"""Bulk work on a Ray cluster: documents parsed and prepared, vectors made and indexes built by many workers.

Only here is Ray imported, and only when the engine is asked for (extra ``distributed``).
"""
