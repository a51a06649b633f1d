"""Damaged files either read or are told: never another exception, a hang, or memory to match."""

import resource
import tracemalloc
from functools import partial

import numpy as np
import pytest

from hdsp import Corpus, ReadError
from tests.corpus.readers.samples import NAMES, write_samples

N_FILES = 150
N_TRACED = 25
LARGEST = 50 * 2**20
# What files of numbers and tables may hold at the worst place.
NASTY = [
    text.encode()
    for text in (
        *(
            "\0",
            "\ufeff",
            "\r",
            "\n\n\n",
            '"',
            "'",
            ",",
            "\t",
            ":",
            "::",
            "#",
            "%",
            "null",
            "[]",
            "{}",
        ),
        *("-1", "nan", "inf", "1e999", "0", "1.5", "1_0", "\u0663", "1" * 5000, "9" * 20),
        *("1000000000000", "1000000000000:1", "5 1000000000000 1\n", "1000000000000 1 1\n"),
        *("[" * 3000, '{"text":' * 3000, '"\\ud800"'),
    )
] + [b"\xff\xfe", b"\x80"]


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    result = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(result) + 1))
        kind = rng.integers(7)
        if kind == 0:
            result = result[:at]
        elif kind == 1:
            del result[at : at + int(rng.integers(1, 12))]
        elif kind == 2:
            result[at:at] = NASTY[rng.integers(len(NASTY))]
        elif kind == 3:
            nasty = NASTY[rng.integers(len(NASTY))]
            result[at : at + len(nasty)] = nasty
        elif kind == 4 and at < len(result):
            result[at] = int(rng.integers(256))
        elif kind == 5 and at < len(result):
            result[at] ^= 1 << int(rng.integers(8))
        else:
            other = int(rng.integers(len(result) + 1))
            result[at:at] = result[min(at, other) : max(at, other)]
    return bytes(result)


def read_or_told(read, path, name):
    try:
        assert isinstance(read(path), Corpus)
        return True
    except (ReadError, FileNotFoundError) as error:
        message = str(error)
    assert name in message, message
    assert "\n" not in message, message
    assert len(message) < 1000, message
    return False


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    return write_samples(tmp_path_factory.mktemp("fuzz"))


def cases(sample, folder, seeds):
    """Yield damaged copies of a sample: the path to read, and the name of the damaged file."""
    read, path = sample
    for seed in seeds:
        rng = np.random.default_rng(seed)
        if path.is_dir():
            file = sorted(path.iterdir())[0]
            sound = file.read_bytes()
            file.write_bytes(damaged(sound, rng))
            yield seed, partial(read_or_told, read, path, file.name)
            file.write_bytes(sound)
        else:
            file = folder / path.name
            file.write_bytes(damaged(path.read_bytes(), rng))
            yield seed, partial(read_or_told, read, file, file.name)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files(name, samples, tmp_path):
    told = 0
    for seed, case in cases(samples[name], tmp_path, range(N_FILES)):
        try:
            told += not case()
        except BaseException as error:
            error.add_note(f"{name}, seed {seed}")
            raise
    # The damage must be such that some of it shows.
    assert told >= (1 if name == "folder" else N_FILES // 10)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_take_little_memory(name, samples, tmp_path):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for seed, case in cases(samples[name], tmp_path, range(N_FILES, N_FILES + N_TRACED)):
        tracemalloc.start()
        try:
            case()
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < LARGEST, (name, seed, peak)
    # pyarrow's memory is not Python's, but it is the process's (in kB on Linux).
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < LARGEST


@pytest.mark.parametrize("reader", ["ldac", "uci", "mtx", "svmlight"])
@pytest.mark.parametrize("argument", ["words", "labels"])
def test_damaged_files_beside_the_counts(reader, argument, samples, tmp_path):
    read, path = samples[reader]
    if argument not in read.keywords:
        return
    beside = read.keywords[argument]
    file = tmp_path / beside.name
    for seed in range(N_FILES // 2):
        file.write_bytes(damaged(beside.read_bytes(), np.random.default_rng(seed)))
        message = file.name
        try:
            read(path, **{argument: file})
        except ReadError as error:
            message = str(error)
        except BaseException as error:
            error.add_note(f"{reader}, {argument}, seed {seed}")
            raise
        assert file.name in message or path.name in message, (seed, message)
