"""The `.hdsp` file of a fitted model."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from hdsp.corpus import LabelSchema, TextSettings
from hdsp.corpus.frames import LIBRARIES
from hdsp.fit import OpenStream
from hdsp.model import GlobalState, Priors
from hdsp.persistence import manifest as get
from hdsp.persistence.container import not_usable, read_file, write_file
from hdsp.persistence.expressions import decode_scaling, decode_space, encode_scaling, encode_space
from hdsp.persistence.settings import is_seed, plain
from hdsp.persistence.states import put_state, take_state
from hdsp.persistence.streams import put_open_stream, take_open_stream
from hdsp.prediction import (
    Calibration,
    Calibrations,
    Correlations,
    FitReport,
    FittedModel,
    Joint,
    LabelRegression,
    Source,
    TrainingLabels,
    WordFactors,
    count_known_features,
    joint_blocks,
)
from hdsp.scaling import LabelSpace, ScalingFunction, is_formula, of_terms
from hdsp.storage import (
    LARGEST,
    UNREADABLE,
    AnyArray,
    StoredArrays,
    WrongContents,
    put_all,
    put_sparse,
    put_texts,
)

_KIND = "model"
# Parameters of a run, not of a model: a file does not decide where fits run, and where they write.
_NOT_STORED = ("checkpoint", "executor", "n_jobs")
# The other attributes follow from the labels.
_CALIBRATION = ("intercept", "coefficients", "variance", "label_tokens", "mean_variance")
_FACTORS = ("expected", "strength", "spread")
# By documents and by tokens.
_CALIBRATIONS = ("document_calibration", "calibration")


def save_model(
    path: Path, model: FittedModel, parameters: Mapping[str, Any], opened: OpenStream | None = None
) -> None:
    """Write a model file; an existing file is replaced once the new one is complete.

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
    arrays: dict[str, AnyArray] = {}
    for prefix, calibration in zip(_CALIBRATIONS, model.calibrations, strict=True):
        put_all(arrays, prefix, {name: getattr(calibration, name) for name in _CALIBRATION})
        if calibration.degrees is not None:
            arrays[f"{prefix}.degrees"] = calibration.degrees
        for number, block in enumerate(calibration.joint):
            arrays[f"{prefix}.joint.{number}"] = block.factor
    degrees = np.array([model.correlations.degrees], dtype=np.int64)
    put_all(arrays, "correlations", {**vars(model.correlations), "degrees": degrees})
    put_sparse(arrays, "training.sample", model.training.sample)
    arrays["training.carriers"] = model.training.carriers
    values = [model.training.values[j] for j in sorted(model.training.values)]
    arrays["training.values"] = np.concatenate([np.zeros((2, 0)), *values], axis=1)
    arrays["training.value_ends"] = np.cumsum([v.shape[1] for v in values], dtype=np.int64)
    put_sparse(arrays, "label_words", model.label_words)
    if (factors := model.word_factors) is not None:
        put_sparse(arrays, "word_factors", factors.observed)
        put_all(arrays, "word_factors", {name: getattr(factors, name) for name in _FACTORS})
    for name, found in model.label_regressions.items():
        numbers = np.array([found.slope, found.curvature, found.scale], dtype=np.float64)
        own = {one: getattr(found, one) for one in ("intercept", "mean", "weights")}
        put_all(arrays, _regression_name(model.schema, name), {"numbers": numbers, **own})
    report, source, priors = (dict(vars(one)) for one in (model.report, model.source, model.priors))
    put_texts(arrays, "words", source.pop("words"))
    arrays["coherence"] = report.pop("coherence")
    settings, seeds = source.pop("text_settings"), priors.pop("seeds")
    if seeds is not None:
        put_sparse(arrays, "seeds", seeds)
    manifest = {
        "hdsp": version("hdsp"),
        "parameters": _encode_parameters(parameters, arrays),
        "schema": model.schema.to_dict(),
        "space": encode_space(model.space),
        "priors": priors,
        **put_state(arrays, model.state),
        "n_documents": model.training.n_documents,
        **source,
        # None if there are none, or if they hold a function.
        "text_settings": settings.to_dict() if settings is not None and settings.storable else None,
        **report,
        "predictive_concentration": model.predictive_concentration,
        "sampled": model.sampled,
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
        if "stream" in manifest:
            opened = take_open_stream(manifest["stream"], stored, model)
        return model, parameters, opened
    except UNREADABLE as error:
        raise not_usable(path, error) from error


def _decode_source(manifest: dict[str, Any], arrays: StoredArrays, n_words: int) -> Source:
    words = arrays.texts("words")
    if len(words) != n_words:
        raise WrongContents("its topics have other words")
    frames = manifest["frames"]
    if frames is not None and frames not in LIBRARIES:
        raise WrongContents("its tables are of an unknown library")
    return Source(
        words,
        get.flag(manifest, "named"),
        frames,
        str(manifest["fingerprint"]),
        _decode_settings(manifest["text_settings"]),
    )


def _decode_settings(settings: Any) -> TextSettings | None:
    """How texts are counted; a pattern that could take very long is refused."""
    if settings is None:
        return None
    try:
        return TextSettings.from_dict(settings)
    except UNREADABLE as error:
        raise WrongContents("its text settings are none that a file may hold") from error


def _decode_report(manifest: dict[str, Any], arrays: StoredArrays, n_topics: int) -> FitReport:
    return FitReport(
        get.history(manifest),
        get.search(manifest),
        get.flag(manifest, "converged"),
        get.whole(manifest, "n_topics", 0, n_topics),
        get.topics_range(manifest),
        arrays.get("coherence", (n_topics,)),
        get.start(manifest),
        get.returning(manifest),
        get.stages(manifest),
        get.versions(manifest),
    )


def _decode_model(manifest: dict[str, Any], arrays: StoredArrays) -> FittedModel:
    schema = get.schema(manifest)
    space = decode_space(manifest["space"], schema)
    state = take_state(manifest, arrays, space.scaling, space.n_columns)
    calibrations = (
        _decode_calibration(name, arrays, space, state.n_topics) for name in _CALIBRATIONS
    )
    label_words = arrays.sparse("label_words", (schema.n_labels, len(state.topics)))
    merged = get.merged_topics(manifest, state.n_topics)
    n_topics = state.n_topics if merged is None else len(merged)
    return FittedModel(
        state,
        space,
        _decode_priors(manifest, arrays, state),
        get.positive(manifest, "predictive_concentration"),
        Calibrations(*calibrations),
        _decode_training(manifest, arrays, schema),
        label_words,
        _decode_source(manifest, arrays, len(state.topics)),
        _decode_report(manifest, arrays, n_topics),
        _decode_regressions(arrays, schema, state.n_topics),
        get.topic_names(manifest, n_topics),
        merged,
        get.positive(manifest, "sampled"),
        _decode_factors(arrays, schema.n_labels + 1, len(state.topics)),
        _decode_correlations(arrays, state.n_topics),
    )


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


def _decode_calibration(
    name: str, arrays: StoredArrays, space: LabelSpace, n_topics: int
) -> Calibration:
    by_label, degrees = (space.n_columns, n_topics), None
    if f"{name}.degrees" in arrays:
        # Of documents in groups.
        degrees = arrays.numbers(f"{name}.degrees", (space.n_columns,), least=1.0)
    joint = (
        Joint(own, arrays.numbers(f"{name}.joint.{number}", (n_topics, len(own), len(own))))
        for number, own in enumerate(joint_blocks(space))
    )
    calibration = Calibration(
        arrays.numbers(f"{name}.intercept", (n_topics,)),
        arrays.numbers(f"{name}.coefficients", by_label),
        variance=arrays.numbers(f"{name}.variance", by_label, positive=True),
        indicator=space.indicator,
        label_tokens=arrays.numbers(f"{name}.label_tokens", by_label),
        degrees=degrees,
        joint=tuple(joint),
        mean_variance=arrays.numbers(f"{name}.mean_variance", (n_topics,), positive=True),
        functions=space.functions,
    )
    if (calibration.label_tokens[space.indicator] < 0).any():
        raise WrongContents(f"its array '{name}.label_tokens' holds numbers out of range")
    return calibration


def _decode_correlations(arrays: StoredArrays, n_topics: int) -> Correlations:
    """Correlations of the first topics."""
    values = arrays.numbers("correlations.values", (2, None), least=-1.0, most=1.0)
    errors = arrays.numbers("correlations.errors", values.shape, least=0.0)
    (degrees,) = arrays.whole("correlations.degrees", (1,), 1_000).tolist()
    found = Correlations(values, errors, degrees)
    if found.n_topics > n_topics or found.n_topics * (found.n_topics - 1) // 2 != values.shape[1]:
        raise WrongContents("its correlations are of other topics")
    return found


def _decode_priors(manifest: dict[str, Any], arrays: StoredArrays, state: GlobalState) -> Priors:
    priors = get.priors(manifest)
    if not len(state.seeded):
        return priors
    shape = (len(state.seeded), len(state.topics))
    return replace(priors, seeds=arrays.sparse("seeds", shape, least=0.0))


def _regression_name(schema: LabelSchema, name: str) -> str:
    """Blocks of labels are numbered, since their names may hold anything."""
    return f"label_regression.{[block.name for block in schema.blocks].index(name)}"


def _decode_regressions(
    arrays: StoredArrays, schema: LabelSchema, n_topics: int
) -> dict[str, LabelRegression]:
    """The regressions of labels on evidence, of the blocks that have one."""
    found = {}
    for block in schema.blocks:
        name = _regression_name(schema, block.name)
        if f"{name}.numbers" not in arrays:
            continue
        n_labels = len(block.columns)
        slope, curvature, scale = arrays.numbers(f"{name}.numbers", (3,)).tolist()
        mean = arrays.numbers(f"{name}.mean", (None,))
        n_features = n_topics + n_labels + count_known_features(schema, block.name)
        if not scale > 0 or curvature < 0 or len(mean) not in (0, n_features):
            raise WrongContents("its regression of labels has other features than the model")
        found[block.name] = LabelRegression(
            slope,
            curvature,
            scale,
            arrays.numbers(f"{name}.intercept", (n_labels,)),
            mean,
            arrays.numbers(f"{name}.weights", (len(mean), n_labels)),
        )
    return found


def _decode_training(
    manifest: dict[str, Any], arrays: StoredArrays, schema: LabelSchema
) -> TrainingLabels:
    sample = arrays.sparse("training.sample", (None, schema.n_labels))
    found = arrays.numbers("training.values", (2, None))
    kinds = [block.kind for block in schema.blocks for _ in block.columns]
    numbers = [label for label, kind in enumerate(kinds) if kind == "number"]
    ends = arrays.whole("training.value_ends", (len(numbers),), found.shape[1] + 1)
    parts = np.split(found, ends, axis=1)
    if parts.pop().shape[1] or (np.diff(ends) < 0).any():
        raise WrongContents("its numbers' values do not follow one another")
    if (found[1] < 0).any():
        raise WrongContents("its array 'training.values' holds numbers out of range")
    n_documents = get.whole(manifest, "n_documents", max(sample.shape[0], 1), LARGEST)
    return TrainingLabels(
        sample,
        arrays.numbers("training.carriers", (schema.n_labels,), least=0.0, most=n_documents),
        n_documents,
        dict(zip(numbers, map(np.ascontiguousarray, parts), strict=True)),
    )


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
