"""The forms of an answer: each a module that makes it of scored units, or leaves it to the next."""
