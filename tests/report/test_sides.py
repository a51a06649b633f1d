"""The page shows how groups speak of a topic, if they have versions of topics."""

from hdsp import HDSP, Corpus
from hdsp.report.view import make_view
from tests.estimator.test_content import speeches


def test_words_of_each_group_are_those_of_label_words(show_model):
    model = HDSP(4, content="party", init="nmf", random_state=0, n_jobs=1)
    model.fit(speeches(differ=0.3)[0])
    page = show_model(model, "#view=topics&topic=1")
    figure = page.locator("[data-chart=topic-sides]")
    assert figure.locator("svg").is_visible()
    figure.locator("summary").click()
    figure.locator("tbody tr").first.wait_for()
    rows = [tuple(row.inner_text().split("\t")[:2]) for row in figure.locator("tbody tr").all()]
    table = model.label_words(topic=1)
    table = table[table["lower"] > 1]
    ratio = table.set_index(["label", "word"])["ratio"]
    assert {label for label, _ in rows} == {"left", "right"}
    assert all(ratio[row] > 1 for row in rows)
    assert set(rows) >= set(ratio.groupby("label").idxmax())


def test_a_topic_without_such_words_says_so(show_model):
    corpus, _, frame = speeches(differ=0.0)
    corpus = Corpus(corpus.counts, labels=frame)
    model = HDSP(4, init="nmf", content="party", random_state=0).fit(corpus)
    assert make_view(model)["sides"] == [[], [], [], []]
    page = show_model(model, "#view=topics")
    assert "No word of this topic" in page.locator("[data-chart=topic-sides]").inner_text()
    # Pages without versions have no sides.
    page = show_model(HDSP(4, init="nmf", random_state=0).fit(corpus), "#view=topics")
    assert page.locator("[data-chart=topic-words]").is_visible()
    assert page.locator("[data-chart=topic-sides]").count() == 0
