"""Files that someone made on purpose, with a right checksum: refused, or harmless."""

import warnings

import numpy as np
import pyarrow as pa
import pytest

from hdsp import HDSP, Corpus, NotSavedWarning, ReadError, TextSettings, open_corpus
from tests.corpus.corpora import check_same, example
from tests.persistence.forging import (
    REMOVED,
    Forger,
    is_refused,
    put,
    put_array,
    put_column,
    wrong_arrays,
)
from tests.zoo import METHODS, corpus_of, fit_quietly, fitted, table

pytestmark = pytest.mark.filterwarnings("ignore:HDSP stopped after max_iter")

FACTOR = {"function": "Categorical", "columns": ["tags"], "terms": [], "settings": {}}
TERM = {"term": "Spline", "columns": ["tags"], "settings": {}}
SCALINGS = [
    3,
    {"function": "os.system"},
    FACTOR | {"columns": ["nothing"]},
    FACTOR | {"function": "LogLinear", "terms": [TERM]},
    FACTOR | {"function": "LogLinear", "terms": [TERM | {"term": "os.system"}]},
    {"function": "Product", "factors": []},
    {"function": "Constant", "columns": [], "terms": [], "settings": {"x": 1}},
]
NUMBERS = [-1.0, 0.0, np.nan, np.inf, "1", True, None, 10**400]
# Values that are refused, by the file and the keys of its data.
MUTATIONS = {
    "functions": {
        "parameters": [None, {}, {"max_iter": 3}],
        "parameters.n_components": [-1],
        "parameters.max_iter": ["many"],
        "parameters.scaling": [3, {"function": "Own", "columns": [], "terms": [], "settings": {}}],
        "parameters.scaling.factors.0.settings.weight_shape": [np.inf],
        "parameters.scaling.factors.1.settings.variance": [1e39],
        "parameters.init": [None],
        "parameters.random_state": [1e308, -1, 0.5],
        "parameters.tol": [np.inf],
        "parameters.unknown": [1],
        "design": [None, {}, [], REMOVED],
        "design.scaling": SCALINGS,
        "design.scaling.factors.1.settings.variance": [np.nan, -1.0],
        # Too many, no mapping, no list, no numbers, too large a number.
        "design.learned": [[{}] * 9, [3] * 3, *([{"knots": x}] * 3 for x in (3, ["a"], [1e300]))],
        "design.schema": [None, {}, {"blocks": []}, {"blocks": [{"name": "tags"}]}],
        "design.schema.blocks.0.name": [3, "rating"],
        "design.schema.blocks.0.kind": ["numbers", 3],
        "design.schema.blocks.0.columns": [["x", "x", "y"], ["x", "y", 3], []],
        "design.schema.blocks.2.mean": [[], [1e300]],
        "design.schema.blocks.2.scale": [[0.0], [1e-40], ["1"]],
        "model": [None, [], {}, REMOVED],
        "model.state": [REMOVED],
        "model.state.corpus_concentration": NUMBERS,
        "model.priors": [None, {}, {"topic_prior": -1.0}],
        "model.priors.corpus_concentration": [[1.0], [1.0, -1.0], 3.0],
        "model.n_documents": [0, -1, 3, 40.0, True, REMOVED],
        "model.reading.kept_whole": [None, 3, [-1], [5], [True], ["1"]],
        "model.reading.values": [None, [120], [120, 5], [-1, 7], [2**62, 7], [120.0, 7]],
        "model.source.frames": ["numpy", 3, []],
        "model.source.words": [None, ["a"], [1] * 60],
        "model.source.text_settings": [[], "a", {}],
        "model.report.history": [None, {}, [{"bound": "1"}], [[]], "rows"],
        "model.report.history.0.bound": [10**400, np.nan, np.inf, -1e308],
        "answers.returning": [2**200],
        "model.fixed_concentration": [-1.0, "1"],
        "model.topic_names": [["x"], {"99": "x"}, {"0": 3}, {"x": "y"}, {"1": ""}, None],
        "model.merged_topics": [3, {"members": [[0, 3], [1, 2]]}],
        "answers": [None, {"questions": 1.0}, {"counts.nothing": [3, 60]}],
        "answers.concentration": [0.0, "1"],
        "answers.correlations.degrees": [-1],
        "answers.expected": [3.0],
        "stream": [[1, 2], {}],
    },
    "merged": {
        "model.merged_topics.members": [
            [[0, 3], [1, 2]],
            [[0, 3], [1, 2], [4], []],
            [[0, 3], [1, 2], [4, 4]],
            [[0, 3], [1, 2], [4.0]],
            [[0, 3], [1, 2], [True, 4]],
            [0, 1, 2, 3, 4],
        ],
        "model.topic_names": [{"4": "x"}],
    },
    "content": {"model.state.versions.strength": [-1.0, None]},
    "stream": {
        "stream": [[1, 2]],
        "stream.steps": [0, -1.0, None, "many", np.nan],
        "stream.batch_size": [0, 1.5, True],
        "stream.n_seen": [0, "all"],
        "stream.limits.labels_per_document": [0, 2.5],
        "stream.n_documents": [0, 3, 2.5],
        "stream.seed": [-1, 0.5, None, 2**80],
        "stream.learned": [0, "never"],
        "stream.waiting": [{"w1": 1}, {}, {"a": 1, "b": 2}, {"later": -1}],
    },
    "checkpoint": {
        "progress": [[], None],
        "progress.passes": [[], [{"bound": 1.0}], REMOVED],
        "progress.documents": [None],
        "progress.state.document_concentration": [-1.0],
    },
    "search": {"progress.trials": [[{}], None], "progress.trials.0.topics": ["12"]},
    "manifest": {
        "words": [REMOVED, [1, 2, 3, 4, 5], ["a", "a", "b", "c", "d"], "abcde", ["a"], 3],
        "text_settings": [{"token_pattern": "(a+)+b"}, {"ngrams": 10**9}, {"surprise": 1}, 3],
        "n_tokens": [np.nan, -1.0, "1"],
        "shards": [[], [1], {}, None],
        "shards.0.n_documents": [2**70, 2**40, -1, True, 9, None],
        "shards.0.checksum": ["../../../../etc/passwd", None, REMOVED],
        "schema": [{}, [3]],
        "schema.blocks.0.kind": ["code", "number", None],
        "schema.blocks.0.columns": [["a"], ["a", "a", "b"], "abc", [1, 2, 3]],
        "schema.blocks.0.name": ["kind", 3],
        "schema.blocks.1.kind": ["number"],
        "schema.blocks.2.mean": [[], [np.inf], REMOVED],
        "schema.blocks.2.scale": [[], [0.0], [-1.0]],
        "has_ids": [1, None, False],
        "has_groups": [1, None, False],
        "format": ["other"],
        "fingerprint": ["0" * 32, None, REMOVED],
        "surprise": [1],
    },
}
# Arrays, or single numbers in their place, that are refused.
ARRAYS = [
    ("functions", "answers.expected.documents.weights", 1e300),
    ("functions", "reading.lengths", -100.0),
    ("functions", "reading.values.data", 1e300),
    ("functions", "reading.fold", 3),
    ("functions", "reading.rows", 120),
    ("functions", "answers.correlations.values", 1.5),
    ("functions", "answers.correlations.values", np.zeros((2, 66), dtype=np.float32)),
    ("functions", "state.scaling.0:shape", 1e-300),
    ("functions", "state.scaling.1:spread", -1.0),
    ("functions", "state.sticks", 0.0),
    ("functions", "state.topics", 0.0),
    ("functions", "state.topics", np.ones((0, 5), dtype=np.float32)),
    ("functions", "carriers", 1e12),
    ("content", "state.versions.columns", 0),
    ("seeds", "state.seeded", np.array([0, 0])),
    ("seeds", "state.seeded", np.array([0, 99])),
    ("seeds", "state.seeded", np.array([0])),
    ("seeds", "priors.seeds.data", np.nan),
    ("seeds", "priors.seeds.data", -1.0),
    ("stream", "stream.carriers", -1.0),
    ("stream", "stream.label_steps", -1.0),
    ("stream", "stream.sample.keys", 1.5),
    ("stream", "stream.sample.counts.data", -3.0),
    ("checkpoint", "documents.tangent", REMOVED),
    ("checkpoint", "state.topics", np.ones((29, 6), dtype=np.float32)),
    ("checkpoint", "state.topics", np.nan),
    ("checkpoint", "state.sticks", 2.0),
    ("search", "trials.0.likelihood", REMOVED),
]
# Columns of shards.
COLUMNS = [
    *(("words", value) for value in ([0, 5], [-1, 1], [0, 2**31 - 1], [1, 0], [1, 1])),
    *(("words", value) for value in ([0], [0, 1, 2])),
    *(("counts", [1, value]) for value in (0, -1, np.nan, np.inf, 1e300)),
    ("words", [0, 1], pa.list_(pa.int32())),
    ("words", [0.0, 1.0], pa.list_(pa.float64())),
    *(("tags", value) for value in (["a", "other"], ["a", "a"])),
    ("tags", "a", pa.string()),
    ("kind", "other"),
    ("kind", 3, pa.int64()),
    *(("year", value) for value in (np.nan, np.inf)),
    ("year", "x", pa.string()),
    ("id", 3, pa.int64()),
]


