"""What a paper prints: every number is the model's, and hostile words do no harm."""

import json
import re
import shutil
import subprocess
import sys
import unicodedata
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hdsp import HDSP, Corpus, LabelDataWarning, TextSettings, plots
from hdsp.article import folder as files
from hdsp.article.methods import read_asset
from hdsp.article.tables import escaped, results_text, strongest_effects
from tests.report.corpora import fit_searched, reviews

HOSTILE = ["100%", "a_b & c", "\\end{x}", "{}~^", "=1+1", 'say "so"', "naïve–été", "$x$", "#<|>"]
ALWAYS = {"methods.md", "references.bib", "topics.csv", "topics.tex", "provenance.json"}


@pytest.fixture(scope="module")
def texts():
    found = reviews(150)[0]
    return [f"={HOSTILE[n % len(HOSTILE)]}\n{text}" for n, text in enumerate(found)]


@pytest.fixture(scope="module")
def corpus():
    found, frame = reviews(150)
    counts, words = TextSettings().count(found)
    words = (*HOSTILE, *words[len(HOSTILE) :])
    settings = TextSettings(stop_words=["and", "if"], min_df=3, max_df=0.75, ngrams=2)
    groups = [f"shop {n // 5}" for n in range(len(found))]
    return Corpus(counts, words, frame, text_settings=settings, groups=groups)


@pytest.fixture(scope="module")
def model(corpus):
    settings = {"init": "nmf", "max_iter": 20, "tol": 1e-2, "n_jobs": 1, "random_state": 7}
    scaling = "~ department + labels + s(rating)"
    found = HDSP(6, scaling=scaling, **settings).fit(corpus)
    return found.name_topics({1: "Cost_5 & 10 %"})


@pytest.fixture(scope="module")
def plain(corpus):
    """A model without labels, whose paper is quickly written."""
    settings = {"init": "nmf", "max_iter": 3, "tol": 0.1, "n_jobs": 1, "random_state": 0}
    return HDSP(4, **settings, seeds={"bags": ["zip"]}).fit(Corpus(corpus.counts, corpus.words))


@pytest.fixture(scope="module")
def folder(model, corpus, texts, tmp_path_factory):
    path = tmp_path_factory.mktemp("papers") / "paper"
    model.article(path, corpus, texts=texts)
    return path


@pytest.fixture
def without_figures(monkeypatch):
    """Drawing takes most of the time."""
    monkeypatch.setattr(files, "_figure", lambda *given: b"%PDF")


