"""Conformance checks for plug-ins."""

from hdsp.testing.reader import check_reader
from hdsp.testing.scaling import ScalingCase, check_scaling, make_case
from hdsp.testing.term import check_term

__all__ = ["ScalingCase", "check_reader", "check_scaling", "check_term", "make_case"]
