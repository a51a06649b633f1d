"""What a report shows, as plain data, against the model's own answers."""

import base64
import json

import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP, Categorical, Corpus, TextSettings, simulate
from hdsp.analysis.checks import check_sentence
from hdsp.analysis.topics import word_share
from hdsp.exceptions import UnreliableTopicsWarning
from hdsp.report import documents, layout, make_view, read_names, render
from hdsp.report.packing import pack_exact, pack_rounded, rounded, to_json
from hdsp.report.topics import relevance, word_frequency, word_view
from tests.report.corpora import fit, make_corpus, reviews
from tests.zoo import fit_quietly

_KIND = {"float64": "f8", "float32": "f4", "int16": "i2"}


def unpacked(packed):
    """The numbers of a packed array, as the page reads them."""
    values = np.frombuffer(base64.b64decode(packed["data"]), dtype=f"<{_KIND[packed['dtype']]}")
    values = values.reshape(packed["shape"]).astype(np.float64)
    return values * np.array(packed["scale"])[:, None] if "scale" in packed else values


@pytest.fixture(scope="module")
def view(model):
    return make_view(model, title="Reviews")


def test_packed_numbers_come_back():
    numbers = np.random.default_rng(0).normal(size=(4, 7)) * 10.0 ** np.arange(4)[:, None]
    np.testing.assert_array_equal(unpacked(pack_exact(numbers, "float64")), numbers)
    np.testing.assert_allclose(unpacked(pack_exact(numbers)), numbers, rtol=1e-7)
    found = unpacked(pack_rounded(numbers))
    largest = np.abs(numbers).max(axis=1, keepdims=True)
    assert (np.abs(found - numbers) <= 0.51 / 32_767 * largest).all()
    assert unpacked(pack_rounded(np.zeros((2, 3)))).tolist() == [[0.0] * 3] * 2
    assert pack_rounded(np.zeros((0, 3)))["shape"] == [0, 3]
    assert rounded([123.456789, 1.23456789e-9, np.inf]) == [123.457, 1.23457e-9, None]


def test_json_holds_nothing_that_ends_a_script():
    text = to_json(["</script><!--", "\u2028\u2029", "&lt;", np.float64("nan"), "\ud800", (1,)])
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == ["</script><!--", "\u2028\u2029", "&lt;", None, "?", [1]]


def test_observed_proportions_are_read_from_words(model, corpus):
    found, _ = documents.read_from_words(model, corpus)
    np.testing.assert_array_equal(found, model.proportions_)
    corpus = Corpus(corpus.counts * (np.arange(len(corpus)) > 0)[:, None], corpus.words)
    found, _ = documents.read_from_words(model, corpus)
    assert np.isnan(found[0]).all()
    assert not np.isnan(found[1:]).any()


def test_the_page_holds_the_words_of_every_relevance():
    corpus, _ = simulate(n_documents=150, n_topics=6, n_words=400, random_state=0)
    model = HDSP(6, max_iter=5, random_state=0, tol=0.1).fit(corpus)
    words = word_view(model)
    assert len(words["words"]) < 400
    share = word_share(model._model)
    overall = word_frequency(model._model, share)
    for weight in (0.0, 0.3, 0.6, 1.0):
        for topic, own in enumerate(words["topics"]):
            p, frequency = np.array(own["p"]), np.array(words["overall"])[own["words"]]
            best = np.argsort(-relevance(p, frequency, weight), kind="stable")[:20]
            wanted = np.argsort(-relevance(share[topic], overall, weight), kind="stable")[:20]
            found = {words["words"][own["words"][i]] for i in best}
            assert len(found & {model.words_[i] for i in wanted}) >= 19


def test_texts_are_cut_into_words_and_put_together_again(model, corpus, texts):
    view = documents.document_view(model, corpus, texts, 1_000)
    share, proportions = word_share(model._model), model.transform(corpus)
    assert len(view["documents"]) == len(texts)
    for row, entry in enumerate(view["documents"]):
        assert "".join(entry["pieces"]) == texts[row]
        words = [word.lower() for word in entry["pieces"][1::2]]
        assert len(words) == len(entry["of"]) == corpus.counts[[row]].sum()
        columns = [model.words_.index(word) for word in words]
        best = (proportions[row][:, None] * share[:, columns]).argmax(axis=0)
        assert entry["of"].tolist() == best.tolist()