@pytest.fixture(scope="module")
def forger(tmp_path_factory):
    return Forger(tmp_path_factory.mktemp("files"))


@pytest.mark.parametrize(
    ("target", "keys"), [(target, keys) for target, forged in MUTATIONS.items() for keys in forged]
)
def test_wrong_values_are_refused(forger, target, keys):
    for value in MUTATIONS[target][keys]:
        assert forger.refuses(target, put(keys, value)), value


@pytest.mark.parametrize("target", ["functions", "content", "seeds", "stream"])
def test_wrong_arrays_are_refused(forger, target):
    # The coherence of a topic may be unknown, and reading a document too.
    free = {"answers.coherence", "reading.proportions"}
    wrong = [
        (name, changed if changed is REMOVED else np.ascontiguousarray(changed))
        for name, array in forger.contents(target)[1].items()
        for changed in wrong_arrays(array)
        if changed is REMOVED or (array.size and (name not in free or changed.shape != array.shape))
    ]
    assert len(wrong) > 150
    assert [n for n, array in wrong if not forger.refuses(target, put_array(n, array))] == []


@pytest.mark.parametrize(("target", "array", "value"), ARRAYS)
def test_numbers_that_no_fit_writes_are_refused(forger, target, array, value):
    assert forger.refuses(target, put_array(array, value))


