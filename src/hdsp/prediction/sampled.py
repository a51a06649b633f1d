"""A fitted model whose calibration and summaries come from a sample of the documents."""

from dataclasses import dataclass, replace

from hdsp.execution import solve_documents
from hdsp.fit import Run, Sample
from hdsp.model import Fit, GlobalState, Priors, expected_tokens, make_problem
from hdsp.numerics.types import FloatArray
from hdsp.prediction.after_fit import make_fitted, with_evidence
from hdsp.prediction.calibration import LeftOut
from hdsp.prediction.fitted import FitReport, FittedModel, Source
from hdsp.prediction.training import TrainingLabels
from hdsp.scaling import LabelSpace


@dataclass(frozen=True, eq=False)
class SampledFit:
    """A fit of documents of which a sample is in memory.

    Attributes
    ----------
    sample : Sample
        Some of the documents.
    state : GlobalState
        The fitted state.
    space : LabelSpace
        The labels, and how they scale topics.
    priors : Priors
        Hyperparameters.
    n_documents : int
        The number of all documents.
    carriers : float array of shape [n_labels]
        How many of them have each label.
    """

    sample: Sample
    state: GlobalState
    space: LabelSpace
    priors: Priors
    n_documents: int
    carriers: FloatArray


def make_fitted_from_sample(
    fit: SampledFit,
    source: Source,
    report: FitReport,
    run: Run,
    predictive_concentration: float | None = None,
) -> FittedModel:
    """The fitted model of all documents, of which a sample is in memory.

    Topics are regressed on labels in all of the sample, where rare labels have more documents than
    their share: how topics depend on labels does not depend on how common these are. What does
    (how probable labels are, and the documents that effects are averages over) comes from the
    uniform part, and from how many of all documents have each label.
    """
    sample, state, space, priors = fit.sample, fit.state, fit.space, fit.priors
    known = make_problem(sample.counts, sample.design, space.scaling, priors, content=state.content)
    documents = solve_documents(known, state, run.settings)
    left_out = LeftOut(
        known, state, run.settings, run.here, documents=documents, learned_from=fit.n_documents
    )
    model = make_fitted(
        known,
        Fit(state, documents),
        space,
        source,
        report,
        run,
        predictive_concentration,
        left_out=left_out,
    )
    uniform = sample.take(sample.uniform())
    training = TrainingLabels.of(space.schema, space.values(uniform.design))
    model = replace(
        model,
        training=replace(training, carriers=fit.carriers, n_documents=fit.n_documents),
        sampled=float(known.n_tokens / max(expected_tokens(state, priors).sum(), 1e-300)),
    )
    if len(uniform) == len(sample):
        return with_evidence(model, known, run, left_out=left_out)
    del left_out
    known = make_problem(
        uniform.counts, uniform.design, space.scaling, priors, content=state.content
    )
    return with_evidence(model, known, run)
