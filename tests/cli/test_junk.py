"""Words of topics that are remains of pages."""

import json

import pytest

from hdsp import HDSP, Corpus, TextSettings
from hdsp.analysis.checks import _JUNK
from hdsp.cli.main import main
from tests.zoo import fit_quietly

TEXTS = ["budget tax vote linktocommentspostcount http", "silk skirt hem sleeve waist"] * 15


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("junk")
    for name, texts in (("junk", TEXTS), ("clean", [text.split("link")[0] for text in TEXTS])):
        corpus = Corpus.from_texts(texts, text_settings=TextSettings(min_df=1, max_df=1.0))
        model = HDSP(2, init="nmf", max_iter=5, random_state=0)
        fit_quietly(model, corpus, None).save(folder / f"{name}.hdsp")
    return folder


def test_junk_of_large_topics_is_told_and_listed(paths, capsys):
    assert main(["topics", str(paths / "junk.hdsp")]) == 0
    found = capsys.readouterr()
    assert "words that look like remains of web pages (" in found.err
    assert "hdsp topics --junk" in found.err
    assert main(["topics", str(paths / "junk.hdsp"), "--junk"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[-1] for line in lines[1:-1]} == {"linktocommentspostcount", "http"}
    assert lines[-1].endswith("--stop-words FILE.")
    assert main(["topics", str(paths / "junk.hdsp"), "--junk", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["junk"]) == 2


def test_topics_without_junk_say_nothing_of_it(paths, capsys):
    assert main(["topics", str(paths / "clean.hdsp")]) == 0
    assert capsys.readouterr().err == ""
    assert main(["topics", str(paths / "clean.hdsp"), "--junk"]) == 0
    assert capsys.readouterr().out == "No topic word looks like the remains of a web page.\n"


def test_junk_is_told_on_the_page(paths, tmp_path):
    path = tmp_path / "report.html"
    HDSP.load(paths / "junk.hdsp").report(path)
    assert "words that look like remains of web pages" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("word", "junk"),
    [
        *(("https", True), ("nbsp", True), ("aaargh", True), ("xkcdq", True)),
        *(("rhythm", False), ("committee", False), ("electroencephalography", False)),
        *(("größe", False), ("天气", False), ("https server", False)),
    ],
)
def test_which_words_are_junk(word, junk):
    assert (_JUNK.fullmatch(word) is not None) == junk
