"""Documents that a model is asked about: how they are read, their topics and labels."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array, eye_array

from hdsp.analysis.design import column_numbers
from hdsp.analysis.fitted import METHODS, FittedModel, Method, Source
from hdsp.analysis.label_prediction import (
    LABEL_METHODS,
    Arrays,
    LabelMethod,
    label_chances,
    make_candidates,
)
from hdsp.analysis.reading import WEIGHTS, Weight
from hdsp.analysis.topics import Columns, name_column, word_share
from hdsp.analysis.words import with_any
from hdsp.checks import (
    check_choice,
    check_counts,
    check_flag,
    check_indices,
    check_known,
    check_length,
    check_not_texts,
    check_share,
    check_weights,
    check_whole,
    count_rows,
    make_generator,
)
from hdsp.corpus import (
    Corpus,
    Labels,
    StoredCorpus,
    as_labels,
    group_numbers,
    make_frame,
    warn_unknown,
)
from hdsp.corpus.corpus import fingerprint
from hdsp.execution.executor import make_executor
from hdsp.model.data import Problem, make_problem
from hdsp.model.reading import document_log_likelihood, split_tokens
from hdsp.model.simulate import Truth, draw_documents
from hdsp.numerics import FloatArray, IntArray
from hdsp.scaling.functions import Design


def read_counts(
    X: Any, owner: str, source: Source | None = None
) -> tuple[csr_array, tuple[str, ...] | None]:
    """Word counts as scikit-learn takes them, and the names of the columns, if they have any.

    They must have the columns of a fitted model's `source`.
    """
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import validate_data

    check_not_texts(X, owner)
    check_indices(X, f"X of {owner}")
    # Columns as scikit-learn's validation reads and sets them; the name is for its messages.
    features = type("HDSP", (BaseEstimator,), {})()
    if source is not None:
        features.n_features_in_ = len(source.words)
        if source.named:
            features.feature_names_in_ = np.array(source.words, dtype=object)
    X = validate_data(
        features,
        X,
        reset=source is None,
        accept_sparse="csr",
        dtype=(np.float64, np.float32),
        ensure_non_negative=True,
    )
    names = getattr(features, "feature_names_in_", None)
    return check_counts(X, owner), None if names is None else tuple(names)


def check_own_labels(labels: object, owner: str) -> None:
    """Raise if labels are given beside a corpus."""
    if labels is not None:
        raise ValueError(
            f"`labels` of {owner} must be None where X is a Corpus, which carries its own."
        )


def read_documents(
    fitted: FittedModel, X: Any, labels: object, owner: str, warn: bool = True
) -> tuple[csr_array, Design]:
    """Counts [M, V] and design [M, J] of new documents."""
    if isinstance(X, Corpus):
        check_own_labels(labels, owner)
        check_words(fitted, X, owner)
        counts, labels = X.counts, X.labels
    else:
        counts, _ = read_counts(X, owner, fitted.source)
    if counts.shape[0] == 0:
        raise ValueError(f"X of {owner} has no documents.")
    return counts, read_labels(fitted, labels, counts.shape[0], owner, warn)[1]


def check_corpus(corpus: Any, owner: str) -> None:
    """Raise unless documents come as a corpus."""
    if not isinstance(corpus, Corpus):
        raise TypeError(
            f"`corpus` of {owner} must be a Corpus. Got {type(corpus).__name__}: of counts make "
            "Corpus(X, words=model.words_, labels=labels)."
        )


def check_words(fitted: FittedModel, corpus: Corpus, owner: str, name: str = "X") -> None:
    """Raise unless a corpus has the model's words."""
    words = fitted.source.words
    if corpus.words != words:
        raise ValueError(
            f"{name} of {owner} has other words than the model: {len(corpus.words)} against "
            f"{len(words)}, or in another order. Count it with the vectoriser the "
            "model was trained with."
        )


