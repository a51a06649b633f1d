"""Documents that come in groups: corpora carry them, and fits take them."""

import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP, Corpus, open_corpus, read_table

GROUPS = np.arange(60) // 4


def corpus_of(**options):
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, size=(60, 12)) + np.eye(12)[rng.integers(12, size=60)]
    labels = pd.DataFrame({"kind": rng.choice(["x", "y"], size=60)})
    return Corpus(counts, labels=labels, **options)


def stored(path, **options):
    corpus_of(**options).write(path, shard_size=25)
    return open_corpus(path)


def test_a_corpus_carries_groups(tmp_path):
    corpus = corpus_of(groups=[None if m % 7 == 0 else m // 5 for m in range(60)])
    assert corpus.groups[:3] == ("", "0", "0")
    assert corpus[[1, 6]].groups == ("0", "1")
    train, test = corpus.split(0.3, random_state=0)
    assert len(train.groups) + len(test.groups) == 60
    written = stored(tmp_path / "stored", groups=corpus.groups)
    assert written.has_groups
    assert written.groups == corpus.groups
    assert written[20:30].groups == corpus.groups[20:30]
    assert not stored(tmp_path / "without").has_groups
    assert corpus.with_groups(None).groups is None


def test_a_table_has_a_column_of_groups(tmp_path):
    path = tmp_path / "texts.csv"
    frame = pd.DataFrame({"text": ["one cat", "two cats", "a cat sat"], "author": ["ann", None, 3]})
    frame.to_csv(path, index=False)
    assert read_table(path, groups="author").groups == ("ann", "", "3")


def test_groups_that_are_none_are_refused():
    for groups in ("author", 3, [[1], [2]] * 30):
        with pytest.raises(TypeError, match="`groups` of Corpus must hold"):
            corpus_of(groups=groups)
    with pytest.raises(ValueError, match=r"each of the 60 documents\. Got 2 rows"):
        corpus_of(groups=["a", "b"])


def fit(corpus, **options):
    return HDSP(3, tol=0.01, random_state=0, n_jobs=1).fit(corpus, **options)


def test_a_fit_takes_groups():
    grouped = corpus_of(groups=GROUPS)
    own, same, alone = fit(grouped), fit(corpus_of(), groups=GROUPS), fit(corpus_of())
    pd.testing.assert_frame_equal(own.label_effects(), same.label_effects())
    assert own.estimate_effects().n_groups == 15
    assert alone.estimate_effects().n_groups is None
    np.testing.assert_array_equal(alone.components_, same.components_)
    table = own.label_effects(refits=2, corpus=grouped)
    assert (table["lower"] < table["upper"]).all()
    with pytest.raises(ValueError, match="must be the documents that the model was fitted to"):
        own.label_effects(refits=2, corpus=corpus_of())


def test_groups_need_documents_that_are_fitted_at_once(tmp_path):
    grouped, refused = corpus_of(groups=GROUPS), "`groups` of HDSP.fit go with documents in memory"
    on_disk = stored(tmp_path / "stored", groups=GROUPS)
    streamed = HDSP(3, random_state=0).partial_fit(corpus_of())
    for refuse in (
        lambda: fit(on_disk),
        lambda: fit(stored(tmp_path / "without"), groups=GROUPS),
        lambda: HDSP(max_components=3, inference="stochastic").fit(grouped),
        lambda: HDSP(max_components=3).partial_fit(grouped),
        lambda: streamed.partial_fit(grouped),
    ):
        with pytest.raises(ValueError, match=refused):
            refuse()
    with pytest.raises(ValueError, match="must be None where X is a Corpus with groups"):
        fit(grouped, groups=GROUPS)
    fit(on_disk[:])
