"""A stream learns again from its sample of documents, as a fit would, and keeps the better topics.

Its first documents decide too much: the topics that there are, how many, and how numbers are
standardised. Up to some ten thousand documents the sample has them all.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from hdsp.corpus import Corpus, Labels, LabelSchema
from hdsp.corpus.schema import Moments
from hdsp.fit.run import Run
from hdsp.fit.search import MOST_FITTED, SAME, topic_similarity
from hdsp.fit.stream import FAR, OpenStream, absorb, stream_of, with_labels, with_words
from hdsp.fit.stream_labels import check_numbers
from hdsp.fit.whole import FitSource, Outcome, Plan, fit
from hdsp.model import GlobalState, HeldOut, Priors, make_problem
from hdsp.numerics import BoolArray, FloatArray, IntArray
from hdsp.scaling.design import LabelDesign, Scaling, content_columns

# Topics are learned again once there are so many times the documents, of few and of many: what the
# sample says of many has hardly changed by then.
_FACTOR, _FACTOR_OF_MANY = 1.5, 4.0
# So many documents tell which start is best.
_MANY = 10_000
# Of the coming documents so many decide, or a share of more; fewer than the least cannot.
_DECIDE, _SHARE, _MOST_DECIDE, _LEAST_DECIDE = 100, 0.1, 500, 25
# Where the search for the concentration that predicts their words best begins.
_CONCENTRATION = 8.0


@dataclass(frozen=True, eq=False)
class Renumbering:
    """What became of topics that were learned again.

    Attributes
    ----------
    number : int array of shape [T]
        The present number of each topic before; -1 for one that is gone.
    same : bool array of shape [T]
        Whether that is the same topic, by its words.
    n_topics : int
        The present number of topics.
    """

    number: IntArray
    same: BoolArray
    n_topics: int

    @property
    def facts(self) -> dict[str, int]:
        """How many topics are the same, are others under their number, are gone, and are new."""
        here = self.number >= 0
        return {
            "topics_kept": int((here & self.same).sum()),
            "topics_changed": int((here & ~self.same).sum()),
            "topics_gone": int((~here).sum()),
            "topics_new": self.n_topics - int(here.sum()),
        }


@dataclass(frozen=True, eq=False)
class Relearned:
    """A fit of a stream's sample.

    Attributes
    ----------
    source : FitSource
        The sample.
    outcome : Outcome
        Its fit.
    run : Run
        How that went.
    renumbering : Renumbering or None
        What became of the topics before; None where these were kept, since they predict better.
    """

    source: FitSource
    outcome: Outcome
    run: Run
    renumbering: Renumbering | None


def go_on(
    opened: OpenStream,
    corpus: Corpus,
    scaling: Scaling,
    plan_of: Callable[[np.random.Generator, bool], Plan],
    priors_of: Callable[[FloatArray, tuple[str, ...]], Priors],
    run: Run,
    forget: float | None = None,
    content: str | None = None,
) -> tuple[OpenStream, Relearned | None]:
    """Go on with further documents, and learn topics again from the sample if that is due.

    Some of the documents decide by their words whether the topics before or the new ones are kept,
    before either learns from them.

    Parameters
    ----------
    opened : OpenStream
        The stream so far.
    corpus : Corpus
        Documents in memory, with words and labels that may be new.
    scaling : str, ScalingFunction or Term
        How labels scale topics, as it was before it was bound to labels.
    plan_of : callable
        The settings of a fit, with a source of random numbers, and whether it starts as the last.
    priors_of : callable
        The hyperparameters, given the tokens of each word, and the words.
    run : Run
        How steps and fits proceed.
    forget : float or None, default=None
        After as many documents, those seen before count half; None weighs all alike.
    content : str or None, default=None
        The category whose levels have their own versions of topics.
    """
    opened = with_labels(opened, corpus.labels, scaling)
    check_numbers(opened.space.schema, corpus.labels)
    opened, counts = with_words(opened, corpus)
    n_documents = counts.shape[0]
    settled = opened.learned >= _MANY
    factor = _FACTOR_OF_MANY if settled else _FACTOR
    # Numbers on another scale than those before.
    far = np.abs(opened.space.encode(corpus.labels, warn=False).data).max(initial=0.0) > FAR
    if opened.n_documents + n_documents < factor * opened.learned and not far:
        return absorb(opened, counts, corpus.labels, run, forget), None
    rng = np.random.default_rng([opened.seed, opened.n_documents, 1])
    wanted = 0 if far else max(_DECIDE, min(round(_SHARE * n_documents), _MOST_DECIDE))
    order = rng.permutation(n_documents)
    deciding, others = np.sort(order[:wanted]), np.sort(order[wanted:])
    opened = absorb(opened, csr_array(counts[others]), corpus.labels[others], run, forget)
    frequency = np.asarray(opened.sample.counts.sum(axis=0), np.float64)[: len(opened.words)]
    if run.interrupted or not frequency.any():
        return opened, None
    opened = replace(opened, learned=opened.n_documents)
    fresh, found = _relearned(opened, scaling, content, plan_of(rng, settled), priors_of, run)
    held, labels = csr_array(counts[deciding]), corpus.labels[deciding]
    before, after = (
        _likelihood(one, held, labels, frequency) if len(deciding) >= _LEAST_DECIDE else 0.0
        for one in (opened, fresh)
    )
    if after >= before:
        fresh, renumbering = _renumbered(opened, fresh, frequency)
        opened, found = fresh, replace(found, renumbering=renumbering)
    return absorb(opened, held, labels, run, forget), found


def _relearned(
    opened: OpenStream,
    scaling: Scaling,
    content: str | None,
    plan: Plan,
    priors_of: Callable[[FloatArray, tuple[str, ...]], Priors],
    run: Run,
) -> tuple[OpenStream, Relearned]:
    """The stream with the topics of a fit of its sample."""
    space, values = _standardised(opened.space, csr_array(opened.sample.design), scaling)
    design = csr_array(space.design(values), dtype=np.float32)
    known = replace(opened.known, design=design).take(opened.sample.uniform(MOST_FITTED))
    share = len(known) / opened.n_documents
    priors = priors_of(np.asarray(known.counts.sum(axis=0)) / share, opened.words)
    columns = content_columns(space, content)
    part = priors.for_part(share)
    problem = make_problem(known.counts, known.design, space.scaling, part, content=columns)
    own = replace(run, trials=[], stages={})
    source = FitSource(problem, problem, space)
    outcome = fit(source, plan, own)
    batch_size = opened.stream.batch_size
    stream = stream_of(problem, outcome.fit.state, priors, run.here, opened.n_documents, batch_size)
    sample = replace(opened.sample, design=design)
    fresh = replace(opened, stream=stream, sample=sample, space=space, priors=priors)
    return fresh, Relearned(source, outcome, own, None)


def _standardised(
    space: LabelDesign, design: csr_array, scaling: Scaling
) -> tuple[LabelDesign, csr_array]:
    """The space and the values of labels, with numbers standardised by these documents."""
    values = csr_array(space.values(design), dtype=np.float64, copy=True)
    columns, blocks = space.schema.slices(), []
    for block in space.schema.blocks:
        mean, scale = list(block.mean), list(block.scale)
        for i, name in enumerate(block.columns if block.kind == "number" else ()):
            own = values.indices == columns[block.name].start + i
            if own.any():
                numbers = values.data[own] * scale[i] + mean[i]
                mean[i], scale[i] = Moments.of(numbers, block.centred).standard(name)
                values.data[own] = (numbers - mean[i]) / scale[i]
        blocks.append(replace(block, mean=tuple(mean), scale=tuple(scale)))
    # Which labels are ordered stays; what terms learn follows these documents.
    known = dict.fromkeys(space.terms) if scaling == "auto" else None
    return LabelDesign.fit(scaling, LabelSchema(tuple(blocks)), values, known), values


def _likelihood(
    opened: OpenStream, counts: csr_array, labels: Labels, frequency: FloatArray
) -> float:
    """The log likelihood of one half of documents' words given the other."""
    known = csr_array(counts[:, : len(opened.words)])
    held_out = HeldOut(known, opened.space.encode(labels), frequency)
    score = held_out.score(opened.stream.state, opened.space.scaling, _CONCENTRATION)
    return float(score.likelihood.sum())


