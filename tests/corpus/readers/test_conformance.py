"""Rules that every reader keeps: sound files are read alike, and damaged ones are read or told."""

import resource
import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import hdsp
from hdsp import Corpus, ReadError
from hdsp.corpus import readers
from tests.corpus.corpora import check_same
from tests.corpus.readers.samples import COUNTS, NAMES, WORDS, write_samples

N_FILES = 150
N_TRACED = 25
LARGEST = 50 * 2**20
# What files of numbers and tables may hold at the worst place.
NASTY = ['"', "'", ",", "\t", ":", "::", "#", "%", "\0", "\r", "\n\n\n", "\ufeff", "\u0663"]
NASTY += ["null", "[]", "{}", "-1", "nan", "inf", "1e999", "0", "1.5", "1_0", "1000000000000:1"]
NASTY += ["1" * 5000, "9" * 20, "5 1000000000000 1\n", "1000000000000 1 1\n", "1000000000000"]
NASTY += ["[" * 3000, '{"text":' * 3000, '"\\ud800"']
NASTY = [text.encode() for text in NASTY] + [b"\xff\xfe", b"\x80"]


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    return write_samples(tmp_path_factory.mktemp("samples"))


def test_every_format_has_a_sample_and_is_documented(samples):
    assert set(samples) == set(NAMES)
    page = (Path(__file__).parents[3] / "docs" / "reading.md").read_text(encoding="utf-8")
    for name, reader in readers.FORMATS.items():
        read, public = samples[name].read, getattr(reader, "func", reader)
        assert getattr(read, "func", read) is public
        assert getattr(hdsp, public.__name__) is public
        assert f"`{public.__name__}`" in page
        assert f"`--format {name}`" in page


@pytest.mark.parametrize("name", NAMES)
def test_sound_files(name, samples):
    read, path = samples[name]
    corpus = read(path)
    order = [WORDS.index(word) for word in corpus.words]
    np.testing.assert_array_equal(corpus.counts.toarray(), np.array(COUNTS)[:, order])
    assert isinstance(corpus.counts, csr_array)
    assert corpus.counts.has_canonical_format
    assert (corpus.counts.data > 0).all()
    assert all(type(word) is str for word in corpus.words)
    assert len(corpus.labels) == len(corpus)
    assert corpus.ids is None or len(corpus.ids) == len(corpus)
    check_same(read(str(path)), corpus)


@pytest.mark.parametrize("name", NAMES)
def test_no_file_a_folder_and_an_empty_file(name, samples, tmp_path):
    read, path = samples[name]
    copy = tmp_path / f"docword-{path.name}"
    with pytest.raises(FileNotFoundError, match=copy.name):
        read(copy)
    copy.mkdir()
    with pytest.raises(ReadError, match=copy.name):
        read(copy)
    copy.rmdir()
    copy.touch()
    with pytest.raises(ReadError, match=copy.name):
        read(copy)


def damaged(data, seed):
    rng = np.random.default_rng(seed)
    result = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(result) + 1))
        kind = rng.integers(7)
        if kind == 0:
            result = result[:at]
        elif kind == 1:
            del result[at : at + int(rng.integers(1, 12))]
        elif kind in (2, 3):
            nasty = NASTY[rng.integers(len(NASTY))]
            result[at : at + (len(nasty) if kind == 3 else 0)] = nasty
        elif kind == 4 and at < len(result):
            result[at] = int(rng.integers(256))
        elif kind == 5 and at < len(result):
            result[at] ^= 1 << int(rng.integers(8))
        else:
            other = int(rng.integers(len(result) + 1))
            result[at:at] = result[min(at, other) : max(at, other)]
    return bytes(result)


def read_or_told(read, path, *names):
    """Whether a file is read; otherwise the error is one line that names one of the files."""
    try:
        assert isinstance(read(path), Corpus)
        return True
    except (ReadError, FileNotFoundError) as error:
        message = str(error)
    assert any(name in message for name in names), message
    assert "\n" not in message, message
    assert len(message) < 1000, message
    return False


def cases(sample, folder, seeds):
    """Yield readings of damaged copies of a sample, by seed."""
    read, path = sample
    file = sorted(path.iterdir())[0] if path.is_dir() else folder / path.name
    sound = file.read_bytes() if path.is_dir() else path.read_bytes()
    for seed in seeds:
        file.write_bytes(damaged(sound, seed))
        yield seed, partial(read_or_told, read, path if path.is_dir() else file, file.name)
    if path.is_dir():
        file.write_bytes(sound)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files(name, samples, tmp_path):
    told = 0
    for seed, read in cases(samples[name], tmp_path, range(N_FILES)):
        try:
            told += not read()
        except BaseException as error:
            error.add_note(f"{name}, seed {seed}")
            raise
    # The damage must be such that some of it shows.
    assert told >= (1 if name == "folder" else N_FILES // 10)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_take_little_memory(name, samples, tmp_path):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for seed, read in cases(samples[name], tmp_path, range(N_FILES, N_FILES + N_TRACED)):
        tracemalloc.start()
        try:
            read()
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < LARGEST, (name, seed, peak)
    # pyarrow's memory is not Python's, but it is the process's (in kB on Linux).
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < LARGEST


@pytest.mark.parametrize("name", ["ldac", "uci", "mtx", "svmlight"])
@pytest.mark.parametrize("argument", ["words", "metadata"])
def test_damaged_files_beside_the_counts(name, argument, samples, tmp_path):
    read, path = samples[name]
    if argument not in read.keywords:
        return
    beside = read.keywords[argument]
    file = tmp_path / beside.name
    for seed in range(N_FILES // 2):
        file.write_bytes(damaged(beside.read_bytes(), seed))
        try:
            read_or_told(partial(read, **{argument: file}), path, file.name, path.name)
        except BaseException as error:
            error.add_note(f"{name}, {argument}, seed {seed}")
            raise
