"""One table of bad inputs: the message of Python, and the one sentence of the command."""

import pickle
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from hdsp import HDSP, Categorical, Corpus, LogLinear
from hdsp.cli import main
from tests.cli.commands import reviews
from tests.zoo import SETTINGS, corpus_of, fitted, table

LABELS = table()[["tags", "dept", "rating"]]
AUTHORS = pd.DataFrame({"author": [f"a{i}" for i in range(120)]})
ONE_BAD = LABELS.assign(rating=LABELS["rating"].where(LABELS.index != 17, -np.inf))
TEXTS = ["cats chase mice", "dogs eat meat"]
CSV = "fit {csv} --categories department -o out.hdsp"


@cache
def corpus():
    return corpus_of("mixed")


@cache
def counts():
    return corpus().counts.toarray()


def with_entry(value):
    changed = counts().copy()
    changed[3, 2] = value
    return changed


def fit(X=None, labels=LABELS, **settings):
    X = counts() if X is None else X
    return HDSP(**{"n_components": 5, **SETTINGS, **settings}).fit(X, labels=labels)


def with_row(row):
    """Topics to start from, of which the last is special."""
    return np.vstack([np.ones((4, 60)), np.full((1, 60), row)])


def named(name):
    return f"The '{name}' parameter of HDSP must be"


