"""Leaf mathematics: expectations of gamma variables, stick breaking, one integral."""
