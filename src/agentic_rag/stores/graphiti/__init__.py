"""What Graphiti asks for: its drivers, its search and its reads and writes over the graph's tables; and extraction."""
