"""Names of topics, and topics merged by hand: sums of what there was, in every answer."""

import json
from functools import cache

import matplotlib as mpl
import numpy as np

from hdsp import HDSP, Corpus
from hdsp.corpus.frames import open_columns
from hdsp.report.view import make_view
from tests.cli.commands import reviews
from tests.zoo import corpus_of

mpl.use("Agg")


@cache
def fitted():
    frame = reviews(150)
    labels = frame[["labels", "department", "rating"]]
    corpus = Corpus.from_texts(frame["text"], labels=labels)
    return HDSP(7, random_state=0).fit(corpus), corpus


def table(frame):
    return {name: series.to_list() for name, series in open_columns(frame, "it").items()}


def test_intervals_of_sums_allow_for_what_topics_have_in_common():
    model, _ = fitted()
    merged = model.merge_topics([(1, 4), (2, 6)])
    add = np.array([[k in own for own in merged.fitted_topics_] for k in range(7)])
    before, after = (table(one.label_effects()) for one in (model, merged))
    widths, sums = (
        np.reshape(np.subtract(shown["upper"], shown["lower"]), (-1, n_topics))
        for shown, n_topics in ((before, 7), (after, 5))
    )
    joined = add.sum(axis=0) > 1
    np.testing.assert_allclose(sums[:, ~joined], (widths @ add)[:, ~joined], rtol=1e-9)
    # Topics that labels move together, or apart, do not add up as limits would.
    summed = (widths @ add)[:, joined]
    assert (sums[:, joined] <= summed * (1.0 + 1e-9)).all()
    assert (sums[:, joined] < summed * 0.999).any()
    # A label alone scales the expected gamma variable of the sum.
    np.testing.assert_allclose(
        merged.label_scale_ * merged.topic_weight_[:, None],
        add.T @ (model.label_scale_ * model.topic_weight_[:, None]),
        rtol=1e-9,
    )
    eta = model.topic_prior
    tokens = add.T @ (model.components_ - eta)
    np.testing.assert_allclose(merged.components_ - eta, tokens, rtol=1e-6, atol=1e-6)


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
    # The model that was merged is as it was.
    assert len(model.components_) == len(model.topic_tokens_) == 7


def test_merging_again_is_merging_at_once():
    model, corpus = fitted()
    once, first = model.merge_topics([2, 3, 6]), model.merge_topics([2, 6])
    twice = first.merge_topics([first.fitted_topics_.index(own) for own in ((2, 6), (3,))])
    assert twice.fitted_topics_ == once.fitted_topics_
    np.testing.assert_array_equal(twice.transform(corpus), once.transform(corpus))


def test_names_join_and_stay_with_their_topics():
    model, corpus = fitted()
    named = model.merge_topics([1, 2]).name_topics({0: "Shoes\nand  more"})
    assert model.topic_names_ == {}
    assert named.topic_names_ == {0: "Shoes and more"}
    columns = ["hdsp0 Shoes and more", *(f"hdsp{k}" for k in range(1, 6))]
    assert named.get_feature_names_out().tolist() == columns
    assert named.set_output(transform="pandas").transform(corpus).columns.tolist() == columns
    for shown in (named.typical_documents(corpus), named.topics_of_word("silk")):
        assert (shown["name"] != "").sum() == (shown["topic"] == 0).sum() > 0
    copy = model.merge_topics([0, 6]).name_topics({1: "A", 2: "C", 3: "D", 5: "F"})
    copy.name_topics({np.int64(1): None})
    joined = copy.merge_topics([2, 5])
    names = {joined.fitted_topics_[k]: name for k, name in joined.topic_names_.items()}
    both = tuple(sorted(copy.fitted_topics_[2] + copy.fitted_topics_[5]))
    assert names == {both: "C + F", copy.fitted_topics_[3]: "D"}


def test_the_report_shows_names_and_sums(tmp_path):
    model, corpus = fitted()
    merged = model.merge_topics([2, 5]).name_topics({1: "Shoes"})
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


def test_a_new_fit_forgets_merges_and_names():
    model = HDSP(4, random_state=0).fit(corpus_of("hdp"))
    merged = model.merge_topics([0, 1]).name_topics({0: "x"})
    merged.fit(corpus_of("categories"))
    assert merged.topic_names_ == {}
    assert len(merged.components_) == 4