def test_documents_without_texts_show_their_counts(model, corpus):
    view = documents.document_view(model, corpus, None, 10)
    entry = view["documents"][0]
    row = corpus.counts[[entry["row"]]]
    assert sorted(entry["pieces"][1::2]) == sorted(model.words_[i] for i in row.indices)
    assert entry["pieces"][2] == f"\u202f×{int(row.data.max())}  "
    assert (view["total"], len(view["documents"])) == (len(corpus), 10)


@pytest.mark.filterwarnings("ignore")
def test_stems_and_pairs_of_characters_are_found_in_texts():
    texts = ["Dogs run, running dogs bark", "天气很好，cats", "Taxes of voting ministers"] * 10
    corpus = Corpus.from_texts(texts, text_settings=TextSettings(min_df=1, max_df=1.0, stem="en"))
    model = HDSP(2, init="nmf", max_iter=2, random_state=0).fit(corpus)
    entries = documents.document_view(model, corpus, texts, 3)["documents"]
    for entry in entries:
        assert "".join(entry["pieces"]) == texts[entry["row"]]
    found = {texts[entry["row"]][0]: entry["pieces"][1::2] for entry in entries}
    assert found["D"] == ["Dogs", "run", "running", "dogs", "bark"]
    assert found["天"] == ["天气", "很好", "cats"]


def test_documents_are_grouped_by_label_and_by_thirds_of_numbers(model, corpus):
    groups = documents.label_groups(model, documents.original_labels(model, corpus))
    sale = model.label_schema_.encode(corpus.labels).toarray()[:, model.label_names_.index("sale")]
    assert groups["sale"].tolist() == np.flatnonzero(sale).tolist()
    names = [name for name in groups if name.startswith("rating ")]
    assert names == ["rating 1 to under 2", "rating 2 to under 4", "rating 4 to 5"]
    known = int(np.diff(corpus.labels.block("rating").values.indptr).sum())
    assert len(np.unique(np.concatenate([groups[name] for name in names]))) == known


def test_short_documents_are_not_typical_however_well_they_fit():
    shares, lengths = np.array([[0.9], [0.7], [0.8]]), np.array([1, 50, 50])
    by_topic, by_group = documents.typical_documents(
        shares, lengths, [np.array([0, 1])], np.ones((1, 1))
    )
    assert (by_topic, by_group) == ([[2, 1, 0]], [[1, 0]])


def test_typical_documents_are_chosen_first():
    typical = [[5, 9], [7], [5, 2]]
    assert documents.choose_documents(100, typical, 4) == [2, 5, 7, 9]
    chosen = documents.choose_documents(100, typical, 20)
    assert len(set(chosen)) == 20
    assert {2, 5, 7, 9} <= set(chosen)
    assert documents.choose_documents(3, typical, 20) == [0, 1, 2]


@pytest.mark.parametrize(("n_topics", "most"), [(4, 1_000), (30, 1_000), (20, 30)])
def test_labels_are_near_the_topics_they_raise(monkeypatch, n_topics, most):
    # Of many labels, some are placed, and the others put next to them.
    monkeypatch.setattr(layout, "_MOST_PLACED", most)
    rng = np.random.default_rng(0)
    share = rng.dirichlet(np.full(60, 0.05), size=n_topics)
    raised = rng.permutation(n_topics)[:4] if most > 30 else rng.integers(4, size=200)
    n_labels = len(raised)
    effect = np.full((n_labels, n_topics), -0.001)
    effect[np.arange(n_labels), raised] = rng.uniform(0.1, 0.4, size=n_labels)
    topics, labels = layout.place_together(share, effect)
    assert np.abs(np.concatenate([topics, labels])).max() == pytest.approx(1.0)
    distance = np.linalg.norm(labels[:, None] - topics[None], axis=2)
    assert distance.argmin(axis=1).tolist() == raised.tolist()
    np.testing.assert_array_equal(layout.place_together(share, effect)[0], topics)


@pytest.mark.parametrize("most", [1_000, 12])
def test_similar_rows_are_neighbours(monkeypatch, most):
    monkeypatch.setattr(layout, "_MOST_PLACED", most)
    rng = np.random.default_rng(0)
    kinds = rng.permutation(np.repeat(np.eye(4), 10, axis=0))
    order = layout.seriate(kinds + rng.normal(scale=0.05, size=kinds.shape))
    changes = (np.diff(kinds[order].argmax(axis=1)) != 0).sum()
    assert changes == 3
    assert sorted(order) == list(range(40))
    assert layout.seriate(np.zeros((2, 3))).tolist() == [0, 1]


