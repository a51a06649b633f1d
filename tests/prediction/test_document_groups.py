"""Documents that come in groups: intervals allow for what documents of a group share."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from hdsp import HDSP, Corpus, open_corpus, read_table
from hdsp.answers.effect_refits import _resample
from hdsp.corpus import BlockSchema, LabelSchema, group_numbers
from hdsp.exceptions import FewGroupsWarning
from hdsp.prediction.calibration import Calibration
from hdsp.prediction.calibration.clusters import Clusters, mean_dispersion
from hdsp.prediction.calibration.cross_fit import folds
from hdsp.prediction.calibration.learn import Documents, learn
from hdsp.prediction.calibration.regression import Regression, observe
from hdsp.prediction.calibration.variance import total_information
from hdsp.scaling import bind_labels
from tests.prediction.test_calibration import read_problem


def grouped_tokens(seed, n_groups=40, each=15):
    """Tokens of topics in documents of groups that differ, with two tags that do nothing.

    The first is of whole groups, the second of documents.
    """
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), each)
    whole = (rng.permutation(n_groups) % 2)[group]
    design = np.column_stack([whole, rng.random(len(group)) < 0.5]).astype(float)
    score = 0.7 * rng.normal(size=(n_groups, 5))[group] + 0.5 * rng.normal(size=(len(group), 5))
    share = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    tokens = np.array([rng.multinomial(60, row) for row in share], dtype=np.float32)
    return csr_array(design), tokens, group


def learned(design, tokens, group=None):
    space = bind_labels("auto", LabelSchema((BlockSchema("tags", "tags", ("a", "b")),)))
    clusters = None if group is None else Clusters.of(design, tokens, group)
    room = np.empty_like(tokens)
    documents = Documents(design, observe(design, tokens), room, design, tokens, clusters)
    return learn(documents, space, lambda found: np.zeros(found.coefficients.shape)).calibration


def test_intervals_allow_for_groups():
    """Coefficients of tags that do nothing, in units of their deviations."""
    size = {False: [], True: []}
    for seed in range(8):
        design, tokens, group = grouped_tokens(seed)
        for given, values in size.items():
            found = learned(design, tokens, group if given else None)
            centred = found.coefficients - found.coefficients.mean(axis=1, keepdims=True)
            values.append(centred / np.sqrt(found.variance))
    without, given = (
        np.sqrt((np.array(values) ** 2).mean(axis=(0, 2))) for values in size.values()
    )
    # Of whole groups, the error is more than twice what single documents would say.
    assert without[0] > 1.6
    assert given[0] < 1.1
    # Groups say nothing of a tag that each of them has as often.
    assert given[1] < 1.1
    assert given[1] > 0.6 * without[1]


def test_a_tag_of_one_group_cannot_be_told_from_it():
    design, tokens, group = grouped_tokens(0)
    design = csr_array(np.column_stack([group == 3, design.toarray()[:, 1]]).astype(float))
    alone, found = learned(design, tokens), learned(design, tokens, group)
    assert (found.variance[0] > 2 * alone.variance[0]).all()
    assert found.degrees[0] == 1.0
    assert found.degrees[1] == pytest.approx(38.0, abs=1.5)


def test_few_groups_have_heavier_tails():
    design, tokens, group = grouped_tokens(0, n_groups=6)
    found = learned(design, tokens, group)
    drawn = found.draw(0, np.random.default_rng(0), 20_000) - found.coefficients[0]
    inside = (np.abs(drawn) < 1.6 * np.sqrt(found.variance[0])).mean()
    assert inside < 0.87


def test_folds_take_whole_groups():
    problem, _ = read_problem(np.full((3, 12), 1 / 12), n_documents=60)
    names = tuple("" if m < 20 else f"author {m // 4}" for m in range(60))
    groups = group_numbers(names)
    found, by_words = folds(problem, groups), folds(problem)
    np.testing.assert_array_equal(found[:20], by_words[:20])
    together = found[20:].reshape(-1, 4)
    assert (together == together[:, :1]).all()
    assert len(set(found[20:])) > 1
    # It follows from the group's name alone.
    np.testing.assert_array_equal(groups[40:], group_numbers(names[40:]))


def test_refits_draw_whole_groups():
    groups = np.array([5, 5, -1, 7, 7, 7, -1])
    for seed in range(5):
        drawn = np.bincount(_resample(7, groups, np.random.default_rng(seed)), minlength=7)
        assert drawn[0] == drawn[1]
        assert len(set(drawn[3:6])) == 1
    few = np.array([_resample(7, groups, np.random.default_rng(s)).size for s in range(300)])
    assert few.mean() == pytest.approx(7, abs=0.5)


def corpus_of(n_documents=60, **options):
    rng = np.random.default_rng(0)
    counts = (
        rng.poisson(1.0, size=(n_documents, 12)) + np.eye(12)[rng.integers(12, size=n_documents)]
    )
    labels = pd.DataFrame({"kind": rng.choice(["x", "y"], size=n_documents)})
    return Corpus(counts, labels=labels, **options)


def test_a_corpus_carries_groups(tmp_path):
    names = [None if m % 7 == 0 else m // 5 for m in range(60)]
    corpus = corpus_of(groups=names)
    assert corpus.groups[:3] == ("", "0", "0")
    assert corpus[[1, 6]].groups == ("0", "1")
    train, test = corpus.split(0.3, random_state=0)
    assert len(train.groups) + len(test.groups) == 60
    corpus.write(tmp_path / "stored", shard_size=25)
    stored = open_corpus(tmp_path / "stored")
    assert stored.has_groups
    assert stored.groups == corpus.groups
    assert stored[20:30].groups == corpus.groups[20:30]
    assert not open_corpus_without(tmp_path).has_groups
    assert corpus.with_groups(None).groups is None


def open_corpus_without(folder):
    corpus_of().write(folder / "without")
    return open_corpus(folder / "without")


def test_a_table_has_a_column_of_groups(tmp_path):
    path = tmp_path / "texts.csv"
    frame = pd.DataFrame({"text": ["one cat", "two cats", "a cat sat"], "author": ["ann", None, 3]})
    frame.to_csv(path, index=False)
    assert read_table(path, group="author").groups == ("ann", "", "3")


def test_groups_that_are_none_are_refused():
    for groups, kind in (("author", TypeError), (3, TypeError), ([[1], [2]] * 30, TypeError)):
        with pytest.raises(kind, match="`groups` of Corpus must hold"):
            corpus_of(groups=groups)
    with pytest.raises(ValueError, match=r"each of the 60 documents\. Got 2 values"):
        corpus_of(groups=["a", "b"])


def fit(corpus, **options):
    return HDSP(3, fixed_number=True, tol=0.01, random_state=0, n_jobs=1).fit(corpus, **options)


def test_a_fit_takes_groups():
    groups = np.arange(60) // 4
    corpus = corpus_of()
    model = fit(corpus.counts, labels=pd.DataFrame({"kind": corpus_kind(corpus)}), groups=groups)
    of_corpus = fit(corpus_of(groups=groups))
    same = fit(corpus, groups=groups)
    for other in (of_corpus, same):
        for one, two in zip(model._model.calibrations, other._model.calibrations, strict=True):
            np.testing.assert_array_equal(one.variance, two.variance)
            np.testing.assert_array_equal(one.degrees, two.degrees)
    alone = fit(corpus)
    assert alone._model.calibration.degrees is None
    np.testing.assert_array_equal(alone.components_, model.components_)
    table = of_corpus.label_effects(refits=2, corpus=corpus_of(groups=groups))
    assert (table["lower"] < table["upper"]).all()
    with pytest.raises(ValueError, match="same labels and groups"):
        of_corpus.label_effects(refits=2, corpus=corpus)


def corpus_kind(corpus):
    block = corpus.labels.block("kind")
    return np.array(block.columns)[block.values.toarray().argmax(axis=1)]


def test_a_file_keeps_what_groups_said(tmp_path):
    model = fit(corpus_of(groups=np.arange(60) // 4))
    model.save(tmp_path / "model.hdsp")
    again = HDSP.load(tmp_path / "model.hdsp")
    for one, two in zip(model._model.calibrations, again._model.calibrations, strict=True):
        np.testing.assert_array_equal(one.degrees, two.degrees)
    pd.testing.assert_frame_equal(model.label_effects(), again.label_effects())


def test_few_groups_are_told():
    with pytest.warns(FewGroupsWarning, match="come in 5 groups: with fewer than 10"):
        fit(corpus_of(groups=np.arange(60) // 12))


def test_groups_need_documents_that_are_fitted_at_once(tmp_path):
    groups = np.arange(60) // 4
    corpus = corpus_of(groups=groups)
    with pytest.raises(ValueError, match="must be None where X is a Corpus with groups"):
        fit(corpus, groups=groups)
    corpus.write(tmp_path / "stored")
    stored = open_corpus(tmp_path / "stored")
    open_corpus_without(tmp_path)
    refused = "`groups` of HDSP.fit go with documents in memory"
    with pytest.raises(ValueError, match=refused):
        fit(stored)
    with pytest.raises(ValueError, match=refused):
        fit(open_corpus(tmp_path / "without"), groups=groups)
    with pytest.raises(ValueError, match=refused):
        HDSP(3, inference="stochastic").fit(corpus)
    with pytest.raises(ValueError, match=refused):
        HDSP(3).partial_fit(corpus)
    model = HDSP(3, fixed_number=True, random_state=0).partial_fit(corpus.with_groups(None))
    with pytest.raises(ValueError, match=refused):
        model.partial_fit(corpus)
    fit(stored[:])


def test_the_variance_of_the_mean_document():
    """As far as documents, or groups of them, differ from what is expected; one by one."""
    rng = np.random.default_rng(3)
    design = csr_array(rng.integers(0, 2, size=(30, 2)).astype(float))
    tokens = rng.poisson(4.0, size=(30, 3)).astype(float)
    found = Regression(rng.normal(size=3), rng.normal(size=(2, 3)))
    codes = np.repeat(np.arange(10), 3)
    codes[:2] = -1
    share = found.proportions(design)
    lengths = tokens.sum(axis=1)
    about = np.zeros(3)
    among = np.zeros(3)
    groups = [[0], [1], *(np.flatnonzero(codes == one) for one in range(10))]
    for member in groups:
        total = np.zeros(3)
        for m in member:
            about += lengths[m] * share[m] * (1.0 - share[m])
            total += tokens[m] - lengths[m] * share[m]
        among += total**2
    np.testing.assert_allclose(total_information(found, design, lengths), about)
    wanted = among * 12 / 11 / about
    clusters = Clusters.of(design, tokens, codes)
    np.testing.assert_allclose(mean_dispersion(found, clusters, np.zeros(3)), wanted)
    np.testing.assert_allclose(mean_dispersion(found, clusters, 2 * wanted), 2 * wanted)


def test_a_topic_that_documents_hardly_have_is_not_drawn_as_all_there_is():
    calibration = Calibration(
        np.zeros(2),
        np.zeros((0, 2)),
        variance=np.zeros((0, 2)),
        indicator=np.zeros(0, dtype=bool),
        label_tokens=np.zeros((0, 2)),
        mean_variance=np.array([1e5, 0.01]),
    )
    drawn = calibration.draw_mean(np.random.default_rng(0), 20_000)
    assert drawn[:, 0].max() < 20.0
    np.testing.assert_allclose(np.exp(drawn[:, 1]).mean(), 1.0, atol=0.005)
    np.testing.assert_allclose(drawn[:, 1].var(), 0.01, rtol=0.05)
