import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from hdsp.corpus import TextSettings
from hdsp.corpus.counting import stop_list
from hdsp.corpus.splitting import LANGUAGE_OF_CODE, LANGUAGES
from hdsp.corpus.text import NoWordsError, as_text_settings
from hdsp.storage.codec import Decoder, encode

TEXTS = ["The cats sat on a mat", "A dog didn't sit", "Cats and dogs: 3 CATS"]


def plain(**options):
    return TextSettings(**{"language": None, "min_df": 1, "max_df": 1.0, **options})


def test_defaults():
    counts, words = TextSettings().count(TEXTS)
    assert words == ("cats", "dog", "dogs", "mat", "sat", "sit")
    assert counts.toarray().tolist() == [[1, 0, 0, 1, 1, 0], [0, 1, 0, 0, 0, 1], [2, 0, 1, 0, 0, 0]]
    assert counts.dtype == np.float64


def test_texts_are_gone_through_once():
    given_out = []

    def stream():
        for text in TEXTS:
            given_out.append(text)
            yield text

    counts, words = TextSettings().count(stream())
    assert given_out == TEXTS
    again, same = TextSettings().count(TEXTS)
    assert same == words
    np.testing.assert_array_equal(counts.toarray(), again.toarray())


@pytest.mark.parametrize(
    ("n_documents", "least", "largest"),
    [(1, 1, 1), (19, 1, 19), (20, 1, 10), (50, 1, 25), (51, 2, 25), (100, 2, 50), (1000, 5, 500)],
)
def test_default_document_frequencies(n_documents, least, largest):
    # Word i occurs in the first i documents.
    names = ["w" + "".join(chr(97 + int(c)) for c in f"{i:04}") for i in range(1, n_documents + 1)]
    texts = [" ".join(names[m:]) for m in range(n_documents)]
    _, words = TextSettings(language=None).count(texts)
    assert words == tuple(names[least - 1 : largest])


@given(
    st.lists(
        st.text(alphabet="abcd \u00e9\u4e00", max_size=30).map(lambda s: s + " aaa"), min_size=1
    ),
    st.sampled_from([1, 2, 0.3]),
    st.sampled_from([1.0, 0.7, 4]),
    st.integers(1, 3),
)
def test_the_same_as_a_vectorizer(texts, min_df, max_df, ngrams):
    vectorizer = CountVectorizer(
        stop_words=["aab"], min_df=min_df, max_df=max_df, ngram_range=(1, ngrams)
    )
    settings = TextSettings.from_vectorizer(vectorizer)
    assert settings.storable
    try:
        expected = vectorizer.fit_transform(texts).toarray()
    except ValueError:
        with pytest.raises(NoWordsError):
            settings.count(texts)
        return
    counts, words = settings.count(texts)
    assert words == tuple(vectorizer.get_feature_names_out())
    np.testing.assert_array_equal(counts.toarray(), expected)


def test_most_frequent_words():
    counts, words = plain(max_features=2).count(["one two two", "two six six six one"])
    assert words == ("six", "two")
    assert counts.toarray().tolist() == [[0, 2], [3, 1]]
    # Of words that are equally frequent, the first.
    assert plain(max_features=1).count(["bbb aaa"])[1] == ("aaa",)


def test_stop_words_from_a_list_or_a_file(tmp_path):
    path = tmp_path / "stop.txt"
    path.write_text("der\ndie\nFÜR\ndon't\n", encoding="utf-8-sig")
    for stop_words in (path, str(path), ["der", "die", "FÜR", "don't"]):
        settings = plain(stop_words=stop_words)
        assert settings.count(["Der Hund für die Katze don"])[1] == ("hund", "katze")
        assert settings.stop_words == ("der", "die", "FÜR", "don't")


def test_a_tokenizer():
    settings = plain(tokenizer=str.split)
    assert settings.count(["a-b A-B x"])[1] == ("a-b", "x")
    assert not settings.storable


