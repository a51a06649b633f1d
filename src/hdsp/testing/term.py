"""Conformance checks for terms, those of the package and users' own."""

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from hdsp.corpus import Kind, Labels, LabelSchema
from hdsp.corpus.labels import KINDS, LabelBlock
from hdsp.exceptions import LabelDataWarning
from hdsp.numerics import FloatArray
from hdsp.scaling.design import LabelDesign
from hdsp.scaling.functions import LogLinear, ScalingFunction
from hdsp.scaling.terms import Term

_DOCUMENTS, _LEVELS = 60, 3
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class TermCase:
    """Labels that a term is tried on.

    Attributes
    ----------
    term : Term
        The term, not bound.
    scaling : ScalingFunction
        A scaling function with the term, and with what it needs besides.
    labels : Labels
        Labels of documents, some of them missing.
    space : LabelDesign
        The space that they make.
    values : sparse array of shape [M, n_labels]
        The values of the labels.
    """

    term: Term
    scaling: ScalingFunction
    labels: Labels
    space: LabelDesign
    values: csr_array

    @property
    def bound(self) -> Term:
        """The term, bound to the labels."""
        return self.space.depends(self.term.columns[0])[-1]

    def parts(self, rows: object = slice(None)) -> list[csr_array]:
        """The columns that the term is made from, in some documents."""
        values, slices = csr_array(self.values[rows]), self.space.schema.slices()
        if self.term.main:
            return [csr_array(values[:, slices[name]]) for name in self.term.columns]
        design = self.space.design(values)
        return [csr_array(design[:, self.space.columns_of(name)]) for name in self.term.columns]

    def expand(self, rows: object = slice(None)) -> csr_array:
        """The term's columns of some documents."""
        return self.bound.expand(self.parts(rows))

    def check_settings(self) -> None:
        """The constructor takes the settings."""
        term = self.term
        assert type(term)(*term.columns, **term.settings()) == term
        json.dumps(term.settings())

    def check_names(self) -> None:
        """Each column has a name of its own."""
        names = self.bound.names
        assert len(set(names)) == len(names)
        assert self.expand().shape == (_DOCUMENTS, len(names))

    def check_rows(self) -> None:
        """A document's columns do not depend on other documents."""
        rows, whole = np.arange(_DOCUMENTS)[::-2], self.expand().toarray()
        assert np.isfinite(whole).all()
        np.testing.assert_allclose(self.expand(rows).toarray(), whole[rows], atol=_ROUNDING)
        assert self.expand(np.zeros(0, dtype=np.int64)).shape == (0, whole.shape[1])

    def check_missing(self) -> None:
        """Nothing is stored where a label is missing."""
        assert not np.diff(self.expand().indptr)[::6].any()

    def check_values(self) -> None:
        """The design holds the values of all labels."""
        found = self.space.values(self.space.design(self.values))
        np.testing.assert_array_equal(found.toarray(), self.values.toarray())
        if self.bound.exclusive:
            assert np.diff(found.indptr).max() <= 1

    def check_learned(self) -> None:
        """What is learned can be written to a file and read again."""
        learned = {term: json.loads(json.dumps(dict(term.fitted))) for term in self.space.terms}
        again = LabelDesign.fit(self.scaling, self.space.schema, learned=learned)
        assert again.names == self.space.names
        found, before = again.design(self.values), self.space.design(self.values)
        np.testing.assert_array_equal(found.toarray(), before.toarray())

    def check_growth(self) -> None:
        """Columns stay the same when further tags and levels come."""
        kinds = [block.kind for block in self.labels.blocks]
        later = _make_case(self.term, kinds, _LEVELS + 2)
        grown = self.space.grown(later.space.schema, self.scaling)
        position = self.space.positions_in(grown)
        found = grown.design(grown.schema.encode(self.labels, warn=False)).toarray()
        before = self.space.design(self.values).toarray()
        np.testing.assert_allclose(found[:, position], before, atol=_ROUNDING)
        assert not found[:, np.setdiff1d(np.arange(found.shape[1]), position)].any()

    def check_page(self) -> None:
        """Points and products say what the columns are."""
        term, found = self.bound, self.expand().toarray()
        if term.products:
            first, second = (part.toarray() for part in self.parts())
            for column, (i, j) in enumerate(term.products):
                np.testing.assert_allclose(found[:, column], first[:, i] * second[:, j])
        name = term.columns[0]
        if term.main and self.space.schema.kind(name) == "number" and len(term.names):
            single = self.space.single_values(name)
            points = term.points(-2.0, 2.0) if single is None else single
            middle = points if single is not None else (points[1:] + points[:-1]) / 2.0
            there, wanted = (term.expand([_numbers(x)]).toarray() for x in (points, middle))
            for column in range(wanted.shape[1]):
                between = np.interp(middle, points, there[:, column])
                # Curves are nearly straight between the points of a table.
                np.testing.assert_allclose(between, wanted[:, column], atol=0.05)

    def check_model(self) -> None:
        """A model takes the term: expected topics sum to 1, and effects to 0."""
        from hdsp.estimator import HDSP

        counts = np.random.default_rng(1).poisson(1.0, size=(_DOCUMENTS, 12))
        model = HDSP(3, scaling=self.scaling, random_state=0, max_iter=3, tol=0.0)
        with warnings.catch_warnings():
            # So few passes do not converge, and so few documents may not separate all columns.
            for category in (ConvergenceWarning, LabelDataWarning):
                warnings.simplefilter("ignore", category)
            model.fit(counts, labels=self.labels)
            np.testing.assert_allclose(model.expected_topics(self.labels).sum(axis=1), 1.0)
            effects = model.label_effects()["effect"].to_numpy().reshape(-1, len(model.components_))
        effects = effects[~np.isnan(effects).any(axis=1)]
        # Proportions are kept in half precision.
        np.testing.assert_allclose(effects.sum(axis=1), 0.0, atol=1e-3)


