from pathlib import Path

import numpy as np
import pytest

import hdsp
from hdsp.corpus import readers
from tests.corpus.readers.conformance import check_reader
from tests.corpus.readers.samples import COUNTS, NAMES, WORDS, write_samples


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    return write_samples(tmp_path_factory.mktemp("samples"))


@pytest.mark.parametrize("name", NAMES)
def test_every_reader_keeps_the_contract(name, samples):
    for check_name, check in check_reader(*samples[name]):
        try:
            check()
        except AssertionError as error:
            raise AssertionError(f"{check_name}: {error}") from error


def test_every_format_has_a_sample(samples):
    assert set(samples) == set(NAMES)
    assert set(readers.FORMATS) <= set(samples)
    for name, reader in readers.FORMATS.items():
        read = samples[name].read
        assert getattr(read, "func", read) is getattr(reader, "func", reader)


def test_every_format_is_documented():
    page = (Path(__file__).parents[3] / "docs" / "reading.md").read_text(encoding="utf-8")
    for name, reader in readers.FORMATS.items():
        public = getattr(reader, "func", reader)
        assert getattr(hdsp, public.__name__) is public
        assert f"`{public.__name__}`" in page
        assert f"`--format {name}`" in page


@pytest.mark.parametrize("name", NAMES)
def test_every_reader_reads_the_same_counts(name, samples):
    read, path = samples[name]
    corpus = read(path)
    order = [WORDS.index(word) for word in corpus.words]
    np.testing.assert_array_equal(corpus.counts.toarray(), np.array(COUNTS)[:, order])
