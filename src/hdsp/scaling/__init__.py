"""Scaling functions: what a document's labels do to its topics."""
