import errno
import io
import json
import os
import pickle
import stat
import zipfile
from operator import methodcaller

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file, save_file

from hdsp import HDSP
from hdsp.persistence import ModelFileError, container
from tests.persistence.models import mixed_model, read_header, rewrite


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.hdsp"
    mixed_model()[0].save(path)
    return path


def refusal(path):
    """The sentence that a file is refused with."""
    with pytest.raises(ModelFileError) as caught:
        HDSP.load(path)
    message = str(caught.value)
    assert repr(str(path)) in message
    assert message.endswith(".")
    assert "\n" not in message
    # One sentence: no full stop but that of names and versions, and the last.
    assert ". " not in message
    return message


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


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files_are_refused(tmp_path, name):
    path = tmp_path / "foreign.hdsp"
    path.write_bytes(FOREIGN[name])
    assert "it is of another format, or cut short" in refusal(path)


def test_other_safetensors_files_are_refused(tmp_path):
    path = tmp_path / "other.hdsp"
    save_file({"a": np.zeros(3)}, path)
    refusal(path)
    save_file({"a": np.zeros(3)}, path, metadata={"hdsp": "[" * 100_000})
    refusal(path)
    save_file({"a": np.zeros(3)}, path, metadata={"hdsp": '{"kind": "model"}'})
    refusal(path)


def test_folders_and_missing_files(tmp_path):
    refusal(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"There is no file .*nothing"):
        HDSP.load(tmp_path / "nothing.hdsp")


def test_a_checkpoint_is_no_model(path):
    rewrite(path, kind="checkpoint")
    assert "it is no model" in refusal(path)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9, 0.999])
def test_truncated_files_are_refused(path, share):
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    refusal(path)


def test_a_single_wrong_bit_is_found(path):
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    assert "its checksum is wrong" in refusal(path)


@pytest.mark.parametrize("version", ["0.9", "1.4", "2.0", "", "1", "one\n", None, 1.0, [1, 0]])
def test_a_file_of_another_version_says_so(path, version):
    # Whatever else such a file may hold.
    rewrite(path, dict.clear, version=version)
    expected = f"is of format version {version!r}, and this hdsp reads 1.0: load it with the hdsp"
    assert expected in refusal(path)


def put(*keys_and_value):
    *keys, last, value = keys_and_value

    def change(manifest):
        for key in keys:
            manifest = manifest[key]
        manifest[last] = value

    return change


TRIAL = {
    "topics": 5,
    "init": "words",
    "perplexity": 9.0,
    "concentration": 2.0,
    "coherence": 0.1,
    "exclusivity": 0.5,
    "seconds": 0.5,
}
FACTOR = {"function": "Categorical", "columns": ["tags"], "terms": [], "settings": {}}
TERM = {"term": "Spline", "columns": ["tags"], "settings": {}}
WRONG_SCALINGS = [
    {"function": "os.system"},
    FACTOR | {"columns": ["nothing"]},
    FACTOR | {"function": "LogLinear", "terms": [TERM]},
    FACTOR | {"function": "LogLinear", "terms": [TERM | {"term": "os.system"}]},
    {"function": "Product", "factors": []},
    {"function": "Constant", "columns": [], "terms": [], "settings": {"x": 1}},
]
# Too many, no mapping, no list, no numbers, too large a number.
WRONG_LEARNED = [[{}] * 9, [3] * 3, *([{"knots": x}] * 3 for x in (3, ["a"], [1e300]))]
WRONG_MANIFESTS = {
    "priors": [None, {}, {"topic_prior": -1.0}],
    "corpus_concentration": [-1.0, 0, float("nan"), float("inf"), "1", True, None, 10**400],
    "n_documents": [0, -1, 3, 40.0, True],
    "n_topics": [-1, 6, "2"],
    "named": [1, None],
    "converged": ["yes"],
    "frames": ["numpy", 3, []],
    "history": [None, {}, [{}], [{"bound": "1"}], [[]], "rows"],
    "search": [
        None,
        {},
        "rows",
        [None],
        [[]],
        [{}],
        [{"topics": 8, "perplexity": 9.0}],
        [TRIAL | {"colour": 1}],
        [TRIAL | {"perplexity": float("nan")}],
        [TRIAL, TRIAL | {"perplexity": float("-inf")}],
        [TRIAL | {"seconds": "1"}],
        [TRIAL | {"topics": None}],
        [TRIAL | {"topics": True}],
        TRIAL,
    ],
    "text_settings": [[], "a"],
    "schema": [None, {}, {"blocks": []}, {"blocks": [{"name": "tags"}]}],
    "space": [
        None,
        {},
        {"scaling": FACTOR},
        *(
            {"scaling": scaling, "learned": [{}] * n}
            for scaling in WRONG_SCALINGS
            for n in (1, 2, 3)
        ),
        *({"scaling": FACTOR, "learned": learned} for learned in WRONG_LEARNED),
    ],
    "versions": [3, ["numpy"], {"numpy": 2}],
    "stages": [3, [3], [{}], [{"stage": 1, "seconds": 1.0}], [{"stage": "a", "seconds": "b"}]],
    "parameters": [None, {}, {"max_iter": 3}],
    "transposed": [None, ["nothing"], 3],
    "kept_whole": [None, 3, [-1], [5], [True], ["1"]],
    "answers": [
        None,
        {"concentration": 0.0},
        {"expected.documents": [1.0]},
        {"expected.documents": [0.0, 1]},
        {"expected.tokens": [1.0, "1"]},
        {"expected.tokens": ["1", 1]},
    ],
}


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name in WRONG_MANIFESTS for value in WRONG_MANIFESTS[name]],
)
def test_a_manifest_with_a_wrong_value_is_refused(path, name, value):
    rewrite(path, put(name, value))
    refusal(path)