@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_wrong_columns_are_refused(forger, column):
    assert forger.refuses("shard", put_column(*column))


def test_wrong_tables_are_refused(forger):
    def shorten(columns, _):
        for values in columns.values():
            values.pop()

    def rename(columns, kinds):
        columns["other"], kinds["other"] = columns.pop("kind"), kinds["kind"].with_name("other")

    for name in ("words", "id", "group", "kind"):
        assert forger.refuses("shard", lambda columns, _, name=name: columns.pop(name))
    assert forger.refuses("shard", shorten)
    assert forger.refuses("shard", rename)
    # The other shards are read.
    folder = forger.forge("shard", shorten)
    assert len(open_corpus(folder)[20:]) == 30
    with pytest.raises(ReadError, match=r"shard-000001\.parquet: this file of the corpus is"):
        open_corpus(folder)[10]


def test_rewriting_without_a_change_is_harmless(forger):
    for target in ("shard", "manifest"):
        folder = forger.forge(target)
        check_same(open_corpus(folder)[:], example(50).with_groups(["a", None] * 25))


def test_a_word_that_differs_twice_is_refused(forger):
    def change(_, arrays):
        for part, values in (("words", [3, 3]), ("topics", [1, 1]), ("shared", [1.0, 1.0])):
            arrays[f"state.versions.{part}"] = np.array(values)

    assert forger.refuses("content", change)


def leaves(data, path=()):
    if isinstance(data, (dict, list)):
        items = data.items() if isinstance(data, dict) else enumerate(data)
        return [leaf for key, own in items for leaf in leaves(own, (*path, str(key)))]
    return [".".join(path)]


@pytest.mark.parametrize("target", ["functions", "stream", "checkpoint", "search", "manifest"])
def test_a_value_of_another_type_is_refused(forger, target):
    """Settings of a checkpoint are compared, and those of a report are shown."""
    found = leaves(forger.contents(target)[0])
    free = ("answers.", "model.report.", "hdsp", "settings.")
    wrong = [keys for keys in found if "#" not in keys and not keys.startswith(free)]
    assert len(wrong) > 10
    assert [keys for keys in wrong if not forger.refuses(target, put(keys, [[{}]]))] == []


@pytest.mark.parametrize("name", ["functions", "stream"])
def test_any_value_is_refused_or_does_no_harm(forger, name):
    rng = np.random.default_rng(0)
    warnings.simplefilter("ignore")
    values = [None, "x", [], {}, True, -1, 1e29, 10**40, [[[]]], np.nan, "\ud800"]
    for keys in leaves(forger.contents(name)[0]):
        # Names may be any, and those of answers contain dots.
        if keys.startswith("answers.") or "words" in keys or "columns" in keys:
            continue
        folder = forger.forge(name, put(keys, values[rng.integers(len(values))]))
        if not is_refused(name, folder):
            model = HDSP.load(folder / "model.hdsp")
            assert np.isfinite(model.components_).all()
            assert np.isfinite(model.transform(corpus_of(name).counts[:3])).all()


