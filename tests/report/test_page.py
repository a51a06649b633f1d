"""The page in a real browser, from disk, without a network."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from hdsp import simulate
from hdsp.analysis.topics import word_share
from hdsp.report import read_names
from hdsp.report.documents import document_view
from hdsp.report.topics import relevance, word_frequency
from tests.report.conftest import VIEWS, choose, expected_topics, numbers, table_rows, values
from tests.report.corpora import fit, make_corpus, reviews


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens_by_its_address_and_saves_its_charts(shown, view, tmp_path):
    address = f"#view={view}&label=7"
    page = shown.show(address)
    assert page.locator("main > section:visible").get_attribute("id") == f"view-{view}"
    assert page.locator('nav a[aria-current="page"]').get_attribute("data-view") == view
    if view not in ("topics", "documents"):
        assert page.locator(f"#view-{view} figure svg").first.is_visible()
    buttons = page.locator(f"#view-{view} [data-save]:visible")
    kinds = set()
    for number in range(buttons.count()):
        if number % 8 == 7:
            # The browser allows one page ten files in a short time.
            page = shown.show(address)
        button = page.locator(f"#view-{view} [data-save]:visible").nth(number)
        with page.expect_download() as saved:
            button.click()
        kind = button.get_attribute("data-save")
        kinds.add(kind)
        path = tmp_path / saved.value.suggested_filename
        saved.value.save_as(path)
        assert path.suffix == f".{kind}"
        if kind == "csv":
            table = pd.read_csv(path)
            assert len(table) > 0
            assert len(table.columns) > 1
        else:
            text = path.read_text(encoding="utf-8")
            assert "var(" not in text
            assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert kinds == {"csv", "svg"}


def test_the_first_view_lists_the_models_topics(shown, model, stability):
    page = shown.show()
    assert page.title() == "Reviews"
    share = model.n_returning_ / len(model.components_)
    wanted = f"8 topics ({share:.0%} return in the other half of the documents)"
    assert page.inner_text("#facts").startswith(wanted)
    topics, effects = model.topics(), model.label_effects()
    sure = effects[(effects["lower"] > 0) | (effects["upper"] < 0)]
    assert (sure["effect"] < 0).any()
    assert page.locator(".topic-table tbody tr").count() == model.n_topics_
    shares = values(page, ".topic-table tbody td.size")
    np.testing.assert_allclose(shares, sorted(topics["share"])[::-1], rtol=1e-5)
    for topic in range(model.n_topics_):
        row = page.locator(f'[data-topic="{topic}"]')
        cells = [row.locator("td.number").nth(n).get_attribute("data-value") for n in range(3)]
        wanted = [topics["share"][topic], topics["coherence"][topic]]
        np.testing.assert_allclose(
            np.array(cells, dtype=float), [*wanted, stability["similarity"][topic]], rtol=1e-5
        )
        own = sure[sure["topic"] == topic]
        own = own.iloc[np.argsort(-own["effect"].abs(), kind="stable")[:2]]
        sizes = (100 * own["effect"]).map("{:+.1f}".format).str.replace("-", "−")
        lines = row.locator("td.labels .effect-line").all()
        assert [line.inner_text().split("\n") for line in lines] == [
            [label, size] for label, size in zip(own["label"], sizes, strict=True)
        ]


def test_topics_are_searched_and_sorted_either_way(shown, model):
    page = shown.show()
    heading = page.locator('[data-column="coherence"]')
    orders = []
    for direction in ("descending", "ascending"):
        heading.click()
        orders.append(values(page, ".topic-table tbody td.extra:nth-child(3)"))
        assert page.locator(f'th[aria-sort="{direction}"]').inner_text().startswith("Coherence")
    assert orders == [sorted(orders[0])[::-1], sorted(orders[0])]
    page.fill("#topic-search", "leather")
    found = page.locator(".topic-table tbody tr[data-topic]")
    assert 0 < found.count() < model.n_topics_
    assert "leather" in model.top_words(5)[int(found.nth(0).get_attribute("data-topic"))]
    page.fill("#topic-search", "no such word")
    assert found.count() == 0
    assert "No topic has that" in page.inner_text(".topic-table")


def test_the_slider_orders_words_by_relevance(shown, model):
    page = shown.show()
    share = word_share(model._model)
    overall = word_frequency(model._model, share)
    shown_words = []
    for weight in (1.0, 0.6, 0.0):
        page.eval_on_selector(
            "#relevance",
            "(e, v) => { e.value = v; e.dispatchEvent(new Event('input', {bubbles: true})) }",
            weight,
        )
        best = np.argsort(-relevance(share[0], overall, weight), kind="stable")[:8]
        shown_words.append(page.inner_text('[data-topic="0"] td.words').split())
        assert shown_words[-1] == [model.words_[i] for i in best]
    assert shown_words[0] == model.top_words(8)[0]
    assert len(set(map(tuple, shown_words))) > 1


def test_chosen_labels_give_the_models_expected_topics(shown, model):
    page = shown.show("#view=explorer")
    choose(page, "A", "shoes", rating=2.5)
    choose(page, "B", "bags", tags=["sale", "gift set"])
    frame = {"department": ["shoes", "bags"], "labels": [[], ["sale", "gift set"]]}
    wanted = model.expected_topics(pd.DataFrame(frame | {"rating": [2.5, np.nan]}))
    found = expected_topics(page)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)
    bars = page.eval_on_selector_all(
        '[data-chart="expected-topics"] svg g[aria-label="bar"] :is(rect, path)',
        "all => all.map(e => e.getBBox().width)",
    )
    lengths = np.sort(np.ravel(found))[::-1][: len(bars)]
    np.testing.assert_allclose(np.sort(bars)[::-1] / max(bars), lengths / lengths[0], atol=0.01)

    # Another reader sees the same at the address.
    page = shown.show(page.evaluate("location.hash"))
    assert expected_topics(page) == found
    assert page.get_by_label("rating of A", exact=True).input_value() == "2.5"
    page.get_by_text("Swap A and B").click()
    assert expected_topics(page) == found[::-1]
    page.get_by_text("Copy A to B").click()
    assert expected_topics(page) == [found[1]] * 2
    page = shown.show("#view=nothing&topic=99999&label=-4&a=77777_0:x_zz&document=1e9")
    assert page.locator("#view-topics").is_visible()


def test_a_number_is_known_once_it_is_moved(shown, model):
    page = shown.show("#view=explorer")
    page.get_by_label("Clear A").click()
    known, typed = (
        page.get_by_label(name, exact=True) for name in ("rating of A is known", "rating of A")
    )
    slider = page.get_by_label("rating of A, as a slider")
    wanted = model.expected_topics(pd.DataFrame({"rating": [1.0, 5.0, np.nan]}))
    before = expected_topics(page)[1]
    for key, value, topics in (("Home", "1", wanted[0]), ("End", "5", wanted[1])):
        assert known.is_checked() == (key == "End")
        slider.press(key)
        assert typed.input_value() == value
        found = expected_topics(page)
        np.testing.assert_allclose(found[0], topics, rtol=0, atol=1e-6)
        assert found[1] == before
    typed.fill("")
    assert not known.is_checked()
    np.testing.assert_allclose(expected_topics(page)[0], wanted[2], rtol=0, atol=1e-6)


def test_a_picked_bar_leads_to_its_topic(shown):
    page = shown.show("#view=explorer")
    largest = int(np.argmax(np.max(expected_topics(page), axis=0)))
    figure = page.locator('[data-chart="expected-topics"] svg')
    place = {"x": figure.bounding_box()["width"] / 3, "y": 24}
    figure.hover(position=place)
    figure.click(position=place)
    assert page.locator("tr.chosen").get_attribute("data-topic") == str(largest)


def test_views_are_linked_and_back_returns(shown):
    page = shown.show("#view=topics")
    page.click('[data-topic="4"] .plain')
    page.locator("aside").get_by_role("button", name="Effects").click()
    assert page.get_by_label("Topic", exact=True).input_value() == "4"
    page.click('nav a[data-view="map"]')
    assert page.locator("#view-map").get_by_label("Topic", exact=True).input_value() == "4"
    page.click('nav a[data-view="fit"]')
    page.go_back()
    assert page.locator("#view-map").is_visible()
    page.go_back()
    assert page.locator("#view-effects").is_visible()
    page.go_forward()
    page.get_by_text("Show in the list").click()
    assert page.locator("tr.chosen").get_attribute("data-topic") == "4"
    page.locator("aside .chip").first.click()
    assert page.locator("#view-effects h2:visible").last.inner_text().startswith("Effects of ")
    page.click('nav a[data-view="topics"]')
    page.locator("aside").get_by_text("Documents").click()
    assert page.get_by_label("Typical of topic").input_value() == "4"


def test_the_search_and_correlated_topics_are_shown(show_model, searched):
    page = show_model(searched, "#view=fit")
    rows = sorted(searched.search_, key=lambda row: row["topics"])
    rows = [row for row in rows if row["init"] == searched.init_]
    for row, wanted in zip(table_rows(page, "search"), rows, strict=True):
        cells = dict(zip(wanted, row, strict=True))
        numbers = {name: float(cells[name]) for name in wanted if name != "init"}
        assert numbers == pytest.approx({name: wanted[name] for name in numbers})
    figure = page.locator('[data-chart="search"]')
    assert figure.locator("svg circle").count() == len(rows)
    text = figure.locator("svg[role=img]").get_attribute("aria-label")
    low, high = searched.n_topics_range_
    assert f"the model has {len(searched.components_)}." in text
    assert f"{low} to {high} topics are about as good" in text
    assert searched.number_summary_ in figure.locator("p.caption").first.inner_text()
    band = figure.locator("svg [aria-label=rect] rect")
    left, width = (float(band.get_attribute(name)) for name in ("x", "width"))
    line = figure.locator("svg [aria-label=rule] line").last
    assert left <= float(line.get_attribute("x1")) <= left + width
    table = searched.topic_correlations()
    table = table[(table["lower"] > 0) | (table["upper"] < 0)].sort_values("correlation")[::-1]
    assert len(table)
    page.click('nav a[data-view="map"]')
    rows = [
        row.locator("th, td").all_inner_texts()
        for row in page.locator("#view-map .card > .scroll tr").all()[1:]
    ]
    assert [[int(text.split(" ")[0]) for text in row[:2]] for row in rows] == (
        table[["topic", "other"]].to_numpy().tolist()
    )
    np.testing.assert_allclose([float(row[2]) for row in rows], table["correlation"], rtol=1e-3)


def call_topic_2(page, name):
    page.click('[data-topic="2"] .plain')
    page.fill("#topic-name", name)
    page.press("#topic-name", "Enter")


def test_topics_are_named_saved_and_read_back(shown, model, tmp_path):
    page = shown.show()
    call_topic_2(page, "Footwear <b>")
    assert "Footwear <b>" in page.inner_text('[data-topic="2"]')
    page.click('nav a[data-view="explorer"]')
    names = {int(row[0]): row[1] for row in table_rows(page, "expected-topics")}
    assert names[2] == "Footwear <b>"

    page.click('nav a[data-view="topics"]')
    with page.expect_download() as saved:
        page.click("#names-save")
    path = tmp_path / "topic-names.json"
    saved.value.save_as(path)
    assert read_names(path, model) == {2: "Footwear <b>"}
    # Names are kept over a visit, given up for those of a file, and part of a new report.
    page = shown.show()
    assert "Footwear <b>" in page.inner_text('[data-topic="2"]')
    call_topic_2(page, "")
    assert "Footwear" not in page.inner_text('[data-topic="2"]')
    page.set_input_files("#names-load", path)
    page.locator('[data-topic="2"]', has_text="Footwear <b>").wait_for()
    content = json.loads(path.read_text())
    for change, message in (
        ({"format": "other"}, "no file"),
        ({"names": {"99": "x"}}, "names topic 99"),
        ({"model": "00000000"}, "another"),
    ):
        (tmp_path / "changed.json").write_text(json.dumps(content | change))
        page.set_input_files("#names-load", tmp_path / "changed.json")
        page.locator("#status", has_text=message).wait_for(state="attached")
    again = tmp_path / "named.html"
    model.report(again, names=path)
    shown.path = again
    page = shown.show()
    assert "Footwear <b>" in page.inner_text('[data-topic="2"]')
    call_topic_2(page, "Shoes")
    assert "Shoes" in shown.show().inner_text('[data-topic="2"]')
    # A report with other names does not show those that were kept.
    model.report(again)
    assert "Shoes" not in shown.show().inner_text('[data-topic="2"]')


def test_curves_come_before_the_effects_of_a_numeric_label(shown, model):
    label = model.label_names_.index("rating")
    page = shown.show(f"#view=effects&side=label&label={label}")
    charts = page.locator("#view-effects figure:visible")
    assert charts.evaluate_all("all => all.map(e => e.dataset.chart)") == ["curve", "effects"]
    assert page.locator('[data-chart="curve"] svg').is_visible()
    table = model.estimate_effects().curve("rating", n=9).round({"value": 6})
    table = table.set_index(["value", "topic"])
    changes = np.ptp(table["expected"].to_numpy().reshape(9, -1), axis=0)
    rows = table_rows(page, "curve")
    most = np.argsort(-changes, kind="stable")[:8]
    assert list(dict.fromkeys(int(row[1]) for row in rows)) == most.tolist()
    for row in rows:
        wanted = table.loc[(float(row[0]), int(row[1])), ["expected", "lower", "upper"]]
        np.testing.assert_allclose([float(value) for value in row[3:]], wanted, atol=2e-4)


def test_the_map_shows_labels_and_the_heat_map_effects(shown, model):
    page = shown.show("#view=map")
    assert {row[0] for row in table_rows(page, "map")} == {"topic"}
    page.get_by_label("show labels").check()
    rows = table_rows(page, "map")
    assert {row[2] for row in rows if row[0] == "label"} == set(model.label_names_)
    circles = """() => [...document.querySelectorAll('[data-chart="map"] g[aria-label=dot] circle')]
        .map(circle => circle.getAttribute("cx"))"""
    before = page.evaluate(circles)
    page.get_by_label("Zoom in").click()
    assert page.evaluate(circles) != before
    page.get_by_label("Zoom out").click()
    assert page.evaluate(circles) == before
    found = numbers(shown.show("#view=heat"), "heat-map")
    names = page.locator('[data-chart="heat-map"] thead th').all_inner_texts()[2:]
    wanted = model.label_effects().pivot(index="topic", columns="label", values="effect")[names]
    np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_remains_of_web_pages_are_told(show_model):
    texts, frame = reviews(60)
    junk = [f"{text} {'linktocommentspostcount' * (n % 3 == 0)}" for n, text in enumerate(texts)]
    page = show_model(fit(make_corpus(junk, frame), 2, max_iter=3), "#view=topics")
    assert page.get_by_text("remains of web pages (linktocommentspostcount)").is_visible()


def test_two_labels_have_no_heat_map(show_model):
    corpus, _ = simulate([["a"], ["b"], ["a", "b"], []] * 15, n_topics=3, random_state=0)
    page = show_model(fit(corpus, 3, init="nmf"))
    assert page.locator("nav a").all_inner_texts() == ["Topics", "What if", "Effects", "Map", "Fit"]


def test_documents_are_searched_and_shown_word_by_word(shown, texts, model, corpus):
    page = shown.show("#view=documents")
    listed = page.locator(".doc-list [data-document]")
    assert listed.count() == 100
    page.fill("#document-search", "137.")
    assert listed.count() == 1
    assert page.inner_text(".doc-text") == texts[137]
    assert page.inner_text("mark") == "137."
    word = page.locator(".doc-text .w").first
    view = document_view(model, corpus, texts, len(texts))["documents"][137]
    assert word.get_attribute("data-topic") == str(view["of"][0])
    page.fill("#document-search", "nothing like it")
    assert "No document" in page.inner_text("article")


def test_typical_documents_come_first(shown, model, corpus):
    page = shown.show("#view=documents")
    page.get_by_label("Typical of topic").select_option("0")
    best = int(model.transform(corpus)[:, 0].argmax())
    assert page.locator(".doc-name").first.inner_text() == f"review {best}"
    page.get_by_label("Typical of topic").select_option("")
    column = model.label_names_.index("shoes")
    carried = model.label_schema_.encode(corpus.labels).toarray()[:, column] == 1
    page.get_by_label("Typical of label").select_option(f"shoes ({carried.sum()})")
    rows = page.locator(".doc-list [data-document]")
    assert rows.count() == carried.sum()
    assert all(carried[int(row.get_attribute("data-document"))] for row in rows.all())
    mean = model.proportions_[carried].astype(float).mean(axis=0)
    near = np.sqrt(model.transform(corpus)) @ np.sqrt(np.maximum(mean, 0.0))
    best = int(np.where(carried, near, -1.0).argmax())
    assert int(rows.first.get_attribute("data-document")) == best
    assert page.inner_text('[data-chart="observed-expected"] h2').endswith(": shoes")


def test_observed_proportions_are_compared_with_expected_ones(shown, model, corpus):
    page = shown.show("#view=documents")
    title = page.inner_text('[data-chart="observed-expected"] h2')
    design = model.label_schema_.encode(corpus.labels).toarray()
    labels = [j for j, name in enumerate(model.label_names_) if name != "rating"]
    carried = (design != 0).sum(axis=0)
    assert title.endswith(model.label_names_[max(labels, key=lambda j: carried[j])])
    page.get_by_label("Observed in documents with").select_option("shoes")
    own = design[:, model.label_names_.index("shoes")] == 1
    observed = model.proportions_[own].astype(float).mean(axis=0)
    expected = model.expected_topics(corpus.labels)[own].mean(axis=0)
    error = model.proportions_[own].std(axis=0) / np.sqrt(own.sum())
    wanted = np.column_stack([observed, error, expected])
    np.testing.assert_allclose(numbers(page, "observed-expected"), wanted, atol=1e-4)