def read(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def same_numbers(found, expected):
    """All columns of numbers are there, to the last bit."""
    names = expected.select_dtypes("number").columns
    assert len(names) > 1
    for name in names:
        np.testing.assert_array_equal(found[name].map(float), expected[name])


def test_files_are_those_that_apply(folder):
    wanted = {f"effects.{kind}" for kind in ("csv", "pdf", "tex")} | {"results.md"}
    wanted |= {"curves.csv", "curves.pdf"}
    assert {path.name for path in folder.iterdir()} == ALWAYS | wanted
    for path in folder.glob("*.pdf"):
        assert path.read_bytes().startswith(b"%PDF")


def test_the_table_of_topics_is_the_models(folder, model, corpus, texts):
    found, expected = read(folder / "topics.csv"), model.topics()[: model.n_topics_]
    same_numbers(found, expected)
    for name in ("words", "distinctive_words", "frex_words"):
        assert [words.removeprefix("'") for words in found[name]] == expected[name].tolist()
    assert found["raised_by"].tolist() == [";".join(own) for own in expected["raised_by"]]
    typical = model.typical_documents(corpus, n=2, texts=texts)
    for rank in (0, 1):
        # An apostrophe keeps spreadsheets from computing.
        expected_texts = "'" + typical["text"][rank::2]
        assert found[f"typical_{rank + 1}"].tolist() == expected_texts.tolist()


def test_effects_are_the_models(folder, model):
    found, expected = read(folder / "effects.csv"), model.label_effects()
    same_numbers(found, expected)
    for name in ("label", "contrast"):
        assert found[name].tolist() == expected[name].tolist()


def effects_of(model):
    """The table of effects, its columns as lists, and the rows that are printed."""
    table = model.label_effects()
    columns = {name: table[name].tolist() for name in table}
    return table, columns, strongest_effects(model, columns)


def test_effects_are_drawn_with_their_intervals(model, monkeypatch):
    drawn = []
    monkeypatch.setattr(files.drawing, "draw_effects", lambda ax, *given: drawn.append(given))
    table, columns, shown = effects_of(model)
    files.draw_effects(model, columns, shown)
    assert len(drawn) == len(shown) == 6
    for (names, values, _), rows in zip(drawn, shown, strict=True):
        own = table.loc[rows]
        assert own["label"].nunique() == 1
        assert [int(name.split(" · ")[0]) for name in names] == own["topic"].tolist()
        np.testing.assert_array_equal(values, own[["effect", "lower", "upper"]].T)
    strongest = table["effect"].abs().idxmax()
    assert any(strongest in rows for rows in shown)


def test_one_of_two_levels_is_printed(corpus):
    frame = pd.DataFrame({"side": np.resize(["left", "right"], len(corpus))})
    other = Corpus(corpus.counts, corpus.words, frame)
    model = HDSP(3, init="nmf", max_iter=5, tol=0.1, random_state=0).fit(other)
    table, columns, (rows,) = effects_of(model)
    assert table["label"].nunique() == 2
    # Of effects that are due to chance, q is large.
    shown = table.loc[[rows[0], rows[-1]]]
    found = re.findall(r"q = ([\d.]+)", results_text(model, columns, [rows]))
    assert found == [f"{q:.3f}" for q in shown["q"]]


def test_effects_that_cannot_be_estimated_are_not_printed(model):
    columns = {name: own.tolist() for name, own in model.label_effects().items()}
    unknown = columns["label"][0]
    for name in ("effect", "lower", "upper"):
        columns[name][: len(model.components_)] = [np.nan] * len(model.components_)
    shown = strongest_effects(model, columns)
    assert unknown not in {columns["label"][row] for rows in shown for row in rows}
    assert "nan" not in results_text(model, columns, shown)


def test_effects_are_printed_with_unit_and_interval(folder, model):
    printed = (folder / "effects.tex").read_text(encoding="utf-8").replace("$-$", "-")
    told = (folder / "results.md").read_text(encoding="utf-8")
    table, _, shown = effects_of(model)
    sentences = [one for one in told.split("\n\n") if one.startswith("`")]
    assert printed.count(r"\multicolumn") == len(sentences) == len(shown) == 6
    for rows, sentence in zip(shown, sentences, strict=True):
        own = table.loc[rows]
        first = own.iloc[0]
        label, title = first["label"], f"({first['contrast']}; {first['n_documents']} documents)"
        assert sentence.startswith(f"`{label}` {title}:")
        assert rf"\textit{{{escaped(f'{label} {title}')}}}" in printed
        for row in own.itertuples():
            effect, lower, upper = (f"{100 * x:+.1f}" for x in (row.effect, row.lower, row.upper))
            q = "$<$ 0.001" if row.q < 0.001 else f"{row.q:.3f}"
            assert f" & {effect} & {lower} to {upper} & {q} " in printed
        for place, side in ((own["effect"].idxmax(), "higher"), (own["effect"].idxmin(), "lower")):
            row = own.loc[place]
            assert (
                f"is {100 * abs(row['effect']):.1f} percentage points {side} (90% interval "
                f"{100 * row['lower']:+.1f} to {100 * row['upper']:+.1f}, q "
            ) in sentence.split(f"the proportion of topic {row['topic']} (")[1]
    assert "`rating` (5 - 1; 1" in told
    assert "topic 1 (Cost_5 & 10 %)" in told


def test_curves_are_those_of_the_figure(folder, model):
    found = read(folder / "curves.csv")
    assert found["label"].unique().tolist() == ["rating"]
    ax = plots.curve(model, "rating", topics=[3])
    values, expected = ax.lines[0].get_data()
    own = found[found["topic"] == "3"]
    np.testing.assert_array_equal(own["value"].map(float), values)
    np.testing.assert_array_equal(own["expected"].map(float), expected)


def unescaped(text):
    """What LaTeX prints of an escaped text."""
    for command, character in (
        (r"\textasciitilde{}", "~"),
        (r"\textasciicircum{}", "^"),
        (r"\textless{}", "<"),
        (r"\textgreater{}", ">"),
        (r"\textbar{}", "|"),
        (r"{\char34}", '"'),
    ):
        text = text.replace(command, character)
    text = re.sub(r"\\([{}$&#%_])", r"\1", text.replace(r"\textbackslash{}", "\0"))
    return text.replace("\0", "\\")


@given(st.text())
def test_escaping_loses_only_what_cannot_be_printed(text):
    plain = " ".join(unicodedata.normalize("NFC", text).split())
    shown = "".join(c for c in plain if not unicodedata.category(c).startswith("C"))
    found = escaped(text)
    assert unescaped(found) == shown
    assert "\n" not in found
    without = re.sub(r"\\(?:[{}$&#%_]|[a-z]+\{\}|char34)", "", found)
    assert not set(without.replace("{}", "")) & set("\\$&#%_~^")


def test_latex_has_the_shares_and_words_of_the_model(folder, model, texts):
    table = (folder / "topics.tex").read_text(encoding="utf-8")
    rows = [row for row in table.splitlines() if re.match(r"\d+ ", row)]
    topics, frequent = model.topics(), model.top_words(10)
    assert len(rows) == model.n_topics_
    for k, row in enumerate(rows):
        name, share, words, frex = re.split(r" (?<!\\)& ", row.removesuffix(r" \\*"))
        assert unescaped(name) == f"{k} {model.topic_names_.get(k, '')}".strip()
        assert share == rf"{100 * topics['share'][k]:.1f}\,\%"
        assert unescaped(words) == ", ".join(frequent[k])
        assert unescaped(frex).replace(", ", " ") == topics["frex_words"][k]
    quotes = re.findall(r"\\footnotesize ``(.*)''} \\\\$", table, flags=re.M)
    assert len(quotes) == 2 * len(rows)
    for quote in quotes:
        assert unescaped(quote) in {" ".join(text.split()) for text in texts}


def test_latex_compiles(folder, tmp_path):
    engine = next(filter(shutil.which, ("tectonic", "lualatex", "pdflatex", "xelatex")), None)
    if engine is None:
        pytest.skip("no LaTeX is installed: neither tectonic nor lualatex, pdflatex or xelatex")
    for name in ("topics.tex", "effects.tex"):
        shutil.copy(folder / name, tmp_path)
    document = (
        "\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{booktabs,longtable}\n"
        "\\begin{document}\n\\input{topics}\n\\input{effects}\n\\end{document}\n"
    )
    (tmp_path / "paper.tex").write_text(document)
    options = [] if engine == "tectonic" else ["-interaction=nonstopmode", "-halt-on-error"]
    found = subprocess.run(
        [engine, *options, "paper.tex"], cwd=tmp_path, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stdout[-2000:]
    assert (tmp_path / "paper.pdf").exists()


@pytest.mark.usefixtures("without_figures")
def test_long_texts_are_cut_at_a_word(model, corpus, tmp_path):
    long = ["word " * 100] * len(corpus)
    model.article(tmp_path / "paper", corpus, texts=long)
    table = (tmp_path / "paper" / "topics.tex").read_text()
    assert "``" + " ".join(["word"] * 60) + r"\,\dots{}''" in table
    assert read(tmp_path / "paper" / "topics.csv")["typical_1"][0] == long[0]


def test_methods_tell_the_record(folder, model, corpus):
    told = (folder / "methods.md").read_text(encoding="utf-8")
    frame = reviews(150)[1]
    lengths = corpus.n_tokens / 150
    for part in (
        f"150 documents with {corpus.n_tokens:,.0f} tokens ({lengths:,.0f} per document on average)"
        f" of {len(corpus.words)} different words",
        "into words of three letters or more and set in lower case",
        "We removed English stop words, 2 other words, words in fewer than 3 documents and words "
        "in more than 0.75 of the documents. ",
        "Phrases of up to 2 words",
        f"`department` (4 levels, missing in {frame['department'].isna().sum()} documents)",
        "`labels` (3 tags)",
        f"`rating` (from 1 to 5, missing in {frame['rating'].isna().sum()} documents)",
        "Its formula is `~ department + labels + s(rating)`.",
        f"It converged after {model.n_iter_} passes. The random seed was 7.",
        "The model has 6 topics, as many as were asked for.",
        "We named topics by hand.",
        "by weighted least squares",
        "Topics were fitted without the document (three folds).",
        f"The regression uses the {model.estimate_effects().n_documents} documents with words and "
        "without missing labels.",
        "equally. The regression uses",
        "The documents come from 30 groups, within which they are not independent. We report",
        "CR2 standard errors clustered by group",
        "Intervals take the topics as fixed.",
        "Curves of expected proportions along numeric labels come from a softmax",
        "We did not examine",
        "All computations used hdsp ",
    ):
        assert part in told
    assert "selection.pdf" not in told


@pytest.mark.usefixtures("without_figures")
def test_methods_of_other_models(plain, corpus, tmp_path):
    plain.merge_topics([1, 2]).article(tmp_path / "plain")
    told = (tmp_path / "plain" / "methods.md").read_text()
    for part in (
        "the hierarchical Dirichlet process [@teh2006], a Bayesian",
        "Words were counted beforehand.",
        "seed words: 'bags'.",
        "We merged topics 1 and 2 after the fit.",
    ):
        assert part in told
    for part in ("**Effects.**", "Labels are", "formula", "kim2017", "by hand"):
        assert part not in told
    assert {path.name for path in (tmp_path / "plain").iterdir()} == ALWAYS
    assert r"\dots" not in (tmp_path / "plain" / "topics.tex").read_text()
    sides = pd.DataFrame({"side": np.resize(["left", "right"], len(corpus))})
    texts = TextSettings(language=None, lowercase=False, token_pattern=r"[a-z]+", max_features=50)
    other = Corpus(corpus.counts, corpus.words, sides, text_settings=texts)
    settings = {"init": "nmf", "max_iter": 3, "tol": 0.1, "n_jobs": 1}
    model = HDSP(3, **settings, content="side").fit(other)
    model.article(tmp_path / "sides", other)
    told = (tmp_path / "sides" / "methods.md").read_text()
    for part in (
        "Texts were split by the pattern `[a-z]+`.",
        "We removed words in fewer than five documents (or 2% of them, if that is less) and words "
        "in more than half of the documents.",
        "the 50 most frequent were kept",
        "Each level of `side` has separate word distributions",
        "Its formula is `~ side`.",
        "HC2 standard errors [@mackinnon1985]",
    ):
        assert part in told
    assert "The regression uses" not in told
    assert "Curves" not in told
    assert "The random seed" not in told
    # Without texts, documents have numbers.
    typical = model.typical_documents(other, n=2)["document"][::2]
    assert read(tmp_path / "sides" / "topics.csv")["typical_1"].tolist() == [
        str(number) for number in typical
    ]


@pytest.mark.usefixtures("without_figures")
def test_a_number_that_nobody_has_is_not_told(corpus, tmp_path):
    frame = reviews(150)[1][["department"]].assign(day=np.nan)
    other = Corpus(corpus.counts, corpus.words, frame)
    model = HDSP(3, init="nmf", max_iter=3, tol=0.1, random_state=0)
    with pytest.warns(LabelDataWarning):
        model.fit(other).article(tmp_path / "paper", other)
    assert "`day`" not in (tmp_path / "paper" / "methods.md").read_text()
    assert not (tmp_path / "paper" / "curves.csv").exists()


def test_what_is_cited_is_in_the_references(folder):
    cited = set(re.findall(r"@(\w+)", (folder / "methods.md").read_text()))
    entries = re.findall(r"^@\w+\{(\w+),", (folder / "references.bib").read_text(), flags=re.M)
    assert cited == set(entries)
    everything = read_asset("references.bib")
    known = re.findall(r"^@\w+\{(\w+),", everything, flags=re.M)
    # This model: variational Bayes, groups, no refits.
    assert set(known) - cited == {"hoffman2013", "mackinnon1985", "rubin1987"}
    assert set(re.findall(r"@(\w+)", read_asset("methods.md"))) | {"hoffman2013"} == set(known)
    for entry in everything.strip().split("\n\n"):
        assert entry.count("{") == entry.count("}")


def test_the_choice_of_the_number_is_drawn_where_there_was_one(tmp_path):
    model = fit_searched()
    model.article(tmp_path / "paper")
    assert (tmp_path / "paper" / "selection.pdf").read_bytes().startswith(b"%PDF")
    told = (tmp_path / "paper" / "methods.md").read_text()
    tried = [row["topics"] for row in model.search_ if row["init"] == model.init_]
    assert f"Among {min(tried)} to {max(tried)} topics, we chose the number" in told
    assert f"The model has {model.number_summary_}" in told


@pytest.mark.usefixtures("without_figures")
def test_stability_is_that_of_the_model(model, corpus, tmp_path, monkeypatch):
    table = model.stability(corpus, numbers=[5], seeds=[1], per_fit=True)
    model.article(tmp_path / "given", corpus, stability=table)
    found = read(tmp_path / "given" / "stability.csv")
    same_numbers(found, table)
    told = (tmp_path / "given" / "methods.md").read_text()
    assert "We refitted the model to all documents with 5 topics and the random seed 1." in told
    columns = {name: table[name].tolist() for name in table}
    monkeypatch.setattr(
        "hdsp.article.folder.stability_columns", lambda *given, **named: ([], columns)
    )
    model.article(tmp_path / "asked", corpus, stability=True)
    assert (tmp_path / "asked" / "stability.csv").read_bytes() == (
        tmp_path / "given" / "stability.csv"
    ).read_bytes()


@pytest.mark.usefixtures("without_figures")
def test_effects_pooled_over_refits(model, corpus, tmp_path):
    model.article(tmp_path / "paper", corpus, refits=2)
    same_numbers(read(tmp_path / "paper" / "effects.csv"), model.label_effects(refits=2))
    told = (tmp_path / "paper" / "methods.md").read_text()
    assert ". To include the uncertainty of the topics, we refitted them to 2 resamples" in told
    assert "Intervals take the topics as fixed" not in told
    assert "@book{rubin1987," in (tmp_path / "paper" / "references.bib").read_text()


def test_the_same_model_writes_the_same_files(folder, model, corpus, texts, tmp_path):
    model.article(tmp_path, corpus, texts=texts)
    assert len(list(tmp_path.iterdir())) == len(list(folder.iterdir()))
    for path in folder.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


def test_own_files_are_replaced_and_others_are_not(plain, tmp_path):
    folder = tmp_path / "paper"
    plain.article(folder)
    record = json.loads((folder / "provenance.json").read_text())
    # A file of an earlier call that this one does not write.
    (folder / "old.pdf").write_bytes(b"old")
    record["files"]["old.pdf"] = sha256(b"old").hexdigest()
    (folder / "provenance.json").write_text(json.dumps(record))
    plain.article(folder)
    assert not (folder / "old.pdf").exists()
    before = (folder / "methods.md").read_text()
    (folder / "methods.md").write_text("My own words.")
    with pytest.raises(FileExistsError, match=r"methods.md' is another or was changed since"):
        plain.article(folder)
    assert (folder / "methods.md").read_text() == "My own words."
    (folder / "methods.md").write_text(before)
    (folder / "thesis.tex").write_text("")
    with pytest.raises(FileExistsError, match=r"replaces only files that it wrote.*thesis.tex' is"):
        plain.article(folder)


def test_a_record_of_elsewhere_removes_nothing(plain, tmp_path):
    (tmp_path / "precious").write_text("")
    digest = sha256(b"").hexdigest()
    for number, record in enumerate(({"files": {"../precious": digest}}, {"files": 3}, [1], {})):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "provenance.json").write_text(json.dumps(record))
        plain.article(folder)
        assert (tmp_path / "precious").exists()


def test_what_is_refused(model, corpus, texts, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"`texts` of HDSP.article needs the training documents"):
        model.article(tmp_path, texts=texts)
    with pytest.raises(ValueError, match=r"`stability` of HDSP.article needs the training docu"):
        model.article(tmp_path, stability=True)
    for table in (3, pd.DataFrame({"topic": [1]})):
        with pytest.raises(ValueError, match=r"`stability` of HDSP.article must be True, False"):
            model.article(tmp_path, stability=table)
    with pytest.raises(ValueError, match=r"`texts` of HDSP.article must be one text for each of"):
        model.article(tmp_path, corpus, texts=texts[:3])
    with pytest.raises(ValueError, match=r"`corpus` of HDSP.article must be the documents that"):
        model.article(tmp_path, corpus[:20])
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError, match=r"file' is another or was .*: choose another folder"):
        model.article(tmp_path / "file")
    (tmp_path / "file").unlink()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"Figures need matplotlib: pip install 'hdsp\[plots\]'"):
        model.article(tmp_path)
    assert not list(tmp_path.iterdir())
