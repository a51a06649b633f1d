"""Small fitted models of every kind, and everything that they say."""

import warnings
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
from scipy.sparse import issparse

from hdsp import HDSP, Categorical, Corpus, LogLinear, Softplus, Spline, simulate

METHODS = ("regression", "exact", "ratio")
N_DOCUMENTS = 120
SETTINGS = {"max_iter": 5, "tol": 0.0, "random_state": 0, "init": "nmf"}


class Kind(NamedTuple):
    """How a model of the zoo is made."""

    settings: Mapping
    columns: tuple = ()
    form: str = "pandas"
    groups: bool = False


KINDS = {
    "hdp": Kind({}),
    "searched": Kind({"n_components": "auto", "max_components": 12}, ("dept",)),
    "tags": Kind({"init": "words"}, ("tags",), "lists"),
    "categories": Kind({"topic_prior": 0.1, "init": "lda"}, ("dept",), "polars"),
    "numbers": Kind({"document_concentration": 0.7, "init": "random"}, ("rating",)),
    "matrix": Kind({}, (), "matrix"),
    "mixed": Kind({}, ("tags", "dept", "rating")),
    "functions": Kind(
        {
            "scaling": Categorical("tags", "dept", weight_shape=2)
            * LogLinear("rating", variance=np.float64(0.5))
        },
        ("tags", "dept", "rating"),
    ),
    "terms": Kind({"scaling": Spline("rating") * Softplus("age")}, ("rating", "age")),
    "nested": Kind({"scaling": Categorical("author", parents="dept")}, ("author", "dept")),
    "formula": Kind({"scaling": "~ dept * s(rating)"}, ("dept", "rating")),
    "pooled": Kind({"scaling": "~ dept + (1 | author)"}, ("dept", "author")),
    "content": Kind({"content": "dept"}, ("dept",)),
    "seeds": Kind({"seeds": {"a": ["w1", "w2"], "b": ["w3"]}}, ("dept",)),
    "groups": Kind({}, ("dept",), groups=True),
    "stochastic": Kind({"inference": "stochastic", "init": "auto"}, ("dept", "rating")),
    "stream": Kind({"init": "auto"}, ("dept",)),
    "merged": Kind({}, ("tags", "dept", "rating")),
}


@cache
def table():
    """The labels of all models."""
    rng = np.random.default_rng(0)
    tags = [[tag for tag in "xyz" if rng.random() < 0.4] for _ in range(N_DOCUMENTS)]
    return pd.DataFrame(
        {
            "tags": pd.Series(tags),
            "dept": rng.choice(["long", "short", "it's 😀"], N_DOCUMENTS),
            "rating": rng.integers(1, 6, N_DOCUMENTS).astype(float),
            "author": [f"a{i % 15}" for i in range(N_DOCUMENTS)],
            "age": rng.uniform(18.0, 80.0, N_DOCUMENTS).round(1),
        }
    )


def labels_of(name):
    """The labels of a model, in the form in which it was given them."""
    kind = KINDS[name]
    frame = table()[list(kind.columns)]
    if kind.form == "matrix":
        rng = np.random.default_rng(1)
        return np.column_stack(
            [rng.random(N_DOCUMENTS) < 0.5, rng.normal(size=(N_DOCUMENTS, 2)).round(2)]
        )
    if kind.form == "lists":
        return frame["tags"].tolist()
    if not kind.columns:
        return None
    return pl.DataFrame(frame.to_dict("list")) if kind.form == "polars" else frame


@cache
def corpus_of(name):
    """The documents and labels that a model was fitted to."""
    drawn, _ = simulate(
        table()[["dept", "rating"]], n_topics=5, n_words=60, document_length=40, random_state=0
    )
    groups = table()["author"].tolist() if KINDS[name].groups else None
    return Corpus(drawn.counts, words=drawn.words, labels=labels_of(name), groups=groups)