def test_rows_of_a_search_are_taken(path):
    rewrite(path, put("search", [TRIAL, TRIAL | {"topics": 8}]))
    assert HDSP.load(path).search_ == [TRIAL, TRIAL | {"topics": 8}]


def test_a_manifest_without_a_value_is_refused(path):
    # Files of older versions do not have the second.
    names = set(read_header(path)["manifest"]) - {"hdsp", "versions"}
    whole = path.read_bytes()
    for name in names:
        path.write_bytes(whole)
        rewrite(path, lambda manifest, name=name: manifest.pop(name))
        refusal(path)


def test_a_model_without_versions_is_read(path):
    rewrite(path, lambda manifest: manifest.pop("versions"))
    assert HDSP.load(path).provenance_["versions"] == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_components", -1),
        ("max_iter", "many"),
        ("scaling", {"function": "Own", "columns": [], "terms": [], "settings": {}}),
        ("scaling", 3),
        ("init", None),
        ("unknown", 1),
    ],
)
def test_wrong_settings_are_refused(path, name, value):
    rewrite(path, put("parameters", name, value))
    refusal(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", 3),
        ("kind", "numbers"),
        ("columns", ["x", "x", "y"]),
        ("columns", ["x", "y", 3]),
        ("mean", []),
        ("scale", [0.0]),
        ("centred", "yes"),
    ],
)
def test_wrong_labels_are_refused(path, name, value):
    block = 2 if name in ("mean", "scale") else 0
    rewrite(path, put("schema", "blocks", block, name, value))
    refusal(path)


def changes(array):
    """Arrays that cannot stand in for another."""
    yield array[..., :-1] if array.ndim == 1 else array[:-1]
    yield array[None]
    yield array.astype(np.int8 if array.dtype.kind == "f" else np.float32)
    if array.dtype.kind == "f":
        for wrong in (np.nan, np.inf, -np.inf):
            changed = array.copy()
            changed.flat[-1] = wrong
            yield changed
    if array.dtype.kind == "i":
        for wrong in (-1, 10**6):
            changed = array.astype(np.int64)
            changed.flat[-1] = wrong
            yield changed


