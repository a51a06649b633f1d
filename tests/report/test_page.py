"""The page in a real browser, from disk, without a network."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from hdsp import simulate
from hdsp.analysis.topics import word_share
from hdsp.cli import main
from hdsp.report import read_names
from hdsp.report.topics import relevance, word_frequency
from tests.report.corpora import fit, make_corpus, reviews

VIEWS = ("topics", "explorer", "effects", "map", "heat", "documents", "fit")
PHONE = {"width": 390, "height": 844}


def values(page, selector):
    """Numbers as the page has them, not as it shows them."""
    return page.eval_on_selector_all(selector, "all => all.map(e => Number(e.dataset.value))")


def table_rows(page, chart):
    """The rows of a chart's table: numbers as the page has them, and texts."""
    figure = page.locator(f'[data-chart="{chart}"]')
    if figure.locator("details").get_attribute("open") is None:
        figure.locator("summary").click()
    figure.locator("tbody tr").first.wait_for()
    return figure.locator("tbody tr").evaluate_all(
        "rows => rows.map(r => [...r.children].map(c => c.dataset.value ?? c.textContent))"
    )


def expected_table(page):
    """Topic to the expected proportions A and B, of the explorer's table."""
    rows = table_rows(page, "expected-topics")
    return {int(row[0]): (float(row[2]), float(row[3])) for row in rows}


def as_rows(table, n_topics):
    return np.array([[table[k][side] for k in range(n_topics)] for side in (0, 1)])


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens_by_its_address(shown, view):
    page = shown.show(f"#view={view}")
    assert page.locator(f"#view-{view}").is_visible()
    assert page.locator("main > section:visible").count() == 1
    assert page.locator('nav a[aria-current="page"]').get_attribute("data-view") == view
    if view not in ("topics", "documents"):
        assert page.locator(f"#view-{view} figure svg").first.is_visible()


def test_the_first_view_lists_the_models_topics(shown, model):
    page = shown.show()
    assert page.title() == "Reviews"
    rows = page.locator(".topic-table tbody tr")
    assert rows.count() == model.n_topics_
    topics = model.topics()
    shares = values(page, ".topic-table tbody td.size")
    np.testing.assert_allclose(shares, sorted(topics["share"])[::-1], rtol=1e-5)
    for row in (0, model.n_topics_ - 1):
        topic = int(rows.nth(row).get_attribute("data-topic"))
        assert shares[row] == pytest.approx(topics["share"][topic], rel=1e-5)
        found = rows.nth(row).locator("td.extra").nth(0).get_attribute("data-value")
        assert float(found) == pytest.approx(topics["coherence"][topic], rel=1e-5)


def test_stability_is_shown_where_it_is_known(shown, stability):
    page = shown.show()
    for topic, similarity in enumerate(stability["similarity"]):
        cell = page.locator(f'[data-topic="{topic}"] td.extra').nth(1)
        assert float(cell.get_attribute("data-value")) == pytest.approx(similarity, rel=1e-5)


def test_topics_are_searched(shown, model):
    page = shown.show()
    page.fill("#topic-search", "leather")
    found = page.locator(".topic-table tbody tr[data-topic]")
    assert 0 < found.count() < model.n_topics_
    words = model.top_words(5)
    assert "leather" in words[int(found.nth(0).get_attribute("data-topic"))]
    page.fill("#topic-search", "no such word")
    assert found.count() == 0
    assert "No topic has that" in page.inner_text(".topic-table")


def test_topics_are_sorted_either_way(shown):
    page = shown.show()
    heading = page.locator('[data-column="coherence"]')
    heading.click()
    falling = values(page, ".topic-table tbody td.extra:nth-child(3)")
    assert falling == sorted(falling)[::-1]
    assert page.locator('th[aria-sort="descending"]').inner_text().startswith("Coherence")
    heading.click()
    rising = values(page, ".topic-table tbody td.extra:nth-child(3)")
    assert rising == sorted(falling)
    assert page.locator('th[aria-sort="ascending"]').count() == 1


