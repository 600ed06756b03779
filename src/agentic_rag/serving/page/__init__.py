"""The page: server-rendered templates, and the scripts and styles that it serves itself."""
