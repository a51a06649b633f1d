"""A model that goes on learning: documents, words and labels it has not seen before.

A stream takes steps of stochastic inference. Now and then it learns again from its sample of
documents, as a fit would, and keeps the better topics: its first documents decide too much, such as
the topics that there are, how many, and how numbers are standardised. Up to some ten thousand
documents the sample has them all.
"""

import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from hdsp.corpus import BlockSchema, Corpus, Labels, LabelSchema, as_labels
from hdsp.corpus.counting import remap_columns
from hdsp.corpus.frames import is_frame
from hdsp.corpus.schema import Moments
from hdsp.exceptions import FitWarning
from hdsp.execution.executor import Executor
from hdsp.fit.passes import Documents, sum_documents
from hdsp.fit.run import FitParameters, Run
from hdsp.fit.sample import Sample, document_keys
from hdsp.fit.search import MOST_FITTED, SAME, topic_similarity
from hdsp.fit.stochastic import SETTINGS, StochasticState, stochastic_step
from hdsp.fit.topics import Start, choose_start, fit_batch
from hdsp.fit.training import make_priors
from hdsp.model.data import Problem, make_problem
from hdsp.model.priors import Priors
from hdsp.model.reading import HeldOut, PredictiveView
from hdsp.model.state import GlobalState
from hdsp.model.updates import expected_tokens, update_versions
from hdsp.model.versions import expand_counts, word_spread
from hdsp.numerics import BoolArray, FloatArray, IntArray
from hdsp.scaling.design import LabelDesign, Scaling, content_columns
from hdsp.scaling.functions import Design, DesignLimits, move_labels
from hdsp.storage.codec import Limits, require

# A word joins the model once so many documents have it.
WORD_DOCUMENTS = 5
# Words that wait for that. Beyond twice as many, those with the fewest documents are forgotten.
_MOST_WAITING = 100_000
# A step takes numbers that are further from their mean than so many scales as this far.
FAR = 100.0
# Numbers may be so many times their scale, or their mean, from those seen before.
_FARTHEST = 1e9
# Documents that are fitted at once.
_AT_ONCE = 4_096
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
class Relearned:
    """A fit of a stream's sample, and what became of the topics before.

    Attributes
    ----------
    run : Run
        How it went.
    start : Start
        Where it began.
    tokens : float array of shape [T']
        The expected tokens of its topics.
    number : int array of shape [T], or None, default=None
        The present number of each topic before, -1 for one that is gone; None if the topics before
        were kept, since they predict better.
    same : bool array of shape [T]
        Whether that is the same topic, by its words.
    """

    run: Run
    start: Start
    tokens: FloatArray
    number: IntArray | None = None
    same: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))

    @property
    def facts(self) -> dict[str, int]:
        """How many topics are the same, are others under their number, are gone, and are new."""
        if self.number is None:
            return {"better": 0}
        present = self.number >= 0
        return {
            "better": 1,
            "topics_kept": int((present & self.same).sum()),
            "topics_changed": int((present & ~self.same).sum()),
            "topics_gone": int((~present).sum()),
            "topics_new": len(self.tokens) - int(present.sum()),
        }