def _numbers(values: FloatArray) -> csr_array:
    """A sparse column [M, 1] in which every value is stored, zeros too."""
    n = len(values)
    return csr_array((values, np.zeros(n, dtype=np.int64), np.arange(n + 1)), shape=(n, 1))


def check_term(term: Term) -> Iterator[tuple[str, Callable[[], None]]]:
    """Named checks that a term keeps the contract of `hdsp.Term`.

    Parameters
    ----------
    term : Term
        The term; its label columns may have any names.

    Yields
    ------
    name : str
        What is checked, and on which kinds of labels.
    check : callable
        Raises AssertionError where the term does not keep the contract.

    Examples
    --------
    >>> from hdsp import Spline
    >>> for name, check in check_term(Spline("day")):
    ...     check()
    """
    checks = [check for name, check in vars(TermCase).items() if name.startswith("check_")]
    for kinds in product([kind for kind in KINDS if kind in term.kinds], repeat=term.n_sources):
        case = _make_case(term, kinds)
        for check in checks:
            title = (check.__doc__ or check.__name__).rstrip(".")
            yield f"{title} ({', '.join(kinds)})", partial(check, case)


def _make_case(term: Term, kinds: Sequence[Kind], n_levels: int = _LEVELS) -> TermCase:
    """Random labels of these kinds; every sixth document has none."""
    rng = np.random.default_rng(0)
    blocks = []
    for name, kind in zip(term.columns, kinds, strict=True):
        if kind == "number":
            # Some values several times, none of them 0.
            dense = (np.floor(3.0 * rng.normal(size=(_DOCUMENTS, 1))) + 0.5) / 3.0
        else:
            drawn = rng.integers(_LEVELS, size=(2 if kind == "tags" else 1, _DOCUMENTS))
            dense = np.eye(n_levels)[drawn].max(axis=0)
        dense[::6] = 0.0
        columns = [name] if kind == "number" else [f"{name}{i}" for i in range(n_levels)]
        blocks.append(LabelBlock(name, kind, tuple(columns), csr_array(dense)))
    labels = Labels(tuple(blocks), _DOCUMENTS)
    scaling = LogLinear(term) if term.main else LogLinear(*term.columns, term)
    schema = LabelSchema.of(labels)
    values = schema.encode(labels)
    return TermCase(term, scaling, labels, LabelDesign.fit(scaling, schema, values), values)
