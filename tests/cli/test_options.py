"""Files as other programs write them, and messages that name options."""

import pandas as pd
import pytest

from hdsp.cli import main
from hdsp.cli.main import make_parser
from hdsp.cli.output import named_options
from tests.cli.test_commands import reviews

WRITTEN = ["--encoding", "cp1252", "--delimiter", ";"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A table as a German spreadsheet writes it, and its model."""
    folder = tmp_path_factory.mktemp("options")
    frame = reviews(80)[["text", "department"]]
    frame["text"] = frame["text"].str.replace("walk", "größe")
    frame.to_csv(folder / "reviews.csv", sep=";", encoding="cp1252", index=False)
    frame.to_csv(folder / "reviews.tab.csv", sep="\t", encoding="cp1252", index=False)
    fit = ["fit", str(folder / "reviews.csv"), "--categories", "department", *WRITTEN]
    assert main([*fit, "--n-components", "3", "-o", str(folder / "m.hdsp")]) == 0
    return folder


def test_semicolons_and_cp1252_are_read_by_every_command(files, tmp_path, capsys):
    model, table = str(files / "m.hdsp"), str(files / "reviews.csv")
    output = tmp_path / "out.csv"
    assert main(["transform", model, table, *WRITTEN, "-o", str(output)]) == 0
    assert len(pd.read_csv(output)) == 80
    predict = ["predict", model, table, *WRITTEN, "--target", "department"]
    assert main([*predict, "-o", str(output)]) == 0
    assert main(["evaluate", model, table, *WRITTEN]) == 0
    page = tmp_path / "page.html"
    assert main(["report", model, table, *WRITTEN, "-o", str(page)]) == 0
    assert "größe" in page.read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["topics", model, "--n-words", "20"]) == 0
    assert "größe" in capsys.readouterr().out


def test_a_tab_can_be_typed(files, tmp_path):
    table = str(files / "reviews.tab.csv")
    written = ["--encoding", "cp1252", "--delimiter", r"\t"]
    assert (
        main(["transform", str(files / "m.hdsp"), table, *written, "-o", str(tmp_path / "a.csv")])
        == 0
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "this is not utf-8 text; pass the file's --encoding, such as 'latin-1'"),
        (
            ["--encoding", "cp1252"],
            "line 1: its columns are not separated by ','; pass ';' as --delimiter.",
        ),
        (["--encoding", "utf-9"], "--encoding must be one that Python knows. Got 'utf-9'"),
        ([*WRITTEN, "--delimiter", ";;"], "--delimiter must be one character. Got ';;'."),
        ([*WRITTEN, "--text", "words"], "there is no column 'words'"),
        ([*WRITTEN, "--max-iter", "0"], "--max-iter must be an int in the range [1, inf). Got 0"),
        ([*WRITTEN, "--random-state", "-1"], "--random-state must be"),
        ([*WRITTEN, "--n-jobs", "0"], "--n-jobs must be"),
        ([*WRITTEN, "--ngrams", "0"], "--ngrams must be a whole number from 1 to 10"),
        ([*WRITTEN, "--language", "klingon"], "--language must be"),
        ([*WRITTEN, "--tags", "department"], "--tag-separator"),
        (["--format", "ldac", "--words", "w", "--delimiter", ";"], "--delimiter does not apply"),
    ],
)
def test_messages_name_options(files, capsys, options, message):
    command = ["fit", str(files / "reviews.csv"), *options, "-o", str(files / "other.hdsp")]
    assert main(command) == 2
    told = capsys.readouterr().err
    assert message in told
    assert "`" not in told
    assert "of TextSettings" not in told


def test_names_of_parameters_become_options():
    options = make_parser().parse_args(["fit", "a.csv", "-o", "m.hdsp"])
    for text, expected in {
        "raise n_components of HDSP.": "raise --n-components.",
        "n_components=1 of HDSP leaves": "--n-components 1 leaves",
        "after max_iter=3 passes, tol=0.001: raise max_iter or tol.": (
            "after --max-iter 3 passes, --tol 0.001: raise --max-iter or --tol."
        ),
        "Pass language=None and `stop_words`.": "Pass --language none and --stop-words.",
        "`max_df` of TextSettings must": "--max-df must",
        "The 'tol' parameter of HDSP must": "--tol must",
        "a file tol.csv with `other`": "a file tol.csv with `other`",
    }.items():
        assert named_options(text, options) == expected
