from pathlib import Path

from hdsp import metrics


def test_every_measure_has_a_row_in_its_page():
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    measures = [name for name in metrics.__all__ if name != "topic_top_words"]
    assert [name for name in measures if f"| [`{name}`](#" not in page] == []
