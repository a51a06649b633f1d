"""Terms: how label columns become columns of a design.

A *label column* is what people have: tags, a category, a number. A *term* makes columns of the
design from one or more of them. Scaling functions and regressions see columns of the design, and
terms say which of these belong together.
"""

from hdsp.labels import registry
from hdsp.labels.plain import Levels, Number, Tags, plain_term
from hdsp.labels.registry import *  # noqa: F403 - whatever the registry has
from hdsp.labels.registry import TERMS
from hdsp.labels.term import Table, Term, TermProduct

__all__ = ["TERMS", "Levels", "Number", "Table", "Tags", "Term", "TermProduct", "plain_term"]
__all__ += registry.__all__
