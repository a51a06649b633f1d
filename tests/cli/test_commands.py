"""What all commands have in common: examples, bad input, formats, and streams."""

import contextlib
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hdsp as package
from hdsp import HDSP, read_table
from hdsp.cli import main
from hdsp.cli.main import make_parser
from hdsp.cli.output import named_options, print_columns
from tests.cli.commands import PROGRAM, check_refused, hdsp


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


def run_line(line):
    """Run a command line as a shell would, with `*`, `<` and `>`."""
    words = shlex.split(line.removeprefix("hdsp "))
    with contextlib.ExitStack() as stack:
        files = {}
        for sign in {"<", ">"} & set(words):
            place = words.index(sign)
            files[sign] = words[place + 1]
            del words[place : place + 2]
        if "<" in files:
            given = stack.enter_context(Path(files["<"]).open(encoding="utf-8"))
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            patch.setattr("sys.stdin", given)
        lists = [sorted(map(str, Path().glob(w))) if "/*" in w else [w] for w in words]
        ran = hdsp(shlex.join(word for own in lists for word in own))
    if ">" in files:
        Path(files[">"]).write_text(ran.out, encoding="utf-8")


@pytest.mark.parametrize("example", examples())
def test_every_example_of_the_help_runs(here, example):
    if "fit" in example.split():
        example += " --max-components 6 --max-iter 3"
    if example.endswith("-o model.hdsp --max-components 6 --max-iter 3"):
        example = example.replace("-o model.hdsp", "-o other.hdsp")
    if "--names" in example and "topics" in example.split():
        # Names are kept in the model, which other tests use.
        shutil.copy("model.hdsp", "named.hdsp")
        example = example.replace("model.hdsp", "named.hdsp")
    example = example.replace("Dresses", "dresses")
    if "--executor" in example:
        # One process beside this one.
        example += " --n-jobs 1"
    run_line(example)


def test_there_are_examples_for_every_command():
    (commands,) = [a for a in make_parser()._actions if a.dest == "command"]
    own = set(commands.choices) - {"demo", "compare", "reproduce"}
    assert own == {example.split()[1] for example in examples()}


REFUSED = {
    "fit nothing.csv -o m.hdsp": "nothing.csv",
    "fit new.csv --text words -o m.hdsp": "no column 'words'",
    "fit new.csv -o no/such/folder/m.hdsp": "(No such file or directory): create it",
    "fit new.csv --language klingon -o m.hdsp": "--language must be",
    "fit new.csv --ngrams 0 -o m.hdsp": "--ngrams must be 1 to 10. Got 0.",
    "fit new.csv --tags department -o m.hdsp": "--tag-separator",
    "fit new.csv --encoding utf-9 -o m.hdsp": "--encoding must be one that Python knows. Got 'utf",
    "fit new.csv --delimiter ;; -o m.hdsp": "--delimiter must be one character. Got ';;'.",
    "fit new.csv --format odt -o m.hdsp": "--format must be one of csv, tsv, jsonl",
    "fit new.csv --metadata letters.csv -o m.hdsp": "--metadata does not apply to new.csv: leave",
    "fit new.csv --words w -o m.hdsp": "--words does not apply to new.csv: leave it out",
    "fit new.csv --format uci -o m.hdsp": "name the file of its words with --words",
    "fit new.csv --format mallet --tags x -o m.hdsp": "--tags does not apply to new.csv",
    "fit new.csv --format ldac --words w --delimiter , -o m.hdsp": "--delimiter does not apply",
    "fit letters --categories sender -o m.hdsp": "--metadata",
    "fit corpus --tags labels -o m.hdsp": "--tags does not apply to corpus: leave it out",
    "fit corpus --max-features 9 -o m.hdsp": "--max-features does not apply to corpus",
    "fit letters new.csv -o m.hdsp": "Several files must be tables, and letters is not",
    "fit new.csv posts.csv --groups reviewer -o m.hdsp": "--groups does not apply to several",
    "fit new.csv --groups author -o m.hdsp": "there is no column 'author'",
    "prepare new.csv posts.csv --metadata x.csv -o c": "--metadata does not apply to several",
    "prepare new.csv -o no/c": "directory): create it",
    "prepare new.csv -o letters": "is a folder with '00.txt' in it: choose another",
    "prepare nothing.csv -o c": "there is no such file",
    "topics new.csv": "new.csv",
    "topics nothing.hdsp": "nothing.hdsp",
    "topics model.hdsp --n-words 0": "--n-words: must be an integer >= 1",
    "topics model.hdsp -o topics.xls": "does not specify a format",
    "topics model.hdsp --find silkk": "such as: 'silk'. Got 'silkk'",
    "topics model.hdsp --names missing.json": "No such file or directory: 'missing.json'.",
    "topics model.hdsp --names seeds.json": "is not a file of topic names",
    "topics model.hdsp --merge 1,2": "--merge makes a new model: name it with -o, such as merged",
    "topics model.hdsp --merge 1,2 -o x.csv": "--merge makes a new model",
    "topics model.hdsp -o x.hdsp": "-o x.hdsp would only copy the model: add --names or --merge",
    "topics model.hdsp --merge '1;2' -o x.hdsp": "invalid topic_list value: '1;2'",
    "topics model.hdsp --merge 1,9 -o x.hdsp": "must name topics 0 to 7. Got 9",
    "topics model.hdsp --merge 1 -o x.hdsp": "must name at least two topics",
    "topics model.hdsp --merge 0,1 --merge 1,2 -o x.hdsp": "name each topic once",
    "topics model.hdsp --merge 0,1 -o none/x.hdsp": "directory): create it",
    "stability model.hdsp reviews.parquet --n-fits 0": "--n-fits: must be an integer >= 1",
    "effects model.hdsp --label weather": "weather",
    "effects model.hdsp --level 2": "level",
    "effects model.hdsp --n-labels 0": "--n-labels: must be an integer >= 1",
    "effects model.hdsp --refits 3": "--refits needs the training documents",
    "effects model.hdsp reviews.parquet --refits 1": "must be an integer >= 2. Got 1.",
    "effects model.hdsp posts.csv --refits 3": "must be the documents that the model was fitted to",
    "effects model.hdsp --summary --label department": "--summary excludes --label",
    "effects model.hdsp posts.csv --formula day --refits 3": "--refits excludes --formula",
    "effects model.hdsp --formula ideology": "has 'ideology', which no label is called",
    "effects model.hdsp posts.csv --formula '~ ideolgy'": "ideolgy",
    "effects l.hdsp letters --formula sender --groups x": "--groups does not apply to letters",
    "effects model.hdsp - --formula ideology": "Name a file: it is read twice",
    "effects model.hdsp --label rating --contrast -1e300 1e300": "--contrast must be two finite",
    "check model.hdsp posts.csv --time none": "'none'",
    "predict model.hdsp new.csv --target weather": "weather",
    "transform model.hdsp new.csv --text words": "no column 'words'",
    "transform model.hdsp corpus": "Use hdsp prepare --like MODEL",
    "evaluate model.hdsp data": "data: no file in it is like '**/*.txt'; let the names",
    "evaluate model.hdsp new.csv --metadata letters.csv": "--metadata does not apply",
    "report model.hdsp - -o r.html": "Name a file: it is read twice",
    "fit": "the following arguments are required",
    "dance": "invalid choice",
    "": "the following arguments are required: COMMAND",
    "demo --colour": "unrecognized arguments: --colour. See hdsp --help.",
    "demo --n-components many": "--n-components must be",
    "demo --n-components 0": "--n-components must be an int in the range",
    "demo --random-state -1": "--random-state must be",
}


