"""Corpora to write, drawn by Hypothesis, and what it means that two are the same."""

import json

import numpy as np
import pandas
import pyarrow as pa
from hypothesis import strategies as st
from pyarrow import feather, parquet
from scipy.sparse import csr_array

from hdsp.corpus import Corpus, LabelBlock, Labels, TextSettings

NAMES = st.text(st.characters(exclude_categories=()), max_size=6)
TABLES = (".csv", ".tsv", ".jsonl", ".parquet", ".arrow")


@st.composite
def corpora(draw, max_documents=40):
    """Corpora with labels of every kind, missing values, ids, and counts of every type."""
    n = draw(st.integers(0, max_documents))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_words = draw(st.integers(1, 6))
    counts = rng.poisson(0.7, (n, n_words)).astype(float)
    unit = draw(st.sampled_from([1.0, 70_000.0, 0.5, 1 / 3, 5e9]))
    blocks = []
    for number, kind in enumerate(draw(st.lists(st.sampled_from(["tags", "category", "number"])))):
        width = draw(st.integers(0, 4)) if kind != "number" else draw(st.integers(1, 3))
        values = rng.normal(size=(n, width)) if kind == "number" else np.ones((n, width))
        stored = rng.random((n, width)) < 0.5
        if kind == "category" and width:
            stored &= np.arange(width) == rng.integers(0, width, (n, 1))
        if kind == "number" and draw(st.booleans()):
            # A stored zero is a value and must come back.
            values = np.round(values)
        columns = np.nonzero(stored)[1]
        matrix = csr_array(
            (values[stored], columns, np.concatenate([[0], np.cumsum(stored.sum(axis=1))])),
            shape=(n, width),
        )
        names = draw(st.lists(NAMES, min_size=width, max_size=width, unique=True))
        centred = draw(st.booleans()) if kind == "number" else True
        blocks.append(LabelBlock(f"block {number}", kind, tuple(names), matrix, centred))
    return Corpus(
        counts * unit,
        draw(st.lists(NAMES, min_size=n_words, max_size=n_words, unique=True)),
        Labels(tuple(blocks), n),
        text_settings=draw(st.sampled_from([None, TextSettings(min_df=2, stop_words=("x",))])),
        ids=draw(st.one_of(st.none(), st.lists(NAMES, min_size=n, max_size=n))),
    )


def check_same(got, expected):
    """Everything of two corpora is equal, bit for bit."""
    assert got.words == expected.words
    assert got.ids == expected.ids
    assert got.text_settings == expected.text_settings
    check_same_matrix(got.counts, expected.counts)
    assert len(got.labels) == len(expected.labels)
    assert len(got.labels.blocks) == len(expected.labels.blocks)
    for a, b in zip(got.labels.blocks, expected.labels.blocks, strict=True):
        assert (a.name, a.kind, a.columns, a.centred) == (b.name, b.kind, b.columns, b.centred)
        check_same_matrix(a.values, b.values)


def check_same_matrix(got, expected):
    assert got.shape == expected.shape
    for part in ("indptr", "indices", "data"):
        a, b = getattr(got, part), getattr(expected, part)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def check_same_schema(got, expected):
    """Two label spaces are equal, to rounding."""
    assert len(got.blocks) == len(expected.blocks)
    for a, b in zip(got.blocks, expected.blocks, strict=True):
        assert (a.name, a.kind, a.columns, a.centred) == (b.name, b.kind, b.columns, b.centred)
        scale = np.maximum(np.abs(b.scale), 1e-9)
        np.testing.assert_allclose(a.mean, b.mean, rtol=1e-12, atol=1e-9 * max(1.0, *scale, 0.0))
        np.testing.assert_allclose(a.scale, b.scale, rtol=1e-9)


def example(n_documents=50, **options):
    """A corpus with labels of all kinds and ids."""
    rng = np.random.default_rng(0)
    words = ["cat", "dog", "owl", "eel", "ant"]
    # In under half of the documents each, so that the default settings keep them.
    texts = [" ".join(rng.choice(words, 2)) for _ in range(n_documents)]
    labels = pandas.DataFrame(
        {
            "tags": [list(rng.choice(list("abc"), rng.integers(0, 3))) for _ in texts],
            "kind": rng.choice(["x", "y", None], n_documents),
            "year": rng.choice([1999.0, 2003.5, 0.0, np.nan], n_documents),
        }
    )
    ids = [f"document {m}" for m in range(n_documents)]
    return Corpus.from_texts(texts, labels, ids=ids, **options)


def write(path, table):
    """Write a table in the format that its name tells."""
    suffix = path.suffix
    if suffix in (".csv", ".tsv"):
        frame = pandas.DataFrame(table)
        if "tags" in table:
            frame["tags"] = [json.dumps(tags) for tags in table["tags"]]
        frame.to_csv(path, index=False, sep="," if suffix == ".csv" else "\t")
    elif suffix == ".jsonl":
        rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif suffix == ".parquet":
        parquet.write_table(pa.table(table), path, row_group_size=17)
    else:
        feather.write_feather(pa.table(table), path, chunksize=13)
