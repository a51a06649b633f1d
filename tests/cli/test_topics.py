"""`hdsp topics` and `hdsp stability`: topics, names and merges, words, documents, correlations."""

import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest

import hdsp as package
from hdsp import HDSP, Corpus, TextSettings
from hdsp.analysis.checks import _JUNK
from tests.cli.commands import check_refused, hdsp, reviews
from tests.cli.conftest import write_names
from tests.zoo import fit_quietly

HEADER = ["topic", "share", "coherence", "words", "strongest", "effects", "(points)"]
TEXTS = ["budget tax vote linktocommentspostcount http", "silk skirt hem sleeve waist"] * 15


def test_topics_show_the_strongest_effects_of_both_signs(here):
    header, *rows, _, note = hdsp("topics model.hdsp").lines
    assert header.split() == HEADER
    assert any("leather" in row for row in rows)
    assert note.endswith("See all: hdsp effects model.hdsp")
    table = HDSP.load("model.hdsp").label_effects()
    sure = table[(table["lower"] > 0) | (table["upper"] < 0)]
    signs = set()
    for topic, row in enumerate(rows):
        own = sure[sure["topic"] == topic]
        own = own.loc[own["effect"].abs().sort_values(ascending=False, kind="stable").index[:3]]
        shown = [f"{n} {100 * e:+.1f}" for n, e in zip(own["label"], own["effect"], strict=True)]
        assert row[header.index("strongest") :] == "; ".join(shown)
        signs |= set(np.sign(own["effect"]))
    assert signs == {-1.0, 1.0}
    assert hdsp("topics model.hdsp --json").json["topics"][0]["topic"] == 0


def test_topics_of_a_word_are_found(here):
    header, first, *_ = hdsp("topics model.hdsp --find silk").lines
    assert header.split() == ["topic", "share", "words"]
    assert "silk" in first
    assert len(hdsp("topics model.hdsp --find silk --json").json["topics"]) == 8


def test_a_model_tells_what_it_was_made_with(here):
    printed = dict(line.split(maxsplit=1) for line in hdsp("topics model.hdsp --about").lines)
    record = hdsp("topics model.hdsp --about --json").json
    assert record == HDSP.load("model.hdsp").provenance_
    assert printed["hdsp"] == record["versions"]["hdsp"] == package.__version__
    assert printed["random_state"] == str(record["random_state"])
    assert printed["fingerprint"] == record["fingerprint"]
    assert len(record["fingerprint"]) == 64


def test_correlations_are_printed_and_written(here, tmp_path):
    first, *pairs = hdsp("topics model.hdsp --correlations").lines
    hdsp(f"topics model.hdsp --correlations -o {tmp_path}/c.csv")
    table = pd.read_csv(tmp_path / "c.csv")
    sure = table[(table["lower"] > 0) | (table["upper"] < 0)]
    assert first.startswith(f"{len(sure)} of {len(table)} topic pairs are correlated")
    if pairs:
        assert pairs.pop(0).split() == ["correlation", "interval", "raw", "topic", "other"]
    expected = [f"{value:+.2f}" for value in sorted(sure["correlation"], reverse=True)]
    assert [pair.split()[0] for pair in pairs] == expected


def test_typical_documents_are_printed_and_written(here, tmp_path):
    line = "topics model.hdsp --documents reviews.parquet"
    header, *rows = hdsp(line).lines
    assert header.split() == ["topic", "proportion", "id", "text"]
    assert len(rows) == 3 * len({row.split()[0] for row in rows})
    hdsp(f"{line} -o {tmp_path}/documents.csv")
    written, texts = pd.read_csv(tmp_path / "documents.csv"), pd.read_parquet("reviews.parquet")
    assert len(written) == len(rows)
    assert written["text"].tolist() == texts["text"][written["document"]].tolist()
    for text, identity, row in zip(written["text"], written["id"], rows, strict=True):
        start = row.partition(f"{identity}  ")[2].strip()
        # Of a long text, the beginning.
        assert len(start) == min(len(text), 100)
        assert text.startswith(start.removesuffix("…"))


def test_topics_that_come_back_are_printed_first(here, tmp_path):
    line = "stability model.hdsp reviews.parquet --n-fits 2"
    first, header, *rows = hdsp(line).lines
    assert "with other seeds" in first
    assert header.split()[:5] == ["topic", "share", "similarity", "found", "in"]
    common = [float(row.split()[2]) for row in rows]
    assert common == sorted(common, reverse=True)
    assert all(row.split()[4] == "2" for row in rows)
    found = hdsp(f"{line} --json").json
    assert len(found["topics_in_fits"]) == 2
    assert all(0 <= topic["found_in"] <= 2 for topic in found["topics"])
    hdsp(f"{line} -o {tmp_path}/topics.csv")
    assert {"similarity", "found_in", "words"} <= set(pd.read_csv(tmp_path / "topics.csv"))


