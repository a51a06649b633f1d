"""A scaling function that is not log-linear reaches every answer."""

from dataclasses import replace
from functools import cache

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from hdsp import HDSP, Categorical, Corpus, Custom, LogLinear, Monotone, Power, Softplus
from hdsp.answers.label_levels import curve_columns
from hdsp.labels import Spline
from hdsp.prediction.calibration.clusters import Clusters, scores_by_group
from hdsp.prediction.calibration.functions import Forms, sweep_functions
from hdsp.prediction.calibration.joint import block_information, own_block
from hdsp.prediction.calibration.regression import Regression
from hdsp.prediction.calibration.tangent import measure_tangent, tangent_scores
from hdsp.prediction.calibration.variance import information, own_shares
from hdsp.report.labels import form_view
from hdsp.scaling import FunctionColumns

N_TOPICS = 4


def line(labels, weights):
    return -sum(weights[j] * labels[j] for j in range(len(labels)))


def levelling(labels, weights):
    return weights[0] * np.tanh(labels[0] * np.exp(weights[1]))


@cache
def drawn(n_documents=400):
    """Documents in two shops, in which the effects of prices level off soon."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "price": rng.uniform(4.0, 16.0, size=n_documents),
            "size": rng.normal(size=n_documents),
            "shop": rng.choice(["north", "south"], size=n_documents),
        }
    )
    effect = np.tanh(2.0 * (table["price"].to_numpy() - 10.0))
    score = np.outer(effect, [-1.0, -0.3, 0.3, 1.0])
    score += np.outer(table["shop"] == "south", [0.3, -0.3, 0.3, -0.3])
    share = np.exp(score + 0.8 * rng.normal(size=score.shape))
    words = share / share.sum(axis=1, keepdims=True) @ rng.dirichlet([0.05] * 80, size=N_TOPICS)
    counts = np.array([rng.multinomial(60, row / row.sum()) for row in words])
    return Corpus(counts, labels=table).split(test_size=0.25, random_state=1)


@cache
def fitted(name, groups=False):
    scaling = {
        "LogLinear": LogLinear("price", "size"),
        "line": Custom("price", "size", log_scale=line),
        "levelling": Custom("price", log_scale=levelling, n_weights=2) * LogLinear("size"),
        "Softplus": Softplus("price") * LogLinear("size"),
        "Power": Power("price") * LogLinear("size"),
        "Monotone": Monotone("price", n_knots=4) * LogLinear(Spline("size", n_knots=3)),
        "several": Softplus("price", "size"),
    }[name] * Categorical("shop")
    train, _ = drawn()
    model = HDSP(N_TOPICS, fixed_number=True, scaling=scaling, init="nmf", random_state=0, n_jobs=1)
    return model.fit(train, groups=np.arange(len(train)) // 5 if groups else None)


def test_a_line_of_ones_own_gives_the_answers_of_the_log_linear_function():
    own, ours, (_, test) = fitted("line"), fitted("LogLinear"), drawn()
    # Fits end where bounds have settled, to a millionth, and regressions after so many sweeps.
    np.testing.assert_allclose(
        own.expected_topics(test.labels), ours.expected_topics(test.labels), atol=0.015
    )
    effects, expected = own.label_effects(), ours.label_effects()
    np.testing.assert_allclose(effects["effect"], expected["effect"], atol=0.015)
    width = (effects["upper"] - effects["lower"]) / (expected["upper"] - expected["lower"])
    # Two hundred draws of both.
    assert 0.8 < width.min() < width.max() < 1.25
    assert own.perplexity(test, given="labels") == pytest.approx(
        ours.perplexity(test, given="labels"), rel=1e-3
    )


@pytest.mark.parametrize("name", ["levelling", "Softplus", "Power", "Monotone", "several"])
def test_the_bound_never_falls(name):
    bound = np.array([row["bound"] for row in fitted(name).history_])
    # The document step is in single precision.
    assert (np.diff(bound) >= -1e-6 * np.abs(bound[1:])).all()


def test_what_levels_off_shows_in_the_default_answers():
    own, ours, (_, test) = fitted("levelling"), fitted("LogLinear"), drawn()
    assert own.perplexity(test, given="labels") < 0.99 * ours.perplexity(test, given="labels")
    prices = pd.DataFrame({"price": [10.0, 12.0, 14.0, 16.0]})
    level, straight = (one.expected_topics(prices) for one in (own, ours))
    assert np.abs(level[1] - level[0]).max() > 0.1
    np.testing.assert_allclose(level[2], level[3], atol=0.01)
    assert np.abs(straight[2] - straight[3]).max() > 0.05


@pytest.mark.parametrize("name", ["levelling", "Softplus", "Monotone", "several"])
@pytest.mark.parametrize("method", ["calibrated", "ratio"])
def test_effects_are_differences_of_expected_topics(name, method):
    model = fitted(name)
    sample = model._model.training.sample
    found = model.label_effects(labels="price", contrast=(9.0, 13.0), method=method)
    block = model.label_schema_.block("price")
    sides = []
    for value in (9.0, 13.0):
        values = sample.toarray()
        place = model.label_schema_.slices()["price"].start
        values[:, place] = (value - block.mean[0]) / block.scale[0]
        design = model._model.space.design(csr_array(values))
        sides.append(model._model.expected(design, method).mean(axis=0))
    np.testing.assert_allclose(found["effect"], sides[1] - sides[0], atol=1e-6)
    assert (found["lower"] <= found["effect"]).all()
    assert (found["effect"] <= found["upper"]).all()


def test_curves_of_a_function_have_bands_around_expected_topics():
    model = fitted("levelling")
    columns = curve_columns(model._model, None, "price", None, 5, 0.9, "documents", "test")
    curve = pd.DataFrame(columns)
    assert (curve["lower"] < curve["expected"]).all()
    assert (curve["expected"] < curve["upper"]).all()
    # What the reference of the log-linear function costs is not paid: it is flat at the end.
    last = curve[curve["topic"] == 0]["expected"].to_numpy()
    assert abs(last[-1] - last[-2]) < 0.02 < abs(last[0] - last[-1])


@pytest.mark.parametrize("name", ["Softplus", "Power", "Monotone", "several"])
def test_files_hold_functions_of_the_package(name, tmp_path):
    model, (_, test) = fitted(name), drawn()
    model.save(tmp_path / "model.hdsp")
    again = HDSP.load(tmp_path / "model.hdsp")
    np.testing.assert_array_equal(
        again.expected_topics(test.labels), model.expected_topics(test.labels)
    )
    pd.testing.assert_frame_equal(again.label_effects(), model.label_effects())


def test_files_hold_no_function_of_a_users_own(tmp_path):
    model = fitted("levelling")
    with pytest.raises(ValueError, match=r"cannot store the scaling function Custom.*joblib"):
        model.save(tmp_path / "model.hdsp")
    assert not (tmp_path / "model.hdsp").exists()
    joblib.dump(model, tmp_path / "model.joblib")
    again = joblib.load(tmp_path / "model.joblib")
    pd.testing.assert_frame_equal(again.label_effects(), model.label_effects())


@pytest.mark.parametrize("name", ["levelling", "Softplus", "Monotone"])
def test_a_page_computes_what_the_model_expects(name):
    model = fitted(name)
    form = form_view(model._model)
    label = model.label_schema_.slices()["price"].start
    table = form["tables"][label]
    (values, columns), (intercept, coefficients) = (
        [unpacked(one[key]) for key in keys]
        for one, keys in ((table, ("values", "columns")), (form, ("intercept", "coefficients")))
    )
    first = form["column"][label]
    score = intercept + columns @ coefficients[first : first + columns.shape[1]]
    dense = np.zeros((len(values), model._model.schema.n_labels))
    dense[:, label] = values
    expected = model._model.calibration.scores(model._model.space.design(csr_array(dense)))
    np.testing.assert_allclose(score, expected, atol=1e-5)


def unpacked(packed):
    import base64

    data = base64.b64decode(packed["data"])
    return np.frombuffer(data, dtype=packed["dtype"]).reshape(packed["shape"]).astype(float)


def test_documents_in_groups_have_wider_intervals_of_a_function():
    alone, together = fitted("Monotone"), fitted("Monotone", groups=True)
    factors = [model._model.calibration.joint[0].factor for model in (alone, together)]
    assert np.isfinite(factors[1]).all()
    degrees = together._model.calibration.degrees
    (part,) = together._model.space.functions
    assert (degrees[part.columns] > 10).all()


def problem(n_documents=120, seed=0):
    """A design of four columns, of which the second is a function's, and tokens of topics."""
    rng = np.random.default_rng(seed)
    design = csr_array(rng.normal(size=(n_documents, 4)) * (rng.random((n_documents, 4)) < 0.8))
    tokens = rng.poisson(6.0, size=(n_documents, 3)).astype(float)
    coefficients = 0.4 * rng.normal(size=(4, 3))
    return design, tokens, coefficients


