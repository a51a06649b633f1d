"""Topics and effects that fits with other seeds and numbers of topics find again."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from hdsp import HDSP, Corpus, simulate
from hdsp.analysis.label_effects import effect_columns, stability_facts, usual_numbers
from hdsp.metrics import match_topics, stability
from tests import zoo


@pytest.fixture(scope="module")
def corpus():
    tags = [["a"], ["b"], ["a", "b"], []] * 40
    return simulate(tags, n_topics=4, n_words=60, document_length=60, random_state=1)[0]


@pytest.fixture(scope="module")
def model(corpus):
    fitted = HDSP(4, init="nmf", max_iter=30, random_state=3).fit(corpus)
    return fitted.name_topics({1: "second"})


@pytest.fixture(scope="module")
def table(model, corpus):
    return model.stability(corpus, numbers=[3, 5], seeds=[8], per_fit=True, level=0.8)


def test_one_row_per_topic(model, corpus):
    before = model.components_.copy()
    table = model.stability(corpus, seeds=2)
    columns = ["topic", "name", "words", "similarity", "lowest", "found_in", "fits"]
    assert list(table.columns) == columns
    others = [clone(model).set_params(random_state=seed).fit(corpus) for seed in (4, 5)]
    expected = stability([model.components_, *[other.components_ for other in others]])
    np.testing.assert_allclose(table["similarity"], expected)
    assert (table["lowest"] <= table["similarity"] + 1e-12).all()
    assert table["found_in"].between(0, 2).all()
    assert (table["fits"] == 2).all()
    np.testing.assert_array_equal(model.components_, before)
    assert model.random_state == 3


def test_rows_per_fit_are_those_of_fits_by_hand(model, corpus, table):
    assert list(table.columns) == [
        *("number", "seed", "topic", "name", "words", "matched", "similarity", "found"),
        *("label", "contrast", "effect", "lower", "upper", "same_sign", "excludes_zero"),
    ]
    own = model.label_effects(level=0.8)
    for number, rows in table.groupby("number"):
        other = HDSP(number, init="nmf", max_iter=30, random_state=8)
        partner, distance = match_topics(model.components_, other.fit(corpus).components_)
        effects = other.label_effects(level=0.8).set_index(["label", "topic"])
        assert rows["label"].tolist() == own["label"].tolist()
        assert (rows["seed"] == 8).all()
        for row, mine in zip(rows.itertuples(), own.itertuples(), strict=True):
            assert (row.topic, row.matched) == (mine.topic, partner[row.topic])
            assert row.similarity == 1.0 - distance[row.topic]
            assert row.found == (row.similarity >= 0.5)
            if row.matched < 0:
                assert np.isnan(row.effect)
                assert not row.same_sign
                continue
            found = effects.loc[(row.label, row.matched)]
            assert (row.effect, row.lower, row.upper) == (found.effect, found.lower, found.upper)
            same = row.found and found.effect * mine.effect > 0
            assert row.same_sign == same
            assert row.excludes_zero == (same and not found.lower <= 0 <= found.upper)
    # A fit with three topics has no match for one of four.
    assert (table["matched"][table["number"] == 3] == -1).sum() == len(own) // 4
    assert table["excludes_zero"].any()


def test_given_topics_are_searched_afresh(model, corpus):
    given = HDSP(4, init=model.components_, random_state=0).fit(corpus)
    assert usual_numbers(given._model, given) == [3, 4, 5]
    for numbers in (None, [4]):
        assert (given.stability(corpus, numbers, seeds=[1])["similarity"] < 1.0).any()


def test_facts_are_those_of_the_table(model, table):
    facts = stability_facts(table.to_dict("list"), effect_columns(model._model, level=0.8))
    frame = model.label_effects(level=0.8)
    twice = table[np.tile((frame["lower"] > 0) | (frame["upper"] < 0), 2)]
    assert facts == {
        "refit_numbers": "3 and 5",
        "refit_seeds": "seed 8",
        "found": f"{100 * table['found'].mean():.0f} %",
        "same_sign": f"{100 * twice['same_sign'].mean():.0f} %",
        "excludes_zero": f"{100 * twice['excludes_zero'].mean():.0f} %",
    }


@pytest.mark.filterwarnings("ignore:In fits with other seeds or numbers")
def test_a_model_without_labels_has_topics_alone():
    model = zoo.fitted("hdp")
    table = model.stability(zoo.corpus_of("hdp"), numbers=[3], seeds=[1, 2], per_fit=True)
    names = ["number", "seed", "topic", "words", "matched", "similarity", "found"]
    assert list(table.columns) == names
    assert len(table) == 2 * len(model.components_)
    facts = stability_facts(table.to_dict("list"), effect_columns(model._model))
    assert set(facts) == {"refit_numbers", "refit_seeds", "found"}
    assert facts["refit_seeds"] == "seeds 1 and 2"


def test_warnings_of_refits_are_issued_once(model, corpus):
    hasty = clone(model).set_params(max_iter=1, tol=0.0)
    with pytest.warns(ConvergenceWarning):
        hasty.fit(corpus)
    message = "In fits with other seeds or numbers: HDSP stopped after max_iter=1"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        hasty.stability(corpus, numbers=[3, 4], seeds=[1, 2])
    assert [warning.filename for warning in caught] == [__file__]


def test_other_documents_are_refused():
    model, with_groups = zoo.fitted("categories"), zoo.fitted("groups")
    corpus, grouped = zoo.corpus_of("categories"), zoo.corpus_of("groups")
    renamed = Corpus(corpus.counts, words=[f"x{i}" for i in range(60)])
    message = "must be the documents that the model was fitted to, with the same labels and groups"
    for fitted, other in (
        (with_groups, corpus),
        (model, grouped),
        (model, corpus[::-1]),
        (model, corpus[:50]),
    ):
        with pytest.raises(ValueError, match=message):
            fitted.stability(other, per_fit=True)
    with pytest.raises(ValueError, match=r"X of HDSP\.stability has other words"):
        model.stability(renamed, per_fit=True)
    with pytest.raises(ValueError, match=r"`corpus` of HDSP\.stability has other words"):
        model.stability(renamed)
    with pytest.raises(TypeError, match=r"`corpus` of HDSP.stability must be a Corpus. Got csr_"):
        model.stability(corpus.counts)
