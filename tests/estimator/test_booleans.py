"""A nullable boolean column is a label that says yes, no, or nothing."""

import json
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hdsp import HDSP, Corpus, Labels, TextSettings, read_table, simulate

N = 240
# Yes, no, unknown, in turn.
VALUES = [True, False, None] * (N // 3)


@cache
def counts():
    """Documents of two topics: yes has the one, no the other, unknown either."""
    rng = np.random.default_rng(0)
    likely = {True: 0.9, False: 0.1, None: 0.5}
    share = rng.random((N, 1)) < np.array([[likely[value]] for value in VALUES])
    words = np.where(share, [[1, 1, 1, 0, 0, 0]], [[0, 0, 0, 1, 1, 1]])
    return rng.poisson(8 * words + 0.3)


def frames():
    return {
        "pandas": pd.DataFrame({"sold": pd.array(VALUES, dtype="boolean")}),
        "pandas objects": pd.DataFrame({"sold": pd.Series(VALUES, dtype=object)}),
        "pandas arrow": pd.DataFrame({"sold": pd.array(VALUES, dtype="bool[pyarrow]")}),
        "polars": pl.DataFrame({"sold": VALUES}),
        "pyarrow": pa.table({"sold": VALUES}),
    }


def words_of(row):
    return " ".join(f"word{'abcdef'[i]} " * n for i, n in enumerate(row))


def written(path, format):
    table = pd.DataFrame({"text": [words_of(row) for row in counts()]})
    table["sold"] = pd.array(VALUES, dtype="boolean")
    file = path / f"documents.{format}"
    if format == "parquet":
        table.to_parquet(file)
    elif format == "csv":
        table.to_csv(file, index=False)
    elif format == "polars.csv":
        pl.from_pandas(table).write_csv(file)
    elif format == "arrow":
        pl.from_pandas(table).write_ipc(file)
    else:
        rows = zip(table["text"], VALUES, strict=True)
        file.write_text("\n".join(json.dumps({"text": t, "sold": v}) for t, v in rows))
    return file


def check_labels(labels):
    block = labels.block("sold")
    assert block.kind == "category"
    assert sorted(block.columns) == ["False", "True"]
    order = [block.columns.index(name) for name in ("True", "False")]
    expected = [[value is True, value is False] for value in VALUES]
    np.testing.assert_array_equal(block.values.toarray()[:, order], expected)


@pytest.mark.parametrize("library", frames())
def test_a_column_is_yes_no_or_unknown(library):
    frame = frames()[library]
    check_labels(Labels.from_frame(frame))
    check_labels(Corpus(counts(), labels=frame).labels)


@pytest.mark.parametrize("format", ["parquet", "csv", "polars.csv", "arrow", "jsonl"])
def test_a_file_says_the_same(format, tmp_path):
    settings = TextSettings(min_df=1, max_df=1.0)
    file = written(tmp_path, format)
    corpus = read_table(file, categories=["sold"], text_settings=settings)
    check_labels(corpus.labels)


def test_other_texts_are_no_booleans(tmp_path):
    file = tmp_path / "claims.csv"
    file.write_text("text,claim\nword,true\nword,false\nword,half-true\n")
    settings = TextSettings(min_df=1, max_df=1.0)
    labels = read_table(file, categories=["claim"], text_settings=settings).labels
    assert labels.block("claim").columns == ("false", "half-true", "true")


@cache
def fitted(library="pandas"):
    model = HDSP(2, random_state=0, n_jobs=1)
    return model.fit(counts(), labels=frames()[library])


@pytest.mark.parametrize("library", frames())
def test_every_library_gives_the_same_fit(library):
    np.testing.assert_array_equal(fitted(library).components_, fitted().components_)


def test_unknown_is_neither():
    model = fitted()
    yes, no, unknown = model.expected_topics(
        pd.DataFrame({"sold": pd.array([True, False, None], dtype="boolean")})
    )
    topic = yes.argmax()
    assert yes[topic] > 0.75
    assert no[topic] < 0.25
    assert 0.35 < unknown[topic] < 0.65


def test_effects_are_yes_against_no():
    model = fitted()
    table = model.label_effects(labels="sold", contrast=(False, True))
    assert (table["contrast"] == "True - False").all()
    topic = model.expected_topics(frames()["pandas"][:1])[0].argmax()
    assert table["lower"][topic] > 0.5
    # Of two levels, each against the others is each against the other.
    both = model.label_effects()
    assert both["contrast"].unique().tolist() == ["False - other sold", "True - other sold"]
    same = both[both["label"] == "True"]
    np.testing.assert_allclose(same["effect"], table["effect"], atol=1e-12)


def test_it_is_predicted_both_ways():
    model = fitted()
    found = model.predict_labels(counts(), "sold")
    assert sorted(found.columns) == ["False", "True"]
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    known = np.array([value is not None for value in VALUES])
    right = (found["True"] > 0.5)[known] == np.array(VALUES)[known]
    assert right.mean() > 0.85
    chosen = model.predict_labels(counts(), "sold", values=[True, False])
    assert list(chosen.columns) == ["True", "False"]


def test_files_keep_it(tmp_path):
    model = fitted()
    model.save(tmp_path / "model.hdsp")
    again = HDSP.load(tmp_path / "model.hdsp")
    pd.testing.assert_frame_equal(again.label_effects(), model.label_effects())
    pd.testing.assert_frame_equal(
        again.predict_labels(counts(), "sold"), model.predict_labels(counts(), "sold")
    )


def test_lists_of_tags_stay_as_they_are():
    """A tag that a list lacks is absent, and an empty list has none."""
    lists = [["sold"] if value else [] for value in VALUES]
    labels = Labels.from_frame(pd.DataFrame({"tags": lists}))
    assert labels.block("tags").kind == "tags"
    corpus, _ = simulate(lists, n_topics=2, n_words=10, random_state=0)
    assert corpus.labels.names == ("sold",)
