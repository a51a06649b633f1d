"""The calibrated regression is the penalised maximum it claims to be."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array

from hdsp import HDSP, simulate
from hdsp.corpus import BlockSchema, Labels, LabelSchema
from hdsp.execution import InProcess
from hdsp.fit import Run, fit_batch, initial_state
from hdsp.model import Fit, LocalSettings, Priors, make_problem
from hdsp.prediction.calibration.calibrate import equal_weights, prepare_calibration
from hdsp.prediction.calibration.cross_fit import LeftOut, cross_fitted_tokens
from hdsp.prediction.calibration.learn import Documents, learn
from hdsp.prediction.calibration.regression import Regression, label_sets, observe, regress
from hdsp.prediction.calibration.shrinkage import prior_deviations
from hdsp.prediction.calibration.variance import feedback, overdispersion, read_with_shift
from hdsp.scaling import bind_labels
from tests.reference.softmax import penalised_loss


@given(seed=st.integers(0, 2**32 - 1), ridge=st.sampled_from([1.0, 30.0]))
def test_against_a_general_optimiser(seed, ridge):
    rng = np.random.default_rng(seed)
    design = (rng.random((40, 3)) < 0.5).astype(float)
    design[:, 2] = rng.normal(size=40)
    targets = rng.gamma(0.5, 10.0, size=(40, 4)) + 0.01

    def loss(flat):
        table = flat.reshape(4, 4)
        return penalised_loss(design, targets, ridge, table[0], table[1:])

    best = minimize(loss, np.zeros(16), method="L-BFGS-B").fun
    found = regress(csr_array(design), targets, ridge)
    ours = loss(np.vstack([found.intercept, found.coefficients]).ravel())
    nothing = loss(np.vstack([found.intercept, 0 * found.coefficients]).ravel())
    # Forty sweeps end within a percent of what labels can explain at all; never above nothing.
    assert ours - best <= 0.01 * (nothing - best) + 1e-3 * abs(best) ** 0.5
    assert ours <= nothing + 1e-6


def test_without_labels_it_is_the_share_of_tokens():
    targets = np.random.default_rng(0).gamma(1.0, size=(20, 3))
    found = regress(csr_array((20, 2)), targets, 30.0)
    share = targets.sum(axis=0) / targets.sum()
    np.testing.assert_allclose(found.proportions(csr_array((2, 2))), [share, share], rtol=1e-3)


def test_a_heavier_penalty_shrinks():
    rng = np.random.default_rng(0)
    design = csr_array((rng.random((60, 2)) < 0.5).astype(float))
    targets = rng.gamma(0.5, 10.0, size=(60, 3))
    size = [
        np.abs(regress(design, targets, ridge).coefficients).sum() for ridge in (1.0, 30.0, 1e6)
    ]
    assert size[0] > size[1] > size[2]
    assert size[2] == pytest.approx(0.0, abs=1e-2)


def test_the_penalty_balances_the_residuals():
    rng = np.random.default_rng(0)
    design = np.eye(2)[rng.integers(0, 2, size=60)]
    targets = rng.gamma(0.5, 10.0, size=(60, 3)) * np.where(design[:, :1], [3.0, 1.0, 1.0], 1.0)
    sparse = csr_array(design)
    found = regress(sparse, targets, ridge=500.0)
    lengths = targets.sum(axis=1, keepdims=True)
    residual = design.T @ (targets - lengths * found.proportions(sparse))
    # Forty sweeps in float32 with a penalty that lets them converge: thousandths are left.
    pull = 500.0 * found.coefficients
    np.testing.assert_allclose(pull, residual, atol=2e-3 * np.abs(pull).max())


def test_documents_with_the_same_labels_are_one_observation():
    rng = np.random.default_rng(0)
    design = np.column_stack([np.eye(3)[rng.integers(0, 3, 50)], rng.integers(0, 2, 50)])
    targets = rng.gamma(0.5, 10.0, size=(50, 4))
    apart = design.copy()
    # A label value that says next to nothing keeps every row apart from every other.
    apart[:, 3] += 1e-7 * np.arange(50)
    sets = label_sets(csr_array(design))
    assert sets.design.shape[0] < 15
    assert label_sets(csr_array(apart)).design.shape[0] == 50
    merged = regress(sets.design, sets.member @ targets, 30.0)
    single = regress(csr_array(apart), targets, 30.0)
    everywhere = csr_array(design)
    np.testing.assert_allclose(
        merged.proportions(everywhere), single.proportions(everywhere), atol=2e-3
    )


def test_a_document_without_words_changes_nothing():
    rng = np.random.default_rng(0)
    design = (rng.random((30, 3)) < 0.5).astype(float)
    design[0] = [1.0, 1.0, 0.37]
    targets = rng.gamma(0.5, 10.0, size=(30, 4))
    targets[0] = 0.0
    found = regress(csr_array(design), targets, 30.0)
    without = regress(csr_array(design[1:]), targets[1:], 30.0)
    np.testing.assert_allclose(found.coefficients, without.coefficients, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.intercept, without.intercept, rtol=1e-5)


@given(seed=st.integers(0, 2**32 - 1), n_documents=st.integers(40, 90))
def test_label_sets_partition_the_documents(seed, n_documents):
    rng = np.random.default_rng(seed)
    design = csr_array((rng.random((n_documents, 3)) < 0.5).astype(float))
    sets = label_sets(design)
    member = sets.member.toarray()
    np.testing.assert_array_equal(member.sum(axis=0), 1.0)
    # Every document has the labels of its group.
    group = member.argmax(axis=0)
    np.testing.assert_array_equal(sets.design.toarray()[group], design.toarray())
    assert len(set(map(tuple, sets.design.toarray()))) == len(member)


def test_where_all_labels_differ_groups_are_documents_in_order():
    design = csr_array(np.arange(1.0, 21.0)[:, None])
    np.testing.assert_array_equal(label_sets(design).member.toarray(), np.eye(20))


def test_no_more_label_sets_than_asked_for():
    design = csr_array(np.arange(1.0, 21.0)[:, None])
    sets = label_sets(design, most=5)
    assert sets.design.shape[0] == sets.member.shape[0] == 5
    np.testing.assert_array_equal(sets.member @ np.arange(1.0, 21.0), sets.design.toarray()[:, 0])


def labelled_tokens(strengths, seed=0, n_documents=1500, share=0.1):
    """Labels of given strengths, topics' tokens of documents that differ, and true weights."""
    rng = np.random.default_rng(seed)
    design = csr_array((rng.random((n_documents, len(strengths))) < share).astype(float))
    weights = rng.normal(size=(len(strengths), 6)) * np.array(strengths)[:, None]
    mean = np.exp(design @ weights)
    mean /= mean.sum(axis=1, keepdims=True)
    shares = np.array([rng.dirichlet(5.0 * row + 1e-6) for row in mean])
    tokens = np.array([rng.multinomial(60, row) for row in shares], dtype=np.float32)
    return design, tokens, weights


