"""Steps over blocks that travel to where the blocks are."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from hdsp.execution.executor import Step
from hdsp.model import Block, DocumentState, DocumentView, LocalSettings, Statistics, block_step
from hdsp.model.documents import mean_proportions
from hdsp.numerics.types import FloatArray
from hdsp.scaling import Design, Parameters, ScalingFunction


@dataclass(frozen=True, eq=False)
class FittedBlock:
    """What is kept of a block: its documents' state, and what later steps need beside it.

    Attributes
    ----------
    documents : DocumentState
        The state of its documents.
    lengths : float array of shape [M]
        The document lengths N_m.
    design : sparse array of shape [M, J]
        Label values.
    weight : float array of shape [M, K] or None, default=None
        The documents' factors of the responsibilities, c_mi gamma_mik = token_weight_mi weight_mk
        table_ik, if they were to be remembered.
    token_weight : float array of shape [nnz] or None, default=None
        The factors of the block's entries.
    """

    documents: DocumentState
    lengths: FloatArray
    design: Design
    weight: FloatArray | None = None
    token_weight: FloatArray | None = None

    @property
    def per_xi(self) -> FloatArray:
        """N_m / xi_m, [M]."""
        return np.asarray(self.lengths / self.documents.tangent.astype(np.float64))


@dataclass(frozen=True, eq=False)
class FitDocuments(Step):
    """Fits the documents of a block, continuing from what was kept of them.

    Attributes
    ----------
    view : DocumentView
        The model as documents see it.
    settings : LocalSettings
        How documents are fitted.
    remember : bool, default=False
        Also keep the responsibilities.
    """

    view: DocumentView
    settings: LocalSettings
    remember: bool = False

    def __call__(self, block: Block, kept: FittedBlock | None) -> tuple[FittedBlock, Statistics]:
        """The documents' state, and their statistics."""
        before = None if kept is None else kept.documents
        solution, statistics = block_step(self.view, block, before, self.settings)
        kept = FittedBlock(solution.documents, block.lengths, block.design)
        if self.remember:
            kept = replace(kept, weight=solution.weight, token_weight=solution.token_weight)
        return kept, statistics


@dataclass(frozen=True, eq=False)
class SumLabels(Step):
    """Sums the statistics that update the labels' weights, of documents that stay as they are.

    Attributes
    ----------
    scaling : ScalingFunction
        Bound to the columns of the blocks' designs.
    fitted_with : mapping of str to array
        The parameters that the documents were fitted with.
    parameters : mapping of str to array
        The parameters to update.
    prior_shape : float array of shape [T]
        The prior shape beta p, as the documents were fitted with.
    """

    reads_block: ClassVar[bool] = False

    scaling: ScalingFunction
    fitted_with: Parameters
    parameters: Parameters
    prior_shape: FloatArray

    def __call__(self, block: None, kept: FittedBlock) -> tuple[FittedBlock, "LabelSums"]:
        """The documents as they are, and the sums."""
        rate = self.scaling.expected_rate(self.fitted_with, kept.design)
        mean = mean_proportions(rate, self.prior_shape, kept.lengths, kept.documents)
        return kept, LabelSums(self.scaling.statistics(self.parameters, kept.design, mean))


@dataclass(frozen=True, eq=False)
class LabelSums:
    """A scaling function's own sums, which add."""

    sums: Parameters

    def __add__(self, other: "LabelSums") -> "LabelSums":
        return LabelSums({name: value + other.sums[name] for name, value in self.sums.items()})
