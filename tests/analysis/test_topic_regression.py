"""Effects of labels on topics: against means of documents and textbook regressions."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats

from hdsp import HDSP, TopicRegression
from hdsp.analysis import softmax
from hdsp.analysis.label_effects import _resample
from hdsp.analysis.regression import LinearRegression
from hdsp.exceptions import IntervalWarning, LabelDataWarning
from tests.analysis.corpora import M, fitted, labelled


@pytest.fixture
def model():
    return fitted()


@pytest.fixture
def frame():
    return labelled()[1]


def table_of(**columns):
    """A table with these columns; lists of tags are values."""
    return pd.DataFrame({name: pd.Series(list(values)) for name, values in columns.items()})


def effects_of(table, label, name="effect"):
    return table.loc[table["label"] == label, name].to_numpy()


def test_the_table_of_effects(model, frame):
    carried = frame["tags"].map(lambda tags: "news" in tags).to_numpy()
    table = model.estimate_effects(
        "~ mark", table_of(mark=[["x"] * c for c in carried.tolist()])
    ).effects()
    assert list(table.columns) == [
        *("label", "contrast", "topic", "words", "effect", "lower", "upper"),
        *("standard_error", "p", "q", "n_documents"),
    ]
    np.testing.assert_array_equal(table["p"] < 0.1, (table["lower"] > 0) | (table["upper"] < 0))
    classical = stats.ttest_ind(model.proportions_[carried], model.proportions_[~carried])
    assert (table["p"] >= classical.pvalue - 1e-12).all()


@pytest.mark.parametrize(
    ("form", "label", "pair", "contrast", "one", "other"),
    [
        ("marks", "mark", None, "with - without", "news", "~news"),
        ("side", "left", None, "left - other side", "side == 'left'", "side != 'left'"),
        ("side", "right", None, "right - other side", "side == 'right'", "side != 'right'"),
        ("side", "side", ("right", "left"), "left - right", "side == 'left'", "side == 'right'"),
        ("o(stars)", "stars", None, "5 - 1", "stars == 5", "stars == 1"),
        # Where both percentiles are equal, the highest and the lowest value.
        ("high", "high", None, "3 - 1", "high == 3", "high == 1"),
        # With exactly one tag each, no document shows a tag apart from the others.
        ("single", "often", None, "often - other single", "often", "~often"),
        ("single", "seldom", None, "seldom - other single", "~often", "often"),
    ],
)
def test_effects_are_differences_of_means(model, frame, form, label, pair, contrast, one, other):
    news, number = frame["tags"].map(lambda tags: "news" in tags), np.arange(M)
    further = table_of(
        marks=[["mark"] * has for has in news],
        high=np.where(number % 25, 1.0, 3.0),
        single=[["often"] if m % 3 else ["seldom"] for m in number],
    )
    table = model.estimate_effects(f"~ {form}", further).effects(label, contrast=pair)
    assert set(table["contrast"]) == {contrast}
    labels, share = frame.assign(**further, news=news, often=number % 3 > 0), model.proportions_
    first, second = (labels.eval(rows).to_numpy() for rows in (one, other))
    wanted = share[first].mean(axis=0) - share[second].mean(axis=0)
    np.testing.assert_allclose(table["effect"], wanted, atol=1e-9)
    if form in ("marks", "side"):
        assert set(table["n_documents"]) == {first.sum() + (second.sum() if pair else 0)}


def test_numbers_are_compared_between_their_percentiles(model, frame):
    x = frame["x"].to_numpy()
    found = model.estimate_effects("~ x")
    low, high = np.percentile(x, [10, 90], method="inverted_cdf")
    assert set(found.effects()["contrast"]) == {f"{high:.6g} - {low:.6g}"}
    slope = np.polyfit(x, model.proportions_, 1)[0]
    np.testing.assert_allclose(found.effects()["effect"], slope * (high - low), atol=1e-9)
    pair = found.effects("x", contrast=(0.5, 0.0))
    np.testing.assert_allclose(pair["effect"], -0.5 * slope, atol=1e-9)
    with pytest.warns(IntervalWarning, match=r"to 9, and 'x' runs from -0\.99\d* to 0\.99\d* in"):
        found.effects("x", contrast=(0, 9))
    # Few whole numbers are ordered.
    ordered = model.estimate_effects(None, frame[["stars"]])
    assert set(ordered.effects("stars")["contrast"]) == {"5 - 1"}
    with pytest.raises(ValueError, match=r"must be two values of 'stars': 1, 2, 3, 4 and 5, got"):
        ordered.effects("stars", contrast=(1, 7))


def test_interactions_are_averaged_over_documents():
    """Against statsmodels' predictions with everybody on one side, or at one value."""
    model, (_, frame) = fitted(interaction=True), labelled(interaction=True)
    found = model.estimate_effects("~ side * x")
    low, high = np.percentile(frame["x"], [10, 90], method="inverted_cdf")
    fits = [smf.ols("y ~ C(side) * x", frame.assign(y=y)).fit() for y in model.proportions_.T]

    def mean(**values):
        return np.array([fit.predict(frame.assign(**values)).mean() for fit in fits])

    wanted = mean(x=high) - mean(x=low)
    np.testing.assert_allclose(found.effects("x")["effect"], wanted, atol=1e-9)
    pair = found.effects("side", contrast=("left", "right"))
    np.testing.assert_allclose(pair["effect"], mean(side="right") - mean(side="left"), atol=1e-9)
    # Averaging does not make intervals wide.
    additive = model.estimate_effects("~ side + x").effects()
    both = found.effects()
    width, plain = (table["upper"] - table["lower"] for table in (both, additive))
    assert np.median(width / plain) < 1.2
    table = found.differences("x", by="side")
    assert list(table.columns[:3]) == ["label", "contrast", "by"]
    one = table[table["by"].str.startswith("right")]
    others = (frame["side"] != "right").mean()
    shares = frame.loc[frame["side"] != "right", "side"].value_counts() / others / M
    change = {
        side: mean(x=high, side=side) - mean(x=low, side=side)
        for side in ("left", "right", "centre")
    }
    wanted = change["right"] - sum(share * change[side] for side, share in shares.items())
    np.testing.assert_allclose(one["difference"], wanted, atol=1e-9)
    assert ((one["lower"] > 0) | (one["upper"] < 0)).sum() >= 2


