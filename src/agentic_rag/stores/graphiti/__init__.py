"""The graph half: Graphiti over a graph file or server, every search leg answered by LanceDB."""
