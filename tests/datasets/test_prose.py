import pytest

from hdsp.datasets.prose import prose

DOCSTRING = r"""
    welch(x, fs=1.0)

    Estimate power spectral density using Welch's method.

    The density is :math:`\frac{a}{b}`, see :func:`numpy.fft.rfft` or https://example.org/welch.

    .. versionadded:: 0.12.0

    >>> welch(signal)
    array([4, 5])

    Parameters
    ----------
    tapering : str or tuple, optional
        Desired window to use.

    See Also
    --------
    periodogram : A simple estimate.

    Notes
    -----
    An appropriate amount of overlap.

    **Array API Standard Support**

    `welch` has experimental support for CuPy.

    References
    ----------
    .. [1] P. Bartlett, Biometrika.

    Examples
    --------
    Generate a sine.

    >>> import numpy as np
    """


def test_prose_keeps_the_sentences_and_parameter_names():
    text = prose(DOCSTRING)
    for kept in ("Estimate power", "Desired window", "amount of overlap", "tapering", "rfft"):
        assert kept in text


@pytest.mark.parametrize(
    "noise",
    [
        *("fs=1.0", ">>>", "array([", "tuple", "----", "versionadded", "https", "example.org"),
        *("func", "math", "frac", "Parameters", "Notes", "periodogram", "CuPy", "Bartlett", "sine"),
    ],
)
def test_prose_drops(noise):
    assert noise in DOCSTRING
    assert noise not in prose(DOCSTRING)


def test_a_section_after_a_dropped_one_is_kept():
    assert prose("Sum.\n\nExamples\n--------\n>>> 1\n1\n\nNotes\n-----\nKept.") == "Sum.\n\nKept."


def test_prose_of_nothing_is_nothing():
    assert prose("") == ""
