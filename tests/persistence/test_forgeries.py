"""Files that someone made on purpose, with a right checksum: refused, or harmless."""

import warnings

import numpy as np
import pytest

from hdsp import HDSP, Corpus, ModelFileError, TextSettings
from hdsp.exceptions import NotSavedWarning
from tests.persistence.models import METHODS, fit_quietly, mixed_model, rewrite

TEXTS = ["the cat sat on the mat", "dogs and cats fight", "a dog sat", "cats eat mice"] * 6


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.hdsp"
    mixed_model()[0].save(path)
    return path


def text_model(settings):
    corpus = Corpus.from_texts(TEXTS, text_settings=settings)
    return fit_quietly(HDSP(2, max_iter=2, random_state=0), corpus, None)


def put(*keys_and_value):
    *keys, last, value = keys_and_value

    def change(manifest):
        for key in keys:
            manifest = manifest[key]
        manifest[last] = value

    return change


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("token_pattern", "(?:[a-z ]+)+!"),
        ("token_pattern", "[a-z ]+!"),
        ("token_pattern", "a*a*a*a*a*b"),
        ("token_pattern", r"(\w+)\1"),
        ("token_pattern", "[a]{0}"),
        ("token_pattern", r"\b[a]{0,3}\b"),
        ("token_pattern", "[" + "ab" * 10_000_000 + "]"),
        ("ngrams", 10**6),
        ("lowercase", "yes"),
        ("stop_words", 3),
    ],
)
def test_text_settings_that_could_take_very_long_are_refused(tmp_path, name, value):
    path = tmp_path / "model.hdsp"
    text_model(TextSettings()).save(path)
    rewrite(path, put("text_settings", name, value))
    with pytest.raises(ModelFileError, match="text settings are none that a file may hold"):
        HDSP.load(path)


@pytest.mark.parametrize(
    "pattern", [r"(?u)\b\w\w+\b", r"[a-z]+(?:-[a-z]+)*", r"\w+(?:'\w+)?", r"\S+"]
)
def test_simple_patterns_are_stored_and_quick(tmp_path, pattern):
    settings = TextSettings(token_pattern=pattern)
    text_model(settings).save(tmp_path / "model.hdsp")
    assert HDSP.load(tmp_path / "model.hdsp").text_settings_ == settings
    for text in (
        "a" * 200_000,
        "a-" * 100_000,
        "a " * 100_000 + "!",
        "a1" * 100_000,
        " " * 200_000,
    ):
        # Milliseconds, where a pattern that tries every division of the text takes hours.
        settings.count([text, "cat dog"])


def test_a_pattern_that_a_file_may_not_hold_is_left_out_with_a_warning(tmp_path):
    model = text_model(TextSettings(token_pattern=r"(?:cat|dog)s?"))
    with pytest.warns(NotSavedWarning, match="The pattern that cuts texts into words"):
        model.save(tmp_path / "model.hdsp")
    assert HDSP.load(tmp_path / "model.hdsp").text_settings_ is None


def numbers(value):
    """All the numbers in what a model says."""
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers(item)]
    if isinstance(value, str):
        return [np.nan] if "nan" in value else []
    return np.ravel(value).tolist() if isinstance(value, (float, np.ndarray)) else []


def said(model):
    """What a model says of a few documents."""
    counts, labels = mixed_model()[1][:5], mixed_model()[2][:5]
    regression = model.estimate_effects("~ kind + rating")
    tables = [model.label_effects(), regression.effects(), regression.levels("kind")]
    tables += [model.predict_labels(counts, target) for target in ("tags", "kind", "rating")]
    return {
        "topics": repr(model.topics()["distinctive_words"].tolist()),
        "transform": model.transform(counts, labels=labels),
        "simulated": model.simulate(labels, random_state=1).counts.toarray(),
        **{method: model.expected_topics(labels, method) for method in METHODS},
        **{str(n): table.select_dtypes("number").to_numpy() for n, table in enumerate(tables)},
    }


