"""What a paper prints: every number is the model's, and hostile words do no harm."""

import json
import re
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


def read_same(path, expected):
    """The table of a file, which has all numbers of another, to the last bit."""
    found, names = read(path), expected.select_dtypes("number").columns
    assert len(names) > 1
    np.testing.assert_array_equal(found[names].astype(float), expected[names])
    return found


def assert_told(folder, *parts, without=()):
    """Compare the methods with what they must and must not tell."""
    told = (folder / "methods.md").read_text(encoding="utf-8")
    assert [part for part in parts if part not in told] == []
    assert [part for part in without if part in told] == []


def test_the_files_that_apply_are_written_to_the_byte(folder, model, corpus, texts, tmp_path):
    model.article(tmp_path, corpus, texts=texts)
    wanted = {"effects.csv", "effects.pdf", "effects.tex", "results.md", "curves.csv", "curves.pdf"}
    assert {path.name for path in folder.iterdir()} == ALWAYS | wanted
    assert {path.name for path in tmp_path.iterdir()} == ALWAYS | wanted
    for path in folder.iterdir():
        content = path.read_bytes()
        assert content == (tmp_path / path.name).read_bytes(), path.name
        assert content.startswith(b"%PDF") == (path.suffix == ".pdf")


def test_the_table_of_topics_is_the_models(folder, model, corpus, texts):
    expected = model.topics()[: model.n_topics_]
    found = read_same(folder / "topics.csv", expected)
    for name in ("words", "distinctive_words", "frex_words"):
        assert [words.removeprefix("'") for words in found[name]] == expected[name].tolist()
    assert found["raised_by"].tolist() == [";".join(own) for own in expected["raised_by"]]
    typical = model.typical_documents(corpus, n=2, texts=texts)
    # An apostrophe keeps spreadsheets from computing.
    quoted = ("'" + typical["text"]).tolist()
    assert found[["typical_1", "typical_2"]].to_numpy().ravel().tolist() == quoted


def effects_of(model):
    """The table of effects, its columns as lists, and the rows that are printed."""
    table = model.label_effects()
    columns = {name: table[name].tolist() for name in table}
    return table, columns, strongest_effects(model, columns)


def test_one_of_two_levels_is_printed(corpus):
    frame = pd.DataFrame({"side": np.resize(["left", "right"], len(corpus))})
    other = Corpus(corpus.counts, corpus.words, frame)
    model = HDSP(3, init="nmf", max_iter=5, tol=0.1, random_state=0).fit(other)
    table, _, (rows,) = effects_of(model)
    assert table["label"].nunique() == 2
    assert table.loc[rows, "label"].nunique() == 1


def test_effects_that_cannot_be_estimated_are_not_printed(model):
    _, columns, _ = effects_of(model)
    unknown = columns["label"][0]
    for name in ("effect", "lower", "upper"):
        columns[name][: len(model.components_)] = [np.nan] * len(model.components_)
    shown = strongest_effects(model, columns)
    assert unknown not in {columns["label"][row] for rows in shown for row in rows}
    assert "nan" not in results_text(model, columns, shown)


def test_effects_are_printed_with_unit_and_interval(folder, model):
    printed = (folder / "effects.tex").read_text(encoding="utf-8").replace("$-$", "-")
    told = (folder / "results.md").read_text(encoding="utf-8")
    table, columns, shown = effects_of(model)
    found = read_same(folder / "effects.csv", table)
    assert [found[name].tolist() for name in ("label", "contrast")] == [
        columns[name] for name in ("label", "contrast")
    ]
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
    drawn = plots.curve(model, "rating", topics=[3]).lines[0].get_xydata()
    own = found.loc[found["topic"] == "3", ["value", "expected"]]
    np.testing.assert_array_equal(own.astype(float), drawn)


def unescaped(text):
    """What LaTeX prints of an escaped text."""
    names = {"asciitilde": "~", "asciicircum": "^", "less": "<", "greater": ">", "bar": "|"}
    for name, character in names.items():
        text = text.replace(rf"\text{name}{{}}", character)
    text = text.replace(r"{\char34}", '"')
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


