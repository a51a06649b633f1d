"""Model files on disk: what is refused, how they are written, and what comes back."""

import errno
import io
import json
import os
import pickle
import stat
import zipfile

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from hdsp import HDSP, Categorical, Corpus, LogLinear, simulate
from hdsp.corpus.corpus import fingerprint
from hdsp.exceptions import ModelFileError
from hdsp.fit import sample
from hdsp.storage import container
from tests.persistence.forging import rewrite
from tests.zoo import assert_same, corpus_of, fit_quietly, fitted, make, stored


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.hdsp"
    fitted("functions").save(path)
    return path


def again(model, folder):
    """A model after it was saved and loaded."""
    model.save(folder / "again.hdsp")
    return HDSP.load(folder / "again.hdsp")


def refusal(path):
    """The sentence that a file is refused with."""
    with pytest.raises(ModelFileError) as caught:
        HDSP.load(path)
    return str(caught.value)


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "text")
    return file.getvalue()


FOREIGN = {
    "empty": b"",
    "short": b"\x01",
    "text": b"not a model at all, but a text of some length\n",
    "random": np.random.default_rng(0).bytes(5000),
    "zip": zipped(),
    "pickle": pickle.dumps({"a": 1}),
    "huge header": (2**63).to_bytes(8, "little") + b"{}",
    "long header": (10**8).to_bytes(8, "little") + b"{}" * 100,
    "empty header": (2).to_bytes(8, "little") + b"{}",
    "deep header": (10**5).to_bytes(8, "little") + b"[" * 10**5,
}


def test_foreign_files_are_refused(tmp_path):
    path = tmp_path / "foreign.hdsp"
    for name, contents in FOREIGN.items():
        path.write_bytes(contents)
        assert "it is of another format, or cut short" in refusal(path), name
    for metadata in (None, {"hdsp": "[" * 100_000}, {"hdsp": '{"kind": "model"}'}):
        save_file({"a": np.zeros(3)}, path, metadata=metadata)
        refusal(path)
    refusal(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"There is no file .*nothing"):
        HDSP.load(tmp_path / "nothing.hdsp")


def test_json_that_is_deep_or_broken_is_refused(path):
    arrays = load_file(path)
    deep = (b"[" * 100_000, b'{"a": ' * 100_000, b"9" * 9999)
    for text in (*deep, b"\xff\xfe", b"", b"[1", b"null"):
        arrays["data"] = np.frombuffer(text, dtype=np.uint8)
        header = {"kind": "model", "version": container.VERSION}
        header["checksum"] = container.checksum("model", arrays)
        save_file(arrays, path, metadata={"hdsp": json.dumps(header)})
        refusal(path)


def test_a_checkpoint_is_no_model(path):
    data, arrays = container.read_file(path, "model")
    container.write_file(path, "checkpoint", data, arrays)
    assert "it is no model" in refusal(path)


@pytest.mark.parametrize("version", ["0.9", "1.0", "2.1", "", "1", "one\n", None, 1.0, [1, 0]])
def test_a_file_of_another_version_says_so(tmp_path, version):
    # Whatever else such a file may hold.
    header = {"kind": "model", "version": version}
    save_file({"a": np.zeros(3)}, tmp_path / "m", metadata={"hdsp": json.dumps(header)})
    expected = f"is of format version {version!r}, and this hdsp reads 2.0: load it with the hdsp"
    assert expected in refusal(tmp_path / "m")


