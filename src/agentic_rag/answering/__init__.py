"""Answering: verbatim quotes with citations, shaped by the operation; or a chat model held to them."""
