"""Topics and effects across numbers of topics and seeds."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from hdsp import HDSP, Corpus, simulate
from hdsp.analysis.label_effects import effect_columns
from hdsp.analysis.refits import robustness_facts
from hdsp.metrics import match_topics


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
    return model.robustness(corpus, numbers=[3, 5], seeds=[8], level=0.8)


def test_rows_are_those_of_fits_by_hand(model, corpus, table):
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
    # Of three topics, four cannot be found.
    assert (table["matched"][table["number"] == 3] == -1).sum() == len(own) // 4
    assert table["excludes_zero"].any()


def test_numbers_and_seeds_are_around_the_models(model, corpus):
    table = model.robustness(corpus, labels="a")
    fits = table[["number", "seed"]].drop_duplicates()
    assert fits.values.tolist() == [[n, seed] for n in (3, 4, 5) for seed in (4, 5)]


def test_topics_that_were_given_are_looked_for_afresh(model, corpus):
    given = HDSP(4, init=model.components_, random_state=0).fit(corpus)
    table = given.robustness(corpus, numbers=[4], seeds=[1], labels="a")
    assert len(table) == 4
    assert (table["similarity"] < 1.0).any()


def test_a_model_without_labels_has_topics_alone(corpus):
    plain = Corpus(corpus.counts, corpus.words)
    model = HDSP(3, init="nmf", max_iter=30, random_state=0).fit(plain)
    table = model.robustness(plain, numbers=[3], seeds=[1, 2])
    assert list(table.columns) == [
        *("number", "seed", "topic", "words", "matched", "similarity", "found")
    ]
    assert len(table) == 6
    facts = robustness_facts(table.to_dict("list"), effect_columns(model._model))
    assert set(facts) == {"refit_numbers", "refit_seeds", "found"}
    assert facts["refit_seeds"] == "seeds 1 and 2"


def test_facts_count_what_the_table_says(model, table):
    facts = robustness_facts(table.to_dict("list"), effect_columns(model._model, level=0.8))
    frame = model.label_effects(level=0.8)
    sure = (frame["lower"] > 0) | (frame["upper"] < 0)
    twice = table[np.tile(sure, 2)]
    assert facts == {
        "refit_numbers": "3 and 5",
        "refit_seeds": "seed 8",
        "found": f"{100 * table['found'].mean():.0f} %",
        "same_sign": f"{100 * twice['same_sign'].mean():.0f} %",
        "excludes_zero": f"{100 * twice['excludes_zero'].mean():.0f} %",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"numbers": [1]}, "`numbers` of HDSP must be an integer >= 2. Got 1"),
        ({"seeds": [0.5]}, "`seeds` of HDSP must be an integer >= 0. Got 0.5"),
        ({"labels": "c"}, "`labels` of HDSP.robustness: the model has no label 'c'"),
        ({"level": 2}, "`level` of HDSP.robustness must be between 0 and 1"),
    ],
)
def test_what_is_refused(model, corpus, arguments, message):
    with pytest.raises(ValueError, match=message):
        model.robustness(corpus, **arguments)


def test_warnings_of_refits_are_given_once(model, corpus):
    hasty = clone(model).set_params(max_iter=1, tol=0.0)
    with pytest.warns(ConvergenceWarning):
        hasty.fit(corpus)
    said = r"In 4 of 4 fits with other seeds or numbers, at first: HDSP stopped after max_iter=1 "
    with pytest.warns(ConvergenceWarning, match=said) as caught:
        hasty.robustness(corpus, numbers=[3, 4], seeds=[1, 2])
    assert len(caught) == 1


def test_what_groups_lack_is_said(corpus):
    groups = np.arange(len(corpus)) // 4
    grouped = Corpus(corpus.counts, corpus.words, corpus.labels, groups=groups)
    settings = {"init": "nmf", "max_iter": 3, "tol": 0.1, "random_state": 0}
    with_groups = HDSP(3, **settings).fit(grouped)
    with pytest.raises(
        ValueError, match=r"The fit had groups, and these documents have none: pass"
    ):
        with_groups.robustness(corpus)
    without = HDSP(3, **settings).fit(corpus)
    with pytest.raises(
        ValueError, match=r"The fit had no groups, and these documents have some: l"
    ):
        without.robustness(grouped)
    with pytest.raises(ValueError, match=r"Got as many documents, but other ones, other labels or"):
        without.robustness(corpus[::-1])
    with pytest.raises(ValueError, match=r"Got 50 documents, where training had 160.$"):
        without.robustness(corpus[:50])


def test_other_documents_are_refused(model, corpus):
    with pytest.raises(ValueError, match=r"`corpus` of HDSP.robustness must be the documents that"):
        model.robustness(corpus[:50])
    with pytest.raises(TypeError, match=r"`corpus` of HDSP.robustness must be a Corpus. Got csr_"):
        model.robustness(corpus.counts)