def document_parts(
    fitted: FittedModel, X: Any, labels: object, owner: str
) -> Iterator[tuple[Any, csr_array, Design]]:
    """Yield documents with counts and design: all, or part by part if they are on disk."""
    if labels is not None or not isinstance(X, StoredCorpus):
        yield X, *read_documents(fitted, X, labels, owner)
        return
    unknown = []
    for part in X.parts():
        yield part, *read_documents(fitted, part, None, owner, warn=False)
        unknown.append(fitted.schema.unknown(part.labels))
    warn_unknown(unknown)


def read_labels(
    fitted: FittedModel, labels: Any, n_documents: int | None, owner: str, warn: bool = True
) -> tuple[Labels, Design]:
    """Labels of new documents and their design [M, J]."""
    if n_documents is None:
        if labels is None:
            remedy = ", or `n_documents`" if owner == "HDSP.simulate" else ""
            raise ValueError(f"{owner} needs labels{remedy}: one row for each document.")
        n_documents = count_rows(labels, owner)
    parsed = fitted.schema.read(labels, n_documents, owner)
    return parsed, fitted.space.encode(parsed, warn)


def label_values(labels: Labels) -> dict[str, list[Any]]:
    """The values of labels by column: levels, lists of tags, numbers; None where missing."""
    columns: dict[str, list[Any]] = {}
    for block in labels.blocks:
        names = np.array(block.columns, dtype=object)
        rows = np.split(block.values.indices, block.values.indptr[1:-1])
        if block.kind == "number":
            for place, name in enumerate(block.columns):
                columns[name] = column_numbers(block.values, place).tolist()
        elif block.kind == "tags":
            columns[block.name] = [names[own].tolist() for own in rows]
        else:
            columns[block.name] = [names[own[0]] if len(own) else None for own in rows]
    return columns


def in_memory(corpus: Any, owner: str) -> Corpus:
    """A corpus whose documents are in memory."""
    check_corpus(corpus, owner)
    return corpus[:] if isinstance(corpus, StoredCorpus) else corpus


def column_values(corpus: Corpus, name: str, parameter: str, owner: str) -> list[Any]:
    """The values of a category or number of a corpus, one per document; None where missing."""
    known = [
        block.name
        for block in corpus.labels.blocks
        if block.kind == "category" or (block.kind == "number" and len(block.columns) == 1)
    ]
    what = "one value per document, or name a category or a number of the corpus"
    check_known(name, known, parameter, owner, what)
    (found,) = label_values(corpus.labels.select([name])).values()
    return [None if value != value else value for value in found]


def training_problem(
    fitted: FittedModel, corpus: Any, owner: str
) -> tuple[Problem, IntArray | None]:
    """The documents of a corpus and their groups; raise unless the model was fitted to them."""
    check_corpus(corpus, owner)
    counts, design = read_documents(fitted, corpus, None, owner)
    content = fitted.state.content
    problem = make_problem(counts, design, fitted.scaling, fitted.priors, content=content)
    if getattr(corpus, "fingerprint", None) == fitted.source.fingerprint:
        return problem, None
    groups = None if corpus.groups is None else group_numbers(corpus.groups)
    if fingerprint(corpus.counts, problem.design, groups) != fitted.source.fingerprint:
        raise ValueError(
            f"`corpus` of {owner} must be the documents that the model was fitted to, with the "
            "same labels and groups and in the same order."
        )
    return problem, groups


def transformed_parts(
    fitted: FittedModel, X: Any, labels: object = None, n_jobs: int | None = None
) -> Iterator[tuple[Any, FloatArray]]:
    """Yield documents with their `HDSP.transform`: all, or part by part if they are on disk."""
    dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
    for part, counts, design in document_parts(fitted, X, labels, "HDSP.transform"):
        with make_executor(None, n_jobs):
            found = fitted.groups.sum(fitted.posterior(counts, design))
        yield part, found.astype(dtype)


