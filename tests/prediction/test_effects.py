"""Effects of labels: against their definition, and what must not matter."""

import warnings
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import norm

from hdsp import HDSP, ExtrapolationWarning, Labels, simulate
from hdsp.corpus import LabelSchema
from hdsp.kernels import use_threads
from hdsp.prediction import effects, sides
from hdsp.prediction.calibration import Calibration, Regression
from hdsp.prediction.calibration.variance import own_shares
from hdsp.prediction.contrasts import make_contrasts
from hdsp.prediction.effects import DRAWS, drawn_error, drawn_limits, draws_of, label_effects
from hdsp.prediction.sides import expected_sides
from hdsp.scaling import bind_labels

TAGS = ("red", "green", "blue")
LEVELS = ("north", "south", "west")


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="HDSP stopped after")
        yield


def table(seed=0, n_documents=60):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "colour": pd.Series(
                [list(np.array(TAGS)[rng.random(3) < 0.4]) for _ in range(n_documents)]
            ),
            "place": [
                None if rng.random() < 0.1 else str(rng.choice(LEVELS)) for _ in range(n_documents)
            ],
            "size": np.where(rng.random(n_documents) < 0.1, np.nan, rng.normal(size=n_documents)),
        }
    )


def parts(seed=0):
    """A schema, a design and a regression of four topics."""
    labels = Labels.from_frame(table(seed))
    schema = LabelSchema.of(labels)
    rng = np.random.default_rng(seed)
    regression = Regression(rng.normal(size=4), rng.normal(size=(schema.n_labels, 4)))
    return schema, schema.encode(labels), regression


def all_used(schema):
    return np.ones(schema.n_labels, dtype=bool)


@given(seed=st.integers(0, 1000))
def test_effects_are_mean_differences_of_expected_proportions(seed):
    schema, design, regression = parts(seed)
    dense = design.toarray()
    contrasts = make_contrasts(schema, all_used(schema), None, None)
    first, second = expected_sides(regression, bind_labels("auto", schema), design, contrasts)
    places = schema.slices()["place"]
    frequency = dense[:, places].sum(axis=0)

    def mean(rows):
        return regression.proportions(csr_array(rows)).mean(axis=0)

    def at(column):
        rows = dense.copy()
        rows[:, places] = 0.0
        rows[:, column] = 1.0
        return mean(rows)

    for number, contrast in enumerate(contrasts):
        j = contrast.second
        before, after = dense.copy(), dense.copy()
        if contrast.block == "colour":
            before[:, j], after[:, j] = 0.0, 1.0
            expected = mean(before), mean(after)
        elif contrast.block == "size":
            after[:, j] += 1.0
            expected = mean(before), mean(after)
        else:
            others = [c for c in range(places.start, places.stop) if c != j]
            weight = np.array([frequency[c - places.start] for c in others])
            expected = np.array([at(c) for c in others]).T @ weight / weight.sum(), at(j)
        np.testing.assert_allclose(first[number], expected[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(second[number], expected[1], rtol=1e-9, atol=1e-12)


def test_contrasts_of_two_levels_and_of_two_values():
    schema, design, regression = parts()
    dense = design.toarray()
    levels = make_contrasts(schema, all_used(schema), "place", ("south", "north"))
    first, second = expected_sides(regression, bind_labels("auto", schema), design, levels)
    for side, level in ((first, "south"), (second, "north")):
        rows = dense.copy()
        rows[:, schema.slices()["place"]] = 0.0
        rows[:, schema.names.index(level)] = 1.0
        np.testing.assert_allclose(side[0], regression.proportions(csr_array(rows)).mean(axis=0))
    block = schema.block("size")
    values = make_contrasts(schema, all_used(schema), "size", (-1.0, 2.0))
    first, second = expected_sides(regression, bind_labels("auto", schema), design, values)
    for side, value in ((first, -1.0), (second, 2.0)):
        rows = dense.copy()
        rows[:, schema.slices()["size"]] = (value - block.mean[0]) / block.scale[0]
        np.testing.assert_allclose(side[0], regression.proportions(csr_array(rows)).mean(axis=0))


def effects_of(schema, design, regression, spread=0.3, level=0.9, seed=0, labels=None):
    def draw(column, stream, n_draws):
        return regression.coefficients[column] + spread * stream.normal(size=(n_draws, 4))

    given = SimpleNamespace(draw=draw, joint=())
    space = bind_labels("auto", schema)
    contrasts = make_contrasts(schema, all_used(schema), labels, None)
    found = label_effects(regression, draws_of(given, space, seed), space, design, contrasts, level)
    return {c.label: n for n, c in enumerate(contrasts)}, found


def test_many_labels_are_drawn_in_parts_and_on_threads(monkeypatch):
    schema, design, regression = parts()
    _, whole = effects_of(schema, design, regression)
    monkeypatch.setattr(effects, "_CONTRASTS_AT_ONCE", 2)
    monkeypatch.setattr(sides, "_CONTRASTS_AT_ONCE", 3)
    with use_threads(2):
        _, found = effects_of(schema, design, regression)
    for name in ("otherwise", "expected", "lower", "upper", "error"):
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name), rtol=0, atol=1e-6)
    with use_threads(1):
        _, again = effects_of(schema, design, regression)
    np.testing.assert_array_equal(found.lower, again.lower)


