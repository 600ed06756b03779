"""Exports of notes: Notion, Logseq and Evernote."""
