"""The path of one fit: docs/design.md names its stops, and it enters few files."""

import importlib
import re
import sys
from pathlib import Path

import hdsp

PACKAGE = Path(hdsp.__file__).parent
PAGE = PACKAGE.parents[1] / "docs" / "design.md"


def files_of(fit):
    """The files of the package whose functions a call enters, apart from compiled ones."""
    entered = set()

    def note(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and PACKAGE in path.parents:
            entered.add(path)

    sys.setprofile(note)
    try:
        fit()
    finally:
        sys.setprofile(None)
    return entered


def test_a_fit_enters_few_files():
    tags = [["news"], ["sport"], ["art", "news"], []] * 50
    corpus, _ = hdsp.simulate(tags, n_topics=4, n_words=80, random_state=0)
    # Modules are imported when they are first used.
    model = hdsp.HDSP(max_components=12, random_state=0, n_jobs=1).fit(corpus)
    assert len(files_of(lambda: model.fit(corpus))) <= 40


def test_the_page_names_functions_that_exist():
    rows = re.findall(r"^\| (\d+) \| `(\S+)\.py` \| `(\S+)` \|", PAGE.read_text("utf-8"), re.M)
    assert [int(number) for number, *_ in rows] == list(range(1, len(rows) + 1))
    assert len(rows) <= 25
    for _, file, name in rows:
        value = importlib.import_module("hdsp." + file.replace("/", "."))
        for part in name.split("."):
            value = getattr(value, part)
