"""Files of every format through the options, and folders and tables as people have them."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP, Corpus
from hdsp.cli.main import make_parser
from hdsp.cli.reading import read_file
from hdsp.corpus.readers import FORMATS
from tests.cli.commands import check_refused, hdsp, reviews
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
LETTERS = "--metadata letters.csv"
# As a German spreadsheet writes tables.
WRITTEN = "--encoding cp1252 --delimiter ';'"


def read_corpus(*arguments):
    options = make_parser().parse_args(["fit", *map(str, arguments), "-o", "m.hdsp"])
    return read_file(options.files[0], options)


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    return write_samples(tmp_path_factory.mktemp("samples"))


@pytest.mark.parametrize("name", FORMATS)
def test_the_command_reads_what_the_reader_reads(name, samples, monkeypatch):
    read, path = samples[name]
    monkeypatch.chdir(path.parent)
    corpus, expected = read_corpus(path, "--format", name, *OPTIONS[name]), read(path)
    assert corpus.words == expected.words
    np.testing.assert_array_equal(corpus.counts.toarray(), expected.counts.toarray())
    assert repr(corpus.labels) == repr(expected.labels)
    assert (corpus.text_settings is None) == (name in ("ldac", "uci", "mtx", "svmlight"))


def test_a_folder_and_a_table_need_no_format(samples, monkeypatch):
    monkeypatch.chdir(samples["csv"].path.parent)
    assert read_corpus("texts", *BESIDE).ids == tuple(f"{name}.txt" for name in IDS)
    assert len(read_corpus("table.csv")) == len(IDS)


def test_options_reach_the_reader(tmp_path):
    path = tmp_path / "texts.mallet"
    path.write_text("d1 a;b cat\nd2 b dog\n")
    corpus = read_corpus(path, "--format", "mallet", "--tag-separator", ";")
    assert corpus.labels.blocks[0].columns == ("a", "b")
    path = tmp_path / "a.csv"
    path.write_text("code,text\nx1,Running dogs\nx2,runs of a dog\n")
    assert read_corpus(path, "--stem", "EN").words == ("dog", "run")
    assert read_corpus(path).ids is None
    assert read_corpus(path, "--ids", "code").ids == ("x1", "x2")
    with pytest.raises(ValueError, match="tokenizer"):
        read_corpus(path, "--tokenizer", "words")


def test_a_new_format_takes_a_function_and_a_line(tmp_path, monkeypatch):
    def read_lines(path, *, text_settings=None):
        return Corpus.from_texts(Path(path).read_text().split("\n"), text_settings=text_settings)

    monkeypatch.setitem(FORMATS, "lines", read_lines)
    (tmp_path / "texts").write_text("a cat\ntwo dogs")
    corpus = read_corpus(tmp_path / "texts", "--format", "lines", "--language", "none")
    assert corpus.words == ("cat", "dogs", "two")


def test_a_model_of_a_folder_is_used_with_folders(here, tmp_path, monkeypatch):
    out = tmp_path / "a.csv"
    hdsp(f"transform l.hdsp letters {LETTERS} -o {out}")
    assert pd.read_csv(out)["id"].tolist() == [f"{number:02d}.txt" for number in range(40)]
    hdsp(f"predict l.hdsp letters --target sender -o {out}")
    assert {"bags", "dresses", "Smith, John; Jr."} >= set(pd.read_csv(out)["predicted"])
    found = hdsp(f"stability l.hdsp letters {LETTERS} --n-fits 1 --json").json
    assert len(found["topics_in_fits"]) == 1
    rows = hdsp(f"topics l.hdsp --documents letters {LETTERS} --json").json["documents"]
    assert all((here / "letters" / row["id"]).read_text() == row["text"] for row in rows)
    assert hdsp(f"evaluate l.hdsp letters {LETTERS} --json").json["documents"] == 40
    assert hdsp(f"effects l.hdsp letters {LETTERS} --formula sender --json").json["effects"]
    hdsp(f"report l.hdsp letters {LETTERS} -o {tmp_path}/r.html")
    told = hdsp("transform l.hdsp letters").err
    assert "all are missing: name their table with --metadata." in told
    assert re.search(r"Smith, John; Jr. [+-]\d+\.\d", hdsp("topics l.hdsp").out)
    # The page shows the texts of another column.
    seen = []
    monkeypatch.setattr(HDSP, "report", lambda *_, texts, **__: seen.extend(texts))
    hdsp(f"report l.hdsp posts.csv --texts id -o {tmp_path}/r.html")
    assert seen == [f"review {number}" for number in range(150)]


@pytest.fixture(scope="module")
def german(tmp_path_factory):
    folder = tmp_path_factory.mktemp("german")
    frame = reviews(80)[["text", "department"]]
    frame["text"] = frame["text"].str.replace("walk", "größe")
    frame["year"] = [f"{number % 7},5" for number in range(len(frame))]
    frame.to_csv(folder / "a.csv", sep=";", encoding="cp1252", index=False)
    frame.to_csv(folder / "tab.csv", sep="\t", encoding="cp1252", index=False)
    fit = f"fit {folder}/a.csv --categories department {WRITTEN} --n-components 3"
    hdsp(f"{fit} -o {folder}/m.hdsp")
    return folder


def test_semicolons_and_cp1252_are_read_by_every_command(german, monkeypatch):
    monkeypatch.chdir(german)
    # The model remembers them.
    for options in ("", WRITTEN):
        hdsp(f"transform m.hdsp a.csv {options} -o out.csv")
        assert len(pd.read_csv("out.csv")) == 80
        hdsp(f"predict m.hdsp a.csv {options} --target department -o out.csv")
        hdsp(f"evaluate m.hdsp a.csv {options}")
        hdsp(f"report m.hdsp a.csv {options} -o page.html")
        assert "größe" in (german / "page.html").read_text(encoding="utf-8")
    assert "größe" in hdsp("topics m.hdsp --n-words 20").out
    hdsp(r"transform m.hdsp tab.csv --encoding cp1252 --delimiter '\t' -o out.csv")


def test_what_files_look_like_is_told(german, monkeypatch):
    monkeypatch.chdir(german)
    for options, message in {
        "": "is not utf-8 text; pass the file's --encoding, such as 'latin-1'",
        "--encoding cp1252": "not separated by ','; pass ';' as --delimiter",
        f"{WRITTEN} --text words": "there is no column 'words'",
        f"{WRITTEN} --numeric year": "got '0,5' at row 0. Convert the column, read the file with",
    }.items():
        check_refused(f"fit a.csv {options} -o n.hdsp", message)
    numeric = f"{WRITTEN} --numeric year --decimal ,"
    hdsp(f"fit a.csv {numeric} --max-components 2 -o n.hdsp")
    assert HDSP.load("n.hdsp").label_schema_.blocks[0].mean[0] == pytest.approx(3.4, abs=0.1)
    hdsp("transform n.hdsp a.csv -o out.csv")
    hdsp(f"prepare a.csv {numeric} -o corpus")
