"""Checks that every reader passes, with sound and with damaged files."""

import shutil
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from hdsp.corpus import Corpus
from hdsp.exceptions import ReadError

Read = Callable[[str | Path], Corpus]

# Memory that a reader may use: buffers and a batch of rows, and the counts, words and labels of a
# text as Python objects before they are arrays.
_MEMORY_BASE = 32 * 2**20
_MEMORY_PER_BYTE = 40
_N_DAMAGED = 12


@dataclass(frozen=True)
class _Case:
    """A reader, a valid file or folder for it, and the file to damage."""

    read: Read
    path: Path
    damaged: Path

    def corpus(self, path: str | Path | None = None) -> Corpus:
        """Read the valid input, which must succeed."""
        try:
            corpus = self.read(self.path if path is None else path)
        except Exception as error:
            raise AssertionError(f"a valid file gives {type(error).__name__}: {error}") from error
        assert isinstance(corpus, Corpus), f"a {type(corpus).__name__} is not a Corpus."
        return corpus


def check_reader(
    read: Read, files: str | Path | Sequence[str | Path]
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Named checks that a reader of one valid file or folder, or several, keeps the contract."""
    for path in map(Path, [files] if isinstance(files, (str, Path)) else files):
        inside = sorted(found for found in path.rglob("*") if found.is_file())
        case = _Case(read, path, inside[0] if inside else path)
        for check in (
            _counts_are_canonical,
            _words_are_unique_strings,
            _labels_and_ids_match_the_documents,
            _reading_twice_is_the_same,
            _a_string_is_a_path,
            _a_missing_file_is_not_found,
            _an_empty_file_is_read_or_reported,
            _a_folder_is_not_a_file,
            _a_truncated_file_is_read_or_reported,
            _a_scrambled_file_is_read_or_reported,
            _memory_stays_near_the_size_of_the_file,
        ):
            name = check.__name__.strip("_").replace("_", " ")
            yield f"{path.name}: {name}", partial(check, case)


def _counts_are_canonical(case: _Case) -> None:
    corpus = case.corpus()
    counts = corpus.counts
    assert isinstance(counts, csr_array)
    assert counts.dtype == np.float64
    assert counts.has_canonical_format
    assert np.isfinite(counts.data).all()
    assert (counts.data > 0).all(), "zeros are stored."
    assert corpus.n_documents > 0, "a valid file has documents."


def _words_are_unique_strings(case: _Case) -> None:
    corpus = case.corpus()
    assert len(corpus.words) == corpus.n_words == len(set(corpus.words))
    assert all(type(word) is str for word in corpus.words)


def _labels_and_ids_match_the_documents(case: _Case) -> None:
    corpus = case.corpus()
    assert len(corpus.labels) == len(corpus)
    assert corpus.ids is None or len(corpus.ids) == len(corpus)


def assert_same_corpus(one: Corpus, other: Corpus) -> None:
    """Raise unless two corpora have the same counts, words, labels and ids."""
    assert one.words == other.words
    assert one.ids == other.ids
    assert one.text_settings == other.text_settings
    pairs = [(one.counts, other.counts)]
    assert len(one.labels.blocks) == len(other.labels.blocks)
    for block, twin in zip(one.labels.blocks, other.labels.blocks, strict=True):
        assert (block.name, block.kind, block.columns) == (twin.name, twin.kind, twin.columns)
        pairs.append((block.values, twin.values))
    for matrix, twin_matrix in pairs:
        assert matrix.shape == twin_matrix.shape
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(matrix, part), getattr(twin_matrix, part))


def _reading_twice_is_the_same(case: _Case) -> None:
    assert_same_corpus(case.corpus(), case.corpus())


def _a_string_is_a_path(case: _Case) -> None:
    assert_same_corpus(case.corpus(str(case.path)), case.corpus(Path(case.path)))


def _a_missing_file_is_not_found(case: _Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"absent-{case.path.name}")
        error = _failure(case.read, path, path.name)
    assert isinstance(error, FileNotFoundError), "a missing file should be a FileNotFoundError."


def _an_empty_file_is_read_or_reported(case: _Case) -> None:
    error = _read_damaged(case, lambda data: b"")
    # In a folder of texts an empty file is an empty document.
    assert error is not None or case.path.is_dir(), "an empty file should be a ReadError."


def _a_folder_is_not_a_file(case: _Case) -> None:
    if case.path.is_dir():
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"folder-{case.path.name}")
        path.mkdir()
        assert _failure(case.read, path, path.name) is not None, "a folder should be a ReadError."


def _a_truncated_file_is_read_or_reported(case: _Case) -> None:
    size = len(case.damaged.read_bytes())
    for cut in sorted({size - 1, *np.linspace(1, size - 1, _N_DAMAGED).astype(int).tolist()}):
        _read_damaged(case, itemgetter(slice(cut)))


def _a_scrambled_file_is_read_or_reported(case: _Case) -> None:
    for seed in range(_N_DAMAGED):
        _read_damaged(case, partial(_scrambled, seed))


def _scrambled(seed: int, data: bytes) -> bytes:
    rng = np.random.default_rng(seed)
    changed = np.frombuffer(data, dtype=np.uint8).copy()
    changed[rng.integers(len(changed), size=3)] = rng.integers(256, size=3)
    return changed.tobytes()


def _memory_stays_near_the_size_of_the_file(case: _Case) -> None:
    case.corpus()
    size = sum(f.stat().st_size for f in case.path.rglob("*")) or case.path.stat().st_size
    tracemalloc.start()
    try:
        case.corpus()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= _MEMORY_BASE + _MEMORY_PER_BYTE * size, (
        f"reading {size} bytes takes {peak / 2**20:.0f} MB."
    )


def _read_damaged(case: _Case, damage: Callable[[bytes], bytes]) -> Exception | None:
    """Damage a copy of the file or the folder, and return the error of reading it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, case.path.name)
        (shutil.copytree if case.path.is_dir() else shutil.copy)(case.path, copy)
        file = copy / case.damaged.relative_to(case.path)
        file.write_bytes(damage(case.damaged.read_bytes()))
        return _failure(case.read, copy, file.name)


def _failure(read: Read, path: Path, name: str) -> Exception | None:
    """Return the error of reading a damaged file, which must be one of ours and name the file."""
    try:
        corpus = read(path)
    except (ReadError, FileNotFoundError) as error:
        message = str(error)
        assert name in message, f"the message does not name {name!r}: {message}"
        assert "\n" not in message, f"the message has several lines: {message}"
        return error
    except Exception as error:
        raise AssertionError(
            f"a damaged file should be a ReadError, and not a {type(error).__name__}: {error}"
        ) from error
    assert isinstance(corpus, Corpus)
    return None