def same_tables(found, wanted):
    by = ["label", "topic"]
    one, two = (table.sort_values(by).reset_index(drop=True) for table in (found, wanted))
    names = [*by, "effect", "lower", "upper", "p"]
    pd.testing.assert_frame_equal(one[names], two[names], rtol=1e-8, atol=1e-10)


def with_either_reference(model, formula, levels, **columns):
    """Tables of effects: names decide which of equally frequent levels is the reference."""
    for names in ({}, {"a": "b", "b": "a"}):
        one = [names.get(level, level) for level in levels]
        found = model.estimate_effects(formula, table_of(one=one, **columns)).effects()
        yield found.assign(label=found["label"].replace(names))


def test_the_reference_level_does_not_matter(model, frame):
    levels = [*np.resize(["a", "b", "c"], M - 1).tolist(), None]
    same_tables(*with_either_reference(model, "~ one * x + tags", levels))


def test_empty_cells_are_not_estimable(model):
    one, two = np.resize(["a", "b", "c"], M), np.resize(["u", "u", "u", "v", "v", "v"], M)
    two[(one == "c") & (two == "v")] = "u"
    with pytest.warns() as caught:
        first, second = with_either_reference(model, "~ one * two + x", one, two=two)
    said = " ".join(str(warning.message) for warning in caught)
    assert said.count("Dropped 'c × v': linear combinations of other labels") == 2
    assert said.count("cannot be estimated: only one document has each, or") == 2
    same_tables(first, second)
    assert set(first.loc[first["effect"].isna(), "label"]) == {"a", "b", "c", "u", "v"}
    assert first.loc[first["label"] == "x", "effect"].notna().all()


def test_levels_are_expected_proportions(model, frame):
    found = model.estimate_effects("~ side + x")
    table, means = found.levels("side"), found.effects("side", contrast=("left", "right"))
    np.testing.assert_allclose(table.groupby("value")["expected"].sum(), 1.0, atol=1e-9)
    assert ((table["expected"] > 0) & (table["lower"] < table["expected"])).all()
    assert (table["expected"] < table["upper"]).all()
    expected = table.pivot(index="value", columns="topic", values="expected")
    assert list(expected.index) == ["centre", "left", "right"]
    difference = expected.loc["right"] - expected.loc["left"]
    np.testing.assert_allclose(difference, means["effect"], atol=0.03)
    left, lengths = (frame["side"] == "left").to_numpy(), model._model.reading.lengths
    for weight, own in (("documents", np.ones(M)), ("tokens", lengths)):
        table = model.estimate_effects("~ side", weight=weight).levels("side")
        wanted = own[left] @ model.proportions_[left] / own[left].sum()
        observed = table.loc[table["value"] == "left", "observed"]
        np.testing.assert_allclose(observed, wanted, atol=1e-6)


