"""What a server keeps open between its runs."""
