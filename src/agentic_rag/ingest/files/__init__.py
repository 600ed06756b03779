"""The files that an ingest reads: which ones a folder has, by what they are read, and the documents that they become.

``discovery`` finds them, ``folders`` knows git's and Obsidian's rules, ``extraction`` reads formats in a process of its own.
"""
