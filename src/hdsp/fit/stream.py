"""A model that goes on learning: documents, words and labels it has not seen before."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import psi

from hdsp.corpus import Corpus, Labels, LabelSchema, as_labels
from hdsp.corpus.frames import is_frame
from hdsp.corpus.schema import BlockSchema
from hdsp.execution import Executor, sum_documents
from hdsp.fit.run import Run
from hdsp.fit.sample import Sample, document_keys
from hdsp.fit.stochastic import SETTINGS, Stream, default_batch_size, stochastic_step
from hdsp.model import GlobalState, Priors, Problem, ShardedProblem, make_block
from hdsp.numerics.types import FloatArray
from hdsp.scaling import Design, DesignLimits, LabelSpace, Scaling, move_labels

# A word joins the model once so many documents have it.
WORD_DOCUMENTS = 5
# Words that wait for that. Beyond twice as many, those with the fewest documents are forgotten.
_MOST_WAITING = 100_000
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
        Some of the documents that were seen.
    n_documents : int
        How many different ones were seen.
    words : tuple of str
        The V words.
    space : LabelSpace
        The labels, and how they scale topics.
    priors : Priors
        Hyperparameters.
    seed : int
        Decides which documents are sampled.
    searched : int
        The number of documents when the number of topics was last searched for.
    waiting : mapping of str to int
        Words that are not in the model, and how many documents had them.
    """

    stream: Stream
    sample: Sample
    n_documents: int
    words: tuple[str, ...]
    space: LabelSpace
    priors: Priors
    seed: int
    searched: int
    waiting: Mapping[str, int] = field(default_factory=dict)

    @property
    def carriers(self) -> FloatArray:
        """How many documents have a value of each label, [n_labels]."""
        seen = self.stream.carriers[self.space.own]
        return np.asarray(seen * (self.n_documents / max(self.stream.n_documents, 1)))


def open_stream(
    problem: Problem,
    state: GlobalState,
    words: tuple[str, ...],
    space: LabelSpace,
    executor: Executor,
    seed: int,
    batch_size: int | None,
) -> OpenStream:
    """The stream that goes on from a fit of documents in memory."""
    n_documents = problem.n_documents
    batch_size = batch_size or default_batch_size(n_documents)
    statistics = sum_documents(problem, state, SETTINGS, executor)
    steps = n_documents / batch_size
    stream = Stream(
        state,
        batch_size,
        steps,
        n_documents,
        statistics.log_proportion / n_documents,
        statistics.label_total,
        statistics.carriers,
        steps * (statistics.carriers > 0),
        statistics.limits,
    )
    sample = Sample.empty(problem.n_words, problem.n_labels).add(
        csr_array(problem.counts, dtype=np.float32),
        csr_array(problem.design, dtype=np.float32),
        document_keys(seed, 0, n_documents),
    )
    return OpenStream(stream, sample, n_documents, words, space, problem.priors, seed, n_documents)


