"""Conformance checks for plug-ins."""

from hdsp.testing.scaling import ScalingCase, check_scaling, make_case
from hdsp.testing.term import check_term

__all__ = ["ScalingCase", "check_scaling", "check_term", "make_case"]
