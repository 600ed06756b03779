"""The nodes of the graph, one verb a file; each returns only the keys it writes."""
