"""Linear regression of topic proportions, with robust and classical intervals.

Ordinary or weighted least squares of proportions Y [M, T] on a design [M, p]. A contrast c'b has
two standard errors: a robust one, HC2 or with groups CR2 (Bell and McCaffrey 2002), with
Satterthwaite degrees of freedom; and a classical one, with groups multiplied by Moulton's factor.
The interval is the wider of the two (Angrist and Pischke 2009, section 8.1).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

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


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates of contrasts with their standard errors; all [C, T], NaN if not estimable.

    Attributes
    ----------
    value : float array of shape [C, T]
        The estimates.
    robust, classical : float array of shape [C, T]
        Both standard errors.
    degrees : float array of shape [C, 1]
        Degrees of freedom of the robust one.
    classical_degrees : float
        Those of the classical one.
    """

    value: FloatArray
    robust: FloatArray
    classical: FloatArray
    degrees: FloatArray
    classical_degrees: float

    def half_width(self, level: float) -> FloatArray:
        """Half of the wider interval, [C, T]."""
        quantile = (1.0 + level) / 2.0
        return np.asarray(
            np.maximum(
                stdtrit(self.degrees, quantile) * self.robust,
                stdtrit(self.classical_degrees, quantile) * self.classical,
            )
        )

    def error(self, level: float = 0.9) -> FloatArray:
        """The standard error of the wider interval, [C, T]."""
        quantile = (1.0 + level) / 2.0
        wide = stdtrit(self.degrees, quantile) * self.robust
        other = stdtrit(self.classical_degrees, quantile) * self.classical
        return np.where(wide >= other, self.robust, self.classical)

    @property
    def p(self) -> FloatArray:
        """Two-sided p values, the larger of both, [C, T]."""
        with np.errstate(invalid="ignore", divide="ignore"):
            robust = stdtr(self.degrees, -np.abs(self.value) / self.robust)
            classical = stdtr(self.classical_degrees, -np.abs(self.value) / self.classical)
        found = 2.0 * np.fmax(robust, classical)
        return np.where(np.isnan(self.value), np.nan, np.where(self.value == 0.0, 1.0, found))

    def take(self, rows: IntArray | slice) -> "Estimates":
        """Some of the contrasts."""
        return Estimates(
            self.value[rows],
            self.robust[rows],
            self.classical[rows],
            self.degrees[rows],
            self.classical_degrees,
        )


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
    return Estimates(
        np.concatenate([part.value for part in parts]),
        np.concatenate([part.robust for part in parts]),
        np.concatenate([part.classical for part in parts]),
        np.concatenate([part.degrees for part in parts]),
        parts[0].classical_degrees,
    )


def adjust_p(p: FloatArray) -> FloatArray:
    """Benjamini and Hochberg's q values of all p values that are not NaN."""
    found, known = np.full(p.shape, np.nan), ~np.isnan(p)
    values = p[known]
    order = np.argsort(-values, kind="stable")
    adjusted = values[order] * len(values) / np.arange(len(values), 0, -1)
    values[order] = np.minimum(np.minimum.accumulate(adjusted), 1.0)
    found[known] = values
    return found


