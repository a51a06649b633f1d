"""A model that goes on learning: documents, words and labels it has not seen before."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
from scipy.sparse import csr_array
from scipy.special import psi

from hdsp.corpus import Corpus, Labels
from hdsp.execution.executor import Executor
from hdsp.fit.passes import sum_documents
from hdsp.fit.run import Run
from hdsp.fit.sample import Sample, document_keys
from hdsp.fit.stochastic import SETTINGS, Stream, default_batch_size, stochastic_step
from hdsp.fit.stream_labels import grown_schema
from hdsp.model import (
    Data,
    GlobalState,
    PredictiveView,
    Priors,
    Problem,
    expected_tokens,
    make_block,
)
from hdsp.model.updates import update_versions
from hdsp.model.versions import expand_counts, word_spread
from hdsp.numerics import FloatArray, IntArray
from hdsp.scaling.design import LabelDesign, Scaling
from hdsp.scaling.functions import Design, DesignLimits, move_labels
from hdsp.storage.codec import Limits, require

# A word joins the model once so many documents have it.
WORD_DOCUMENTS = 5
# Words that wait for that. Beyond twice as many, those with the fewest documents are forgotten.
_MOST_WAITING = 100_000
# A step takes numbers that are further from their mean than so many scales as this far.
FAR = 100.0
# Documents that are fitted at once.
_AT_ONCE = 4_096


@dataclass(frozen=True, eq=False)
class OpenStream:
    """A fit that can go on with documents of any words and labels.

    Attributes
    ----------
    stream : Stream
        The state, and how far it has come.
    sample : Sample
        Some of the documents that were seen, with the V words and then those that wait.
    n_documents : int
        How many different ones were seen.
    words : tuple of str
        The V words.
    space : LabelDesign
        The labels, and how they scale topics.
    priors : Priors
        Hyperparameters.
    seed : int
        Decides which documents are sampled.
    learned : int
        The number of documents when topics were last learned from the sample.
    waiting : mapping of str to int
        Words that are not in the model, and how many documents had them.
    """

    stream: Stream
    sample: Sample
    n_documents: Annotated[int, Limits(least=1)]
    words: tuple[str, ...]
    space: LabelDesign
    priors: Priors
    seed: Annotated[int, Limits(least=0)]
    learned: Annotated[int, Limits(least=1)]
    waiting: Mapping[str, int] = field(default_factory=dict)

    def check_stored(self) -> None:
        """Raise if a file holds a stream that no fit makes."""
        n_words = len(self.words) + len(self.waiting)
        require(self.sample.counts.shape[1] == n_words, "its sample has other words")
        require(
            len(self.sample) <= self.n_documents, "its sample has more documents than there are"
        )
        new = (
            set(self.waiting).isdisjoint(self.words) and min(self.waiting.values(), default=0) >= 0
        )
        require(new, "its waiting words are in the model already")

    @property
    def carriers(self) -> FloatArray:
        """How many documents have a value of each label, [n_labels]."""
        seen = self.stream.carriers[: self.space.schema.n_labels]
        return np.asarray(seen * (self.n_documents / max(self.stream.n_documents, 1)))

    @property
    def known(self) -> Sample:
        """The sample, with the words of the model alone."""
        counts = csr_array(self.sample.counts)
        if counts.shape[1] == len(self.words):
            return self.sample
        return replace(self.sample, counts=csr_array(counts[:, : len(self.words)]))


def open_stream(
    problem: Problem,
    state: GlobalState,
    words: tuple[str, ...],
    space: LabelDesign,
    executor: Executor,
    seed: int,
    batch_size: int | None,
) -> OpenStream:
    """The stream that goes on from a fit of documents in memory."""
    n_documents = problem.n_documents
    stream = stream_of(problem, state, problem.priors, executor, n_documents, batch_size)
    sample = Sample.empty(problem.n_words, problem.n_labels).add(
        csr_array(problem.counts, dtype=np.float32),
        csr_array(problem.design, dtype=np.float32),
        document_keys(seed, 0, n_documents),
    )
    return OpenStream(stream, sample, n_documents, words, space, problem.priors, seed, n_documents)


def stream_of(
    problem: Problem,
    state: GlobalState,
    priors: Priors,
    executor: Executor,
    n_documents: int,
    batch_size: int | None,
) -> Stream:
    """The stream that goes on from a fit of documents that stand for `n_documents`, with `priors`.

    `problem` has the documents themselves, and the priors of its share of them.
    """
    batch_size = batch_size or default_batch_size(n_documents)
    statistics = sum_documents(problem, state, SETTINGS, executor)
    steps, share = n_documents / batch_size, n_documents / problem.n_documents
    if share != 1.0:
        state = _multiplied(state, problem.priors, priors, share)
    return Stream(
        state,
        batch_size,
        steps,
        n_documents,
        statistics.log_proportion / problem.n_documents,
        statistics.label_total * share,
        statistics.carriers * share,
        steps * (statistics.carriers > 0),
        statistics.limits,
    )


def _multiplied(state: GlobalState, before: Priors, after: Priors, factor: float) -> GlobalState:
    """The state whose topics hold so many times the tokens, with other priors."""
    if state.versions is not None:
        tokens = state.versions.tokens * state.versions.tokens.dtype.type(factor)
        return update_versions(after, state, tokens, learn=False)
    tokens = np.maximum(expected_tokens(state, before) * factor, 0.0)
    topics = after.of_topics(state.seeded).add_to(tokens)
    return replace(state, topics=topics.astype(state.topics.dtype))


def stream_from(
    state: GlobalState,
    space: LabelDesign,
    labels: csr_array,
    carriers: FloatArray,
    n_documents: int,
    batch_size: int | None,
) -> Stream:
    """A stream that goes on from a fitted state, of whose documents nothing is left.

    `labels` [S, n_labels] are the values in some of them, and `carriers` [n_labels] how many had
    each. Their mean E[ln pi_mk] is taken to be the one at which the weights of topics are at their
    optimum.
    """
    scaling, design = space.scaling, csr_array(space.design(labels))
    seen = np.bincount(design.indices, minlength=space.n_columns).astype(np.float64)
    seen *= n_documents / max(labels.shape[0], 1)
    seen[: len(carriers)] = carriers
    batch_size = batch_size or default_batch_size(n_documents)
    steps = n_documents / batch_size
    mean_labels = csr_array(np.asarray(design.mean(axis=0)).reshape(1, -1))
    log_rate = scaling.log_rate_total(state.scaling, mean_labels)
    return Stream(
        state,
        batch_size,
        steps,
        n_documents,
        psi(state.prior_shape) - log_rate,
        np.asarray(design.sum(axis=0)) * (n_documents / max(labels.shape[0], 1)),
        seen,
        steps * (seen > 0),
        DesignLimits.of(design),
    )


def absorb(
    opened: OpenStream, counts: csr_array, labels: Labels, run: Run, forget: float | None = None
) -> OpenStream:
    """Go on with further documents, whose words and labels the stream has.

    Parameters
    ----------
    opened : OpenStream
        The stream so far.
    counts : sparse array of shape [M, V + W]
        Documents, with the V words of the stream and the W that wait.
    labels : Labels
        Their labels.
    run : Run
        Where steps run, and what they report to.
    forget : float or None, default=None
        After as many documents, those seen before count half; None weighs all alike.
    """
    design = opened.space.encode(labels)
    for first in range(0, counts.shape[0], _AT_ONCE):
        if run.interrupted:
            break
        rows = slice(first, min(first + _AT_ONCE, counts.shape[0]))
        opened = _step(opened, csr_array(counts[rows]), csr_array(design[rows]), run, forget)
        run.task.update(documents=f"{rows.stop:,}")
    return opened


def _step(
    opened: OpenStream, counts: csr_array, design: Design, run: Run, forget: float | None
) -> OpenStream:
    """A step that weighs its documents as those before them: what topics hold adds up."""
    n_new, priors = counts.shape[0], opened.priors
    near = csr_array((np.clip(design.data, -FAR, FAR), design.indices, design.indptr), design.shape)
    kept = 1.0 if forget is None else 2.0 ** (-n_new / forget)
    n_documents, n_words = opened.n_documents + n_new, len(opened.words)
    state = opened.stream.state
    problem = Data(
        (make_block(csr_array(counts[:, :n_words]), near, content=state.content),),
        opened.space.scaling,
        priors,
        n_documents,
        n_words,
        opened.space.n_columns,
        content=state.content,
    )
    stream = replace(
        opened.stream,
        state=_multiplied(state, priors, priors, n_documents / opened.n_documents),
        n_documents=max(round(kept * opened.stream.n_documents), 1),
        label_total=kept * opened.stream.label_total,
        carriers=kept * opened.stream.carriers,
    )
    statistics = sum_documents(problem, stream.state, SETTINGS, run.here)
    label_rate = statistics.carriers / np.maximum(stream.carriers + statistics.carriers, 1.0)
    sample = opened.sample if forget is None else opened.sample.aged(1.0 / kept)
    return replace(
        opened,
        stream=stochastic_step(
            stream, problem, statistics, n_new / (stream.n_documents + n_new), label_rate
        ),
        sample=sample.add(
            csr_array(counts, dtype=np.float32),
            csr_array(design, dtype=np.float32),
            document_keys(opened.seed, opened.n_documents, n_new),
        ),
        n_documents=n_documents,
    )


def with_labels(opened: OpenStream, labels: Labels, scaling: Scaling) -> OpenStream:
    """The stream with room for all of these labels: new ones have no effect yet."""
    before = opened.space
    schema = grown_schema(before.schema, labels)
    if schema.n_labels == before.schema.n_labels:
        return opened
    space = before.grown(schema, scaling)
    position = before.positions_in(space)
    stream, state = opened.stream, opened.stream.state
    n_labels = space.n_columns
    parameters = move_labels(
        before.scaling, state.scaling, space.scaling, position, state.n_topics, n_labels
    )

    def moved(values: FloatArray) -> FloatArray:
        out = np.zeros(n_labels)
        out[position] = values
        return out

    design = csr_array(opened.sample.design)
    design = csr_array(
        (design.data, position[design.indices].astype(np.int32), design.indptr),
        shape=(design.shape[0], n_labels),
    )
    design.sort_indices()
    limits = DesignLimits(stream.limits.labels_per_document, moved(stream.limits.largest))
    versions = state.versions
    if versions is not None:
        # Documents of new levels have the shared words until topics are learned again.
        versions = replace(versions, columns=position[versions.columns])
    return replace(
        opened,
        space=space,
        stream=replace(
            stream,
            state=replace(state, scaling=parameters, versions=versions),
            label_total=moved(stream.label_total),
            carriers=moved(stream.carriers),
            label_steps=moved(stream.label_steps),
            limits=limits,
        ),
        sample=replace(opened.sample, design=design),
    )


def with_words(opened: OpenStream, corpus: Corpus) -> tuple[OpenStream, csr_array]:
    """The stream with the words that enough documents have, and the corpus' counts of all words.

    A new word begins with the tokens that it has in the sample, in the topics of its documents.
    """
    place = {word: i for i, word in enumerate((*opened.words, *opened.waiting))}
    column = np.array([place.get(word, -1) for word in corpus.words], dtype=np.int64)
    if (column < 0).any() or column.max(initial=0) >= len(opened.words):
        documents = np.bincount(corpus.counts.indices, minlength=len(column)).tolist()
        waiting = dict(opened.waiting)
        known = set(opened.words)
        for word, number in zip(corpus.words, documents, strict=True):
            if number and word not in known:
                waiting[word] = waiting.get(word, 0) + number
        joining = sorted(word for word, number in waiting.items() if number >= WORD_DOCUMENTS)
        for word in joining:
            del waiting[word]
        opened = _with_words(opened, joining, _remembered(waiting))
        place = {word: i for i, word in enumerate((*opened.words, *opened.waiting))}
        column = np.array([place.get(word, -1) for word in corpus.words], dtype=np.int64)
    return opened, _columns(corpus.counts, column, len(place))


def _columns(counts: csr_array, column: IntArray, n_columns: int) -> csr_array:
    """The counts of each word in its column; -1 leaves it out."""
    counts = csr_array(counts)
    if np.array_equal(column, np.arange(len(column))):
        return csr_array((counts.data, counts.indices, counts.indptr), (counts.shape[0], n_columns))
    kept = column[counts.indices] >= 0
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))[kept]
    shape = (counts.shape[0], n_columns)
    found = csr_array((counts.data[kept], (rows, column[counts.indices[kept]])), shape=shape)
    found.sort_indices()
    return found


def _with_words(opened: OpenStream, joining: list[str], waiting: dict[str, int]) -> OpenStream:
    """The stream with further words, and with others that wait."""
    words = (*opened.words, *joining)
    place = {word: i for i, word in enumerate((*words, *waiting))}
    before = (*opened.words, *opened.waiting)
    column = np.array([place.get(word, -1) for word in before], dtype=np.int64)
    counts = _columns(opened.sample.counts, column, len(place))
    if not joining:
        return replace(opened, waiting=waiting, sample=replace(opened.sample, counts=counts))
    priors, state = opened.priors, opened.stream.state
    new = csr_array(counts[:, len(opened.words) : len(words)])
    rows = np.flatnonzero(np.diff(new.indptr))
    view = PredictiveView(state, opened.space.scaling)
    design = csr_array(opened.sample.design[rows])
    shares = view.proportions(
        csr_array(opened.known.counts[rows]), design, state.document_concentration
    )
    found, versions = expand_counts(csr_array(new[rows]), design, state.content), state.versions
    tokens = np.asarray(found.T @ shares) * (opened.n_documents / max(len(opened.sample), 1))
    if versions is not None:
        grown = np.concatenate([versions.tokens, tokens.astype(versions.tokens.dtype)])
        spread = np.append(versions.spread, word_spread(new))
        versions = replace(versions, tokens=grown, spread=spread)
        tokens = tokens.reshape(len(joining), versions.n_groups, -1).sum(axis=1)
    topics = np.concatenate(
        [state.topics, (tokens + priors.topic_prior).astype(state.topics.dtype)]
    )
    if priors.seeds is not None:
        seeds = _columns(priors.seeds, np.arange(len(opened.words)), len(words))
        priors = replace(priors, seeds=seeds)
    return replace(
        opened,
        words=words,
        waiting=waiting,
        priors=priors,
        stream=replace(opened.stream, state=replace(state, topics=topics, versions=versions)),
        sample=replace(opened.sample, counts=counts),
    )


def _remembered(waiting: dict[str, int]) -> dict[str, int]:
    """Words to remember: of too many, those that most documents had, the latest of equals."""
    if len(waiting) <= 2 * _MOST_WAITING:
        return waiting
    order = sorted(enumerate(waiting), key=lambda item: (waiting[item[1]], item[0]))
    kept = {word for _, word in order[-_MOST_WAITING:]}
    return {word: number for word, number in waiting.items() if word in kept}
