"""Small fitted models, what they say, and files made by hand."""

import json
import warnings
from dataclasses import is_dataclass
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
from safetensors.numpy import load_file, save_file
from scipy.sparse import issparse

from hdsp import HDSP, Categorical, LogLinear
from hdsp.persistence.container import checksum

N_DOCUMENTS = 40
LABELS = ("none", "tags", "category", "number", "mixed", "matrix")
FRAMES = ("pandas", "polars", None)
METHODS = ("regression", "exact", "ratio")


def make_labels(kind, frames, rng):
    """Labels of 40 documents, as a table of a library or without one."""
    columns = {
        "tags": [list(np.array(["x", "y", "z"])[rng.random(3) < 0.4]) for _ in range(N_DOCUMENTS)],
        "kind": rng.choice(["long", "short", "it's 😀"], size=N_DOCUMENTS).tolist(),
        "rating": rng.integers(1, 6, size=N_DOCUMENTS).astype(float).tolist(),
    }
    if kind == "none":
        return None
    if kind == "matrix":
        return np.column_stack([rng.random(N_DOCUMENTS) < 0.5, rng.normal(size=(N_DOCUMENTS, 2))])
    if kind == "tags" and frames is None:
        return columns["tags"]
    names = {"tags": ["tags"], "category": ["kind"], "number": ["rating"]}.get(kind, list(columns))
    table = {name: columns[name] for name in names}
    if frames == "polars":
        return pl.DataFrame(table)
    return pd.DataFrame({name: pd.Series(values) for name, values in table.items()})


def fit_quietly(model, counts, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(counts, labels=labels)


def make_counts(rng, n_words=12):
    counts = rng.poisson(0.8, size=(N_DOCUMENTS, n_words)).astype(float)
    counts[0, 0] += 1
    return counts


@cache
def mixed_model():
    """A model of tags, a category and a number, with its counts and labels."""
    rng = np.random.default_rng(0)
    counts, labels = make_counts(rng), make_labels("mixed", "pandas", rng)
    scaling = Categorical("tags", "kind", weight_shape=2) * LogLinear("rating", variance=0.5)
    model = HDSP(5, scaling=scaling, max_iter=4, random_state=0, n_jobs=1)
    return fit_quietly(model, counts, labels), counts, labels


def predictions(model, counts, labels):
    """Everything that a model says, by name."""
    known = [[]] * len(counts) if labels is None else labels
    said = {
        "components": model.components_,
        "weight": model.topic_weight_,
        "transform": model.transform(counts, labels=labels),
        "topics": _plain(model.topics()),
        "top_words": model.top_words(3),
        "proportions": model.proportions_,
        "effects": _plain(model.label_effects()),
        "token effects": _plain(model.label_effects(weight="tokens")),
        "correlations": _plain(model.topic_correlations()),
        "concentration": np.array(model.predictive_concentration_),
        "simulated": model.simulate(labels, n_documents=40, random_state=1).counts.toarray(),
    }
    for method in METHODS:
        said[method] = model.expected_topics(known, method)
    for given in ("labels", "completion"):
        said[given] = model.perplexity(counts, labels=labels, given=given)
    if model._model.worded:
        said["label words"] = _plain(model.label_words())
    for target, columns in model._model.schema.slices().items():
        if model._model.used[columns].any():
            said[f"predicted {target}"] = _plain(model.predict_labels(counts, target))
    return said


def facts(model):
    """What a model knows of its fit, without the time that it took."""
    history, search = (
        [{k: v for k, v in row.items() if k != "seconds"} for row in table]
        for table in (model.history_, model.search_)
    )
    names = ("words_", "label_names_", "n_topics_", "n_iter_", "converged_", "n_features_in_")
    return history, search, [getattr(model, name) for name in names]


def arrays_of(value, name=""):
    """All arrays of a nested value, by name."""
    if issparse(value):
        value = {part: getattr(value, part) for part in ("data", "indices", "indptr", "shape")}
    elif is_dataclass(value):
        value = vars(value)
    if isinstance(value, dict):
        parts = [arrays_of(own, f"{name}.{key}") for key, own in value.items()]
        return {key: array for part in parts for key, array in part.items()}
    return {} if value is None else {name: np.asarray(value)}


def stored(model, answers=True):
    """All arrays of a model that a file contains, by name."""
    held = model._model
    parts = {"state": held.state, "reading": held.reading, "carriers": held.carriers}
    # Derived from these, or of use in the fit alone.
    derived = ("read", "n_topics", "condition")
    found = held.answers if answers else {}
    arrays = arrays_of({**parts, "answers": found})
    return {name: array for name, array in arrays.items() if not name.endswith(derived)}


def assert_same(one, other):
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one:
            assert_same(one[name], other[name])
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        np.testing.assert_array_equal(one, other)
    else:
        # By text, in which NaN is NaN.
        assert repr(one) == repr(other)


def _plain(table):
    library = type(table).__module__.partition(".")[0]
    columns = {str(name): list(table[name]) for name in table.columns}
    return {"library": library, **{name: repr(values) for name, values in columns.items()}}


def read_header(path):
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    return json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["hdsp"])


def rewrite(path, change_manifest=None, change_arrays=None, **header):
    """Change a file and set its checksum right, as one who means to would."""
    arrays = load_file(path)
    new = read_header(path) | header
    for change, part in ((change_manifest, new["manifest"]), (change_arrays, arrays)):
        if change is not None:
            change(part)
    new["checksum"] = checksum(new, arrays)
    save_file(arrays, path, metadata={"hdsp": json.dumps(new)})