def test_wrong_arrays_are_refused(path):
    whole, arrays = path.read_bytes(), load_file(path)
    assert len(arrays) > 40
    tried = 0
    # Answers that were never computed have no arrays; a coherence may be NaN.
    optional = {"coherence", "correlations.values"}
    optional |= {f"counts.{block}.data" for block in range(3)}
    optional |= {f"labels.{block}.slope" for block in range(3)}
    for name, array in arrays.items():
        for wrong in [None, *changes(array)]:
            if wrong is None and name in optional:
                continue
            if wrong is None:
                change = methodcaller("pop", name)
            elif name == "coherence" and wrong.shape == (5,):
                continue
            else:
                change = put(name, np.ascontiguousarray(wrong))
            path.write_bytes(whole)
            rewrite(path, change_arrays=change)
            refusal(path)
            tried += 1
    assert tried > 250


@pytest.mark.parametrize(
    "name", ["topics", "sticks", "scaling.0:shape", "scaling.0:rate", "reading.lengths"]
)
def test_negative_parameters_are_refused(path, name):
    rewrite(path, change_arrays=lambda arrays: arrays[name].__setitem__(0, -1.0))
    assert f"its array {name!r} holds numbers out of range" in refusal(path)


def test_a_model_without_words_is_refused(path):
    rewrite(path, change_arrays=lambda arrays: arrays.update(topics=arrays["topics"][:0]))
    assert "it has no topics" in refusal(path)


def test_correlations_of_more_topics_than_there_are_are_refused(path):
    def more(arrays):
        for name in ("values", "errors"):
            arrays[f"correlations.{name}"] = np.zeros((2, 66), dtype=np.float32)

    rewrite(path, change_arrays=more)
    assert "its correlations are of other topics" in refusal(path)


def test_a_model_without_answers_is_read(path):
    """What needs only the reading is computed from it, and the rest gets a sentence."""
    rewrite(
        path,
        put("answers", {}),
        lambda arrays: [
            arrays.pop(name)
            for name in list(arrays)
            if name.startswith(("coherence", "correlations", "counts", "labels", "word_factors"))
        ],
    )
    loaded, (model, counts, labels) = HDSP.load(path), mixed_model()
    pd.testing.assert_frame_equal(loaded.label_effects(), model.label_effects())
    expected = model.expected_topics(labels)
    np.testing.assert_allclose(loaded.expected_topics(labels), expected, rtol=1e-5)
    for ask in (
        loaded.topics,
        loaded.topic_correlations,
        loaded.label_words,
        lambda: loaded.perplexity(counts, labels),
        lambda: loaded.transform(counts),
    ):
        with pytest.raises(ValueError, match="needs the training documents, which a saved"):
            ask()


def test_loading_maps_the_file(path):
    topics = HDSP.load(path)._model.state.topics
    assert not topics.flags.owndata
    assert topics.flags.writeable
    assert topics.flags.aligned


def test_a_failed_write_leaves_the_file_that_was_there(path, monkeypatch):
    before = path.read_bytes()

    def fail(file, *_):
        file.write(b"half a fi")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(container, "write_arrays", fail)
    with pytest.raises(OSError, match=r"cannot write .*No space left on device.*has room"):
        mixed_model()[0].save(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_an_interrupted_write_leaves_the_file_that_was_there(path, monkeypatch):
    before = path.read_bytes()

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        mixed_model()[0].save(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_writing_where_nothing_can_be_written(tmp_path):
    with pytest.raises(OSError, match=r"cannot write .*No such file or directory"):
        mixed_model()[0].save(tmp_path / "no" / "model.hdsp")
    with pytest.raises(OSError, match="cannot write"):
        mixed_model()[0].save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_has_the_usual_permissions_and_a_link_stays_a_link(tmp_path):
    plain, link = tmp_path / "plain", tmp_path / "link.hdsp"
    plain.touch()
    link.symlink_to(tmp_path / "model.hdsp")
    mixed_model()[0].save(link)
    assert link.is_symlink()
    assert stat.S_IMODE((tmp_path / "model.hdsp").stat().st_mode) == stat.S_IMODE(
        plain.stat().st_mode
    )
    assert HDSP.load(link).n_components == 5


def test_the_file_is_plain_safetensors_and_tells_where_it_is_from(path):
    header = read_header(path)
    assert (header["kind"], header["version"]) == ("model", "1.0")
    assert len(header["manifest"]["fingerprint"]) == 64
    assert json.dumps(header)
    assert load_file(path)["topics"].shape == (12, 5)
