"""Synthetic corpora: their moments, and what they refuse."""

import numpy as np
import pytest
from scipy.special import digamma

from hdsp import HDSP
from hdsp.datasets import LabelDesign, add_placebo_tags, make_corpus, split_halves
from hdsp.numerics import draw_counts, draw_proportions

FEW = {"n_topics": 5, "n_words": 40}


def shares(counts):
    return counts / counts.sum(axis=1, keepdims=True)


def zipf(n):
    share = 1.0 / np.arange(1, n + 1)
    return share / share.sum()


def test_proportions_are_dirichlet():
    shape = np.array([0.02, 0.3, 2.0])
    drawn = draw_proportions(np.tile(shape, (40_000, 1)), np.random.default_rng(0))
    mean = shape / shape.sum()
    np.testing.assert_allclose(drawn.sum(axis=1), 1.0)
    # Five standard errors of the mean are 0.004, of the variance 5 %.
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.004)
    variance = mean * (1.0 - mean) / (shape.sum() + 1.0)
    np.testing.assert_allclose(drawn.var(axis=0)[1:], variance[1:], rtol=0.05)
    expected = digamma(shape[2]) - digamma(shape.sum())
    assert np.log(drawn[:, 2]).mean() == pytest.approx(expected, abs=0.02)


def test_tokens_follow_proportions_and_topics():
    rng = np.random.default_rng(0)
    proportions, words = rng.dirichlet(np.ones(3), size=4), rng.dirichlet(np.ones(6), size=3)
    lengths = np.array([0, 10, 100_000, 200_000])
    counts = draw_counts(proportions, words, lengths, rng)
    np.testing.assert_array_equal(counts.sum(axis=1), lengths)
    assert counts.has_canonical_format
    expected = proportions[2:] @ words
    np.testing.assert_allclose(shares(counts[2:].toarray()), expected, atol=0.006)


def test_topics_vary_about_zipfs_frequencies():
    _, truth = make_corpus(2, n_topics=4_000, n_words=30, overlap=0.0, random_state=0)
    mean = truth.word_share.mean(axis=0)
    np.testing.assert_allclose(truth.word_share.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.sort(mean)[::-1], zipf(30), rtol=0.03)
    assert (np.diff(mean) > 0).any()
    # The precision of Dirichlet(100 f), of which 4,000 topics tell half a per cent.
    precision = (mean * (1.0 - mean)).sum() / truth.word_share.var(axis=0).sum() - 1.0
    assert precision == pytest.approx(100.0, rel=0.02)


def test_an_overlap_mixes_topics_with_the_frequencies():
    own, frequency, mixed = (
        make_corpus(3, overlap=share, random_state=0, **FEW)[1].word_share for share in (0, 1, 0.3)
    )
    np.testing.assert_allclose(frequency, frequency[:1].repeat(5, axis=0))
    np.testing.assert_allclose(mixed, 0.7 * own + 0.3 * frequency)


@pytest.mark.parametrize(("kind", "weight"), [("equal", np.full(5, 0.2)), ("zipf", zipf(5))])
def test_documents_of_lda(kind, weight):
    corpus, truth = make_corpus(
        20_000, document_length=30, topic_weights=kind, random_state=0, **FEW
    )
    np.testing.assert_allclose(truth.topic_weight, weight)
    assert truth.concentration == 0.5
    np.testing.assert_allclose(truth.proportions.mean(axis=0), weight, atol=0.015)
    variance = weight * (1.0 - weight) / 1.5
    np.testing.assert_allclose(truth.proportions.var(axis=0), variance, rtol=0.05)
    lengths = corpus.counts.sum(axis=1)
    assert lengths.mean() == pytest.approx(30, abs=0.2)
    assert lengths.var() == pytest.approx(30, rel=0.06)
    expected = truth.proportions @ truth.word_share
    found = np.asarray(corpus.counts.sum(axis=0)) / corpus.n_tokens
    np.testing.assert_allclose(found, expected.mean(axis=0), atol=0.004)
    assert corpus.labels.shape == (20_000, 0)
    assert truth.effects().shape == (0, 5)