def transformed(
    fitted: FittedModel, X: Any, labels: object = None, n_jobs: int | None = None
) -> FloatArray:
    """Topic proportions of all documents [M, T], as `HDSP.transform` returns them."""
    return np.concatenate([part for _, part in transformed_parts(fitted, X, labels, n_jobs)])


def probability_parts(
    fitted: FittedModel,
    X: Any,
    target: str,
    labels: object = None,
    values: Sequence[Any] | None = None,
    prior: bool | None = None,
    method: LabelMethod | None = None,
    n_jobs: int | None = None,
) -> Iterator[tuple[Any, Arrays]]:
    """Yield documents with the columns of `HDSP.predict_labels`: all, or part by part on disk."""
    owner = "HDSP.predict_labels"
    published = fitted.method == "ratio"
    prior = not published if prior is None else prior
    check_flag(prior, "prior", owner)
    if method is not None:
        check_choice(method, LABEL_METHODS, "method", owner)
    candidates = make_candidates(fitted, target, values, prior)
    regression = None
    if method != "generative" and not (method is None and published):
        with make_executor(None, n_jobs):
            regression = fitted.label_regression(target)
        if regression is None and method is not None:
            raise ValueError(
                f"{owner} cannot calibrate {target!r}: too few training documents have a value. "
                'Choose `method="generative"`.'
            )
    for part, counts, design in document_parts(fitted, X, labels, owner):
        with make_executor(None, n_jobs):
            known = fitted.space.values(design)
            chances = label_chances(fitted, regression, counts, known, candidates)
        yield part, dict(zip(candidates.names, chances.T, strict=True))


def joined_columns(parts: Iterable[tuple[Any, Arrays]]) -> Arrays:
    """The columns of all documents, from those of parts."""
    tables = [columns for _, columns in parts]
    return {name: np.concatenate([table[name] for table in tables]) for name in (tables or [{}])[0]}


def document_topic_columns(
    fitted: FittedModel, X: Any, labels: object, n_jobs: int | None
) -> Columns:
    """The columns of `HDSP.document_topics`."""
    found = transformed(fitted, X, labels, n_jobs)
    document, topic = (index.ravel().tolist() for index in np.indices(found.shape))
    columns: Columns = {"document": document, "topic": topic, **name_column(fitted, topic)}
    columns["proportion"] = found.ravel().tolist()
    about: Columns = {}
    if isinstance(X, Corpus):
        known, fields = X.labels, {"id": X.ids, "group": X.groups}
        about = {name: list(own) for name, own in fields.items() if own is not None}
    else:
        known = as_labels(labels, len(found), "HDSP.document_topics")
    for name, values in label_values(known).items():
        about[f"{name}_label" if name in (*columns, *about) else name] = values
    return columns | {name: [values[m] for m in document] for name, values in about.items()}


def ldavis_arrays(
    fitted: FittedModel, X: Any, labels: object, n_jobs: int | None
) -> dict[str, Any]:
    """What `HDSP.ldavis` returns."""
    proportions = transformed(fitted, X, labels, n_jobs)
    counts, _ = read_documents(fitted, X, labels, "HDSP.ldavis", warn=False)
    return {
        "topic_term_dists": word_share(fitted),
        "doc_topic_dists": proportions,
        "doc_lengths": np.asarray(counts.sum(axis=1)),
        "vocab": list(fitted.source.words),
        "term_frequency": np.asarray(counts.sum(axis=0)),
    }


