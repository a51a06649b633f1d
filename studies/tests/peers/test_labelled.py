"""What labelled LDA expects of documents with labels."""

import numpy as np
import pytest

from hdsp.corpus import Corpus, Labels
from hdsp_studies.peers import FitSettings, make_peer, normalised


@pytest.fixture(scope="module")
def fitted():
    """All documents have one label; of every tenth, half of the tokens are by another."""
    rare = np.arange(200) % 10 == 0
    counts = np.zeros((200, 20))
    counts[:, :10] = np.where(rare[:, None], 2, 4)
    counts[rare, 10:] = 2
    tags = [["common", "rare"] if both else ["common"] for both in rare]
    # Nothing tells what such a document would have been labelled with.
    counts[1], tags[1] = 100, []
    corpus = Corpus(counts, labels=Labels.from_tags(tags))
    return make_peer("llda").fit(corpus, FitSettings(quick=True))


def test_a_rare_label_is_expected_where_it_is_given(fitted):
    labels = Labels.from_tags([["common", "rare"], ["common"], ["rare"], ["unheard of"]])
    found = fitted.given_labels(labels)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    # By use: all tokens of 179 documents and half of 20 are common, half of 20 are rare.
    use = np.array([(179 + 10) / 199, 0.5])
    np.testing.assert_allclose(found[0], use / use.sum(), atol=0.02)
    np.testing.assert_array_equal(found[1:3], [[1.0, 0.0], [0.0, 1.0]])
    # Without a known label, by the tokens of all.
    np.testing.assert_allclose(found[3], [0.95, 0.05], atol=0.01)


def test_use_is_a_share_of_the_tokens_that_could_have_been_the_topics(fitted):
    common, rare = fitted.model.topic_label_dict
    held, possible = np.zeros(2), np.zeros(2)
    for document in fitted.model.docs:
        own = [name for name, _ in document.labels]
        for k, name in enumerate((common, rare)):
            held[k] += sum(topic == k for topic in document.topics)
            possible[k] += len(document.topics) * (name in own)
    np.testing.assert_allclose(fitted.use, held / possible, rtol=1e-12)


def test_the_prior_is_even_over_the_topics_of_labels(fitted):
    labels = Labels.from_tags([["common", "rare"], ["common"], []])
    expected = [[0.5, 0.5], [1.0, 0.0], [0.5, 0.5]]
    np.testing.assert_array_equal(normalised(fitted.prior(labels)), expected)


def test_documents_without_labels_do_not_count_as_use():
    """They may have the topics of every label, and would make each of them rare."""
    counts = np.zeros((300, 20))
    counts[:100, :10] = 4
    counts[100:, 10:] = 4
    corpus = Corpus(counts, labels=Labels.from_tags([["a"]] * 100 + [[]] * 200))
    fitted = make_peer("plda-2").fit(corpus, FitSettings(quick=True))
    found = fitted.given_labels(Labels.from_tags([["a"]]))[0]
    words = found @ fitted.topics
    assert words[:10].sum() > 0.95