def test_labels_are_as_frequent_as_designed():
    labels = LabelDesign(levels=4, numbers=2).draw(4_000, np.random.default_rng(0))
    tags = labels.block("tags")
    found = dict(zip(tags.columns, np.asarray(tags.values.sum(axis=0)), strict=True))
    common = [found[name] for name in found if not name.startswith("rare")]
    assert common == [1200.0] * 5
    assert found["rare_0"] == found["rare_1"] == 20.0
    np.testing.assert_array_equal(labels.block("category").values.sum(axis=0), [1000.0] * 4)
    names = [block.name for block in labels.blocks[2:]]
    assert names == ["number_0", "number_1", "null_number_0"]
    for name in names:
        values = labels.block(name).values.toarray()
        assert abs(values.mean()) < 0.08
        assert values.std() == pytest.approx(1.0, abs=0.06)
    tags = tags.values.toarray()
    assert np.abs(np.corrcoef(tags.T) - np.eye(7)).max() < 0.08


def test_labels_correlate_with_those_that_have_an_effect():
    plan = LabelDesign(1, 0, 1, 0, 1, 1, frequency=0.5, correlation=0.6)
    labels = plan.draw(20_000, np.random.default_rng(0))
    numbers = [labels.block(name).values.toarray()[:, 0] for name in ("number_0", "null_number_0")]
    assert np.corrcoef(numbers)[0, 1] == pytest.approx(0.6, abs=0.03)
    tags = labels.block("tags").values.toarray()
    # Two halves of normal variables that correlate by r agree with probability 1/2 + asin(r)/pi.
    agree = (tags[:, 0] == tags[:, 1]).mean()
    assert agree == pytest.approx(0.5 + np.arcsin(0.6) / np.pi, abs=0.02)


@pytest.mark.parametrize("prior", ["dirichlet", "logistic-normal"])
def test_proportions_given_labels(prior):
    labels = LabelDesign(2, 1, 1, 3, 1, 1, rare_documents=3_000)
    corpus, truth = make_corpus(
        30_000, labels=labels, prior=prior, document_length=1.0, random_state=1, **FEW
    )
    assert corpus.labels.names == truth.labels.names
    null = [name.startswith("null_") for name in truth.labels.names]
    assert null == [False, False, False, True, False, False, False, False, True]
    np.testing.assert_array_equal(truth.label_weights[null], 0.0)
    assert 0.6 < truth.label_weights[np.logical_not(null)].std() < 1.4
    design = np.hstack([block.values.toarray() for block in truth.labels.blocks])
    expected = truth.expected_proportions(design)
    for column in range(8):
        carrying = design[:, column] > 0.5
        found = truth.proportions[carrying].mean(axis=0)
        # Three thousand documents or more; 400 draws stand behind the logistic normal.
        np.testing.assert_allclose(found, expected[carrying].mean(axis=0), atol=0.025)


def test_a_logistic_normal_has_its_mean_and_spread():
    _, truth = make_corpus(
        20_000, n_topics=2, n_words=5, prior="logistic-normal", spread=1.5, random_state=0
    )
    score = np.log(truth.proportions[:, 0] / truth.proportions[:, 1])
    assert score.mean() == pytest.approx(0.0, abs=0.08)
    assert score.std() == pytest.approx(1.5 * 2**0.5, rel=0.03)


