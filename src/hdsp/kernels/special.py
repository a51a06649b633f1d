"""Gamma-function arithmetic inside compiled loops, without a call to the C library.

`exp_digamma` has one body per precision: the float32 one is short enough for the compiler
to vectorise, the float64 one is accurate to rounding and serves the tests and small problems.
"""

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, types
from numba.core import event
from numba.core.options import DefaultOptions
from numba.extending import overload, register_jitable

from hdsp import progress

# Shown while code is compiled.
TITLE = "Compiling, at first use only"
# Sums may be reordered so that they vectorise; divisions may not become approximate reciprocals,
# which vector code would take and scalar code not. A vectorised loop falls back to scalar code
# where arrays lie too close in memory, so the two must agree, and loops that both store and sum
# are kept apart.
ARITHMETIC: Any = {
    "fastmath": {"nnan", "ninf", "nsz", "contract", "reassoc"},
    "error_model": "numpy",
}
# For what allocates no arrays: numba then does not count who holds one, which takes a second to
# compile where functions are put into each other.
UNCOUNTED: Any = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}
# Unused elements behind each working array, so that no two arrays are too close.
PADDING = 64
# For functions that only kernels call. They must become part of the kernel's own code: where a call
# is left, numba leads it to the first function of that name in the process, which is the one that
# was compiled on its own, or the copy in whichever cached kernel was loaded first. Each of these is
# optimised differently, and rounds differently.
INLINED: Any = {"forceinline": True, **ARITHMETIC, **UNCOUNTED}
# For those that are compiled on their own, too: they need no wrapper.
DEVICE: dict[str, Any] = {
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    **INLINED,
}
# For parts of one kernel, of which each is called once: they are put into it before it is compiled,
# which takes no longer, and rounds no differently, than if it had been written in one piece.
PART: Any = {"inline": "always", "no_cpython_wrapper": True}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls, at its first call, and cache it on disk.

    numba caches beside the module, or in the user's own folder where that is read-only; where
    neither can be written, every process compiles again.
    """
    options = {"nogil": True, "no_cfunc_wrapper": True, **ARITHMETIC}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:
        return njit(**options)(function)


class _Compiling(event.Listener):
    """Shows that code is compiled, for whoever waits; functions inside others are part of them.

    The compiler makes millions of small objects, of which few are garbage: to search them for it
    takes a tenth of its time, so Python does not meanwhile.
    """

    def __init__(self) -> None:
        self._tasks: list[progress.Task] = []
        self._collecting = False

    def on_start(self, event: Any) -> None:
        if not self._tasks:
            self._collecting = gc.isenabled()
            gc.disable()
        self._tasks.append(progress.Task() if self._tasks else progress.task(TITLE))
        self._tasks[-1].__enter__()

    def on_end(self, event: Any) -> None:
        self._tasks.pop().__exit__(None)
        if self._collecting and not self._tasks:
            gc.enable()


event.register("numba:compile", _Compiling())

_LOG2E = np.float32(1.4426950408889634)
_HALF_LOG_2PI = 0.9189385332046727


# Loops in place of NumPy's slices and reductions, whose general forms take seconds to compile.
@register_jitable(forceinline=True, **ARITHMETIC)
def scratch(length, dtype):
    """A working array that is not too close to others in memory."""
    return np.empty(length + PADDING, dtype)[:length]


@register_jitable(**INLINED)
def fill(row, value):
    """``row[:] = value`` for a one-dimensional array and a number."""
    for i in range(row.shape[0]):
        row[i] = value


@register_jitable(**INLINED)
def largest(row):
    """``row.max()`` of a one-dimensional array."""
    result = row[0]
    for i in range(row.shape[0]):
        result = max(result, row[i])
    return result


@register_jitable(**INLINED)
def smallest(row):
    """``row.min()`` of a one-dimensional array."""
    result = row[0]
    for i in range(row.shape[0]):
        result = min(result, row[i])
    return result


@register_jitable(**INLINED)
def _exp_of_negative(x):
    """exp(x) in float32 for x <= 0; exact zero below -80, so that no subnormal appears."""
    scaled = max(x, np.float32(-80.0)) * _LOG2E
    whole = np.int32(scaled - np.float32(0.5))
    part = scaled - np.float32(whole)
    # The Taylor series of 2^part on [-1/2, 1/2]; the first term left out is below 1e-7.
    power = np.float32(1.5403530393381609e-4)
    power = power * part + np.float32(1.3333558146428443e-3)
    power = power * part + np.float32(9.6181291076284771e-3)
    power = power * part + np.float32(5.5504108664821580e-2)
    power = power * part + np.float32(2.4022650695910071e-1)
    power = power * part + np.float32(6.9314718055994531e-1)
    power = power * part + np.float32(1.0)
    exponent = np.int32((whole + np.int32(127)) * np.int32(1 << 23))
    result = power * exponent.view(np.float32)
    return result if x > np.float32(-80.0) else np.float32(0.0)


@register_jitable(**INLINED)
def _exp_digamma_float32(a):
    y = a + np.float32(4.0)
    r = np.float32(1.0) / y
    u = a * (a + np.float32(3.0))
    # sum_{i<4} 1 / (a + i) in two divisions
    shift = (a + a + np.float32(3.0)) / u
    shift = shift * (np.float32(2.0) - np.float32(2.0) / (u + np.float32(2.0)))
    r2 = r * r
    series = r * np.float32(0.5) + r2 * (
        np.float32(1.0 / 12.0) - r2 * (np.float32(1.0 / 120.0) - r2 * np.float32(1.0 / 252.0))
    )
    return y * _exp_of_negative(-(series + shift))


@register_jitable(**INLINED)
def _digamma_series(y):
    """ln y - psi(y) for y >= 8, to 1e-15."""
    r = 1.0 / y
    r2 = r * r
    tail = 1.0 / 252.0 - r2 * (1.0 / 240.0 - r2 * (1.0 / 132.0 - r2 * 691.0 / 32760.0))
    return r * 0.5 + r2 * (1.0 / 12.0 - r2 * (1.0 / 120.0 - r2 * tail))


@register_jitable(**INLINED)
def digamma_and_log_gamma(a):
    """psi(a) and ln Gamma(a) for a > 0, by shifting the argument above 8.

    Plain twin: ``scipy.special.psi`` and ``scipy.special.gammaln``.
    """
    y = a
    harmonic = 0.0
    product = 1.0
    # Eight steps at most, whatever the argument: this loop must end.
    for _ in range(8):
        if y < 8.0:
            harmonic += 1.0 / y
            product *= y
            y += 1.0
    log_y = np.log(y)
    r = 1.0 / y
    r2 = r * r
    stirling = r * (
        1.0 / 12.0
        - r2
        * (
            1.0 / 360.0
            - r2
            * (1.0 / 1260.0 - r2 * (1.0 / 1680.0 - r2 * (1.0 / 1188.0 - r2 * 691.0 / 360360.0)))
        )
    )
    log_gamma = (y - 0.5) * log_y - y + _HALF_LOG_2PI + stirling - np.log(product)
    return log_y - _digamma_series(y) - harmonic, log_gamma


@register_jitable(**INLINED)
def _exp_digamma_float64(a):
    y = a
    harmonic = 0.0
    for _ in range(8):
        if y < 8.0:
            harmonic += 1.0 / y
            y += 1.0
    return y * np.exp(-_digamma_series(y) - harmonic)


@register_jitable(**INLINED)
def _exp_float32(x):
    """exp(x) in float32 for |x| <= 80: a reciprocal turns the sign of a positive argument."""
    small = _exp_of_negative(-abs(x))
    return small if x <= np.float32(0.0) else np.float32(1.0) / small


@register_jitable(**INLINED)
def _log_float32(x):
    """ln(x) in float32 for positive, normal x, to about one unit in the last place."""
    bits = np.float32(x).view(np.int32)
    # The exponent that leaves a mantissa in [2/3, 4/3).
    exponent = np.int32(np.int32(bits - np.int32(0x3F2AAAAB)) >> np.int32(23))
    mantissa = np.int32(bits - np.int32(exponent * np.int32(1 << 23))).view(np.float32)
    u = mantissa - np.float32(1.0)
    series = np.float32(-0.130310059)
    series = series * u + np.float32(0.140869141)
    series = series * u + np.float32(-0.121483363)
    series = series * u + np.float32(0.139814854)
    series = series * u + np.float32(-0.166846141)
    series = series * u + np.float32(0.200120345)
    series = series * u + np.float32(-0.249996200)
    series = series * u + np.float32(0.333331972)
    series = series * u + np.float32(-0.5)
    return np.float32(exponent) * np.float32(0.693147182) + (series * u * u + u)


def _by_precision(name: str, single: Any, double: Any) -> Any:
    """A function for compiled code: `single` where its argument is float32, else `double`."""

    def function(x: Any) -> Any:
        raise NotImplementedError(f"{name} is only called from compiled code.")

    def choose(x: Any) -> Any:
        chosen = single if x == types.float32 else double

        def implementation(x: Any) -> Any:
            return chosen(x)

        return implementation

    overload(function, jit_options=INLINED)(choose)
    return function


# exp(psi(x)), the geometric mean of a Gamma(x, 1) variable; zero where it underflows.
# Plain twin: ``numpy.exp(scipy.special.psi(x))``.
exp_digamma = _by_precision("exp_digamma", _exp_digamma_float32, _exp_digamma_float64)
# ln(x) of a positive number, in a form the compiler can vectorise in float32; twin: ``numpy.log``.
fast_log = _by_precision("fast_log", _log_float32, np.log)
# exp(x) for |x| <= 80, in a form the compiler can vectorise in float32; twin: ``numpy.exp``.
fast_exp = _by_precision("fast_exp", _exp_float32, np.exp)
