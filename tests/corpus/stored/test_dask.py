"""Dask dataframes and arrays become corpora on disk."""

import dask.array
import dask.dataframe
import numpy as np
import pandas
import pytest

import hdsp


@pytest.fixture(autouse=True)
def _threads():
    with dask.config.set(scheduler="synchronous"):
        yield


def table():
    return pandas.DataFrame(
        {
            "text": [f"wool lining number{m % 7} and cotton" for m in range(60)],
            "tags": [["soft", "warm"][: m % 3] for m in range(60)],
            "rating": np.arange(60.0) % 5,
        }
    )


def test_a_dataframe_is_what_its_table_is(tmp_path):
    with dask.config.set({"dataframe.convert-string": False}):
        frame = dask.dataframe.from_pandas(table(), npartitions=12, sort=False)
        settings = hdsp.TextSettings(min_df=1, max_df=1.0)
        corpus = hdsp.prepare_dask(
            frame, tmp_path / "corpus", tags="tags", numeric="rating", text_settings=settings
        )
    table().to_parquet(tmp_path / "table.parquet")
    expected = hdsp.read_table(
        tmp_path / "table.parquet", tags="tags", numeric="rating", text_settings=settings
    )
    assert corpus.words == expected.words
    assert (corpus.counts != expected.counts).nnz == 0
    for one, other in zip(corpus.labels.blocks, expected.labels.blocks, strict=True):
        assert (one.values != other.values).nnz == 0
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_an_array_is_cut_by_documents_alone(tmp_path):
    counts = np.random.default_rng(0).poisson(0.5, (50, 9))
    array = dask.array.from_array(counts, chunks=(7, 4))
    corpus = hdsp.prepare_dask(array, tmp_path / "corpus", labels=[["a"], []] * 25)
    np.testing.assert_array_equal(corpus.counts.toarray(), counts)
    assert corpus.labels.names == ("a",)
    assert corpus.words[:2] == ("w0", "w1")


def test_other_things_are_refused(tmp_path):
    array = dask.array.ones((4, 3))
    with pytest.raises(TypeError, match="Got ndarray"):
        hdsp.prepare_dask(np.ones((4, 3)), tmp_path / "corpus")
    with pytest.raises(TypeError, match="'tags' for dataframes only"):
        hdsp.prepare_dask(array, tmp_path / "corpus", tags="tags")
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        hdsp.prepare_dask(array[array[:, 0] > 0], tmp_path / "corpus")
    frame = dask.dataframe.from_pandas(table(), npartitions=2)
    with pytest.raises(ValueError, match="name its columns"):
        hdsp.prepare_dask(frame, tmp_path / "corpus", labels=[["a"]] * 60)


def test_a_fit_says_how_to_fit_a_dask_collection():
    array = dask.array.ones((4, 3))
    with pytest.raises(TypeError, match=r"its to_parquet"):
        hdsp.HDSP(max_components=2).fit(array)
    with pytest.raises(TypeError, match=r"its to_parquet"):
        hdsp.HDSP(max_components=2).partial_fit(array)
