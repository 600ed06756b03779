"""The answers of the operations other than document_retrieval: cards, comparisons, concepts and their quotes."""
