"""The page: server-rendered templates with locally served scripts and styles."""