def typical_columns(
    fitted: FittedModel,
    X: Any,
    labels: object,
    label: str | None,
    n: int,
    n_jobs: int | None,
    texts: Sequence[str] | None = None,
) -> Columns:
    """The columns of `HDSP.typical_documents`."""
    check_whole(n, "n", 1)
    if label is None:
        score, value = transformed(fitted, X, labels, n_jobs), "proportion"
    else:
        score, value = _label_scores(fitted, X, labels, label, n_jobs), "probability"
    order = np.argsort(-score, axis=0, kind="stable")[:n].T
    # Of as many documents as there are, and none without the label.
    place, rank = np.nonzero(np.take_along_axis(score.T, order, axis=1) >= 0)
    chosen = order[place, rank].tolist()
    columns: Columns = {"topic": place.tolist(), **name_column(fitted, place)}
    if label is not None:
        columns = {"label": [label] * len(chosen)}
    columns |= {"document": chosen, value: score[chosen, place].tolist()}
    if isinstance(X, Corpus) and X.ids is not None:
        columns["id"] = [X.ids[m] for m in chosen]
    if texts is not None:
        columns["text"] = [texts[m] for m in chosen]
    return columns


def check_text_of_each(texts: Sequence[str] | None, X: Any, owner: str) -> None:
    """Raise unless there are no texts, or one for each document."""
    if texts is not None:
        n_documents = len(X) if isinstance(X, Corpus) else X.shape[0]
        check_length(len(texts), n_documents, f"`texts` of {owner}")


def _label_scores(
    fitted: FittedModel, X: Any, labels: object, label: str, n_jobs: int | None
) -> FloatArray:
    """The probability of a label for documents that have it, -1 for others, [M, 1]."""
    schema, owner = fitted.schema, "HDSP.typical_documents"
    own = [(block, column) for block in schema.blocks for column in block.columns]
    named = zip(schema.names, own, strict=True)
    indicators = {name: place for name, place in named if place[0].kind != "number"}
    check_known(label, indicators, "label", owner, "a tag or a level of the model")
    block, column = indicators[label]
    found = joined_columns(probability_parts(fitted, X, block.name, labels, n_jobs=n_jobs))[column]
    _, design = read_documents(fitted, X, labels, owner)
    carried = design[:, [schema.names.index(label)]].toarray()[:, 0] > 0
    return np.where(carried, found, -1.0)[:, None]


Given = Literal["labels", "completion"]


def mean_log_probability(
    fitted: FittedModel, X: Any, labels: object, sample_weight: Any, n_jobs: int | None
) -> float:
    """The mean log probability of a held-out token; see `HDSP.score`."""
    owner = "HDSP.score"
    log_likelihood, tokens = _predict_tokens(
        fitted, X, labels, owner, "completion", "regression", n_jobs
    )
    if sample_weight is not None:
        weight = check_weights(sample_weight, len(tokens), owner)
        log_likelihood, tokens = weight * log_likelihood, weight * tokens
    return _mean(log_likelihood, tokens, owner)


def perplexity(
    fitted: FittedModel,
    X: Any,
    labels: object,
    given: Given,
    per_document: bool,
    method: Method | None,
    interval: float | None,
    n_jobs: int | None,
) -> Any:
    """The perplexity of documents; see `HDSP.perplexity`."""
    owner, method = "HDSP.perplexity", method or fitted.method
    if interval is not None:
        check_share(interval, "interval", owner)
    check_choice(method, METHODS, "method", owner)
    check_choice(given, ("labels", "completion"), "given", owner)
    log_likelihood, tokens = _predict_tokens(fitted, X, labels, owner, given, method, n_jobs)
    if per_document:
        with np.errstate(invalid="ignore"):
            return np.where(tokens > 0, np.exp(-log_likelihood / tokens), np.nan)
    found = float(np.exp(-_mean(log_likelihood, tokens, owner)))
    if interval is None:
        return found
    return found, *bootstrap_interval(log_likelihood, tokens, interval)


