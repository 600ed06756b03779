"""What stands before and behind a memory: one module an operator, each with the actions its page names."""
