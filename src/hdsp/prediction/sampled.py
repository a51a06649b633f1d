"""A fitted model whose calibration and summaries come from a sample of the documents."""

from dataclasses import replace

from hdsp.corpus import LabelSchema
from hdsp.execution import fit_documents
from hdsp.fit import Run, Sample
from hdsp.model import Fit, GlobalState, Priors, expected_tokens, make_problem
from hdsp.numerics.types import FloatArray
from hdsp.prediction.fitted import (
    FitReport,
    FittedModel,
    Source,
    make_fitted,
    with_label_regressions,
)
from hdsp.prediction.training import TrainingLabels
from hdsp.scaling import ScalingFunction


def make_fitted_from_sample(
    sample: Sample,
    state: GlobalState,
    schema: LabelSchema,
    scaling: ScalingFunction,
    priors: Priors,
    source: Source,
    report: FitReport,
    run: Run,
    n_documents: int,
    carriers: FloatArray,
    predictive_concentration: float | None = None,
) -> FittedModel:
    """The fitted model of all documents, of which `sample` is in memory.

    Topics are regressed on labels in all of the sample, where rare labels have more documents than
    their share: how topics depend on labels does not depend on how common these are. What does
    (how probable labels are, and the documents that effects are averages over) comes from the
    uniform part, and from `carriers` [J], how many of all `n_documents` have each label.
    """
    known = make_problem(sample.counts, sample.design, scaling, priors)
    documents, _ = fit_documents(known, state, None, run.settings, run.here)
    model = make_fitted(
        known,
        Fit(state, documents),
        schema,
        source,
        report,
        run,
        predictive_concentration,
        n_documents,
    )
    uniform = sample.take(sample.uniform())
    training = TrainingLabels.of(schema, uniform.design)
    model = replace(
        model,
        training=replace(training, carriers=carriers, n_documents=n_documents),
        sampled=float(known.n_tokens / max(expected_tokens(state, priors).sum(), 1e-300)),
    )
    known = make_problem(uniform.counts, uniform.design, scaling, priors)
    return with_label_regressions(model, known, run)
