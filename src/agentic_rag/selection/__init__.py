"""Questions about many notes: read as a query to what people wrote as properties, tags, folders, tasks and dates."""
