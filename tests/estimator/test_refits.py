"""Effects of labels over refits of resampled documents."""

import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP, Corpus
from hdsp.answers import effect_refits
from hdsp.answers.effect_refits import Resampling, refit_sides
from hdsp.datasets import LabelDesign, make_corpus
from hdsp.fit import initial_state
from hdsp.model import make_problem
from hdsp.prediction import Effects, make_contrasts, over_refits
from hdsp.progress.displays import Lines


@pytest.fixture(scope="module")
def corpus():
    labels = LabelDesign(2, rare_tags=0, null_tags=1, null_numbers=0)
    return make_corpus(
        200, n_topics=4, n_words=100, document_length=50, labels=labels, random_state=0
    )[0]


@pytest.fixture(scope="module")
def model(corpus):
    return HDSP(6, fixed_number=True, random_state=0, n_jobs=1).fit(corpus)


@pytest.fixture(scope="module")
def thorough(model, corpus):
    return model.label_effects(refits=5, corpus=corpus)


def test_the_table_is_the_same_but_for_its_limits(model, thorough):
    fast = model.label_effects()
    columns = ["label", "contrast", "topic", "effect", "expected", "otherwise"]
    pd.testing.assert_frame_equal(thorough[columns], fast[columns])
    assert list(thorough.columns) == list(fast.columns)
    # Topics that differ make intervals wider.
    width, before = (table["upper"] - table["lower"] for table in (thorough, fast))
    assert (width > before).all()


def test_threads_do_not_matter_and_seeds_do(model, corpus, thorough):
    model.set_params(n_jobs=2)
    again = model.label_effects(refits=5, corpus=corpus)
    model.set_params(n_jobs=1)
    pd.testing.assert_frame_equal(again, thorough, check_exact=True)
    other = model.label_effects(refits=5, corpus=corpus, random_state=1)
    assert not np.allclose(other["lower"], thorough["lower"], atol=1e-6)


def test_a_label_alone_is_as_among_others(model, corpus, thorough):
    alone = model.label_effects(labels="common_1", refits=5, corpus=corpus)
    among = thorough[thorough["label"] == "common_1"].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, among, atol=1e-6)


def test_a_contrast_and_its_mirror_have_mirrored_limits(model, corpus):
    there, back = (
        model.label_effects(labels="category", contrast=levels, refits=3, corpus=corpus)
        for levels in (("level_0", "level_2"), ("level_2", "level_0"))
    )
    np.testing.assert_allclose(there["effect"], -back["effect"], atol=1e-12)
    np.testing.assert_allclose(there["lower"], -back["upper"], atol=1e-6)
    np.testing.assert_allclose(there["upper"], -back["lower"], atol=1e-6)


def test_the_variance_of_topics_is_added():
    rng = np.random.default_rng(0)
    effects = Effects(
        otherwise=np.array([[0.2, 0.8]]),
        expected=np.array([[0.3, 0.7]]),
        lower=np.array([[0.04, -0.13]]),
        upper=np.array([[0.12, -0.05]]),
        error=np.array([[0.03, 0.04]]),
    )
    sides = np.array([[[0.2, 0.8]], [[0.3, 0.7]]]) + rng.normal(0.01, 0.01, size=(4, 2, 1, 2))
    found = over_refits(effects, sides, 0.9)
    change = sides[:, 1, 0] - sides[:, 0, 0] - [0.1, -0.1]
    # The 95th percentile of Student's distribution with four degrees of freedom.
    added = 2.131847**2 * (change**2).mean(axis=0)
    np.testing.assert_array_equal(found.effect, effects.effect)
    below = np.sqrt(added + np.array([0.06, 0.03]) ** 2)
    above = np.sqrt(added + np.array([0.02, 0.05]) ** 2)
    np.testing.assert_allclose(found.lower[0], found.effect[0] - below, rtol=1e-5)
    np.testing.assert_allclose(found.upper[0], found.effect[0] + above, rtol=1e-5)
    wanted = np.array([0.03, 0.04]) ** 2 + (change**2).mean(axis=0)
    np.testing.assert_allclose(found.error[0] ** 2, wanted)