def test_the_order_of_labels_does_not_matter():
    schema, design, regression = parts()
    rows, found = effects_of(schema, design, regression)
    frame = table()
    frame["colour"] = frame["colour"].map(lambda tags: tags[::-1])
    labels = Labels.from_frame(frame[["size", "place", "colour"]].iloc[::-1])
    other = LabelSchema.of(labels)
    order = [schema.names.index(name) for name in other.names]
    assert order != sorted(order)
    moved = Regression(regression.intercept, regression.coefficients[order])
    # The same documents in the same order: only labels have moved.
    other_rows, other_found = effects_of(other, other.encode(Labels.from_frame(frame)), moved)
    for name, row in rows.items():
        for side in ("effect", "lower", "upper"):
            ours, theirs = getattr(found, side)[row], getattr(other_found, side)[other_rows[name]]
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_a_label_alone_has_the_interval_that_it_has_among_others():
    schema, design, regression = parts()
    rows, found = effects_of(schema, design, regression)
    for name in schema.names:
        _, alone = effects_of(schema, design, regression, labels=name)
        for side in ("effect", "lower", "upper"):
            ours, theirs = getattr(found, side)[rows[name]], getattr(alone, side)[0]
            # Products of matrices of other shapes may add in another order.
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("scaling", "width"), [("auto", 1), ("~ place * size", 2)])
def test_of_many_levels_only_those_of_documents_are_drawn(scaling, width, monkeypatch):
    levels = [f"level{i:03}" for i in range(60)]
    labels = pd.DataFrame({"place": levels * 2, "size": np.arange(120.0)})
    counts = np.random.default_rng(0).poisson(1.0, (120, 6)) + 1
    settings = {"fixed_number": True, "random_state": 0, "init": "nmf", "max_iter": 3}
    model = HDSP(3, scaling=scaling, **settings).fit(counts, labels=labels)
    drawn, original = [], effects.make_sides

    def make_sides(*arguments):
        found = original(*arguments)
        drawn.append(sum(len(sides.columns) for _, sides in found))
        return found

    monkeypatch.setattr(effects, "make_sides", make_sides)
    monkeypatch.setattr(effects, "_DOCUMENTS_PER_DRAW", 20)
    found = model.label_effects(labels="level000")
    assert 10 < drawn[-1] <= width * 21
    whole = model.label_effects()
    own = whole[whole["label"] == "level000"]
    assert drawn[-1] >= width * 60
    for name in ("effect", "lower", "upper"):
        np.testing.assert_allclose(found[name], own[name], rtol=1e-4, atol=1e-7)


def test_intervals_hold_the_effect_and_widen_with_level_and_variance():
    schema, design, regression = parts()
    _, narrow = effects_of(schema, design, regression, level=0.5)
    _, wide = effects_of(schema, design, regression, level=0.9)
    _, unsure = effects_of(schema, design, regression, spread=0.9)
    assert (wide.lower <= narrow.lower).all()
    assert (narrow.upper <= wide.upper).all()
    assert (unsure.upper - unsure.lower).mean() > 1.3 * (wide.upper - wide.lower).mean()
    inside = (wide.lower <= wide.effect) & (wide.effect <= wide.upper)
    # Effects are not linear in coefficients, so a draw's middle need not be the effect.
    assert inside.mean() > 0.9


