"""Readers of texts that are no tables, `like`, and corpora of other libraries."""

import gzip
import io
import re
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from hdsp import HDSP
from hdsp.corpus import (
    Corpus,
    ReadError,
    TextSettings,
    from_gensim,
    from_vectorizer,
    read_folder,
    read_mallet,
    read_table,
)
from tests.corpus.readers.test_table import told, write


def test_mallet(tmp_path):
    content = "d1 pets the cat sat\r\nd2\tplace \t a house\r\nd3 pets\r\n\r\n"
    path = write(tmp_path, "a.mallet", content)
    corpus = read_mallet(path)
    assert corpus.ids == ("d1", "d2", "d3")
    assert corpus.words == ("cat", "house", "sat")
    assert corpus.counts.toarray().tolist() == [[1, 0, 1], [0, 1, 0], [0, 0, 0]]
    assert corpus.labels.names == ("pets", "place")
    assert corpus.labels.blocks[0].kind == "category"
    path = write(tmp_path, "a.mallet", gzip.compress(b"d1 a;b cat\nd2 ; dog\n"))
    block = read_mallet(path, tag_separator=";").labels.blocks[0]
    assert (block.kind, block.columns) == ("tags", ("a", "b"))
    assert np.diff(block.values.indptr).tolist() == [2, 0]
    assert read_mallet(io.BytesIO(b"d1 a cat\n"), like=corpus).words == corpus.words


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("d1\n", ", line 1: a line should have an id, a label and a text, but is 'd1';"),
        ("d1 a cat\n\nd2 a cat\n", ", line 2: this line is blank, but each has a document;"),
        ("d1 a 17\n", ": no word of the texts is left to count;"),
        ("\n", ": it has no documents;"),
        (b"d1 a cat\nd2 a \xff\n", ", line 2: byte 0xff is not utf-8"),
    ],
)
def test_wrong_mallet(content, message, tmp_path):
    told(f"a.mallet{message}", read_mallet, write(tmp_path, "a.mallet", content))


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "letters"
    (root / "sub").mkdir(parents=True)
    (root / "b.txt").write_text("\ufeffthe dog\r\nbarks\r\n", encoding="utf-8")
    (root / "a.txt").write_text("a cat")
    (root / "empty.txt").write_text("")
    (root / "sub" / "c.txt").write_bytes(gzip.compress(b"cat and dog"))
    (root / "note.md").write_text("not a letter")
    return root


def test_a_folder(folder, tmp_path):
    corpus = read_folder(folder)
    assert corpus.ids == ("a.txt", "b.txt", "empty.txt", "sub/c.txt")
    assert corpus.words == ("barks", "cat", "dog")
    expected = [[0, 1, 0], [1, 0, 1], [0, 0, 0], [0, 1, 1]]
    assert corpus.counts.toarray().tolist() == expected
    assert corpus.labels.blocks == ()
    table = "file,kind\nsub/c,x\nelsewhere,z\nb.txt,y\na,x\nempty,\n"
    metadata = write(tmp_path, "letters.csv", table)
    for path in (folder, str(folder)):
        described = read_folder(path, metadata, categories="kind", id="file")
        assert described.labels.blocks[0].columns == ("x", "y", "z")
        assert described.labels.blocks[0].values.indices.tolist() == [0, 1, 0]
    assert read_folder(folder, pattern="*.md").ids == ("note.md",)


def test_wrong_folders(folder, tmp_path):
    with pytest.raises(FileNotFoundError, match="absent: there is no such folder; check the path"):
        read_folder(tmp_path / "absent")
    told("a.txt: this is a file; name a folder, or use read_table", read_folder, folder / "a.txt")
    told("letters: no file in it is like '*.doc'; pass", read_folder, folder, pattern="*.doc")
    table = write(tmp_path, "t.csv", "id,kind\na,x\nb,x\n")
    message = "t.csv: there is no row of 'empty.txt', 'sub/c.txt'; add it, with the file's name in"
    told(message, read_folder, folder, table, categories="kind")
    table = write(tmp_path, "t.csv", "id,kind\na,x\na,x\n")
    message = "t.csv, row 1: 'a' is that of row 0 again; remove one."
    told(message, read_folder, folder, table, categories="kind")
    (folder / "sub" / "d.txt").write_bytes(b"cat\ndog \xff\n")
    told("d.txt, line 2: byte 0xff is not utf-8", read_folder, folder)
    message = "`tags`, `categories` or `numeric` of read_folder must name the columns to read of"
    with pytest.raises(ValueError, match=re.escape(message)):
        read_folder(folder, table)


def test_like_a_corpus(tmp_path):
    settings = TextSettings(language=None, token_pattern=r"\w+")
    path = write(tmp_path, "a.csv", "text,n\nA cat,1\nA dog,2\n")
    train = read_table(path, numeric="n", text_settings=settings)
    assert train.words == ("a", "cat", "dog")
    path = write(tmp_path, "b.csv", "text,m\nA bird and a cat,5\n")
    for like in (train, train[1:], SimpleNamespace(words_=train.words, text_settings_=settings)):
        corpus = read_table(path, numeric="m", like=like)
        assert corpus.words == train.words
        assert corpus.counts.toarray().tolist() == [[2, 1, 0]]
        assert corpus.text_settings == settings
        assert corpus.labels.names == ("m",)
    assert read_table(path, like=train, text_settings=settings).words == train.words
    with pytest.raises(ValueError, match=r"`text_settings` of read_table must be those of `like`"):
        read_table(path, like=train, text_settings=TextSettings())
    counted = Corpus([[1]], words=["cat"])
    with pytest.raises(ValueError, match=r"`like` of read_table must know how its texts were"):
        read_table(path, like=counted)
    assert read_table(path, like=counted, text_settings=settings).words == ("cat",)
    with pytest.raises(TypeError, match=r"`like` of read_table must have words: a Corpus, or a"):
        read_table(path, like=HDSP(), text_settings=settings)


