"""Seasons, ordered values and nested labels."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.special import softmax

from hdsp import HDSP, Categorical, Corpus, LabelDataWarning, LogLinear, TextSettings, read_table
from hdsp.corpus import Labels
from hdsp.report.effects import form_view
from hdsp.scaling.terms import Factor, Interaction, Ordered, Spline
from tests.problems import bind, draw_documents

N_DOCUMENTS = 600


def fit(counts, frame, scaling):
    return HDSP(3, scaling=scaling, random_state=0, n_jobs=1).fit(counts, labels=frame)


# Seasons


def test_a_season_ends_where_it_begins_and_has_no_line():
    month = np.random.default_rng(0).uniform(0.0, 36.0, N_DOCUMENTS)
    space, values = bind(pd.DataFrame({"month": month}), Spline("month", period=12))
    (term,) = space.terms

    def functions(x):
        return term.expand([csr_array(x[:, None])]).toarray()

    x, year = np.linspace(-1.0, 1.0, 50), 12.0 / month.std()
    np.testing.assert_allclose(functions(x + year), functions(x), atol=1e-9)
    np.testing.assert_allclose(functions(x - 3.0 * year), functions(x), atol=1e-9)
    # Slopes go on, too.
    seam = -month.mean() / month.std()
    columns = functions(seam + 1e-4 * np.array([-2.0, -1.0, 1.0, 2.0]))
    np.testing.assert_allclose(columns[1] - columns[0], columns[3] - columns[2], atol=1e-5)
    # Uncorrelated, as smoothness alone decides, and without the line.
    bends = space.design(values).toarray()[:, 1:]
    np.testing.assert_allclose(np.corrcoef(bends.T), np.eye(bends.shape[1]), atol=1e-6)
    assert not space.used[0]


def test_the_ends_of_seasons():
    constant = Spline("x", period=12)
    assert constant.learn([csr_array(np.full((5, 1), 2.0))]) == {}
    # A week over thirty years of dates is no reason for a page of millions of points.
    space, _ = bind(pd.DataFrame({"x": np.linspace(0, 30, 99)}), Spline("x", period=0.02))
    assert len(space.terms[0].points(-2, 2)) <= 20_000


# Ordered values


def test_ordered_effects_are_a_random_walk():
    rating = np.random.default_rng(0).choice(5, N_DOCUMENTS, p=[0.1, 0.1, 0.1, 0.2, 0.5]) + 1.0
    space, values = bind(pd.DataFrame({"rating": rating}), Ordered("rating"))
    design = space.design(values).toarray()
    assert space.names[0] == "rating"
    functions = np.unique(design[:, 1:], axis=0)
    assert functions.shape == (5, 4)
    # Of coefficients with one variance, changes from value to value are independent and as large.
    order = [np.flatnonzero(rating == star)[0] for star in range(1, 6)]
    steps = np.diff(design[order, 1:], axis=0)
    together = steps @ steps.T
    np.testing.assert_allclose(together, together[0, 0] * np.eye(4), atol=1e-8)


def test_ordered_levels_keep_their_order():
    rng = np.random.default_rng(0)
    size = rng.choice(["small", "medium", "large"], 200)
    levels = ["small", "medium", "large"]
    given, values = bind(pd.DataFrame({"size": size}), Ordered("size", levels=levels))
    table = pd.DataFrame({"size": pd.Categorical(size, categories=levels, ordered=True)})
    known, same = bind(table, Ordered("size"))
    rows = [np.flatnonzero(size == level)[0] for level in levels]
    first = given.design(values).toarray()[rows, 3:]
    steps = np.diff(first, axis=0)
    np.testing.assert_allclose(steps @ steps.T, (steps[0] @ steps[0]) * np.eye(2), atol=1e-8)
    second = known.design(same).toarray()[rows, 3:]
    np.testing.assert_allclose(np.abs(first), np.abs(second), atol=1e-8)
    # Levels that are numbers are in the order of numbers.
    wave = pd.Series(["2", "10", "9"] * 5, dtype="string")
    space, values = bind({"wave": wave}, Ordered("wave"))
    assert space.schema.names == ("10", "2", "9")
    steps = np.diff(space.design(values).toarray()[[0, 2, 1], 3:], axis=0)
    assert steps[0] @ steps[1] == pytest.approx(0.0, abs=1e-8)


def test_a_page_and_effects_take_ordered_levels(monkeypatch):
    rng = np.random.default_rng(2)
    size = rng.choice(["s", "m", "l"], N_DOCUMENTS)
    rank = pd.Series(size).map({"s": -1.0, "m": 0.0, "l": 1.0}).to_numpy()
    share = softmax(np.column_stack([1.5 * rank, -rank, 0.0 * rank]), axis=1)
    frame = pd.DataFrame({"size": size})
    model = fit(draw_documents(share)[0], frame, Ordered("size", levels=["s", "m", "l"]))
    levels = pd.DataFrame({"size": ["l", "m", "s"]})
    expected = model.expected_topics(levels)
    assert np.abs(np.sort(expected[0]) - np.sort(share[size == "l"][0])).max() < 0.06
    # As the page computes: a level sets the columns of its table, at 1.
    monkeypatch.setattr("hdsp.report.effects.pack_exact", lambda values, dtype="float32": values)
    form = form_view(model._model)
    for label, row in enumerate(expected):
        score, made = form["intercept"].copy(), form["tables"][label]
        for j, entry in enumerate(made["columns"][1]):
            score += entry * form["coefficients"][made["start"] + j]
        np.testing.assert_allclose(softmax(score), row, atol=1e-6)
    effects = model.label_effects(labels="size", contrast=("s", "l"))
    # The linear regression has an effect of its own for each level, as the softmax one has.
    np.testing.assert_allclose(effects["effect"], expected[0] - expected[2], atol=0.03)


def test_factors_are_free_and_do_not_guess():
    rng = np.random.default_rng(3)
    year = rng.integers(2000, 2004, N_DOCUMENTS)
    space, values = bind(pd.DataFrame({"year": year}), LogLinear(Factor("year")))
    design = space.design(values).toarray()
    np.testing.assert_array_equal(design[:, 1:], np.eye(4)[year - 2000])
    unknown = space.encode(Labels.from_frame(pd.DataFrame({"year": [1999.0, 2001.5, 2002.0]})))
    np.testing.assert_array_equal(unknown.toarray()[:, 1:].sum(axis=1), [0.0, 0.0, 1.0])


# Products of terms


def test_a_term_in_a_product_is_a_log_linear_function_of_it():
    product = Categorical("dept") * Spline("day") * Interaction("dept", "day")
    assert product == Categorical("dept") * LogLinear(Spline("day")) * LogLinear(
        Interaction("dept", "day")
    )
    assert Spline("day") * Categorical("dept") == LogLinear(Spline("day")) * Categorical("dept")
    both = Spline("day") * Ordered("rating")
    assert both == LogLinear(Spline("day")) * LogLinear(Ordered("rating"))
    assert hash(both) == hash(Spline("day") * Ordered("rating"))
    assert both * (both * both) == both * both * both


# Nested labels


def authors(n_documents=N_DOCUMENTS):
    rng = np.random.default_rng(4)
    author = rng.integers(12, size=n_documents)
    return pd.DataFrame(
        {"author": [f"a{i:02}" for i in author], "venue": np.where(author < 6, "north", "south")}
    )


def test_children_imply_their_parents():
    frame = authors()
    scaling = Categorical("author", parents="venue")
    frame.loc[::3, "venue"] = None
    space, values = bind(frame, scaling)
    parents = space.values(space.design(values)).toarray()[:, -2:]
    wanted = authors()["venue"].to_numpy()
    np.testing.assert_array_equal(parents, np.column_stack([wanted == "north", wanted == "south"]))
    assert space.terms[0].exclusive
    # A model of what is given is a model of what is implied.
    south = (authors()["venue"] == "south").to_numpy()
    score = np.column_stack([1.0 * south, -1.0 * south, 0.0 * south])
    counts = draw_documents(softmax(score, axis=1))[0]
    model, same = fit(counts, frame, scaling), fit(counts, authors(), scaling)
    np.testing.assert_array_equal(model.components_, same.components_)
    # Of an author, the venue is known; of an unknown author it is what is known.
    known = pd.DataFrame({"author": ["a07", "a07"], "venue": ["south", None]})
    first, second = model.expected_topics(known)
    np.testing.assert_array_equal(first, second)
    with pytest.warns(UserWarning, match="unknown"):
        new = model.expected_topics(pd.DataFrame({"author": ["new"], "venue": ["south"]}))
    venue = model.expected_topics(pd.DataFrame({"venue": ["south"]}))
    np.testing.assert_array_equal(new, venue)
    assert np.abs(venue - model.expected_topics(pd.DataFrame({"venue": ["north"]}))).max() > 0.2


def test_tags_have_parents_too():
    authors, venues = [["a", "b"], ["a"], ["c"], ["a", "c", "b"]], ["x", "x", "y", None]
    frame = pd.DataFrame({"author": authors * 10, "venue": venues * 10})
    space, values = bind(frame, Categorical("author", parents="venue"))
    assert not space.terms[0].exclusive
    # Two of the three authors are of x.
    np.testing.assert_array_equal(space.design(values).toarray()[3], [1, 1, 1, 1, 0])


def test_parents_of_parents():
    frame = authors()
    frame["field"] = np.where(frame["venue"] == "north", "one", "two")
    space, _ = bind(
        frame, Categorical("author", parents="venue") * Categorical("venue", parents="field")
    )
    assert space.used.all()


# Dates


def test_texts_that_are_dates_are_read_or_offered_as_dates(tmp_path):
    frame = pd.DataFrame({"when": ["2024-05-01", "2024-05-02T10:00", None], "who": ["a", "b", "a"]})
    known = Corpus(np.ones((3, 2), dtype=int), labels=frame).labels
    for numbers in (known, Labels.from_frame(frame, numeric="when")):
        assert numbers.blocks[0].values.data == pytest.approx(
            [2024 + 121 / 366, 2024 + 122.41667 / 366]
        )
    frame.assign(text=["red hat", "red", "hat"]).to_csv(tmp_path / "a.csv", index=False)
    settings = TextSettings(min_df=1, max_df=1.0)
    with pytest.warns(
        LabelDataWarning, match="'when' holds dates as text, .* name it with `numeric`"
    ):
        read_table(tmp_path / "a.csv", categories="when", text_settings=settings)
    with pytest.raises(TypeError, match=r"must hold numbers or dates in column 'who'\. Got 'a'"):
        Labels.from_frame(frame, numeric="who")


@pytest.mark.filterwarnings("error")
def test_years_and_names_are_no_dates():
    for values in (["2024", "2025"], ["May 2024", "June"], ["2024-05-01", "long ago"], []):
        frame = pd.DataFrame({"when": values}, dtype=str)
        Corpus(np.ones((len(values), 2), dtype=int), labels=frame)
