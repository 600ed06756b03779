"""Conversations of LoCoMo and BEAM: their files as documents."""
