"""A fitted model: all that prediction needs, without the documents it was fitted to."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from hdsp.corpus import Labels, LabelSchema
from hdsp.inference import fit_documents
from hdsp.kernels import Threads
from hdsp.model import (
    GlobalState,
    LocalSettings,
    Priors,
    Truth,
    expected_proportions,
    make_problem,
)
from hdsp.numerics.types import FloatArray
from hdsp.prediction.calibration import Calibration
from hdsp.prediction.proportions import exact_proportions, ratio_proportions
from hdsp.scaling import Design, ScalingFunction, used_columns

Method = Literal["calibrated", "exact", "ratio"]
METHODS: tuple[Method, ...] = ("calibrated", "exact", "ratio")

# New documents start cold and get one visit, so they go on until they have settled.
_SETTINGS = LocalSettings(max_iter=100, tol=1e-3)


@dataclass(frozen=True, eq=False)
class FittedModel:
    """The global state with the label space and scaling function it belongs to.

    Attributes
    ----------
    state : topics, sticks, concentrations, the scaling function's parameters
    scaling : the scaling function, bound to the schema's columns
    schema : the labels of training
    priors : hyperparameters
    calibration : the regression behind the default `expected`
    """

    state: GlobalState
    scaling: ScalingFunction
    schema: LabelSchema
    priors: Priors
    calibration: Calibration

    def expected(self, design: Design, method: Method) -> FloatArray:
        """Expected proportions given labels alone, [M, T]."""
        if method == "calibrated":
            return self.calibration.proportions(design)
        if method == "exact":
            return exact_proportions(self.state, self.scaling, design)
        return ratio_proportions(self.state, self.scaling, design)

    def posterior(self, counts: csr_array, design: Design, threads: Threads) -> FloatArray:
        """Proportions of documents given their words and labels, [M, T]."""
        n_topics = self.state.n_topics
        problem = make_problem(counts, design, n_topics, self.scaling, self.priors)
        documents, _ = fit_documents(problem, self.state, None, _SETTINGS, threads)
        mean = expected_proportions(problem, self.state, documents, slice(0, n_topics))
        mean = mean.astype(np.float64)
        return np.asarray(mean / mean.sum(axis=1, keepdims=True))

    def word_share(self) -> FloatArray:
        """E[phi], [V, T]; columns sum to 1."""
        topics = self.state.topics.astype(np.float64)
        return np.asarray(topics / topics.sum(axis=0))

    def topic_tokens(self) -> FloatArray:
        """Expected training tokens of each topic, [T]."""
        topics = self.state.topics.astype(np.float64)
        return np.asarray((topics - self.priors.topic_prior).sum(axis=0))

    def draw(self, rng: np.random.Generator) -> Truth:
        """Parameters to draw documents from: posterior means, and a draw of the labels' weights."""
        return Truth(
            topic_weight=self.state.topic_weight,
            word_share=self.word_share().T,
            weights=self.scaling.draw_posterior(self.state.scaling, rng),
            document_concentration=self.state.document_concentration,
        )


def encode_labels(schema: LabelSchema, scaling: ScalingFunction, labels: Labels) -> Design:
    """The design [M, J] of labels, without the columns that the scaling function leaves out."""
    design = schema.encode(labels)
    used = used_columns(scaling, design.shape[1])
    return design if used.all() else csr_array(design.multiply(used))