def learned(design, tokens, returned=0.0):
    """The regression on tags and its variances, if the share `returned` of errors returns."""
    names = tuple(f"t{j}" for j in range(design.shape[1]))
    space = bind_labels("auto", LabelSchema((BlockSchema("tags", "tags", names),)))
    found = learn(
        Documents(design, observe(design, tokens), np.empty_like(tokens), design, tokens),
        space,
        lambda found: np.full(found.coefficients.shape, returned),
    ).calibration
    return found, found.variance


def test_labels_without_effect_are_shrunk_and_strong_ones_are_not():
    strengths = [0.0] * 6 + [1.5] * 6
    design, tokens, _ = labelled_tokens(strengths)
    found, variance = learned(design, tokens)
    plain = regress(design, tokens, 1.0)
    null, strong = slice(0, 6), slice(6, 12)
    size = np.abs(found.coefficients).mean(axis=1) / np.abs(plain.coefficients).mean(axis=1)
    # With six topics, coefficients without effect still allow for some.
    assert size[null].mean() < 0.75
    assert size[strong].mean() > 0.95
    assert variance[null].mean() < 0.5 * variance[strong].mean()


def test_errors_that_return_widen_and_shrink():
    design, tokens, _ = labelled_tokens([0.5] * 4)
    found, variance = learned(design, tokens)
    widened, wider = learned(design, tokens, returned=0.5)
    # An error counts twice, and its variance four times, up to what the label may have at most.
    assert ((wider / variance > 1.5) & (wider / variance < 4.0)).all()
    assert np.abs(widened.coefficients).mean() < np.abs(found.coefficients).mean()


def test_spreads_are_the_upper_limits_of_what_is_likely():
    """Nine in ten labels have coefficients that vary less, whatever the estimates' errors."""
    rng = np.random.default_rng(0)
    true = rng.uniform(0.1, 1.5, size=2000)
    for error in (0.01, 0.5):
        coefficients = true[:, None] * rng.normal(size=(2000, 20))
        estimates = coefficients + np.sqrt(error) * rng.normal(size=(2000, 20))
        found = prior_deviations(estimates**2, np.full((2000, 20), error), np.arange(2000))
        # 2,000 labels: a standard error of .007. The true values stop short of the grid's ends.
        assert 0.87 <= np.mean(found > true) <= 0.95


