"""Effects of labels that a fit did not have: against the fit's own, and documents' means."""

from copy import copy

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from hdsp import HDSP, Corpus, TopicRegression
from hdsp.answers.label_effects import adjusted, chances
from hdsp.exceptions import FewGroupsWarning
from hdsp.prediction import is_training

M, T, V = 500, 4, 120


def draw(seed, interaction=False, bend=0.0, groups=0):
    """Documents whose topics follow a number x, a category and their groups."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.uniform(-1.0, 1.0, M),
            "side": rng.choice(["left", "right"], M, p=[0.7, 0.3]),
            "null": rng.choice(["a", "b"], M),
            "blog": [f"blog {n}" for n in rng.permutation(M) % 25],
        }
    )
    right = (frame["side"] == "right").to_numpy()
    slope = np.where(right, -1.0, 1.0) if interaction else 1.0
    x = frame["x"].to_numpy()
    score = np.column_stack([slope * x + bend * x**2, -slope * x, 0.7 * right, 0.0 * x])
    score += 0.5 * rng.normal(size=score.shape)
    if groups:
        number = frame["blog"].str[5:].astype(int).to_numpy()
        score += groups * rng.normal(size=(25, T))[number]
        # Constant within blogs, and without an effect.
        frame["owner"] = np.where(number % 2, "odd", "even")
    share = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    topics = np.random.default_rng(0).dirichlet(np.full(V, 0.05), size=T)
    counts = np.array([rng.multinomial(60, row / row.sum()) for row in share @ topics])
    return Corpus(counts, labels=frame)


def fitted(corpus, labels=None, **options):
    model = HDSP(T, fixed_number=True, random_state=0, n_jobs=1, max_iter=40, **options)
    chosen = None if labels is None else corpus.labels.select(labels)
    return model.fit(Corpus(corpus.counts, corpus.words, chosen))


@pytest.fixture(scope="module")
def corpus():
    return draw(1)


@pytest.fixture(scope="module")
def model(corpus):
    return fitted(corpus)


@pytest.fixture(scope="module")
def found(model, corpus):
    return model.estimate_effects(corpus, "~ side + x")


def test_labels_of_the_fit_have_the_effects_that_they_have_in_it(corpus):
    own = fitted(corpus, ["side", "x"])
    again = own.estimate_effects(corpus, "~ side + x").effects()
    first = own.label_effects()
    assert list(again["label"]) == list(first["label"])
    np.testing.assert_allclose(again["effect"], first["effect"], atol=0.01)
    np.testing.assert_allclose(again["upper"], first["upper"], atol=0.015)


def test_labels_that_the_fit_lacked_have_effects(found, model, corpus):
    assert isinstance(found, TopicRegression)
    assert repr(found) == "TopicRegression('~ side + x', 500 documents, 3 labels)"
    assert found.label_names == ("x", "left", "right")
    table = found.effects(labels="x")
    shown = [*model.label_effects().columns, "p"]
    assert list(table.columns) == shown
    true = fitted(corpus, ["side", "x"]).label_effects(labels="x")["effect"]
    np.testing.assert_allclose(sorted(table["effect"]), sorted(true), atol=0.03)
    sure = (table["lower"] > 0) | (table["upper"] < 0)
    np.testing.assert_array_equal(table["p"] < 0.1, sure)
    assert sure.sum() >= 2


def test_results_do_not_depend_on_the_number_of_threads(found, model, corpus):
    two = copy(model).set_params(n_jobs=2).estimate_effects(corpus, "~ side + x")
    pd.testing.assert_frame_equal(two.effects(), found.effects())


def test_training_documents_are_told_from_others(model, corpus):
    assert is_training(model._model, corpus.counts)
    assert is_training(model._model, corpus.counts[::-1])
    assert not is_training(model._model, corpus.counts[:400])
    other = draw(2)
    assert not is_training(model._model, other.counts)
    new = model.estimate_effects(other, "~ side + x").effects(labels="x")
    assert (new["p"] < 0.05).sum() >= 2


def test_levels_have_the_means_of_documents(found):
    table = found.levels("side")
    assert list(table["value"].unique()) == ["left", "right"]
    np.testing.assert_allclose(table.groupby("value")["expected"].sum(), 1.0, atol=1e-9)
    # x is about the same on both sides.
    np.testing.assert_allclose(table["expected"], table["observed"], atol=0.02)
    assert table["n_documents"].unique().tolist() == [331, 169]
    assert ((table["lower"] < table["expected"]) & (table["expected"] < table["upper"])).all()


def test_intervals_of_levels_are_those_of_means(model, corpus):
    """A label without an effect leaves the error of its documents' mean, or of all documents."""
    found = model.estimate_effects(corpus, "~ null")
    table = found.levels("null")
    half = (table["upper"] - table["lower"]).to_numpy().reshape(2, T) / 2
    share = found._documents.proportions
    alone = 1.645 * share.std(axis=0) / np.sqrt(M / 2)
    assert (half < 1.6 * alone).all()
    assert (half > 0.6 * alone).all()


