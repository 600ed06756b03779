"""Tuning on one's own labelled queries, by cross-validation.

The way of a run: ``replay`` keeps what both sources found and says what any settings would have made of it →
``search`` chooses settings → ``thresholds`` sets when to abstain → ``settings`` writes the file that ``ask`` uses;
``run`` calls them in this order and reports the gain.
"""
