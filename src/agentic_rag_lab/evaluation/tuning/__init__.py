"""Tuning on a user's labelled queries, by cross-validation.

The flow of a run: ``search`` replays any settings on the collected hits of both sources, chooses the best settings and
the abstention threshold; ``run`` collects the hits, calls it fold by fold and reports the gain.
"""
