"""The memory benchmark: conversations through memory designs, a record per question, tables and charts.

The flow of a run: ``source`` → the main graph of ``agentic_rag_lab.designs`` (opened by ``agentic_rag_lab.designs.open_lab``)
→ ``records`` → ``summary`` → ``compare`` and ``pictures``; ``run`` calls them in this order.
"""
