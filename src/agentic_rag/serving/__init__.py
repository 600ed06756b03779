"""Doors to open stores: what a server keeps open, the HTTP service with its page, and MCP."""