def numbers(value):
    """All the numbers in what a model says."""
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers(item)]
    if isinstance(value, str):
        return [np.nan] if "nan" in value else []
    return np.ravel(value).tolist()


def said(model):
    """What a model says of a few documents."""
    counts, labels = corpus_of("functions")[:5].counts, table()[:5][["tags", "dept", "rating"]]
    regression = model.estimate_effects("~ dept + rating")
    tables = [model.label_effects(), regression.effects(), regression.levels("dept")]
    tables += [model.predict_labels(counts, target) for target in ("tags", "dept", "rating")]
    return {
        "topics": repr(model.topics()["distinctive_words"].tolist()),
        "transform": model.transform(counts, labels=labels),
        "simulated": model.simulate(labels, random_state=1).counts.toarray(),
        **{method: model.expected_topics(labels, method) for method in METHODS},
        **{str(n): frame.select_dtypes("number").to_numpy() for n, frame in enumerate(tables)},
    }


@pytest.mark.parametrize(
    ("keys", "values"),
    [
        ("model.state.corpus_concentration", [1e-30, 1e30]),
        ("model.state.document_concentration", [1e-30, 1e30]),
        ("answers.concentration", [1e-30, 1e30]),
        ("model.priors.topic_prior", [1e-30, 1e30]),
        ("design.schema.blocks.2.scale.0", [1e-30, 1e30]),
        ("design.schema.blocks.2.mean.0", [1e30]),
        ("answers.expected.documents.weights", [-1e30]),
        ("reading.proportions", [65504.0]),
        ("reading.lengths", [1e30]),
        ("state.scaling.0:shape", [1e-12]),
        ("state.scaling.1:weight", [1e30]),
        ("state.sticks", [1e-30, 1.0]),
        ("state.topics", [1e-30, 1e30]),
    ],
)
def test_the_largest_and_smallest_numbers_do_no_harm(forger, keys, values):
    """Such a model says numbers alone, without a warning of NumPy."""
    for value in values:
        is_array = keys.startswith(("reading", "state")) or keys.endswith("weights")
        change = put_array(keys, value) if is_array else put(keys, value)
        folder = forger.forge("functions", change)
        if not is_refused("functions", folder):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert np.isfinite(numbers(said(HDSP.load(folder / "model.hdsp")))).all()


def test_a_reading_of_no_documents_gets_a_sentence(forger):
    folder = forger.forge("functions", put_array("reading.lengths", 0.0))
    with pytest.raises(ValueError, match=r"needs at least 3 documents with words .* got 0\."):
        HDSP.load(folder / "model.hdsp").label_effects()


def test_a_model_without_answers_is_read(forger):
    """What needs only the reading is computed from it, and the rest gets a sentence."""
    loaded = HDSP.load(forger.forge("functions", put("answers", {})) / "model.hdsp")
    model, corpus = fitted("functions"), corpus_of("functions")
    assert loaded.label_effects().equals(model.label_effects())
    for ask in (
        loaded.topics,
        loaded.topic_correlations,
        loaded.label_words,
        lambda: loaded.transform(corpus),
    ):
        with pytest.raises(ValueError, match="needs the training documents, which a saved"):
            ask()


def test_a_file_does_not_decide_where_fits_run(forger):
    others = {"executor": "tcp://192.0.2.1:8786", "n_jobs": 999, "checkpoint": "/etc"}

    def change(data, arrays):
        assert not others.keys() & data["parameters"].keys()
        data["parameters"] |= others

    loaded = HDSP.load(forger.forge("functions", change) / "model.hdsp")
    assert (loaded.executor, loaded.n_jobs, loaded.checkpoint) == (None, None, None)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        (TextSettings(token_pattern=r"(?:cat|dog)s?"), "pattern"),
        (TextSettings(tokenizer=str.split, language=None), "function"),
    ],
)
def test_settings_that_a_file_may_not_hold_are_left_out_with_a_warning(tmp_path, settings, what):
    corpus = Corpus.from_texts(
        ["the cat sat", "two dogs fight", "a dog sat"], text_settings=settings
    )
    model = fit_quietly(HDSP(2, max_iter=2, random_state=0), corpus)
    for write in (model.save, corpus.write):
        path = tmp_path / write.__name__
        with pytest.warns(NotSavedWarning, match=f"The {what} that cuts texts into") as caught:
            write(path)
        assert caught[0].filename == __file__
    assert HDSP.load(tmp_path / "save").text_settings_ is None
    stored = open_corpus(tmp_path / "write")
    assert (stored.text_settings, stored.words) == (None, corpus.words)
