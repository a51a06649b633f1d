import gzip
import io
import re

import numpy as np
import pytest
import scipy.io
from scipy.sparse import coo_array, csr_array
from sklearn.datasets import dump_svmlight_file

from hdsp.corpus import Corpus, ReadError, read_ldac, read_matrix_market, read_svmlight, read_uci
from tests.corpus.readers.samples import (
    COUNTS,
    WORDS,
    csv_text,
    ldac_text,
    mtx_text,
    svmlight_text,
    uci_text,
)
from tests.corpus.readers.test_table import told, write

MTX = "%%MatrixMarket matrix coordinate integer general\n"


@pytest.mark.parametrize(
    ("read", "content"),
    [(read_ldac, ldac_text()), (read_uci, uci_text()), (read_matrix_market, mtx_text())],
)
def test_words_and_labels(read, content, tmp_path):
    vocabulary = write(tmp_path, "words.txt", "\ufeff" + "\r\n".join(WORDS) + "\r\n\r\n")
    table = write(tmp_path, "labels.csv", csv_text())
    labels = {"tags": "tags", "categories": "kind", "numeric": "rating"}
    for data in (content.encode(), gzip.compress(content.encode())):
        path = write(tmp_path, "counts.txt", data)
        corpus = read(path, vocabulary, table, **labels)
        assert corpus.words == WORDS
        np.testing.assert_array_equal(corpus.counts.toarray(), COUNTS)
        assert [block.name for block in corpus.labels.blocks] == ["tags", "kind", "rating"]
        assert corpus.text_settings is None
    corpus = read(io.BytesIO(content.encode()), list(WORDS), ["a", "b", None, "b", "a"])
    assert corpus.labels.names == ("a", "b")
    assert read(path, WORDS).labels.blocks == ()
    # Without words, those that occur, by number.
    nameless = read(path)
    first = 0 if read is read_ldac else 1
    assert nameless.words == tuple(f"w{j + first}" for j in range(4))
    np.testing.assert_array_equal(nameless.counts.toarray(), COUNTS)


@pytest.mark.parametrize(
    ("read", "content"),
    [
        (read_ldac, ldac_text()),
        (read_uci, uci_text()),
        (read_matrix_market, mtx_text()),
        (read_svmlight, svmlight_text()),
    ],
)
def test_words_like_those_of_a_corpus(read, content, tmp_path):
    path = write(tmp_path, "counts.txt", content)
    like = Corpus(np.eye(3), words=["dog", "bird", "cat"])
    corpus = read(path, WORDS, like=like)
    assert corpus.words == like.words
    expected = [[row[1], 0, row[0]] for row in COUNTS]
    np.testing.assert_array_equal(corpus.counts.toarray(), expected)
    # Without words of their own, the numbers are those of the other corpus.
    same = read(path, like=Corpus(np.eye(4), words=list("abcd")))
    assert same.words == tuple("abcd")
    np.testing.assert_array_equal(same.counts.toarray(), COUNTS)
    with pytest.raises(TypeError, match=rf"`like` of {read.__name__} must have words"):
        read(path, like=3)


def test_labels_must_match_the_documents(tmp_path):
    path = write(tmp_path, "a.ldac", ldac_text())
    table = write(tmp_path, "labels.csv", "kind\na\n")
    message = "labels.csv: it has 1 row, but "
    told(message, read_ldac, path, WORDS, table, categories="kind")
    message = "`tags`, `categories` or `numeric` of read_ldac must name the columns to read of"
    with pytest.raises(ValueError, match=re.escape(message)):
        read_ldac(path, WORDS, table)
    with pytest.raises(ValueError, match="must have one row for each of the 5 documents"):
        read_ldac(path, WORDS, ["a"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\n\nb\n", ", line 2: this line is blank, but each has a word; remove it."),
        ("a\nb\n a \n", ", line 3: the word 'a' is that of line 1 again; remove or rename one"),
        ("", ": it is empty"),
        (b"a\n\xff\n", ", line 2: byte 0xff is not utf-8"),
    ],
)
def test_wrong_vocabularies(content, message, tmp_path):
    words = write(tmp_path, "words.txt", content)
    told(f"words.txt{message}", read_ldac, write(tmp_path, "a.ldac", ldac_text()), words)


