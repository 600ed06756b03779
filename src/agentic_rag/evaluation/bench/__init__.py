"""The memory benchmark: conversations through memory designs, records of every question, tables and pictures.

The way of a run: ``source`` → the main graph of ``agentic_rag.memory`` (opened by ``agentic_rag.open_memory``)
→ ``records`` → ``summary`` → ``compare`` and ``pictures``; ``run`` calls them in this order.
"""