def check_harmless(path):
    """A file is refused, or its model says numbers alone, without a warning of NumPy."""
    try:
        model = HDSP.load(path)
    except ModelFileError:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(numbers(said(model))).all()
    return True


def put_all(name, value):
    def change(arrays):
        array = arrays[name].copy()
        with np.errstate(over="ignore"):
            array[...] = value
        arrays[name] = array

    return change


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("expected.documents", 1e300),
        ("reading.proportions", np.inf),
        ("reading.lengths", -100.0),
        ("reading.values.data", 1e300),
        ("reading.fold", 3),
        ("reading.read", 2),
        ("labels.0.slope", np.inf),
        ("counts.0.data", -1.0),
        ("correlations.values", 1.5),
        ("scaling.0:shape", 1e-300),
        ("scaling.0:rate", 1e-300),
        ("scaling.1:spread", -1.0),
        ("sticks", 0.0),
        ("topics", 0.0),
        ("carriers", 1e12),
    ],
)
def test_numbers_that_no_fit_writes_are_refused(path, name, value):
    rewrite(path, change_arrays=put_all(name, value))
    assert not check_harmless(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("expected.documents", -1e30),
        ("reading.proportions", 65504.0),
        ("reading.lengths", 1e30),
        ("counts.0.data", -1e30),
        ("scaling.0:shape", 1e-12),
        ("scaling.0:rate", 1e30),
        ("scaling.1:weight", 1e30),
        ("sticks", 1e-30),
        ("sticks", 1.0),
        ("topics", 1e-30),
        ("topics", 1e30),
    ],
)
def test_the_largest_and_smallest_numbers_do_no_harm(path, name, value):
    rewrite(path, change_arrays=put_all(name, value))
    check_harmless(path)


@pytest.mark.parametrize(("name", "value"), [("reading.lengths", 0.0), ("reading.read", 0)])
def test_a_reading_of_no_documents_gets_a_sentence(path, name, value):
    rewrite(path, change_arrays=put_all(name, value))
    with pytest.raises(ValueError, match=r"needs at least 3 documents with words .* got 0\."):
        HDSP.load(path).label_effects()


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        *((("history", 0, "bound"), value) for value in (10**400, np.nan, np.inf, -1e308)),
        (("history", 0, "seconds"), np.nan),
        (("parameters", "random_state"), 1e308),
        (("parameters", "random_state"), 10**400),
        (("parameters", "random_state"), -1),
        (("parameters", "random_state"), 0.5),
        (("parameters", "tol"), np.inf),
        (("parameters", "scaling", "factors", 0, "settings", "weight_shape"), np.inf),
        (("parameters", "scaling", "factors", 1, "settings", "variance"), 1e30),
        (("space", "scaling", "factors", 0, "settings", "weight_rate"), 1e30),
        (("space", "scaling", "factors", 1, "settings", "variance"), np.nan),
        (("stages", 0, "seconds"), np.inf),
        (("returning",), 2**200),
        (("topic_names",), {"0": 10**400}),
    ],
)
def test_settings_that_no_fit_writes_are_refused_in_a_sentence(path, keys, value):
    rewrite(path, put(*keys, value))
    with pytest.raises(ModelFileError, match=r"is not a file that HDSP can use, since its? [^.]*:"):
        HDSP.load(path)


@pytest.mark.parametrize("value", [1e-30, 1e30, 1e300])
@pytest.mark.parametrize(
    "keys",
    [
        ("corpus_concentration",),
        ("document_concentration",),
        ("answers", "concentration"),
        ("priors", "topic_prior"),
        ("schema", "blocks", 2, "scale", 0),
        ("schema", "blocks", 2, "mean", 0),
    ],
)
def test_extreme_settings_are_refused_or_do_no_harm(path, keys, value):
    rewrite(path, put(*keys, value))
    taken = check_harmless(path)
    assert not (taken and value == 1e300)
