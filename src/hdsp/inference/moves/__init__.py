"""Moves between numbers of topics: two merge, one is divided, one is deleted.

Coordinate ascent keeps every topic it starts with. A move changes their number in one step, and is
made only if the bound, evaluated exactly for it, rises.
"""
