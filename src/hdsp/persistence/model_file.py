"""The `.hdsp` file of a fitted model."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from scipy.sparse import csr_array

from hdsp.analysis.correlations import Correlations
from hdsp.analysis.fitted import FittedModel
from hdsp.analysis.label_prediction import LabelRegression
from hdsp.analysis.softmax import SoftmaxRegression
from hdsp.analysis.words import WordFactors
from hdsp.corpus.frames import LIBRARIES
from hdsp.corpus.schema import LabelSchema
from hdsp.fit.stream import Stream
from hdsp.model.state import GlobalState
from hdsp.numerics import FloatArray
from hdsp.scaling.design import LabelDesign
from hdsp.scaling.formula import is_formula
from hdsp.scaling.functions import FUNCTIONS, Product, ScalingFunction, as_function
from hdsp.scaling.terms import TERMS, Term
from hdsp.storage.codec import SMALLEST, AnyArray, Decoder, Limits, encode, entry_path, require
from hdsp.storage.container import PARSE_ERRORS, read_file, unusable, write_file

_KIND = "model"
# Parameters of a run, not of a model: a file does not decide where fits run, and where they write.
_NOT_STORED = ("checkpoint", "executor", "n_jobs")
# What `FittedModel.answers` may contain, by the first part of the name.
_ANSWERS: dict[str, Any] = {
    "expected": SoftmaxRegression,
    "concentration": Annotated[float, Limits(least=SMALLEST)],
    "returning": Annotated[int, Limits(least=0)] | None,
    "coherence": Annotated[FloatArray, Limits("T", missing=True)],
    "correlations": Correlations,
    "word_factors": WordFactors | None,
    "counts": Annotated[csr_array, Limits("C+1 V", 0.0)],
    "labels": LabelRegression | None,
}
# The second part of these names is a column of labels.
_BY_COLUMN = ("counts", "labels")


def save_model(path: Path, model: FittedModel, parameters: Mapping[str, Any]) -> None:
    """Write a model file; an existing file is replaced once the new one is complete.

    Everything that needs the training documents is computed first. `parameters` are the
    constructor's.
    """
    model.complete()
    settings = model.source.text_settings
    if settings is not None and not settings.storable:
        model = replace(model, source=replace(model.source, text_settings=None))
    arrays: dict[str, AnyArray] = {}
    data = {
        "hdsp": version("hdsp"),
        "parameters": _encode_parameters(parameters, arrays),
        "design": encode_design(model.space),
        "model": encode(model, arrays, given=_given(model.space, model.answers)),
        "answers": encode(dict(sorted(model.answers.items())), arrays, "answers"),
        "stream": encode(model.stream, arrays, "stream", _given_of_stream(model)),
    }
    write_file(path, _KIND, data, arrays)


def load_model(
    path: Path, known: Collection[str] | None = None
) -> tuple[FittedModel, dict[str, Any]]:
    """Read a model file, and check everything in it: the model, its stream and the parameters.

    `known` are the names of the constructor's parameters; with None they are left unread.
    """
    data, arrays = read_file(path, _KIND)
    try:
        design = decode_design(data["design"])
        sizes = {"J": design.n_columns, "L": design.schema.n_labels}
        reader = Decoder(arrays, sizes, _given(design, {}))
        parameters = _decode_parameters(reader, data["parameters"], known) if known else {}
        model: FittedModel = reader.decode(FittedModel, data["model"])
        model.answers.update(_decode_answers(reader, data["answers"], model))
        _check_model(model)
        reader.given = _given_of_stream(model)
        stream = reader.decode(Stream | None, data["stream"], "stream")
        return replace(model, stream=stream), parameters
    except PARSE_ERRORS as error:
        raise unusable(path, error) from error


def check_parameters(state: GlobalState, scaling: ScalingFunction, n_labels: int) -> None:
    """Raise unless the parameters of a state are those of its scaling function."""
    # Those of one topic give the names and shapes.
    initial = scaling.initial(1, n_labels)
    require(state.scaling.keys() == initial.keys(), "its scaling function has other parameters")
    for name, array in state.scaling.items():
        function, own = scaling, name
        if isinstance(scaling, Product):
            number, _, own = name.partition(":")
            function = scaling.factors[int(number)]
        fits = array.shape == (state.n_topics, *initial[name].shape[1:])
        positive = own not in function.positive or array.min(initial=1.0) >= SMALLEST
        require(fits and positive, f"its parameters {name!r} of the scaling function are invalid")


def _given(design: LabelDesign, answers: dict[str, Any]) -> dict[str, Any]:
    """What a file has elsewhere, or lacks."""
    gone = dict.fromkeys(("left_out", "count_returning", "stream"))
    return {"space": design, "answers": answers, **gone}


def _given_of_stream(model: FittedModel) -> dict[str, Any]:
    """What a stream shares with its model."""
    return {
        "stream.state": model.state,
        "stream.words": model.source.words,
        "stream.space": model.space,
        "stream.priors": model.priors,
    }


def _check_model(model: FittedModel) -> None:
    """Raise unless the parts of a model fit together."""
    state, source = model.state, model.source
    check_parameters(state, model.scaling, model.space.n_columns)
    n_fitted = sum(map(len, model.groups.members))
    require(n_fitted == state.n_topics, "its merged topics are not each of the fitted ones once")
    require(model.priors.n_seeded == len(state.seeded), "its seeds are of other topics")
    n_documents = model.n_documents
    within = model.carriers.max(initial=0.0) <= n_documents
    within &= model.reading.rows.max(initial=0) < n_documents
    require(within, "it has more documents than there are")
    require(source.frames in (None, *LIBRARIES), "its tables are of an unknown library")
    kept = model.reading.kept_whole
    require(all(0 <= k < state.n_topics for k in kept), "its topics that were kept are no topics")
    names = model.topic_names
    named = all(0 <= k < len(model.groups) and name.strip() for k, name in names.items())
    require(named, "its names of topics are invalid")
    if "correlations" in model.answers:
        found: Correlations = model.answers["correlations"]
        n_pairs = found.n_topics * (found.n_topics - 1) // 2
        fits = found.n_topics <= state.n_topics and n_pairs == found.values.shape[1]
        require(fits, "its correlations are of other topics")
    for name, answer in model.answers.items():
        if name.startswith("expected."):
            fits = len(answer.weights) == model.regression_space.n_columns + 1
            require(fits, "its regression has other labels")


def _decode_answers(reader: Decoder, data: Any, model: FittedModel) -> dict[str, Any]:
    """What was computed before the model was saved."""
    columns, found = model.schema.slices(), {}
    for number, name in enumerate(data):
        part, _, column = name.partition(".")
        known = part in _ANSWERS and (part not in _BY_COLUMN or column in columns)
        require(known, f"it has an answer {name!r} to no question")
        if part in _BY_COLUMN:
            first, end, _ = columns[column].indices(model.schema.n_labels)
            several = model.schema.kind(column) != "number"
            reader.sizes["C"] = end - first if several else model.number_values(column).shape[1]
        found[name] = reader.decode(_ANSWERS[part], data[name], entry_path("answers", number, name))
    return found


def _encode_parameters(parameters: Mapping[str, Any], arrays: dict[str, AnyArray]) -> Any:
    stored = {name: value for name, value in parameters.items() if name not in _NOT_STORED}
    if not isinstance(stored["scaling"], str):
        stored["scaling"] = encode_scaling(as_function(stored["scaling"]))
    if not isinstance(stored["init"], str):
        start = np.asarray(stored["init"])
        stored["init"] = start if start.dtype == np.float32 else start.astype(np.float64)
    if not is_seed(stored["random_state"]):
        stored["random_state"] = None
    return encode(stored, arrays, "parameters")


def _decode_parameters(reader: Decoder, data: Any, known: Collection[str]) -> dict[str, Any]:
    """The constructor's parameters, which the constructor checks."""
    stored = {name: value for name, value in data.items() if name not in _NOT_STORED}
    require(stored.keys() == set(known) - set(_NOT_STORED), "its settings are not those of HDSP")
    if isinstance(stored["scaling"], dict):
        stored["scaling"] = decode_scaling(stored["scaling"])
    elif stored["scaling"] != "auto":
        require(is_formula(stored["scaling"]), "its setting `scaling` is no scaling function")
    if (name := "parameters.init") in reader.arrays:
        start = Annotated[FloatArray, Limits("t v", 0.0)]
        stored["init"] = reader.decode(start, stored["init"], name)
    require(isinstance(stored["init"], (str, np.ndarray)), "its setting `init` is no start")
    return stored