def test_limits_are_differences_of_proportions():
    effects = Effects(*(np.array([[value]]) for value in (0.0, 1.0, 0.5, 1.0, 0.1)))
    sides = np.array([[[[0.0]], [[1.0]]], [[[0.5]], [[0.6]]]])
    found = over_refits(effects, sides, 0.9)
    assert -1.0 <= found.lower[0, 0] < found.upper[0, 0] <= 1.0


def test_refits_are_of_the_documents(model, corpus, monkeypatch):
    """Each has its own documents, and topics in the model's order; every other starts afresh."""
    fitted = model._model
    problem = make_problem(
        corpus.counts, fitted.schema.encode(corpus.labels), fitted.scaling, fitted.priors
    )
    contrasts = make_contrasts(fitted.schema, fitted.used, None, None)
    resampling = Resampling(3, corpus, max_iter=20, tol=1e-3, n_jobs=1)
    started = []
    monkeypatch.setattr(
        effect_refits,
        "initial_state",
        lambda problem, n_topics, init, *rest: (
            started.append((problem.n_documents, n_topics, init))
            or initial_state(problem, n_topics, init, *rest)
        ),
    )
    sides = refit_sides(fitted, problem, None, contrasts, resampling, seed=0)
    assert started == [(200, 6, model.init_)] * 2
    assert sides.shape == (3, 2, len(contrasts), 6)
    np.testing.assert_allclose(sides.sum(axis=-1), 1.0, rtol=1e-6)
    assert not np.allclose(sides[0], sides[1], atol=1e-4)
    first = fitted.typical_effects(contrasts).ravel()
    alike = [np.corrcoef((after - before).ravel(), first)[0, 1] for before, after in sides]
    assert alike[1] > 0.9
    # Two topics more than there are, which another start may share out in another way.
    assert min(alike[0], alike[2]) > 0.4


def test_counts_work_too():
    rng = np.random.default_rng(0)
    labels = pd.DataFrame({"kind": ["a", "b"] * 30})
    counts = rng.poisson(2.0, size=(60, 8))
    model = HDSP(2, fixed_number=True, random_state=0).fit(counts, labels=labels)
    corpus = Corpus(counts, words=model.words_, labels=labels)
    assert len(model.label_effects(refits=2, corpus=corpus)) == 4


def test_a_loaded_model_takes_its_documents(model, corpus, thorough, tmp_path):
    model.save(tmp_path / "model.hdsp")
    again = HDSP.load(tmp_path / "model.hdsp").label_effects(refits=5, corpus=corpus)
    pd.testing.assert_frame_equal(again, thorough)


def test_messages(model, corpus):
    with pytest.raises(ValueError, match=r"`refits` of HDSP\.label_effects needs the training doc"):
        model.label_effects(refits=5)
    with pytest.raises(TypeError, match=r"must be a Corpus\. Got csr_array: of counts make Corpus"):
        model.label_effects(refits=5, corpus=corpus.counts)
    with pytest.raises(ValueError, match="must be the documents that the model was fitted to"):
        model.label_effects(refits=5, corpus=corpus[::-1])
    with pytest.raises(ValueError, match=r"`refits` of HDSP\.label_effects go with"):
        model.label_effects(refits=5, corpus=corpus, method="ratio")
    for wrong in (0, 1, 2.5, True):
        with pytest.raises(ValueError, match="`refits` of HDSP must be a whole number of at least"):
            model.label_effects(refits=wrong, corpus=corpus)


def test_progress_is_shown(model, corpus, capsys, monkeypatch):
    monkeypatch.setattr(Lines, "line_seconds", 0.0)
    monkeypatch.setattr(Lines, "line_share", 0.0)
    model.set_params(verbose=1).label_effects(refits=3, corpus=corpus)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("Fitting resampled documents: 3 of 3 done")
    model.set_params(verbose=0).label_effects(refits=2, corpus=corpus)
    assert capsys.readouterr().err == ""
