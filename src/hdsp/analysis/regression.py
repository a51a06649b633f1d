"""Linear regression of topic proportions, with robust and classical intervals.

Ordinary or weighted least squares of proportions Y [M, T] on a design [M, p]. A contrast c'b has
two standard errors: a robust one, HC2 or with groups CR2 (Bell and McCaffrey 2002), with
Satterthwaite degrees of freedom; and a classical one, with groups multiplied by Moulton's factor.
The interval is the wider of the two (Angrist and Pischke 2009, section 8.1).
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import csr_array
from scipy.special import fdtrc, stdtr, stdtrit

from hdsp.kernels import run_ranges
from hdsp.numerics import BoolArray, FloatArray, IntArray

# A column is collinear with those before it if no more than this part of its square is left. A
# document's leverage is taken for at most this much, as one that a column fits exactly has none.
_COLLINEAR, _JITTER = 1e-10, 1e-12
_MOST_LEVERAGE = 1.0 - 1e-7
# Contrasts at a time, and numbers of what groups add.
_CHUNK, _MOST_NUMBERS = 256, 10_000_000
# Columns that are added at a time, and the part of one that the design must leave.
_ADDED, _NEGLIGIBLE = 128, 1e-10


class Estimates(NamedTuple):
    """Estimates of contrasts [C, T] with a robust and a classical standard error, NaN if unknown.

    `degrees` [C, 1] or [C, T] are degrees of freedom of the robust error, `classical_degrees` those
    of the classical one.
    """

    value: FloatArray
    robust: FloatArray
    classical: FloatArray
    degrees: FloatArray
    classical_degrees: float

    def _half_widths(self, level: float) -> tuple[FloatArray, FloatArray]:
        quantile = (1.0 + level) / 2.0
        robust = stdtrit(self.degrees, quantile) * self.robust
        return robust, stdtrit(self.classical_degrees, quantile) * self.classical

    def half_width(self, level: float) -> FloatArray:
        """Half of the wider interval, [C, T]."""
        return np.asarray(np.maximum(*self._half_widths(level)))

    def error(self, level: float = 0.9) -> FloatArray:
        """The standard error of the wider interval, [C, T]."""
        robust, classical = self._half_widths(level)
        return np.where(robust >= classical, self.robust, self.classical)

    @property
    def p(self) -> FloatArray:
        """Two-sided p values, the larger of both, [C, T]."""
        with np.errstate(invalid="ignore", divide="ignore"):
            robust = stdtr(self.degrees, -np.abs(self.value) / self.robust)
            classical = stdtr(self.classical_degrees, -np.abs(self.value) / self.classical)
        p = 2.0 * np.fmax(robust, classical)
        return np.where(np.isnan(self.value), np.nan, np.where(self.value == 0.0, 1.0, p))

    def take(self, rows: IntArray | slice) -> "Estimates":
        """Some of the contrasts."""
        return Estimates._make([*(own[rows] for own in self[:4]), self.classical_degrees])


def intraclass_correlation(residuals: FloatArray, group: IntArray) -> FloatArray:
    """The correlation of residuals [M, T] of two documents of a group [M], at least 0, [T]."""
    sizes = np.bincount(group)
    member = csr_array((np.ones(len(group)), (group, np.arange(len(group)))))
    both = ((member @ residuals) ** 2).sum(axis=0) - (residuals**2).sum(axis=0)
    pairs = max(float((sizes * (sizes - 1)).sum()), 1.0)
    spread = np.maximum((residuals**2).mean(axis=0), 1e-300)
    return np.asarray(np.clip(both / pairs / spread, 0.0, 1.0))


def stack_estimates(parts: Sequence[Estimates]) -> Estimates:
    """The contrasts of all parts."""
    joined = map(np.concatenate, zip(*(part[:4] for part in parts), strict=True))
    return Estimates._make([*joined, parts[0].classical_degrees])


def _kish(square: FloatArray) -> FloatArray:
    """Effective numbers of documents minus 1, from squared weights [M, C]; as degrees, at least 1.

    Without groups they equal Bell and McCaffrey's degrees to 1%.
    """
    size = np.maximum((square**2).sum(axis=0), 1e-300)
    return np.asarray(square.sum(axis=0) ** 2 / size - 1.0)


def _satterthwaite(length: FloatArray, within: FloatArray, products: FloatArray) -> FloatArray:
    """Bell and McCaffrey's degrees, [C]: (sum l)^2 / sum l^2 for eigenvalues l of diag(a) - I I'.

    `length` [G, C] is a, `within` [G, C] the diagonal of I I', and `products` [C] the sum of its
    squares.
    """
    squares = (length**2 - 2.0 * length * within).sum(axis=0) + products
    return np.asarray((length - within).sum(axis=0) ** 2 / np.maximum(squares, 1e-300))


def adjust_p(p: FloatArray) -> FloatArray:
    """Benjamini and Hochberg's q values of all p values that are not NaN."""
    from scipy.stats import false_discovery_control

    q, known = np.full(p.shape, np.nan), ~np.isnan(p)
    if known.any():
        q[known] = false_discovery_control(p[known])
    return q