def _predict_tokens(
    fitted: FittedModel,
    X: Any,
    labels: object,
    owner: str,
    given: Given,
    method: Method,
    n_jobs: int | None,
) -> tuple[FloatArray, FloatArray]:
    """Log probabilities of the predicted tokens of each document, and their numbers, [M]."""
    log_likelihoods, numbers = [], []
    halves = np.random.default_rng(0)
    for _, counts, design in document_parts(fitted, X, labels, owner):
        with make_executor(None, n_jobs):
            if given == "labels":
                proportions, scored = fitted.expected(design, method, "tokens"), counts
            else:
                observed, scored = split_tokens(counts, halves)
                proportions = fitted.posterior(observed, design)
            found = document_log_likelihood(fitted.state, scored, design, proportions)
            if given == "labels" and method == "regression" and fitted.word_factors is not None:
                values, share = fitted.space.values(design), fitted.word_share()
                known = with_any(values, fitted.worded)
                found += fitted.word_factors.log_likelihood_gain(scored, known, proportions, share)
            log_likelihoods.append(found)
        numbers.append(np.asarray(scored.sum(axis=1)))
    return np.concatenate(log_likelihoods), np.concatenate(numbers)


def _mean(log_likelihood: FloatArray, tokens: FloatArray, owner: str) -> float:
    if tokens.sum() == 0:
        raise ValueError(f"{owner} found no token to predict. Pass documents with more words.")
    return float(log_likelihood.sum() / tokens.sum())


def bootstrap_interval(
    log_likelihood: FloatArray, tokens: FloatArray, level: float, n_draws: int = 1_000
) -> tuple[float, float]:
    """Limits (lower, upper) of the perplexity, by a bootstrap over documents.

    `log_likelihood` [M] and `tokens` [M] are those of each document.
    """
    rng, n_documents, found = np.random.default_rng(0), len(tokens), []
    with np.errstate(invalid="ignore"):
        for _ in range(n_draws):
            times = np.bincount(rng.integers(n_documents, size=n_documents), minlength=n_documents)
            found.append(np.exp(-(times @ log_likelihood) / (times @ tokens)))
    lower, upper = np.nanquantile(found, [(1.0 - level) / 2.0, (1.0 + level) / 2.0]).tolist()
    return lower, upper


def expected_topics(
    fitted: FittedModel, labels: object, method: Method | None, weight: Weight
) -> FloatArray:
    """Expected proportions given labels alone, [M, T]; see `HDSP.expected_topics`."""
    owner, method = "HDSP.expected_topics", method or fitted.method
    check_choice(method, METHODS, "method", owner)
    check_choice(weight, WEIGHTS, "weight", owner)
    if isinstance(labels, Mapping):
        # The labels of one document, which may have none.
        known = labels or dict.fromkeys(block.name for block in fitted.schema.blocks)
        labels = make_frame({name: [value] for name, value in known.items()})
    _, design = read_labels(fitted, labels, None, owner)
    return fitted.groups.sum(fitted.expected(design, method, weight))


def label_scale(fitted: FittedModel) -> FloatArray:
    """Expected scale of topics under each label alone, [T, J]."""
    alone = csr_array(eye_array(fitted.schema.n_labels, format="csr", dtype=np.float64))
    design = fitted.space.design(alone)
    scale = fitted.scaling.expected_scale(fitted.state.scaling, design)
    if fitted.merged_topics is not None:
        # By as much as the sum of its topics, each by its weight.
        weight, add = np.maximum(fitted.state.topic_weight, 1e-300), fitted.groups.sum
        scale = add(scale * weight) / add(weight)
    return np.asarray(scale).T


def simulate(
    fitted: FittedModel,
    labels: object,
    n_documents: int | None,
    document_length: float,
    random_state: Any,
) -> Corpus:
    """Documents with labels; see `HDSP.simulate`."""
    parsed, design = read_labels(fitted, labels, n_documents, "HDSP.simulate")
    rng = make_generator(random_state)
    lengths = rng.poisson(document_length, size=len(parsed)).astype(np.float64)
    state, weights = fitted.state, fitted.scaling.draw_posterior(fitted.state.scaling, rng)
    share, concentration = fitted.word_share().T, state.document_concentration
    truth = Truth(state.topic_weight, share, weights, concentration)
    counts = draw_documents(truth, fitted.scaling, design, lengths, rng)
    return Corpus(counts, words=fitted.source.words, labels=parsed)
