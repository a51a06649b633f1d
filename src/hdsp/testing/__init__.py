"""Conformance checks for plug-ins."""

from hdsp.testing.scaling import ScalingCase, check_scaling, make_case

__all__ = ["ScalingCase", "check_scaling", "make_case"]