def test_effects_by_their_definition():
    _, truth = make_corpus(300, labels=LabelDesign(), effect_size=0.7, random_state=0, **FEW)
    design = np.hstack([block.values.toarray() for block in truth.labels.blocks])
    names = truth.labels.names
    found = dict(zip(names, truth.effects(), strict=True))

    def mean(**values):
        rows = design.copy()
        for name, value in values.items():
            rows[:, names.index(name)] = value
        share = np.exp(np.log(truth.topic_weight) + rows @ truth.label_weights)
        return shares(share).mean(axis=0)

    np.testing.assert_allclose(found["rare_1"], mean(rare_1=1.0) - mean(rare_1=0.0))
    levels = [mean(**{f"level_{i}": float(i == j) for i in range(3)}) for j in range(3)]
    np.testing.assert_allclose(found["level_1"], levels[1] - (levels[0] + levels[2]) / 2)
    number = design[:, names.index("number_0")]
    np.testing.assert_allclose(found["number_0"], mean(number_0=number + number.std()) - mean())
    np.testing.assert_array_equal(found["null_tag_0"], 0.0)
    np.testing.assert_array_equal(found["null_number_0"], 0.0)


def test_the_estimator_lists_the_same_effects_in_the_same_order():
    corpus, truth = make_corpus(
        200, labels=LabelDesign(), document_length=20, random_state=0, **FEW
    )
    model = HDSP(5, max_iter=200, random_state=0).fit(corpus)
    table = model.label_effects()
    assert list(dict.fromkeys(table["label"])) == list(truth.labels.names)


def test_the_same_seed_gives_the_same_corpus():
    one, two = (make_corpus(30, labels=LabelDesign(), random_state=7, **FEW)[0] for _ in range(2))
    assert (one.counts != two.counts).nnz == 0
    other, _ = make_corpus(30, labels=LabelDesign(), random_state=8, **FEW)
    assert (one.counts != other.counts).nnz > 0


def test_placebo_tags_join_the_labels():
    corpus, _ = make_corpus(400, labels=LabelDesign(), random_state=0, **FEW)
    found = add_placebo_tags(corpus, [20, 200], random_state=0)
    assert found.labels.names == (*corpus.labels.names, "placebo_0", "placebo_1")
    tags = found.labels.block("placebo").values.toarray()
    np.testing.assert_array_equal(tags.sum(axis=0), [20.0, 200.0])
    assert (found.counts != corpus.counts).nnz == 0
    # At random: neither half of the documents has many more of them.
    assert abs(tags[:200, 1].sum() - 100) < 35


def test_halves_share_no_document_and_miss_none():
    corpus, _ = make_corpus(31, document_length=500, random_state=0, **FEW)
    first, second = split_halves(corpus, random_state=3)
    assert (len(first), len(second)) == (16, 15)
    rows = [row.tobytes() for half in (first, second) for row in half.counts.toarray()]
    assert sorted(rows) == sorted(row.tobytes() for row in corpus.counts.toarray())
    assert rows[:16] != [row.tobytes() for row in corpus.counts.toarray()[:16]]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"n_documents": 0}, "`n_documents` of make_corpus must be a positive number. Got 0"),
        ({"spread": -1.0}, "`spread` of make_corpus must be a positive number. Got -1.0"),
        ({"overlap": 1.5}, "`overlap` of make_corpus must lie between 0 and 1. Got 1.5"),
        (
            {"topic_weights": "even"},
            "`topic_weights` of make_corpus must be one of 'equal', 'zipf'",
        ),
        ({"prior": "dmr"}, "`prior` of make_corpus must be one of 'dirichlet', 'logistic-normal'"),
        ({"labels": LabelDesign(rare_documents=40)}, "between 0 and 30. Got 40"),
        ({"labels": LabelDesign(correlation=-0.1)}, "`correlation` of LabelDesign must lie betwe"),
        ({"labels": LabelDesign(levels=1)}, "`levels` of LabelDesign must be 0, or at least 2"),
    ],
)
def test_bad_settings(setting, message):
    with pytest.raises(ValueError, match=message):
        make_corpus(**{"n_documents": 30, **FEW, **setting})


def test_placebo_tags_on_more_documents_than_there_are():
    corpus, _ = make_corpus(10, random_state=0, **FEW)
    with pytest.raises(ValueError, match=r"between 1 and the 10 documents. Got \[11\]"):
        add_placebo_tags(corpus, [11])
