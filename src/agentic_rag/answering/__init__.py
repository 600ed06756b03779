"""Answering: lines with citations, from passages to the text of an answer.

``source_notes`` reads the notes of the passages as units, ``term_levels`` and ``evidence`` score them by the question,
``composing`` puts them into the form that is asked for, one of ``forms``, and ``answers`` refuses what they do not say.
``operations`` shapes the answers of the other operations, ``grounding`` holds a chat model's sentences to the passages.
"""
