"""Files of models that go on learning: what they hold, and what is refused."""

import numpy as np
import pytest

import hdsp
from tests.persistence.models import rewrite


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    corpus, _ = hdsp.simulate([["news"], ["sport"]] * 60, n_topics=3, random_state=0)
    model = hdsp.HDSP(max_components=5, random_state=0).partial_fit(corpus[:80])
    # A word that waits.
    counts = np.hstack([corpus.counts[80:].toarray(), np.eye(40)[:, :1]])
    model.partial_fit(
        hdsp.Corpus(counts, words=(*corpus.words, "later"), labels=corpus.labels[80:])
    )
    path = tmp_path_factory.mktemp("models") / "stream.hdsp"
    model.save(path)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path, saved):
    path = tmp_path / "stream.hdsp"
    path.write_bytes(saved)
    return path


def test_everything_of_the_stream_comes_back(path):
    opened = hdsp.HDSP.load(path)._opened
    assert opened.waiting == {"later": 1}
    assert opened.n_documents == 120
    assert len(opened.sample) == 120
    assert opened.stream.steps > 0


WRONG = {
    "steps": [0, -1.0, None, "many", float("nan")],
    "batch_size": [0, 1.5, True],
    "n_documents": [0, "all"],
    "different_documents": [0, 3, 2.5],
    "seed": [-1, 0.5, None],
    "searched": [0, "never"],
    "labels_per_document": [0, 2.5],
}


@pytest.mark.parametrize("name", WRONG)
def test_numbers_that_are_none_are_refused(path, saved, name):
    for value in WRONG[name]:
        path.write_bytes(saved)
        rewrite(path, lambda manifest, value=value: manifest["stream"].update({name: value}))
        with pytest.raises(hdsp.ModelFileError):
            hdsp.HDSP.load(path)
    path.write_bytes(saved)
    rewrite(path, lambda manifest: manifest["stream"].pop(name))
    with pytest.raises(hdsp.ModelFileError):
        hdsp.HDSP.load(path)


def test_a_stream_that_is_no_mapping_is_refused(path):
    rewrite(path, lambda manifest: manifest.update(stream=[1, 2]))
    with pytest.raises(hdsp.ModelFileError):
        hdsp.HDSP.load(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("stream.carriers", -1.0),
        ("stream.label_steps", -1.0),
        ("stream.log_proportion", np.nan),
        ("stream.keys", 1.5),
        ("stream.counts.data", -3.0),
        ("stream.largest", np.inf),
    ],
)
def test_arrays_that_no_fit_makes_are_refused(path, name, value):
    def change(arrays):
        arrays[name] = arrays[name].copy()
        arrays[name][0] = value

    rewrite(path, change_arrays=change)
    with pytest.raises(hdsp.ModelFileError):
        hdsp.HDSP.load(path)


def test_a_waiting_word_that_the_model_has_is_refused(path):
    word = hdsp.HDSP.load(path).words_[0].encode()

    def change(arrays):
        arrays["stream.waiting.text"] = np.frombuffer(word, dtype=np.uint8)
        arrays["stream.waiting.ends"] = np.array([len(word)])

    rewrite(path, change_arrays=change)
    with pytest.raises(hdsp.ModelFileError, match="waiting words"):
        hdsp.HDSP.load(path)
