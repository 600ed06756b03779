"""Memory designs compared on conversations: memory services, operators around them, three graphs.

The flow of a turn: ``conversation`` (packets) → ``operators.pre_insert`` → ``data_parser`` →
``operators.memory_insert`` → a service of ``services`` → ``operators.post_insert``. The flow of a question:
``operators.memory_retrieval`` → ``agentic_rag_lab.designs.post_retrieval`` → ``operators.memory_test`` (``reading``,
``scoring``). ``graph`` wires both, and the main graph that calls them.
"""
