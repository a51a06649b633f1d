"""Tables and texts as people have them: missing texts, whole tables, months, tags of few."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hdsp import HDSP, Corpus, LabelDataWarning, Labels
from hdsp.corpus import read_table
from tests.zoo import fit_quietly

MONTHS = ["March", "January", "may", "December", "March"]


@pytest.mark.parametrize("library", [pd, pl])
def test_texts_of_a_table_are_a_column_of_it(library):
    frame = library.DataFrame({"text": ["red hat", "blue hat"], "kind": ["a", "b"]})
    with pytest.raises(TypeError, match=r"must be texts, and not a table\. Got a DataFrame\. Pass"):
        Corpus.from_texts(frame)
    assert Corpus.from_texts(frame["text"]).words == ("blue", "hat", "red")


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_a_text_that_is_missing_is_an_empty_document(missing):
    assert Corpus.from_texts(["red hat", missing]).counts.toarray().tolist() == [[1, 1], [0, 0]]
    assert Corpus.from_texts([["red"], missing]).counts.toarray().tolist() == [[1], [0]]
    with pytest.raises(TypeError, match="Got one string"):
        Corpus.from_texts("red hat")


def test_months_and_days_have_the_order_of_the_calendar():
    def levels(values):
        return Labels.from_frame(pd.DataFrame({"x": values})).blocks[0].columns

    assert levels(MONTHS) == ("January", "March", "may", "December")
    assert levels(["Wed", "mon", "Sun"]) == ("mon", "Wed", "Sun")
    assert levels(["May", "June", "autumn"]) == ("June", "May", "autumn")
    ordered = pd.Categorical(["low", "high", "low"], ["low", "middle", "high"], ordered=True)
    assert levels(ordered) == ("low", "high")
    model = HDSP(2, init="nmf", max_iter=2, random_state=0)
    fit_quietly(model, np.eye(5) + 1, pd.DataFrame({"month": MONTHS}))
    assert [name.split("=")[-1] for name in model.label_names_] == [*levels(MONTHS)]


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_ordered_categories_of_files_keep_their_order(tmp_path, suffix):
    size = pd.Categorical(["low", "high", "low"], ["low", "middle", "high"], ordered=True)
    frame = pd.DataFrame({"text": ["red hat", "hat", "red"], "size": size})
    getattr(frame, f"to_{suffix}")(tmp_path / f"a.{suffix}")
    corpus = read_table(tmp_path / f"a.{suffix}", categories="size")
    assert corpus.labels.blocks[0].columns == ("low", "high")
    assert corpus.labels.blocks[0].values.toarray().tolist() == [[1, 0], [0, 1], [1, 0]]


def test_lists_of_tags_that_are_mostly_missing_point_to_unknown_tags(tmp_path):
    counts, message = np.eye(5) + 1, "3 of 5 lists of tags in 'tags' are missing, .*unknown"
    model = HDSP(2, init="nmf", max_iter=100, random_state=0)
    with pytest.warns(LabelDataWarning, match=message):
        model.fit(counts, labels=[["a"], ["b"], np.nan, None, None])
    path = tmp_path / "a.csv"
    path.write_text("text,tags\nred hat,a\nblue hat,b\nred,\nblue,\nhat,\n")
    corpus = read_table(path, tags="tags", tag_separator=";")
    with pytest.warns(LabelDataWarning, match=message):
        model.fit(corpus)
    # Lists that are empty were looked at, and a warning would be an error.
    model.fit(counts, labels=[["a"], ["b"], [], [], None])
