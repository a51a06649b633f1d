"""Names in data cannot steer the terminal that a command prints to."""

import sys

import pytest

from hdsp.cli import main
from tests.cli.test_commands import reviews

WICKED = "sho\x1b[2Jes\r\n\x9b31m\u202e"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A table whose labels, and whose file's name, hold escapes; and its model."""
    folder = tmp_path_factory.mktemp("terminal")
    frame = reviews(60)
    frame["department"] = frame["department"].replace("shoes", WICKED)
    frame["labels"] = [
        [*tags, f"tag {WICKED}"] if n % 3 else tags for n, tags in enumerate(frame["labels"])
    ]
    frame["rating\x1b[2J"] = frame["rating"]
    table, model = folder / "reviews \x1b[2J.parquet", folder / "model \x1b[2J.hdsp"
    frame.to_parquet(table)
    return str(table), str(model)


def fit(table, model):
    labels = ["--tags", "labels", "--categories", "department", "--numeric", "rating\x1b[2J"]
    options = ["--n-components", "4", "--max-iter", "3", "-o", model]
    return main(["fit", table, *labels, *options])


def commands(table, model):
    yield ["topics", model]
    yield ["stability", model, table, "--n-fits", "1"]
    yield ["effects", model]
    yield ["effects", model, "--label", "department", "--contrast", WICKED, "bags"]
    yield ["effects", model, "--label", f"nothing {WICKED}"]
    yield ["transform", model, table]
    yield ["predict", model, table, "--target", "department"]
    yield ["predict", model, table, "--target", "labels"]
    yield ["evaluate", model, table]
    yield ["report", model, table, "-o", f"{model}.html"]


def test_no_output_holds_what_steers_a_terminal(files, capsys, monkeypatch):
    table, model = files
    assert fit(table, model) == 0
    shown = [capsys.readouterr()]
    for command in commands(table, model):
        # What a file or another program gets is not changed, so the output must be a terminal.
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        main(command)
        shown.append(capsys.readouterr())
        assert shown[-1].out or "\\x1b" in shown[-1].err, command
    text = "".join(part for captured in shown for part in captured)
    assert "sho\\x1b[2Jes\\r\\n\\x9b31m\\u202e" in text
    assert not set(text) & set(map(chr, [*range(10), *range(11, 32), *range(127, 160), 0x202E]))


def test_a_file_gets_names_as_they_are(files, tmp_path, capsys):
    table, model = files
    assert fit(table, model) == 0
    capsys.readouterr()
    assert main(["predict", model, table, "--target", "department", "-o", "-"]) == 0
    assert WICKED.replace("\r\n", "\n") in capsys.readouterr().out.replace("\r\n", "\n")
