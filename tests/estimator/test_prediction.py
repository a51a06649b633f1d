import hashlib
import re
import subprocess
import sys
import warnings
from functools import cache
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

import hdsp
from hdsp import HDSP, Corpus, Labels, LogLinear, Power, simulate
from hdsp.metrics import frex, npmi, topic_top_words
from hdsp.numerics import normalised_gamma_mean
from hdsp.progress import Lines
from tests import zoo
from tests.reference.cvb0 import predict_document

METHODS = ("regression", "exact", "ratio")
TERMS = ("words", "tangent", "proportions", "topics", "scaling", "sticks", "concentrations")
TAGS = ("blue", "green", "red")


def make(**settings):
    """An estimator with ten topics, no more and no fewer."""
    return HDSP(**{"n_components": 10, "random_state": 0, "n_jobs": 1} | settings)


@cache
def labelled():
    """Counts [120, 30], and a table of tags, a category and a number."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "tags": pd.Series([list(np.array(TAGS)[rng.random(3) < 0.4]) for _ in range(120)]),
            "kind": rng.choice(["long", "short"], size=120),
            "rating": rng.normal(3.0, 1.4, size=120).round(1),
        }
    )
    corpus, _ = simulate(table, n_topics=4, n_words=30, document_length=50, random_state=4)
    return corpus.counts, table


@cache
def fitted():
    counts, table = labelled()
    return make().fit(counts, labels=table)


def word_share(model):
    """E[phi], [T, V]."""
    return model.components_ / model.components_.sum(axis=1, keepdims=True)


def log_likelihood(counts, proportions, model):
    """Log probability of each document's words, [M], the plain way."""
    return (counts.toarray() * np.log(proportions @ word_share(model))).sum(axis=1)


def test_expected_topics_of_any_labels_are_proportions():
    tags = [[tag for k, tag in enumerate(TAGS) if number >> k & 1] for number in range(8)]
    ratings = (-1e4, 0.0, 2.5, 1e4, np.nan)
    rows = list(product(tags, ("long", "short", None), ratings))
    table = pd.DataFrame(rows, columns=["tags", "kind", "rating"])
    for method in METHODS:
        theta = fitted().expected_topics(table, method)
        assert theta.shape == (len(rows), 10)
        assert (theta >= 0).all()
        np.testing.assert_allclose(theta.sum(axis=1), 1.0, atol=1e-6)


def test_expected_proportions_by_their_definitions():
    _, table = labelled()
    model = fitted()._model
    state, design = model.state, model.schema.encode(Labels.from_frame(table))
    rate = model.scaling.expected_rate(state.scaling, design)
    ratio, exact = state.prior_shape / rate, normalised_gamma_mean(state.prior_shape, rate)
    ratio /= ratio.sum(axis=1, keepdims=True)
    for method, expected in (("exact", exact), ("ratio", ratio)):
        # The same float64 numbers by another route.
        found = fitted().expected_topics(table, method)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        unlabelled = fitted().expected_topics([[]], method)[0]
        np.testing.assert_allclose(unlabelled, fitted().topic_weight_, atol=1e-6)


def test_labels_that_the_scaling_leaves_out_do_nothing():
    counts, table = labelled()
    model = make(scaling=LogLinear("rating"), tol=1e-2).fit(counts, labels=table)
    other = table.assign(tags=pd.Series([["red"]] * 120), kind="long")
    for method in METHODS:
        np.testing.assert_array_equal(
            model.expected_topics(other, method), model.expected_topics(table, method)
        )


def test_transformed_documents_have_settled():
    counts, table = labelled()
    model = fitted()._model
    design = model.schema.encode(Labels.from_frame(table))
    rate = model.scaling.expected_rate(model.state.scaling, design)
    prior_shape = model.predictive_concentration * model.state.topic_weight
    found = fitted().transform(counts, labels=table)
    for m in range(20):
        words = counts[[m]].indices
        expected = predict_document(
            counts[[m]].data, model.word_share()[words], prior_shape, rate[m], 1_000
        )
        # Documents stop where an update moves a thousandth of their tokens.
        assert np.abs(found[m] - expected).sum() < 0.02


