"""Formats of other topic models, and folders."""

import gzip
import io
import re

import numpy as np
import pytest
import scipy.io
from scipy.sparse import coo_array, csr_array
from sklearn.datasets import dump_svmlight_file

from hdsp import Corpus, read_counts, read_folder
from tests.corpus.readers.samples import (
    COUNTS,
    WORDS,
    csv_text,
    ldac_text,
    mtx_text,
    svmlight_text,
    uci_text,
)
from tests.corpus.readers.test_tables import check_error, write

MTX = "%%MatrixMarket matrix coordinate integer general\n"
FILES = {"a.ldac": ldac_text(), "docword.a.txt": uci_text(), "a.mtx": mtx_text()}


@pytest.mark.parametrize("name", FILES)
def test_words_and_labels(name, tmp_path):
    content = FILES[name].encode()
    vocabulary = write(tmp_path, "words.txt", "\ufeff" + "\r\n".join(WORDS) + "\r\n\r\n")
    table = write(tmp_path, "labels.csv", csv_text())
    labels = {"tags": "tags", "categories": "kind", "numeric": "rating"}
    for file, data in ((name, content), (f"{name}.gz", gzip.compress(content))):
        corpus = read_counts(write(tmp_path, file, data), vocabulary, table, **labels)
        assert corpus.words == WORDS
        np.testing.assert_array_equal(corpus.counts.toarray(), COUNTS)
        assert [block.name for block in corpus.labels.blocks] == ["tags", "kind", "rating"]
        assert corpus.text_settings is None
    form = {"docword": "uci"}.get(name.split(".")[0], name.split(".")[1])
    assert read_counts(io.BytesIO(content), list(WORDS), format=form).words == WORDS
    # Without words, those that occur, by number.
    nameless = read_counts(tmp_path / name)
    first = int(form != "ldac")
    assert nameless.words == tuple(f"w{j + first}" for j in range(4))
    np.testing.assert_array_equal(nameless.counts.toarray(), COUNTS)


@pytest.mark.parametrize("name", [*FILES, "a.svm"])
def test_words_like_those_of_a_corpus(name, tmp_path):
    path = write(tmp_path, name, {**FILES, "a.svm": svmlight_text()}[name])
    like = Corpus(np.eye(3), words=["dog", "bird", "cat"])
    corpus = read_counts(path, WORDS, like=like)
    assert corpus.words == like.words
    np.testing.assert_array_equal(corpus.counts.toarray(), [[r[1], 0, r[0]] for r in COUNTS])
    same = read_counts(path, like=Corpus(np.eye(4), words=list("abcd")))
    assert same.words == tuple("abcd")
    np.testing.assert_array_equal(same.counts.toarray(), COUNTS)
    with pytest.raises(TypeError, match=r"`like` of read_counts must have words"):
        read_counts(path, like=3)


