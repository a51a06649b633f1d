"""The commands, from a file to topics, effects and predictions."""

import contextlib
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hdsp
from hdsp.cli import main
from hdsp.cli.main import make_parser
from hdsp.cli.output import print_columns

PLACES = {
    "shoes": ["sole", "heel", "lace", "leather", "walk"],
    "dresses": ["skirt", "waist", "silk", "hem", "sleeve"],
    "bags": ["strap", "zip", "pocket", "handle", "clasp"],
}
# On a slow machine, too, nothing takes so long that it would leave a line: see conftest.py.
PROGRAM = (
    "import sys; from hdsp.cli import main; from hdsp.progress import Lines; "
    "Lines.seconds = 1e9; sys.exit(main())"
)
MOODS = {1: "awful broken refund", 5: "lovely perfect gift"}


def reviews(n_documents=150, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n_documents):
        place, rating = rng.choice(list(PLACES)), int(rng.choice(list(MOODS)))
        words = [*rng.choice(PLACES[place], size=12), *rng.choice(MOODS[rating].split(), size=6)]
        tags = [tag for tag in ("sale", "new") if rng.random() < 0.3]
        rows.append(
            {
                "text": " ".join(rng.permutation(words)),
                "labels": tags,
                "department": place,
                "rating": float(rating),
                "reviewer": f"reviewer {len(rows) // 3}",
            }
        )
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Every file that the examples of the help name."""
    path = tmp_path_factory.mktemp("commands")
    frame = reviews()
    frame.to_parquet(path / "reviews.parquet")
    reviews(60, seed=2).to_parquet(path / "questions.parquet")
    posts = frame.assign(
        ideology=np.resize(["left", "right"], len(frame)),
        day=pd.date_range("2020-01-01", periods=len(frame)).strftime("%Y-%m-%d"),
        blog=[f"blog {n % 12}" for n in range(len(frame))],
    )
    posts.drop(columns="labels").to_csv(path / "posts.csv", index=False)
    new = reviews(20, seed=1)
    new.to_parquet(path / "test.parquet")
    new.drop(columns=["labels", "rating"]).to_csv(path / "new.csv", index=False)
    new.to_json(path / "new.jsonl", orient="records", lines=True)
    papers = frame.rename(columns={"text": "abstract"})
    papers["keywords"] = frame["labels"].map(";".join)
    papers.drop(columns="labels").to_csv(path / "papers.csv", index=False)
    names = {"format": "hdsp-names-1", "names": {"0": "first"}}
    (path / "topic-names.json").write_text(json.dumps(names))
    (path / "seeds.json").write_text(json.dumps({"cloth": ["silk", "skirt"]}))
    (path / "letters").mkdir()
    for number, text in enumerate(frame["text"][:40]):
        (path / "letters" / f"{number}.txt").write_text(text)
    sender = pd.DataFrame({"id": [f"{n}.txt" for n in range(40)]})
    sender["sender"] = frame["department"][:40]
    sender.to_csv(path / "letters.csv", index=False)
    for name in ("data", "new"):
        (path / name).mkdir()
        for number in range(2):
            reviews(40, seed=number).to_parquet(path / name / f"{number}.parquet")
    assert run(path, "prepare", "reviews.parquet", "--tags", "labels", "-o", "corpus")[0] == 0
    arguments = ["fit", "reviews.parquet", "--tags", "labels", "--categories", "department"]
    arguments += ["--numeric", "rating", "--n-components", "8", "-o", "model.hdsp"]
    assert run(path, *arguments)[0] == 0
    arguments = ["fit", "reviews.parquet", "--categories", "department", "--content", "department"]
    arguments += ["--n-components", "4", "-o", "sides.hdsp"]
    assert run(path, *arguments)[0] == 0
    return path


def run(folder, *arguments):
    """Exit status, standard output and standard error of `hdsp` in a folder.

    In this process: most of what a process of its own takes is importing the same modules again.
    """
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), redirect_stdout(out), redirect_stderr(err):
        status = main(arguments)
    return status, out.getvalue(), err.getvalue()


def run_line(folder, line):
    """Exit status and standard error of a command line, in this process.

    As a shell would, with `*`, `<` and `>`.
    """
    words = shlex.split(line)
    files = {words[i]: words[i + 1] for i in range(len(words) - 1) if words[i] in "<>"}
    kept = words[1 : min([words.index(sign) for sign in files], default=len(words))]
    arguments = []
    for word in kept:
        matches = sorted(folder.glob(word)) if "*" in word else []
        arguments += [str(path.relative_to(folder)) for path in matches] or [word]
    with contextlib.ExitStack() as stack:
        if "<" in files:
            given = stack.enter_context((folder / files["<"]).open(encoding="utf-8"))
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            patch.setattr("sys.stdin", given)
        status, out, err = run(folder, *arguments)
    if ">" in files:
        (folder / files[">"]).write_text(out, encoding="utf-8")
    return status, err


def run_process(folder, command):
    """Exit status and standard error of a command line with `hdsp`, by the shell."""
    program = f"{sys.executable} -c '{PROGRAM}'"
    found = subprocess.run(
        command.replace("hdsp ", f"{program} ", 1),
        shell=True,
        cwd=folder,
        capture_output=True,
        text=True,
    )
    return found.returncode, found.stderr


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def examples():
    """Every example of the help and of the documentation for hdsp's own commands."""
    parser = make_parser()
    (commands,) = [a for a in parser._actions if a.dest == "command"]
    root = Path(__file__).parents[2]
    pages = [parser.epilog or "", *[p.epilog or "" for p in commands.choices.values()]]
    pages += [
        (root / name).read_text(encoding="utf-8") for name in ("README.md", "docs/commands.md")
    ]
    own = r"^ {2,4}(hdsp (?!demo|compare|reproduce).+)$"
    return sorted(set(re.findall(own, "\n".join(pages), re.M)))