class LinearRegression:
    """The least squares regression of proportions [M, T] on a design [M, p] with an intercept.

    Documents of one group are not independent; `weights` None weighs them alike. Columns `dropped`
    are combinations of columns before them, the others are `kept`.
    """

    def __init__(
        self,
        design: FloatArray,
        proportions: FloatArray,
        weights: FloatArray | None = None,
        groups: IntArray | None = None,
    ) -> None:
        root = np.ones(len(design)) if weights is None else np.sqrt(weights / weights.mean())
        self._root = root
        scaled = design * root[:, None]
        norm = np.linalg.norm(scaled, axis=0)
        columns = scaled / np.where(norm > 0.0, norm, 1.0)
        # Cholesky's diagonal is what earlier columns leave of a column; jitter keeps it positive.
        gram = columns.T @ columns + _JITTER * np.eye(columns.shape[1])
        independent = np.diag(cholesky(gram)) ** 2 > _COLLINEAR
        self.kept, self.dropped = np.flatnonzero(independent), np.flatnonzero(~independent)
        self._q, self._r = columns[:, self.kept], np.diag(norm[self.kept])
        # Cholesky QR, much faster than Householder's; twice, it is as orthogonal.
        for _ in range(2):
            triangle = cholesky(self._q.T @ self._q)
            self._q = solve_triangular(triangle, self._q.T, trans="T").T
            self._r = triangle @ self._r
        # What dropped columns are made of.
        self._made_of = solve_triangular(self._r, self._q.T @ scaled[:, self.dropped])
        projected = self._q.T @ (proportions * root[:, None])
        self.coefficients = np.zeros((design.shape[1], proportions.shape[1]))
        self.coefficients[self.kept] = solve_triangular(self._r, projected)
        self.residuals = proportions * root[:, None] - self._q @ projected
        self._leverage = np.minimum((self._q**2).sum(axis=1), _MOST_LEVERAGE)
        self._groups: Any = None if groups is None else np.unique(groups, return_inverse=True)[1]

    @cached_property
    def _members(self) -> list[IntArray]:
        """The documents of each group."""
        order = np.argsort(self._groups, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self._groups[order])) + 1)

    @property
    def degrees(self) -> float:
        """Degrees of freedom of the classical variance."""
        return self._free if self._groups is None else float(max(len(self._members) - 1, 1))

    @property
    def _free(self) -> float:
        """Documents less columns."""
        n_documents, rank = self._q.shape
        return float(max(n_documents - rank, 1))

    @cached_property
    def variance(self) -> FloatArray:
        """The residual variance of each topic, [T]."""
        return np.asarray((self.residuals**2).sum(axis=0) / self._free)

    @cached_property
    def _shared_variance(self) -> FloatArray:
        """The residual covariance of two documents of a group, [T]."""
        if self._groups is None:
            return np.zeros(len(self.variance))
        return self.variance * intraclass_correlation(self.residuals, self._groups)

    def is_estimable(self, contrasts: FloatArray) -> BoolArray:
        """Whether contrasts [C, p] lie in the row space of the design, [C]."""
        expected = contrasts[:, self.kept] @ self._made_of
        away = np.abs(contrasts[:, self.dropped] - expected).max(axis=1, initial=0.0)
        return np.asarray(away <= 1e-6 * np.maximum(np.abs(contrasts).max(axis=1, initial=0), 1e-9))

    def _weights(self, contrasts: FloatArray) -> FloatArray:
        """How much each document weighs in each contrast, [M, C]."""
        inner = solve_triangular(self._r, contrasts[:, self.kept].T, trans="T")
        return np.asarray(self._q @ inner)

    def estimate(self, contrasts: FloatArray) -> Estimates:
        """Estimates of contrasts [C, p] of the coefficients."""
        size = _CHUNK
        if self._groups is not None:
            rank = self._q.shape[1]
            size = max(_MOST_NUMBERS // (rank * (len(self._members) + rank)), 1)
        starts = range(0, max(len(contrasts), 1), size)
        return stack_estimates([self._estimate(contrasts[i : i + size]) for i in starts])

    def _estimate(self, contrasts: FloatArray) -> Estimates:
        unknown = ~self.is_estimable(contrasts)
        contrasts = np.asarray(np.where(unknown[:, None], 0.0, contrasts))
        weight = self._weights(contrasts)
        robust, degrees, together = (
            self._independent(weight) if self._groups is None else self._clustered(weight)
        )
        classical = (weight**2).sum(axis=0)[:, None] * self.variance
        classical += together[:, None] * self._shared_variance
        value = contrasts @ self.coefficients
        for part in (value, robust, classical):
            part[unknown] = np.nan
        degrees = np.maximum(degrees, 1.0)[:, None]
        errors = np.sqrt(robust), np.sqrt(classical)
        return Estimates(value, *errors, degrees, classical_degrees=self.degrees)

    def _independent(self, weight: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """HC2 variances [C, T], their degrees of freedom [C], and 0 for each contrast [C]."""
        square = weight**2
        robust = (square / (1.0 - self._leverage[:, None])).T @ self.residuals**2
        return robust, _kish(square), np.zeros(weight.shape[1])

    def _clustered(self, weight: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """CR2 variances [C, T], their degrees of freedom [C], and sums of products in groups [C].

        With A_g = (I - Q_g Q_g')^-1/2, group g has the score w_g' A_g e_g. The degrees are those of
        G'G, with G's columns (I - Q Q')_.g A_g w_g.
        """
        n_groups, n_contrasts = len(self._members), weight.shape[1]
        variance = np.zeros((n_contrasts, self.residuals.shape[1]))
        together = np.zeros(n_contrasts)
        length = np.zeros((n_groups, n_contrasts))
        inner = np.zeros((n_groups, n_contrasts, self._q.shape[1]))
        for number, rows in enumerate(self._members):
            adjusted = self._adjust(self._q[rows], weight[rows])
            variance += (adjusted.T @ self.residuals[rows]) ** 2
            together += weight[rows].sum(axis=0) ** 2 - (weight[rows] ** 2).sum(axis=0)
            length[number] = (adjusted**2).sum(axis=0)
            inner[number] = adjusted.T @ self._q[rows]
        products = (np.einsum("gcp,gcq->cpq", inner, inner) ** 2).sum(axis=(1, 2))
        degrees = _satterthwaite(length, (inner**2).sum(axis=2), products)
        return variance, degrees, np.maximum(together, 0.0)

    @staticmethod
    def _adjust(own: FloatArray, weight: FloatArray) -> FloatArray:
        """(I - Q_g Q_g')^-1/2 w_g, by the singular values of Q_g."""
        left, size, _ = np.linalg.svd(own, full_matrices=False)
        factor = (1.0 - np.minimum(size**2, _MOST_LEVERAGE)) ** -0.5 - 1.0
        return np.asarray(weight + left @ (factor[:, None] * (left.T @ weight)))

    def covariance(self, contrasts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The robust and the classical covariance of contrasts [C, p], [T, C, C] each."""
        weight = self._weights(contrasts)
        classical = self.variance[:, None, None] * (weight.T @ weight)
        if self._groups is None:
            scaled = weight / np.sqrt(1.0 - self._leverage)[:, None]
            robust = [(scaled * own[:, None]).T @ scaled for own in self.residuals.T**2]
            return np.array(robust), classical
        own = ((self._q[rows], weight[rows], self.residuals[rows]) for rows in self._members)
        scores = np.array([self._adjust(q, part).T @ residuals for q, part, residuals in own])
        # As of single contrasts, groups never make a variance smaller.
        left, scale, right = np.linalg.svd(weight, full_matrices=False)
        sums = np.array([left[rows].sum(axis=0) for rows in self._members])
        size, axes = np.linalg.eigh(sums.T @ sums - np.eye(len(scale)))
        axes = (right.T * scale) @ axes
        shared = self._shared_variance[:, None, None] * ((axes * np.maximum(size, 0.0)) @ axes.T)
        return np.einsum("gct,gdt->tcd", scores, scores), classical + shared

    def test(self, contrasts: FloatArray) -> tuple[int, FloatArray, FloatArray]:
        """Wald tests that all contrasts [C, p] are 0: their number, F statistics [T], p values [T].

        As for intervals, the larger p value of both covariances counts.
        """
        contrasts = contrasts[self.is_estimable(contrasts)]
        n_topics = self.residuals.shape[1]
        if not len(contrasts):
            return 0, np.full(n_topics, np.nan), np.full(n_topics, np.nan)
        left, size, _ = np.linalg.svd(contrasts[:, self.kept], full_matrices=False)
        contrasts = left[:, size > 1e-9 * size[0]].T @ contrasts
        n = len(contrasts)
        value = (contrasts @ self.coefficients).T[:, :, None]
        worst, p = np.full(n_topics, np.inf), np.zeros(n_topics)
        for covariance in self.covariance(contrasts):
            solved = np.linalg.pinv(covariance, hermitian=True) @ value
            ratio = (value * solved).sum(axis=(1, 2)) / n
            own = fdtrc(n, self.degrees, ratio)
            worst, p = np.where(own >= p, ratio, worst), np.maximum(p, own)
        return n, worst, p

    def estimate_added(self, columns: csr_array) -> Estimates:
        """The coefficient of each further column [M, C], by itself beside the design.

        Frisch and Waugh: proportions are regressed on the part of a column that the design leaves.
        """
        columns = csr_array(columns.multiply(self._root[:, None]), dtype=np.float64).tocsc()
        products = np.asarray(columns.T @ self._q)
        length = np.asarray(columns.multiply(columns).sum(axis=0)).ravel()
        size = length - (products**2).sum(axis=1)
        known = size > _NEGLIGIBLE * np.maximum(length, 1e-300)
        size = np.where(known, size, np.nan)[:, None]
        # The residuals are orthogonal to the design.
        value = np.asarray(columns.T @ self.residuals) / size
        total = (self.residuals**2).sum(axis=0)
        classical = (total - size * value**2) / max(self._free - 1.0, 1.0) / size
        design, residuals = self._q.astype(np.float32), self.residuals.astype(np.float32)

        def robust(first: int, last: int) -> tuple[FloatArray, FloatArray, FloatArray]:
            part = slice(first, last)
            left = columns[:, part].toarray().astype(np.float32)
            left -= design @ products[part].T.astype(np.float32)
            lengths = size[part, 0].astype(np.float32)
            return self._robust_added(left, lengths, value[part], residuals)

        parts = zip(*run_ranges(robust, len(size), _ADDED), strict=True)
        variance, degrees, together = (np.concatenate(part) for part in parts)
        classical = classical + together[:, None] * self._shared_variance
        free = max(self.degrees - (self._groups is None), 1)
        errors = np.sqrt(np.maximum(variance, 0.0)), np.sqrt(np.maximum(classical, 0.0))
        degrees = np.fmax(degrees, 1.0)[:, None]
        return Estimates(value, *errors, degrees, classical_degrees=free)

    def _robust_added(
        self, left: FloatArray, size: FloatArray, value: FloatArray, residuals: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Robust variances [C, T] and degrees [C] of the regressions on what is left of columns.

        Also sums of products in groups [C]. HC2 has the leverage of all columns, CR2 that of the
        added one.
        """
        square = left**2
        if self._groups is None:
            leverage = self._leverage[:, None].astype(np.float32) + square / size
            scaled = square / (size**2 * (1.0 - np.minimum(leverage, _MOST_LEVERAGE)))
            variance = scaled.T @ residuals**2 - 2.0 * value * ((scaled * left).T @ residuals)
            variance = variance + value**2 * (scaled * square).sum(axis=0)[:, None]
            return variance, _kish(square), np.zeros(len(size))
        own = np.array([square[rows].sum(axis=0) for rows in self._members]) / size
        sums = np.array([left[rows].sum(axis=0) for rows in self._members]) / size
        free = 1.0 - np.minimum(own, _MOST_LEVERAGE)
        scores = ((left[rows] / size).T @ residuals[rows] for rows in self._members)
        parts = zip(scores, own, free, strict=True)
        variance = sum((score - h[:, None] * value) ** 2 / f[:, None] for score, h, f in parts)
        within = own**2 / size / free
        degrees = _satterthwaite(own / size / free, within, within.sum(axis=0) ** 2)
        return variance, degrees, np.maximum((sums**2).sum(axis=0) - 1.0 / size, 0.0)
