"""C_v, UMass and inverted RBO: plain twins, permutations, other libraries, refusals."""

from itertools import combinations
from math import log, sqrt

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hdsp_studies import topic_measures
from hdsp_studies.topic_measures import c_v, inverted_rbo, umass

N_WORDS = 40
N_TOP = 6


def plain_umass(top_words, counts, smoothing=1.0):
    """Sum over pairs of a lighter word given a heavier one; `counts` is dense [M, V]."""
    documents = [set(np.flatnonzero(row)) for row in counts]

    def number(*words):
        return sum(set(words) <= document for document in documents)

    def pair(heavier, lighter):
        n_heavier = number(heavier) or len(documents)
        return log((number(heavier, lighter) + smoothing) / n_heavier)

    return np.array([sum(pair(i, j) for i, j in combinations(topic, 2)) for topic in top_words])


def plain_c_v(top_words, documents, window=110, eps=1e-12):
    """Mean cosine of each word's NPMI vector with their sum, every window written out as a set."""
    windows = [
        set(document[start : start + window])
        for document in map(list, documents)
        for start in range(max(len(document) - window + 1, 1))
    ]

    def share(*words):
        return sum(set(words) <= held for held in windows) / len(windows)

    def npmi(i, j):
        if share(i) == 0 or share(j) == 0:
            return 0.0
        if i == j:
            return 1.0
        joint = share(i, j) + eps
        if joint == 0:
            return -1.0
        if joint >= 1:
            return 0.0
        return log(joint / (share(i) * share(j))) / -log(joint)

    def cosine(left, right):
        lengths = sqrt(sum(x * x for x in left)) * sqrt(sum(x * x for x in right))
        return sum(x * y for x, y in zip(left, right, strict=True)) / lengths if lengths else 0.0

    def coherence(topic):
        vectors = [[npmi(i, j) for j in topic] for i in topic]
        total = [sum(column) for column in zip(*vectors, strict=True)]
        return sum(cosine(vector, total) for vector in vectors) / len(topic)

    return np.array([coherence(list(topic)) for topic in top_words])


def plain_inverted_rbo(top_words, p=0.9):
    """One minus the mean, over pairs of topics, of extrapolated rank-biased overlap."""

    def overlap(left, right):
        n = len(left)
        common = [len(set(left[:depth]) & set(right[:depth])) for depth in range(1, n + 1)]
        seen = sum((1 - p) * p**d * x / (d + 1) for d, x in enumerate(common))
        return seen + p**n * common[-1] / n

    return 1 - np.mean([overlap(list(a), list(b)) for a, b in combinations(top_words, 2)])


@st.composite
def cases(draw):
    documents = draw(st.lists(st.lists(st.integers(-1, 6), max_size=15), min_size=1, max_size=6))
    topics = draw(st.lists(st.permutations(range(6)), min_size=2, max_size=3))
    top_words = np.array([topic[: draw(st.just(3))] for topic in topics])
    counts = np.zeros((len(documents), 6), dtype=int)
    for row, document in enumerate(documents):
        for word in document:
            if 0 <= word < 6:
                counts[row, word] += 1
    return top_words, documents, counts


@given(cases(), st.integers(2, 16), st.floats(0.05, 0.95), st.integers(1, 12))
def test_measures_equal_their_plain_twins(case, window, p, tokens_per_block):
    top_words, documents, counts = case
    expected = plain_c_v(top_words, documents, window=window)
    np.testing.assert_allclose(c_v(top_words, documents, window=window), expected, atol=1e-9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topic_measures, "TOKENS_PER_BLOCK", tokens_per_block)
        np.testing.assert_allclose(c_v(top_words, documents, window=window), expected, atol=1e-9)
    for smoothing in (1.0, 0.01, 1e-9):
        value = umass(top_words, sp.csr_array(counts), smoothing=smoothing)
        np.testing.assert_allclose(value, plain_umass(top_words, counts, smoothing), atol=1e-12)
    value = inverted_rbo(top_words, p)
    assert value == pytest.approx(plain_inverted_rbo(top_words, p), abs=1e-12)


@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_documents_and_the_names_of_words_do_not_matter(case, random):
    top_words, documents, counts = case
    names = np.array([*random.sample(range(6), 6), 6, -1])
    renamed = [names[document].tolist()[::-1] for document in documents]
    random.shuffle(renamed)
    words = np.argsort(names[:6])
    for changed, value in (
        (c_v(names[top_words][:, ::-1], renamed, window=4), c_v(top_words, documents, window=4)),
        (umass(names[top_words], 7 * counts[::-1][:, words]), umass(top_words, counts)),
        (inverted_rbo(names[top_words][::-1]), inverted_rbo(top_words)),
    ):
        np.testing.assert_allclose(changed, value, atol=1e-9)


