"""Names of topics, and topics merged by hand: sums of what there was, in every answer."""

import json
from functools import cache

import matplotlib as mpl
import numpy as np
import pytest

from hdsp import HDSP, Corpus, plots
from hdsp.corpus.frames import open_columns
from tests.cli.commands import reviews
from tests.zoo import METHODS, corpus_of

mpl.use("Agg")
# Sums of the same numbers, in another order.
EXACT = 1e-12


@cache
def fitted():
    frame = reviews(150)
    labels = frame[["labels", "department", "rating"]]
    corpus = Corpus.from_texts(frame["text"], labels=labels)
    return HDSP(7, random_state=0).fit(corpus), corpus


def table(frame):
    return {name: series.to_list() for name, series in open_columns(frame, "it").items()}


def places(merged):
    """The fitted topics of each topic, as an array that adds them up, [T, T']."""
    result = np.zeros((sum(map(len, merged.fitted_topics_)), len(merged.fitted_topics_)))
    for topic, own in enumerate(merged.fitted_topics_):
        result[list(own), topic] = 1.0
    return result


SETS = [[1, 4], [(1, 4), (2, 6)], [[0, 1, 2, 3, 4, 5, 6]]]


@pytest.mark.parametrize("sets", SETS)
def test_a_merged_topic_is_the_sum_of_its_topics(sets):
    model, corpus = fitted()
    merged = model.merge_topics(sets)
    add = places(merged)
    eta = model.topic_prior
    np.testing.assert_allclose(
        merged.components_ - eta, add.T @ (model.components_ - eta), rtol=1e-6, atol=1e-6
    )
    for name in ("topic_weight_", "topic_tokens_"):
        np.testing.assert_allclose(getattr(merged, name), getattr(model, name) @ add, rtol=EXACT)
    np.testing.assert_allclose(
        merged.transform(corpus), model.transform(corpus) @ add, rtol=EXACT, atol=EXACT
    )
    for method in METHODS:
        np.testing.assert_allclose(
            merged.expected_topics(corpus.labels, method),
            model.expected_topics(corpus.labels, method) @ add,
            rtol=EXACT,
            atol=EXACT,
        )
    # A label alone scales the expected gamma variable of the sum.
    weight = model.topic_weight_[:, None]
    np.testing.assert_allclose(
        merged.label_scale_ * merged.topic_weight_[:, None],
        add.T @ (model.label_scale_ * weight),
        rtol=1e-9,
    )


@pytest.mark.parametrize("weight", ["documents", "tokens"])
@pytest.mark.parametrize("sets", SETS[:2])
def test_effects_add_up_and_intervals_allow_for_what_topics_have_in_common(sets, weight):
    model, _ = fitted()
    merged = model.merge_topics(sets)
    add, n_topics = places(merged), len(merged.fitted_topics_)
    before, after = (table(m.label_effects(weight=weight)) for m in (model, merged))
    one, other = (np.reshape(t["effect"], (-1, k)) for t, k in ((before, 7), (after, n_topics)))
    np.testing.assert_allclose(other, one @ add, atol=EXACT)
    np.testing.assert_allclose(merged.proportions_, model.proportions_ @ add, atol=EXACT)
    lower, upper = (np.reshape(after[name], (-1, n_topics)) for name in ("lower", "upper"))
    widths = upper - lower
    old = np.reshape(before["upper"], (-1, 7)) - np.reshape(before["lower"], (-1, 7))
    single = [k for k, own in enumerate(merged.fitted_topics_) if len(own) == 1]
    alone = [merged.fitted_topics_[k][0] for k in single]
    np.testing.assert_allclose(widths[:, single], old[:, alone], rtol=1e-9)
    joined = [k for k in range(n_topics) if k not in single]
    # Topics that labels move together, or apart, do not add up as limits would.
    summed = (old @ add)[:, joined]
    assert (widths[:, joined] <= summed * (1.0 + 1e-9)).all()
    assert (widths[:, joined] < summed * 0.999).any()


def test_words_and_labels_are_predicted_as_before():
    model, corpus = fitted()
    merged = model.merge_topics([[1, 4], [2, 6]])
    for given in ("labels", "completion"):
        assert merged.perplexity(corpus, given=given) == model.perplexity(corpus, given=given)
    for target in ("labels", "department", "rating"):
        np.testing.assert_array_equal(
            merged.predict_labels(corpus, target), model.predict_labels(corpus, target)
        )
    drawn = [m.simulate(corpus.labels, random_state=3).counts for m in (model, merged)]
    assert (drawn[0] != drawn[1]).nnz == 0


