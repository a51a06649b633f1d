"""Files with random damage: refused in one way, or models whose arrays are valid."""

import struct
import tracemalloc

import numpy as np
import pytest

from hdsp import ModelFileError, ReadError
from hdsp.storage import container
from tests.corpus.corpora import check_same, example
from tests.persistence.forging import TARGETS, Forger

# How many files of each kind, and which of those that a corpus or a checkpoint consists of.
N_FILES = {"functions": 1_000, "manifest": 300, "shard": 300, "checkpoint": 10}
FILES = {
    "functions": "model.hdsp",
    "manifest": "manifest.json",
    "shard": "shard-000001.parquet",
    "checkpoint": "checkpoint.hdsp",
}


def flip(data, rng):
    for _ in range(rng.integers(1, 4)):
        data[rng.integers(len(data))] ^= 1 << rng.integers(8)


def truncate(data, rng):
    del data[rng.integers(len(data)) :]


def extend(data, rng):
    data += rng.bytes(rng.integers(1, 100))


def edit_header(data, rng):
    """Other digits, quotes and brackets in the JSON."""
    length = struct.unpack("<Q", data[:8])[0]
    for _ in range(rng.integers(1, 4)):
        position = 8 + rng.integers(length)
        data[position] = rng.choice(list(b'0123456789-eE.,:[]{}"\\ntN'))


def change_length(data, rng):
    claims = [0, 1, 7, 2**16, 10**8, 2**31, 2**63, 2**64 - 1, int(rng.integers(len(data)))]
    data[:8] = struct.pack("<Q", claims[rng.integers(len(claims))])


def swap(data, rng):
    """Two runs of bytes change places."""
    size = int(rng.integers(1, 64))
    one, other = (int(p) for p in rng.integers(0, len(data) - size, size=2))
    data[one : one + size], data[other : other + size] = (
        bytes(data[other : other + size]),
        bytes(data[one : one + size]),
    )


def overwrite(data, rng):
    """A run of zeros, ones, NaN or noise."""
    size = int(rng.integers(8, 256))
    position = int(rng.integers(len(data) - size))
    filling = [bytes(size), b"\xff" * size, rng.bytes(size)][rng.integers(3)]
    data[position : position + size] = filling


ANYWHERE = (flip, truncate, extend, swap, overwrite)
MUTATIONS = (*ANYWHERE, edit_header, change_length)


def check_model(model):
    held = model._model
    state = held.state
    assert np.isfinite(state.topics).all()
    assert (state.topics >= 0).all()
    for parameter in state.scaling.values():
        assert np.isfinite(parameter).all()
    assert len(model.words_) == len(state.topics)
    held.reading.values.check_format(full_check=True)
    assert np.isfinite(held.reading.proportions[held.reading.read]).all()
    for weight in ("documents", "tokens"):
        assert np.isfinite(held.expected_regression(weight).weights).all()


@pytest.mark.filterwarnings("ignore:HDSP stopped after max_iter")
@pytest.mark.parametrize(
    ("target", "checked"), [("functions", False), *((target, True) for target in FILES)]
)
def test_damaged_files(tmp_path, monkeypatch, target, checked):
    """Without the checksum, only the checks of the contents stand between a file and a model."""
    folder = Forger(tmp_path).forge(target)
    path = folder / FILES[target]
    whole = path.read_bytes()
    TARGETS[target].read(folder)
    if not checked:
        monkeypatch.setattr(container, "checksum", lambda *_: Anything())
    rng = np.random.default_rng(checked)
    mutations = MUTATIONS if path.suffix == ".hdsp" else ANYWHERE
    refused = 0
    tracemalloc.start()
    for number in range(N_FILES[target]):
        data = bytearray(whole)
        mutations[number % len(mutations)](data, rng)
        path.write_bytes(data)
        try:
            found = TARGETS[target].read(folder)
        except (ModelFileError, ReadError):
            refused += 1
        else:
            check = check_model if target == "functions" else check_corpus
            check(found)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert refused > (0.9 if checked else 0.5) * N_FILES[target]
    assert target == "checkpoint" or most < 100 * max(len(whole), 100_000)


def check_corpus(corpus):
    check_same(corpus, example(50).with_groups(["a", None] * 25))


class Anything:
    """Equal to every checksum."""

    def __eq__(self, other):
        return True

    __hash__ = None
