"""`hdsp report`, from a model file and a table to a page."""

import pytest

from hdsp import HDSP, read_table
from hdsp.cli import main
from tests.report.conftest import data_of
from tests.report.corpora import reviews


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    path = tmp_path_factory.mktemp("report")
    texts, frame = reviews(120)
    frame.insert(0, "text", texts)
    frame["code"] = [f"<{number}>" for number in range(len(frame))]
    frame.to_parquet(path / "reviews.parquet")
    corpus = read_table(
        path / "reviews.parquet", tags="labels", categories="department", numeric="rating"
    )
    model = HDSP(5, max_iter=4, tol=0.1, random_state=0, n_jobs=1)
    model.fit(corpus).save(path / "model.hdsp")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        yield path


def test_a_report_with_documents(here, capsys):
    arguments = ["reviews.parquet", "--ids", "code", "--most-documents", "30"]
    arguments += ["--stability", "1", "--title", "My <reviews>", "-o", "full.html", "--n-jobs", "1"]
    assert main(["report", "model.hdsp", *arguments]) == 0
    assert capsys.readouterr().out == "Wrote full.html\n"
    page = (here / "full.html").read_text(encoding="utf-8")
    assert "<title>My &lt;reviews&gt;</title>" in page
    data, documents = data_of(page), data_of(page, "documents")
    assert data["title"] == "My <reviews>"
    assert len(data["topics"]["similarity"]) == 5
    assert len(documents["documents"]) == 30
    texts = reviews(120)[0]
    for entry in documents["documents"]:
        assert entry["name"] == f"<{entry['row']}>"
        assert "".join(entry["pieces"]) == texts[entry["row"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--stability", "2"], "--stability needs the documents"),
        (["-"], "Name a file"),
        (["reviews.parquet", "--most-documents", "0"], "--most-documents: must be an integer >= 1"),
        (["--names", "model.hdsp"], "is not a file of topic names"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(here, capsys, arguments, message):
    assert main(["report", "model.hdsp", *arguments]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith("hdsp: ")
    assert message in sentence
