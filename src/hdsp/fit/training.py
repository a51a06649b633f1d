"""The documents of a fit: all in memory, or parts of a corpus that are read when needed.

Of documents in parts a sample is in memory: a fit begins in it, and answers are computed from it.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from hdsp.checks import quoted
from hdsp.corpus import Corpus, Labels, StoredCorpus, group_numbers
from hdsp.corpus.corpus import fingerprint
from hdsp.exceptions import LabelDataWarning, warn_caller
from hdsp.fit.run import FitParameters, Run
from hdsp.fit.sample import Sample, Survey, SurveyDocuments, document_keys
from hdsp.fit.start import find_seeds
from hdsp.model.data import Data, Encoding, Problem, make_problem, readable_parts, stored_blocks
from hdsp.model.priors import Priors, seed_prior
from hdsp.numerics import FloatArray, IntArray
from hdsp.scaling.design import LabelDesign, content_columns

# Of lists of tags, beyond which missing ones are told.
_MOSTLY = 0.5
# Shape and rate of the gamma priors of both concentrations.
_ALPHA_PRIOR, _BETA_PRIOR = (1.0, 1.0), (1.0, 0.01)
# The prior's tokens of a seed word for each of its tokens in the corpus.
_SEED_STRENGTH = 0.1
NOT_IN_PARTS = (
    "`groups` of HDSP.fit go with documents in memory that are fitted at once, and not with "
    "partial_fit, stochastic inference, an executor or a corpus on disk, which is in memory as "
    "corpus[:]."
)


@dataclass(frozen=True, eq=False)
class Training:
    """The documents of a fit, with their labels.

    Attributes
    ----------
    data : Data
        All documents.
    known : Problem
        The documents in which the fit begins: all, or a uniform sample.
    space : LabelDesign
        The labels, and how they scale topics.
    carriers : float array of shape [n_labels]
        How many documents have each label.
    n_tokens : float
        The tokens of all documents.
    fingerprint : str
        A hash of the documents.
    values : sparse array of shape [M, n_labels] or None, default=None
        The labels of documents in memory.
    groups : int array of shape [M] or None, default=None
        Their groups.
    sample : Sample or None, default=None
        The sample, with documents of every label; None if all documents are in memory.
    seed : int, default=0
        Decides the sample, and the order of batches.
    """

    data: Data
    known: Problem
    space: LabelDesign
    carriers: FloatArray
    n_tokens: float
    fingerprint: str
    values: csr_array | None = None
    groups: IntArray | None = None
    sample: Sample | None = None
    seed: int = 0

    def sample_of(self, seed: int) -> Sample:
        """The sample; of documents in memory, one with keys that `seed` decides."""
        if self.sample is not None:
            return self.sample
        known, keys = self.known, document_keys(seed, 0, self.known.n_documents)
        return Sample.empty(known.n_words, known.n_labels).add(known.counts, known.design, keys)


def open_training(
    corpus: Corpus, parameters: FitParameters, rng: np.random.Generator, run: Run
) -> Training:
    """The documents of a corpus, in parts if they are on disk or for an executor or steps."""
    in_parts = isinstance(corpus, StoredCorpus) or parameters.inference == "stochastic"
    in_parts |= parameters.executor is not None
    if in_parts and corpus.has_groups:
        raise ValueError(NOT_IN_PARTS)
    if not isinstance(corpus, StoredCorpus):
        _warn_missing(corpus.labels)
    if in_parts:
        return _open_parts(corpus, parameters, rng, run)
    return _open_memory(corpus, parameters)


def _open_memory(corpus: Corpus, parameters: FitParameters) -> Training:
    schema = corpus.schema
    values = schema.encode(corpus.labels)
    space = LabelDesign.fit(parameters.scaling, schema, values)
    values = space.schema.encode(corpus.labels)
    design = csr_array(space.design(values), dtype=np.float32)
    tokens = np.asarray(corpus.counts.sum(axis=0), dtype=np.float64)
    priors = make_priors(parameters, tokens, corpus.words)
    content = content_columns(space, parameters.content)
    problem = make_problem(corpus.counts, design, space.scaling, priors, content=content)
    values = csr_array(values, dtype=np.float64)
    groups = None if corpus.groups is None else group_numbers(corpus.groups)
    return Training(
        problem,
        problem,
        space,
        carriers=np.bincount(values.indices, minlength=schema.n_labels).astype(np.float64),
        n_tokens=problem.n_tokens,
        fingerprint=fingerprint(corpus.counts, design, groups),
        values=values,
        groups=groups,
    )


def _open_parts(
    corpus: Corpus, parameters: FitParameters, rng: np.random.Generator, run: Run
) -> Training:
    """Read parts once, wherever the run's executor does, for a sample and for sums."""
    parts, schema, n_documents = readable_parts(corpus), corpus.schema, corpus.n_documents
    # A stream of its own: the fit begins as one in memory with the same seed does.
    seed = int(rng.spawn(1)[0].integers(2**62))
    # Terms learn from the sample, so that the survey sees labels as they are.
    plain = stored_blocks(parts, Encoding(LabelDesign.fit("auto", schema)))
    with run.stage("sample"):
        survey: Survey = run.executor.run(SurveyDocuments(seed, n_documents), plain, keep=False)[1]
    space = LabelDesign.fit(parameters.scaling, schema, survey.sample.design)
    check_additive(space)
    content = content_columns(space, parameters.content)
    priors = make_priors(parameters, survey.word_tokens, corpus.words)
    known = space.schema.restate(survey.sample.design, schema)
    design = csr_array(space.design(known), dtype=np.float32)
    sample = replace(survey.sample, design=design)
    uniform = sample.take(sample.uniform())
    part = priors.for_part(len(uniform) / n_documents)
    blocks = stored_blocks(parts, Encoding(space, content))
    sizes = n_documents, corpus.n_words, space.n_columns
    return Training(
        Data(blocks, space.scaling, priors, *sizes, content),
        make_problem(uniform.counts, uniform.design, space.scaling, part, content=content),
        space,
        carriers=survey.carriers * space.used_labels,
        n_tokens=float(survey.word_tokens.sum()),
        fingerprint=_fingerprint_of(corpus, space),
        sample=sample,
        seed=seed,
    )


