"""Documents that come in groups: corpora carry them, and fits take them."""

import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP, Corpus, open_corpus, read_table


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
    return HDSP(3, tol=0.01, random_state=0, n_jobs=1).fit(corpus, **options)


def test_a_fit_takes_groups():
    groups = np.arange(60) // 4
    of_corpus, same, alone = (
        fit(corpus_of(groups=groups)),
        fit(corpus_of(), groups=groups),
        fit(corpus_of()),
    )
    pd.testing.assert_frame_equal(of_corpus.label_effects(), same.label_effects())
    assert of_corpus.estimate_effects().n_groups == 15
    assert alone.estimate_effects().n_groups is None
    np.testing.assert_array_equal(alone.components_, same.components_)
    table = of_corpus.label_effects(refits=2, corpus=corpus_of(groups=groups))
    assert (table["lower"] < table["upper"]).all()
    with pytest.raises(ValueError, match=r"60 documents, with groups\. Got 60 documents, without"):
        of_corpus.label_effects(refits=2, corpus=corpus_of())


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
        HDSP(max_components=3, inference="stochastic").fit(corpus)
    with pytest.raises(ValueError, match=refused):
        HDSP(max_components=3).partial_fit(corpus)
    model = HDSP(3, random_state=0).partial_fit(corpus.with_groups(None))
    with pytest.raises(ValueError, match=refused):
        model.partial_fit(corpus)
    fit(stored[:])
