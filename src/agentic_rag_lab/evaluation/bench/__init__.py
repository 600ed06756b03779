"""The memory benchmark: conversations through memory designs, a record per question, tables and charts.

The flow of a run, which ``run`` calls in this order: ``conversations`` → the main graph of ``agentic_rag_lab.designs`` (opened
by ``designs.open_lab``) → ``records`` → ``figures``; ``evaluation.pictures`` draws them.
"""
