"""Files of every format through the options of the command line."""

from pathlib import Path

import numpy as np
import pytest

from hdsp import Corpus
from hdsp.cli.main import make_parser
from hdsp.cli.reading import read_file
from hdsp.corpus.readers import FORMATS
from tests.corpus.readers.samples import IDS, write_samples

COLUMNS = ["--tags", "tags", "--categories", "kind", "--numeric", "rating"]
BESIDE = ["--metadata", "labels.csv", *COLUMNS]
COUNTED = ["--words", "words.txt", *BESIDE]
OPTIONS = {
    **dict.fromkeys(("csv", "tsv", "jsonl", "parquet", "arrow", "xlsx", "dta"), COLUMNS),
    **dict.fromkeys(("ldac", "uci", "mtx"), COUNTED),
    "folder": BESIDE,
    "mallet": [],
    "svmlight": ["--words", "words.txt"],
}


def read_corpus(options):
    return read_file(options.files[0], options)


def options_of(*arguments):
    return make_parser().parse_args(["fit", *map(str, arguments), "-o", "m.hdsp"])


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    return write_samples(tmp_path_factory.mktemp("samples"))


@pytest.mark.parametrize("name", FORMATS)
def test_the_command_reads_what_the_reader_reads(name, samples, monkeypatch):
    read, path = samples[name]
    monkeypatch.chdir(path.parent)
    options = options_of(path, "--format", name, *OPTIONS[name])
    corpus, expected = read_corpus(options), read(path)
    assert corpus.words == expected.words
    np.testing.assert_array_equal(corpus.counts.toarray(), expected.counts.toarray())
    assert repr(corpus.labels) == repr(expected.labels)
    assert (corpus.text_settings is None) == (name in ("ldac", "uci", "mtx", "svmlight"))


def test_a_folder_and_a_table_need_no_format(samples, monkeypatch):
    monkeypatch.chdir(samples["csv"].path.parent)
    assert read_corpus(options_of("texts", *BESIDE)).ids == tuple(f"{name}.txt" for name in IDS)
    assert len(read_corpus(options_of("table.csv"))) == len(IDS)


def test_a_separator_reaches_every_format_that_has_one(tmp_path):
    path = tmp_path / "texts.mallet"
    path.write_text("d1 a;b cat\nd2 b dog\n")
    options = options_of(path, "--format", "mallet", "--tag-separator", ";")
    assert read_corpus(options).labels.blocks[0].columns == ("a", "b")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "odt"], r"--format must be one of csv, tsv, .*, mallet\. Got 'odt'\."),
        (["--format", "mallet", "--tags", "x"], "--tags does not apply to a.csv: leave it out"),
        (["--metadata", "labels.csv"], "--metadata does not apply to a.csv: leave it out"),
        (["--words", "words.txt"], "--words does not apply to a.csv: leave"),
        (["--format", "ldac", "--tags", "x"], "needs their words|--metadata|--words"),
        (["--format", "ldac"], "a.csv contains counts: name the file of its words with --words"),
    ],
)
def test_options_that_do_not_fit_the_format(arguments, message):
    with pytest.raises(ValueError, match=message):
        read_corpus(options_of("a.csv", *arguments))


def test_a_new_format_takes_a_function_and_a_line(tmp_path, monkeypatch):
    def read_lines(path, *, text_settings=None):
        return Corpus.from_texts(Path(path).read_text().split("\n"), text_settings=text_settings)

    monkeypatch.setitem(FORMATS, "lines", read_lines)
    path = tmp_path / "texts"
    path.write_text("a cat\ntwo dogs")
    options = options_of(path, "--format", "lines", "--language", "none")
    assert read_corpus(options).words == ("cat", "dogs", "two")


def test_stems_and_tokenizers_are_chosen_by_options(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text\nRunning dogs\nruns of a dog\n")
    assert read_corpus(options_of(path, "--stem", "EN")).words == ("dog", "run")
    with pytest.raises(
        ValueError, match="`tokenizer` of TextSettings must be a function or one of"
    ):
        read_corpus(options_of(path, "--tokenizer", "words"))


def test_documents_of_a_table_have_the_names_that_are_asked_for(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("code,text\nx1,red hat\nx2,blue hat\n")
    assert read_corpus(options_of(path)).ids is None
    assert read_corpus(options_of(path, "--ids", "code")).ids == ("x1", "x2")
