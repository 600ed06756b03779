"""The graph in LanceDB tables: written, restored after a crash, walked, and copied to a graph server."""
