"""The measures give the numbers of other libraries, wherever those follow the same definition."""

import numpy as np
import pytest

from hdsp.metrics import c_v, exclusivity, frex, inverted_rbo, npmi, topic_top_words, umass

N_WORDS = 40
N_TOP = 6


def as_words(rows):
    return [[f"w{word}" for word in row] for row in rows]


@pytest.fixture
def top_words():
    rng = np.random.default_rng(0)
    return np.array([rng.permutation(N_WORDS)[:N_TOP] for _ in range(8)])


@pytest.fixture
def short_documents():
    """Documents within one window: windows are documents, and words may repeat."""
    rng = np.random.default_rng(1)
    return [rng.integers(0, N_WORDS, size=rng.integers(1, 20)).tolist() for _ in range(80)]


@pytest.fixture
def long_documents():
    rng = np.random.default_rng(2)
    return [rng.integers(0, N_WORDS, size=60).tolist() for _ in range(30)]


def counted(documents):
    return np.array([np.bincount(tokens, minlength=N_WORDS) for tokens in documents])


def gensim_coherence(top_words, documents, **options):
    models = pytest.importorskip("gensim.models")
    corpora = pytest.importorskip("gensim.corpora")
    dictionary = corpora.Dictionary([[f"w{word}" for word in range(N_WORDS)]])
    texts = as_words(documents)
    if options["coherence"] == "u_mass":
        options["corpus"] = [dictionary.doc2bow(text) for text in texts]
    else:
        options["texts"] = texts
    model = models.CoherenceModel(
        topics=as_words(top_words), dictionary=dictionary, topn=N_TOP, processes=1, **options
    )
    return np.array(model.get_coherence_per_topic())


def tomotopy_coherence(top_words, documents, coherence):
    tomotopy = pytest.importorskip("tomotopy")
    corpus = tomotopy.utils.Corpus()
    for text in as_words(documents):
        corpus.add_doc(text)
    # One topic at a time: tomotopy's C_v relates a word to the words of all targets.
    return np.array(
        [
            tomotopy.coherence.Coherence(
                corpus, coherence=coherence, targets=topic, top_n=N_TOP
            ).get_score(words=topic)
            for topic in as_words(top_words)
        ]
    )


N_PAIRS = N_TOP * (N_TOP - 1) / 2


def test_umass_is_that_of_gensim_up_to_mean_and_smoothing(top_words, short_documents):
    value = umass(top_words, counted(short_documents), smoothing=1e-12 * len(short_documents))
    np.testing.assert_allclose(
        value / N_PAIRS,
        gensim_coherence(top_words, short_documents, coherence="u_mass"),
        rtol=1e-10,
    )


def test_umass_is_that_of_topica(top_words, short_documents):
    topica = pytest.importorskip("topica")
    np.testing.assert_allclose(
        umass(top_words, counted(short_documents)),
        topica.coherence(
            as_words(top_words), as_words(short_documents), coherence_type="u_mass", n=N_TOP
        ),
        rtol=1e-10,
    )


def test_umass_is_that_of_tomotopy_where_every_pair_meets(top_words, long_documents):
    # tomotopy adds its 1e-12 to the conditional probability, which shows where no document holds
    # both words.
    counts = counted(long_documents)
    together = (counts > 0).T.astype(int) @ (counts > 0)
    assert together.min() > 0
    np.testing.assert_allclose(
        umass(top_words, counts, smoothing=1e-12) / N_PAIRS,
        tomotopy_coherence(top_words, long_documents, "u_mass"),
        rtol=1e-8,
    )


def test_c_v_is_that_of_gensim_where_windows_are_documents(top_words, short_documents):
    np.testing.assert_allclose(
        c_v(top_words, short_documents),
        gensim_coherence(top_words, short_documents, coherence="c_v", window_size=110),
        atol=1e-9,
    )


@pytest.mark.parametrize("window", [2, 7, 20])
def test_c_v_is_that_of_gensim_where_no_word_repeats(top_words, window):
    # Where a word repeats, gensim loses it once the first of its tokens leaves the window.
    rng = np.random.default_rng(3)
    documents = [rng.permutation(N_WORDS).tolist() for _ in range(30)]
    np.testing.assert_allclose(
        c_v(top_words, documents, window=window),
        gensim_coherence(top_words, documents, coherence="c_v", window_size=window),
        atol=1e-9,
    )