def test_what_is_cited_is_in_the_references(folder):
    def entries(text):
        return set(re.findall(r"^@\w+\{(\w+),", text, flags=re.M))

    cited = set(re.findall(r"@(\w+)", (folder / "methods.md").read_text()))
    assert cited == entries((folder / "references.bib").read_text())
    everything = read_asset("references.bib")
    known = entries(everything)
    # This model: variational Bayes, groups, no refits.
    assert known - cited == {"hoffman2013", "mackinnon1985", "rubin1987"}
    assert set(re.findall(r"@(\w+)", read_asset("methods.md"))) | {"hoffman2013"} == known
    for entry in everything.strip().split("\n\n"):
        assert entry.count("{") == entry.count("}")


def test_the_choice_of_the_number_is_drawn_where_there_was_one(tmp_path):
    model = fit_searched()
    model.article(tmp_path)
    assert (tmp_path / "selection.pdf").read_bytes().startswith(b"%PDF")
    tried = [row["topics"] for row in model.search_ if row["init"] == model.init_]
    assert_told(
        tmp_path,
        f"Among {min(tried)} to {max(tried)} topics, we chose the number",
        f"The model has {model.number_summary_}",
    )


def test_own_files_are_replaced_and_others_are_not(plain, tmp_path):
    plain.article(tmp_path)
    methods, provenance = tmp_path / "methods.md", tmp_path / "provenance.json"
    record = json.loads(provenance.read_text())
    # A file of an earlier call that this one does not write.
    (tmp_path / "old.pdf").write_bytes(b"old")
    record["files"]["old.pdf"] = sha256(b"old").hexdigest()
    provenance.write_text(json.dumps(record))
    plain.article(tmp_path)
    assert not (tmp_path / "old.pdf").exists()
    before = methods.read_text()
    methods.write_text("My own words.")
    with pytest.raises(FileExistsError, match=r"methods.md' is another or was changed since"):
        plain.article(tmp_path)
    assert methods.read_text() == "My own words."
    methods.write_text(before)
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(FileExistsError, match=r"replaces only files that it wrote.*thesis.tex' is"):
        plain.article(tmp_path)


def test_a_record_of_elsewhere_removes_nothing(plain, tmp_path):
    (tmp_path / "precious").write_text("")
    digest = sha256(b"").hexdigest()
    for number, record in enumerate(({"files": {"../precious": digest}}, {"files": 3}, [1], {})):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "provenance.json").write_text(json.dumps(record))
        plain.article(folder)
        assert (tmp_path / "precious").exists()


def test_methods_tell_the_record(folder, model, corpus):
    missing = reviews(150)[1].isna().sum()
    assert_told(
        folder,
        f"150 documents with {corpus.n_tokens:,.0f} tokens ({corpus.n_tokens / 150:,.0f} per "
        f"document on average) of {len(corpus.words)} different words",
        "into words of three letters or more and set in lower case",
        "We removed English stop words, 2 other words, words in fewer than 3 documents and words "
        "in more than 0.75 of the documents. ",
        "Phrases of up to 2 words",
        f"`department` (4 levels, missing in {missing['department']} documents)",
        "`labels` (3 tags)",
        f"`rating` (from 1 to 5, missing in {missing['rating']} documents)",
        "Its formula is `~ department + labels + s(rating)`.",
        f"It converged after {model.n_iter_} passes. The random seed was 7.",
        "The model has 6 topics, as many as were asked for.",
        "We named topics by hand.",
        f"The regression uses the {model.estimate_effects().n_documents} documents with words and "
        "without missing labels.",
        "The documents come from 30 groups, within which they are not independent. We report",
        "CR2 standard errors clustered by group",
        "Intervals take the topics as fixed.",
        "Curves of expected proportions along numeric labels come from a softmax",
        "We did not examine",
        without=["selection.pdf"],
    )


@pytest.mark.usefixtures("without_figures")
def test_methods_of_a_model_without_labels(plain, tmp_path):
    plain.merge_topics([1, 2]).article(tmp_path)
    assert_told(
        tmp_path,
        "the hierarchical Dirichlet process [@teh2006], a Bayesian",
        "Words were counted beforehand.",
        "seed words: 'bags'.",
        "We merged topics 1 and 2 after the fit.",
        without=["**Effects.**", "Labels are", "formula", "kim2017", "by hand"],
    )
    assert {path.name for path in tmp_path.iterdir()} == ALWAYS
    assert r"\dots" not in (tmp_path / "topics.tex").read_text()


