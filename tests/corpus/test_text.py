import json
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from hdsp.corpus import Corpus, TextSettings
from hdsp.corpus.counting import stop_list
from hdsp.corpus.splitting import LANGUAGE_OF_CODE, LANGUAGES
from hdsp.corpus.text import NoWordsError, as_text_settings
from hdsp.storage.codec import Decoder, InvalidContents, encode

TEXTS = ["The cats sat on a mat", "A dog didn't sit", "Cats and dogs: 3 CATS"]


def plain(**options):
    return TextSettings(**{"language": None, "min_df": 1, "max_df": 1.0, **options})


def test_defaults():
    counts, words = TextSettings().count(TEXTS)
    assert words == ("cats", "dog", "dogs", "mat", "sat", "sit")
    assert counts.toarray().tolist() == [[1, 0, 0, 1, 1, 0], [0, 1, 0, 0, 0, 1], [2, 0, 1, 0, 0, 0]]
    assert counts.dtype == np.float64


def test_letters_of_any_alphabet_and_both_forms_of_an_accent():
    texts = ["Ärger größer naïve", "Ärger größer nai\u0308ve", "собака 한국어 x_yzw ab12cde"]
    _, words = plain().count(texts)
    assert words == ("cde", "größer", "naïve", "yzw", "ärger", "собака", "한국어")


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


def test_phrases_and_case():
    assert plain(ngrams=2).count(["New York"])[1] == ("new", "new york", "york")
    assert plain(lowercase=False).count(["New York"])[1] == ("New", "York")


def test_stop_words_from_a_list_or_a_file(tmp_path):
    path = tmp_path / "stop.txt"
    path.write_text("der\ndie\nFÜR\ndon't\n", encoding="utf-8-sig")
    for stop_words in (path, str(path), ["der", "die", "FÜR", "don't"]):
        settings = plain(stop_words=stop_words)
        assert settings.count(["Der Hund für die Katze don"])[1] == ("hund", "katze")
        assert settings.stop_words == ("der", "die", "FÜR", "don't")


def test_known_words_only():
    counts, words = TextSettings().count(iter(TEXTS), words=["dogs", "Cats", "cats", "bird"])
    assert words == ("dogs", "Cats", "cats", "bird")
    assert counts.toarray().tolist() == [[0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 2, 0]]


def test_a_tokenizer():
    settings = plain(tokenizer=str.split)
    assert settings.count(["a-b A-B x"])[1] == ("a-b", "x")
    assert not settings.storable


def test_settings_are_stored_as_data():
    settings = TextSettings(None, ("x", "y"), 2, 0.4, r"\w+", False, 3, 100)
    data = json.loads(json.dumps(encode(settings, {})))
    assert Decoder({}).decode(TextSettings, data) == settings
    with pytest.raises(InvalidContents, match="have another one"):
        Decoder({}).decode(TextSettings, {**data, "stemmer": "porter"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"language": "latin"}, "`language` of TextSettings must be one of bulgarian, "),
        ({"language": "latin"}, ", or None with `stop_words`. Got 'latin'."),
        ({"min_df": 0}, "`min_df` of TextSettings must be a number of documents from 1, or a"),
        ({"min_df": True}, "or a share from 0.0 to 1.0. Got True."),
        ({"max_df": 1.5}, "`max_df` of TextSettings must be a number of documents from 1, or a"),
        ({"max_df": float("nan")}, "or a share from 0.0 to 1.0. Got nan."),
        ({"ngrams": 0}, "`ngrams` of TextSettings must be 1 to 10. Got 0."),
        ({"max_features": 0}, "`max_features` of TextSettings must be an integer >= 1."),
        ({"token_pattern": "["}, "`token_pattern` of TextSettings must be a regular expression"),
        ({"token_pattern": "(a)(b)"}, "an empty text does not match. Got '(a)(b)'."),
        ({"token_pattern": "a*"}, "an empty text does not match. Got 'a*'."),
        ({"token_pattern": None}, "an empty text does not match. Got None."),
        ({"tokenizer": 3}, "`tokenizer` of TextSettings must be a function or one of jieba, "),
        ({"stop_words": "absent.txt"}, "Got 'absent.txt'. For English stop words pass language="),
        ({"stop_words": [1]}, "`stop_words` of TextSettings must be a list of strings, or a file"),
        ({"stop_words": 5}, "`stop_words` of TextSettings must be a list of strings, or a file"),
    ],
)
def test_wrong_settings(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        TextSettings(**options)


def test_wrong_texts():
    with pytest.raises(TypeError, match=r"must be a sequence of strings\. Got one string\. Pass a"):
        TextSettings().count("a text")
    with pytest.raises(TypeError, match=r"must be strings\. Got None at position 1\."):
        TextSettings().count(["a text", None])
    for texts in ([], ["the and"], ["words"] * 30):
        with pytest.raises(NoWordsError, match=f"No word of {len(texts)} texts? is left to count"):
            TextSettings().count(texts)
    with pytest.raises(ValueError, match=r"must have unique words\. Got 'a' more than once"):
        TextSettings().count(TEXTS, words=["a", "a"])


def test_errors_of_a_stream_are_its_own():
    def stream():
        yield "a text"
        raise ValueError("the file is damaged")

    with pytest.raises(ValueError, match="the file is damaged"):
        TextSettings().count(stream())


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


@pytest.mark.parametrize("vectorizer", [TfidfVectorizer(), HashingVectorizer()])
def test_vectorizers_that_do_not_count(vectorizer):
    message = f"must count words. Got {type(vectorizer).__name__}. Use a CountVectorizer."
    with pytest.raises(TypeError, match=re.escape(message)):
        TextSettings.from_vectorizer(vectorizer)


def test_what_stands_in_for_settings():
    assert as_text_settings(None, "f") == (TextSettings(), None)
    assert as_text_settings(plain(), "f") == (plain(), None)
    settings, words = as_text_settings(str.split, "f")
    assert words is None
    assert settings.count(["The THE x"])[1] == ("THE", "The", "x")
    assert as_text_settings(CountVectorizer(), "f")[1] is None
    assert as_text_settings(CountVectorizer(vocabulary=["b", "a"]), "f")[1] == ("b", "a")
    assert as_text_settings(CountVectorizer().fit(["b a1"]), "f")[1] == ("a1",)
    for wrong in ("english", CountVectorizer, 3):
        with pytest.raises(TypeError, match="`text_settings` of f must be TextSettings, a Count"):
            as_text_settings(wrong, "f")


def test_a_corpus_keeps_its_settings_and_ids():
    settings = plain()
    corpus = Corpus.from_texts(TEXTS * 10, text_settings=settings)
    assert corpus.text_settings is settings
    assert corpus[3].text_settings is settings
    for part in corpus.split(random_state=0):
        assert part.text_settings is settings
        assert part.words == corpus.words
    assert Corpus([[1]]).text_settings is None
    named = Corpus([[1], [2], [3]], ids=["a", "b", "c"])
    assert named[[2, 0]].ids == ("c", "a")
    assert named[1].ids == ("b",)
    assert Corpus([[1]]).ids is None
    message = "must name each of the 1 document. Got 2 ids. Pass one id per document."
    with pytest.raises(ValueError, match=re.escape(message)):
        Corpus([[1]], ids=["a", "b"])


def test_counts_are_counts():
    text = "one two two three three three"
    counts, words = plain().count([text])
    found = dict(zip(words, counts.toarray()[0].tolist(), strict=True))
    assert found == Counter(text.split())


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
    with pytest.raises(ValueError, match="`language` of TextSettings must be one of"):
        TextSettings(language="xx")