def test_facts_of_the_fit(view, model, corpus):
    fitted = view["fit"]
    facts = dict(fitted["facts"])
    assert (facts["Tokens"], facts["Documents"]) == ("4,560", "240")
    assert facts["Number of topics"].endswith(" topics, as many as were asked for.")
    total = np.sum([fitted["history"][name] for name in fitted["terms"]], axis=0)
    np.testing.assert_allclose(total, fitted["history"]["bound"], rtol=1e-9)
    assert dict(fitted["settings"])["random_state"] == "0"
    assert {"python", "hdsp", "numpy"} <= set(dict(fitted["versions"]))
    beta = dict(fitted["concentrations"])["β for new documents"]
    assert beta == f"{model.predictive_concentration_:.4g}"
    assert fitted["search"] == []
    given = fit(corpus, "auto", init=np.eye(8, len(corpus.words)) + 0.1)
    number = dict(make_view(given)["fit"]["facts"])["Number of topics"]
    assert number == f"{len(given.components_)} topics, of those that were given."


@pytest.mark.parametrize("n_topics", [3, 1])
def test_models_without_labels_and_with_one_topic(show_model, n_topics):
    corpus, _ = simulate(n_documents=40, n_topics=3, n_words=30, random_state=0)
    model = HDSP(n_topics, max_iter=2, tol=0.5, random_state=0)
    page = show_model(fit_quietly(model, corpus), "", corpus)
    assert page.locator("nav a").all_inner_texts() == ["Topics", "Map", "Documents", "Fit"]
    for link in page.locator("nav a").all():
        link.click()
    assert page.locator("#view-fit").is_visible()


def test_a_scaling_function_that_leaves_labels_out(show_model):
    corpus = make_corpus(*reviews(80))
    model = HDSP(3, max_iter=2, tol=0.5, random_state=0, scaling=Categorical("department"))
    page = show_model(model.fit(corpus), "#view=explorer", corpus)
    assert page.locator(".setting-a .block-row").count() == 1


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"corpus": "reviews.csv"}, TypeError, "must be a Corpus. Got str"),
        ({"texts": ["a"]}, TypeError, "must be a Corpus. Got NoneType"),
        ({"corpus": True, "texts": ["a"]}, ValueError, "for each of the 240 documents. Got 1"),
        ({"most_documents": 0}, ValueError, "most_documents"),
        ({"stability": pd.DataFrame({"similarity": [1.0]})}, ValueError, "got 1 topics for 8"),
        ({"corpus": Corpus([[1, 2]], words=["a", "b"])}, ValueError, "other words than the model"),
    ],
)
def test_wrong_arguments_are_refused(model, corpus, tmp_path, arguments, error, message):
    if arguments.get("corpus") is True:
        arguments = {**arguments, "corpus": corpus}
    with pytest.raises(error, match=message):
        model.report(tmp_path / "report.html", **arguments)


OURS = '{"format": "hdsp-names-1"'


@pytest.mark.parametrize(
    "content",
    ["no JSON", "[]", '{"format": "o", "names": {}}', OURS + "}", OURS + ', "names": {"a": ""}}'],
)
def test_wrong_files_of_names_are_refused(model, tmp_path, content):
    path = tmp_path / "names.json"
    path.write_text(content)
    with pytest.raises(ValueError, match="is not a file of topic names"):
        read_names(path, model)
    path.write_text(OURS + ', "names": {"9": "x"}}')
    with pytest.raises(ValueError, match="topic 9, but the model's topics are"):
        read_names(path, model)
    path.write_text(OURS + ', "model": "00000000", "names": {"1": "x", "2": ""}}')
    with pytest.warns(UserWarning, match="saved from the report of another model"):
        assert read_names(path, model) == {1: "x"}


def test_documents_are_checked_against_their_labels(model, corpus):
    view = make_view(model, corpus)
    # The same model gives the same page.
    assert render(view) == render(make_view(model, corpus))
    sentence = view["documents"]["check"]
    with pytest.warns(UnreliableTopicsWarning):
        table = model.check_labels(corpus)
    assert sentence == check_sentence(table.to_dict("list"))
    assert sentence.endswith((".", "expected."))
    unlabelled = HDSP(4, random_state=0, max_iter=3, tol=1.0).fit(corpus.counts)
    plain = Corpus(corpus.counts, unlabelled.words_)
    assert make_view(unlabelled, plain)["documents"]["check"] == ""