def test_unknown_labels_warn_once_with_a_count_and_change_nothing():
    model = fitted()
    known = [["red"], ["blue"], []]
    more = [["red", "mauve"], ["blue"], ["mauve", "puce"]]
    counts = labelled()[0][:3]
    calls = [
        (lambda labels: model.expected_topics(labels)),
        (lambda labels: model.transform(counts, labels=labels)),
        (lambda labels: model.perplexity(counts, labels=labels, per_document=True)),
    ]
    for call in calls:
        expected = call(known)
        with pytest.warns(hdsp.UnknownLabelWarning, match="unknown to the model") as caught:
            result = call(more)
        assert len(caught) == 1
        text = str(caught[0].message)
        assert text.startswith("2 labels unknown to the model were ignored (in 2 documents)")
        assert "'mauve', 'puce'" in text
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("method", METHODS)
def test_missing_values_do_nothing(method):
    model, (_, table) = fitted(), labelled()
    base = {"tags": [["red"]] * 2, "kind": ["long", "long"]}
    at_mean = pd.DataFrame(base | {"rating": [np.nan, table["rating"].mean()]})
    missing, mean = model.expected_topics(at_mean, method)
    np.testing.assert_allclose(missing, mean, rtol=1e-9)
    only_tags = model.expected_topics(pd.DataFrame({"tags": [["red"]]}), method)[0]
    no_kind = pd.DataFrame({"tags": [["red"]], "kind": [None], "rating": [np.nan]})
    np.testing.assert_array_equal(model.expected_topics(no_kind, method)[0], only_tags)
    assert not np.allclose(only_tags, missing)
    # Labels of one document may be a dict.
    one = {"tags": ["red"], "kind": "long", "rating": 2.0}
    expected = model.expected_topics(pd.DataFrame({name: [one[name]] for name in one}), method)
    np.testing.assert_array_equal(model.expected_topics(one, method), expected)
    unlabelled = pd.DataFrame({"tags": [None], "kind": None, "rating": np.nan})
    expected = model.expected_topics(unlabelled, method)
    np.testing.assert_array_equal(model.expected_topics({}, method), expected)


def completion_halves(counts):
    """The fixed split: a fair coin for each token, entry by entry."""
    half = np.random.default_rng(0).binomial(counts.data.astype(int), 0.5)
    observed = csr_array((half, counts.indices, counts.indptr), shape=counts.shape)
    return observed.astype(float), (counts - observed).tocsr()


@pytest.mark.parametrize("method", [*METHODS, "completion"])
def test_perplexity_is_the_plain_computation(method):
    model, (held_out, table) = fitted(), labelled()
    asked = {"labels": table}
    if method == "completion":
        observed, held_out = completion_halves(held_out)
        theta = model.transform(observed, labels=table)
        asked["given"] = "completion"
    else:
        theta = model.expected_topics(table, method, weight="tokens")
        asked["method"] = method
    expected, lengths = log_likelihood(held_out, theta, model), held_out.sum(axis=1)
    by_document = model.perplexity(labelled()[0], **asked, per_document=True)
    np.testing.assert_allclose(by_document, np.exp(-expected / lengths), rtol=1e-9)
    # Documents aggregate by their tokens.
    total = model.perplexity(labelled()[0], **asked)
    assert total == pytest.approx(np.exp(-expected.sum() / lengths.sum()), rel=1e-9)
    if method == "completion":
        score = model.score(labelled()[0], labels=table)
        assert score == pytest.approx(-np.log(total), rel=1e-12)


def test_a_document_without_words_has_no_perplexity():
    counts, table = labelled()
    padded = counts[:4].toarray()
    padded[[1, 3]] = 0.0
    padded[2] = 0.0
    padded[2, 5] = 1.0
    by_document = fitted().perplexity(padded, labels=table[:4], per_document=True)
    assert np.isnan(by_document).tolist() == [False, True, False, True]
    total = fitted().perplexity(padded, labels=table[:4])
    assert total == pytest.approx(fitted().perplexity(padded[[0, 2]], labels=table.iloc[[0, 2]]))
    completion = fitted().perplexity(
        padded, labels=table[:4], given="completion", per_document=True
    )
    assert np.isnan(completion[[1, 3]]).all()
    assert np.isfinite(completion[0])


