"""What a question means: its terms, its form, the kind of value that it wants, its days, what it carries from the conversation.

``note_queries`` reads a question about many notes as a query to their properties, tags, folders, tasks, tables and dates.
"""