NUMBERS = (
    ("-1", "the number of a word should be a whole number from {first} to {last}, but is -1;"),
    ("1.5", " a whole number from {first} to {last}, but is 1.5;"),
    ("nan", " a whole number from {first} to {last}, but is nan;"),
    ("77", " a whole number from {first} to {last}, but is 77;"),
    ("1000000000000", "whole number from {first} to {last}, but is 1000000000000; check that `wo"),
    ("9" * 25, "whole number from {first} to {last}, but is 1e+25; check"),
    ("x", "'x' is not a number; write numbers only."),
    ("1_0", "'1_0' is not a number; write numbers only."),
)
COUNTED = (
    ("-1", "a count should be a number from 0, but is -1; correct it, or write 0."),
    ("nan", "a count should be a number from 0, but is nan;"),
    ("inf", "a count should be a number from 0, but is inf;"),
    ("1e999", "a count should be a number from 0, but is inf;"),
    ("1e", "'1e' is not a number;"),
)


@pytest.mark.parametrize(
    ("read", "line", "first"),
    [
        (read_ldac, "1 0:1\n1 {word}:{count}\n1 1:1\n", 0),
        (read_svmlight, "1 0:1\n2 {word}:{count}\n1 1:1\n", 0),
        (read_uci, "2\n4\n3\n1 1 1\n2 {word} {count}\n2 2 2\n", 1),
        (read_matrix_market, MTX + "2 4 3\n1 1 1\n2 {word} {count}\n2 2 2\n", 1),
    ],
)
def test_wrong_numbers(read, line, first, tmp_path):
    number = 1 + line[: line.index("{")].count("\n")
    options = {"zero_based": True} if read is read_svmlight else {}
    for field, cases in (("word", NUMBERS), ("count", COUNTED)):
        for value, message in cases:
            content = line.format(**{"word": 3, "count": 2, field: value})
            path = write(tmp_path, "a.txt", content)
            with pytest.raises(ReadError) as caught:
                read(path, WORDS, **options)
            assert f"a.txt, line {number}: " in str(caught.value)
            assert message.format(first=first, last=first + 3) in str(caught.value)
    path = write(tmp_path, "a.txt", line.format(word=3, count="0.5"))
    assert read(path, WORDS, **options).n_tokens == line.count(":1") + 0.5 + 3 * (first == 1)


def test_errors_name_the_line_of_a_long_file(tmp_path):
    lines = ["2 0:1 1:2\n"] * 70_000
    lines[66_000] = "2 0:1 9:2\n"
    told("a.ldac, line 66001: ", read_ldac, write(tmp_path, "a.ldac", "".join(lines)), WORDS)
    lines = ["5\n", "4\n", "70000\n", *["1 1 1\n"] * 70_000]
    lines[66_000] = "9 1 1\n"
    told("a.txt, line 66001: ", read_uci, write(tmp_path, "a.txt", "".join(lines)), WORDS)
    lines[66_000] = "1 1 1\n"
    assert read_uci(write(tmp_path, "a.txt", "".join(lines)), WORDS).n_tokens == 70_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("3 0:1 1:2\n", ", line 1: the line begins with 3, but has 2 pairs of word and count;"),
        ("1 0:1\n1 0:1 1:2\n", ", line 2: the line begins with 1, but has 2 pairs"),
        ("1000000000000 0:1\n", ", line 1: the line begins with 1000000000000, but has 1 pairs"),
        ("-1\n", ", line 1: the number of distinct words should be a whole number from 0, but"),
        ("1 0:1\n\n1 0:1\n", ", line 2: this line is blank, but each has a document; remove it."),
        ("1 0:1:2\n", ", line 1: '0:1:2' is no pair of a word and a count; write 'word:count'."),
        ("2 0:1:2 3\n", ", line 1: '0:1:2' is no pair"),
        ("1 0:\n", ", line 1: '0:' is no pair"),
        ("\n\n", ": it has no documents;"),
    ],
)
def test_wrong_ldac(content, message, tmp_path):
    told(f"a.ldac{message}", read_ldac, write(tmp_path, "a.ldac", content), WORDS)


