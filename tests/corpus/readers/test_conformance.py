import sys
from pathlib import Path

import numpy as np
import pytest

import hdsp
from hdsp.corpus import Corpus, ReadError, readers
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
        assert getattr(samples[name].read, "func", samples[name].read) is reader


def test_every_reader_is_public_and_documented():
    names = {reader.__name__ for reader in readers.FORMATS.values()}
    assert names == {name for name in readers.__all__ if name.startswith("read_")}
    assert names == {name for name in hdsp.__all__ if name.startswith("read_")}
    page = (Path(__file__).parents[3] / "docs" / "reading.md").read_text(encoding="utf-8")
    for name in names:
        assert f"| `{name}` |" in page
    for name in readers.FORMATS:
        assert f"`--format {name}`" in page


@pytest.mark.parametrize("name", NAMES)
def test_every_reader_reads_the_same_counts(name, samples):
    read, path = samples[name]
    corpus = read(path)
    order = [WORDS.index(word) for word in corpus.words]
    np.testing.assert_array_equal(corpus.counts.toarray(), np.array(COUNTS)[:, order])


def failed(read, path):
    names = []
    for name, check in check_reader(read, path):
        try:
            check()
        except AssertionError:
            names.append(name.partition(": ")[2])
    return names


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda path: None, ["counts are canonical"]),
        (lambda path: Path(path).read_bytes()[0] and Corpus([[1]]), ["an empty file is read"]),
        (lambda path: Corpus([[1]]), ["a missing file is not found", "a folder is not a file"]),
        (lambda path: Corpus([[1]] * (1 + isinstance(path, str))), ["a string is a path"]),
        (lambda path: np.ones(5 * 2**20).sum() and Corpus([[1]]), ["memory stays near the size"]),
    ],
)
def test_a_wrong_reader_fails(change, names, samples):
    found = failed(change, samples["csv"].path)
    for name in names:
        assert any(each.startswith(name) for each in found), found


def test_a_reader_that_does_not_read_the_same_twice(samples):
    calls = []

    def read(path):
        calls.append(path)
        return Corpus(np.ones((1, 1 + len(calls) % 2)))

    assert "reading twice is the same" in failed(read, samples["csv"].path)


def test_an_error_without_the_name_fails(samples):
    def read(path):
        raise ReadError("something is wrong")

    assert "a truncated file is read or reported" in failed(read, samples["csv"].path)


def test_modules_are_small():
    for module in Path(sys.modules[readers.__name__].__file__).parent.glob("*.py"):
        assert len(module.read_text().splitlines()) < 300, module.name
