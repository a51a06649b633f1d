"""One subject in the words of two groups."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP, Corpus, UnreliableTopicsWarning
from hdsp.analysis.checks import shared_words
from hdsp.cli.main import main
from tests.estimator.test_content import speeches


@pytest.fixture(scope="module")
def corpus():
    return speeches(differ=0.2)[0]


@pytest.fixture(scope="module")
def model(corpus):
    return HDSP(max_components=30, init="nmf", random_state=0).fit(corpus)


def test_the_warning_names_a_pair_of_topics_and_the_remedy(model, corpus):
    with pytest.warns(UnreliableTopicsWarning, match="one subject in the words") as caught:
        model.check_labels(corpus)
    message = str(caught[0].message)
    assert caught[0].filename == __file__
    assert "HDSP(content='party')" in message
    found = re.search(
        r"Topics (\d+) \(.* and (\d+) \(.* share (\d+)% .* '(.*)' raises .* by (\S+) .* by (\S+):",
        message,
    )
    topics, label = [int(found[1]), int(found[2])], found[4]
    assert int(found[3]) > 50
    effects = model.label_effects(labels=label).set_index("topic")["effect"][topics]
    np.testing.assert_allclose(100 * effects, [float(found[5]), -float(found[6])], atol=0.06)


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


def test_the_command_line_warns(model, corpus, tmp_path, capsys):
    words = [f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(len(corpus.words))]
    texts = [
        " ".join(np.repeat(np.array(words)[row.indices], row.data.astype(int)))
        for row in (corpus.counts[[m]] for m in range(300))
    ]
    party = corpus.labels.blocks[0]
    names = np.array(party.columns)[party.values.indices[:300]]
    path = tmp_path / "speeches.csv"
    pd.DataFrame({"text": texts, "party": names}).to_csv(path, index=False)
    options = ["--random-state", "0", "--n-components", "8"]
    fit = ["fit", str(path), "--categories", "party", "-o", str(tmp_path / "m.hdsp"), *options]
    assert main(fit) == 0
    check = ["check", str(tmp_path / "m.hdsp"), str(path)]
    assert main(check) == 0
    told = capsys.readouterr().err
    assert "hdsp fit --content 'party' gives groups their own words" in told
