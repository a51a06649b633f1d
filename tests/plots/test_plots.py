"""Figures: what is drawn is what the model says."""

import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgba_array
from matplotlib.figure import Figure

from hdsp import plots, simulate
from hdsp.plots import drawing
from hdsp.plots.labels import strongest
from tests.report.corpora import fit, fit_searched, make_corpus, reviews


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(*reviews())


@pytest.fixture(scope="module")
def model(corpus):
    return fit(corpus)


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


def names(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def numbers(ax):
    return [int(name.split(" · ")[0]) for name in names(ax)]


def drawn(ax):
    """Where the dots of the first series are, from the top."""
    if ax.lines[0].get_marker() == "o":
        return ax.lines[0].get_xdata()
    (dots,) = (part for part in ax.collections if isinstance(part, PathCollection))
    return dots.get_offsets()[:, 0]


ARGUMENTS = {
    "effects": ("shoes",),
    **dict.fromkeys(("curve", "levels"), ("rating",)),
    **dict.fromkeys(("heatmap", "map", "correlations", "summary", "history"), ()),
    "expected_topics": ({"none": [[]]},),
    "words": (0,),
}


def test_axes_go_in_and_come_out(model, corpus):
    # Elsewhere: models whose number was searched for, and versions of topics (test_content.py).
    assert {*ARGUMENTS, "observed", "search", "perspectives"} == set(plots.__all__)
    for name, arguments in {**ARGUMENTS, "observed": (corpus, "shoes")}.items():
        ax = Figure().subplots()
        assert getattr(plots, name)(model, *arguments, ax=ax) is ax
        ax.figure.canvas.draw()
        made = getattr(plots, name)(model, *arguments)
        assert isinstance(made, Axes)
        assert made.figure.number in pyplot.get_fignums()


def test_effects_of_a_label_are_those_of_the_model(model, ax):
    plots.effects(model, "shoes", n=4, ax=ax)
    table = model.label_effects(labels="shoes").set_index("topic")
    order = table["effect"].sort_values().index.tolist()
    assert numbers(ax) == [*order[:-3:-1], *order[1::-1]]
    np.testing.assert_allclose(drawn(ax), table["effect"][numbers(ax)])
    assert ax.get_title() == "shoes (shoes - other department)"
    limits = [segment[:, 0] for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose(limits, table.loc[numbers(ax), ["lower", "upper"]])
    unsure = (table["lower"] <= 0) & (table["upper"] >= 0)
    colours = np.where(table["effect"] < 0, drawing.ORANGE, drawing.BLUE)
    wanted = to_rgba_array(np.where(unsure, drawing.GREY, colours)[numbers(ax)])
    np.testing.assert_array_equal(ax.collections[0].get_colors(), wanted)
    ax = plots.effects(model, topic=1, ax=Figure().subplots())
    own = model.label_effects().query("topic == 1").set_index("label")["effect"]
    assert names(ax) == own.sort_values(ascending=False).index.tolist()


@pytest.mark.parametrize(
    ("effect", "n", "shown"),
    [
        ([3, -1, 2, -5, 1, 4], 4, [5, 0, 1, 3]),
        ([3, -1, 2, 5, 1, 4], 3, [3, 5, 1]),
        ([3, 1, 2], 2, [0, 2]),
        ([-3, -1, -2], 2, [2, 0]),
        ([2, np.nan, -1], 4, [0, 2]),
        ([np.nan], 2, []),
    ],
)
def test_strongest_effects_of_both_signs(effect, n, shown):
    assert strongest(np.array(effect, dtype=float), n).tolist() == shown


def test_the_summary_shows_shares_and_words(corpus, ax):
    model = fit(corpus).name_topics({1: "Cost $5"})
    plots.summary(model, n=3, n_words=4, words="frex_words", ax=ax)
    table = model.topics(n_words=4)
    np.testing.assert_array_equal([bar.get_width() for bar in ax.patches], table["share"][:3])
    words = table["frex_words"][:3].tolist()
    words[1] = f"Cost $5: {words[1]}"
    assert [text.get_text() for text in ax.texts] == words
    assert names(ax) == ["0", "1", "2"]
    # Names are no formulas.
    ax.figure.canvas.draw()


def test_the_heat_map_shows_every_effect_once(model, ax):
    plots.heatmap(model, "department", ax=ax)
    table = model.label_effects(labels="department").set_index(["label", "topic"])["effect"]
    values = np.asarray(ax.images[0].get_array())
    labels = [text.get_text() for text in ax.get_xticklabels()]
    assert sorted(numbers(ax)) == list(range(8))
    for row, topic in enumerate(numbers(ax)):
        np.testing.assert_allclose(values[row], [table[label, topic] for label in labels])


SHOES = {"department": "shoes", "rating": 5.0}
FRAMES = {"shoes": pd.DataFrame({"department": ["shoes"]}), "good bags": {"department": "bags"}}


@pytest.mark.parametrize(
    ("given", "sets"),
    [
        (FRAMES, FRAMES),
        ({"one": SHOES}, {"one": SHOES}),
        (SHOES, {"department shoes, rating 5.0": SHOES}),
    ],
)
def test_expected_topics_of_sets_of_labels(model, ax, given, sets):
    plots.expected_topics(model, given, n=3, ax=ax)
    for bars, labels in zip(ax.containers, sets.values(), strict=True):
        widths = [bar.get_width() for bar in bars]
        np.testing.assert_allclose(widths, model.expected_topics(labels)[0][numbers(ax)])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(sets)


def test_correlations_are_drawn_where_they_are_sure(ax):
    corpus, _ = simulate(n_documents=300, n_topics=6, n_words=200, random_state=0)
    model = fit(corpus, 6, init="nmf")
    plots.correlations(model, level=0.1, ax=ax)
    shown, topics = np.asarray(ax.images[0].get_array()), numbers(ax)
    assert sorted(topics) == list(range(len(model.components_)))
    for row in model.topic_correlations(0.1).itertuples():
        cell = shown[topics.index(row.topic), topics.index(row.other)]
        sure = row.lower > 0 or row.upper < 0
        assert cell == pytest.approx(row.correlation if sure else 0.0)
    assert (np.nan_to_num(shown) != 0.0).mean() > 0.3


def test_words_of_a_topic(model, ax):
    plots.words(model, 2, n=6, ax=ax)
    assert names(ax) == model.top_words(6)[2]
    share = model.components_[2] / model.components_[2].sum()
    widths = [bar.get_width() for bar in ax.containers[0]]
    np.testing.assert_allclose(widths, np.sort(share)[::-1][:6])


def test_the_map_names_topics_and_labels(model, ax):
    plots.map(model, n_names=3, ax=ax)
    texts = [text.get_text() for text in ax.texts]
    assert len(texts) == sum(" · " in text for text in texts) == 3
    (points,) = ax.collections
    assert len(points.get_offsets()) == 8
    both = plots.map(model, labels=True, n_names=3, ax=Figure().subplots())
    assert sorted(text.get_text() for text in both.texts)[:3] == sorted(texts)
    assert len(both.texts) == 6
    assert [len(points.get_offsets()) for points in both.collections] == [8, 8]


def test_the_history_is_drawn(model, ax):
    plots.history(model, ["bound", "words"], ax=ax)
    drawn = [line.get_ydata() for line in ax.lines]
    np.testing.assert_allclose(drawn, pd.DataFrame(model.history_)[["bound", "words"]].T)


def test_the_search_is_drawn(ax):
    model = fit_searched()
    assert plots.search(model, ax=ax) is ax
    number, curve = ax.lines
    table = pd.DataFrame(model.search_)
    own = table[table["init"] == model.init_].sort_values("topics")
    np.testing.assert_allclose(curve.get_xydata(), own[["topics", "perplexity"]])
    assert number.get_xdata() == [len(model.components_)] * 2
    (band,) = ax.patches
    assert (band.get_x(), band.get_x() + band.get_width()) == model.n_topics_range_
    assert ax.get_ylabel() == "perplexity of held-out words"
    (beside,) = [other for other in ax.figure.axes if other is not ax and other.lines]
    for line, name in zip(beside.lines, ("coherence", "exclusivity"), strict=True):
        np.testing.assert_allclose(line.get_ydata(), own[name])
    # More than one number is written below the axis.
    ax.figure.canvas.draw()
    low, high = ax.get_xlim()
    assert sum(low <= tick <= high for tick in ax.get_xticks()) > 2


def test_observed_against_expected(model, corpus, ax):
    plots.observed(model, corpus, "shoes", n=5, ax=ax)
    own = model.label_schema_.encode(corpus.labels).toarray()[:, model.label_names_.index("shoes")]
    observed = model.proportions_[own == 1].mean(axis=0)
    np.testing.assert_allclose(drawn(ax), observed[numbers(ax)])
    expected = model.expected_topics(corpus.labels)[own == 1].mean(axis=0)
    np.testing.assert_allclose(ax.lines[1].get_xdata(), expected[numbers(ax)])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, c: plots.effects(m), "needs either `label` or `topic`"),
        (lambda m, c: plots.effects(m, "department"), "'department' has 4; choose one"),
        (lambda m, c: plots.curve(m, "shoes"), "Got 'shoes'"),
        (lambda m, c: plots.curve(m, "department"), "'department' is of kind category"),
        (lambda m, c: plots.expected_topics(m, {"a": [[], []]}), "Got 2 documents for 1 sets"),
        (lambda m, c: plots.history(m, "depth"), "Got 'depth'"),
        (lambda m, c: plots.summary(m, words="lift"), "`words` of hdsp.plots.summary must be one"),
        (lambda m, c: plots.search(m), "needs a fit that found its number of topics"),
        (lambda m, c: plots.observed(m, c, "boats"), "Got 'boats'"),
    ],
)
def test_wrong_arguments_are_refused(model, corpus, call, message):
    with pytest.raises(ValueError, match=message):
        call(model, corpus)


