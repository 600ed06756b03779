"""Questions about many notes, read as queries to their properties, tags, folders, tasks, tables and dates."""
