"""The memory benchmark: conversations through memory designs, a record per question, tables and charts.

The flow of a run: ``source`` → the main graph of ``agentic_rag.lab`` (opened by ``agentic_rag.lab.open_lab``)
→ ``records`` → ``summary`` → ``compare`` and ``pictures``; ``run`` calls them in this order.
"""
