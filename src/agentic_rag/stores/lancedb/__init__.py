"""The vector half on LanceDB: chunks, full text, metadata filters and the ingest ledger."""
