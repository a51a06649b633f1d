"""`TopicRegression`: effects of labels that a fit did not have."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.answers.label_checks import check_columns, in_memory, read_groups, time_of
from hdsp.answers.label_effects import adjusted, effect_columns
from hdsp.answers.label_levels import curve_columns, difference_columns, level_columns
from hdsp.answers.new_documents import check_words
from hdsp.answers.topic_tables import Columns
from hdsp.corpus import Corpus, LabelSchema, make_frame
from hdsp.fit import Run
from hdsp.prediction import (
    WEIGHTS,
    FittedModel,
    ReadDocuments,
    Weight,
    find_dependence,
    warn_few_groups,
    warn_of_dependence,
    warn_overlaps,
    with_other_labels,
)
from hdsp.scaling import Scaling, bind_labels
from hdsp.validation import check_choice

ADJUSTMENTS = ("holm", "fdr")


class TopicRegression:
    """The regression of documents' topics on labels, which the fit need not have had.

    `HDSP.estimate_effects` makes it. Topics are those of the fit, and everything said of them is
    about documents: their mean proportions, given labels.

    Parameters
    ----------
    fitted : FittedModel
        The model, with the labels of the regression in place of its own.
    documents : ReadDocuments
        The documents, and their topics.
    corpus : Corpus
        The documents as they were given.
    formula : str, ScalingFunction or Term
        The labels and the form of their effects.
    weight : str
        Whether each document weighs the same (``"documents"``), or each token (``"tokens"``).

    Attributes
    ----------
    n_documents : int
        The number of documents.
    n_groups : int or None
        The number of groups of documents; None where documents are independent.
    label_names : tuple of str
        The labels that have effects.

    Examples
    --------
    >>> import hdsp
    >>> corpus, _ = hdsp.simulate([["news"], ["sport"]] * 50, n_topics=4, random_state=0)
    >>> model = hdsp.HDSP(n_components=8, random_state=0).fit(corpus.counts)
    >>> found = model.estimate_effects(corpus, "~ tags")
    >>> found
    TopicRegression('~ tags', 100 documents, 2 labels)
    >>> found.effects(labels="news")["contrast"].unique().tolist()
    ['with - without']
    """

    def __init__(
        self,
        fitted: FittedModel,
        documents: ReadDocuments,
        corpus: Corpus,
        formula: Scaling,
        weight: Weight,
    ) -> None:
        self._model, self._documents, self._corpus = fitted, documents, corpus
        self.formula = formula
        self.weight: Weight = weight

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return int(self._documents.values.shape[0])

    @property
    def n_groups(self) -> int | None:
        """The number of groups of documents; None where documents are independent."""
        groups = self._documents.groups
        if groups is None:
            return None
        return len(np.unique(groups[groups >= 0])) + int((groups < 0).sum())

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels that have effects."""
        return tuple(np.array(self._model.schema.names)[self._model.used].tolist())

    def __repr__(self) -> str:
        groups = "" if self.n_groups is None else f" in {self.n_groups} groups"
        written = f"{self.n_documents} documents{groups}, {len(self.label_names)} labels"
        return f"TopicRegression({self.formula!r}, {written})"

    def effects(
        self,
        level: float = 0.9,
        *,
        labels: str | Sequence[str] | None = None,
        contrast: tuple[Any, Any] | None = None,
        adjust: str | None = None,
    ) -> Any:
        """Effects of labels on topics, with intervals, as `HDSP.label_effects` returns them.

        Parameters
        ----------
        level : float, default=0.9
            The share of intervals that are to contain the effect.
        labels : str, list of str or None, default=None
            Names of labels, or of whole columns; None is all.
        contrast : tuple of two values or None, default=None
            Two levels of the category, or two values of the number, that `labels` names.
        adjust : {"holm", "fdr"} or None, default=None
            Whether `p` is adjusted over the topics of a contrast: by Holm's method, for the chance
            of a single false finding; or by Benjamini and Hochberg's, for the share of false ones.

        Returns
        -------
        table
            One row per label and topic: the columns of `HDSP.label_effects`, and `p`, how often an
            effect would be as large if there were none (two-sided).
        """
        return self._table(self._effect_columns(level, labels, contrast, adjust))

    def _effect_columns(
        self,
        level: float,
        labels: str | Sequence[str] | None,
        contrast: tuple[Any, Any] | None,
        adjust: str | None = None,
        random_state: int = 0,
    ) -> Columns:
        if adjust is not None:
            check_choice(adjust, ADJUSTMENTS, "adjust", "TopicRegression.effects")
        columns = effect_columns(
            self._model,
            level,
            labels,
            contrast,
            random_state=random_state,
            weight=self.weight,
            owner="TopicRegression.effects",
        )
        chance = np.array(columns["p"]).reshape(-1, max(len(self._model.groups), 1))
        columns["p"] = adjusted(chance, adjust).ravel().tolist()
        return columns

    def levels(self, label: str, level: float = 0.9) -> Any:
        """Expected proportions at the values of a label, with intervals of these themselves.

        They are averages over documents with their other labels as they are.

        Parameters
        ----------
        label : str
            A category, whose levels are shown; tags, each in documents that have it; or a number,
            at its values, or at some quantiles if it has many.
        level : float, default=0.9
            The share of intervals that are to contain the proportion.

        Returns
        -------
        table
            One row per value and topic: `label`, `value`, `topic`, `name` if topics have names,
            `words`, `expected`, `lower`, `upper`; and the mean `observed` in the `n_documents`
            documents with this value, or with values nearest to it.
        """
        owner = "TopicRegression.levels"
        return self._table(
            level_columns(self._model, self._documents, label, level, self.weight, owner)
        )

    def curve(self, label: str, by: str | None = None, n: int = 50, level: float = 0.9) -> Any:
        """Expected proportions along a number, with bands.

        Parameters
        ----------
        label : str
            A number.
        by : str or None, default=None
            A category: a curve for each of its levels.
        n : int, default=50
            The number of values, from the lowest to the highest. A number that has an effect at
            each of its values, as in ``o(rating)``, is at these.
        level : float, default=0.9
            The share of the band's intervals that are to contain the proportion.

        Returns
        -------
        table
            One row per value and topic: `label`, a column named as `by`, `value`, `topic`, `name`
            if topics have names, `words`, `expected`, `lower`, `upper`; and the mean `observed` in
            the `n_documents` documents nearest to the value, NaN where there are none.
        """
        owner = "TopicRegression.curve"
        return self._table(
            curve_columns(self._model, self._documents, label, by, n, level, self.weight, owner)
        )

    def differences(self, label: str, by: str, level: float = 0.9) -> Any:
        """How effects of a label differ with another label, with intervals.

        Parameters
        ----------
        label : str
            A label or a column of labels, as in `effects`.
        by : str
            Another one: the effect at each of its levels minus that at its other levels, with a
            tag minus without it, or with a number raised by a standard deviation.
        level : float, default=0.9
            The share of intervals that are to contain the difference.

        Returns
        -------
        table
            One row per pair of labels and topic: `label`, `contrast`, `by`, `topic`, `name` if
            topics have names, `words`, `difference`, `lower`, `upper`.
        """
        owner = "TopicRegression.differences"
        return self._table(difference_columns(self._model, label, by, level, self.weight, owner))

    def check(self, time: Any = None) -> Any:
        """Whether documents have the topics that their labels lead one to expect.

        Parameters
        ----------
        time : str, sequence or None, default=None
            A number or date of the corpus, ``"order"`` for the order of documents, or one number or
            date per document: its parts show whether effects drift.

        Returns
        -------
        table
            As `HDSP.check_labels` returns it.
        """
        return self._table(self._check_columns(time))

    def _check_columns(self, time: Any = None) -> Columns:
        found = time_of(self._corpus, time, "TopicRegression.check")
        return check_columns(self._model, self._documents, self.weight, True, found)

    def _table(self, columns: Columns) -> Any:
        return make_frame(columns, self._model.source.frames)


