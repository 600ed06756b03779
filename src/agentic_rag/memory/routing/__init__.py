"""Which agents a question is for, how each searches, and how much each counts."""