def make(name, **settings):
    """An estimator that is not fitted yet."""
    return HDSP(**{"n_components": 5, **SETTINGS, **KINDS[name].settings, **settings})


def fit_quietly(model, counts, labels=None):
    """Fit a model without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(counts, labels=labels)


def fit(name, **settings):
    """A new model of a kind."""
    model, corpus = make(name, **settings), corpus_of(name)
    if name == "stream":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.partial_fit(corpus[:80])
            # A word that waits.
            further = np.hstack([corpus.counts[80:].toarray(), np.eye(40)[:, :1]])
            words = (*corpus.words, "later")
            return model.partial_fit(Corpus(further, words=words, labels=corpus.labels[80:]))
    fit_quietly(model, corpus)
    if name == "merged":
        model = model.merge_topics([[0, 3], [1, 2]]).name_topics({1: "it's 😀\x1b[31m", 2: "二"})
    return model


@cache
def fitted(name):
    """The model of a kind, fitted once; nobody may change it."""
    return fit(name)


def answers(model, corpus):
    """Everything that a model says, by name."""
    known = corpus.labels if corpus.labels.blocks else [[]] * len(corpus)
    said = {
        "components": model.components_,
        "weight": model.topic_weight_,
        "transform": model.transform(corpus),
        "topics": _plain(model.topics()),
        "top_words": model.top_words(3),
        "proportions": model.proportions_,
        "effects": _plain(model.label_effects()),
        "token effects": _plain(model.label_effects(weight="tokens")),
        "correlations": _plain(model.topic_correlations()),
        "concentration": np.array(model.predictive_concentration_),
        "simulated": model.simulate(
            known, n_documents=len(corpus), random_state=1
        ).counts.toarray(),
    }
    for method in METHODS:
        said[method] = model.expected_topics(known, method)
    for given in ("labels", "completion"):
        said[given] = model.perplexity(corpus, given=given)
    if model.label_names_:
        regression = model.estimate_effects()
        said["tests"] = _plain(regression.test())
        for name in {block.name for block in model.label_schema_.blocks} - {"tags"}:
            said[f"levels {name}"] = _plain(regression.levels(name))
    if model._model.worded:
        said["label words"] = _plain(model.label_words())
    for target, columns in model._model.schema.slices().items():
        if model._model.used[columns].any():
            said[f"predicted {target}"] = _plain(model.predict_labels(corpus, target))
    return said


def facts(model):
    """What a model knows of its fit, without the time that it took."""
    history, search = (
        [{k: v for k, v in row.items() if k != "seconds"} for row in rows]
        for rows in (model.history_, model.search_)
    )
    names = ("words_", "label_names_", "n_topics_", "n_topics_range_", "n_iter_", "converged_")
    names += ("n_features_in_", "topic_names_", "fitted_topics_", "init_", "n_returning_")
    return history, search, [getattr(model, name) for name in names]


def stored(model, given_answers=True):
    """All arrays of a model that a file contains, by name."""
    held = model._model
    parts = {"state": held.state, "reading": held.reading, "carriers": held.carriers}
    return _arrays({**parts, "answers": held.answers if given_answers else {}})


def assert_same(one, other):
    """Compare to the bit."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one:
            assert_same(one[name], other[name])
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other, strict=True)
    else:
        # By text, in which NaN is NaN.
        assert repr(one) == repr(other)


def _arrays(value, name=""):
    """All arrays of a nested value, by name."""
    if issparse(value):
        value = {part: getattr(value, part) for part in ("data", "indices", "indptr", "shape")}
    elif is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict):
        parts = [_arrays(own, f"{name}.{key}") for key, own in value.items()]
        return {key: array for part in parts for key, array in part.items()}
    return {} if value is None else {name: np.asarray(value)}


def _plain(frame):
    library = type(frame).__module__.partition(".")[0]
    columns = {str(name): list(frame[name]) for name in frame.columns}
    return {"library": library, **{name: repr(values) for name, values in columns.items()}}