TRIPLES = (
    ("{h}1 1 1\n1 2\n", "this line should have 3 numbers, but is '1 2'; write document, word and"),
    ("{h}1 1 1\n1 2 3 4\n", "this line should have 3 numbers, but is '1 2 3 4';"),
    ("{h}1 1 1\n3 1 1\n", "the number of a document should be a whole number from 1 to 2, but"),
    ("{h}1 1 1\n0 1 1\n", "the number of a document should be a whole number from 1 to 2, but"),
    ("{h}1 1 1\n", "the header says 2 counts, but there are 1; check that the file was written"),
    ("{h}1 1 1\n1 2 1\n2 1 1\n", "the header says 2 counts, but there are 3;"),
)


@pytest.mark.parametrize(("content", "message"), TRIPLES)
def test_wrong_triples(content, message, tmp_path):
    for read, header in ((read_uci, "2\n4\n2\n"), (read_matrix_market, f"{MTX}2 4 2\n")):
        path = write(tmp_path, "a.txt", content.format(h=header))
        with pytest.raises(ReadError, match=re.escape(message)) as caught:
            read(path, WORDS)
        assert "a.txt" in str(caught.value)
        if "header" not in message:
            assert f", line {2 + header.count(chr(10))}: " in str(caught.value)


def test_headers_that_claim_too_much(tmp_path):
    huge = 1000000000000
    for read, header in ((read_uci, "{}\n{}\n{}\n"), (read_matrix_market, MTX + "{} {} {}\n")):
        for sizes, message in (
            ((huge, 4, 1), f"the header says {huge} documents, but there are 1 counts; correct"),
            ((1, huge, 1), f"the header says {huge} words, but `words` has 4; pass the words"),
            ((1, 4, huge), f"the header says {huge} counts, but there are 1; check that"),
        ):
            path = write(tmp_path, "a.txt", header.format(*sizes) + "1 1 1\n")
            told(f"a.txt: {message}", read, path, WORDS)
        # Without words nothing is made of their number; and empty documents may be last.
        path = write(tmp_path, "a.txt", header.format(900, huge, 1) + "1 1000000000 1\n")
        corpus = read(path)
        assert corpus.shape == (900, 1)
        assert corpus.words == ("w1000000000",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("5\n", ": it ends before the number of words; check that it was written in full."),
        ("x\n", ", line 1: the number of documents should be a whole number from 0, but is 'x';"),
        ("5\n-4\n", ", line 2: the number of words should be a whole number from 0, but is '-4';"),
        ("5\n4\n" + "9" * 30, ", line 3: the number of counts should be a whole number from 0"),
        ("0\n4\n0\n", ": it has no documents;"),
    ],
)
def test_wrong_uci(content, message, tmp_path):
    told(f"a.txt{message}", read_uci, write(tmp_path, "a.txt", content), WORDS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("2 4 0\n", ", line 1: the file should begin with '%%MatrixMarket matrix', but begins"),
        (MTX.replace("coordinate", "array"), ": the matrix is array integer general, and not '"),
        (MTX.replace("integer", "complex"), ": the matrix is coordinate complex general, and"),
        (MTX.replace("general", "symmetric"), ": the matrix is coordinate integer symmetric, and"),
        (MTX, ": it ends before its sizes; check that it was written in full."),
        (MTX + "2 4\n", ", line 2: this line should give three sizes, rows, columns and entr"),
        (MTX + "2 4 x\n", ", line 2: a size should be a whole number from 0, but is 'x';"),
        (MTX + "2 4 1\n1 1 1\0\n", ", line 3: there is a NUL character"),
    ],
)
def test_wrong_matrix_market(content, message, tmp_path):
    path = write(tmp_path, "a.mtx", content)
    with pytest.raises(ReadError, match=re.escape(message)):
        read_matrix_market(path, WORDS)


