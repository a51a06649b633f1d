"""Texts are counted as scikit-learn's CountVectorizer counts them, faster."""

import re
import threading
import unicodedata
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from hdsp.corpus import TextSettings, counting
from hdsp.corpus.counting import TextCounter, run_pattern, split_texts, stop_list
from hdsp.corpus.text import NoWordsError
from tests.reference import words as reference

pytestmark = pytest.mark.filterwarnings("ignore::hdsp.FitWarning")
DEFAULT = TextSettings().token_pattern
PATTERNS = [
    DEFAULT,
    r"(?u)\b\w\w+\b",
    r"[a-z]+",
    r"\b[a-zß]{2,}\b",
    r"\b[^\W_]+",
    r"[a-z]{2,}\b",
    r"\S+",
    r"[a-z ]{2,}",
    r"\d+",
    r"[^\s.,]+",
    r"\w\w{2,}",
]
# Combining marks, dotted and dotless i, sharp s, ligatures, final sigma, zero-width characters,
# halves of surrogate pairs, emoji with joiners, other scripts, other digits, line ends, NUL.
TRICKY = [
    "cafe\u0301 nai\u0308ve A\u030angstro\u0308m \u0301accent",
    "İstanbul ISTANBUL ıstanbul IŞIK ışık i\u0307stanbul",
    "Straße STRASSE STRAẞE groß GROẞ",
    "ﬁnd eﬃcient ﬂow Ǆungla ǅ ǆ ŉ",
    "ὈΔΥΣΣΕΎΣ ΟΔΟΣ ΣΑΣ Σ ΑΣ. ΑΣ'Α",
    "zero\u200bwidth non\u200cjoiner joi\u200dner soft\u00adhyphen bom\ufeffmark nb\u00a0space",
    "half\ud800way \udfff\udfff\udfff tail\udc00",
    "👩‍👩‍👧‍👦 family 🇩🇪 flag ❤️ heart 𝒜𝓁𝓅𝒽𝒶 𝟘𝟙𝟚 bold",
    "漢字仮名交じり文 かな カナ 한국어 단어들 ᄒ\u1161ᆫ",
    "собака Ёжик ΑΒΓ שלום عربي हिन्दी ไทย",
    "under_score __dunder__ snake_case_word x_y_z",
    "digits123 4567 ٣٤٥ abc1def ²³¹ ½ Ⅷ ⅷ",
    "line\nbreak\r\nreturn\ttab\x00nul\x1funit\x85next\u2028para",
    "it's didn't o'clock dog’s e-mail co-op...end",
    "ＡＢＣ ｆｕｌｌｗｉｄｔｈ Å Å K Ω",
    "ab",
    "",
    "\U0010ffff\U0010fffe abc\U0001f600def",
]
TEXT = st.lists(
    st.one_of(
        st.sampled_from([*"abcİıßΣσ_1 \n\u0301\u200d\ud800犬𝒜", "dog", "Dog", " ", "the"]),
        st.characters(exclude_categories=()),
    ),
    max_size=30,
).map("".join)
SETTINGS = st.builds(
    TextSettings,
    language=st.sampled_from([None, "english"]),
    stop_words=st.one_of(st.just(()), st.lists(TEXT, max_size=3).map(tuple)),
    min_df=st.sampled_from([1, 2, 0.1, None]),
    max_df=st.sampled_from([1.0, 0.5, 2, None]),
    token_pattern=st.sampled_from(PATTERNS),
    lowercase=st.booleans(),
    ngrams=st.integers(1, 4),
    max_features=st.sampled_from([None, 1, 3]),
)


def by_scikit_learn(settings, texts, words=None):
    """Words and counts of texts as scikit-learn's vectoriser has them, with its own choice."""
    default = settings.token_pattern == DEFAULT
    vectorizer = CountVectorizer(
        lowercase=settings.lowercase,
        tokenizer=reference.words_or_pairs if default else None,
        token_pattern=None if default else settings.token_pattern,
        stop_words=sorted(stop_list(settings)) or None,
        ngram_range=(1, settings.ngrams),
        vocabulary=words,
    )
    normal = [unicodedata.normalize("NFC", text) for text in texts]
    counts = vectorizer.fit_transform(normal)
    names = vectorizer.get_feature_names_out()
    if words is None:
        sums = counting.word_sums(counts)
        kept = np.sort(counting.choose_words(settings, names, sums, len(texts)))
        counts, names = counts[:, kept], names[kept]
    return counts, names.tolist()


def check_same_counts(settings, texts, words=None):
    try:
        expected, names = by_scikit_learn(settings, texts, words)
    except ValueError:
        names = []
    if not names:
        with pytest.raises(NoWordsError):
            settings.count(texts, words)
        return
    counts, found = settings.count(texts, words)
    assert list(found) == names
    assert counts.has_canonical_format
    assert counts.dtype == np.float64
    np.testing.assert_array_equal(counts.toarray(), expected.toarray())


@pytest.mark.parametrize("pattern", PATTERNS)
def test_tricky_texts_have_the_words_of_the_regular_expression(pattern):
    assert run_pattern(pattern) is not None
    for lowercase, ngrams in product([True, False], [1, 3]):
        settings = TextSettings(
            token_pattern=pattern, lowercase=lowercase, ngrams=ngrams, min_df=1, max_df=1.0
        )
        check_same_counts(settings, TRICKY)
        for text in TRICKY:
            check_same_counts(settings, [text])


