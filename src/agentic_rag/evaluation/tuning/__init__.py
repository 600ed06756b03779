"""Tuning on one's own labelled queries, by cross-validation.

The way of a run: ``search`` says what any settings would have made of what both sources found, chooses the best and
sets when to abstain; ``run`` collects, calls it fold by fold and reports the gain.
"""