def test_a_failed_or_interrupted_write_leaves_the_file_that_was_there(path, monkeypatch):
    before = path.read_bytes()

    def fail(file, *_):
        file.write(b"half a fi")
        raise OSError(errno.ENOSPC, "No space left on device")

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(container, "write_arrays", fail)
        with pytest.raises(OSError, match=r"cannot write .*No space left on device.*has room"):
            fitted("functions").save(path)
    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fitted("functions").save(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_writing_where_nothing_can_be_written(tmp_path):
    with pytest.raises(OSError, match=r"cannot write .*No such file or directory"):
        fitted("functions").save(tmp_path / "no" / "model.hdsp")
    with pytest.raises(OSError, match="cannot write"):
        fitted("functions").save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_has_the_usual_permissions_and_a_link_stays_a_link(tmp_path):
    plain, link = tmp_path / "plain", tmp_path / "link.hdsp"
    plain.touch()
    link.symlink_to(tmp_path / "model.hdsp")
    fitted("functions").save(link)
    assert link.is_symlink()
    mode = stat.S_IMODE((tmp_path / "model.hdsp").stat().st_mode)
    assert mode == stat.S_IMODE(plain.stat().st_mode)
    assert HDSP.load(link).n_components == 5


def test_what_belongs_to_a_run_stays_behind(tmp_path):
    model = make("hdp", random_state=np.random.default_rng(0))
    fit_quietly(model, corpus_of("hdp")).set_params(checkpoint=tmp_path / "folder")
    loaded = again(model, tmp_path)
    assert (loaded.random_state, loaded.checkpoint) == (None, None)


def test_sampling_weights_come_back(tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "MOST_DOCUMENTS", 60)
    monkeypatch.setattr(sample, "_PER_LABEL", 35)
    corpus, _ = simulate([["a"], ["b"], []] * 40, n_topics=3, random_state=0)
    model = HDSP(3, random_state=0, inference="stochastic")
    fit_quietly(model, corpus)
    assert len(np.unique(model._model.reading.weights)) > 1
    effects, loaded = model.label_effects(), again(model, tmp_path)
    assert_same(stored(loaded), stored(model))
    assert loaded.label_effects().equals(effects)


def test_a_given_start_comes_back(tmp_path):
    init = np.random.default_rng(0).random((3, 60))
    model = fit_quietly(HDSP(3, init=init, max_iter=2), corpus_of("hdp"))
    np.testing.assert_array_equal(again(model, tmp_path).init, init)


def test_only_labels_of_the_formula_are_carried_along(tmp_path):
    """Unless they were named for `predict_labels` before."""
    corpus = corpus_of("mixed")
    model = HDSP(3, scaling=LogLinear("rating"), max_iter=3, random_state=0)
    loaded = again(fit_quietly(model, corpus), tmp_path)
    names = {name for name in loaded._model.answers if name.startswith(("counts", "labels"))}
    assert names == {"counts.rating", "labels.rating"}
    with pytest.raises(ValueError, match=r"needs the training documents, which a saved"):
        loaded.predict_labels(corpus, "tags")
    said = model.predict_labels(corpus, "tags")
    assert again(model, tmp_path).predict_labels(corpus, "tags").equals(said)


def test_a_file_is_plain_safetensors_and_small(path):
    arrays = load_file(path)
    assert arrays["state.topics"].shape == (60, 5)
    documents = {name: a for name, a in arrays.items() if name.startswith("reading.")}
    assert documents.pop("reading.proportions").dtype == np.float16
    # Nothing else takes more than a few numbers per document and label.
    n_labels = len(documents["reading.values.data"])
    assert sum(a.nbytes for a in documents.values()) <= 30 * 120 + 12 * n_labels
    # What is as large again as the file is computed when it is asked for.
    assert "components_" not in vars(HDSP.load(path))


@pytest.mark.parametrize("words", [["", "\n"], ["\ud800", "naïve 😀"], ["a", "a" * 10_000]])
def test_any_words_come_back(tmp_path, words):
    corpus = Corpus([[3, 0], [0, 2], [1, 1]] * 5, words=words, labels=words * 7 + words[:1])
    model = fit_quietly(HDSP(2, max_iter=2), corpus)
    loaded = again(model, tmp_path)
    assert loaded.words_ == tuple(words)
    assert loaded.label_names_ == model.label_names_


class Own(Categorical):
    """A user's function: a subclass is not what it inherits from."""


def test_what_cannot_be_saved(tmp_path):
    path = tmp_path / "model.hdsp"
    with pytest.raises(NotFittedError):
        HDSP().save(path)
    model = fit_quietly(clone(fitted("functions")), corpus_of("functions")).set_params(max_iter=0)
    with pytest.raises(ValueError, match="'max_iter' parameter of HDSP must be"):
        model.save(path)
    own = fit_quietly(HDSP(3, scaling=Own("tags"), max_iter=2), corpus_of("tags"))
    with pytest.raises(ValueError, match=r"cannot store the scaling function Own.*joblib\.dump"):
        own.save(path)
    assert list(tmp_path.iterdir()) == []


def test_a_fingerprint_is_of_the_values_whatever_their_types():
    counts, design = csr_array([[1.0, 0.0], [2.0, 3.0]]), csr_array([[1.0], [0.0]])
    wide = csr_array(counts, dtype=np.float32)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    first = fingerprint(counts, design)
    assert fingerprint(wide, design) == first
    for other in ([[1.0, 0.0], [2.0, 4.0]], [[0.0, 1.0], [2.0, 3.0]], [[1.0, 2.0], [0.0, 3.0]]):
        assert fingerprint(csr_array(other), design) != first
    assert fingerprint(counts, csr_array([[0.0], [1.0]])) != first


def test_everything_of_a_stream_comes_back(tmp_path):
    opened = again(fitted("stream"), tmp_path)._model.stream
    assert opened.waiting == {"later": 1}
    assert opened.n_documents == len(opened.sample) == 120
    assert opened.steps > 0
    rewrite(tmp_path / "again.hdsp", lambda data, arrays: data.update(stream=None))
    assert HDSP.load(tmp_path / "again.hdsp")._model.stream is None
