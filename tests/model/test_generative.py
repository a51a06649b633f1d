"""The generative process: what it refuses, and labels that its scaling function leaves out."""

import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP, LogLinear, simulate


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"n_topics": 0}, "`n_topics` of simulate must be at least 1"),
        ({"n_words": 0}, "`n_words` of simulate must be at least 1"),
        ({"document_concentration": -1.0}, "`document_concentration` of simulate must be a pos"),
        ({"document_length": 0.0}, "`document_length` of simulate must be a positive"),
        ({"n_documents": None}, "`n_documents` of simulate is needed"),
        ({"labels": 5, "n_documents": None}, "`labels` of simulate must have one row"),
    ],
)
def test_bad_settings(setting, message):
    with pytest.raises((ValueError, TypeError), match=message):
        simulate(**{"n_documents": 3, **setting})


def test_columns_the_scaling_leaves_out():
    table = pd.DataFrame({"kind": list("ab") * 30, "rating": np.arange(60.0)})
    corpus, truth = simulate(table, scaling=LogLinear("rating"), n_topics=3, random_state=0)
    assert truth.weights.shape == (3, 3)
    assert np.isnan(truth.weights[:, :2]).all()
    model = HDSP(20, fixed_number=True, scaling=LogLinear("rating"), random_state=0).fit(corpus)
    assert model.simulate(table, random_state=0).shape == corpus.shape


def test_proportions_follow_the_scale():
    labels = np.repeat([[1.0], [0.0]], 400, axis=0)
    corpus, truth = simulate(
        labels, n_topics=2, n_words=40, topic_prior=0.01, document_concentration=5.0, random_state=3
    )
    # A label with the larger scale on topic k gives its documents more of topic k's words.
    k = int(np.argmax(truth.weights[:, 0]))
    own = truth.word_share[k] > truth.word_share[1 - k]
    counts = corpus.counts.toarray()
    share = counts[:, own].sum(axis=1) / counts.sum(axis=1)
    assert share[:400].mean() > share[400:].mean()