def check_additive(space: LabelDesign) -> None:
    """Raise unless the scaling function can be fitted to parts of a corpus."""
    if not space.scaling.additive:
        raise ValueError(
            f"{space.scaling!r} has steps that need all documents at once. For stochastic "
            "inference, partial_fit, an executor or a corpus on disk use LogLinear, which bends "
            "with Spline('label'), or fit a sample in memory such as corpus[:50_000]."
        )


def _fingerprint_of(corpus: Corpus, space: LabelDesign) -> str:
    if isinstance(corpus, StoredCorpus):
        return corpus.fingerprint
    values = space.schema.encode(corpus.labels)
    return fingerprint(corpus.counts, csr_array(space.design(values), dtype=np.float32))


def make_priors(
    parameters: FitParameters, word_tokens: FloatArray, words: tuple[str, ...]
) -> Priors:
    """The hyperparameters; `word_tokens` [V] are the tokens of words, for the prior of seeds."""
    seeds = None
    if parameters.seeds:
        seeds = seed_prior(find_seeds(parameters.seeds, words), word_tokens, _SEED_STRENGTH)
    return Priors(
        float(parameters.topic_prior),
        _ALPHA_PRIOR if parameters.corpus_concentration is None else None,
        _BETA_PRIOR if parameters.document_concentration is None else None,
        seeds,
    )


def _warn_missing(labels: Labels) -> None:
    """Warn of columns of labels without a single value, and of lists of tags mostly missing."""
    empty = [block.name for block in labels.blocks if block.columns and block.values.nnz == 0]
    if empty:
        warn_caller(
            f"Every value of {quoted(empty)} is missing, so that nothing is learned of "
            f"{'it' if len(empty) == 1 else 'them'}.",
            LabelDataWarning,
        )
    for block in labels.blocks:
        if block.values.nnz and block.n_missing > _MOSTLY * len(labels):
            warn_caller(
                f"{block.n_missing:,} of {len(labels):,} lists of tags in {block.name!r} are "
                "missing, and count as empty. Where nobody looked, effects come out too small: use "
                "a column of true, false or missing for each tag (docs/unknown.md).",
                LabelDataWarning,
            )
