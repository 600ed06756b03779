"""Bulk ingest on a Ray cluster: workers parse and prepare documents, embed texts, and build indexes.

Ray is imported only here, and only if the engine ``ray`` is used (extra ``distributed``).
"""
