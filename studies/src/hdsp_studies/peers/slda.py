"""Supervised LDA: labels are responses to a document's topics."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hdsp import Corpus, Labels
from hdsp_studies.peers.base import FitSettings
from hdsp_studies.peers.documents import KnownLabels, nonempty_rows
from hdsp_studies.peers.sampling import Sampled, Sampler, sampler_options, train_sampler
from hdsp_studies.peers.targets import most_frequent, target_values
from hdsp_studies.types import FloatArray

# Proportions are small, and tomotopy's prior variance of 1 would leave them hardly any effect.
_COEFFICIENT_VARIANCE = 100.0


@dataclass(frozen=True)
class Responses:
    """The responses that each document's topics are to explain.

    Attributes
    ----------
    kinds : tuple of str
        Letter that tomotopy has for each response: l for a number, b for yes or no.
    values : float array of shape [M, R]
        One column for each response; NaN where it is missing.
    candidates : tuple of str, default=()
        Values of the target that a prediction chooses from; none without a target.
    usual : str, default=""
        The most frequent of them.
    """

    kinds: tuple[str, ...]
    values: FloatArray
    candidates: tuple[str, ...] = ()
    usual: str = ""

    @classmethod
    def of_labels(cls, known: KnownLabels, labels: Labels) -> "Responses":
        """Every label: tags and categories as yes or no, numbers as they are."""
        design = known.design(labels)
        number = np.array(known.is_number(), dtype=np.bool_)
        values = design.toarray()
        stored = np.zeros(values.shape, dtype=np.bool_)
        stored[np.repeat(np.arange(len(labels)), np.diff(design.indptr)), design.indices] = True
        values[~stored & number] = np.nan
        return cls(tuple("l" if is_number else "b" for is_number in number), values)

    @classmethod
    def of_target(cls, labels: Labels, target: str) -> "Responses":
        """The target alone: a number as it is, a category as a yes or no for each level."""
        found = target_values(labels, target)
        seen = [value for value in found if value is not None]
        candidates = tuple(sorted(set(seen)))
        usual = most_frequent(seen)
        if labels.block(target).kind == "number":
            column = [np.nan if value is None else float(value) for value in found]
            return cls(("l",), np.array(column)[:, None], candidates, usual)
        rows = [
            [np.nan if value is None else float(value == name) for name in candidates]
            for value in found
        ]
        return cls(("b",) * len(candidates), np.array(rows), candidates, usual)


class SampledSLDA(Sampled):
    """Supervised LDA. Proportions given labels would take Bayes' rule, which it does not have."""

    responses: Responses

    def given_labels(self, labels: Labels) -> None:
        """It cannot."""
        return None

    def predict(self, counts: csr_array, labels: Labels) -> list[str] | None:
        """The level with the largest response, or the number seen that is nearest."""
        candidates = self.responses.candidates
        if not candidates:
            return None
        found = [self.responses.usual] * len(labels)
        nonempty = nonempty_rows(counts)
        if not len(nonempty):
            return found
        states = self.states(csr_array(counts[nonempty]), labels[nonempty])
        estimates = [[self.model.estimate(row) for row in documents] for documents, _ in states]
        response = np.mean(estimates, axis=0)
        if self.responses.kinds == ("l",):
            response = -np.abs(response - np.array([float(value) for value in candidates]))
        for m, place in zip(nonempty, response.argmax(axis=1), strict=True):
            found[m] = candidates[place]
        return found


class SupervisedLDA(Sampler):
    """tomotopy's supervised LDA: of the target where there is one, else of all labels."""

    def fit(self, train: Corpus, settings: FitSettings) -> SampledSLDA:
        """Sample."""
        import tomotopy

        known = KnownLabels.of(train.labels)
        if settings.target is None:
            responses = Responses.of_labels(known, train.labels)
        else:
            responses = Responses.of_target(train.labels, settings.target)
        model = tomotopy.SLDAModel(
            k=settings.n_topics,
            vars=list(responses.kinds),
            nu_sq=[_COEFFICIENT_VARIANCE] * len(responses.kinds),
            **sampler_options(settings),
        )
        metadata: list[dict[str, Any]] = [{"y": row.tolist()} for row in responses.values]
        train_sampler(model, train, metadata, settings)
        fitted = SampledSLDA(model, train.n_words, known, settings)
        fitted.responses = responses
        return fitted

    def details(self, settings: FitSettings) -> dict[str, object]:
        """Sweeps, and the prior variance of the regression's coefficients."""
        return super().details(settings) | {"coefficient_variance": _COEFFICIENT_VARIANCE}
