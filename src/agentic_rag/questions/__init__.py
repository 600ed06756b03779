"""What a question means: its terms and form, its days, its query to the notes, what it carries from the conversation."""