def test_topics_are_in_order_and_say_where_they_are_from():
    model, _ = fitted()
    merged = model.merge_topics([[3, 5], [2, 6]])
    shown = table(merged.topics())
    assert (np.diff(shown["share"]) <= 0).all()
    assert set(shown["fitted_topics"]) == {"0", "1", "4", "3+5", "2+6"}
    coherence = table(model.topics())["coherence"]
    for own, value in zip(merged.fitted_topics_, shown["coherence"], strict=True):
        assert np.isnan(value) if len(own) > 1 else value == coherence[own[0]]
    assert "fitted_topics" not in table(model.topics())
    assert merged.get_feature_names_out().tolist() == [f"hdsp{k}" for k in range(5)]
    assert 1 <= merged.n_topics_ <= 5
    # The model that was merged is as it was.
    assert len(model.components_) == len(model.topic_tokens_) == 7


def test_merging_again_is_merging_at_once():
    model, corpus = fitted()
    once = model.merge_topics([2, 3, 6])
    first = model.merge_topics([2, 6])
    topics = [k for k, own in enumerate(first.fitted_topics_) if own in ((2, 6), (3,))]
    twice = first.merge_topics(topics)
    assert twice.fitted_topics_ == once.fitted_topics_
    np.testing.assert_array_equal(twice.transform(corpus), once.transform(corpus))


def test_names_join_and_stay_with_their_topics():
    model, _ = fitted()
    named = model.merge_topics([1, 2]).name_topics({0: "x"})
    assert model.topic_names_ == {}
    assert named.topic_names_ == {0: "x"}
    copy = HDSP.load(save(model.merge_topics([0, 6]))).name_topics({2: "C", 3: "D", 5: "F"})
    joined = copy.merge_topics([2, 5])
    names = {joined.fitted_topics_[k]: name for k, name in joined.topic_names_.items()}
    both = tuple(sorted(copy.fitted_topics_[2] + copy.fitted_topics_[5]))
    assert names == {both: "C + F", copy.fitted_topics_[3]: "D"}


def save(model, path=None):
    import tempfile
    from pathlib import Path

    path = path or Path(tempfile.mkdtemp()) / "model.hdsp"
    model.save(path)
    return path


def test_names_are_in_every_table_and_figure():
    model, corpus = fitted()
    model = model.merge_topics([5, 6]).name_topics({1: "Shoes\nand  more", 3: "Bags"})
    assert model.topic_names_ == {1: "Shoes and more", 3: "Bags"}
    for frame in (
        model.topics(),
        model.label_effects(),
        model.topics_of_word("silk"),
        model.typical_documents(corpus),
    ):
        shown = table(frame)
        assert {k: n for k, n in zip(shown["topic"], shown["name"], strict=True) if n} == {
            1: "Shoes and more",
            3: "Bags",
        }
    columns = model.get_feature_names_out().tolist()
    assert columns[:4] == ["hdsp0", "hdsp1 Shoes and more", "hdsp2", "hdsp3 Bags"]
    framed = model.set_output(transform="pandas").transform(corpus)
    assert framed.columns.tolist() == columns
    ax = plots.effects(model, topic=3)
    assert ax.get_title() == "topic 3 · Bags"
    assert plots.words(model, 3).get_title() == "topic 3 · Bags"


def test_the_report_shows_names_and_sums(tmp_path):
    model, corpus = fitted()
    merged = model.merge_topics([2, 5]).name_topics({1: "Shoes"})
    from hdsp.report.view import make_view

    view = make_view(merged, corpus)
    assert view["names"] == {1: "Shoes"}
    assert view["topics"]["n"] == 6
    assert sorted(view["form"]["topic_of"]) == sorted([*range(6), view["form"]["topic_of"][2]])
    assert view["form"]["topic_of"][2] == view["form"]["topic_of"][5]
    merged.report(tmp_path / "report.html", corpus)
    names = {"format": "hdsp-names-1", "names": {"0": "Bags"}}
    (tmp_path / "names.json").write_text(json.dumps(names))
    merged.report(tmp_path / "report.html", corpus, names=tmp_path / "names.json")
    assert '"Bags"' in (tmp_path / "report.html").read_text()
    assert '"Shoes"' in (tmp_path / "report.html").read_text()


def test_a_name_is_taken_away():
    model = fitted()[0].merge_topics([0, 1]).name_topics({2: "x", 4: "y"})
    assert model.name_topics({np.int64(2): None}).topic_names_ == {4: "y"}


def test_a_new_fit_forgets_merges_and_names():
    model = HDSP(4, random_state=0).fit(corpus_of("hdp"))
    merged = model.merge_topics([0, 1]).name_topics({0: "x"})
    merged.fit(corpus_of("categories"))
    assert merged.topic_names_ == {}
    assert len(merged.components_) == 4