def test_limits_of_high_levels_are_not_the_extremes_of_draws():
    """Beyond 90 % they are those of 90 %, as much wider as they are for normal draws."""
    schema, design, regression = parts()
    _, usual = effects_of(schema, design, regression, level=0.9)
    _, high = effects_of(schema, design, regression, level=0.998)
    ratio = norm.ppf(0.999) / norm.ppf(0.95)
    for side in ("lower", "upper"):
        expected = usual.effect + ratio * (getattr(usual, side) - usual.effect)
        np.testing.assert_allclose(getattr(high, side), np.clip(expected, -1.0, 1.0))


def test_a_share_of_ones_own_is_what_others_cannot_explain():
    rng = np.random.default_rng(0)
    one = rng.normal(size=4000)
    twin = 0.9 * one + np.sqrt(1 - 0.81) * rng.normal(size=4000)
    often = (rng.random(4000) < 0.8).astype(float)
    design = csr_array(np.column_stack([one, twin, often]))
    centred, alone, _ = own_shares(design, np.ones(4000), np.zeros(3, dtype=bool), 1e-9)
    # 1 - r^2 of the pair; a tag that four in five carry is known by the fifth.
    np.testing.assert_allclose(alone, [0.19, 0.19, 0.2], atol=0.02)
    np.testing.assert_allclose(centred, [1.0, 1.0, 0.2], atol=0.02)
    exclusive = np.array([False, False, True])
    assert [shares[2] for shares in own_shares(design, np.ones(4000), exclusive, 1e-9)[:2]] == [
        1.0,
        1.0,
    ]


def test_labels_that_always_go_together_have_next_to_nothing_of_their_own():
    one = (np.arange(400) < 10).astype(float)
    design = csr_array(np.column_stack([one, one]))
    centred, alone, _ = own_shares(design, np.ones(400), np.zeros(2, dtype=bool), 1e-3)
    assert (centred > 0.9).all()
    assert (alone < 0.01).all()


def test_draws_of_coefficients_have_their_variance():
    calibration = Calibration(
        intercept=np.zeros(2),
        coefficients=np.array([[0.5, -1.0], [0.5, -1.0]]),
        variance=np.array([[0.01, 2.0], [0.01, 2.0]]),
        indicator=np.array([True, False]),
        label_tokens=np.zeros((2, 2)),
        mean_variance=np.ones(2),
    )
    drawn = np.stack(
        [calibration.draw(j, np.random.default_rng(j), 20_000) for j in (0, 1)], axis=1
    )
    # A tag's factor exp(v) keeps its mean and has the variance relative to it; 20,000 draws.
    factor = np.exp(drawn[:, 0] - calibration.coefficients[0])
    np.testing.assert_allclose(factor.mean(axis=0), 1.0, atol=0.04)
    np.testing.assert_allclose(factor.var(axis=0), [0.01, 2.0], rtol=0.1)
    # A number's coefficient is normal.
    np.testing.assert_allclose(drawn[:, 1].mean(axis=0), [0.5, -1.0], atol=0.04)
    np.testing.assert_allclose(drawn[:, 1].var(axis=0), [0.01, 2.0], rtol=0.05)


@cache
def fitted(coding="table", seed=0, n_topics=6):
    rng = np.random.default_rng(seed)
    carried = rng.random(400) < 0.5
    rating = rng.integers(1, 6, size=400).astype(float)
    frame = pd.DataFrame({"rating": rating})
    frame["kind"] = pd.Series([["yes"] if c else [] for c in carried])
    corpus, _ = simulate(
        frame, n_topics=5, n_words=80, document_length=80, topic_prior=0.05, random_state=3
    )
    if coding == "levels":
        frame["kind"] = np.where(carried, "yes", "no")
    if coding == "unit":
        frame["rating"] = 10.0 * rating + 3.0
    if coding == "polars":
        frame = pl.from_pandas(frame)
    model = HDSP(n_topics, fixed_number=True, random_state=0, n_jobs=1, max_iter=30).fit(
        corpus.counts, labels=frame
    )
    return model