def test_curves_are_expected_proportions(model, frame):
    found = model.estimate_effects("~ side + x")
    curve, by = found.curve("x", n=9), found.curve("x", by="side", n=3)
    np.testing.assert_allclose(curve.groupby("value")["expected"].sum(), 1.0, atol=1e-9)
    assert (curve["lower"] >= 0).all()
    assert curve.groupby("value")["n_documents"].first().sum() == M
    assert by.groupby(["side", "value"])["n_documents"].first().sum() == M
    low, *_, high = expected = curve.pivot(index="value", columns="topic", values="expected").index
    assert (low, high) == pytest.approx((frame["x"].min(), frame["x"].max()))
    assert len(expected) == 9
    ends = [curve.loc[curve["value"] == value, "expected"].to_numpy() for value in (low, high)]
    slope = found.effects("x")["effect"].to_numpy()
    assert (np.sign(ends[1] - ends[0]) == np.sign(slope))[np.abs(slope) > 0.05].all()


def test_terms_are_tested(model, frame):
    found = model.estimate_effects("~ side + x")
    table = found.test()
    assert table.groupby("term")["df"].first().to_dict() == {"side": 2, "x": 1}
    assert (table["q"] >= table["p"]).all()
    slope = effects_of(found.effects(), "x", "p")
    np.testing.assert_allclose(
        effects_of(table.assign(label=table["term"]), "x", "p"), slope, rtol=0.05, atol=1e-9
    )
    for k, y in enumerate(model.proportions_.T):
        fit = smf.ols("y ~ C(side) + x", frame.assign(y=y))
        both = fit.fit(), fit.fit(cov_type="HC2", use_t=True)
        tests = [one.f_test("C(side)[T.left] = 0, C(side)[T.right] = 0") for one in both]
        own = table[(table["term"] == "side") & (table["topic"] == k)].iloc[0]
        assert own["p"] == pytest.approx(max(float(one.pvalue) for one in tests), rel=1e-6)


def test_the_summary_is_rs(model, frame):
    said = str(model.estimate_effects("~ side + x", groups=frame["blog"]).summary(topics=[2]))
    assert "Formula: ~ side + x\nDocuments: 400, clustered in 25 groups\n\nTopic 2 (" in said
    for pattern in (
        r"^ +Estimate Std\. Error  t value Pr\(>\|t\|\)$",
        r"^\(Intercept\) +\d\.\d{5} +\d\.\d{5} +\d+\.\d\d  <0\.0001 \*\*\*$",
        r"^right +-?\d",
    ):
        assert re.search(pattern, said, re.MULTILINE)
    # Of a category, the most frequent level is the reference.
    assert not re.search(r"^left", said, re.MULTILINE)
    assert "Topic 1" not in said
    with pytest.raises(ValueError, match="must be numbers from 0 to 3, got 4"):
        model.estimate_effects("~ x").summary(4)


def test_documents_with_missing_labels_are_left_out(model, frame):
    x = frame["x"].where(frame["x"] < 0.6)
    found = model.estimate_effects("~ x + side", table_of(x=x))
    assert found.n_documents == x.notna().sum() < M
    assert f"({x.isna().sum()} documents left out because labels are missing)" in found.summary()
    fit = [smf.ols("y ~ x + C(side)", frame.assign(x=x, y=y)).fit() for y in model.proportions_.T]
    low, high = np.percentile(x.dropna(), [10, 90], method="inverted_cdf")
    wanted = [own.params["x"] * (high - low) for own in fit]
    np.testing.assert_allclose(found.effects("x")["effect"], wanted, atol=1e-9)
    mostly = pd.DataFrame({"x": x.where(x < -0.5)})
    found = model.estimate_effects("~ x + side", mostly)
    with pytest.warns(LabelDataWarning, match="'x' are missing in others"):
        assert found.n_documents == M
    assert "x (missing)" in found.summary()


