"""What reads the files of other programs: formats of documents, exports of conversations and of notes."""