def test_labels_without_any_document_may_do_anything():
    found = prior_deviations(np.zeros((1, 3)), np.full((1, 3), 1e12), np.zeros(1, dtype=int))
    # The 90 % limit of a uniform distribution from 0 to the grid's last edge, 3.3.
    assert found[0] == pytest.approx(0.9 * 3.3, rel=0.02)


def test_a_precise_null_is_shrunk_nearly_to_nothing():
    rng = np.random.default_rng(0)
    squares = 1e-4 * rng.normal(size=(1, 50)) ** 2
    assert prior_deviations(squares, np.full((1, 50), 1e-4), np.zeros(1, dtype=int))[0] < 0.04


def test_columns_of_a_group_are_judged_together():
    """One deviation for the group: that of all its coefficients in one row."""
    rng = np.random.default_rng(0)
    squares, error = rng.gamma(1.0, size=(5, 8)), rng.gamma(1.0, size=(5, 8))
    found = prior_deviations(squares, error, np.array([0, 1, 1, 1, 2]))
    alone = prior_deviations(squares, error, np.arange(5))
    joined = prior_deviations(
        squares[1:4].reshape(1, -1), error[1:4].reshape(1, -1), np.zeros(1, dtype=int)
    )
    np.testing.assert_allclose(found, [alone[0], *[joined[0]] * 3, alone[4]])


@pytest.mark.parametrize("carriers", [40, 300])
def test_intervals_of_labels_that_go_together(carriers):
    """Of two tags that share nine in ten documents, each is hardly known."""
    inside = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        first = np.zeros(1000)
        first[:carriers] = 1.0
        second = np.roll(first, carriers // 10)
        weights = rng.normal(size=(2, 20))
        mean = np.exp(np.column_stack([first, second]) @ weights)
        shares = [rng.dirichlet(5.0 * row / row.sum() + 1e-6) for row in mean]
        tokens = np.array([rng.multinomial(40, share) for share in shares], dtype=np.float32)
        found, variance = learned(csr_array(np.column_stack([first, second])), tokens)
        error = found.coefficients - weights
        error -= error.mean(axis=1, keepdims=True)
        inside.append(np.abs(error) < 1.645 * np.sqrt(variance))
    # 240 weights, a standard error of .03. Of few documents, what is known beforehand counts for
    # part of what is known of each: fewer than nine in ten.
    assert 0.78 <= np.mean(inside) <= 0.98


def read_problem(topics, n_tokens=(30, 30), seed=0, n_documents=300):
    """Documents of tags a and b in turn, of so many tokens, with words from `topics` [T, V].

    And a state with these topics.
    """
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(len(topics), 0.5), size=n_documents)
    lengths = np.resize(n_tokens, n_documents)
    counts = np.array(
        [rng.multinomial(n, share @ topics) for n, share in zip(lengths, shares, strict=True)]
    )
    labels = Labels.from_tags([["ab"[m % 2]] for m in range(n_documents)])
    schema = LabelSchema.of(labels)
    priors = Priors(0.05, (1.0, 1.0), (1.0, 0.01))
    problem = make_problem(
        csr_array(counts.astype(float)),
        schema.encode(labels),
        bind_labels("auto", schema).scaling,
        priors,
    )
    state = initial_state(problem, len(topics), "random", 1.0, 0.5 * len(topics), rng)
    return problem, replace(state, topics=(1e4 * topics.T + 0.05).astype(state.topics.dtype))


def flat(state):
    return Regression(np.log(state.topic_weight), np.zeros((2, state.n_topics)))


def test_nothing_returns_where_words_tell_topics_apart():
    problem, state = read_problem(np.kron(np.eye(3), np.full(4, 0.25)))
    np.testing.assert_allclose(feedback(problem, state, flat(state)), 0.0, atol=0.02)


def test_everything_returns_where_topics_are_alike(monkeypatch):
    """Words say nothing of topics then, and documents follow their labels."""
    problem, state = read_problem(np.full((3, 12), 1 / 12))
    monkeypatch.setattr("hdsp.prediction.calibration.variance._LARGEST", 0.99)
    np.testing.assert_allclose(feedback(problem, state, flat(state)), 0.99, atol=0.06)
    monkeypatch.undo()
    # The largest part that is used.
    np.testing.assert_allclose(feedback(problem, state, flat(state)), 0.8, atol=1e-6)


