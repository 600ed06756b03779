"""What people write notes in, read once for every stage: Markdown, properties, units, and a dataset's catalogue."""
