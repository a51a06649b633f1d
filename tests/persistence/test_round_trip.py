import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import hdsp
from hdsp import HDSP, Categorical, Corpus, LogLinear, TextSettings
from hdsp.corpus.fingerprint import fingerprint
from hdsp.fit import sample
from tests.persistence.models import (
    FRAMES,
    LABELS,
    assert_same,
    facts,
    fit_quietly,
    make_counts,
    make_labels,
    mixed_model,
    predictions,
    rewrite,
    stored,
)
from tests.persistence.runs import data, make_search

SCALINGS = {
    "tags": [Categorical("tags", weight_rate=3), LogLinear(variance=np.float64(0.3))],
    "mixed": [LogLinear("rating"), Categorical("kind") * LogLinear("tags") * LogLinear("rating")],
}


@st.composite
def estimators(draw):
    kind, frames = draw(st.sampled_from(LABELS)), draw(st.sampled_from(FRAMES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_words = draw(st.sampled_from([1, 2, 12]))
    n_topics = draw(st.sampled_from([1, 2, 5, 17]))
    counts, labels = make_counts(rng, n_words), make_labels(kind, frames, rng)
    if draw(st.booleans()):
        counts = pd.DataFrame(counts, columns=[f"word\n{i}é" for i in range(n_words)])
    init = draw(st.sampled_from(["nmf", "random", "array"]))
    model = HDSP(
        draw(st.sampled_from(["auto", n_topics])),
        max_components=n_topics,
        scaling=draw(st.sampled_from(["auto", *SCALINGS.get(kind, ())])),
        topic_prior=draw(st.sampled_from([0.05, np.float32(0.1)])),
        document_concentration=draw(st.sampled_from([None, 0.7])),
        init=rng.random((n_topics, n_words)) if init == "array" else init,
        max_iter=draw(st.integers(1, 4)),
        tol=draw(st.sampled_from([0, 1e-3])),
        n_jobs=1,
        random_state=draw(st.integers(0, 9)),
    )
    return model, counts, labels


@settings(max_examples=25)
@given(estimators())
def test_a_loaded_model_is_the_same_bit_for_bit(tmp_path_factory, drawn):
    """Whether or not answers were computed before it was saved."""
    model, counts, labels = drawn
    fit_quietly(model, counts, labels)
    path = tmp_path_factory.mktemp("models") / "model.hdsp"
    said = predictions(model, counts, labels)
    again = fit_quietly(clone(model), counts, labels)
    again.save(path)
    loaded = HDSP.load(path)
    assert_same(stored(loaded), stored(again))
    assert_same(predictions(loaded, counts, labels), said)
    assert facts(loaded) == facts(model)
    assert loaded._model.source.fingerprint == model._model.source.fingerprint
    assert loaded.history_ == again.history_
    assert loaded.search_ == again.search_
    assert hasattr(loaded, "feature_names_in_") == hasattr(model, "feature_names_in_")
    refitted = fit_quietly(loaded, counts, labels)
    assert_same(stored(refitted, answers=False), stored(model, answers=False))


def test_a_search_comes_back(tmp_path):
    model = make_search(random_state=0).fit(data())
    assert len(model.search_) > 1
    assert len(model.components_) < model.max_components
    assert model.n_topics_range_[0] <= len(model.components_) <= model.n_topics_range_[1]
    model.save(tmp_path / "model.hdsp")
    loaded = HDSP.load(tmp_path / "model.hdsp")
    assert loaded.search_ == model.search_
    assert [list(row) for row in loaded.search_] == [list(row) for row in model.search_]
    assert loaded.n_topics_range_ == model.n_topics_range_
    assert loaded.predictive_concentration_ == model.predictive_concentration_
    assert loaded.history_ == model.history_
    assert_same(stored(loaded), stored(model))
    assert loaded.max_components == 12
    assert loaded.n_components == "auto"


def test_saving_a_loaded_model_over_its_own_file_changes_nothing(tmp_path):
    model, counts, labels = mixed_model()
    path = tmp_path / "model.hdsp"
    model.save(path)
    first = path.read_bytes()
    loaded = HDSP.load(path)
    loaded.save(path)
    assert path.read_bytes() == first
    assert_same(predictions(loaded, counts, labels), predictions(model, counts, labels))


def test_the_settings_come_back(tmp_path):
    model, _, _ = mixed_model()
    model.save(tmp_path / "model.hdsp")
    loaded = HDSP.load(str(tmp_path / "model.hdsp"))
    settings = model.get_params() | {"n_jobs": None}
    assert loaded.get_params() == settings
    assert repr(loaded) == repr(clone(model).set_params(n_jobs=None))


def test_what_belongs_to_a_run_stays_behind(tmp_path):
    counts = make_counts(np.random.default_rng(0))
    model = HDSP(3, random_state=np.random.default_rng(0), checkpoint=None, max_iter=2)
    fit_quietly(model, counts, None).set_params(checkpoint=tmp_path / "folder")
    model.save(tmp_path / "model.hdsp")
    loaded = HDSP.load(tmp_path / "model.hdsp")
    assert loaded.random_state is None
    assert loaded.checkpoint is None


def test_a_pickle_answers_everything_without_the_documents(tmp_path):
    model, counts, labels = mixed_model()
    said = predictions(model, counts, labels)
    fresh = fit_quietly(clone(model), counts, labels)
    copy = pickle.loads(pickle.dumps(fresh))
    assert fresh._model.left_out is not None
    assert copy._model.left_out is None
    assert_same(predictions(copy, counts, labels), said)
    path = tmp_path / "model.hdsp"
    copy.save(path)
    before = path.read_bytes()
    again = pickle.loads(pickle.dumps(HDSP.load(path)))
    assert_same(predictions(again, counts, labels), said)
    HDSP.load(path)._model.state.topics[:] = 1.0
    assert path.read_bytes() == before


def test_groups_and_sampling_weights_come_back(tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "MOST_DOCUMENTS", 60)
    monkeypatch.setattr(sample, "_PER_LABEL", 35)
    corpus, _ = hdsp.simulate([["a"], ["b"], []] * 40, n_topics=3, random_state=0)
    grouped = Corpus(corpus.counts, labels=corpus.labels, groups=np.arange(120) // 4)
    settings = {"random_state": 0, "n_jobs": 1}
    whole = HDSP(3, **settings).fit(grouped)
    sampled = fit_quietly(HDSP(3, **settings, inference="stochastic"), corpus, None)
    assert len(np.unique(whole._model.reading.groups)) == 30
    assert len(np.unique(sampled._model.reading.weights)) > 1
    for model in (whole, sampled):
        effects = model.label_effects()
        model.save(tmp_path / "model.hdsp")
        loaded = HDSP.load(tmp_path / "model.hdsp")
        assert_same(stored(loaded), stored(model))
        pd.testing.assert_frame_equal(loaded.label_effects(), effects)


def test_only_labels_of_the_formula_are_carried_along(tmp_path):
    """Unless they were named for `predict_labels` before."""
    _, counts, labels = mixed_model()
    model = HDSP(3, scaling=LogLinear("rating"), max_iter=3, random_state=0)
    fit_quietly(model, counts, labels).save(tmp_path / "model.hdsp")
    loaded = HDSP.load(tmp_path / "model.hdsp")
    names = {"counts.rating", "labels.rating"}
    assert {n for n in loaded._model.answers if n.startswith(("counts", "labels"))} == names
    with pytest.raises(ValueError, match=r"needs the training documents, which a saved"):
        loaded.predict_labels(counts, "tags")
    said = model.predict_labels(counts, "tags")
    model.save(tmp_path / "model.hdsp")
    pd.testing.assert_frame_equal(
        HDSP.load(tmp_path / "model.hdsp").predict_labels(counts, "tags"), said
    )


def test_proportions_are_stored_in_half_precision(tmp_path):
    model, counts, _ = mixed_model()
    path = tmp_path / "model.hdsp"
    model.save(path)
    arrays = {n: a for n, a in load_file(path).items() if n.startswith("reading.")}
    proportions = arrays.pop("reading.proportions")
    assert proportions.dtype == np.float16
    assert proportions.shape == (len(counts), 5)
    # Nothing else takes more than a few numbers per document and label.
    n_labels = len(arrays["reading.values.data"])
    assert sum(a.nbytes for a in arrays.values()) <= 30 * len(counts) + 12 * n_labels


def test_text_settings_go_along(tmp_path):
    texts = ["red apples and pears", "green pears", "red roses and pears", "a rose is red"] * 10
    chosen = TextSettings(stop_words=("green",), ngrams=2)
    counts, words = chosen.count(texts)
    corpus = Corpus(counts, words=words, text_settings=chosen)
    model = fit_quietly(HDSP(3, max_iter=2, random_state=0), corpus, None)
    assert model.text_settings_ == chosen
    model.save(tmp_path / "with.hdsp")
    assert HDSP.load(tmp_path / "with.hdsp").text_settings_ == chosen
    assert fit_quietly(model, counts, None).text_settings_ is None
    model.save(tmp_path / "without.hdsp")
    assert HDSP.load(tmp_path / "without.hdsp").text_settings_ is None


def test_a_function_cannot_be_saved_and_says_so(tmp_path):
    chosen = TextSettings(tokenizer=str.split)
    counts, words = chosen.count(["red pears", "green pears"] * 15)
    model = HDSP(3, max_iter=2, random_state=0)
    fit_quietly(model, Corpus(counts, words=words, text_settings=chosen), None)
    with pytest.warns(hdsp.NotSavedWarning, match="cannot be saved with the model: pass it as"):
        model.save(tmp_path / "model.hdsp")
    assert HDSP.load(tmp_path / "model.hdsp").text_settings_ is None


@pytest.mark.parametrize("words", [["", "\n"], ["\ud800", "naïve 😀"], ["a", "a" * 10_000]])
def test_any_words_come_back(tmp_path, words):
    corpus = Corpus([[3, 0], [0, 2], [1, 1]] * 5, words=words)
    model = fit_quietly(HDSP(2, max_iter=2), corpus, None)
    model.save(tmp_path / "model.hdsp")
    assert HDSP.load(tmp_path / "model.hdsp").words_ == tuple(words)


class Own(Categorical):
    """A user's function: a subclass is not what it inherits from."""


def test_a_users_own_function_cannot_be_stored(tmp_path):
    rng = np.random.default_rng(0)
    model = HDSP(3, scaling=Own("tags"), max_iter=2)
    fit_quietly(model, make_counts(rng), make_labels("tags", "pandas", rng))
    with pytest.raises(ValueError, match=r"cannot store the scaling function Own.*joblib\.dump"):
        model.save(tmp_path / "model.hdsp")
    assert list(tmp_path.iterdir()) == []


def test_only_a_fitted_model_with_valid_settings_is_saved(tmp_path):
    with pytest.raises(NotFittedError):
        HDSP().save(tmp_path / "model.hdsp")
    model = clone(mixed_model()[0])
    fit_quietly(model, *mixed_model()[1:]).set_params(max_iter=0)
    with pytest.raises(ValueError, match="'max_iter' parameter of HDSP must be"):
        model.save(tmp_path / "model.hdsp")


def test_loading_leaves_for_later_what_is_not_asked_for(tmp_path):
    rng = np.random.default_rng(0)
    counts = csr_array(rng.poisson(0.01, size=(30, 500)).astype(float))
    model = HDSP(20, init="random", max_iter=1, n_jobs=1, random_state=0)
    fit_quietly(model, counts, [["a"], ["b"], ["a", "b"]] * 10).save(tmp_path / "model.hdsp")
    loaded = HDSP.load(tmp_path / "model.hdsp")
    # As large again as the file.
    assert "components_" not in vars(loaded)
    np.testing.assert_array_equal(loaded.components_, model.components_)


def test_a_fingerprint_is_of_the_values_whatever_their_types():
    counts, design = csr_array([[1.0, 0.0], [2.0, 3.0]]), csr_array([[1.0], [0.0]])
    wide = csr_array(counts, dtype=np.float32)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    first = fingerprint(counts, design)
    assert fingerprint(wide, design) == first
    for other in ([[1.0, 0.0], [2.0, 4.0]], [[0.0, 1.0], [2.0, 3.0]], [[1.0, 2.0], [0.0, 3.0]]):
        assert fingerprint(csr_array(other), design) != first
    assert fingerprint(counts, csr_array([[0.0], [1.0]])) != first


def test_a_file_does_not_decide_where_fits_run(tmp_path):
    path = tmp_path / "model.hdsp"
    mixed_model()[0].save(path)

    def forge(manifest):
        assert not {"executor", "n_jobs", "checkpoint"} & manifest["parameters"].keys()
        others = {"executor": "tcp://192.0.2.1:8786", "n_jobs": 999, "checkpoint": "/etc"}
        manifest["parameters"] |= others

    rewrite(path, change_manifest=forge)
    loaded = HDSP.load(path)
    assert (loaded.executor, loaded.n_jobs, loaded.checkpoint) == (None, None, None)
