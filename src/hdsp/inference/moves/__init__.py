"""Moves that change the number of topics: merges, splits and deletions.

Coordinate ascent keeps every topic it starts with. A move changes their number in one step, and is
made only if it raises the bound, which is evaluated exactly.
"""
