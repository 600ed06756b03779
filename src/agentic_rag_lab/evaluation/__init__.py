"""Evaluation: judged queries, ranking measures, and significance of their differences."""