@pytest.mark.parametrize("example", examples())
def test_every_example_of_the_help_runs(folder, example):
    if "fit" in example.split():
        example += " --max-components 6 --max-iter 3"
    if example.endswith("-o model.hdsp --max-components 6 --max-iter 3"):
        example = example.replace("-o model.hdsp", "-o other.hdsp")
    if "--names" in example and "topics" in example.split():
        # Names are kept in the model, which other tests use.
        shutil.copy(folder / "model.hdsp", folder / "named.hdsp")
        example = example.replace("model.hdsp", "named.hdsp")
    example = example.replace("Dresses", "dresses")
    if "--executor" in example:
        # One process beside this one.
        example += " --n-jobs 1"
    status, errors = run_line(folder, example)
    assert status == 0, errors
    assert "Traceback" not in errors


def test_there_are_examples_for_every_command():
    shown = " ".join(examples())
    for command in (
        "prepare",
        "fit",
        "topics",
        "effects",
        "transform",
        "predict",
        "evaluate",
        "report",
        "article",
    ):
        assert f"hdsp {command} " in shown


def test_fit_says_what_came_of_it(folder):
    status, out, err = run(
        folder, "fit", "new.csv", "--categories", "department", "--max-components", "4",
        "-o", "small.hdsp", "--quiet",
    )  # fmt: skip
    assert status == 0
    took = r"\d+ passes, [\d.]+ s \(longest: (?:[a-z -]+ [\d.]+, ){3}[a-z -]+ [\d.]+\)\. See"
    assert re.match(rf"small.hdsp: \d topics in use, 3 labels, {took}", out)
    assert all(line.startswith("hdsp: warning: ") for line in err.splitlines())
    assert "n_components" not in err


def test_fit_as_json(folder):
    status, out, _ = run(
        folder, "fit", "new.csv", "--categories", "department", "--max-components", "4",
        "-o", "small.hdsp", "--json",
    )  # fmt: skip
    assert status == 0
    found = json.loads(out)
    assert found["documents"] == 20
    assert found["model"] == "small.hdsp"