@dataclass(frozen=True, eq=False)
class Stream(StochasticState):
    """A fit that can go on with documents of any words and labels.

    Attributes
    ----------
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
        within = len(self.sample) <= self.n_documents
        require(within, "its sample has more documents than there are")
        new = set(self.waiting).isdisjoint(self.words)
        new &= min(self.waiting.values(), default=0) >= 0
        require(new, "its waiting words are in the model already")

    @property
    def label_documents(self) -> FloatArray:
        """How many documents have a value of each label, [n_labels]."""
        seen = self.carriers[: self.space.schema.n_labels]
        return np.asarray(seen * (self.n_documents / max(self.n_seen, 1)))

    @property
    def known(self) -> Sample:
        """The sample, with the words of the model alone."""
        counts = csr_array(self.sample.counts)
        if counts.shape[1] == len(self.words):
            return self.sample
        return replace(self.sample, counts=csr_array(counts[:, : len(self.words)]))

    def extend(
        self, corpus: Corpus, parameters: FitParameters, run: Run, init: str, forget: float | None
    ) -> tuple["Stream", Relearned | None]:
        """Go on with further documents, and learn topics again from the sample if that is due.

        Some of the documents decide by their words whether the topics before or the new ones are
        kept, before either learns from them.

        Parameters
        ----------
        corpus : Corpus
            Documents in memory, with words and labels that may be new.
        parameters : FitParameters
            The parameters of a fit.
        run : Run
            How steps and fits proceed.
        init : str
            The start of the last fit, from which many documents begin again.
        forget : float or None
            After as many documents, those seen before count half; None weighs all alike.
        """
        stream = self._with_labels(corpus.labels, parameters.scaling)
        values = stream.space.schema.encode(corpus.labels, warn=False)
        _check_numbers(stream.space.schema, values)
        stream, counts = stream._with_words(corpus)
        n_documents = counts.shape[0]
        settled = stream.learned >= _MANY
        factor = _FACTOR_OF_MANY if settled else _FACTOR
        # Numbers on another scale than those before.
        far = np.abs(stream.space.design(values).data).max(initial=0.0) > FAR
        if stream.n_documents + n_documents < factor * stream.learned and not far:
            return stream._absorb(counts, corpus.labels, run, forget), None
        rng = np.random.default_rng([stream.seed, stream.n_documents, 1])
        wanted = 0 if far else max(_DECIDE, min(round(_SHARE * n_documents), _MOST_DECIDE))
        order = rng.permutation(n_documents)
        deciding, others = np.sort(order[:wanted]), np.sort(order[wanted:])
        stream = stream._absorb(csr_array(counts[others]), corpus.labels[others], run, forget)
        frequency = np.asarray(stream.sample.counts.sum(axis=0), np.float64)[: len(stream.words)]
        if run.interrupted or not frequency.any():
            return stream, None
        stream = replace(stream, learned=stream.n_documents)
        if settled and isinstance(parameters.init, str) and parameters.init == "auto":
            parameters = replace(parameters, init=init)
        fresh, relearned = stream._learn_again(parameters, rng, run)
        words, labels = csr_array(counts[deciding]), corpus.labels[deciding]
        before, after = (
            one._likelihood(words, labels, frequency) if len(deciding) >= _LEAST_DECIDE else 0.0
            for one in (stream, fresh)
        )
        if after >= before:
            number, same = match(stream.state, fresh.state, frequency)
            stream, number = fresh._renumbered(number)
            relearned = replace(relearned, number=number, same=same)
        return stream._absorb(words, labels, run, forget), relearned

    def _absorb(
        self, counts: csr_array, labels: Labels, run: Run, forget: float | None
    ) -> "Stream":
        """Go on with documents `counts` [M, V + W], whose words and labels the stream has."""
        stream, design = self, self.space.encode(labels)
        for first in range(0, counts.shape[0], _AT_ONCE):
            if run.interrupted:
                break
            rows = slice(first, min(first + _AT_ONCE, counts.shape[0]))
            stream = stream._step(csr_array(counts[rows]), csr_array(design[rows]), run, forget)
            run.task.update(documents=f"{rows.stop:,}")
        return stream

    def _step(self, counts: csr_array, design: Design, run: Run, forget: float | None) -> "Stream":
        """A step that weighs its documents as those before them: what topics hold adds up."""
        n_new, state, content = counts.shape[0], self.state, self.state.content
        near = design.copy()
        near.data = np.clip(near.data, -FAR, FAR)
        kept = 1.0 if forget is None else 2.0 ** (-n_new / forget)
        n_documents, known = self.n_documents + n_new, csr_array(counts[:, : len(self.words)])
        problem = make_problem(known, near, self.space.scaling, self.priors, content=content)
        data = replace(problem, n_documents=n_documents)
        sample = self.sample if forget is None else self.sample.aged(1.0 / kept)
        before = replace(
            self,
            state=_multiply(state, self.priors, self.priors, n_documents / self.n_documents),
            n_seen=max(round(kept * self.n_seen), 1),
            label_total=kept * self.label_total,
            carriers=kept * self.carriers,
            n_documents=n_documents,
            sample=sample.add(counts, design, document_keys(self.seed, self.n_documents, n_new)),
        )
        statistics = sum_documents(data, before.state, SETTINGS, run.here)
        label_rate = statistics.carriers / np.maximum(before.carriers + statistics.carriers, 1.0)
        rate = n_new / (before.n_seen + n_new)
        return stochastic_step(before, data, statistics, rate, label_rate)

    def _with_labels(self, labels: Labels, scaling: Scaling) -> "Stream":
        """The stream with room for all of these labels: new ones have no effect yet."""
        schema = _extend_schema(self.space.schema, labels)
        if schema.n_labels == self.space.schema.n_labels:
            return self
        space = self.space.grown(schema, scaling)
        position, n_columns = self.space.positions_in(space), space.n_columns
        function, state = self.space.scaling, self.state
        parameters = move_labels(
            function, state.scaling, space.scaling, position, state.n_topics, n_columns
        )

        def moved(values: FloatArray) -> FloatArray:
            out = np.zeros(n_columns)
            out[position] = values
            return out

        design = remap_columns(csr_array(self.sample.design), position.astype(np.int32), n_columns)
        design.sort_indices()
        versions = state.versions
        if versions is not None:
            # Documents of new levels have the shared words until topics are learned again.
            versions = replace(versions, columns=position[versions.columns])
        return replace(
            self,
            state=replace(state, scaling=parameters, versions=versions),
            label_total=moved(self.label_total),
            carriers=moved(self.carriers),
            label_steps=moved(self.label_steps),
            limits=DesignLimits(self.limits.labels_per_document, moved(self.limits.largest)),
            sample=replace(self.sample, design=design),
            space=space,
        )

    def _with_words(self, corpus: Corpus) -> tuple["Stream", csr_array]:
        """The stream with the words of enough documents, and the counts of all words."""
        stream, column = self, self._columns_of(corpus.words)
        if (column < 0).any() or column.max(initial=0) >= len(self.words):
            documents = np.bincount(corpus.counts.indices, minlength=len(column)).tolist()
            waiting = Counter(self.waiting) + Counter(
                dict(zip(corpus.words, documents, strict=True))
            )
            for word in self.words:
                waiting.pop(word, None)
            joining = sorted(word for word, number in waiting.items() if number >= WORD_DOCUMENTS)
            for word in joining:
                del waiting[word]
            if len(waiting) > 2 * _MOST_WAITING:
                # Of equals the latest stay.
                most = sorted(waiting, key=waiting.__getitem__)[-_MOST_WAITING:]
                waiting = Counter({word: waiting[word] for word in most})
            stream = self._with_new_words(joining, dict(waiting))
            column = stream._columns_of(corpus.words)
        return stream, _move_words(corpus.counts, column, stream.sample.counts.shape[1])

    def _columns_of(self, words: tuple[str, ...]) -> IntArray:
        """The column of each word among those of the model and those that wait; else -1."""
        place = {word: i for i, word in enumerate((*self.words, *self.waiting))}
        return np.array([place.get(word, -1) for word in words], dtype=np.int64)

    def _with_new_words(self, joining: list[str], waiting: dict[str, int]) -> "Stream":
        """The stream with further words, and with others that wait.

        A new word begins with the tokens that it has in the sample, in its documents' topics.
        """
        stream = replace(self, words=(*self.words, *joining), waiting=waiting)
        column = stream._columns_of((*self.words, *self.waiting))
        counts = _move_words(self.sample.counts, column, len(stream.words) + len(waiting))
        stream = replace(stream, sample=replace(self.sample, counts=counts))
        if not joining:
            return stream
        new = csr_array(counts[:, len(self.words) : len(stream.words)])
        rows = np.flatnonzero(np.diff(new.indptr))
        design, known = csr_array(self.sample.design[rows]), csr_array(self.known.counts[rows])
        state, versions = self.state, self.state.versions
        view = PredictiveView(state, self.space.scaling)
        shares = view.proportions(known, design, state.document_concentration)
        entries = expand_counts(csr_array(new[rows]), design, state.content)
        tokens = np.asarray(entries.T @ shares) * (self.n_documents / max(len(self.sample), 1))
        if versions is not None:
            grown = np.concatenate([versions.tokens, tokens.astype(versions.tokens.dtype)])
            spread = np.append(versions.spread, word_spread(new))
            tokens = tokens.reshape(len(joining), versions.n_groups, -1).sum(axis=1)
            versions = replace(versions, tokens=grown, spread=spread)
        added = (tokens + self.priors.topic_prior).astype(state.topics.dtype)
        priors = self.priors
        if priors.seeds is not None:
            place = np.arange(len(self.words))
            priors = replace(priors, seeds=_move_words(priors.seeds, place, len(stream.words)))
        topics = np.concatenate([state.topics, added])
        return replace(
            stream, priors=priors, state=replace(state, topics=topics, versions=versions)
        )

    def _learn_again(
        self, parameters: FitParameters, rng: np.random.Generator, run: Run
    ) -> tuple["Stream", Relearned]:
        """The stream with the topics of a fit of its sample."""
        space, values = _standardise(self.space, csr_array(self.sample.design), parameters.scaling)
        design = csr_array(space.design(values), dtype=np.float32)
        known = replace(self.known, design=design).take(self.sample.uniform(MOST_FITTED))
        share = len(known) / self.n_documents
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)
            tokens = np.asarray(known.counts.sum(axis=0)) / share
            priors = make_priors(parameters, tokens, self.words)
        content = content_columns(space, parameters.content)
        part = priors.for_part(share)
        problem = make_problem(known.counts, known.design, space.scaling, part, content=content)
        fit = replace(run, trials=[], history=[], converged=False, stages={})
        start = choose_start(problem, parameters, rng, fit)
        fit.task.update(trying=None, perplexity=None, topics=start.n_topics)
        with fit.stage("start"):
            state = start.state(problem, parameters, problem.n_tokens)
        merge = parameters.n_components == "auto"
        state = fit_batch(Documents(problem, fit.here), state, fit, merge)
        steps = steps_after(problem, state, run.here, self.n_documents, self.batch_size)
        if share != 1.0:
            steps = replace(steps, state=_multiply(state, part, priors, 1.0 / share))
        sample = replace(self.sample, design=design)
        fresh = replace(self, **vars(steps), sample=sample, space=space, priors=priors)
        return fresh, Relearned(fit, start, expected_tokens(state, part).sum(axis=0))

    def _likelihood(self, counts: csr_array, labels: Labels, frequency: FloatArray) -> float:
        """The log likelihood of one half of documents' words given the other."""
        known = csr_array(counts[:, : len(self.words)])
        held_out = HeldOut(known, self.space.encode(labels), frequency)
        score = held_out.score(self.state, self.space.scaling, _CONCENTRATION)
        return float(score.likelihood.sum())

    def _renumbered(self, partner: IntArray) -> tuple["Stream", IntArray]:
        """The stream whose topics have the numbers of their partners before, and these' numbers."""
        n_topics = self.state.n_topics
        order = np.full(n_topics, -1)
        # Where there are fewer topics than before, the last numbers are those that are given up.
        stays = np.flatnonzero(partner[:n_topics] >= 0)
        order[stays] = partner[stays]
        order[order < 0] = np.setdiff1d(np.arange(n_topics), order)
        return self.reordered(order), np.where(partner >= 0, np.argsort(order)[partner], -1)


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


