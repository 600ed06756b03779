"""The graph half: Graphiti over LanceDB tables or a graph server too, every search leg answered by LanceDB."""