def test_the_table_is_tidy_and_in_the_users_library():
    found = fitted().label_effects()
    assert list(found.columns) == [
        *("label", "contrast", "topic", "words", "effect", "lower", "upper", "expected"),
        *("otherwise", "n_documents"),
    ]
    assert found["words"][1] == " ".join(fitted().top_words(5)[1])
    by_label = found.groupby("label")["n_documents"].unique()
    carriers = fitted()._model.training.carriers
    assert by_label["rating"].tolist() == [carriers[fitted().label_names_.index("rating")]]
    assert len(found) == 2 * 6
    assert set(found["label"]) == {"rating", "yes"}
    np.testing.assert_allclose(found["effect"], found["expected"] - found["otherwise"])
    # What one topic gains others lose.
    np.testing.assert_allclose(found.groupby("label")["effect"].sum(), 0.0, atol=1e-9)
    assert isinstance(fitted("polars").label_effects(), pl.DataFrame)
    pd.testing.assert_frame_equal(found, fitted().label_effects())
    other = fitted().label_effects(random_state=1)
    assert (other["effect"] == found["effect"]).all()
    assert not np.array_equal(other["lower"], found["lower"])


def test_one_label_against_two_categories():
    # As many topics as there are: a sixth would be half of another, and any half.
    tag = fitted(n_topics=5).label_effects(labels="yes")
    levels = fitted("levels", n_topics=5).label_effects(labels="kind", contrast=("no", "yes"))
    # Two columns share one penalty's worth of shrinkage, and draws differ; the fits are alike.
    np.testing.assert_allclose(tag["effect"], levels["effect"], atol=0.01)
    width = (tag["upper"] - tag["lower"]).mean()
    assert (levels["upper"] - levels["lower"]).mean() == pytest.approx(width, rel=0.25)
    default = fitted("levels", n_topics=5).label_effects(labels="yes")
    np.testing.assert_allclose(default["effect"], levels["effect"], atol=1e-12)


def test_a_numbers_unit_does_not_matter():
    ours, theirs = fitted().label_effects(), fitted("unit").label_effects()
    for name in ("effect", "lower", "upper"):
        np.testing.assert_allclose(ours[name], theirs[name], atol=2e-3)
    ours = fitted().label_effects(labels="rating", contrast=(1, 5))
    theirs = fitted("unit").label_effects(labels="rating", contrast=(13, 53))
    np.testing.assert_allclose(ours["effect"], theirs["effect"], atol=2e-3)
    assert set(ours["contrast"]) == {"5 - 1"}


@pytest.mark.parametrize(
    ("coding", "label", "values"), [("table", "rating", (1, 5)), ("levels", "kind", ("no", "yes"))]
)
def test_a_contrast_and_its_mirror_have_mirrored_limits(coding, label, values):
    there = fitted(coding).label_effects(labels=label, contrast=values)
    back = fitted(coding).label_effects(labels=label, contrast=values[::-1])
    np.testing.assert_allclose(back["effect"], -there["effect"], atol=1e-12)
    # Draws are in single precision.
    np.testing.assert_allclose(back["lower"], -there["upper"], atol=1e-6)
    np.testing.assert_allclose(back["upper"], -there["lower"], atol=1e-6)


def test_intervals_of_a_sorted_corpus():
    """The first documents of a corpus sorted by a label say nothing of the others' topics."""
    labels = Labels.from_frame(table(n_documents=1_000))
    schema = LabelSchema.of(labels)
    rng = np.random.default_rng(0)
    coefficients = rng.normal(0.0, 3.0, size=(schema.n_labels, 4))
    regression = Regression(rng.normal(size=4), coefficients)
    design = schema.encode(labels)
    order = np.argsort(-design[:, [schema.names.index("north")]].toarray()[:, 0], kind="stable")
    rows, mixed = effects_of(schema, design, regression)
    _, ordered = effects_of(schema, design[order], regression)
    number = rows["blue"]
    widths = [(found.upper - found.lower)[number] for found in (ordered, mixed)]
    # Other 250 of the 1,000 documents change widths by a sixth; the first 250 by two thirds.
    np.testing.assert_allclose(*widths, rtol=0.3)


def test_limits_are_differences_of_proportions():
    schema, design, regression = parts()
    _, found = effects_of(schema, design, regression, spread=5.0)
    assert found.lower.min() >= -1.0
    assert found.upper.max() <= 1.0


def test_the_papers_weights_with_their_own_posterior():
    model = fitted()
    found = model.label_effects(method="ratio")
    rating = found[found["label"] == "rating"]
    # One standard deviation on, by the model's own expected topics.
    moved = model._model.expected(csr_array(model._model.training.sample), "ratio").mean(axis=0)
    np.testing.assert_allclose(rating["otherwise"], moved, rtol=1e-6)
    assert (found["lower"] < found["upper"]).all()


