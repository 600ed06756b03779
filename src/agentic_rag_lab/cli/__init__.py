"""The commands ``eval``, ``tune`` and ``bench``."""