def encode_scaling(scaling: ScalingFunction) -> dict[str, Any]:
    """A scaling function of the package by name, with its columns, terms and settings."""
    if type(scaling) is Product:
        factors = [encode_scaling(factor) for factor in scaling.factors]
        return {"function": "Product", "factors": factors}
    data = _encode(scaling, FUNCTIONS, "function")
    return {**data, "terms": [_encode(term, TERMS, "term") for term in scaling.terms]}


def decode_scaling(data: Mapping[str, Any]) -> ScalingFunction:
    """The scaling function that `encode_scaling` wrote."""
    if data["function"] == "Product":
        return Product(*[decode_scaling(factor) for factor in data["factors"]])
    terms = [TERMS[own["term"]](*own["columns"], **own["settings"]) for own in data["terms"]]
    return FUNCTIONS[data["function"]](*data["columns"], *terms, **data["settings"])


def _encode(value: ScalingFunction | Term, known: Mapping[str, type], what: str) -> dict[str, Any]:
    """A function or a term by its name, if it is `known`, with its columns and settings."""
    name = type(value).__name__
    if known.get(name) is not type(value):
        label = "scaling function" if what == "function" else what
        raise ValueError(
            f"HDSP.save cannot store the {label} {name}, because a model file holds no code and "
            f"knows only {', '.join(known)}: use joblib.dump, and load where the {what} can be "
            "imported."
        )
    return {what: name, "columns": list(value.columns), "settings": encode(value.settings(), {})}


def encode_design(design: LabelDesign) -> dict[str, Any]:
    """The labels, the scaling function, and what terms have learned, in the order of the design."""
    schema, learned = encode(design.schema, {}), [dict(term.fitted) for term in design.terms]
    return {"schema": schema, "scaling": encode_scaling(design.scaling), "learned": learned}


def decode_design(data: Mapping[str, Any]) -> LabelDesign:
    """The design of labels that `encode_design` wrote."""
    reader = Decoder({})
    schema = reader.decode(LabelSchema, data["schema"], "schema")
    learned = reader.decode(list[dict[str, list[float]]], data["learned"], "learned")
    scaling = decode_scaling(data["scaling"])
    terms = LabelDesign.fit(scaling, schema).terms
    require(len(learned) == len(terms), "its terms have learned something else")
    return LabelDesign.fit(scaling, schema, learned=dict(zip(terms, learned, strict=True)))


def is_seed(random_state: Any) -> bool:
    """Whether a random state can be stored: an integer or None."""
    return random_state is None or isinstance(random_state, (int, np.integer))