def test_groups_widen_intervals_of_labels_of_whole_groups():
    model, (_, frame) = fitted(groups=1.0), labelled(groups=1.0)
    labels = frame[["owner", "blog"]]
    alone = model.estimate_effects("~ owner", labels)
    found = model.estimate_effects("~ owner", labels, groups="blog")
    assert repr(found) == "TopicRegression('~ owner', 400 documents in 25 groups)"
    assert alone.n_groups is None
    for ask in (TopicRegression.effects, lambda own: own.levels("owner")):
        width, plain = ((t["upper"] - t["lower"]).mean() for t in (ask(found), ask(alone)))
        assert width > 1.5 * plain
    # By a random intercept, by values, and by other numbers of the groups.
    pooled = model.estimate_effects("~ owner + (1 | blog)", labels)
    assert pooled.label_names == ("even", "odd")
    values = model.estimate_effects("~ owner", labels, groups=frame["blog"].tolist())
    other = model.estimate_effects("~ owner", labels, groups=[f"x{b[::-1]}" for b in frame["blog"]])
    for same in (pooled, values, other):
        for name in ("effect", "lower", "p"):
            one, two = found.effects()[name], same.effects()[name]
            np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12)
    with pytest.warns(IntervalWarning, match=r"come in 5 groups: with fewer than 10, the effect"):
        model.estimate_effects("~ x", groups=np.arange(M) % 5).effects()
    with pytest.raises(ValueError, match="All documents are in one group, so effects have no stan"):
        model.estimate_effects("~ x", groups=["one"] * M).effects()
    with pytest.raises(ValueError, match=r"one value per document, or name a cat.*Got 'never'"):
        model.estimate_effects("~ x", groups="never")


def test_refits_draw_whole_groups():
    groups = np.array([5, 5, -1, 7, 7, 7, -1])
    for seed in range(5):
        times = np.bincount(_resample(7, groups, np.random.default_rng(seed)), minlength=7)
        assert times[0] == times[1]
        assert len(set(times[3:6])) == 1


def test_tokens_may_weigh_alike(model, frame):
    lengths, side = model._model.reading.lengths, frame["side"].to_numpy()
    found = model.estimate_effects("~ side", weight="tokens")
    left, right, others = (
        lengths[rows] @ model.proportions_[rows] / lengths[rows].sum()
        for rows in (side == "left", side == "right", side != "left")
    )
    pair = found.effects("side", contrast=("right", "left"))
    np.testing.assert_allclose(pair["effect"], left - right, atol=1e-9)
    # Other sides are weighted by their documents.
    np.testing.assert_allclose(found.effects("left")["effect"], left - others, atol=0.02)
    equal = model.label_effects(weight="documents")["effect"]
    assert np.abs(model.label_effects(weight="tokens")["effect"] - equal).max() > 1e-3