@pytest.mark.usefixtures("without_figures")
def test_methods_of_versions_and_of_a_number_that_nobody_has(corpus, tmp_path):
    frame = pd.DataFrame({"side": np.resize(["left", "right"], len(corpus)), "day": np.nan})
    settings = TextSettings(
        language=None, lowercase=False, token_pattern=r"[a-z]+", max_features=50
    )
    other = Corpus(corpus.counts, corpus.words, frame, text_settings=settings)
    model = HDSP(3, init="nmf", max_iter=3, tol=0.1, n_jobs=1, content="side")
    with pytest.warns(LabelDataWarning):
        model.fit(other).article(tmp_path, other)
    assert_told(
        tmp_path,
        "Texts were split by the pattern `[a-z]+`.",
        "We removed words in fewer than five documents (or 2% of them, if that is less) and words "
        "in more than half of the documents.",
        "the 50 most frequent were kept",
        "Each level of `side` has separate word distributions",
        "Its formula is `~ side + day`.",
        "HC2 standard errors [@mackinnon1985]",
        without=["The regression uses", "Curves", "The random seed", "`day`"],
    )
    assert not (tmp_path / "curves.csv").exists()
    # Without texts, documents have numbers.
    typical = model.typical_documents(other, n=2)["document"][::2].astype(str)
    assert read(tmp_path / "topics.csv")["typical_1"].tolist() == typical.tolist()


@pytest.mark.usefixtures("without_figures")
def test_stability_refits_and_long_texts(model, corpus, tmp_path, monkeypatch):
    table = model.stability(corpus, numbers=[5], seeds=[1], per_fit=True)
    long = ["word " * 100] * len(corpus)
    model.article(tmp_path, corpus, texts=long, stability=table, refits=2)
    read_same(tmp_path / "stability.csv", table)
    read_same(tmp_path / "effects.csv", model.label_effects(refits=2))
    assert_told(
        tmp_path,
        "We refitted the model to all documents with 5 topics and the random seed 1.",
        ". To include the uncertainty of the topics, we refitted them to 2 resamples",
        without=["Intervals take the topics as fixed"],
    )
    assert "@book{rubin1987," in (tmp_path / "references.bib").read_text()
    # Long texts are cut at a word, in print alone.
    cut = "``" + " ".join(["word"] * 60) + r"\,\dots{}''"
    assert cut in (tmp_path / "topics.tex").read_text()
    assert read(tmp_path / "topics.csv")["typical_1"][0] == long[0]
    # Asked for, stability is computed.
    before, columns = (tmp_path / "stability.csv").read_bytes(), table.to_dict("list")
    monkeypatch.setattr(
        files.label_effects, "stability_columns", lambda *given, **named: ([], columns)
    )
    model.article(tmp_path, corpus, stability=True)
    assert (tmp_path / "stability.csv").read_bytes() == before


def test_what_is_refused(model, corpus, texts, tmp_path, monkeypatch):
    for arguments, message in (
        ({"texts": texts}, "`texts` of HDSP.article needs the training documents"),
        ({"stability": True}, "`stability` of HDSP.article needs the training docu"),
        ({"stability": 3}, "`stability` of HDSP.article must be True, False"),
        (
            {"stability": pd.DataFrame({"topic": [1]})},
            "`stability` of HDSP.article must be True, F",
        ),
        ({"corpus": corpus, "texts": texts[:3]}, "`texts` of HDSP.article must have one row for"),
        ({"corpus": corpus[:20]}, "`corpus` of HDSP.article must be the documents that"),
    ):
        with pytest.raises(ValueError, match=message):
            model.article(tmp_path, **arguments)
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError, match=r"file' is another or was .*: choose another folder"):
        model.article(tmp_path / "file")
    (tmp_path / "file").unlink()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"Figures need matplotlib: pip install 'hdsp\[plots\]'"):
        model.article(tmp_path)
    assert not list(tmp_path.iterdir())