class LinearRegression:
    """The least squares regression of proportions on a design.

    Parameters
    ----------
    design : float array of shape [M, p]
        The columns, an intercept among them.
    proportions : float array of shape [M, T]
        What is regressed.
    weights : float array of shape [M] or None, default=None
        The weights of documents; None weighs them alike.
    groups : int array of shape [M] or None, default=None
        Documents of one group are not independent.

    Attributes
    ----------
    kept : int array
        The columns that are not combinations of columns before them.
    dropped : int array
        The others.
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
        left = np.diag(cholesky(gram)) ** 2
        self.kept = np.flatnonzero(left > _COLLINEAR)
        self.dropped = np.flatnonzero(left <= _COLLINEAR)
        self._q, self._r = columns[:, self.kept], np.diag(norm[self.kept])
        # Cholesky QR, much faster than Householder's; twice, it is as orthogonal.
        for _ in range(2):
            triangle = cholesky(self._q.T @ self._q)
            self._q = solve_triangular(triangle, self._q.T, trans="T").T
            self._r = triangle @ self._r
        # What dropped columns are made of.
        self._made_of = solve_triangular(self._r, self._q.T @ scaled[:, self.dropped])
        projected = self._q.T @ (proportions * root[:, None])
        self._coefficients = solve_triangular(self._r, projected)
        self._residuals = proportions * root[:, None] - self._q @ projected
        self.n_documents, self.rank = self._q.shape
        self.n_columns, self.n_topics = design.shape[1], proportions.shape[1]
        self._members: list[IntArray] | None = None
        if groups is not None:
            order = np.argsort(groups, kind="stable")
            self._members = np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)

    @property
    def coefficients(self) -> FloatArray:
        """Coefficients [p, T]; 0 for dropped columns."""
        found = np.zeros((self.n_columns, self.n_topics))
        found[self.kept] = self._coefficients
        return found

    @property
    def degrees(self) -> float:
        """Degrees of freedom of the classical variance."""
        if self._members is not None:
            return float(max(len(self._members) - 1, 1))
        return float(max(self.n_documents - self.rank, 1))

    @cached_property
    def variance(self) -> FloatArray:
        """The residual variance of each topic, [T]."""
        return np.asarray((self._residuals**2).sum(axis=0) / max(self.n_documents - self.rank, 1))

    @cached_property
    def likeness(self) -> FloatArray:
        """The intraclass correlation of residuals within groups, [T]."""
        assert self._members is not None
        group = np.empty(self.n_documents, dtype=np.int64)
        for number, rows in enumerate(self._members):
            group[rows] = number
        return intraclass_correlation(self._residuals, group)

    @cached_property
    def _leverage(self) -> FloatArray:
        return np.asarray(np.minimum((self._q**2).sum(axis=1), _MOST_LEVERAGE))

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
        if self._members is not None:
            size = max(_MOST_NUMBERS // (self.rank * (len(self._members) + self.rank)), 1)
        starts = range(0, max(len(contrasts), 1), size)
        return stack_estimates([self._estimate(contrasts[i : i + size]) for i in starts])

    def _estimate(self, contrasts: FloatArray) -> Estimates:
        unknown = ~self.is_estimable(contrasts)
        contrasts = np.asarray(np.where(unknown[:, None], 0.0, contrasts))
        weight = self._weights(contrasts)
        square = weight**2
        if self._members is None:
            robust: FloatArray = (square / (1.0 - self._leverage[:, None])).T @ self._residuals**2
            # Kish's effective number of documents: Bell and McCaffrey's degrees to 1%.
            degrees = square.sum(axis=0) ** 2 / np.maximum((square**2).sum(axis=0), 1e-300) - 1.0
            classical = square.sum(axis=0)[:, None] * self.variance
        else:
            robust, degrees, together = self._clustered(weight)
            classical = square.sum(axis=0)[:, None] * self.variance
            classical = classical + together[:, None] * self.variance * self.likeness
        value = contrasts[:, self.kept] @ self._coefficients
        for part in (value, robust, classical):
            part[unknown] = np.nan
        degrees = np.maximum(degrees, 1.0)[:, None]
        return Estimates(value, np.sqrt(robust), np.sqrt(classical), degrees, self.degrees)

    def _clustered(self, weight: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """CR2 variances [C, T], their degrees of freedom [C], and sums of products in groups [C].

        With A_g = (I - Q_g Q_g')^-1/2, group g has the score w_g' A_g e_g. Bell and McCaffrey's
        degrees are (sum l)^2 / sum l^2 for the eigenvalues l of G'G, with G's columns
        (I - Q Q')_.g A_g w_g.
        """
        assert self._members is not None
        n_contrasts = weight.shape[1]
        variance = np.zeros((n_contrasts, self.n_topics))
        together = np.zeros(n_contrasts)
        length = np.zeros((len(self._members), n_contrasts))
        inner = np.zeros((len(self._members), n_contrasts, self.rank))
        for number, rows in enumerate(self._members):
            own = self._q[rows]
            adjusted = self._adjust(own, weight[rows])
            variance += (adjusted.T @ self._residuals[rows]) ** 2
            together += weight[rows].sum(axis=0) ** 2 - (weight[rows] ** 2).sum(axis=0)
            length[number] = (adjusted**2).sum(axis=0)
            inner[number] = adjusted.T @ own
        # Of the Gram matrix diag(l) - I I', the trace and the sum of squares.
        within = (inner**2).sum(axis=2)
        products = np.einsum("gcp,gcq->cpq", inner, inner)
        squares = (length**2 - 2.0 * length * within).sum(axis=0) + (products**2).sum(axis=(1, 2))
        degrees = (length - within).sum(axis=0) ** 2 / np.maximum(squares, 1e-300)
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
        plain = weight.T @ weight
        if self._members is None:
            scaled = weight / np.sqrt(1.0 - self._leverage)[:, None]
            squares = self._residuals.T**2
            robust = np.array([(scaled * own[:, None]).T @ scaled for own in squares])
            return robust, self.variance[:, None, None] * plain
        scores = np.array(
            [
                self._adjust(self._q[rows], weight[rows]).T @ self._residuals[rows]
                for rows in self._members
            ]
        )
        # As of single contrasts, groups never make a variance smaller.
        left, scale, right = np.linalg.svd(weight, full_matrices=False)
        sums = np.array([left[rows].sum(axis=0) for rows in self._members])
        size, axes = np.linalg.eigh(sums.T @ sums - np.eye(len(scale)))
        axes = (right.T * scale) @ axes
        together = self.likeness[:, None, None] * ((axes * np.maximum(size, 0.0)) @ axes.T)
        robust = np.einsum("gct,gdt->tcd", scores, scores)
        return robust, self.variance[:, None, None] * (plain + together)

    def test(self, contrasts: FloatArray) -> tuple[int, FloatArray, FloatArray]:
        """Wald tests that all contrasts [C, p] are 0: their number, F statistics [T], p values [T].

        As for intervals, the larger p value of both covariances counts.
        """
        contrasts = contrasts[self.is_estimable(contrasts)]
        if not len(contrasts):
            return 0, np.full(self.n_topics, np.nan), np.full(self.n_topics, np.nan)
        left, size, _ = np.linalg.svd(contrasts[:, self.kept], full_matrices=False)
        contrasts = left[:, size > 1e-9 * size[0]].T @ contrasts
        n = len(contrasts)
        value = (contrasts[:, self.kept] @ self._coefficients).T[:, :, None]
        worst, p = np.full(self.n_topics, np.inf), np.zeros(self.n_topics)
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
        value = np.asarray(columns.T @ self._residuals) / size
        total = (self._residuals**2).sum(axis=0)
        free = max(self.n_documents - self.rank - 1, 1)
        classical = (total - size * value**2) / free / size
        design, residuals = self._q.astype(np.float32), self._residuals.astype(np.float32)

        def robust(first: int, last: int) -> tuple[FloatArray, FloatArray, FloatArray]:
            part = slice(first, last)
            left = columns[:, part].toarray().astype(np.float32)
            left -= design @ products[part].T.astype(np.float32)
            arguments = left, size[part, 0].astype(np.float32), value[part], residuals
            if self._members is None:
                return self._robust_added(*arguments)
            return self._clustered_added(*arguments)

        parts = zip(*run_ranges(robust, len(size), _ADDED), strict=True)
        variance, degrees, together = (np.concatenate(part) for part in parts)
        if self._members is not None:
            classical = classical + together[:, None] * self.variance * self.likeness
        return Estimates(
            value,
            np.sqrt(np.maximum(variance, 0.0)),
            np.sqrt(np.maximum(classical, 0.0)),
            np.maximum(np.where(known, degrees, 1.0), 1.0)[:, None],
            max(self.degrees - (self._members is None), 1),
        )

    def _robust_added(
        self, left: FloatArray, size: FloatArray, value: FloatArray, residuals: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """HC2 variances [C, T] and degrees [C] of the regressions on what is left of columns."""
        square = left**2
        hat = np.minimum(self._leverage[:, None].astype(np.float32) + square / size, _MOST_LEVERAGE)
        scaled = square / (size**2 * (1.0 - hat))
        variance = scaled.T @ residuals**2 - 2.0 * value * ((scaled * left).T @ residuals)
        variance = variance + value**2 * (scaled * square).sum(axis=0)[:, None]
        degrees = square.sum(axis=0) ** 2 / (square**2).sum(axis=0) - 1.0
        return variance, degrees, np.zeros(len(size))

    def _clustered_added(
        self, left: FloatArray, size: FloatArray, value: FloatArray, residuals: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """CR2 variances [C, T], degrees [C], and sums of products in groups [C]."""
        assert self._members is not None
        own = np.array([(left[rows] ** 2).sum(axis=0) for rows in self._members]) / size
        sums = np.array([left[rows].sum(axis=0) for rows in self._members]) / size
        free = 1.0 - np.minimum(own, _MOST_LEVERAGE)
        variance = np.zeros(value.shape)
        for number, rows in enumerate(self._members):
            score = (left[rows] / size).T @ residuals[rows] - own[number][:, None] * value
            variance += score**2 / free[number][:, None]
        length, within = own / size / free, own**2 / size / free
        squares = (length**2 - 2.0 * length * within).sum(axis=0) + within.sum(axis=0) ** 2
        degrees = (length - within).sum(axis=0) ** 2 / np.maximum(squares, 1e-300)
        return variance, degrees, np.maximum((sums**2).sum(axis=0) - 1.0 / size, 0.0)