def test_curves_pass_through_the_documents(found):
    table = found.curve("x", n=5)
    assert len(table) == 5 * T
    assert table.groupby("value")["n_documents"].first().sum() == M
    middle = table[table["value"].between(-0.6, 0.6)]
    np.testing.assert_allclose(middle["expected"], middle["observed"], atol=0.05)
    assert (table["lower"] >= 0).all()
    by = found.curve("x", by="side", n=3)
    assert list(by["side"].unique()) == ["left", "right"]
    assert by.groupby(["side", "value"])["n_documents"].first().sum() == M


def test_a_number_is_shown_at_its_values_or_at_quantiles(model, corpus):
    frame = pd.DataFrame({"x": np.arange(M) % 3, "y": np.linspace(0.0, 1.0, M)})
    found = model.estimate_effects(Corpus(corpus.counts, corpus.words, frame), "~ x + s(y)")
    assert found.levels("x")["value"].unique().round(6).tolist() == [0.0, 1.0, 2.0]
    np.testing.assert_allclose(
        found.levels("y")["value"].unique(), [0.1, 0.25, 0.5, 0.75, 0.9], atol=0.02
    )


def test_differences_of_effects():
    corpus = draw(3, interaction=True)
    model = fitted(corpus)
    found = model.estimate_effects(corpus, "~ side * x")
    table = found.differences("x", by="side")
    assert list(table.columns[:3]) == ["label", "contrast", "by"]
    np.testing.assert_allclose(table.groupby("by")["difference"].sum(), 0.0, atol=1e-9)
    one, other = (table[table["by"].str.startswith(side)] for side in ("left", "right"))
    # Of two sides, each differs from the other one.
    np.testing.assert_allclose(one["difference"], -other["difference"].to_numpy(), atol=1e-9)
    assert ((one["lower"] > 0) | (one["upper"] < 0)).sum() >= 2
    without = model.estimate_effects(corpus, "~ side + x").differences("x", by="side")
    assert without["difference"].abs().max() < one["difference"].abs().max() / 3
    # The direction in the smaller part of documents.
    curve = found.curve("x", by="side", n=2)
    rise = {
        side: own.sort_values(["topic", "value"])["expected"].to_numpy().reshape(T, 2)
        for side, own in curve.groupby("side")
    }
    change = {side: own[:, 1] - own[:, 0] for side, own in rise.items()}
    clear = np.abs(change["left"]) > 0.1
    assert clear.any()
    assert (change["left"] * change["right"] < 0)[clear].all()


def test_groups_by_the_name_of_a_column():
    corpus = draw(4, groups=1.0)
    model = fitted(corpus)
    with pytest.warns() as caught:
        model.estimate_effects(corpus, "~ owner + blog")
    said = " ".join(str(warning.message) for warning in caught)
    assert "'blog' determines 'owner'" in said
    assert "'blog' are alike beyond what their 'owner'" in said
    alone = model.estimate_effects(corpus, "~ owner")
    found = model.estimate_effects(corpus, "~ owner", groups="blog")
    assert found.n_groups == 25
    assert found.label_names == ("even", "odd")
    assert repr(found).endswith("500 documents in 25 groups, 2 labels)")
    width, narrow = ((t["upper"] - t["lower"]).mean() for t in (found.effects(), alone.effects()))
    assert width > 1.5 * narrow
    level, apart = (
        (t["upper"] - t["lower"]).mean() for t in (found.levels("owner"), alone.levels("owner"))
    )
    assert level > 1.5 * apart
    names = [f"blog {n}" for n in range(25)]
    codes = np.array([names.index(blog) for blog in _values(corpus, "blog")])
    same = model.estimate_effects(corpus.with_groups(_values(corpus, "blog")), "~ owner")
    pd.testing.assert_frame_equal(same.effects(), found.effects())
    with pytest.warns(FewGroupsWarning, match="documents of HDSP.estimate_effects come in 5"):
        model.estimate_effects(corpus, "~ owner", groups=codes % 5)
    # "auto" takes all labels but the groups.
    auto = model.estimate_effects(corpus, groups="blog")
    assert not any(name.startswith("blog") for name in auto.label_names)


def _values(corpus, name):
    block = corpus.labels.block(name)
    return [block.columns[j] for j in block.values.indices]