def test_without_matplotlib_it_says_what_to_install(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'hdsp\[plots\]'"):
        plots.words(model, 0)


def test_names_stand_beside_large_marks(ax):
    places, sizes = np.array([[0.0, 0.0], [1.0, 1.0], [0.5, 0.5]]), [400.0, 400.0, 10.0]
    drawing.draw_points(ax, "topic", places, ["left", "right", "$small$"], sizes, [0, 1, 2])
    ax.figure.canvas.draw()
    for text, place, size in zip(ax.texts, places, sizes, strict=True):
        x, _ = ax.transData.transform(place)
        assert text.get_window_extent().x0 > x + np.sqrt(size) / 2 * ax.figure.dpi / 72


def test_percentages_do_not_run_together(model):
    figure = Figure(figsize=(4, 3), layout="constrained")
    ax = plots.effects(model, "shoes", ax=figure.subplots())
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.get_xticklabels() if text.get_text()]
    boxes = sorted((box for box in boxes if box.width), key=lambda box: box.x0)
    assert len(boxes) > 2
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_a_curve_has_its_documents_as_points(model, corpus):
    number = reviews()[1]["rating"].to_numpy()
    found = model.estimate_effects("~ s(rating)", corpus=corpus)
    ax = plots.curve(found, "rating", topics=[1, 0], ax=Figure().subplots())
    table = found.curve("rating", n=50)
    lines = [line for line in ax.lines if line.get_marker() == "None"]
    points = [line for line in ax.lines if line.get_marker() == "o"]
    for topic, line, dots in zip((1, 0), lines, points, strict=True):
        own = table[table["topic"] == topic]
        np.testing.assert_allclose(line.get_xdata(), own["value"])
        np.testing.assert_allclose(line.get_ydata(), own["expected"])
        share = model.proportions_[~np.isnan(number), topic]
        np.testing.assert_allclose(np.mean(dots.get_ydata()), share.mean(), atol=0.01)
    bands = ax.collections[0].get_paths()[0].vertices
    np.testing.assert_allclose(bands[:, 1].max(), table[table["topic"] == 1]["upper"].max())
    # The means of documents are at values that are ordered.
    found = model.estimate_effects("~ o(rating)", corpus=corpus)
    ax = plots.curve(found, "rating", topics=1, ax=Figure().subplots())
    (dots,) = (line for line in ax.lines if line.get_marker() == "o")
    table = found.curve("rating").query("topic == 1")
    np.testing.assert_allclose(dots.get_xydata(), table[["value", "observed"]])
    # A topic has one title in all figures.
    own = plots.levels(model, "department", topics=1, ax=Figure().subplots())
    assert {f"topic {name}" for name in names(own)} == {ax.get_title()}