def test_like_a_fitted_model(tmp_path):
    path = write(tmp_path, "a.csv", "text\n" + "cat dog\nhouse garden\n" * 10)
    corpus = read_table(path, text_settings=TextSettings(max_df=1.0))
    model = HDSP(3, max_iter=2, tol=1.0, random_state=0).fit(corpus)
    path = write(tmp_path, "b.csv", "text\ndog bird\n")
    new = read_table(path, like=model)
    assert new.words == model.words_
    assert model.transform(new).shape == (1, 3)


def test_a_fitted_vectorizer_gives_its_words(tmp_path):
    path = write(tmp_path, "a.csv", "text\ncat and bird\n")
    vectorizer = CountVectorizer().fit(["dog cat"])
    corpus = read_table(path, text_settings=vectorizer)
    assert corpus.words == ("cat", "dog")
    assert corpus.counts.toarray().tolist() == [[1, 0]]


def test_from_vectorizer():
    texts = ["the cat sat", "the dog"]
    vectorizer = CountVectorizer(stop_words="english")
    counts = vectorizer.fit_transform(texts)
    corpus = from_vectorizer(counts, vectorizer, labels=["a", "b"])
    assert corpus.words == ("cat", "dog", "sat")
    assert corpus.labels.names == ("a", "b")
    np.testing.assert_array_equal(corpus.counts.toarray(), counts.toarray())
    again, _ = corpus.text_settings.count(texts, corpus.words)
    np.testing.assert_array_equal(again.toarray(), counts.toarray())
    with pytest.raises(ValueError, match="`vectorizer` of from_vectorizer must be fitted"):
        from_vectorizer(counts, CountVectorizer())
    with pytest.raises(TypeError, match="must count words"):
        from_vectorizer(counts, TfidfVectorizer().fit(texts))
    with pytest.raises(ValueError, match="must name each of the 2 columns of the counts"):
        from_vectorizer(counts[:, :2], vectorizer)


def test_from_gensim_without_gensim():
    documents = iter([[(5, 1), (2, 2.0)], [], [(5, np.int64(3))]])
    corpus = from_gensim(documents, {5: "dog", 2: "cat", 9: "bird"}, labels=[["x"], [], ["y"]])
    assert corpus.words == ("cat", "dog", "bird")
    assert corpus.counts.toarray().tolist() == [[2, 1, 0], [0, 0, 0], [0, 3, 0]]
    assert corpus.labels.names == ("x", "y")
    with pytest.raises(ValueError, match=r"must use the words of its dictionary\. Got number 7 in"):
        from_gensim([[(2, 1)], [(7, 1)]], {2: "cat"})
    for wrong in ([["cat"]], [[3]], [5], [[(2, "many")]]):
        with pytest.raises(TypeError, match=r"must have a list of pairs .* document 0"):
            from_gensim(wrong, {2: "cat"})


@pytest.mark.filterwarnings("ignore")
def test_from_gensim():
    corpora = pytest.importorskip("gensim.corpora")
    texts = [["cat", "sat", "cat"], ["dog"], []]
    dictionary = corpora.Dictionary(texts)
    documents = [dictionary.doc2bow(text) for text in texts]
    corpus = from_gensim(documents, dictionary)
    for row, text in zip(corpus.counts.toarray(), texts, strict=True):
        assert dict(zip(corpus.words, row, strict=True)) == {
            word: text.count(word) for word in corpus.words
        }
    dictionary.filter_tokens(bad_ids=[dictionary.token2id["cat"]])
    assert from_gensim([], dictionary).words == ("sat", "dog")


def test_gensim_writes_what_we_read(tmp_path):
    corpora = pytest.importorskip("gensim.corpora")
    from hdsp.corpus import read_ldac, read_matrix_market

    texts = [["cat", "sat", "cat"], ["dog"], ["dog", "sat"]]
    dictionary = corpora.Dictionary(texts)
    documents = [dictionary.doc2bow(text) for text in texts]
    expected = from_gensim(documents, dictionary)
    path = str(tmp_path / "a.ldac")
    corpora.BleiCorpus.serialize(path, documents, id2word=dictionary)
    corpora.MmCorpus.serialize(str(tmp_path / "a.mtx"), documents)
    for corpus in (
        read_ldac(path, f"{path}.vocab"),
        read_matrix_market(tmp_path / "a.mtx", expected.words),
    ):
        assert corpus.words == expected.words
        np.testing.assert_array_equal(corpus.counts.toarray(), expected.counts.toarray())


def test_read_error_is_a_value_error():
    assert issubclass(ReadError, ValueError)


@pytest.mark.parametrize("name", ["table.csv", "table.jsonl"])
def test_nul_characters_are_refused_with_their_line(tmp_path, name):
    path = tmp_path / name
    rows = {"table.csv": "text\ncats sleep\ndogs {}bark\n", "table.jsonl": '{{"text": "a"}}\n{}\n'}
    path.write_text(rows[name].format("\0" * 50))
    line = 3 if name.endswith("csv") else 2
    with pytest.raises(ReadError, match=rf"{name}, line {line}: there is a NUL character"):
        read_table(path)