def _renumbered(
    before: OpenStream, after: OpenStream, frequency: FloatArray
) -> tuple[OpenStream, Renumbering]:
    """The stream whose topics have the numbers of those that they resemble."""
    old, new = before.stream.state, after.stream.state
    partner, same = match(old, new, frequency)
    order = np.full(new.n_topics, -1)
    # Where there are fewer topics than before, the last numbers are those that are given up.
    stays = np.flatnonzero(partner[: new.n_topics] >= 0)
    order[stays] = partner[stays]
    order[order < 0] = np.setdiff1d(np.arange(new.n_topics), order)
    number = np.where(partner >= 0, np.argsort(order)[partner], -1)
    stream = replace(
        after.stream, state=new.reordered(order), log_proportion=after.stream.log_proportion[order]
    )
    return replace(after, stream=stream), Renumbering(number, same, new.n_topics)


def match(old: GlobalState, new: GlobalState, frequency: FloatArray) -> tuple[IntArray, BoolArray]:
    """The partner of each old topic among the new, or -1, and whether they are the same, [T].

    Seeded topics are partners, whatever their words.
    """
    alike = topic_similarity(
        old.topics.T.astype(np.float64), new.topics.T.astype(np.float64), frequency
    )
    alike[old.seeded, new.seeded] = 1e3
    rows, partners = linear_sum_assignment(-alike)
    partner = np.full(old.n_topics, -1)
    partner[rows] = partners
    same = np.zeros(old.n_topics, dtype=np.bool_)
    same[rows] = alike[rows, partners] >= SAME
    return partner, same