def test_curves_by_a_category_are_of_one_topic(model, corpus):
    category = next(one for one in corpus.labels.blocks if one.kind == "category")
    found = model.estimate_effects(f"~ rating * {category.name}", corpus=corpus)
    ax = plots.curve(found, "rating", by=category.name, ax=Figure().subplots())
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert set(entries) <= set(category.columns)
    assert ax.get_title().startswith("topic ")
    own = plots.levels(found, category.name, topics=0, ax=Figure().subplots())
    table = found.levels(category.name)
    dots = [line.get_xdata()[0] for line in own.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(dots, table[table["topic"] == 0]["expected"])


def test_an_ordered_label_has_a_point_and_an_interval_at_each_value(model, ax):
    plots.curve(model, "rating", topics=[2, 0], ax=ax)
    dots = [line for line in ax.lines if line.get_marker() == "D"]
    table = model.estimate_effects().levels("rating")
    for line, topic, bars in zip(dots, (2, 0), ax.collections, strict=True):
        assert line.get_linestyle() == "None"
        x, y = np.asarray(line.get_data(), dtype=float)
        own = table[table["topic"] == topic]
        np.testing.assert_allclose(x, [1, 2, 4, 5])
        np.testing.assert_allclose(y, own["expected"])
        limits = np.array([segment[:, 1] for segment in bars.get_segments()])
        np.testing.assert_allclose(limits, own[["lower", "upper"]])
