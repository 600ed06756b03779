"""Ask your notes: a LangGraph state machine over a temporal knowledge graph and a vector store."""