@pytest.mark.parametrize("window", [2, 7, 30])
def test_c_v_is_that_of_the_inverted_index_of_gensim(window, long_documents):
    # gensim's other way to count windows writes every one out, repeated words and all. It takes
    # no words that are outside all topics.
    gensim = pytest.importorskip("gensim.topic_coherence.text_analysis")
    segmentation = pytest.importorskip("gensim.topic_coherence.segmentation")
    confirmation = pytest.importorskip("gensim.topic_coherence.indirect_confirmation_measure")
    corpora = pytest.importorskip("gensim.corpora")
    top_words = np.random.default_rng(4).permutation(N_WORDS).reshape(-1, 5)
    dictionary = corpora.Dictionary()
    dictionary.token2id = {f"w{word}": word for word in range(N_WORDS)}
    counter = gensim.InvertedIndexAccumulator(set(range(N_WORDS)), dictionary)
    counter.accumulate(as_words(long_documents), window)
    topics = list(top_words)
    np.testing.assert_allclose(
        c_v(top_words, long_documents, window=window),
        confirmation.cosine_similarity(segmentation.s_one_set(topics), counter, topics, "nlr", 1),
        atol=1e-9,
    )


@pytest.mark.parametrize("window", [2, 7, 59, 60, 110])
def test_c_v_is_that_of_topica(top_words, long_documents, window):
    topica = pytest.importorskip("topica")
    np.testing.assert_allclose(
        c_v(top_words, long_documents, window=window),
        topica.coherence(
            as_words(top_words),
            as_words(long_documents),
            coherence_type="c_v",
            n=N_TOP,
            window_size=window,
        ),
        atol=1e-8,
    )


def test_c_v_is_that_of_tomotopy_over_documents_where_every_pair_meets(top_words, long_documents):
    # Its sliding windows are others, and so is its treatment of words that never meet. The rest
    # of the measure is the same; single precision is why the tolerance is loose.
    coherence = pytest.importorskip("tomotopy.coherence")
    parts = (
        coherence.ProbEstimation.DOCUMENT,
        coherence.Segmentation.ONE_SET,
        coherence.ConfirmMeasure.NPMI,
        coherence.IndirectMeasure.COSINE,
    )
    np.testing.assert_allclose(
        c_v(top_words, long_documents, window=60),
        tomotopy_coherence(top_words, long_documents, parts),
        atol=1e-6,
    )


def test_npmi_is_that_of_gensim_where_windows_are_documents(top_words, short_documents):
    np.testing.assert_allclose(
        npmi(top_words, counted(short_documents), eps=1e-12),
        gensim_coherence(top_words, short_documents, coherence="c_npmi", window_size=110),
        atol=1e-9,
    )


@pytest.mark.parametrize("p", [0.5, 0.9])
def test_inverted_rbo_is_that_of_topica(top_words, p):
    topica = pytest.importorskip("topica")
    assert inverted_rbo(top_words, p) == pytest.approx(
        topica.inverted_rbo(as_words(top_words), topn=N_TOP, p=p), abs=1e-12
    )


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.5, 1.0])
def test_frex_is_that_of_topica_with_the_weight_turned_round(weight):
    topica = pytest.importorskip("topica")
    components = np.random.default_rng(5).dirichlet(np.full(N_WORDS, 0.3), size=5)
    components[:, :3] = components[:, :1]  # equal values share a rank
    components /= components.sum(axis=1, keepdims=True)
    vocabulary = [f"w{word}" for word in range(N_WORDS)]
    scored = topica.frex(components, vocabulary, w=1 - weight, n=N_WORDS)
    expected = np.array([[dict(topic)[word] for word in vocabulary] for topic in scored])
    np.testing.assert_allclose(frex(components, weight), expected, rtol=1e-10)


def test_exclusivity_in_the_sense_of_stm_is_a_sum_of_frex():
    topica = pytest.importorskip("topica")
    components = np.random.default_rng(6).dirichlet(np.full(N_WORDS, 0.3), size=5)
    top = topic_top_words(components, 10)
    value = np.take_along_axis(frex(components, weight=0.7), top, axis=1).sum(axis=1)
    np.testing.assert_allclose(value, topica.exclusivity(components, n=10), rtol=1e-10)
    assert not np.allclose(value / 10, exclusivity(components, n=10))
