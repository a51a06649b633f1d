"""The page shows how groups speak of a topic, where they have versions of topics."""

import pytest

from hdsp import HDSP, Corpus
from hdsp.report.view import make_view
from tests.estimator.test_content import speeches


@pytest.fixture(scope="module")
def model():
    settings = {"init": "nmf", "random_state": 0, "n_jobs": 1}
    return HDSP(4, content="party", **settings).fit(speeches(differ=0.3)[0])


def test_words_of_each_group_are_those_of_label_words(model, open_page, tmp_path):
    model.report(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html").show("#view=topics&topic=1")
    figure = page.locator("[data-chart=topic-sides]")
    assert figure.locator("svg").is_visible()
    figure.locator("summary").click()
    figure.locator("tbody tr").first.wait_for()
    rows = [row.inner_text().split("\t") for row in figure.locator("tbody tr").all()]
    table = model.label_words(topic=1)
    table = table[table["lower"] > 1]
    assert {row[0] for row in rows} == {"left", "right"}
    wanted = dict(zip(zip(table["label"], table["word"], strict=True), table["ratio"], strict=True))
    assert rows
    for label, word, *_ in rows:
        assert wanted[label, word] > 1
    best = table.sort_values("ratio").groupby("label").tail(1)
    assert {(row[0], row[1]) for row in rows} >= set(zip(best["label"], best["word"], strict=True))


def test_a_topic_without_such_words_says_so(open_page, tmp_path):
    corpus, _, frame = speeches(differ=0.0)
    corpus = Corpus(corpus.counts, labels=frame)
    model = HDSP(4, init="nmf", content="party", random_state=0).fit(corpus)
    assert make_view(model).model["sides"] == [[], [], [], []]
    model.report(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html").show("#view=topics")
    assert "No word of this topic" in page.locator("[data-chart=topic-sides]").inner_text()


def test_pages_without_versions_have_no_sides(open_page, tmp_path):
    corpus, _, _ = speeches(differ=0.0)
    model = HDSP(4, init="nmf", random_state=0).fit(corpus)
    model.report(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html").show("#view=topics")
    assert page.locator("[data-chart=topic-words]").is_visible()
    assert page.locator("[data-chart=topic-sides]").count() == 0