@given(SETTINGS, st.lists(TEXT, max_size=25))
@example(TextSettings(token_pattern="[a-z ]+", ngrams=2), ["new york", "new", "york"])
def test_any_texts_have_the_counts_of_scikit_learn(settings, texts):
    check_same_counts(settings, texts)


@given(SETTINGS, st.lists(TEXT, max_size=25))
def test_words_that_are_given_have_the_counts_of_scikit_learn(settings, texts):
    check_same_counts(settings, texts, ("dog", "a", "犬", "the", "dog dog", "unheard"))


@given(st.lists(TEXT, max_size=10), st.sampled_from(PATTERNS))
def test_the_kernel_finds_the_words_of_its_twin(texts, pattern):
    runs = run_pattern(pattern)
    expected = reference.find_words(texts, runs.kinds, runs.shortest, runs.at_start, runs.at_end)
    numbers, words = reference.numbered(expected)
    # What is normal form already is left alone, and so is the twin's text.
    if all(unicodedata.is_normalized("NFC", text) for text in texts):
        found = split_texts(texts, runs)
        assert found.words == words
        assert found.stops.tolist() == np.cumsum([len(one) for one in numbers]).tolist()
        assert found.ids.tolist() == [number for one in numbers for number in one]
        assert expected == [re.findall(pattern, text) for text in texts]


@given(st.lists(st.lists(st.integers(0, 9), max_size=20), max_size=9))
def test_numbers_are_counted_as_by_numpy(documents):
    ids = np.array([number for one in documents for number in one], dtype=np.int32)
    stops = np.cumsum([len(one) for one in documents], dtype=np.int64)
    _, counts = counting.count_phrases(counting.Tokens(list("abcdefghij"), ids, stops), 1)
    expected = [np.bincount(np.array(one, int), minlength=10).tolist() for one in documents]
    assert counts.toarray().tolist() == expected


def test_words_whose_hashes_share_a_place_are_told_apart():
    """Many words in a small table: every place of it is searched past others."""
    texts = [" ".join(f"w{chr(97 + i)}{chr(97 + j)}{chr(97 + k)}" for k in range(26))
             for i in range(26) for j in range(26)]  # fmt: skip
    found = split_texts(texts, run_pattern(DEFAULT))
    assert len(found.words) == len(set(found.words)) == 26**3
    assert found.ids.tolist() == list(range(26**3))


@pytest.mark.parametrize(
    "pattern",
    [
        r"[a-z]{2,5}",
        r"[a-z]",
        r"[A-Z][a-z]+",
        r"(?i)[a-z]+",
        r"[a-z]+(?:-[a-z]+)*",
        r"([a-z]+)",
        r"\b[a-z']+\b",
        r"cat|dog",
        r".+",
        r"\B\w+",
    ],
)
def test_other_patterns_go_through_python(pattern):
    settings = TextSettings(token_pattern=pattern, min_df=1, max_df=1.0)
    assert run_pattern(pattern) is None
    assert isinstance(TextCounter(settings).map(str, []), map)
    check_same_counts(settings, [*TRICKY, "cat dog's e-mail"])


def test_many_documents_are_counted_in_threads_as_in_one(monkeypatch):
    monkeypatch.setattr(counting, "_DOCUMENTS", 3)
    monkeypatch.setattr(counting, "_TAKEN", 3)
    texts = [f"{TRICKY[m % len(TRICKY)]} document {chr(97 + m % 26) * 3}" for m in range(200)]
    settings = TextSettings(ngrams=2, min_df=2)
    check_same_counts(settings, texts)
    expected = settings.count(texts)
    seen = set()
    monkeypatch.setattr("joblib.effective_n_jobs", lambda n: 4)
    split = counting.split_texts

    def noted(*arguments):
        seen.add(threading.get_ident())
        return split(*arguments)

    monkeypatch.setattr(counting, "split_texts", noted)
    found = settings.count(iter(texts))
    assert threading.get_ident() not in seen
    assert found[1] == expected[1]
    np.testing.assert_array_equal(found[0].toarray(), expected[0].toarray())
    monkeypatch.setattr("joblib.effective_n_jobs", lambda n: 1)
    seen.clear()
    found = settings.count(texts)
    assert seen == {threading.get_ident()}
    np.testing.assert_array_equal(found[0].toarray(), expected[0].toarray())


def test_many_or_large_texts_end_a_group():
    batches = [["abc", "a" * 20], ["b", ""], ["c"], ["d", "e"], ["f"]]
    assert list(counting.grouped(batches, list, 3, 10)) == [batches[:1], batches[1:3], batches[3:]]


def test_an_error_while_reading_is_passed_on(monkeypatch):
    monkeypatch.setattr(counting, "_DOCUMENTS", 2)
    monkeypatch.setattr(counting, "_TAKEN", 2)
    monkeypatch.setattr("joblib.effective_n_jobs", lambda n: 2)

    def texts():
        yield from ["one two three"] * 9
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        TextSettings().count(texts())