def test_labels_that_no_factor_takes_have_no_effects():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=80), "b": rng.normal(size=80)})
    corpus, _ = simulate(frame, n_topics=3, n_words=20, random_state=0)
    from hdsp import LogLinear

    model = HDSP(4, fixed_number=True, scaling=LogLinear("a"), random_state=0, max_iter=5)
    assert set(model.fit(corpus.counts, labels=frame).label_effects()["label"]) == {"a"}


def test_without_labels_the_table_is_empty():
    corpus, _ = simulate(n_documents=40, n_topics=3, n_words=20, random_state=0)
    found = HDSP(4, fixed_number=True, random_state=0, max_iter=5).fit(corpus).label_effects()
    assert len(found) == 0
    assert "effect" in found.columns


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"level": 1.0}, "`level` of HDSP.label_effects must lie between 0 and 1. Got 1.0."),
        ({"labels": "weather"}, "names 'weather', which the model does not know. It knows 'rati"),
        ({"labels": 3}, "must be None, a name or a list of names"),
        ({"contrast": (1, 5)}, "needs `labels` to name one category or one number"),
        ({"labels": "kind", "contrast": (1, 5)}, "needs `labels` to name one category"),
        ({"labels": "rating", "contrast": 5}, "must be two levels of a category, or two values"),
        (
            {"labels": "rating", "contrast": ("a", "b")},
            "must be two numbers or dates, since 'rating'",
        ),
        ({"method": "exact"}, "`method` of HDSP.label_effects must be one of"),
    ],
)
def test_bad_questions(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fitted().label_effects(**settings)


def test_a_contrast_beyond_the_data_is_extrapolated():
    model = fitted()
    said = r"`contrast` of HDSP.label_effects goes to 9, and 'rating' runs from 1 to 5 in training"
    with pytest.warns(ExtrapolationWarning, match=said):
        model.label_effects(labels="rating", contrast=(1, 9))
    model.label_effects(labels="rating", contrast=(1, 5))
    model.label_effects(labels="rating", contrast=(2.5, 3.5))


def test_of_many_values_the_range_is_about_that_of_a_sample():
    values = np.random.default_rng(0).normal(size=1_500)
    corpus, _ = simulate(pd.DataFrame({"x": values}), n_topics=3, n_words=20, random_state=0)
    model = HDSP(3, fixed_number=True, init="nmf", max_iter=3, tol=0.1, random_state=0).fit(corpus)
    model.label_effects(labels="x", contrast=(values.min(), values.max()))
    with pytest.warns(
        ExtrapolationWarning, match=r"'x' runs from about -[23].* to [23].* in train"
    ):
        model.label_effects(labels="x", contrast=(0.0, 9.0))


@pytest.mark.parametrize("term", ["o(rating)", "factor(rating)"])
def test_an_ordered_number_has_only_its_values(term):
    frame = pd.DataFrame({"rating": np.resize([1.0, 2.0, 4.0], 60)})
    corpus, _ = simulate(frame, n_topics=3, n_words=20, random_state=0)
    settings = {"init": "nmf", "max_iter": 3, "tol": 0.1, "random_state": 0}
    model = HDSP(3, fixed_number=True, scaling=f"~ {term}", **settings).fit(corpus)
    model.label_effects(labels="rating", contrast=(1, 4))
    said = r"must be two of the values that 'rating' has effects at: 1, 2 and 4. Got 3, 7."
    with pytest.raises(ValueError, match=said):
        model.label_effects(labels="rating", contrast=(3, 7))
    found = model.estimate_effects(corpus, f"~ {term}").curve("rating")
    assert found["value"].unique() == pytest.approx([1.0, 2.0, 4.0])
    assert (found["n_documents"] == 20).all()


def test_a_level_that_is_none():
    with pytest.raises(ValueError, match="names 'maybe', which is no level of 'kind'"):
        fitted("levels").label_effects(labels="kind", contrast=("no", "maybe"))


def test_an_interval_holds_its_estimate_where_all_draws_are_on_one_side():
    drawn = np.linspace(-0.5, -0.1, DRAWS)[:, None]
    low, high = drawn_limits(drawn, 0.9)
    assert low < -0.4
    assert high == 0.0
    np.testing.assert_allclose(drawn_limits(-drawn, 0.9), [-high, -low], atol=1e-12)
    assert drawn_error(drawn) < 0.15
