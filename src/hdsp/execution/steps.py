"""Steps over blocks that travel to where the blocks are."""

from dataclasses import dataclass

from hdsp.model import Block, DocumentState, DocumentView, LocalSettings, Statistics, block_step
from hdsp.model.documents import mean_proportions
from hdsp.numerics.types import FloatArray
from hdsp.scaling import Parameters, ScalingFunction


@dataclass(frozen=True, eq=False)
class FitDocuments:
    """Fits the documents of a block, continuing from what was kept of them.

    Attributes
    ----------
    view : DocumentView
        The model as documents see it.
    settings : LocalSettings
        How documents are fitted.
    """

    view: DocumentView
    settings: LocalSettings

    def __call__(
        self, block: Block, documents: DocumentState | None
    ) -> tuple[DocumentState, Statistics]:
        """The documents' state, and their statistics."""
        return block_step(self.view, block, documents, self.settings)


@dataclass(frozen=True, eq=False)
class SumLabels:
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
        beta p, as the documents were fitted with.
    """

    scaling: ScalingFunction
    fitted_with: Parameters
    parameters: Parameters
    prior_shape: FloatArray

    def __call__(self, block: Block, documents: DocumentState) -> tuple[DocumentState, "LabelSums"]:
        """The documents as they are, and the sums."""
        rate = self.scaling.expected_rate(self.fitted_with, block.design)
        mean = mean_proportions(rate, self.prior_shape, block, documents)
        return documents, LabelSums(self.scaling.statistics(self.parameters, block.design, mean))


@dataclass(frozen=True, eq=False)
class LabelSums:
    """A scaling function's own sums, which add."""

    sums: Parameters

    def __add__(self, other: "LabelSums") -> "LabelSums":
        return LabelSums({name: value + other.sums[name] for name, value in self.sums.items()})