def test_topics_and_effects(here, capsys):
    assert main(["topics", "model.hdsp"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].split() == [
        *("topic", "share", "coherence", "words", "strongest", "effects", "(points)")
    ]
    assert "leather" in out
    assert main(["topics", "model.hdsp", "--json"]) == 0
    topics = json.loads(capsys.readouterr().out)["topics"]
    assert topics[0]["topic"] == 0
    assert main(["effects", "model.hdsp", "--label", "rating", "--contrast", "1", "5"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("rating (5 - 1; 150 documents)")
    assert "90% interval" in out
    assert main(["effects", "model.hdsp", "--json", "--label", "shoes"]) == 0
    effects = json.loads(capsys.readouterr().out)["effects"]
    assert {row["label"] for row in effects} == {"shoes"}


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_transform_writes_every_format(here, suffix):
    name = f"proportions.{suffix}"
    assert main(["transform", "model.hdsp", "test.parquet", "-o", name]) == 0
    read = {
        "csv": pd.read_csv,
        "tsv": lambda path: pd.read_csv(path, sep="\t"),
        "jsonl": lambda path: pd.read_json(path, lines=True),
        "parquet": pd.read_parquet,
    }[suffix]
    found = read(name)
    assert found.shape == (20, 8)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-6)


def test_transform_is_that_of_the_model(here):
    from hdsp import HDSP, read_table

    main(["transform", "model.hdsp", "test.parquet", "-o", "proportions.parquet"])
    model = HDSP.load("model.hdsp")
    corpus = read_table(
        "test.parquet", tags="labels", categories="department", numeric="rating", like=model
    )
    np.testing.assert_array_equal(
        pd.read_parquet("proportions.parquet").to_numpy(), model.transform(corpus)
    )


def test_standard_input_and_output(folder):
    text = (folder / "new.jsonl").read_text()
    command = "hdsp predict model.hdsp - --format jsonl -q --target department < new.jsonl > o.csv"
    assert run_process(folder, command) == (0, "")
    lines = (folder / "o.csv").read_text().splitlines()
    assert lines[0] == "predicted,p(bags),p(dresses),p(shoes)"
    true = [json.loads(line)["department"] for line in text.splitlines()]
    assert (
        np.mean([line.split(",")[0] == place for line, place in zip(lines[1:], true, strict=True)])
        > 0.9
    )


def test_predictions_with_labels_missing_from_the_file(here, capsys):
    assert main(["predict", "model.hdsp", "new.csv", "--target", "rating"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "predicted,p(1),p(5)"
    assert len(out) == 21
    assert main(["predict", "model.hdsp", "new.csv", "--target", "labels", "--values", "sale"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "predicted,p(sale)"


def test_evaluate(here, capsys):
    assert main(["evaluate", "model.hdsp", "test.parquet", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for kind in ("labels", "completion"):
        (row,) = (row for row in found["perplexity"] if row["given"] == kind)
        assert row["lower"] <= row["perplexity"] <= row["upper"]
    assert main(["evaluate", "model.hdsp", "test.parquet"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("20 documents, 360 tokens")
    assert "all words, from the labels alone" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "nothing.csv", "-o", "m.hdsp"], "nothing.csv"),
        (["fit", "new.csv", "--text", "words", "-o", "m.hdsp"], "no column 'words'"),
        (["fit", "new.csv", "-o", "no/such/folder/m.hdsp"], "directory): create it"),
        (["fit", "new.csv", "--language", "klingon", "-o", "m.hdsp"], "language"),
        (
            ["fit", "new.csv", "--max-components", "0", "-o", "m.hdsp"],
            "int in the range [1, inf). Got 0",
        ),
        (["fit", "letters", "--categories", "sender", "-o", "m.hdsp"], "--metadata"),
        (["fit", "new.csv", "--format", "uci", "-o", "m.hdsp"], "--words"),
        (["topics", "new.csv"], "new.csv"),
        (["topics", "nothing.hdsp"], "nothing.hdsp"),
        (["topics", "model.hdsp", "--n-words", "0"], "--n-words"),
        (["topics", "model.hdsp", "-o", "topics.xls"], "does not specify a format"),
        (["effects", "model.hdsp", "--label", "weather"], "weather"),
        (["effects", "model.hdsp", "--level", "2"], "level"),
        (["predict", "model.hdsp", "new.csv", "--target", "weather"], "weather"),
        (["transform", "model.hdsp", "new.csv", "--text", "words"], "no column 'words'"),
        (
            ["evaluate", "model.hdsp", "data"],
            "data: no file in it is like '**/*.txt'; let the names",
        ),
        (
            ["evaluate", "model.hdsp", "new.csv", "--metadata", "letters.csv"],
            "--metadata does not apply",
        ),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(here, capsys, arguments, message):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("hdsp: ")
    assert len(err.splitlines()) == 1
    assert message in err


def test_wrong_options_are_status_2(capsys):
    assert main(["fit"]) == 2
    assert main(["dance"]) == 2
    assert main(["--help"]) == 0
    assert "examples:" in capsys.readouterr().out


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"hdsp {hdsp.__version__}\n"


def test_messages_and_tables_cannot_steer_a_terminal(tmp_path, capsys):
    assert main(["fit", "no\x1b[2J.csv", "-o", f"{tmp_path}/model.hdsp"]) == 2
    assert capsys.readouterr().err.startswith("hdsp: no\\x1b[2J.csv: there is no such file")
    print_columns({"label": ["a\x1b[31m", "b"], "n": [1, 2]})
    assert capsys.readouterr().out == "label      n\na\\x1b[31m  1\nb          2\n"


def test_completion_scripts(capsys):
    assert main(["--print-completion", "bash"]) == 0
    assert "hdsp" in capsys.readouterr().out


def test_a_reader_that_closes_the_pipe_is_no_failure(folder):
    program = f"{sys.executable} -c '{PROGRAM}'"
    command = (
        f"{program} transform -q model.hdsp reviews.parquet | head -1; exit ${{PIPESTATUS[0]}}"
    )
    found = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True)
    assert found.returncode == 0
    assert found.stderr == ""