@pytest.fixture
def copied(folder, tmp_path, monkeypatch):
    """A copy of the model that may be changed, and names of its topics."""
    for name in ("model.hdsp", "reviews.parquet"):
        shutil.copy(folder / name, tmp_path)
    write_names(tmp_path / "names.json", {"1": "Shoes", "4": "Bags"})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_names_are_kept_in_the_model_file(copied):
    before = HDSP.load("model.hdsp").components_
    files = sorted(path.name for path in copied.iterdir())
    ran = hdsp("topics model.hdsp --names names.json")
    assert ran.err == "hdsp: wrote model.hdsp.\n"
    assert "Shoes" in ran.out
    loaded = HDSP.load("model.hdsp")
    assert loaded.topic_names_ == {1: "Shoes", 4: "Bags"}
    np.testing.assert_array_equal(loaded.components_, before)
    assert sorted(path.name for path in copied.iterdir()) == files
    rows = hdsp("topics model.hdsp --json").json["topics"]
    assert [row["name"] for row in rows] == ["", "Shoes", "", "", "Bags", "", "", ""]
    rows = hdsp("effects model.hdsp --json").json["effects"]
    assert {row["topic"]: row["name"] for row in rows}[4] == "Bags"
    for shown in ("effects model.hdsp --all", "topics model.hdsp --find silk --all"):
        assert "Shoes" in hdsp(shown).out
    assert "Shoes" in hdsp("topics model.hdsp --documents reviews.parquet").out
    header = hdsp("transform model.hdsp reviews.parquet").lines[0].split(",")
    assert header[:3] == ["id", "topic0", "topic1 Shoes"]


def test_names_and_merged_topics_make_a_new_model(copied):
    before = (copied / "model.hdsp").read_bytes()
    line = "topics model.hdsp --names names.json --merge 4,5"
    out, err = hdsp(f"{line} -o merged.hdsp")
    assert err == "hdsp: wrote merged.hdsp.\n"
    assert re.search(r"Bags +4\+5 ", out)
    assert "nan" not in out
    assert (copied / "model.hdsp").read_bytes() == before
    merged = HDSP.load("merged.hdsp")
    named = {merged.fitted_topics_[k]: name for k, name in merged.topic_names_.items()}
    assert named == {(1,): "Shoes", (4, 5): "Bags"}
    assert sorted(merged.fitted_topics_) == [(0,), (1,), (2,), (3,), (4, 5), (6,), (7,)]
    rows = hdsp(f"{line} -o other.hdsp --json --all").json["topics"]
    expected = ["+".join(map(str, own)) for own in merged.fitted_topics_]
    assert [row["fitted_topics"] for row in rows] == expected


def test_names_of_topics_that_are_not_there_change_nothing(copied):
    before = (copied / "model.hdsp").read_bytes()
    for names, message in (
        ({"9": "x"}, "names topic 9, but the model's topics are 0 to 7"),
        ({"0": None}, "is not a file of topic names"),
        ({"0": 3}, "is not a file of topic names"),
    ):
        write_names(copied / "names.json", names)
        check_refused("topics model.hdsp --names names.json", message)
    (copied / "names.json").write_text("[" * 100_000)
    check_refused("topics model.hdsp --names names.json", "is not a file of topic names")
    assert (copied / "model.hdsp").read_bytes() == before


def test_seeds_are_read_from_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reviews(120).to_parquet("reviews.parquet")
    seeds = {"cloth": ["silk"], "walk": ["sole"]}
    line = "fit reviews.parquet --seeds seeds.json --n-components 5 -o m.hdsp"
    for text, message in (
        ("{", "is not JSON"),
        ("[]", "must map topic names"),
        ("[" * 100_000, "is not JSON"),
        ('{"a": "b"}', "--seeds must map topic names to lists of words"),
    ):
        (tmp_path / "seeds.json").write_text(text)
        check_refused(line, message)
    (tmp_path / "seeds.json").write_text(json.dumps(seeds))
    hdsp(line)
    assert set(HDSP.load("m.hdsp").topic_names_.values()) == set(seeds)


def test_the_number_of_topics_is_found_and_can_be_fixed(here, tmp_path):
    fit = f"fit new.csv --categories department -o {tmp_path}/m.hdsp"
    hdsp(f"{fit} --max-components 6")
    searched = HDSP.load(tmp_path / "m.hdsp")
    assert 2 <= len(searched.topic_weight_) <= 6
    assert searched.search_
    hdsp(f"{fit} --n-components 6")
    assert len(HDSP.load(tmp_path / "m.hdsp").topic_weight_) == 6


def test_junk_of_large_topics_is_told_and_listed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, texts in (("junk", TEXTS), ("clean", [text.split("link")[0] for text in TEXTS])):
        corpus = Corpus.from_texts(texts, text_settings=TextSettings(min_df=1, max_df=1.0))
        model = HDSP(2, init="nmf", max_iter=5, random_state=0)
        fit_quietly(model, corpus, None).save(f"{name}.hdsp")
    told = hdsp("topics junk.hdsp").err
    assert "words that look like remains of web pages (" in told
    assert "hdsp topics --junk" in told
    lines = hdsp("topics junk.hdsp --junk").lines
    assert {line.split()[-1] for line in lines[1:-1]} == {"linktocommentspostcount", "http"}
    assert lines[-1].endswith("--stop-words FILE.")
    assert len(hdsp("topics junk.hdsp --junk --json").json["junk"]) == 2
    HDSP.load("junk.hdsp").report("report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "words that look like remains of web pages" in page
    assert hdsp("topics clean.hdsp").err == ""
    none = "No topic word looks like the remains of a web page.\n"
    assert hdsp("topics clean.hdsp --junk").out == none


@pytest.mark.parametrize(
    ("words", "junk"),
    [
        (("https", "nbsp", "aaargh", "xkcdq"), True),
        (("rhythm", "committee", "electroencephalography", "größe", "天气", "https server"), False),
    ],
)
def test_which_words_are_junk(words, junk):
    assert all((_JUNK.fullmatch(word) is not None) == junk for word in words)