def test_the_slider_orders_words_by_relevance(shown, model):
    page = shown.show()
    share = word_share(model._model)
    overall = word_frequency(model, share)
    shown_words = []
    for weight in (1.0, 0.6, 0.0):
        page.eval_on_selector(
            "#relevance",
            "(e, v) => { e.value = v; e.dispatchEvent(new Event('input', {bubbles: true})) }",
            weight,
        )
        text = page.inner_text('[data-topic="0"] td.words')
        best = np.argsort(-relevance(share[0], overall, weight), kind="stable")[:8]
        assert text.split() == [model.words_[i] for i in best]
        shown_words.append(text)
    assert shown_words[0].split() == model.top_words(8)[0]
    assert len(set(shown_words)) > 1


def test_chosen_labels_give_the_models_expected_topics(shown, model):
    page = shown.show("#view=explorer")
    page.get_by_label("department of A", exact=True).select_option("shoes")
    page.get_by_label("department of B", exact=True).select_option("bags")
    for tag in ("sale", "gift set"):
        page.get_by_label("labels of B", exact=True).fill(tag)
        page.get_by_label("labels of B", exact=True).press("Enter")
    page.get_by_label("rating of A is known").check()
    page.get_by_label("rating of A", exact=True).fill("2.5")
    frame = pd.DataFrame(
        {
            "department": ["shoes", "bags"],
            "labels": [[], ["sale", "gift set"]],
            "rating": [2.5, np.nan],
        }
    )
    found = as_rows(expected_table(page), len(model.components_))
    np.testing.assert_allclose(found, model.expected_topics(frame), rtol=0, atol=1e-6)


def test_a_number_that_is_moved_changes_the_topics_at_once(shown, model):
    page = shown.show("#view=explorer")
    page.get_by_label("Clear A").click()
    before = as_rows(expected_table(page), len(model.components_))
    page.get_by_label("rating of A is known").check()
    slider = page.get_by_label("rating of A, as a slider")
    slider.focus()
    slider.press("End")
    after = as_rows(expected_table(page), len(model.components_))
    frame = pd.DataFrame({"rating": [5.0, np.nan]})
    np.testing.assert_allclose(after[0], model.expected_topics(frame)[0], rtol=0, atol=1e-6)
    np.testing.assert_allclose(before[0], model.expected_topics(frame)[1], rtol=0, atol=1e-6)
    assert np.abs(after[0] - before[0]).max() > 0.01
    np.testing.assert_array_equal(after[1], before[1])
    slider.press("Home")
    frame = pd.DataFrame({"rating": [1.0]})
    found = as_rows(expected_table(page), len(model.components_))
    np.testing.assert_allclose(found[0], model.expected_topics(frame)[0], rtol=0, atol=1e-6)


def test_the_bars_are_as_long_as_the_expected_proportions(shown, model):
    page = shown.show("#view=explorer")
    bars = page.eval_on_selector_all(
        '[data-chart="expected-topics"] svg g[aria-label="bar"] rect, '
        '[data-chart="expected-topics"] svg g[aria-label="bar"] path',
        "all => all.map(e => e.getBBox().width)",
    )
    numbers = [n for pair in expected_table(page).values() for n in pair]
    shown_bars = sorted(numbers)[::-1][: len(bars)]
    np.testing.assert_allclose(
        np.sort(bars)[::-1] / max(bars), np.array(shown_bars) / max(shown_bars), atol=0.01
    )


def test_two_settings_swap_and_copy(shown, model):
    page = shown.show("#view=explorer")
    first = as_rows(expected_table(page), len(model.components_))
    page.get_by_text("Swap A and B").click()
    np.testing.assert_array_equal(as_rows(expected_table(page), len(first[0])), first[::-1])
    page.get_by_text("Copy A to B").click()
    both = as_rows(expected_table(page), len(first[0]))
    np.testing.assert_array_equal(both[0], both[1])


def test_the_address_shows_the_same_to_another_reader(shown, model):
    page = shown.show("#view=explorer")
    page.get_by_label("department of A", exact=True).select_option("hats")
    page.get_by_label("rating of B is known").check()
    page.get_by_label("rating of B", exact=True).fill("4.25")
    found = expected_table(page)
    fragment = page.evaluate("location.hash")
    page = shown.show(fragment)
    assert expected_table(page) == found
    assert page.get_by_label("rating of B", exact=True).input_value() == "4.25"
    page = shown.show("#view=nothing&topic=99999&label=-4&a=77777_0:x_zz&document=1e9")
    assert page.locator("#view-topics").is_visible()