@cache
def driven(seed):
    """Training and test documents whose topics their tags decide."""
    rng = np.random.default_rng(seed)
    tags = [[f"tag{j}"] for j in rng.integers(0, 5, size=400)]
    corpus, _ = simulate(
        tags,
        n_topics=6,
        n_words=40,
        document_length=40,
        scaling=LogLinear(variance=9.0),
        corpus_concentration=4.0,
        document_concentration=4.0,
        random_state=seed,
    )
    return corpus.split(test_size=0.25, random_state=0)


def test_missing_labels_cost_perplexity_gracefully():
    # Half of the labels leave a regression from half of the documents, and none leave nothing.
    mean = dict.fromkeys((0.0, 0.5, 1.0), 0.0)
    for seed in range(3):
        train, test = driven(seed)
        names = train.labels.blocks[0].columns
        tags = [[names[j]] for j in train.labels.blocks[0].values.indices]
        draw = np.random.default_rng(seed).random(len(tags))
        for rate in mean:
            kept = [row if u >= rate else [] for row, u in zip(tags, draw, strict=True)]
            corpus = Corpus(train.counts, words=train.words, labels=kept)
            model = make(tol=1e-2).fit(corpus)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message=".*unknown to the model")
                mean[rate] += np.log(model.perplexity(test)) / 3
    assert mean[0.0] < mean[0.5] < mean[1.0]
    # Graceful: half of the labels keep most of what all of them give.
    assert mean[0.5] - mean[0.0] < 0.5 * (mean[1.0] - mean[0.0])


def test_labels_predict_words():
    train, test = driven(0)
    model, without = make(tol=1e-2).fit(train), Corpus(test.counts, words=test.words)
    # Effects this strong are worth far more than ten per cent.
    for method in METHODS:
        found = model.perplexity(test, method=method)
        assert found < 0.9 * model.perplexity(without, method=method)