def test_the_tangent_of_a_line_is_its_columns():
    design, tokens, coefficients = problem()
    columns, lengths = np.array([1, 3]), tokens.sum(axis=1)
    exclusive = np.zeros(4, dtype=bool)
    # A positive weight holds a topic back.
    weights = coefficients.copy()
    weights[columns] *= -1.0
    plain = Regression(np.array([0.1, -0.2, 0.3]), coefficients)
    part = FunctionColumns(Custom(log_scale=line), columns)
    own = replace(plain, coefficients=weights, functions=(part,))
    np.testing.assert_allclose(own.proportions(design), plain.proportions(design))
    tangent = measure_tangent(own, part, design, lengths, exclusive, 0.3, 10)
    centred, alone, _ = own_shares(design, lengths, exclusive, 0.3)
    np.testing.assert_allclose(tangent.about, information(plain, design, lengths)[0][columns])
    # Derivatives are differences; and what others explain has the ridge twice here, once there.
    for found, expected in ((tangent.centred, centred), (tangent.alone, alone)):
        np.testing.assert_allclose(found, np.tile(expected[columns, None], 3), rtol=1e-5)
    block = own_block(design, lengths, columns, 0.3, 10)
    np.testing.assert_allclose(
        tangent.block, block_information(plain, design, lengths, block), rtol=1e-6
    )
    clusters = Clusters.of(design, tokens, np.arange(len(lengths)) // 7)
    for found, expected in zip(
        tangent_scores(own, clusters, tangent), scores_by_group(plain, clusters, block), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_sweeps_of_a_function_raise_the_likelihood_to_its_maximum():
    design, tokens, coefficients = problem(400, seed=1)
    part = FunctionColumns(Custom(log_scale=levelling, n_weights=2), np.array([1, 3]))
    truth = 0.0 * coefficients
    truth[part.columns] = [[-1.0, 0.5, 1.5], [0.5, -0.2, 0.2]]
    share = Regression(np.zeros(3), truth, functions=(part,)).proportions(design)
    tokens = np.random.default_rng(0).poisson(20.0 * share).astype(float)
    forms = Forms((part,), coefficients, tokens)
    lengths, penalty = tokens.sum(axis=1), np.full((4, 3), 2.0)
    intercept = np.log(tokens.sum(axis=0) / tokens.sum())

    def found(coefficients):
        return Regression(intercept, coefficients, functions=(part,))

    def value(coefficients):
        share = found(coefficients).proportions(design)
        own = coefficients[part.columns]
        return (tokens * np.log(share)).sum() - (penalty[part.columns] * own**2).sum() / 2.0

    now = coefficients.copy()
    before = value(now)
    for _ in range(40):
        expected = lengths[:, None] * found(now).proportions(design)
        sweep_functions(forms, design, lengths, penalty, expected, now)
        np.testing.assert_array_equal(now[[0, 2]], coefficients[[0, 2]])
        after = value(now)
        assert after >= before - 1e-9
        before = after

    def loss(own):
        return -value(np.vstack([now[:1], own[None, :3], now[2:3], own[None, 3:]]))

    best = minimize(loss, now[part.columns].ravel(), method="L-BFGS-B")
    # Where all topics change alike, only the penalty tells, and steps are slow.
    assert before > -best.fun - 0.1
    again = now.copy()
    again[part.columns] = best.x.reshape(2, 3)
    np.testing.assert_allclose(
        found(now).proportions(design), found(again).proportions(design), atol=2e-3
    )
