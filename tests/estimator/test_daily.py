"""Daily questions: which documents show a topic or a label, which topics hold a word."""

import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP, Corpus, UnknownLabelWarning
from tests.cli.commands import PLACES, reviews


@pytest.fixture(scope="module")
def fitted():
    frame = reviews(120)
    labels = frame[["labels", "department", "rating"]]
    ids = [f"review {n}" for n in range(len(frame))]
    corpus = Corpus.from_texts(frame["text"], labels=labels, ids=ids)
    return HDSP(5, random_state=0).fit(corpus), corpus, frame


def test_documents_of_topics_have_most_of_them(fitted):
    model, corpus, frame = fitted
    theta = model.transform(corpus)
    found = model.typical_documents(corpus, n=4, texts=frame["text"])
    assert len(found) == 4 * theta.shape[1]
    for topic, rows in found.groupby("topic"):
        assert rows["proportion"].tolist() == sorted(theta[:, topic], reverse=True)[:4]
        assert rows["proportion"].tolist() == theta[rows["document"], topic].tolist()
    assert found["id"].tolist() == [f"review {m}" for m in found["document"]]
    assert found["text"].tolist() == frame["text"][found["document"]].tolist()
    without = model.typical_documents(corpus.counts, labels=corpus.labels, n=4)
    assert not {"id", "text"} & set(without)
    assert without["document"].tolist() == found["document"].tolist()


def test_documents_of_a_label_carry_it_and_their_words_say_so(fitted):
    model, corpus, frame = fitted
    found = model.typical_documents(corpus, label="shoes", n=5, texts=list(frame["text"]))
    assert (frame["department"][found["document"]] == "shoes").all()
    assert found["text"].tolist() == frame["text"][found["document"]].tolist()
    expected = model.predict_labels(corpus, "department")["shoes"]
    carriers = expected[(frame["department"] == "shoes").to_numpy()]
    np.testing.assert_allclose(found["probability"], sorted(carriers, reverse=True)[:5])
    rare = model.typical_documents(corpus[:3], label="sale", n=5)
    assert len(rare) == sum("sale" in tags for tags in frame["labels"][:3])


def test_proportions_stand_beside_labels(fitted):
    model, corpus, frame = fitted
    labels = frame[["labels", "department", "rating"]].rename(columns={"department": "topic"})
    labels.loc[3, ["topic", "rating"]] = None
    # Whatever the columns are called, and whether or not the model knows them.
    other = Corpus(corpus.counts, corpus.words, labels, ids=corpus.ids, groups=frame["reviewer"])
    with pytest.warns(UnknownLabelWarning):
        table = model.document_topics(other)
    columns = ["document", "topic", "proportion", "id", "group", "labels", "topic_label", "rating"]
    assert list(table.columns) == columns
    with pytest.warns(UnknownLabelWarning):
        theta = model.transform(other)
    np.testing.assert_array_equal(table["proportion"], theta.ravel())
    np.testing.assert_array_equal(table["document"], np.repeat(np.arange(120), 5))
    np.testing.assert_array_equal(table["topic"], np.tile(np.arange(5), 120))
    first = table[table["topic"] == 0].reset_index()
    assert first["id"].tolist() == list(corpus.ids)
    assert first["group"].tolist() == frame["reviewer"].tolist()
    assert [sorted(tags) for tags in first["labels"]] == [sorted(t) for t in frame["labels"]]
    np.testing.assert_array_equal(first["rating"], labels["rating"])
    assert first["topic_label"][4] == frame["department"][4]
    assert pd.isna(first["topic_label"][3])


def test_pyldavis_gets_what_it_takes(fitted):
    model, corpus, _ = fitted
    given, counts = model.ldavis(corpus), corpus.counts.toarray()
    np.testing.assert_array_equal(given["doc_topic_dists"], model.transform(corpus))
    np.testing.assert_allclose(given["topic_term_dists"].sum(axis=1), 1.0)
    top = [[given["vocab"][i] for i in np.argsort(-row)[:1]] for row in given["topic_term_dists"]]
    assert top == model.top_words(1)
    np.testing.assert_array_equal(given["doc_lengths"], counts.sum(axis=1))
    np.testing.assert_array_equal(given["term_frequency"], counts.sum(axis=0))
    pyldavis = pytest.importorskip("pyLDAvis", reason="pyLDAvis is not installed")
    assert len(pyldavis.prepare(**given, mds="mmds").topic_coordinates) == 5


def test_topics_of_a_word(fitted):
    model = fitted[0]
    share = model.components_ / model.components_.sum(axis=1, keepdims=True)
    for words in PLACES.values():
        found = model.topics_of_word(words[0])
        assert found["share"].is_monotonic_decreasing
        assert words[0] in found["words"][0].split()
        found = found.set_index("topic").sort_index()
        probability = share[:, model.words_.index(words[0])]
        held = model.topic_tokens_ * probability
        np.testing.assert_allclose(found["share"], held / held.sum(), rtol=1e-5)
        np.testing.assert_allclose(found["probability"], probability, rtol=1e-5)