def estimate_effects(
    fitted: FittedModel, corpus: Any, formula: Scaling, groups: object, weight: Weight, run: Run
) -> TopicRegression:
    """The regression of `HDSP.estimate_effects`."""
    owner = "HDSP.estimate_effects"
    check_choice(weight, WEIGHTS, "weight", owner)
    corpus = in_memory(corpus, owner)
    check_words(fitted, corpus, owner, "`corpus`")
    numbers = read_groups(corpus, groups, owner)
    labels = corpus.labels
    if isinstance(groups, str) and isinstance(formula, str) and formula == "auto":
        # Groups are no label unless a formula names them.
        labels = labels.without(groups)
    schema = LabelSchema.of(labels)
    used = bind_labels(formula, schema, schema.encode(labels)).used_labels
    named = [name for name, columns in schema.slices().items() if used[columns].any()]
    labels = labels.select(named)
    if fitted.state.versions is not None:
        raise ValueError(
            f"{owner} reads topics without versions: of a model with `content` ask for "
            "`label_effects`, or fit one without."
        )
    schema = LabelSchema.of(labels)
    values = csr_array(schema.encode(labels))
    space = bind_labels(formula, schema, values)
    warn_overlaps(space, values)
    if numbers is not None:
        warn_few_groups(numbers, owner)
    model, documents = with_other_labels(fitted, corpus.counts, space, values, run, numbers)
    if numbers is None:
        dependence = find_dependence(space, values, documents.proportions)
        if dependence is not None:
            warn_of_dependence(dependence)
    return TopicRegression(model, documents, corpus, formula, weight)
