"""What must hold of every model, whatever it was fitted to."""

import io
import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP
from hdsp.cli import main
from tests.zoo import KINDS, METHODS, answers, assert_same, corpus_of, facts, fit, fitted, stored

pytestmark = pytest.mark.parametrize("name", KINDS)


def test_threads_and_a_second_fit_give_the_same_bits(name):
    """Whether or not it has answered questions before."""
    first, again = fitted(name), fit(name, n_jobs=2)
    answers(first, corpus_of(name))
    again._model.complete()
    for part, array in stored(again).items():
        np.testing.assert_array_equal(array, stored(first)[part], strict=True)
    assert facts(again) == facts(first)


def test_a_file_keeps_everything(name, tmp_path):
    model, path = fitted(name), tmp_path / "model.hdsp"
    said = answers(model, corpus_of(name))
    model.save(path)
    before, loaded = path.read_bytes(), HDSP.load(path)
    assert_same(stored(loaded), stored(model))
    assert_same(answers(loaded, corpus_of(name)), said)
    assert (loaded.history_, loaded.search_) == (model.history_, model.search_)
    assert facts(loaded) == facts(model)
    assert loaded.get_params() == model.get_params()
    assert loaded.provenance_ == model.provenance_
    HDSP.load(path).save(path)
    assert path.read_bytes() == before
    # Arrays are mapped from the file, which never changes.
    topics = HDSP.load(path)._model.state.topics
    assert not topics.flags.owndata
    assert topics.flags.writeable
    topics[:] = 1.0
    assert path.read_bytes() == before


def test_a_pickle_answers_everything_without_the_documents(name):
    model = fitted(name)
    copy = pickle.loads(pickle.dumps(model))
    # Nor words of documents that regressions were made of.
    assert copy._model.left_out is None
    assert "weighed" not in vars(copy._model)
    assert_same(answers(copy, corpus_of(name)), answers(model, corpus_of(name)))


@pytest.mark.filterwarnings("ignore")
def test_a_loaded_model_is_fitted_again_or_goes_on_to_the_same_bits(name, tmp_path):
    if name == "merged":
        pytest.skip("merged topics are not fitted")
    model, corpus = fitted(name), corpus_of(name)
    model.save(tmp_path / "model.hdsp")
    again = HDSP.load(tmp_path / "model.hdsp")
    if name == "stream":
        model = deepcopy(model)
        for stream in (model, again):
            # Topics are learned again in between, and have been before.
            before = stream.name_topics({0: "first"}).n_documents_
            assert stream.partial_fit(corpus).history_[-1]["learned_again"] > before / 2
    else:
        again.fit(corpus)
    assert_same(stored(again, given_answers=False), stored(model, given_answers=False))
    assert facts(again) == facts(model)


def by_topic(model):
    """Effects and expected proportions of levels, with a column for each topic."""
    for weight in ("documents", "tokens"):
        effects = model.label_effects(weight=weight)["effect"]
        yield np.reshape(list(effects), (-1, len(model.fitted_topics_)))
    regression = model.estimate_effects()
    for name in {block.name for block in model.label_schema_.blocks} - {"tags"}:
        expected = regression.levels(name)["expected"]
        yield np.reshape(list(expected), (-1, len(model.fitted_topics_)))


def test_merged_topics_are_sums(name):
    """In everything that is said of topics; words and labels are predicted as before."""
    model, corpus = fitted(name), corpus_of(name)
    merged = model.merge_topics([0, 1])
    before, after = (answers(one, corpus) for one in (model, merged))
    add = np.array(
        [[set(one) <= set(own) for own in merged.fitted_topics_] for one in model.fitted_topics_]
    )
    for said in ("transform", "proportions", *METHODS):
        np.testing.assert_allclose(after[said], before[said] @ add, rtol=1e-9, atol=1e-9)
    for held in ("topic_weight_", "topic_tokens_"):
        np.testing.assert_allclose(getattr(merged, held), getattr(model, held) @ add, rtol=1e-9)
    for said in ("simulated", "labels", "completion", "concentration"):
        np.testing.assert_array_equal(after[said], before[said])
    for said in before:
        if said.startswith("predicted"):
            assert_same(after[said], before[said])
    if model.label_names_:
        for values, summed in zip(by_topic(model), by_topic(merged), strict=True):
            np.testing.assert_allclose(summed, values @ add, atol=1e-9)


def test_the_report_is_written(name, tmp_path):
    fitted(name).report(tmp_path / "report.html", corpus_of(name))
    assert "</html>" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("command", ["topics", "effects", "words"])
def test_the_command_prints_the_table_of_python(name, command, tmp_path, capsys):
    model = fitted(name)
    if command != "topics" and not model.label_names_:
        pytest.skip("no labels")
    if command == "words" and not model._model.worded:
        pytest.skip("no label is a tag or a level")
    model.save(tmp_path / "model.hdsp")
    assert main([command, str(tmp_path / "model.hdsp"), "-o", str(tmp_path / "table.csv")]) == 0
    ask = {"topics": model.topics, "effects": model.label_effects, "words": model.label_words}
    table = ask[command]()
    table = pd.DataFrame({column: list(table[column]) for column in table.columns})
    if command == "topics":
        # Those that are not in use are not printed.
        table = table[: model.n_topics_]
    printed = pd.read_csv(io.StringIO((tmp_path / "table.csv").read_text()))
    shared = [column for column in table.columns if column in printed.columns]
    assert len(shared) >= 5
    assert len(printed) == len(table)
    for column in shared:
        if table[column].dtype.kind in "fi":
            np.testing.assert_allclose(printed[column].to_numpy(float), table[column], rtol=1e-6)
