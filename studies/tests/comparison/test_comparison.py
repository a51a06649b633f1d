"""Cells, their measures, and running them."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics

import hdsp
from hdsp.corpus import Corpus, TextSettings
from hdsp.metrics import npmi
from hdsp.model.reading import split_tokens
from hdsp_studies.comparison import (
    compare,
    confusion_matrix,
    f1_scores,
    measure,
    split_corpus,
    with_others,
    worker,
)
from hdsp_studies.comparison.cells import Cell, cell_path, write_cell
from hdsp_studies.comparison.isolation import CellResult, Job
from hdsp_studies.comparison.measures import topics_used
from hdsp_studies.peers import FitSettings, Fitted, make_peer
from studies.tests.comparison.fakes import FittedUnigram

FAKES = "studies.tests.comparison.fakes"
UNIGRAM = f"{FAKES}:Unigram"


@pytest.fixture(scope="module")
def corpus():
    tags = [["north"], ["south"], ["north", "south"], []] * 15
    return hdsp.simulate(tags, n_topics=4, n_words=30, document_length=20, random_state=0)[0]


def test_words_that_training_lacks_are_left_out():
    counts = np.eye(40, dtype=int)
    whole = Corpus(
        counts, words=[f"w{i}" for i in range(40)], labels=[[f"t{i}"] for i in range(40)]
    )
    train, test = split_corpus(whole, 0.25, 1)
    expected, _ = whole.split(0.25, 1)
    assert len(train) == train.n_words == len(expected)
    assert train.words == test.words
    assert test.n_tokens == 0
    assert len(train.labels.names) == len(train)
    assert len(test.labels.names) == 40


def test_measures_by_their_definitions(corpus):
    train, test = split_corpus(corpus, 0.3, 0)
    model = FittedUnigram(train.counts)
    found = measure(model, train, test, 1.5)
    _, held_out = split_tokens(test.counts)
    total = (held_out.toarray() * np.log(model.topics[0])).sum()
    assert found["completion"] == pytest.approx(np.exp(-total / held_out.sum()))
    assert found["given_labels"] is None
    top = np.argsort(-model.topics[0], kind="stable")[None, :10]
    assert found["npmi"] == pytest.approx(npmi(top, train.counts).mean())
    assert (found["diversity"], found["n_topics"], found["seconds"]) == (1.0, 1.0, 1.5)
    assert "accuracy" not in found


def test_given_labels_is_that_of_the_estimator(corpus):
    train, test = split_corpus(corpus, 0.3, 0)
    fitted = make_peer("hdsp").fit(train, FitSettings(n_topics=6, seed=1, quick=True))
    found = measure(fitted, train, test, 0.0)
    for name, given in (("given_labels", "labels"), ("completion", "completion")):
        assert found[name] == pytest.approx(
            fitted.model.perplexity(test.counts, labels=test.labels, given=given), rel=1e-4
        )
    assert found["n_topics"] == fitted.model.n_topics_


def test_topics_without_an_average_document_do_not_count():
    fitted = Fitted()
    fitted.topics = np.full((3, 4), 0.25)
    fitted.topic_tokens = np.array([60.0, 40.0, 0.5])
    assert len(topics_used(fitted, n_documents=10)) == 2
    fitted.topic_tokens = None
    assert len(topics_used(fitted, n_documents=10)) == 3


def test_confusion_and_f1_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    true = rng.choice(list("abd"), 200)
    found = np.where(rng.random(200) < 0.5, true, rng.choice(list("abcd"), 200))
    matrix = confusion_matrix(true, found, "abcd")
    np.testing.assert_array_equal(matrix, sklearn.metrics.confusion_matrix(true, found))
    expected = sklearn.metrics.f1_score(true, found, labels=list("abd"), average=None)
    # A value that no document has counts for nothing.
    np.testing.assert_allclose(f1_scores(matrix), [*expected[:2], np.nan, expected[2]])


def test_accuracy_and_macro_f1_of_documents_that_have_the_target():
    place = ["north", None, "south", "south", "north"]
    test = Corpus(np.ones((5, 2)), labels=pd.DataFrame({"place": place}))
    fitted = Fitted()
    fitted.predict = lambda counts, labels: ["north", "south", "west", "south"]
    found = measure(fitted, test, test, 0.0, target="place")
    assert found["accuracy"] == 0.5
    # F1 of north is 2/3 and of south 1/2; no document is in the west.
    assert found["macro_f1"] == pytest.approx((2 / 3 + 1 / 2) / 2)


def test_a_model_that_can_do_nothing(corpus):
    train, test = split_corpus(corpus, 0.3, 0)
    found = measure(Fitted(), train, test, 2.0)
    assert {name for name, value in found.items() if value is not None} == {"seconds"}


def test_shares_must_be_shares(corpus):
    train, test = split_corpus(corpus, 0.3, 0)
    model = FittedUnigram(train.counts)
    model.topics = model.topics * 2.0
    with pytest.raises(ValueError, match="topics of a model must be shares"):
        measure(model, train, test, 0.0)


def test_what_is_no_number_is_a_failure_and_no_dash(corpus):
    train, test = split_corpus(corpus, 0.3, 0)
    job = Job(f"{FAKES}:Certain", FitSettings(), train, test)
    with pytest.raises(ArithmeticError, match="the measure completion came out as inf"):
        worker.run(job)


def test_failures_are_recorded_and_the_rest_goes_on(corpus, tmp_path):
    names = ("Crashes", "Leaves", "Raises", "Unigram", "LeavesQuietly")
    models = [f"{FAKES}:{name}" for name in names]
    reports = []
    cells = compare({"small": corpus}, models, tmp_path, seeds=[5], report=reports.append)
    errors = [cell.error for cell in cells]
    assert errors[0] == "its process was ended by SIGSEGV"
    assert errors[1].startswith("its process ended with status 3")
    assert errors[2] == "ArithmeticError: two and two are five"
    assert errors[3] is None
    assert cells[3].measures["completion"] > 1.0
    assert errors[4] == "its process ended before there was a result"
    assert [(now.number, now.total, now.cell is None) for now in reports[:2]] == [
        (1, 5, True),
        (1, 5, False),
    ]
    assert len(list(tmp_path.glob("*.json"))) == 5
    assert not list(tmp_path.glob("*.partial"))


@pytest.fixture
def jobs(monkeypatch):
    """The jobs that would have gone to child processes; they are done here."""
    done = []

    def run_here(job, most_seconds):
        done.append((job.model, job.settings.seed))
        return CellResult(worker.run(job), None)

    monkeypatch.setattr("hdsp_studies.comparison.run.run_isolated", run_here)
    return done


def test_finished_cells_are_not_done_again(corpus, tmp_path, jobs):
    first = compare({"small": corpus}, [UNIGRAM], tmp_path, seeds=1)
    again = compare({"small": corpus}, [UNIGRAM], tmp_path, seeds=2)
    assert jobs == [(UNIGRAM, 0), (UNIGRAM, 1)]
    assert again[0] == first[0]
    # Half a file is no result.
    path = cell_path(tmp_path, UNIGRAM, "small", 1)
    path.write_text(path.read_text()[:40])
    third = compare({"small": corpus}, [UNIGRAM], tmp_path, seeds=2)
    assert jobs[2:] == [(UNIGRAM, 1)]
    assert without_seconds(again[1]) == without_seconds(third[1])


def test_failed_cells_are_done_again(corpus, tmp_path, jobs):
    (cell,) = compare({"small": corpus}, [UNIGRAM], tmp_path, seeds=1)
    write_cell(tmp_path, replace(cell, measures={}, error="power cut"))
    compare({"small": corpus}, [UNIGRAM], tmp_path, seeds=1)
    assert len(jobs) == 2


def test_results_of_other_settings_are_neither_taken_nor_lost(corpus, tmp_path, jobs):
    compare({"small": corpus}, [UNIGRAM], tmp_path, seeds=1)
    with pytest.raises(ValueError, match=r"settings \(settings.n_topics is 50 there and 9 here"):
        compare({"small": corpus}, [UNIGRAM], tmp_path, seeds=1, n_topics=9)
    with pytest.raises(ValueError, match=r"corpus\.fingerprint"):
        compare({"small": corpus[1:]}, [UNIGRAM], tmp_path, seeds=1)
    assert len(jobs) == 1


def test_others_of_a_folder_that_were_made_alike(corpus, tmp_path, jobs):
    quick = {"n_topics": 4, "quick": True}
    earlier = compare({"a": corpus, "b": corpus}, ["hdp"], tmp_path, seeds=2, **quick)
    (now,) = compare({"a": corpus}, [UNIGRAM], tmp_path, seeds=[1], **quick)
    assert with_others([now], tmp_path) == [now, *earlier[:2]]
    assert with_others([earlier[1]], tmp_path) == [*earlier[:2], now]
    # Not what failed, what is broken, or what another setting or library made.
    write_cell(tmp_path, replace(earlier[0], measures={}, error="power cut"))
    assert with_others([now], tmp_path) == [now, earlier[1]]
    cell_path(tmp_path, "hdp", "a", 0).write_text("{}")
    assert with_others([now], tmp_path) == [now, earlier[1]]
    for part, change in (("settings", {"n_topics": 9}), ("versions", {"numpy": "0.1"})):
        decided = {**earlier[0].determined_by}
        decided[part] = {**decided[part], **change}
        write_cell(tmp_path, replace(earlier[0], determined_by=decided))
        assert with_others([now], tmp_path) == [now, earlier[1]]
    decided = {**earlier[0].determined_by, "model": {"details": {"max_iter": 3}}}
    write_cell(tmp_path, replace(earlier[0], determined_by=decided))
    assert with_others([earlier[1]], tmp_path) == [earlier[1], now]


def test_two_runs_give_the_same_numbers(corpus, tmp_path):
    runs = [
        compare({"small": corpus}, ["hdsp"], tmp_path / name, seeds=1, n_topics=5, quick=True)
        for name in ("first", "second")
    ]
    assert without_seconds(runs[0][0]) == without_seconds(runs[1][0])
    assert None not in runs[0][0].measures.values()


def test_a_cell_records_what_determined_it(corpus, tmp_path, jobs):
    (cell,) = compare({"a b/c": corpus}, [UNIGRAM], tmp_path, seeds=[7], test_size=0.4)
    (path,) = tmp_path.glob("*.json")
    assert path.name == "studies.tests.comparison.fakes_Unigram--a_b_c--7.json"
    data = json.loads(path.read_text())
    assert data["determined_by"] == cell.determined_by
    assert cell.determined_by["split"] == {"seed": 7, "test_size": 0.4, "text_settings": None}
    assert cell.determined_by["corpus"]["documents"] == 60
    assert {"hdsp", "numpy", "python"} <= set(cell.determined_by["versions"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": ["lsa"]}, "There is no model 'lsa'"),
        ({"models": ["nb"]}, "'nb' predicts one label column and nothing else: name a target"),
        ({"models": []}, "at least one model"),
        ({"models": ["hdsp", "hdsp"]}, "every model once"),
        ({"seeds": 0}, "at least one seed"),
        ({"target": "colour"}, "has no block 'colour'"),
        ({"target": "tags"}, "one value a document"),
        ({"most_seconds": 0}, "`most_seconds` of compare must be positive. Got 0."),
        ({"text_settings": TextSettings(min_df=100)}, "No word is left of the 4. training doc"),
        ({"seeds": [0, 1, 2], "test_size": 1e-9}, "must leave documents on both sides"),
    ],
)
def test_what_cannot_be_done_is_refused_beforehand(corpus, tmp_path, change, message):
    arguments = {"models": ["hdsp"], **change}
    with pytest.raises(ValueError, match=message):
        compare({"small": corpus}, arguments.pop("models"), tmp_path / "cells", **arguments)
    assert not (tmp_path / "cells").exists()


def test_cells_that_would_share_a_file_are_refused(corpus, tmp_path, jobs):
    with pytest.raises(ValueError, match=r"on a b and of .*Unigram on a_b would share a file"):
        compare({"a b": corpus, "a_b": corpus}, [UNIGRAM], tmp_path)
    assert not jobs


def test_each_corpus_is_split_and_fitted_by_itself(corpus, tmp_path, jobs):
    corpora = {"first": corpus, "second": corpus[:40]}
    cells = compare(corpora, [UNIGRAM, "hdp"], tmp_path, seeds=2, n_topics=4, quick=True)
    expected = [(c, m, s) for c in corpora for m in (UNIGRAM, "hdp") for s in (0, 1)]
    assert [(cell.corpus, cell.model, cell.seed) for cell in cells] == expected
    assert [cell.determined_by["corpus"]["documents"] for cell in cells] == [60] * 4 + [40] * 4
    assert len({cell.measures["completion"] for cell in cells}) == 8


def without_seconds(cell):
    return {name: value for name, value in cell.measures.items() if name != "seconds"}


def test_cells_are_plain_data():
    cell = Cell("m", "c", 0, {}, {"npmi": None})
    assert json.loads(json.dumps(cell.to_dict()))["measures"] == {"npmi": None}