STORED = TextSettings(None, ("x", "y"), 2, 0.4, r"\w+", False, 3, 100)


@pytest.mark.parametrize(
    "changes",
    [
        {"stemmer": "porter"},
        *({"token_pattern": one} for one in ("(?:[a-z ]+)+!", "[a-z ]+!", "a*a*a*a*a*b", "(a+)+b")),
        *({"token_pattern": one} for one in (r"(\w+)\1", "[a]{0}", r"\b[a]{0,3}\b")),
        {"token_pattern": "[" + "ab" * 10_000_000 + "]"},
        {"ngrams": 10**6},
        {"lowercase": "yes"},
        {"stop_words": 3},
        {"stop_words": "/etc/passwd"},
    ],
    ids=lambda changes: str(changes)[:50],
)
def test_settings_are_stored_as_data_that_could_not_take_very_long(changes):
    data = json.loads(json.dumps(encode(STORED, {})))
    assert Decoder({}).decode(TextSettings, data) == STORED
    with pytest.raises(ValueError, match=r"another one|very long|must be|is no|is invalid"):
        Decoder({}).decode(TextSettings, {**data, **changes})


@pytest.mark.parametrize(
    "pattern", [r"(?u)\b\w\w+\b", r"[a-z]+(?:-[a-z]+)*", r"\w+(?:'\w+)?", r"\S+"]
)
def test_simple_patterns_are_stored_and_quick(pattern):
    settings = TextSettings(token_pattern=pattern)
    data = json.loads(json.dumps(encode(settings, {})))
    assert Decoder({}).decode(TextSettings, data) == settings
    for text in ("a" * 200_000, "a-" * 100_000, "a " * 100_000 + "!", "a1" * 100_000):
        # Milliseconds, where a pattern that tries every division of the text takes hours.
        settings.count([text, "cat dog"])


def stream():
    yield "a text"
    raise ValueError("the file is damaged")