def test_matrices_that_scipy_writes(tmp_path):
    for matrix in (csr_array(COUNTS), coo_array(np.array(COUNTS) / 2)):
        scipy.io.mmwrite(tmp_path / "a.mtx", matrix, comment="from SciPy")
        corpus = read_matrix_market(tmp_path / "a.mtx", WORDS)
        np.testing.assert_array_equal(corpus.counts.toarray(), matrix.toarray())
    pattern = coo_array((np.array(COUNTS) > 0).astype(int))
    scipy.io.mmwrite(tmp_path / "a.mtx", pattern, field="pattern")
    corpus = read_matrix_market(tmp_path / "a.mtx", WORDS)
    np.testing.assert_array_equal(corpus.counts.toarray(), pattern.toarray())


@pytest.mark.parametrize("zero_based", [True, False])
def test_svmlight_that_scikit_learn_writes(zero_based, tmp_path):
    path = str(tmp_path / "a.svm")
    labels = [[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 1]]
    dump_svmlight_file(
        csr_array(COUNTS), csr_array(labels), path, zero_based=zero_based, multilabel=True
    )
    for option in ("auto", zero_based):
        corpus = read_svmlight(path, WORDS, zero_based=option)
        np.testing.assert_array_equal(corpus.counts.toarray(), COUNTS)
        assert corpus.labels.names == ("0", "1", "2")
        np.testing.assert_array_equal(corpus.labels.blocks[0].values.toarray(), labels)


def test_labels_of_svmlight(tmp_path):
    content = "+1 qid:3 1:2 # a comment 7:7\n\n# nothing\n-1.0 2:1\n 3:1\nsport,1 1:1\n"
    path = write(tmp_path, "a.svm", content)
    corpus = read_svmlight(path)
    assert corpus.words == ("w1", "w2", "w3")
    assert corpus.counts.toarray().tolist() == [[2, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert corpus.labels.names == ("-1", "1", "sport")
    message = "a.svm, row 3: a document should have one category, but has 'sport,1'; pass kind='tag"
    told(message, read_svmlight, path, kind="category")
    path = write(tmp_path, "a.svm", "1.5 1:2\n 1:2\n2 2:1\n")
    block = read_svmlight(path, kind="number").labels.blocks[0]
    assert block.values.data.tolist() == [1.5, 2]
    assert read_svmlight(path, kind="category").labels.names == ("1.5", "2")
    path = write(tmp_path, "a.svm", "good 1:2\n")
    told("a.svm, row 0: a document should have one number", read_svmlight, path, kind="number")
    path = write(tmp_path, "a.svm", "inf 1:2\n")
    told("a.svm must be finite, but got inf at row 0", read_svmlight, path, kind="number")
    with pytest.raises(ValueError, match="`kind` of read_svmlight must be one of 'tags', 'cat"):
        read_svmlight(path, kind="class")
    told("it has no documents", read_svmlight, write(tmp_path, "a.svm", "# nothing\n"))


def test_words_of_svmlight_from_0_or_1(tmp_path):
    path = write(tmp_path, "a.svm", "1 4:1\n")
    assert read_svmlight(path, WORDS).counts.toarray().tolist() == [[0, 0, 0, 1]]
    told("should be a whole number from 0 to 3", read_svmlight, path, WORDS, zero_based=True)
    path = write(tmp_path, "a.svm", "1 0:1 3:1\n")
    assert read_svmlight(path, WORDS).counts.toarray().tolist() == [[1, 0, 0, 1]]
    told("should be a whole number from 1 to 4", read_svmlight, path, WORDS, zero_based=False)
    path = write(tmp_path, "a.svm", "1 0:1 4:1\n")
    told("a.svm: there are words of number 0 and 4, but `words` has 4;", read_svmlight, path, WORDS)
    path = write(tmp_path, "a.svm", "1 1000000000000:1\n")
    assert read_svmlight(path).words == ("w1000000000000",)


def test_a_word_that_stands_twice_counts_twice(tmp_path):
    path = write(tmp_path, "a.ldac", "2 0:1 0:2\n")
    assert read_ldac(path, WORDS).counts.toarray().tolist() == [[3, 0, 0, 0]]