# A call with a fitted model, part of its message, a command with the same fault, and part of its
# sentence if it is another.
DATA = [
    (lambda m: fit(with_entry(-1.0)), "Negative"),
    (lambda m: fit(csr_array(with_entry(-1.0))), "Negative"),
    (lambda m: fit(with_entry(np.nan)), "NaN"),
    (lambda m: fit(with_entry(np.inf)), "infinity"),
    (lambda m: fit(csr_array(with_entry(np.inf))), "infinity"),
    (lambda m: fit(counts().astype(str).astype(object) + "x"), "convert"),
    (lambda m: fit(counts()[0]), "2D array"),
    (lambda m: fit(counts()[:0], None), "0 sample"),
    (lambda m: fit(Corpus(counts())[:0], None), "no word in any of its 0 documents"),
    (lambda m: fit(np.zeros((5, 0)), None), "0 feature"),
    (lambda m: fit(np.zeros((5, 9)), None), "no word in any of its 5 documents"),
    *(
        (lambda m, texts=texts: fit(texts, None), "hdsp.Corpus.from_texts(texts)")
        for texts in (TEXTS, tuple(TEXTS), pd.Series(TEXTS), np.array(TEXTS), "text")
    ),
    (lambda m: fit(labels=LABELS[1:]), "120 documents. Got 119 rows"),
    (lambda m: fit(Corpus(counts())), "must be None where X is a Corpus"),
    (lambda m: fit(labels=ONE_BAD), "HDSP.fit must be finite. Got -inf at row 17, column 'rating'"),
    (lambda m: fit(labels=np.arange(120.0)), "reshape(-1, 1)"),
    (lambda m: fit(labels="red"), "Got str"),
    (lambda m: fit(labels=["red", ["blue"]] * 60), "one type"),
    (lambda m: HDSP.load("no.hdsp"), "no.hdsp", "topics no.hdsp"),
]
NEW_DATA = [
    (lambda m: m.transform(np.ones((2, 61))), "61 features, but HDSP is expecting 60"),
    (lambda m: m.transform(np.ones((2, 3))), "3 features, but HDSP is expecting 60"),
    (
        lambda m: HDSP(**SETTINGS).partial_fit(counts()).partial_fit(counts()[:, :5]),
        "X has 5 features, but HDSP is expecting 60",
    ),
    (lambda m: m.transform(TEXTS), "hdsp.Corpus.from_texts(texts, like=model)"),
    (lambda m: m.transform(with_entry(-2.0)), "Negative"),
    (lambda m: m.transform(with_entry(np.nan)), "NaN"),
    (lambda m: m.transform(np.ones((0, 60))), "0 sample"),
    (
        lambda m: m.transform(Corpus(counts(), words=[f"x{i}" for i in range(60)])),
        "X of HDSP.transform has other words than the model",
    ),
    (
        lambda m: m.perplexity(Corpus(counts(), words=m.words_[::-1])),
        "other words than the model: 60 against 60, or in another order",
    ),
    (
        lambda m: m.transform(corpus(), labels=LABELS),
        "`labels` of HDSP.transform must be None where X is a Corpus",
    ),
    (
        lambda m: m.transform(counts(), labels=LABELS[1:]),
        "`labels` of HDSP.transform must have one row for each of the 120 documents. Got 119 rows",
    ),
    (
        lambda m: m.perplexity(counts(), labels=LABELS.assign(rating=np.inf)),
        "`labels` of HDSP.perplexity must be finite",
    ),
    (
        lambda m: m.expected_topics(pd.DataFrame({"rating": ["high"]})),
        "`labels` of HDSP.expected_topics must hold numbers or dates in column 'rating'",
    ),
    (lambda m: m.expected_topics(np.ones((2, 3))), "Got a matrix"),
    (lambda m: m.expected_topics(None), "HDSP.expected_topics needs labels: one"),
    (lambda m: m.perplexity(np.zeros((2, 60))), "no token to predict"),
    (lambda m: m.simulate(), "needs labels, or `n_documents`"),
    *(
        (
            lambda m, wrong=wrong: m.score(corpus(), sample_weight=wrong),
            "`sample_weight` of HDSP.score must be a non-neg",
        )
        for wrong in ([1, 2], np.full(120, -1.0), np.full(120, np.nan))
    ),
]
VALUES = {
    "n_components": [0, -3, 2.5, 5.0, "5", None],
    "max_components": [0, 1.5, "many"],
    "content": [3, ["dept"]],
    "topic_prior": [0, -0.1, np.nan, np.inf, "0.1", 1e300],
    "corpus_concentration": [0.0, "x", 1e300],
    "document_concentration": [-1.0, np.inf, 1e-300],
    "init": ["kmeans", None],
    "inference": ["online", None],
    "batch_size": [0, 2.5, "many"],
    "max_iter": [0, 1.5, None],
    "tol": [-1e-3, np.nan, np.inf, "small", None],
    "executor": [3],
    "n_jobs": [1.5, "two"],
    "checkpoint": [3],
    "random_state": [-1, "x", 1.5],
    "verbose": [-1, "yes"],
}
OTHER_VALUES = {
    "`init` of HDSP, as an array, must be of shape": {
        "init": [
            *(np.ones((4, 60)), np.ones((5, 61)), np.ones(60), [["a"]]),
            *map(with_row, (-1.0, np.nan, np.inf, 0.0)),
        ]
    },
    "`scaling` of HDSP must be 'auto', a": {"scaling": [3, None, Categorical, ["tags"], "all"]},
    "`seeds` of HDSP must map topic names to lists": {
        "seeds": [["a"], "a", {"a": "w1"}, {"a": []}, {"a": [3]}, {3: ["w1"]}, {" ": ["w1"]}]
    },
}
PARAMETERS = [
    *(
        (lambda m, name=name, value=value: fit(**{name: value}), message)
        for message, values in [
            *((named(name), {name: values}) for name, values in VALUES.items()),
            *OTHER_VALUES.items(),
        ]
        for name in values
        for value in values[name]
    ),
    *(
        (lambda m, name=name, value=value: fit(**{name: value}), named(name), *command)
        for name, value, *command in (
            ("n_components", 0, f"{CSV} --n-components 0", "--n-components must be"),
            ("max_components", 0, f"{CSV} --max-components 0", "in the range [1, inf). Got 0"),
            ("max_iter", 0, f"{CSV} --max-iter 0", "--max-iter must be an int in the range [1,"),
            ("random_state", -1, f"{CSV} --random-state -1", "--random-state must be"),
            ("n_jobs", 1.5, f"{CSV} --n-jobs 0", "--n-jobs must be"),
        )
    ),
    (
        lambda m: fit(scaling=Categorical("colour")),
        "must be made of label columns: 'tags', 'dept', 'rating'. Got 'colour'",
    ),
    (
        lambda m: fit(scaling=Categorical("tags") * LogLinear("tags")),
        "names the label column 'tags' twice",
    ),
    (lambda m: fit(scaling=LogLinear("tags", "tags")), "column 'tags' twice"),
    (
        lambda m: fit(scaling=Categorical("tags", "rating")),
        "Categorical takes category and tags columns. Use LogLinear('rating') instead.",
    ),
    (
        lambda m: fit(scaling=Categorical("tags", "dept") * LogLinear("rating") * LogLinear()),
        "that no label is left for",
    ),
    (
        lambda m: fit(content="side"),
        "must be a column of the labels: 'tags', 'dept', 'rating'. Got",
    ),
    (lambda m: fit(content="rating"), "must be a category"),
    (lambda m: fit(content="dept", scaling=Categorical("tags")), "must be in `scaling`, too"),
    (lambda m: fit(content="author", labels=AUTHORS), "at most 50 levels"),
    (
        lambda m: fit(n_components=1, seeds={"a": ["w1"], "b": ["w2"]}),
        "more than the 1 topic. Got 2: raise n_comp",
    ),
    (
        lambda m: HDSP(**SETTINGS).partial_fit(counts(), forget=0),
        "`forget` of HDSP.partial_fit must be",
    ),
]
ABOUT_LABELS = [
    (
        lambda m: m.expected_topics(LABELS, method="mean"),
        "`method` of HDSP.expected_topics must be one of 'regression', 'exact', 'ratio'. Got",
    ),
    (lambda m: m.perplexity(counts(), method="mean"), "`method` of HDSP.perplexity must be one of"),
    (
        lambda m: m.perplexity(counts(), given="words"),
        "`given` of HDSP.perplexity must be one of 'labels', 'completion'. Got 'words'",
    ),
    (
        lambda m: m.label_effects(labels="weather"),
        "`labels` of HDSP.label_effects must be names of labels",
        "effects {model} --label weather",
        "weather",
    ),
    (
        lambda m: m.label_effects(level=2),
        "`level` of HDSP.label_effects must be between 0 and 1",
        "effects {model} --level 2",
        "--level must be between 0 and 1",
    ),
    *(
        (
            lambda m, wrong=wrong: m.label_effects(labels="rating", contrast=wrong),
            "must be two finite numbers or dates, since 'rating' is numeric",
        )
        for wrong in ((0, np.inf), (np.nan, 1), ("-1e300", "1"), ("2002-13-01", 1), ([1], 2))
    ),
    (
        lambda m: m.predict_labels(counts(), "weather"),
        "`target` of HDSP.predict_labels",
        "predict {model} {csv} --target weather",
        "weather",
    ),
    (
        lambda m: m.predict_labels(counts(), "dept", values=["tall"]),
        "must be among those of 'dept' in training",
    ),
    *(
        (
            lambda m, refits=refits: m.label_effects(refits=refits, corpus=corpus()),
            "`refits` of HDSP must be an integer >= ",
        )
        for refits in (0, 1, 2.5, True)
    ),
    (
        lambda m: m.label_effects(refits=2, corpus=corpus()[::-1]),
        "must be the documents that the model was fitted to",
    ),
    (
        lambda m: m.label_effects(refits=2, corpus=csr_array(counts())),
        "must be a Corpus. Got csr_array: of counts make Corpus",
    ),
    (
        lambda m: pickle.loads(pickle.dumps(m)).label_effects(refits=2),
        "`refits` of HDSP.label_effects needs the training doc",
    ),
]
ABOUT_TOPICS = [
    *(
        (
            lambda m, label=label: m.typical_documents(corpus(), label=label),
            "must be a tag or a level of the model",
        )
        for label in ("hats", "rating", 3)
    ),
    (lambda m: m.typical_documents(corpus(), n=0), "`n` of HDSP must be an integer >= 1"),
    (
        lambda m: m.typical_documents(corpus(), texts=["a", "b"]),
        "`texts` of HDSP.typical_documents must have one row for each of the 120 documents",
    ),
    (lambda m: m.topics_of_word("w1x"), "such as: 'w1', 'w51', 'w41'. Got 'w1x'"),
    (lambda m: m.topic_words(9), "number of a topic: None, 0, 1, 2, 3, 4. Got 9"),
    (lambda m: m.topic_words(0, by="dept"), "needs a model whose groups have their own words"),
    (
        lambda m: m.topics(n_words=0),
        "must be an integer >= 1",
        "topics {model} --n-words 0",
        "--n-words",
    ),
    *(
        (lambda m, given=given: m.stability(corpus(), per_fit=True, **given), message)
        for given, message in (
            ({"numbers": [1]}, "`numbers` of HDSP must be an integer >= 2. Got 1"),
            ({"seeds": [0.5]}, "`seeds` of HDSP must be an integer >= 0. Got 0.5"),
            ({"seeds": 0}, "`seeds` of HDSP must be an integer >= 1. Got 0"),
            ({"labels": "c"}, "`labels` of HDSP.stability must be names of labels"),
            ({"level": 2}, "`level` of HDSP.stability must be between 0 and 1"),
        )
    ),
    *(
        (lambda m, names=names: m.name_topics(names), message)
        for names, message in (
            (["x"], "must map topics to names"),
            ({7: "x"}, "must name topics 0 to 4. Got 7"),
            ({-1: "x"}, "Got -1"),
            ({"1": "x"}, "Got '1'"),
            ({1: 3}, "must be texts, or None for no name. Got 3 for topic 1"),
            ({1: " "}, "Got ' ' for topic 1"),
        )
    ),
    *(
        (lambda m, topics=topics: m.merge_topics(topics), message)
        for topics, message in (
            (3, "must be a list of topics"),
            ([3], "at least two topics"),
            ([], "at least two topics"),
            ([[1, 2], [3]], "at least two topics"),
            ([1, 7], "must name topics 0 to 4. Got 7"),
            ([1, "2"], "topics"),
            ([1, 1], "name each topic once"),
            ([[1, 2], [2, 3]], "name each topic once"),
            ([1.0, 2.0], "list of topics"),
            ("12", "must name topics"),
        )
    ),
]
BAD = [*DATA, *NEW_DATA, *PARAMETERS, *ABOUT_LABELS, *ABOUT_TOPICS]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad[1])
def test_python_raises_and_leaves_the_model_unchanged(bad):
    model = fitted("mixed")
    before = dict(vars(model))
    with pytest.raises((ValueError, TypeError, OSError)) as caught:
        bad[0](model)
    assert bad[1] in str(caught.value)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    reviews(60).drop(columns="labels").to_csv(folder / "t.csv", index=False)
    names = {"csv": str(folder / "t.csv"), "model": str(folder / "m.hdsp")}
    fit = ["fit", names["csv"], "--categories", "department", "--n-components", "3"]
    assert main([*fit, "-o", names["model"], "-q"]) == 0
    return names


@pytest.mark.parametrize("bad", [bad for bad in BAD if bad[2:]], ids=lambda bad: bad[2])
def test_the_command_prints_one_sentence(bad, files, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(bad[2].format(**files).split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("hdsp: ")
    assert len(err.splitlines()) == 1
    assert "`" not in err
    assert (bad[3] if bad[3:] else bad[1]) in err


@pytest.mark.filterwarnings("ignore:HDSP stopped after")
def test_a_failed_second_fit_leaves_the_first():
    def answers():
        return model.transform(corpus()), model.expected_topics(LABELS), model.words_

    model = HDSP(5, **SETTINGS).fit(corpus())
    before = answers()
    for X, labels in ((with_entry(-1.0), LABELS), (counts(), LABELS[1:])):
        with pytest.raises(ValueError, match=r"Negative|119 rows"):
            model.fit(X, labels=labels)
    for one, other in zip(before, answers(), strict=True):
        np.testing.assert_array_equal(one, other)
