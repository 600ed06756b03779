"""Parameters of a call, configuration, and where both are read."""