def test_more_returns_in_short_documents():
    topics = np.random.default_rng(1).dirichlet(np.full(40, 0.3), size=4)
    problem, state = read_problem(topics, n_tokens=(5, 200))
    short, long = feedback(problem, state, flat(state)).mean(axis=1)
    assert short > 5 * long > 0


def test_a_label_of_no_sampled_document_has_what_all_have():
    topics = np.random.default_rng(1).dirichlet(np.full(40, 0.3), size=4)
    problem, state = read_problem(topics)
    some = problem.take(np.arange(0, 300, 2))
    found = feedback(some, state, flat(state))
    np.testing.assert_allclose(found[1], found[0])


def test_errors_grow_by_what_returns():
    """Weights learned to the fixed point vary as much more as `feedback` says."""
    rng = np.random.default_rng(5)
    one, other = rng.dirichlet(np.full(40, 0.3), size=2)
    own = rng.dirichlet(np.full(40, 0.3), size=4)
    topics = 0.65 * np.array([one, one, other, other]) + 0.35 * own
    direct, settled, parts = [], [], []
    for seed in range(25):
        problem, state = read_problem(topics, seed=seed)
        weights = np.zeros((2, 4))
        for number in range(12):
            tokens = read_with_shift(problem, state, problem.design @ weights)
            found = regress(problem.design, tokens.astype(np.float32), 0.5, 20)
            weights = found.coefficients - found.coefficients.mean(axis=1, keepdims=True)
            if number == 0:
                direct.append(weights)
        settled.append(weights)
        if seed < 4:
            parts.append(feedback(problem, state, found))
    grown = np.std(settled, axis=0) / np.std(direct, axis=0)
    said = 1.0 / (1.0 - np.mean(parts))
    # 25 corpora: a standard error of 3 % of the mean ratio, whose parts are correlated. What is
    # said is of single topics, and topics that are alike return more to one another.
    assert said == pytest.approx(grown.mean(), rel=0.15)
    assert said > 1.15


def test_documents_weigh_the_same_whatever_their_length():
    """A level's long documents have another topic than its short ones."""
    n_documents = 400
    levels = np.array(["a", "b"])[np.arange(n_documents) % 2]
    long = np.arange(n_documents) % 8 < 2
    words = np.where(long, 0, 10) + np.random.default_rng(0).integers(10, size=(200, n_documents))
    counts = np.zeros((n_documents, 20))
    for m in range(n_documents):
        np.add.at(counts[m], words[: 200 if long[m] else 20, m], 1)
    model = HDSP(2, fixed_number=True, random_state=0).fit(
        counts, labels=pd.DataFrame({"level": levels})
    )
    asked = pd.DataFrame({"level": ["a"]})
    about_long = int(model.components_[:, :10].sum(axis=1).argmax())
    by_document = model.expected_topics(asked)[0, about_long]
    by_token = model.expected_topics(asked, weight="tokens")[0, about_long]
    assert by_document == pytest.approx(0.25, abs=0.02)
    assert by_token == pytest.approx(200 / (200 + 3 * 20), abs=0.02)
    seen = model.transform(counts, labels=pd.DataFrame({"level": levels}))
    assert by_document == pytest.approx(seen[levels == "a", about_long].mean(), abs=0.03)
    for weight, expected in (("documents", by_document), ("tokens", by_token)):
        table = model.label_effects(weight=weight, labels="a")
        assert table["expected"][about_long] == pytest.approx(expected, abs=1e-6)
    with pytest.raises(ValueError, match=r"`weight` of HDSP\.label_effects must be"):
        model.label_effects(weight="words")
    with pytest.raises(ValueError, match=r"`weight` of HDSP\.expected_topics must be"):
        model.expected_topics(asked, weight="words")


def test_a_document_without_words_weighs_nothing():
    weight = equal_weights(np.array([0.0, 10.0, 30.0]))
    np.testing.assert_allclose(weight, [0.0, 2.0, 2.0 / 3.0])
    np.testing.assert_array_equal(equal_weights(np.zeros(2)), 0.0)


