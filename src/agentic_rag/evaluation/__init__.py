"""Evaluation: judged queries, ranking measures, and how sure their differences are."""