def test_the_unit_of_a_number_does_not_matter():
    counts, table = labelled()
    table = table[["kind", "rating"]]
    changed = table.assign(rating=1000.0 * table["rating"] + 5.0)
    one, other = make().fit(counts, labels=table), make().fit(counts, labels=changed)
    # The two standardised columns differ by rounding, which the document step has in float32, and
    # a document near its tolerance may stop an iteration earlier for it.
    np.testing.assert_allclose(other.components_, one.components_, rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(
        other.transform(counts, labels=changed), one.transform(counts, labels=table), atol=1e-3
    )
    for method in METHODS:
        np.testing.assert_allclose(
            other.expected_topics(changed, method), one.expected_topics(table, method), atol=1e-3
        )
    assert not np.allclose(
        one.expected_topics(changed, "exact"), one.expected_topics(table, "exact"), atol=1e-2
    )


def test_the_table_of_topics():
    counts, table = labelled()
    model = fitted()
    topics = model.topics(n_words=3)
    assert list(topics.columns) == [
        *("topic", "name", "share", "words", "distinctive_words", "frex_words"),
        *("coherence", "weight", "raised_by", "lowered_by"),
    ]
    assert topics["topic"].tolist() == list(range(10))
    # A terminal of 80 columns shows the words of each topic, and names the other columns.
    printed = repr(topics).splitlines()
    assert all(words in line for words, line in zip(topics["words"], printed[1:], strict=False))
    assert max(map(len, printed[:-1])) <= 80
    assert printed[-1].startswith("[10 rows x 10 columns, also coherence, weight")
    np.testing.assert_array_equal(topics["weight"], model.topic_weight_)
    assert (np.diff(topics["share"]) <= 0).all()
    tokens = (model.components_ - model.topic_prior).sum(axis=1)
    np.testing.assert_allclose(topics["share"], tokens / counts.sum(), atol=1e-4)
    assert model.n_topics_ == (tokens >= counts.sum() / 120).sum()
    assert topics["words"].tolist() == [" ".join(words) for words in model.top_words(3)]
    share = word_share(model)
    gain = share * np.log(share / (model.topic_weight_ @ share))
    for column, weight in (("distinctive_words", gain), ("frex_words", frex(model.components_))):
        assert topics[column].tolist() == [
            " ".join(model.words_[i] for i in row) for row in topic_top_words(weight, 3)
        ]
    np.testing.assert_allclose(
        topics["coherence"], npmi(topic_top_words(model.components_, 10), counts)
    )
    effects = model.label_effects()
    for column, sure in (("raised_by", effects["lower"] > 0), ("lowered_by", effects["upper"] < 0)):
        for topic, named in enumerate(topics[column]):
            told = set(effects["label"][sure & (effects["topic"] == topic)])
            assert set(named) <= told
            assert len(named) == min(len(told), 3)
    # Tables are of the library that the labels came in.
    arrow = make(tol=1e9).fit(counts, labels=pa.table({"rating": table["rating"].tolist()}))
    assert isinstance(arrow.topics(), pa.Table)


@pytest.mark.parametrize("tag", [None, "blue", "red"])
def test_simulated_documents_have_the_expected_proportions(tag):
    counts, table = labelled()
    if tag is None:
        model, labels = make(tol=1e-2).fit(counts), None
    else:
        # A point posterior: what is simulated has no weights of its own to draw.
        scaling = Power("tags", variance=4.0)
        model = make(tol=1e-2, scaling=scaling).fit(counts, labels=table[["tags"]])
        labels = [[tag]] * 3000
    drawn = model.simulate(labels, n_documents=3000, document_length=60.0, random_state=7)
    # 3,000 Poisson lengths: the mean has a standard error of sqrt(60 / 3,000) = 0.14.
    lengths = drawn.counts.sum(axis=1)
    assert lengths.mean() == pytest.approx(60.0, abs=0.7)
    found = drawn.counts.toarray()[lengths > 0] / lengths[lengths > 0, None]
    mean, error = found.mean(axis=0), found.std(axis=0) / np.sqrt(len(found))
    expected = model.expected_topics([[tag] if tag else []], "exact")[0] @ word_share(model)
    # Thirty words: five standard errors are exceeded by chance once in fifty thousand runs.
    assert (np.abs(mean - expected) < 5.0 * error).all()
    if tag is not None:
        unlabelled = model.topic_weight_ @ word_share(model)
        assert (np.abs(mean - unlabelled) > 5.0 * error).any()
        assert drawn.labels.names == (tag,)
        assert drawn.words == model.words_
        other = model.simulate(labels, n_documents=3000, document_length=60.0, random_state=8)
        assert (other.counts != drawn.counts).nnz


@pytest.mark.parametrize(
    ("corpus", "document"), [(None, None), (1.3, 17.0), (None, 17.0), (1.3, None)]
)
def test_concentrations_are_learned_unless_given(corpus, document):
    counts, table = labelled()
    model = make(corpus_concentration=corpus, document_concentration=document, tol=1e-2).fit(
        counts, labels=table
    )
    for name, start, learned in (
        ("corpus_concentration", corpus, corpus is None),
        ("document_concentration", document, document is None),
    ):
        values = {row[name] for row in model.history_}
        assert values == {start} if not learned else len(values) > 1


@pytest.mark.parametrize(
    ("settings", "category", "message"),
    [
        (
            {"n_components": "auto", "max_components": 2},
            hdsp.FitWarning,
            "2 topics are in use, close to max_components=2, which may limit their number: raise",
        ),
        (
            {"n_components": 30, "init": "nmf", "max_iter": 2, "tol": 0.0},
            ConvergenceWarning,
            "stopped after max_iter=2 passes.*tol=0.0: raise max_iter or tol",
        ),
    ],
)
def test_a_fit_that_met_a_limit_warns(settings, category, message):
    with pytest.warns(category, match=message) as caught:
        model = make(**settings).fit(labelled()[0])
    assert [one.filename for one in caught] == [__file__]
    assert model.converged_ == (category is hdsp.FitWarning)
    assert model.converged_ or model.n_iter_ == 2


@pytest.mark.parametrize("scaling", ["auto", LogLinear()], ids=repr)
@pytest.mark.parametrize("fixed", [True, False], ids=["fixed", "merged"])
def test_the_history_itemises_a_bound_that_rises(scaling, fixed):
    counts, table = labelled()
    # Ten topics where there are four: without a fixed number, some are merged.
    start = "nmf" if fixed else fitted().components_
    number = 10 if fixed else "auto"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = make(scaling=scaling, tol=1e-4, n_components=number, init=start)
        rows = model.fit(counts, labels=table).history_
    assert model.converged_
    assert [row["pass"] for row in rows] == list(range(1, model.n_iter_ + 1))
    for row in rows:
        assert row["bound"] == pytest.approx(sum(row[term] for term in TERMS), rel=1e-12)
    # In the first pass alpha is 1 and the sticks' term nought; in the last every term counts.
    assert all(rows[-1][term] != 0 for term in TERMS)
    bounds = np.array([row["bound"] for row in rows])
    # The document step is in float32, so a pass may lose a few millionths to rounding.
    assert (np.diff(bounds) >= -1e-6 * np.abs(bounds[1:])).all()
    assert bounds[-1] > bounds[0]
    assert abs(bounds[-1] - bounds[-2]) <= 1e-4 * abs(bounds[-1])
    assert (np.diff([row["seconds"] for row in rows]) >= 0).all()
    assert rows[-1]["n_topics"] == len(model.components_)
    assert any("merges" in row for row in rows) == (not fixed)
    for row, following in pairwise(rows):
        gained = row.get("splits", 0) - row.get("merges", 0) - row.get("deletions", 0)
        assert following["n_topics"] == row["n_topics"] + gained


def test_verbose_tells_of_the_numbers_tried(capsys, monkeypatch):
    monkeypatch.setattr(Lines, "seconds", 0.0)
    counts, _ = labelled()
    model = make(verbose=1, tol=1e-4, n_components="auto", max_components=10).fit(counts)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    for row in model.search_:
        assert any(f"trying {row['topics']} topics" in line for line in lines)
        assert any(f"perplexity {row['perplexity']:,.1f}" in line for line in lines)
    assert f"topics {len(model.components_)}, pass {model.n_iter_}, bound " in lines[-1]
    assert "trying" not in lines[-1]
    for row in model.history_:
        shown = f"topics {row['n_topics']}, pass {row['pass']}, bound {row['bound']:,.1f}, "
        assert sum(shown in line for line in lines) >= 1
    assert re.search(r"bound [-,.\d]+, took [\d:]+$", lines[-1])
    make(tol=1e-2).fit(counts)
    assert capsys.readouterr() == ("", "")


def bits(n_jobs):
    """Hashes of fits of more documents than one range of any kernel, so that threads share them."""
    tags = [["a"], ["b"], ["a", "b"], []] * 150
    corpus, _ = simulate(tags, n_topics=5, n_words=300, document_length=40, random_state=0)
    searched = {"n_components": "auto", "max_components": 12, "init": "random", "tol": 1e-2}
    for settings in ({"n_components": 12, "max_iter": 8}, searched):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = make(**settings, random_state=5, n_jobs=n_jobs).fit(corpus)
        arrays = [model.components_, np.array([row["bound"] for row in model.history_])]
        for array in (*arrays, model.transform(corpus), model.expected_topics(corpus.labels)):
            yield hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def test_a_fresh_process_with_more_threads_gives_the_same_bits():
    program = f"from {__name__} import bits; print(*bits(2))"
    command = [sys.executable, "-c", program]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.split() == list(bits(1))


def test_seeds_and_generators_decide_the_bits():
    one, other = (zoo.fit("numbers", random_state=seed) for seed in (0, 1))
    assert not np.allclose(one.components_, other.components_, rtol=0.01)
    for make_generator in (np.random.default_rng, np.random.RandomState):
        one, other = (zoo.fit("numbers", random_state=make_generator(3)) for _ in range(2))
        np.testing.assert_array_equal(one.components_, other.components_)