@pytest.mark.parametrize("share", [0.3, 0.02])
def test_posterior_variances_hold_the_true_weights(share):
    """Common labels, and labels of thirty documents; weights up to a constant of the label."""
    inside = []
    for seed in range(6):
        design, tokens, weights = labelled_tokens([1.0] * 5, seed, share=share)
        found, variance = learned(design, tokens)
        error = found.coefficients - weights
        error -= np.average(error, axis=1, weights=None)[:, None]
        inside.append(np.abs(error) < 1.645 * np.sqrt(variance))
    # 180 weights, some of them correlated: a standard error of 0.03.
    assert 0.82 <= np.mean(inside) <= 0.98


@pytest.mark.parametrize("n_documents", [1, 2])
def test_few_documents_are_enough(n_documents):
    design = csr_array(np.ones((n_documents, 1)))
    found, variance = learned(design, np.ones((n_documents, 3), dtype=np.float32))
    assert np.isfinite(found.coefficients).all()
    assert (variance > 0).all()


def test_overdispersion_is_one_by_chance_and_more_where_documents_differ():
    rng = np.random.default_rng(0)
    share = np.array([0.5, 0.3, 0.2])
    design = csr_array((3000, 0))
    regression = Regression(np.log(share), np.zeros((0, 3)))
    by_chance = rng.multinomial(40, share, size=3000)
    # 3,000 documents: a standard error of 1/40.
    np.testing.assert_allclose(overdispersion(regression, design, by_chance), 1.0, atol=0.1)
    uneven = np.array([rng.multinomial(40, p) for p in rng.dirichlet(7.0 * share, size=3000)])
    # A Dirichlet of concentration A multiplies the variance by (N + A) / (1 + A).
    np.testing.assert_allclose(overdispersion(regression, design, uneven), 47 / 8, rtol=0.1)


def test_a_fit_is_calibrated_by_its_documents():
    """Label sets and padded arrays give what the documents themselves give, read as new ones."""
    rng = np.random.default_rng(0)
    n_documents = 120
    frame = pd.DataFrame(
        {
            "tags": pd.Series(
                [list(np.array(["a", "b"])[rng.random(2) < 0.4]) for _ in range(120)]
            ),
            "kind": rng.choice(["x", "y"], size=n_documents),
            "size": rng.normal(size=n_documents),
        }
    )
    corpus, _ = simulate(frame, n_topics=4, n_words=30, document_length=40, random_state=1)
    schema = LabelSchema.of(corpus.labels)
    space = bind_labels("auto", schema)
    design = schema.encode(corpus.labels)
    priors = Priors(0.05, (1.0, 1.0), (1.0, 0.01))
    problem = make_problem(corpus.counts, design, space.scaling, priors)
    start = initial_state(problem, 5, "nmf", 1.0, 20.0, rng)
    run = Run(5, tol=0.0)
    fit = fit_batch(problem, start, run, run.new_history())
    member = csr_array(np.eye(n_documents, dtype=np.float32))
    alone = Fit(fit.state, None)
    read = cross_fitted_tokens(
        alone, member, LeftOut(problem, alone.state, LocalSettings(), InProcess())
    )
    tokens = read[:, :5].astype(float)
    np.testing.assert_array_equal(space.indicator, [True, True, True, True, False])
    np.testing.assert_array_equal(space.n_levels, [0, 0, 2, 2, 0])
    by_document, found = prepare_calibration(problem, fit, space, Run())()
    lengths = tokens.sum(axis=1)

    def learn_from(tokens):
        given = observe(problem.design, tokens)
        room = np.empty_like(tokens, dtype=np.float32)
        return learn(
            Documents(problem.design, given, room, problem.design, tokens),
            space,
            lambda regression: feedback(problem, fit.state, regression),
        ).calibration

    own = learn_from(tokens)
    # Where documents weigh the same, each has the mean number of tokens, in its own proportions.
    equal = learn_from(lengths.mean() * tokens / lengths[:, None])
    theta = by_document.proportions(problem.design)
    np.testing.assert_allclose(theta, equal.proportions(problem.design), atol=5e-3)
    # It starts elsewhere, and what returns is weighted alike.
    np.testing.assert_allclose(by_document.variance, equal.variance, rtol=0.15)
    # Tokens are in single precision, and sums in another order.
    np.testing.assert_allclose(found.coefficients, own.coefficients, atol=2e-3)
    np.testing.assert_allclose(found.variance, own.variance, rtol=5e-3)
    theta = found.proportions(problem.design)
    dense = problem.design.toarray().astype(float)
    np.testing.assert_allclose(
        found.label_tokens, dense.T @ (lengths[:, None] * theta), rtol=1e-4, atol=1e-3
    )
    np.testing.assert_allclose(found.label_tokens, own.label_tokens, rtol=5e-3, atol=1e-2)