def test_closed_cases():
    # Word 0 in four documents, word 1 in two of those, word 2 in another, word 3 nowhere.
    counts = np.array([[1, 1, 0, 0], [2, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]])
    np.testing.assert_allclose(umass(np.array([[0, 1]]), counts), np.log(3 / 4))
    np.testing.assert_allclose(umass(np.array([[3, 0]]), counts), np.log(1 / 5))
    assert c_v(np.array([[0, 1, 2]]), [[0, 1, 2], [2, 0, 1], [-1], [-1]]) == pytest.approx(1)
    assert c_v(np.array([[0, 1]]), [[-1, 7], []]) == 0
    # The known fault of the measure: words that avoid each other score high.
    ten = np.arange(10)[np.newaxis]
    assert c_v(ten, [[i] for i in range(10)] + 90 * [[-1]]) == pytest.approx(0.71, abs=0.005)
    # Common words by depth: 0, 2, 2. Half the weight on depth 1, a quarter on 2, the rest on 3.
    overlap = 0.5 * 0 + 0.25 * 2 / 2 + 0.125 * 2 / 3 + 0.125 * 2 / 3
    assert inverted_rbo(np.array([[0, 1, 2], [1, 0, 3]]), p=0.5) == pytest.approx(1 - overlap)
    assert inverted_rbo(np.arange(30).reshape(3, 10)) == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: umass(np.array([[0, 1]]), np.eye(2), 0.0), ValueError, "smoothing"),
        (lambda: inverted_rbo(np.array([[0, 1]])), ValueError, "at least two topics"),
        (lambda: inverted_rbo(np.eye(2, dtype=int), 1.0), ValueError, "`?p`? "),
        (lambda: c_v(np.array([[0, 1]]), []), ValueError, "at least one document"),
        (lambda: c_v(np.array([[0, 1]]), [[0]], window=1), ValueError, "window"),
        (lambda: c_v(np.array([[0, 1]]), [["cat"]]), TypeError, "word indices"),
        (lambda: c_v(np.array([[0, 1]]), np.eye(2, dtype=int)), TypeError, "matrix"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()


def as_words(rows):
    return [[f"w{word}" for word in row] for row in rows]


def gensim_coherence(top_words, documents, **options):
    models, corpora = pytest.importorskip("gensim.models"), pytest.importorskip("gensim.corpora")
    dictionary = corpora.Dictionary([[f"w{word}" for word in range(N_WORDS)]])
    texts = as_words(documents)
    if options["coherence"] == "u_mass":
        options["corpus"] = [dictionary.doc2bow(text) for text in texts]
    model = models.CoherenceModel(
        topics=as_words(top_words),
        texts=texts,
        dictionary=dictionary,
        topn=N_TOP,
        processes=1,
        **options,
    )
    return np.array(model.get_coherence_per_topic())


def test_measures_equal_those_of_gensim_and_topica():
    rng = np.random.default_rng(0)
    top_words = np.array([rng.permutation(N_WORDS)[:N_TOP] for _ in range(8)])
    documents = [rng.integers(0, N_WORDS, size=rng.integers(1, 20)).tolist() for _ in range(80)]
    counts = np.array([np.bincount(tokens, minlength=N_WORDS) for tokens in documents])
    value = umass(top_words, counts, smoothing=1e-12 * len(documents)) / 15
    expected = gensim_coherence(top_words, documents, coherence="u_mass")
    np.testing.assert_allclose(value, expected, rtol=1e-10)
    expected = gensim_coherence(top_words, documents, coherence="c_v", window_size=110)
    np.testing.assert_allclose(c_v(top_words, documents), expected, atol=1e-9)
    # gensim loses a repeated word once its first token leaves the window.
    distinct = [rng.permutation(N_WORDS).tolist() for _ in range(30)]
    expected = gensim_coherence(top_words, distinct, coherence="c_v", window_size=7)
    np.testing.assert_allclose(c_v(top_words, distinct, window=7), expected, atol=1e-9)
    topica = pytest.importorskip("topica")
    words, texts = as_words(top_words), as_words(documents)
    expected = topica.coherence(words, texts, coherence_type="u_mass", n=N_TOP)
    np.testing.assert_allclose(umass(top_words, counts), expected, rtol=1e-10)
    options = {"coherence_type": "c_v", "n": N_TOP, "window_size": 7}
    expected = topica.coherence(words, texts, **options)
    np.testing.assert_allclose(c_v(top_words, documents, window=7), expected, atol=1e-8)
