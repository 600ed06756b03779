"""What of a text is worth remembering: facts of slots, preferences, instructions, and the sentences themselves."""
