"""Text is data: whatever a corpus holds, the page shows it and asks for nothing."""

from tests.report.conftest import VIEWS


def test_a_hostile_corpus_does_nothing_but_show(open_page, hostile_file):
    opened = open_page(hostile_file)
    page = opened.show()
    assert page.title() == "</title><script>x"
    for view in VIEWS:
        page.click(f'nav a[data-view="{view}"]')
        for summary in page.locator("summary:visible").all():
            summary.click()
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("Object.keys(Object.prototype)") == []
    assert page.locator("main script, main img, main b, main svg script").count() == 0
    assert "</td><script>window.hacked = 5" in page.inner_text("#view-fit")
    page.click('nav a[data-view="documents"]')
    page.fill("#document-search", "mirror")
    assert "<script>window.hacked = 1</script>" in page.inner_text(".doc-text")
    assert "The text goes on" in page.inner_text("article")
    page.fill("#document-search", "(((")
    page.fill("#document-search", "</script>")
    assert "<script>window.hacked = 1</script>" in page.inner_text("mark >> nth=0") or (
        page.locator("mark").count() > 0
    )
    page.fill("#document-search", "surrogate")
    assert "lone surrogate" in page.inner_text(".doc-text")
    page.click('nav a[data-view="explorer"]')
    adding = page.get_by_label("tags of A", exact=True)
    adding.fill("שלום עולם")
    adding.press("Enter")
    assert page.locator(".setting-a .chip").count() == 2
    assert page.evaluate("window.hacked") is None


def test_a_hostile_table_does_not_run_in_a_spreadsheet(open_page, hostile_file, tmp_path):
    page = open_page(hostile_file).show("#view=effects&side=topic&topic=0")
    with page.expect_download() as saved:
        page.locator('[data-chart="effects"] [data-save="csv"]').click()
    saved.value.save_as(tmp_path / "effects.csv")
    text = (tmp_path / "effects.csv").read_text(encoding="utf-8")
    assert "'=HYPERLINK(1)" in text
    assert "\n=HYPERLINK" not in text


def test_the_policy_forbids_every_request(open_page, page_file):
    opened = open_page(page_file)
    page = opened.show()
    refused = page.evaluate(
        """async () => {
            const refused = [];
            document.addEventListener(
                'securitypolicyviolation', event => refused.push(event.effectiveDirective)
            );
            await fetch('https://example.org/').catch(() => 0);
            const image = new Image();
            image.src = 'https://example.org/a.png';
            const script = document.createElement('script');
            script.textContent = 'window.ran = 1';
            document.body.append(image, script);
            await new Promise(done => setTimeout(done, 300));
            return [refused.sort(), window.ran ?? null];
        }"""
    )
    assert refused == [["connect-src", "img-src", "script-src-elem"], None]
    # Those were ours.
    opened.faults.clear()