def test_p_values():
    np.testing.assert_allclose(
        chances(np.array([1.96, -1.0]), np.ones(2), None), [0.05, 0.3173], atol=1e-3
    )
    # An error whose nine tenths are those of t: p is that of t.
    error = stats.t.ppf(0.95, 5) / stats.norm.ppf(0.95)
    p = chances(np.array([[2.5]]), np.array([[error]]), np.array([[5.0]]))
    np.testing.assert_allclose(p, 2 * stats.t.sf(2.5, 5), rtol=1e-6)
    chance = np.array([[0.01, 0.04, 0.03], [0.5, 0.9, 0.8]])
    np.testing.assert_array_equal(adjusted(chance, None), chance)
    np.testing.assert_allclose(adjusted(chance, "holm"), [[0.03, 0.06, 0.06], [1.0, 1.0, 1.0]])
    np.testing.assert_allclose(adjusted(chance, "fdr"), [[0.03, 0.04, 0.04], [0.9, 0.9, 0.9]])


def test_adjusted_p_values(found):
    plain, holm = found.effects()["p"], found.effects(adjust="holm")["p"]
    assert (holm >= plain).all()
    assert (holm > plain).any()


def test_tokens_weigh_by_their_number(model, corpus):
    tokens = model.estimate_effects(corpus, "~ side", weight="tokens")
    table = tokens.levels("side")
    rows = np.array(_values(corpus, "side")) == "left"
    own = tokens._documents.tokens[rows].sum(axis=0)
    np.testing.assert_allclose(table["observed"][:T], own / own.sum(), rtol=1e-5)


def test_merged_topics_are_sums(model, corpus, found):
    merged = model.merged([0, 1]).estimate_effects(corpus, "~ side + x")
    both = found.levels("side")["expected"].to_numpy().reshape(2, T)
    own = merged.levels("side")["expected"].to_numpy().reshape(2, T - 1)
    np.testing.assert_allclose(own.max(axis=1), both[:, :2].sum(axis=1), atol=1e-9)


def test_the_library_of_tables(corpus):
    frame = pytest.importorskip("polars").DataFrame({"side": _values(corpus, "side")})
    model = HDSP(T, fixed_number=True, random_state=0, max_iter=5, tol=1.0)
    model.fit(corpus.counts, labels=frame)
    found = model.estimate_effects(Corpus(corpus.counts, model.words_, frame), "~ side")
    assert type(found.effects()).__module__.startswith("polars")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m, c: m.estimate_effects(c.counts, "~ x"), TypeError, "must be a Corpus. Got csr"),
        (
            lambda m, c: m.estimate_effects(Corpus(c.counts[:, 1:], c.words[1:]), "~ x"),
            ValueError,
            "`corpus` of HDSP.estimate_effects has other words than the model: 119 against 120",
        ),
        (lambda m, c: m.estimate_effects(c, "~ y"), ValueError, "'y', which no label is called"),
        (
            lambda m, c: m.estimate_effects(c, "~ x", groups="none"),
            ValueError,
            "`groups` of HDSP.estimate_effects must name a category or a number of the corpus, or "
            "hold one value per document. Got 'none'; there are 'x', 'side', 'null', 'blog'",
        ),
        (
            lambda m, c: m.estimate_effects(c, "~ x", weight="words"),
            ValueError,
            "`weight` of HDSP.estimate_effects",
        ),
        (
            lambda m, c: m.estimate_effects(c, "~ x").curve("side"),
            ValueError,
            "`label` of TopicRegression.curve must be a column of labels that has effects: 'x'. "
            "Got 'side'",
        ),
        (
            lambda m, c: m.estimate_effects(c, "~ side").curve("side"),
            ValueError,
            "`label` of TopicRegression.curve must be a number. 'side' is of kind category",
        ),
        (
            lambda m, c: m.estimate_effects(c, "~ side + x").curve("x", by="x"),
            ValueError,
            "`by` of TopicRegression.curve must be a category of the formula: 'side'. Got 'x'",
        ),
        (
            lambda m, c: m.estimate_effects(c, "~ side").differences("left", by="right"),
            ValueError,
            "`by` of TopicRegression.differences must be another label than `label`. Got 'right'",
        ),
        (
            lambda m, c: m.estimate_effects(c, "~ side").effects(adjust="sidak"),
            ValueError,
            "`adjust` of TopicRegression.effects",
        ),
        (
            lambda m, c: m.estimate_effects(c, "~ side").effects(labels="z"),
            ValueError,
            "`labels` of TopicRegression.effects names 'z'",
        ),
    ],
)
def test_refusals(model, corpus, call, error, message):
    with pytest.raises(error) as caught:
        call(model, corpus)
    assert message in str(caught.value)
