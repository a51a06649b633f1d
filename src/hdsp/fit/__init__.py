"""Whole fits: starts, the search for the number of topics, passes, merges, steps and streams."""
