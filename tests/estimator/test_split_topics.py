"""One subject in the words of two groups: the warning, and effects without those words."""

import warnings

import numpy as np
import pandas as pd
import pytest

import hdsp
from hdsp import HDSP, Corpus, UnreliableTopicsWarning
from hdsp.analysis.label_effects import own_regression
from hdsp.analysis.topic_checks import find_split_topics, shared_words
from hdsp.cli.main import main
from tests.estimator.test_content import N_TOPICS, speeches


@pytest.fixture(scope="module")
def corpus():
    return speeches(differ=0.2)[0]


@pytest.fixture(scope="module")
def model(corpus):
    return HDSP(max_components=30, init="nmf", random_state=0).fit(corpus)


def test_the_warning_names_a_pair_of_topics_and_the_remedy(model, corpus):
    with pytest.warns(UnreliableTopicsWarning, match=r"check_labels\(corpus, words='") as caught:
        model.check_labels(corpus)
    message = str(caught[0].message)
    assert caught[0].filename == __file__
    assert "HDSP(content='party')" in message
    pairs = find_split_topics(own_regression(model._model))
    first = pairs[0]
    assert f"Topics {first.topics[0]} (" in message
    assert first.shared > 0.5
    assert first.effects[0] > 0 > first.effects[1]
    table = model.label_effects(labels=first.label).set_index("topic")
    for topic, effect in zip(first.topics, first.effects, strict=True):
        assert table["effect"][topic] == pytest.approx(effect)


def test_what_groups_share_is_no_reason_to_warn():
    corpus, _, frame = speeches(differ=0.0)
    for content in (None, "party"):
        with warnings.catch_warnings():
            warnings.simplefilter("error", UnreliableTopicsWarning)
            HDSP(max_components=30, init="nmf", content=content, random_state=0).fit(
                corpus
            ).check_labels(corpus)
    other = Corpus(corpus.counts, words=corpus.words, labels=frame[["kind"]])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnreliableTopicsWarning)
        HDSP(max_components=30, init="nmf", random_state=0).fit(other).check_labels(other)


def test_shared_words_are_those_that_set_topics_apart():
    words = np.array([[0.5, 0.5, 0.5], [0.5, 0.4, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.5]])
    weight = np.ones(3)
    corpus = words.mean(axis=1)
    own = np.maximum(words - corpus[:, None], 0.0)
    expected = np.minimum(own[:, 0], own[:, 1]).sum() / min(own[:, 0].sum(), own[:, 1].sum())
    found = shared_words(words, weight)
    assert found[0, 1] == found[1, 0] == pytest.approx(expected)
    # All topics have the first word: it tells nothing.
    assert found[0, 2] == found[1, 2] == 0.0


def test_false_effects_do_not_remain_without_the_words(model, corpus):
    table = model.check_labels(corpus, words="party")
    sure = (table["lower"] > 0) | (table["upper"] < 0)
    assert sure.mean() > 0.5
    assert (table["verdict"][sure] == "words").mean() > 0.7
    assert table["effect_without"].abs().sum() < 0.3 * table["effect"].abs().sum()
    assert not table["verdict"][~sure].any()


def true_effects(label):
    """Documents whose label changes topics, and not words, and the model of them."""
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.full(100, 0.05), size=N_TOPICS)
    side = rng.random(600)
    tilt = np.array([2.0, -2.0, 0.0, 0.0])
    weight = rng.gamma(0.5, size=(600, N_TOPICS)) * np.exp((side - 0.5)[:, None] * tilt) + 1e-9
    theta = weight / weight.sum(axis=1, keepdims=True)
    counts = np.array([rng.multinomial(60, t @ topics) for t in theta])
    labels = label(side)
    corpus = Corpus(counts.astype(float), labels=labels)
    return corpus, HDSP(N_TOPICS, init="nmf", random_state=0).fit(corpus)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        (lambda side: pd.DataFrame({"year": side}), "year"),
        (lambda side: [["late"] if one > 0.5 else [] for one in side], "late"),
    ],
)
def test_true_effects_of_numbers_and_tags_remain(label, name):
    corpus, model = true_effects(label)
    table = model.check_labels(corpus, words=name)
    sure = (table["lower"] > 0) | (table["upper"] < 0)
    assert sure.sum() >= 2
    assert not table["verdict"][sure].any()
    assert np.abs(table["effect_without"] - table["effect"]).max() < 0.02


def test_merged_topics_are_matched_as_they_are_merged(model, corpus):
    pair = find_split_topics(own_regression(model._model))[0].topics
    merged = model.merge_topics(list(pair))
    table = merged.check_labels(corpus, words="party")
    assert set(table["topic"]) == set(range(merged.n_topics_))


def test_what_cannot_be_checked_is_refused(model, corpus):
    tags = Corpus(corpus.counts, labels=[["a", "b"]] * len(corpus))
    tagged = HDSP(3, init="nmf").fit(tags)
    with pytest.raises(ValueError, match=r"or one tag: 'a', 'b'\. Got 'tags'"):
        tagged.check_labels(tags, words="tags")
    authors = pd.DataFrame({"author": [f"a{m % 60}" for m in range(len(corpus))]})
    many = Corpus(corpus.counts, labels=authors)
    written = HDSP(3, init="nmf", max_iter=2, tol=1.0).fit(many)
    with pytest.raises(ValueError, match=r"at most 50 levels.* Got 60: join levels"):
        written.check_labels(many, words="author")
    with pytest.raises(ValueError, match="'colour'"):
        model.check_labels(corpus, words="colour")
    content = HDSP(3, init="nmf", content="party").fit(corpus)
    with pytest.raises(ValueError, match="without versions of topics"):
        content.check_labels(corpus, words="party")


def test_the_command_line_prints_both_effects(model, corpus, tmp_path, capsys):
    words = [f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(len(corpus.words))]
    texts = [
        " ".join(np.repeat(np.array(words)[row.indices], row.data.astype(int)))
        for row in (corpus.counts[[m]] for m in range(300))
    ]
    party = corpus.labels.blocks[0]
    names = np.array(party.columns)[party.values.indices[:300]]
    path = tmp_path / "speeches.csv"
    pd.DataFrame({"text": texts, "party": names}).to_csv(path, index=False)
    options = ["--seed", "0", "--topics", "8", "--fixed-number"]
    fit = ["fit", str(path), "--category", "party", "-o", str(tmp_path / "m.hdsp"), *options]
    assert main(fit) == 0
    check = ["check", str(tmp_path / "m.hdsp"), "--corpus", str(path)]
    assert main(check) == 0
    told = capsys.readouterr().err
    assert "hdsp fit --content 'party' gives groups their own words" in told
    assert "hdsp check --words 'party' shows" in told
    assert main([*check, "--words", "party"]) == 0
    printed = capsys.readouterr().out
    assert "without its words" in printed
    assert "words that the label predicts" in printed
    assert main([*check, "--words", "party", "--time", "order"]) != 0
    assert "cannot be combined with" in capsys.readouterr().err
    assert hdsp.UnreliableTopicsWarning is UnreliableTopicsWarning