def test_wrong_labels_words_and_options(tmp_path):
    path = write(tmp_path, "a.ldac", ldac_text())
    table = write(tmp_path, "labels.csv", "kind\na\n")
    message = "`metadata` of read_counts must have one row for each of the 5 documents, but got 1"
    check_error(message, read_counts, path, WORDS, table, categories="kind")
    for content, message in (
        ("a\nb\n a \nc\n", "must have unique words, but got 'a' more than once."),
        (b"a\n\xff\n", "words.txt, line 2: this is not utf-8 text"),
        ("", "in count 1"),
    ):
        check_error(message, read_counts, path, write(tmp_path, "words.txt", content))
    for options, message in (
        ({"metadata": table}, "`tags`, `categories` or `numeric` of read_counts must name the col"),
        ({"format": "csv"}, "`format` of read_counts must be one of 'ldac', 'uci',"),
        ({"format": "mallet", "metadata": table}, "`metadata` of read_counts does not apply to"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            read_counts(path, **options)


@pytest.mark.parametrize(
    ("name", "line", "first"),
    [
        ("a.ldac", "1 0:1\n1 {word}:{count}\n1 1:1\n", 0),
        ("a.svm", "1 0:1\n2 {word}:{count}\n1 1:1\n", 0),
        ("a.uci", "2\n4\n3\n1 1 1\n2 {word} {count}\n2 2 2\n", 1),
        ("a.mtx", MTX + "2 4 3\n1 1 1\n2 {word} {count}\n2 2 2\n", 1),
    ],
)
def test_wrong_numbers(name, line, first, tmp_path):
    """No number of a word out of range reaches compiled code, and no count that is none."""
    by_range = f"the number of a word should be a whole number from {first} to {first + 3}, "
    for value in ("-1", "1.5", "nan", "77", "1000000000000", "9" * 25, "x", "1e400"):
        path = write(tmp_path, name, line.format(word=value, count=2))
        rule = by_range if value != "x" and name != "a.svm" else name
        check_error(rule, read_counts, path, WORDS)
    for value in ("-1", "nan", "inf", "1e400", "1e300", "1e"):
        path = write(tmp_path, name, line.format(word=3, count=value))
        rule = name if value == "1e" else f"{name}: `counts` of Corpus must be n"
        check_error(rule, read_counts, path, WORDS)
    path = write(tmp_path, name, line.format(word=3, count="0.5"))
    expected = line.count(":1") + 0.5 + 3 * (first == 1)
    assert read_counts(path, WORDS).n_tokens == expected


HUGE = 1000000000000
WRONG_FILES = [
    ("a.ldac", "1 0:1\n3 0:1 1:2\n", ", line 2: the line begins with 3, but has 4 numbers after"),
    ("a.ldac", f"{HUGE} 0:1\n", f", line 1: the line begins with {HUGE}, but has 2 numbers"),
    ("a.ldac", "-1\n", ", line 1: the line begins with -1, but"),
    ("a.ldac", "1 0:\n", ", line 1: the line begins with 1, but has 1 numbers after it; write two"),
    ("a.ldac", "1 0:x\n", ", line 1: this is not a line of numbers (could not convert string to"),
    ("a.ldac", "\n\n", ": it has no documents;"),
    ("a.svm", "# nothing\n", ": it has no documents;"),
    ("a.svm", "sport 1:1\n", ": it is damaged or cut off (could not convert string to float: b'sp"),
    ("a.svm", "1 7:1\n", ": it has 7 words, but `words` has 4; check that the words belong to it."),
    ("a.uci", "5\n", ": it is damaged or cut off (invalid literal for int"),
    ("a.uci", "x\n4\n1\n", ": it is damaged or cut off (invalid literal for int() with base 10: '"),
    ("a.uci", "0\n4\n0\n", ": it has no documents;"),
    ("a.uci", "2\n4\n2\n1 1 1\n1 2\n", ": it is damaged or cut off (the number of columns changed"),
    ("a.uci", "2\n4\n1\n1 1 1 1\n", " 1 counts, but there are 1 lines of 4 numbers; write 3 num"),
    ("a.uci", "2\n4\n2\n1 1 1\n3 1 1\n", "the number of a document should be a whole number from"),
    ("a.uci", "2\n4\n2\n1 1 1\n", ": the header says 2 documents and 2 counts, but there are 1 li"),
    ("a.uci", f"{HUGE}\n4\n1\n1 1 1\n", f"says {HUGE} documents and 1 counts, but there are 1 lin"),
    ("a.uci", f"1\n{HUGE}\n1\n1 1 1\n", f": it has {HUGE} words, but `words` has 4;"),
    ("a.uci", f"1\n4\n{HUGE}\n1 1 1\n", f"and {HUGE} counts, but there are 1 lines of 3 numbers;"),
    ("a.mtx", "2 4 0\n", ", line 1: the file begins with '2 4 0'; write a sparse matrix of counts"),
    ("a.mtx", MTX.replace("coordinate", "array"), ", line 1: the file begins with"),
    ("a.mtx", MTX.replace("integer", "complex") + "1 1 1\n1 1 1 0\n", "1 lines of 4 numbers"),
    ("a.mtx", MTX.replace("general", "symmetric"), ", line 1: the file begins with"),
    ("a.mtx", MTX + "2 4\n", ": it is damaged or cut off ("),
    ("a.mtx", MTX + "2 4 1\n1 1 1\0\n", ": it is damaged or cut off (could not convert string"),
    ("a.mallet", "d1\n", ", line 1: a line should have an id, a label and a text, but is 'd1';"),
    ("a.mallet", "d1 a 17\n", ": No word of 1 text is left to count."),
    ("a.mallet", "\n", ": it has no documents;"),
    ("a.mallet", b"d1 a cat\nd2 a \xff\n", ", line 2: this is not utf-8 text"),
    ("a.dat", "1 0:1\n", ": the name does not show read_counts which format the file has; pass"),
]


@pytest.mark.parametrize(("name", "content", "message"), WRONG_FILES)
def test_wrong_files(name, content, message, tmp_path):
    options = {} if name == "a.mallet" else {"words": WORDS}
    check_error(message, read_counts, write(tmp_path, name, content), **options)


def test_sizes_of_a_header_allocate_nothing(tmp_path):
    path = write(tmp_path, "a.uci", f"900\n{HUGE}\n1\n1 1000000000 1\n")
    corpus = read_counts(path)
    assert corpus.shape == (900, 1)
    assert corpus.words == ("w1000000000",)


def test_matrices_that_scipy_writes(tmp_path):
    pattern = coo_array((np.array(COUNTS) > 0).astype(int))
    halves = coo_array(np.array(COUNTS) / 2)
    for matrix, field in ((csr_array(COUNTS), None), (halves, None), (pattern, "pattern")):
        scipy.io.mmwrite(tmp_path / "a.mtx", matrix, comment="from SciPy", field=field)
        corpus = read_counts(tmp_path / "a.mtx", WORDS)
        np.testing.assert_array_equal(corpus.counts.toarray(), matrix.toarray())


@pytest.mark.parametrize("zero_based", [True, False])
def test_svmlight_that_scikit_learn_writes(zero_based, tmp_path):
    path = str(tmp_path / "a.svm")
    labels = [[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 1]]
    dump_svmlight_file(
        csr_array(COUNTS), csr_array(labels), path, zero_based=zero_based, multilabel=True
    )
    corpus = read_counts(path, WORDS)
    np.testing.assert_array_equal(corpus.counts.toarray(), COUNTS)
    assert repr(corpus.labels.blocks[0]) == "tags 'labels' 3"
    assert corpus.labels.names == ("0", "1", "2")
    np.testing.assert_array_equal(corpus.labels.blocks[0].values.toarray(), labels)


def test_labels_and_words_of_svmlight(tmp_path):
    content = "+1 qid:3 1:2 # a comment 7:7\n\n# nothing\n-1.0 2:1\n 3:1\n2,1 1:1\n"
    path = write(tmp_path, "a.svm", content)
    corpus = read_counts(path)
    assert corpus.words == ("w1", "w2", "w3")
    assert corpus.counts.toarray().tolist() == [[2, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert corpus.labels.names == ("-1", "1", "2")
    path = write(tmp_path, "a.svm", "1.5 1:2\n 1:2\n2 2:1\n")
    assert read_counts(path).labels.blocks[0].values.data.tolist() == [1.5, 2]
    path = write(tmp_path, "a.svm", "1 1:2\n 1:2\n2 2:1\n")
    assert repr(read_counts(path).labels.blocks[0]) == "category 'labels' 2"
    path = write(tmp_path, "a.svm", "inf 1:2\n")
    check_error("must be finite", read_counts, path)
    # Words are numbered from 0 if there is one.
    path = write(tmp_path, "a.svm", "1 4:1\n")
    assert read_counts(path, WORDS).counts.toarray().tolist() == [[0, 0, 0, 1]]
    check_error("it has 4 words, but `words` has 3", read_counts, path, WORDS[:3])
    path = write(tmp_path, "a.svm", "1 0:1 3:1\n")
    assert read_counts(path, WORDS).counts.toarray().tolist() == [[1, 0, 0, 1]]


def test_a_repeated_word_adds_up_and_lines_are_not_sorted(tmp_path):
    path = write(tmp_path, "a.ldac", "3 3:1 0:1 0:2\n")
    assert read_counts(path, WORDS).counts.toarray().tolist() == [[3, 0, 0, 1]]


def test_mallet(tmp_path):
    content = "d1 pets the cat sat\r\nd2\tplace \t a house\r\n\r\nd3 pets\r\n\r\n"
    corpus = read_counts(write(tmp_path, "a.mallet", content))
    assert corpus.ids == ("d1", "d2", "d3")
    assert corpus.words == ("cat", "house", "sat")
    assert corpus.counts.toarray().tolist() == [[1, 0, 1], [0, 1, 0], [0, 0, 0]]
    assert repr(corpus.labels) == "Labels(3 documents: category 'label' 2)"
    path = write(tmp_path, "a.mallet", gzip.compress(b"d1 a;b cat\nd2 ; dog\n"))
    block = read_counts(path, tag_separator=";").labels.blocks[0]
    assert (block.kind, block.columns) == ("tags", ("a", "b"))
    assert np.diff(block.values.indptr).tolist() == [2, 0]
    like = read_counts(io.BytesIO(b"d1 a cat\n"), format="mallet", like=corpus)
    assert like.words == corpus.words


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
    described = read_folder(str(folder), metadata, categories="kind", ids="file")
    assert described.labels.blocks[0].columns == ("x", "y", "z")
    assert described.labels.blocks[0].values.indices.tolist() == [0, 1, 0]
    assert read_folder(folder, pattern="*.md").ids == ("note.md",)


def test_wrong_folders(folder, tmp_path):
    with pytest.raises(FileNotFoundError, match="absent: there is no such folder; check the path"):
        read_folder(tmp_path / "absent")
    check_error("a.txt: this is a file; name a folder, or use", read_folder, folder / "a.txt")
    check_error("letters: no file in it is like '*.doc'", read_folder, folder, pattern="*.doc")
    for rows, message in (
        ("a,x\nb,x\n", "t.csv: there is no row of 'empty.txt', 'sub/c.txt'; add it, with the"),
        ("a,x\na,x\n", "t.csv, row 0: 'a' is also in row 1; remove one."),
    ):
        table = write(tmp_path, "t.csv", f"id,kind\n{rows}")
        check_error(message, read_folder, folder, table, categories="kind")
    (folder / "sub" / "d.txt").write_bytes(b"cat\ndog \xff\n")
    check_error("d.txt, line 2: this is not utf-8 text", read_folder, folder)
    message = "`tags`, `categories` or `numeric` of read_folder must name the columns to read of"
    with pytest.raises(ValueError, match=re.escape(message)):
        read_folder(folder, table)


def test_gensim_writes_what_we_read(tmp_path):
    corpora = pytest.importorskip("gensim.corpora")
    dictionary = corpora.Dictionary([["cat", "sat", "cat"], ["dog"], ["dog", "sat"]])
    documents = [dictionary.doc2bow(text) for text in [["cat", "sat", "cat"], ["dog"]]]
    path = str(tmp_path / "a.ldac")
    corpora.BleiCorpus.serialize(path, documents, id2word=dictionary)
    corpus = read_counts(path, f"{path}.vocab")
    assert corpus.n_tokens == 4
