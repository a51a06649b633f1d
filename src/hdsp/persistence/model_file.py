"""The `.hdsp` file of a fitted model."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from hdsp.analysis.correlations import Correlations
from hdsp.analysis.fitted import FitReport, FittedModel, Source
from hdsp.analysis.label_regression import MOST_LABELS, LabelRegression
from hdsp.analysis.label_words import WordFactors
from hdsp.analysis.reading import FOLDS, WEIGHTS, Reading
from hdsp.analysis.softmax import SoftmaxRegression
from hdsp.corpus import ReadingSettings, TextSettings
from hdsp.corpus.frames import LIBRARIES
from hdsp.fit import OpenStream
from hdsp.model import GlobalState, Priors
from hdsp.persistence import manifest as get
from hdsp.persistence.container import not_usable, read_file, write_file
from hdsp.persistence.expressions import decode_scaling, decode_space, encode_scaling, encode_space
from hdsp.persistence.settings import is_seed, plain
from hdsp.persistence.states import put_state, take_state
from hdsp.persistence.streams import put_open_stream, take_open_stream
from hdsp.scaling.design import LabelDesign
from hdsp.scaling.formula import is_formula
from hdsp.scaling.functions import ScalingFunction, of_terms
from hdsp.storage import (
    LARGEST,
    UNREADABLE,
    AnyArray,
    StoredArrays,
    WrongContents,
    put_all,
    put_sparse,
    put_texts,
    require,
)

_KIND = "model"
# Parameters of a run, not of a model: a file does not decide where fits run, and where they write.
_NOT_STORED = ("checkpoint", "executor", "n_jobs")
_FACTORS = ("expected", "strength", "spread")


def save_model(
    path: Path, model: FittedModel, parameters: Mapping[str, Any], opened: OpenStream | None = None
) -> None:
    """Write a model file; an existing file is replaced once the new one is complete.

    Everything that needs the training documents is computed first.

    Parameters
    ----------
    path : Path
        Where to write.
    model : FittedModel
        The fitted model.
    parameters : mapping of str to object
        The constructor's parameters.
    opened : OpenStream or None, default=None
        Where `partial_fit` goes on.
    """
    model.complete()
    arrays: dict[str, AnyArray] = {}
    _put_reading(arrays, model.reading)
    arrays["carriers"] = model.carriers
    answers = _put_answers(arrays, model)
    report, source, priors = (dict(vars(one)) for one in (model.report, model.source, model.priors))
    put_texts(arrays, "words", source.pop("words"))
    settings, seeds = source.pop("text_settings"), priors.pop("seeds")
    table = source.pop("reading")
    if seeds is not None:
        put_sparse(arrays, "seeds", seeds)
    manifest = {
        "hdsp": version("hdsp"),
        "parameters": _encode_parameters(parameters, arrays),
        "schema": model.schema.to_dict(),
        "space": encode_space(model.space),
        "priors": priors,
        **put_state(arrays, model.state),
        "n_documents": model.n_documents,
        **source,
        # None if there are none, or if they hold a function.
        "text_settings": settings.to_dict() if settings is not None and settings.storable else None,
        "table": None if table is None else asdict(table),
        **report,
        "fixed_concentration": model.fixed_concentration,
        "answers": answers,
        "kept_whole": list(model.reading.kept_whole),
        "topic_names": dict(model.topic_names),
        "merged_topics": None if model.merged_topics is None else model.merged_topics.members,
    }
    if opened is not None:
        manifest["stream"] = put_open_stream(arrays, opened)
    write_file(path, _KIND, plain(manifest), arrays)


def load_model(
    path: Path, known: Collection[str] | None = None
) -> tuple[FittedModel, dict[str, Any], OpenStream | None]:
    """Read a model file, and check everything in it.

    Parameters
    ----------
    path : Path
        The file.
    known : collection of str or None, default=None
        Names of the constructor's parameters; None where nothing is to be constructed, and they are
        left unread.

    Returns
    -------
    model : FittedModel
        The fitted model.
    parameters : dict
        The constructor's parameters.
    opened : OpenStream or None
        Where `partial_fit` goes on; None where it cannot.
    """
    manifest, arrays = read_file(path, _KIND)
    try:
        stored = StoredArrays(arrays)
        parameters = {}
        if known is not None:
            parameters = _decode_parameters(manifest["parameters"], stored, known)
        model, opened = _decode_model(manifest, stored), None
        for name, found in model.answers.items():
            if name.startswith("expected."):
                n_columns = model.regression_space.n_columns + 1
                require(len(found.weights) == n_columns, "its regression has other labels")
        if "stream" in manifest:
            opened = take_open_stream(manifest["stream"], stored, model)
        return model, parameters, opened
    except UNREADABLE as error:
        raise not_usable(path, error) from error


def _decode_source(manifest: dict[str, Any], arrays: StoredArrays, n_words: int) -> Source:
    words = arrays.texts("words")
    require(len(words) == n_words, "its topics have other words")
    frames = manifest["frames"]
    require(frames is None or frames in LIBRARIES, "its tables are of an unknown library")
    settings = manifest["text_settings"]
    try:
        # A pattern that could take very long is refused.
        read = None if settings is None else TextSettings.from_dict(settings)
    except UNREADABLE as error:
        raise WrongContents("its text settings are none that a file may hold") from error
    named, fingerprint = get.flag(manifest, "named"), str(manifest["fingerprint"])
    table = None if manifest["table"] is None else ReadingSettings(**manifest["table"])
    texts = table is None or all(x is None or type(x) is str for x in vars(table).values())
    require(texts, "its settings of reading are not texts")
    return Source(words, named, frames, fingerprint, read, table)


def _decode_report(manifest: dict[str, Any], n_topics: int) -> FitReport:
    return FitReport(
        get.history(manifest),
        get.search(manifest),
        get.flag(manifest, "converged"),
        get.whole(manifest, "n_topics", 0, n_topics),
        get.topics_range(manifest),
        get.start(manifest),
        get.returning(manifest),
        get.stages(manifest),
        get.versions(manifest),
    )


def _decode_model(manifest: dict[str, Any], arrays: StoredArrays) -> FittedModel:
    schema = get.schema(manifest)
    space = decode_space(manifest["space"], schema)
    state = take_state(manifest, arrays, space.scaling, space.n_columns)
    merged = get.merged_topics(manifest, state.n_topics)
    n_topics = state.n_topics if merged is None else len(merged)
    n_documents = get.whole(manifest, "n_documents", 1, LARGEST)
    fixed = manifest["fixed_concentration"]
    if fixed is not None:
        fixed = get.positive(manifest, "fixed_concentration")
    return FittedModel(
        state,
        space,
        _decode_priors(manifest, arrays, state),
        _decode_reading(manifest, arrays, schema.n_labels, state.n_topics),
        arrays.numbers("carriers", (schema.n_labels,), least=0.0, most=n_documents),
        n_documents,
        _decode_source(manifest, arrays, len(state.topics)),
        _decode_report(manifest, n_topics),
        get.topic_names(manifest, n_topics),
        merged,
        _decode_answers(manifest["answers"], arrays, space, state),
        fixed,
    )


def _put_reading(arrays: dict[str, AnyArray], reading: Reading) -> None:
    """Add the documents that were read; rows without proportions are zero."""
    put_sparse(arrays, "reading.values", reading.values)
    members = {
        "proportions": np.nan_to_num(reading.proportions),
        "read": reading.read.astype(np.int8),
        "fold": reading.fold.astype(np.int8),
        "lengths": reading.lengths,
        "rows": reading.rows.astype(np.int64),
    }
    for name in ("groups", "weights"):
        if getattr(reading, name) is not None:
            members[name] = getattr(reading, name)
    put_all(arrays, "reading", members)


def _decode_reading(
    manifest: dict[str, Any], arrays: StoredArrays, n_labels: int, n_topics: int
) -> Reading:
    values = arrays.sparse("reading.values", (None, n_labels))
    n_read, n_documents = values.shape[0], manifest["n_documents"]
    proportions = arrays.numbers("reading.proportions", (n_read, n_topics)).copy()
    proportions[arrays.whole("reading.read", (n_read,), 2) == 0] = np.nan
    name, size = "reading.weights", (n_read,)
    groups = arrays.get("reading.groups", size, "i") if "reading.groups" in arrays else None
    weights = arrays.numbers(name, size, positive=True) if name in arrays else None
    kept = manifest["kept_whole"]
    require(
        isinstance(kept, list) and all(type(k) is int and 0 <= k < n_topics for k in kept),
        "its topics that were kept whole are no topics",
    )
    return Reading(
        proportions,
        values,
        arrays.numbers("reading.lengths", (n_read,), least=0.0),
        arrays.whole("reading.fold", (n_read,), FOLDS),
        arrays.whole("reading.rows", (n_read,), n_documents),
        groups,
        weights,
        tuple(kept),
    )


def _put_answers(arrays: dict[str, AnyArray], model: FittedModel) -> dict[str, Any]:
    """Add what was computed on demand; return its numbers for the manifest."""
    found = model.answers
    numbers: dict[str, Any] = {}
    for weight in WEIGHTS:
        if (own := found.get(f"expected.{weight}")) is not None:
            arrays[f"expected.{weight}"] = own.weights
            numbers[f"expected.{weight}"] = [own.ridge, own.n_steps]
    if "concentration" in found:
        numbers["concentration"] = float(found["concentration"])
    if "coherence" in found:
        arrays["coherence"] = np.asarray(found["coherence"], dtype=np.float64)
    if "correlations" in found:
        own = found["correlations"]
        degrees = np.array([own.degrees], dtype=np.int64)
        put_all(arrays, "correlations", {**vars(own), "degrees": degrees})
    if found.get("word_factors") is not None:
        factors = found["word_factors"]
        put_sparse(arrays, "word_factors", factors.observed)
        put_all(arrays, "word_factors", {name: getattr(factors, name) for name in _FACTORS})
    for number, block in enumerate(model.schema.blocks):
        if (own := found.get(f"counts.{block.name}")) is not None:
            put_sparse(arrays, f"counts.{number}", own)
        if (own := found.get(f"labels.{block.name}")) is not None:
            slope = np.array([own.slope], dtype=np.float64)
            put_all(arrays, f"labels.{number}", {**vars(own), "slope": slope})
    return numbers


def _decode_answers(
    numbers: dict[str, Any], arrays: StoredArrays, space: LabelDesign, state: GlobalState
) -> dict[str, Any]:
    """What was computed before the model was saved."""
    schema, n_topics, n_words = space.schema, state.n_topics, len(state.topics)
    found: dict[str, Any] = {}
    for weight in WEIGHTS:
        if (name := f"expected.{weight}") in numbers:
            ridge, n_steps = numbers[name]
            require(_is_positive(ridge) and type(n_steps) is int, "its regression has no ridge")
            coefficients = arrays.numbers(name, (None, n_topics))
            found[name] = SoftmaxRegression(coefficients, float(ridge), n_steps)
    if "concentration" in numbers:
        found["concentration"] = get.positive(numbers, "concentration")
    if "coherence" in arrays:
        found["coherence"] = arrays.get("coherence", (n_topics,))
    if "correlations.values" in arrays:
        found["correlations"] = _decode_correlations(arrays, n_topics)
    if (factors := _decode_factors(arrays, schema.n_labels + 1, n_words)) is not None:
        found["word_factors"] = factors
    for number, block in enumerate(schema.blocks):
        n_labels = len(block.columns)
        if space.used_labels[schema.slices()[block.name]].any():
            # None with too few documents.
            found[f"labels.{block.name}"] = None
        if f"counts.{number}.data" in arrays:
            size = None if block.kind == "number" else n_labels + 1
            counts = arrays.sparse(f"counts.{number}", (size, n_words), least=0.0)
            n_labels, found[f"counts.{block.name}"] = counts.shape[0] - 1, counts
        if f"labels.{number}.slope" in arrays:
            others = schema.n_labels - len(block.columns)
            n_features = n_topics + n_labels + (others if others <= MOST_LABELS else 0)
            (slope,) = arrays.numbers(f"labels.{number}.slope", (1,)).tolist()
            mean = arrays.numbers(f"labels.{number}.mean", (None,))
            require(len(mean) in (0, n_features), "its regression of labels has other features")
            weights = arrays.numbers(f"labels.{number}.weights", (len(mean) + 1, n_labels))
            found[f"labels.{block.name}"] = LabelRegression(slope, mean, weights)
    return found


def _is_positive(value: Any) -> bool:
    return isinstance(value, float | int) and 0.0 < value < LARGEST


def _decode_factors(arrays: StoredArrays, n_labels: int, n_words: int) -> WordFactors | None:
    """Words of labels, if there are any."""
    if not any(f"word_factors.{name}" in arrays for name in ("data", *_FACTORS)):
        return None
    observed = arrays.sparse("word_factors", (n_labels, n_words), least=0.0)
    shapes = {"expected": observed.data.shape, "strength": (n_labels,), "spread": (n_words,)}
    numbers = (
        arrays.numbers(f"word_factors.{name}", shapes[name], positive=True) for name in _FACTORS
    )
    return WordFactors(observed, *numbers)


def _decode_correlations(arrays: StoredArrays, n_topics: int) -> Correlations:
    """Correlations of the first topics."""
    values = arrays.numbers("correlations.values", (2, None), least=-1.0, most=1.0)
    errors = arrays.numbers("correlations.errors", values.shape, least=0.0)
    (degrees,) = arrays.whole("correlations.degrees", (1,), 1_000).tolist()
    found = Correlations(values, errors, degrees)
    n_pairs = found.n_topics * (found.n_topics - 1) // 2
    fits = found.n_topics <= n_topics and n_pairs == values.shape[1]
    require(fits, "its correlations are of other topics")
    return found


def _decode_priors(manifest: dict[str, Any], arrays: StoredArrays, state: GlobalState) -> Priors:
    priors = get.priors(manifest)
    if not len(state.seeded):
        return priors
    shape = (len(state.seeded), len(state.topics))
    return replace(priors, seeds=arrays.sparse("seeds", shape, least=0.0))


def _encode_parameters(
    parameters: Mapping[str, Any], arrays: dict[str, AnyArray]
) -> dict[str, Any]:
    stored = {name: value for name, value in parameters.items() if name not in _NOT_STORED}
    scaling = of_terms(stored["scaling"])
    if isinstance(scaling, ScalingFunction):
        stored["scaling"] = encode_scaling(scaling)
    if not isinstance(stored["init"], str):
        start = np.asarray(stored["init"])
        small = start.dtype == np.float32
        arrays["init"] = start if small else start.astype(np.float64)
        stored["init"] = None
    if not is_seed(stored["random_state"]):
        stored["random_state"] = None
    return stored


def _decode_parameters(
    stored: dict[str, Any], arrays: StoredArrays, known: Collection[str]
) -> dict[str, Any]:
    """The constructor's parameters."""
    parameters = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in stored.items()
        if name not in _NOT_STORED
    }
    if parameters.keys() != set(known) - set(_NOT_STORED):
        raise WrongContents("its settings are not those of HDSP")
    if isinstance(parameters["scaling"], dict):
        parameters["scaling"] = decode_scaling(parameters["scaling"])
    elif parameters["scaling"] != "auto" and not is_formula(parameters["scaling"]):
        raise WrongContents("its setting `scaling` is no scaling function")
    seed = parameters["random_state"]
    if seed is not None and (type(seed) is not int or seed < 0):
        raise WrongContents("its setting `random_state` is no seed")
    if parameters["init"] is None:
        parameters["init"] = arrays.numbers("init", (None, None), least=0.0)
    return parameters