FREQUENCY = "of TextSettings must be a number of documents from 1, or a share from 0.0 to 1.0. Got "
STOP_WORDS = "`stop_words` of TextSettings must be a list of strings, or a file in UTF-8"
BAD = [
    (lambda: plain(language="latin"), "`language` of TextSettings must be one of bulgarian, "),
    (lambda: plain(language="xx"), ", or None with `stop_words`. Got 'xx'."),
    (lambda: plain(min_df=0), f"`min_df` {FREQUENCY}0."),
    (lambda: plain(min_df=True), f"`min_df` {FREQUENCY}True."),
    (lambda: plain(max_df=1.5), f"`max_df` {FREQUENCY}1.5."),
    (lambda: plain(max_df=np.nan), f"`max_df` {FREQUENCY}nan."),
    (lambda: plain(ngrams=0), "`ngrams` of TextSettings must be 1 to 10. Got 0."),
    (lambda: plain(ngrams=11), "`ngrams` of TextSettings must be 1 to 10. Got 11."),
    (lambda: plain(max_features=0), "`max_features` of TextSettings must be an integer >= 1."),
    (lambda: plain(token_pattern="["), "`token_pattern` of TextSettings must be a regular expr"),
    (lambda: plain(token_pattern="(a)(b)"), "an empty text does not match. Got '(a)(b)'."),
    (lambda: plain(token_pattern="a*"), "an empty text does not match. Got 'a*'."),
    (lambda: plain(token_pattern=None), "an empty text does not match. Got None."),
    (lambda: plain(lowercase="yes"), "`lowercase` of TextSettings must be True or False."),
    (lambda: plain(tokenizer=3), "`tokenizer` of TextSettings must be a function or one of jieba"),
    (lambda: plain(stem="klingon"), "`stem` of TextSettings must be one of "),
    (lambda: plain(stop_words="absent.txt"), f"{STOP_WORDS} with one word per line. Got 'absent"),
    (lambda: plain(stop_words=[1]), STOP_WORDS),
    (lambda: plain(stop_words=5), STOP_WORDS),
    (lambda: plain().count("a text"), "must be a sequence of strings. Got one string. Pass a"),
    (lambda: plain().count(["a text", None]), "must be strings. Got None at position 1."),
    (lambda: plain().count(TEXTS, words=["a", "a"]), "must have unique words. Got 'a' more than"),
    (lambda: plain().count([]), "No word of 0 texts is left to count."),
    (lambda: TextSettings().count(["the and"]), "No word of 1 text is left to count."),
    (lambda: TextSettings().count(["words"] * 30), "No word of 30 texts is left to count."),
    # Errors of a stream are its own.
    (lambda: plain().count(stream()), "the file is damaged"),
    *(
        (
            lambda one=one: TextSettings.from_vectorizer(one),
            f"must count words. Got {type(one).__name__}. Use a CountVectorizer.",
        )
        for one in (TfidfVectorizer(), HashingVectorizer())
    ),
    *(
        (
            lambda one=one: as_text_settings(one, "f"),
            "`text_settings` of f must be TextSettings, a CountVectorizer or a function",
        )
        for one in ("english", CountVectorizer, 3)
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_settings_and_texts(call, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        call()


class Lemmas(CountVectorizer):
    def build_analyzer(self):
        return lambda text: [word.rstrip("s") for word in text.lower().split()]


@pytest.mark.parametrize(
    "vectorizer",
    [
        CountVectorizer(strip_accents="unicode"),
        CountVectorizer(analyzer="char"),
        CountVectorizer(tokenizer=str.split, token_pattern=None),
        CountVectorizer(ngram_range=(2, 2)),
        CountVectorizer(binary=True),
        # Cut as texts are, the stop word would take more with it than it does there.
        CountVectorizer(stop_words=["sat-mat"], token_pattern=r"\w+"),
        Lemmas(),
    ],
)
@pytest.mark.filterwarnings("ignore:Your stop_words may be inconsistent")
def test_vectorizers_that_settings_cannot_describe(vectorizer):
    settings = TextSettings.from_vectorizer(vectorizer)
    assert not settings.storable
    counts, words = settings.count(TEXTS)
    np.testing.assert_array_equal(counts.toarray(), vectorizer.fit_transform(TEXTS).toarray())
    assert words == tuple(vectorizer.get_feature_names_out())


def test_what_stands_in_for_settings():
    assert as_text_settings(None, "f") == (TextSettings(), None)
    assert as_text_settings(plain(), "f") == (plain(), None)
    settings, words = as_text_settings(str.split, "f")
    assert words is None
    assert settings.count(["The THE x"])[1] == ("THE", "The", "x")
    assert as_text_settings(CountVectorizer(), "f")[1] is None
    assert as_text_settings(CountVectorizer(vocabulary=["b", "a"]), "f")[1] == ("b", "a")
    assert as_text_settings(CountVectorizer().fit(["b a1"]), "f")[1] == ("a1",)


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("german", "Die Katze und der Hund waren nicht über dem Haus", ("haus", "hund", "katze")),
        ("french", "Le chat et les chiens étaient dans une maison", ("chat", "chiens", "maison")),
        ("spanish", "El gato y los perros están en una casa", ("casa", "gato", "perros")),
        ("italian", "Il gatto e la casa sono nella città", ("casa", "città", "gatto")),
        ("polish", "Kot jest w domu i nie ma psa", ("domu", "kot", "psa")),
    ],
)
def test_stop_words_of_other_languages(language, text, words):
    settings = TextSettings(language=language)
    assert settings.count([text, text])[1] == words


def test_every_language_has_stop_words():
    sizes = {name: len(stop_list(TextSettings(language=name))) for name in LANGUAGES}
    assert min(sizes.values()) > 50, sizes


def test_languages_have_codes():
    assert TextSettings(language="de") == TextSettings(language="german")
    assert TextSettings(language="nb").language == TextSettings(language="no").language
    assert {TextSettings(language=code).language for code in LANGUAGE_OF_CODE} == set(LANGUAGES)
