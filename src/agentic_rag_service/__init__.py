"""The interfaces to open stores: the HTTP service with its page, MCP, and the resources that a server shares."""