def test_rare_labels_are_regressed_one_by_one(model):
    """Of more labels than half of the documents, beside the most frequent ones."""
    rng = np.random.default_rng(0)
    carried = rng.random((M, 220)) < 0.9 / np.arange(1, 221) ** 0.7
    tags = [[f"t{j}" for j in np.flatnonzero(row)] for row in carried]
    table = model.estimate_effects("~ names", table_of(names=tags)).effects()
    frequency = carried.sum(axis=0)
    joint = np.flatnonzero(frequency >= np.sort(frequency)[-M // 10])
    base = np.column_stack([np.ones(M), carried[:, joint]]).astype(float)
    rare = np.setdiff1d(np.flatnonzero(frequency), joint)
    assert 40 <= len(joint) < 60 < len(rare)
    for j in (*joint[:3], *rare[:3]):
        design, place = base, 1 + joint.tolist().index(j) if j in joint else base.shape[1]
        if j in rare:
            design = np.column_stack([base, carried[:, j]])
        estimate = LinearRegression(design, model.proportions_)
        estimate = estimate.estimate(np.eye(design.shape[1])[[place]])
        np.testing.assert_allclose(effects_of(table, f"t{j}"), estimate.value[0], atol=1e-9)
        upper = estimate.value[0] + estimate.half_width(0.9)[0]
        np.testing.assert_allclose(effects_of(table, f"t{j}", "upper"), upper, atol=1e-5)


def test_the_order_of_documents_and_labels_does_not_matter(model, frame):
    fitted_model = model._model
    wanted, order = model.label_effects(), np.random.default_rng(0).permutation(M)
    reading = fitted_model.reading
    names = ("proportions", "values", "lengths", "fold", "rows")
    shuffled = replace(reading, **{name: getattr(reading, name)[order] for name in names})
    other = TopicRegression(fitted_model, shuffled, fitted_model.space, "", "documents")
    same_tables(other.effects(), wanted)
    # Columns and tags in another order, by a formula in another order.
    tags = frame["tags"].map(lambda tags: tags[::-1])
    turned = frame[["stars", "side", "x"]].assign(tags=tags)
    found = model.estimate_effects("~ tags + o(stars) + x + side", turned)
    same_tables(found.effects(), wanted)


def test_answers_are_computed_when_asked_for_and_once(monkeypatch):
    calls, original = [], softmax.learn_softmax
    monkeypatch.setattr(softmax, "learn_softmax", lambda *own: calls.append(1) or original(*own))
    # A model that nobody has asked yet.
    model = fitted.__wrapped__(("x", "tags"))
    model.label_effects()
    model.proportions_.sum()
    assert calls == []
    # Warnings of unreliable topics need their coherence.
    assert set(model._model.answers) <= {"coherence"}
    for _ in range(2):
        model.perplexity(labelled()[0].counts)
    assert len(calls) == 1


def test_documents_that_are_gone_get_a_sentence(tmp_path):
    fitted(labels=("x", "side", "tags")).save(tmp_path / "model.hdsp")
    loaded = HDSP.load(tmp_path / "model.hdsp")
    loaded._model.answers.clear()
    with pytest.raises(ValueError, match="This answer needs the training documents"):
        loaded.topic_correlations()


def test_other_documents_and_further_labels(model, frame):
    other, _ = labelled(seed=2)
    found = model.estimate_effects("~ side + x", corpus=other).effects("x")
    # The same truth, in other documents.
    errors = np.hypot(found["standard_error"], model.label_effects("x")["standard_error"])
    difference = found["effect"] - model.estimate_effects("~ side + x").effects("x")["effect"]
    assert (np.abs(difference) < 3 * errors).all()
    lacking = fitted(labels=("tags",))
    corpus, _ = labelled()
    one = lacking.estimate_effects("~ x", frame[["x"]]).effects()
    two = lacking.estimate_effects("~ x", corpus=corpus).effects()
    pd.testing.assert_frame_equal(one, two)


@pytest.mark.parametrize(
    ("formula", "method", "asked", "message"),
    [
        ("~ y", "effects", {}, "there are 'x', 'side', 'stars'"),
        ("~ x", "curve", {"label": "side"}, "`label` of .* must be a column of labels of .*: 'x'"),
        ("~ side", "curve", {"label": "side"}, "must be numeric. 'side' is of kind category"),
        ("~ side + x", "curve", {"label": "x", "by": "x"}, "`by` of .* a category of the .*: 'sid"),
        ("~ side", "differences", {"label": "left", "by": "right"}, "another label than `label`, "),
        ("~ side + x", "differences", {"label": "side", "by": "x"}, "no interaction of 'side' and"),
        ("", "label_effects", {"level": 1.0}, "`level` of HDSP.label_effects"),
        ("", "label_effects", {"labels": "x", "contrast": ("a", "b")}, "is numeric, got 'a'"),
        ("", "label_effects", {"contrast": (1, 5)}, "needs `labels` to name one category or"),
        ("", "label_effects", {"labels": "x", "contrast": 5}, "must be two levels of a category,"),
        (
            "",
            "label_effects",
            {"labels": "side", "contrast": ("left", "up")},
            "two levels of 'side': .*'up'",
        ),
        ("", "estimate_effects", {"weight": "words"}, "`weight` of HDSP.estimate_effects"),
    ],
)
def test_bad_questions(model, formula, method, asked, message):
    with pytest.raises(ValueError, match=message):
        getattr(model.estimate_effects(formula) if formula else model, method)(**asked)


@pytest.mark.filterwarnings("ignore::hdsp.exceptions.LabelDataWarning")
def test_documents_that_cannot_be_regressed(model, frame):
    other = labelled(seed=2)[0][:2]
    with pytest.raises(ValueError, match="must be None with a `corpus`"):
        model.estimate_effects("~ x", frame, corpus=other)
    with pytest.raises(ValueError, match="needs at least 3 documents with words and labels, got 2"):
        model.estimate_effects("~ x", corpus=other).effects()
    many = pd.DataFrame(np.random.default_rng(0).normal(size=(M, M))).add_prefix("n")
    with pytest.raises(ValueError, match=r"has \d+ columns for 400 documents: leave labels out"):
        model.estimate_effects(None, many).effects()