@pytest.mark.parametrize("line", REFUSED)
def test_bad_input_is_one_sentence_and_status_2(here, line):
    check_refused(line, REFUSED[line])
    assert not list(here.glob("[mx].hdsp"))


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
        "a file tol.csv with `other` of HDSP": "a file tol.csv with other",
    }.items():
        assert named_options(text, options) == expected


def test_version_help_and_completion():
    assert hdsp("--version").out == f"hdsp {package.__version__}\n"
    assert "examples:" in hdsp("--help").out
    assert "hdsp" in hdsp("--print-completion bash").out
    found = subprocess.run(
        [sys.executable, "-m", "hdsp", "--version"], capture_output=True, text=True
    )
    assert (found.returncode, found.stderr) == (0, "")


def test_published_settings_are_those_of_python(here):
    asked = "--as-published wHDSP --n-components 4 --random-state 3 --max-iter 3"
    hdsp(
        f"fit papers.csv --text abstract --categories department --numeric rating {asked} -o p.hdsp"
    )
    model = HDSP.load("p.hdsp")
    expected = HDSP.as_published("wHDSP").set_params(n_components=4, random_state=3, max_iter=3)
    assert model.get_params() == expected.get_params()
    corpus = read_table("papers.csv", like=model)
    ratio = model.perplexity(corpus, method="ratio")
    assert f"{ratio:,.1f}" in hdsp("evaluate p.hdsp papers.csv").out
    message = "--as-published: invalid choice: 'LDA'"
    check_refused("fit papers.csv --text abstract --as-published LDA -o p.hdsp", message)


def test_messages_and_tables_cannot_steer_a_terminal(tmp_path, capsys):
    assert main(["fit", "no\x1b[2J.csv", "-o", f"{tmp_path}/model.hdsp"]) == 2
    assert capsys.readouterr().err.startswith("hdsp: no\\x1b[2J.csv: there is no such file")
    print_columns({"label": ["a\x1b[31m", "b"], "n": [1, 2]})
    assert capsys.readouterr().out == "label      n\na\\x1b[31m  1\nb          2\n"


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_transform_writes_every_format(here, suffix):
    name = f"proportions.{suffix}"
    assert hdsp(f"transform model.hdsp test.parquet -o {name}").err == f"hdsp: wrote {name}.\n"
    found = read_output(name)
    assert found.shape == (20, 8)
    model = HDSP.load("model.hdsp")
    corpus = read_table("test.parquet", like=model)
    np.testing.assert_allclose(found.to_numpy(), model.transform(corpus), rtol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-6)


def read_output(name):
    if name.endswith(("csv", "tsv")):
        return pd.read_csv(name, sep="\t" if name.endswith("tsv") else ",")
    return pd.read_json(name, lines=True) if name.endswith("l") else pd.read_parquet(name)


def test_a_reader_that_closes_the_pipe_is_no_failure(here):
    program = f"{sys.executable} -c '{PROGRAM}'"
    command = (
        f"{program} transform -q model.hdsp reviews.parquet | head -1; exit ${{PIPESTATUS[0]}}"
    )
    found = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, "")