def stream_from(
    state: GlobalState,
    space: LabelSpace,
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
    seen[space.own] = carriers
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


def absorb(opened: OpenStream, corpus: Corpus, scaling: Scaling, run: Run) -> OpenStream:
    """Go on with further documents.

    Parameters
    ----------
    opened : OpenStream
        The stream so far.
    corpus : Corpus
        Documents in memory, with words and labels that may be new.
    scaling : str, ScalingFunction or Term
        How labels scale topics, as it was before it was bound to labels.
    run : Run
        Where steps run, and what they report to.
    """
    opened = with_labels(opened, corpus.labels, scaling)
    opened, counts = with_words(opened, corpus)
    design = opened.space.encode(corpus.labels)
    for first in range(0, corpus.n_documents, _AT_ONCE):
        if run.interrupted:
            break
        rows = slice(first, min(first + _AT_ONCE, corpus.n_documents))
        opened = _step(opened, csr_array(counts[rows]), csr_array(design[rows]), run)
        run.display.stepped(rows.stop, corpus.n_documents)
    return opened


def _step(opened: OpenStream, counts: csr_array, design: Design, run: Run) -> OpenStream:
    n_documents = opened.n_documents + counts.shape[0]
    problem = ShardedProblem(
        (make_block(counts, design),),
        opened.space.scaling,
        opened.priors,
        n_documents,
        len(opened.words),
        opened.space.n_columns,
    )
    statistics = sum_documents(problem, opened.stream.state, SETTINGS, run.here)
    keys = document_keys(opened.seed, opened.n_documents, counts.shape[0])
    return replace(
        opened,
        stream=stochastic_step(opened.stream, problem, statistics),
        sample=opened.sample.add(
            csr_array(counts, dtype=np.float32), csr_array(design, dtype=np.float32), keys
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
    return replace(
        opened,
        space=space,
        stream=replace(
            stream,
            state=replace(state, scaling=parameters),
            label_total=moved(stream.label_total),
            carriers=moved(stream.carriers),
            label_steps=moved(stream.label_steps),
            limits=limits,
        ),
        sample=replace(opened.sample, design=design),
    )


def read_further_labels(schema: LabelSchema, labels: Any, n_documents: int, owner: str) -> Labels:
    """Labels of further documents: known columns as training read them, new ones by their type."""
    known = schema.read(labels, n_documents, owner)
    if isinstance(labels, Labels) or not is_frame(labels):
        return known
    names = {block.name for block in schema.blocks}
    found = as_labels(labels, n_documents, owner).blocks
    return Labels((*known.blocks, *(b for b in found if b.name not in names)), n_documents)


def grown_schema(schema: LabelSchema, labels: Labels) -> LabelSchema:
    """A schema with the tags, levels and columns of `labels` that it does not have yet.

    Numbers keep the mean and scale that they had when they first came.
    """
    new = {block.name: block for block in labels.blocks if block.columns}
    blocks = []
    for block in schema.blocks:
        found = new.pop(block.name, None)
        if found is not None and block.kind != "number":
            carried = np.bincount(found.values.indices, minlength=len(found.columns)) > 0
            known = set(block.columns)
            further = [
                name
                for name, seen in zip(found.columns, carried, strict=True)
                if seen and name not in known
            ]
            block = replace(block, columns=(*block.columns, *further))
        blocks.append(block)
    return LabelSchema((*blocks, *(BlockSchema.of(block) for block in new.values())))


def with_words(opened: OpenStream, corpus: Corpus) -> tuple[OpenStream, csr_array]:
    """The stream with the words that enough documents have, and the corpus' counts of its words.

    A new word begins as the prior has it, and counts from this corpus on.
    """
    place = {word: i for i, word in enumerate(opened.words)}
    column = np.array([place.get(word, -1) for word in corpus.words], dtype=np.int64)
    unknown = np.flatnonzero(column < 0)
    if len(unknown):
        documents = np.bincount(corpus.counts.indices, minlength=len(column))[unknown]
        waiting = dict(opened.waiting)
        for i, number in zip(unknown.tolist(), documents.tolist(), strict=True):
            if number:
                waiting[corpus.words[i]] = waiting.get(corpus.words[i], 0) + number
        joining = sorted(word for word, number in waiting.items() if number >= WORD_DOCUMENTS)
        for word in joining:
            del waiting[word]
            place[word] = len(place)
        opened = replace(_with_rows(opened, joining), waiting=_remembered(waiting))
        column = np.array([place.get(word, -1) for word in corpus.words], dtype=np.int64)
    counts = csr_array(corpus.counts)
    kept = column[counts.indices] >= 0
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))[kept]
    shape = (counts.shape[0], len(opened.words))
    found = csr_array((counts.data[kept], (rows, column[counts.indices[kept]])), shape=shape)
    found.sort_indices()
    return opened, found


def _with_rows(opened: OpenStream, joining: list[str]) -> OpenStream:
    """The stream with further words, as the prior has them."""
    if not joining:
        return opened
    state = opened.stream.state
    n_words = len(opened.words) + len(joining)
    prior = np.full((len(joining), state.n_topics), opened.priors.topic_prior, state.topics.dtype)
    counts, priors = csr_array(opened.sample.counts), opened.priors
    if priors.seeds is not None:
        priors = replace(priors, seeds=_widened(priors.seeds, n_words))
    return replace(
        opened,
        words=(*opened.words, *joining),
        priors=priors,
        stream=replace(
            opened.stream, state=replace(state, topics=np.concatenate([state.topics, prior]))
        ),
        sample=replace(opened.sample, counts=_widened(counts, n_words)),
    )


def _widened(matrix: csr_array, n_columns: int) -> csr_array:
    return csr_array((matrix.data, matrix.indices, matrix.indptr), (matrix.shape[0], n_columns))


def _remembered(waiting: dict[str, int]) -> dict[str, int]:
    """Words to remember: of too many, those that most documents had, the latest of equals."""
    if len(waiting) <= 2 * _MOST_WAITING:
        return waiting
    order = sorted(enumerate(waiting), key=lambda item: (waiting[item[1]], item[0]))
    kept = {word for _, word in order[-_MOST_WAITING:]}
    return {word: number for word, number in waiting.items() if word in kept}
