"""What people try first, and what they are told."""

import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import hdsp
from hdsp import HDSP, Corpus, TextSettings
from hdsp.cli import main

TEXTS = ["cats chase mice", "dogs chase cats", "mice eat cheese", "dogs eat meat"] * 5
KINDS = ["a", "b", "a", "b"] * 5


def counts():
    return CountVectorizer().fit_transform(TEXTS)


def make():
    return HDSP(2, tol=1e9, random_state=0)


def test_a_target_is_ignored_with_a_warning():
    with pytest.warns(hdsp.FitWarning, match="pass the documents' labels as `labels`"):
        model = make().fit(counts(), KINDS)
    assert model.label_names_ == ()


def test_labels_and_pipelines_give_no_such_warning():
    assert make().fit(counts(), labels=KINDS).label_names_ == ("a", "b")
    # Warnings are errors: the target is that of the classifier.
    make_pipeline(make(), LogisticRegression()).fit(counts(), KINDS)


def test_lists_of_words_are_counted_as_they_are():
    settings = TextSettings(min_df=1, max_df=1.0)
    split = Corpus.from_texts([text.split() for text in TEXTS], text_settings=settings)
    whole = Corpus.from_texts(TEXTS, text_settings=settings)
    assert split.words == whole.words
    assert (split.counts != whole.counts).nnz == 0
    odd = Corpus.from_texts([["New York", "x1", "the", "AI"], ("x1",)], text_settings=settings)
    assert odd.words == ("ai", "new york", "x1")
    assert odd.counts.toarray().tolist() == [[1, 1, 1], [0, 0, 1]]
    again = Corpus.from_texts([["x1", "X1", "other"]], like=odd)
    assert again.counts.toarray().tolist() == [[0, 0, 2]]
    pairs = Corpus.from_texts(
        [["a b", "c"]], text_settings=TextSettings(language=None, ngrams=2, min_df=1)
    )
    assert pairs.words == ("a b", "a b c", "c")


@pytest.mark.parametrize("wrong", [["a text", ["words"]], [["words"], "a text"]])
def test_texts_and_lists_of_words_are_not_mixed(wrong):
    with pytest.raises(TypeError, match=r"all strings, or all lists of words\. Got both"):
        Corpus.from_texts(wrong)
    with pytest.raises(TypeError, match="must be strings"):
        Corpus.from_texts([["a", 3]])


def test_lists_in_a_category_name_tags(tmp_path, capsys):
    path = tmp_path / "table.parquet"
    pd.DataFrame({"text": TEXTS, "kind": [[kind] for kind in KINDS]}).to_parquet(path)
    with pytest.raises(hdsp.ReadError, match=r"Name a column of lists as `tags`, or flatten it"):
        hdsp.read_table(path, categories="kind")
    assert main(["fit", str(path), "--categories", "kind", "-o", str(tmp_path / "m.hdsp")]) == 2
    assert "ame a column of lists as --tags" in capsys.readouterr().err