def test_back_returns_to_the_view_before(shown):
    page = shown.show()
    page.click('nav a[data-view="map"]')
    page.click('nav a[data-view="fit"]')
    page.go_back()
    assert page.locator("#view-map").is_visible()
    page.go_back()
    assert page.locator("#view-topics").is_visible()


def test_what_few_ask_for_is_behind_details(shown):
    page = shown.show("#view=fit")
    room = page.locator("#view-fit")
    assert room.locator('[data-chart="bound"]').is_visible()
    hidden = [room.get_by_text("β for new documents"), room.get_by_text("topic_prior")]
    hidden += [room.locator(f'[data-chart="bound-{name}"]') for name in ("words", "topics")]
    assert not any(one.is_visible() for one in hidden)
    room.locator("details.more > summary").click()
    assert all(one.is_visible() for one in hidden)
    room.locator('[data-chart="bound-words"] svg').wait_for()


def test_the_page_says_what_its_words_mean(open_page, shown, tmp_path):
    page = shown.show("#view=explorer")
    assert page.locator("#view-explorer").get_by_text("An unknown label is left out").count()
    page = shown.show("#view=effects&side=label&label=7")
    captions = page.locator("#view-effects").inner_text()
    assert "in percentage points" in captions
    assert "from a softmax regression, with 90% bands" in captions
    page = shown.show("#view=topics&topic=0")
    assert all(
        text.endswith(" points") for text in page.locator("aside .chip .value").all_inner_texts()
    )
    assert not page.get_by_text("remains of web pages").count()
    texts, frame = reviews(60)
    corpus = make_corpus([f"{text} {'linktocommentspostcount' * (n % 3 == 0)}"
                          for n, text in enumerate(texts)], frame)  # fmt: skip
    fit(corpus, 2, max_iter=3).report(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html").show("#view=topics")
    assert page.get_by_text("remains of web pages (linktocommentspostcount)").is_visible()


def test_the_search_is_shown(open_page, searched, tmp_path):
    searched.report(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html").show("#view=fit")
    own = [row for row in searched.search_ if row["init"] == searched.init_]
    rows = sorted(own, key=lambda row: row["topics"])
    found = [
        [float(value) for value in row if value != searched.init_]
        for row in table_rows(page, "search")
    ]
    wanted = [[value for name, value in row.items() if name != "init"] for row in rows]
    np.testing.assert_allclose(found, wanted)
    figure = page.locator('[data-chart="search"]')
    assert figure.locator("svg circle").count() == len(rows)
    text = figure.locator("svg[role=img]").get_attribute("aria-label")
    assert f"the model has {len(searched.components_)}." in text
    caption = figure.locator("p.caption").first.inner_text()
    assert searched.number_summary_ in caption
    assert text.startswith("Perplexity of held-out words")
    low, high = searched.n_topics_range_
    assert f"{low} to {high} topics are about as good" in text
    left, width = (
        float(figure.locator("svg [aria-label=rect] rect").get_attribute(name))
        for name in ("x", "width")
    )
    line = figure.locator("svg [aria-label=rule] line").last
    assert left <= float(line.get_attribute("x1")) <= left + width


def test_topics_are_named_saved_and_read_back(shown, model, tmp_path, capsys):
    page = shown.show()
    page.click('[data-topic="2"] .plain')
    page.fill("#topic-name", "Footwear <b>")
    page.press("#topic-name", "Enter")
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
    model.save(tmp_path / "model.hdsp")
    command = ["topics", str(tmp_path / "model.hdsp"), "--names", str(path)]
    assert main([*command, "--json"]) == 0
    table = json.loads(capsys.readouterr().out)["topics"]
    assert [row["name"] for row in table] == ["", "", "Footwear <b>", "", "", "", "", ""]

    # Names are kept over a visit, given up for those of a file, and part of a new report.
    page = shown.show()
    assert "Footwear <b>" in page.inner_text('[data-topic="2"]')
    page.click('[data-topic="2"] .plain')
    page.fill("#topic-name", "")
    page.press("#topic-name", "Enter")
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
    page.click('[data-topic="2"] .plain')
    page.fill("#topic-name", "Shoes")
    page.press("#topic-name", "Enter")
    assert "Shoes" in shown.show().inner_text('[data-topic="2"]')
    # A report with other names does not show those that were kept.
    model.report(again)
    assert "Shoes" not in shown.show().inner_text('[data-topic="2"]')


def test_views_are_linked(shown):
    page = shown.show("#view=topics")
    page.click('[data-topic="4"] .plain')
    page.locator("aside").get_by_role("button", name="Effects").click()
    assert page.locator("#view-effects").is_visible()
    assert page.get_by_label("Topic", exact=True).input_value() == "4"
    page.click('nav a[data-view="map"]')
    assert page.locator("#view-map").get_by_label("Topic", exact=True).input_value() == "4"
    page.get_by_text("Show in the list").click()
    assert page.locator("tr.chosen").get_attribute("data-topic") == "4"
    page.locator("aside .chip").first.click()
    assert page.locator("#view-effects h2:visible").last.inner_text().startswith("Effects of ")
    page.click('nav a[data-view="topics"]')
    page.locator("aside").get_by_text("Documents").click()
    assert page.get_by_label("Typical of topic").input_value() == "4"


def test_a_picked_bar_leads_to_its_topic(shown):
    page = shown.show("#view=explorer")
    largest = max(expected_table(page).items(), key=lambda item: max(item[1]))[0]
    figure = page.locator('[data-chart="expected-topics"] svg')
    box = figure.bounding_box()
    figure.hover(position={"x": box["width"] / 3, "y": 24})
    figure.click(position={"x": box["width"] / 3, "y": 24})
    assert page.locator("tr.chosen").get_attribute("data-topic") == str(largest)


def test_effects_are_those_of_the_model(shown, model):
    effects = model.label_effects()
    effects = effects[effects["label"] == "shoes"]
    label = model.label_schema_.names.index("shoes")
    page = shown.show(f"#view=effects&side=label&label={label}")
    rows = table_rows(page, "effects")
    assert len(rows) == model.n_topics_
    names = ["effect", "lower", "upper"]
    largest = np.abs(effects[names].to_numpy()).max()
    for row in rows:
        own = effects[effects["topic"] == int(row[0])].iloc[0]
        for name, value in zip(names, row[2:], strict=True):
            assert float(value) == pytest.approx(own[name], abs=2 * largest / 30_000)
    assert [float(row[2]) for row in rows] == sorted((float(r[2]) for r in rows), reverse=True)
    page.get_by_role("button", name="On a topic").click()
    assert "Label effects on topic" in page.inner_text("#view-effects h2:visible")


def test_curves_come_before_the_effects_of_a_numeric_label(shown, model):
    label = model.label_schema_.names.index("rating")
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
    page = shown.show("#view=effects&side=label&label=0")
    assert not page.locator('[data-chart="curve"]').is_visible()


def test_the_list_shows_the_strongest_effects_with_their_sizes(shown, model):
    page = shown.show()
    table = model.label_effects()
    sure = table[(table["lower"] > 0) | (table["upper"] < 0)]
    for topic in range(model.n_topics_):
        own = sure[sure["topic"] == topic]
        own = own.iloc[np.argsort(-own["effect"].abs(), kind="stable")[:2]]
        sizes = (100 * own["effect"]).map("{:+.1f}".format).str.replace("-", "−")
        wanted = [f"{label} {size}" for label, size in zip(own["label"], sizes, strict=True)]
        lines = page.locator(f'[data-topic="{topic}"] td.labels .effect-line').all()
        assert [" ".join(line.inner_text().split("\n")) for line in lines] == wanted
    assert (sure["effect"] < 0).any()


def test_the_heading_shows_the_share_of_topics_that_return(shown, model):
    share = model.n_returning_ / len(model.components_)
    page = shown.show()
    wanted = f"8 topics ({share:.0%} return in the other half of the documents)"
    assert page.inner_text("#facts").startswith(wanted)


def test_labels_are_on_the_map_once_they_are_shown(shown, model):
    page = shown.show("#view=map")
    assert {row[0] for row in table_rows(page, "map")} == {"topic"}
    page.get_by_label("show labels").check()
    rows = table_rows(page, "map")
    assert {row[2] for row in rows if row[0] == "label"} == set(model.label_names_)


def test_the_heat_map_has_topics_as_rows(shown, model):
    rows = table_rows(shown.show("#view=heat"), "heat-map")
    assert sorted(int(row[0]) for row in rows) == list(range(8))
    names = shown.page.locator('[data-chart="heat-map"] thead th').all_inner_texts()[2:]
    table = model.label_effects().set_index(["label", "topic"])["effect"]
    for row in rows:
        wanted = [table[name, int(row[0])] for name in names]
        np.testing.assert_allclose([float(value) for value in row[2:]], wanted, atol=1e-4)


def test_two_labels_have_no_heat_map(open_page, tmp_path):
    corpus, _ = simulate([["a"], ["b"], ["a", "b"], []] * 15, n_topics=3, random_state=0)
    fit(corpus, 3, init="nmf").report(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html").show()
    assert page.locator("nav a").all_inner_texts() == ["Topics", "What if", "Effects", "Map", "Fit"]


def test_documents_are_searched_and_shown_word_by_word(shown, texts, model, corpus):
    page = shown.show("#view=documents")
    assert page.locator(".doc-list [data-document]").count() == 100
    page.fill("#document-search", "137.")
    assert page.locator(".doc-list [data-document]").count() == 1
    assert page.inner_text(".doc-text") == texts[137]
    assert page.inner_text("mark") == "137."
    share = word_share(model._model)
    proportions = model.transform(corpus[[137]])[0]
    for word in page.locator(".doc-text .w").all()[:6]:
        column = model.words_.index(word.inner_text().lower())
        topic = int((proportions * share[:, column]).argmax())
        assert word.get_attribute("data-topic") == str(topic)
    page.fill("#document-search", "nothing like it")
    assert "No document" in page.inner_text("article")


def test_typical_documents_of_a_topic_come_first(shown, model, corpus):
    page = shown.show("#view=documents")
    page.get_by_label("Typical of topic").select_option("0")
    best = int(model.transform(corpus)[:, 0].argmax())
    assert page.locator(".doc-name").first.inner_text() == f"review {best}"
    page.get_by_label("Typical of topic").select_option("")
    column = model.label_schema_.names.index("shoes")
    carried = model.label_schema_.encode(corpus.labels).toarray()[:, column] == 1
    page.get_by_label("Typical of label").select_option(f"shoes ({carried.sum()})")
    rows = page.locator(".doc-list [data-document]")
    assert rows.count() == carried.sum()
    assert all(carried[int(row.get_attribute("data-document"))] for row in rows.all())
    proportions = np.sqrt(model.transform(corpus))
    mean = model.proportions_[carried].astype(float).mean(axis=0)
    near = proportions @ np.sqrt(np.maximum(mean, 0.0))
    best = int(np.where(carried, near, -1.0).argmax())
    assert int(rows.first.get_attribute("data-document")) == best


def test_observed_proportions_stand_beside_expected_ones(shown, model, corpus):
    page = shown.show("#view=documents")
    page.get_by_label("Observed in documents with").select_option("shoes")
    rows = table_rows(page, "observed-expected")
    column = model.label_schema_.names.index("shoes")
    own = model.label_schema_.encode(corpus.labels).toarray()[:, column] == 1
    observed = model.proportions_[own].astype(float).mean(axis=0)
    expected = model.expected_topics(corpus.labels)[own].mean(axis=0)
    for row in rows:
        assert float(row[2]) == pytest.approx(observed[int(row[0])], abs=1e-4)
        assert float(row[4]) == pytest.approx(expected[int(row[0])], abs=1e-4)


@pytest.mark.parametrize("view", VIEWS)
def test_every_chart_is_saved_as_csv_and_svg(shown, view, tmp_path):
    page = shown.show(f"#view={view}&label=7")
    buttons = page.locator(f"#view-{view} [data-save]:visible")
    kinds = set()
    assert buttons.count() > 0
    for number in range(buttons.count()):
        if number % 8 == 7:
            # The browser allows one page ten files in a short time.
            page = shown.show(f"#view={view}&label=7")
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
    assert "csv" in kinds
    assert "svg" in kinds
