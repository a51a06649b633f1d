"""Scripts without spaces, tokenizers by name, and stems."""

import sys
from types import SimpleNamespace

import pytest

from hdsp import HDSP, Corpus, FitWarning, TextSettings
from hdsp.corpus import prepare_corpus, read_table
from tests.zoo import fit_quietly

CHINESE = [
    "今天天气很好，我们去公园。",
    "明天天气不好 machine learning",
    "我们学习机器学习",
    "公园里的人",
    "图书馆",
]


def words_of(*texts, **settings):
    return set(TextSettings(language=None, **settings).count(texts)[1])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("东京都，我 go learning。", {"东京", "京都", "我", "learning"}),
        ("データ分析", {"デー", "ータ", "タ分", "分析"}),
        # Marks stay with their letters; digits and punctuation end words.
        ("ที่นี่๑ดี", {"ที่นี่", "ดี"}),
        ("ຂ້ອຍ", {"ຂ້ອ", "ອຍ"}),
        ("ខ្ញុំ", {"ខ្ញុំ"}),
        ("မြန်မာ", {"မြန်", "န်မာ"}),
    ],
)
def test_scripts_without_spaces_are_split_into_pairs_of_characters(text, words):
    with pytest.warns(FitWarning):
        assert words_of(text) == words
    assert words_of(text, token_pattern=r"\S+") == set(text.lower().split())


def test_it_is_said_once_and_new_texts_are_split_alike():
    with pytest.warns(FitWarning, match="such as '.+'.* 'jieba' for Chinese") as caught:
        corpus = Corpus.from_texts(CHINESE * 8)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert {"天气", "机器", "learning"} <= set(corpus.words)
    again = Corpus.from_texts(["天气 learning"], like=corpus)
    assert [w for w, n in zip(corpus.words, again.counts.toarray()[0], strict=True) if n] == [
        "learning",
        "天气",
    ]


def test_files_and_folders_of_shards_are_split_alike(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text\n" + "\n".join(CHINESE * 8), encoding="utf-8")
    with pytest.warns(FitWarning):
        words = read_table(path).words
    with pytest.warns(FitWarning):
        assert prepare_corpus(path, tmp_path / "corpus").words == words
    assert "天气" in words


def test_a_few_foreign_words_are_not_told():
    texts = [f"machine learning of {'abcdefghij'[m % 10] * 4} models" for m in range(30)]
    assert "天气" in Corpus.from_texts([*texts, *["weather is 天气"] * 5]).words


def test_tokenizers_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "rjieba", SimpleNamespace(cut=lambda text: text.split("/")))
    settings = TextSettings(language=None, tokenizer="jieba")
    assert settings.count(["我们/喜欢/，/NLP/3"])[1] == ("nlp", "喜欢", "我们")
    assert settings.storable


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("jieba", "rjieba", "chinese"),
        ("sudachi", "sudachipy", "japanese"),
        ("pythainlp", "pythainlp", "thai"),
    ],
)
def test_a_tokenizer_that_is_not_installed_names_its_extra(monkeypatch, name, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    message = rf"The tokenizer '{name}' needs {package}: pip install 'hdsp\[{extra}\]'\."
    with pytest.raises(ImportError, match=message):
        words_of("text", tokenizer=name)


@pytest.mark.parametrize("settings", [{}, {"token_pattern": r"[a-z]+(?:-[a-z]+)*"}])
def test_stems(settings):
    texts = ["Running runs and ran. Policies of the running dogs", "a policy, dog policies"]
    assert words_of(*texts, stem="english", **settings) >= {"run", "ran", "polici", "dog"}
    counts, words = TextSettings(stem="en", **settings).count(texts)
    assert dict(zip(words, counts.toarray()[0].tolist(), strict=True))["run"] == 3
    phrases = words_of("running dogs", stem="english", ngrams=2, **settings)
    assert phrases == {"run", "dog", "run dog"}
    # Stop words are left out as they are written.
    assert "this" not in TextSettings(stem="english").count(["this dog", "thi dogs"])[1]
    assert words_of("Häuser Hauses", stem="de") == {"haus"}
    lists = TextSettings(stem="english").count([["running", "Dogs"]])
    assert lists[1] == ("dog", "run")


def test_stems_are_stored_with_a_model(tmp_path):
    texts = ["cats run and dogs run", "taxes and voting minister"] * 12
    corpus = Corpus.from_texts(texts, text_settings=TextSettings(stem="english"))
    assert corpus.words == ("cat", "dog", "minist", "run", "tax", "vote")
    path = tmp_path / "a.csv"
    path.write_text("text\n" + "\n".join(texts))
    stems = TextSettings(stem="en")
    assert read_table(path, text_settings=stems).words == corpus.words
    fit_quietly(HDSP(2, init="nmf", max_iter=3), corpus, None).save(tmp_path / "m.hdsp")
    model = HDSP.load(tmp_path / "m.hdsp")
    assert model.text_settings_.stem == "english"
    assert read_table(path, like=model).counts.sum() == corpus.counts.sum()
    with pytest.raises(ValueError, match="`text_settings` of read_table must be those of `like`"):
        read_table(path, like=model, text_settings=TextSettings(stem="german"))