def steps_after(
    problem: Problem, state: GlobalState, executor: Executor, n_documents: int, batch_size: int
) -> StochasticState:
    """Where steps go on from a fit of documents that stand for `n_documents`."""
    statistics = sum_documents(problem, state, SETTINGS, executor)
    steps, share = n_documents / batch_size, n_documents / problem.n_documents
    return StochasticState(
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


def _multiply(state: GlobalState, before: Priors, after: Priors, factor: float) -> GlobalState:
    """The state whose topics hold so many times the tokens, with other priors."""
    if state.versions is not None:
        tokens = state.versions.tokens * state.versions.tokens.dtype.type(factor)
        return update_versions(after, state, tokens, learn=False)
    tokens = np.maximum(expected_tokens(state, before) * factor, 0.0)
    topics = after.of_topics(state.seeded).add_to(tokens)
    return replace(state, topics=topics.astype(state.topics.dtype))


def _move_words(counts: csr_array, column: IntArray, n_columns: int) -> csr_array:
    """The counts of each word in its column; -1 leaves it out."""
    moved = remap_columns(csr_array(counts), column.astype(np.int32), n_columns)
    moved.sort_indices()
    return moved


def _standardise(
    space: LabelDesign, design: csr_array, scaling: Scaling
) -> tuple[LabelDesign, csr_array]:
    """The space and the values of labels, with numbers standardised by these documents."""
    values = csr_array(space.values(design), dtype=np.float64, copy=True)
    columns, blocks = space.schema.slices(), []
    for block in space.schema.blocks:
        mean, scale = list(block.mean), list(block.scale)
        for i, name in enumerate(block.columns if block.kind == "number" else ()):
            entries = values.indices == columns[block.name].start + i
            if entries.any():
                numbers = values.data[entries] * scale[i] + mean[i]
                mean[i], scale[i] = Moments.of(numbers, block.centred).standard(name)
                values.data[entries] = (numbers - mean[i]) / scale[i]
        blocks.append(replace(block, mean=tuple(mean), scale=tuple(scale)))
    # Which labels are ordered stays; what terms learn follows these documents.
    known = dict.fromkeys(space.terms) if scaling == "auto" else None
    schema = LabelSchema(tuple(blocks))
    space = LabelDesign.fit(scaling, schema, values, known)
    return space, space.schema.restate(values, schema)


def read_further_labels(schema: LabelSchema, labels: Any, n_documents: int, owner: str) -> Labels:
    """Labels of further documents: known columns as training read them, new ones by their type."""
    known = schema.read(labels, n_documents, owner)
    if isinstance(labels, Labels) or not is_frame(labels):
        return known
    parsed = as_labels(labels, n_documents, owner).blocks
    before, extended = schema.slices(), _extend_schema(schema, known)
    for block in parsed:
        if block.kind != "number" or block.name not in before:
            continue
        kind, columns = schema.kind(block.name), schema.block(block.name).columns
        if kind != "number" and extended.block(block.name).columns != columns:
            raise ValueError(
                f"`labels` of {owner} must be of the kinds that earlier calls saw. Got numbers "
                f"in {block.name!r}, which was of kind {kind}. Convert the column to "
                "its levels, or give it another name."
            )
    return Labels((*known.blocks, *(b for b in parsed if b.name not in before)), n_documents)


def _check_numbers(schema: LabelSchema, values: csr_array) -> None:
    """Raise if a number is so far from those seen that no scale would fit both."""
    for entry in np.flatnonzero(np.abs(values.data) > _FARTHEST):
        label = int(values.indices[entry])
        name, columns = next(pair for pair in schema.slices().items() if label < pair[1].stop)
        block, place = schema.block(name), label - columns.start
        mean, scale = block.mean[place], block.scale[place]
        if abs(values.data[entry]) * scale > _FARTHEST * abs(mean):
            raise ValueError(
                f"Numbers of HDSP.partial_fit must be within {_FARTHEST:,.0f} times those seen "
                f"before. Got {values.data[entry] * scale + mean:g} in {schema.names[label]!r}, "
                f"where the mean was {mean:g} and the standard deviation {scale:g}. Correct it, or "
                "leave it missing."
            )


def _extend_schema(schema: LabelSchema, labels: Labels) -> LabelSchema:
    """A schema with the tags, levels and columns of `labels` that it does not have yet.

    Numbers keep the mean and scale that they have.
    """
    new = {block.name: block for block in labels.blocks if block.columns}
    blocks = []
    for block in schema.blocks:
        other = new.pop(block.name, None)
        if other is not None and block.kind != "number":
            carried = np.bincount(other.values.indices, minlength=len(other.columns)) > 0
            known = set(block.columns)
            seen = [name for name, is_seen in zip(other.columns, carried, strict=True) if is_seen]
            further = [name for name in seen if name not in known]
            block = replace(block, columns=(*block.columns, *further))
        blocks.append(block)
    return LabelSchema((*blocks, *(BlockSchema.of(block) for block in new.values())))
