import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from hdsp.datasets import collect_docstrings, load_docstrings


@pytest.fixture(scope="module")
def records():
    return collect_docstrings()


@pytest.fixture(scope="module")
def by_name(records):
    return {record.name: record for record in records}


@pytest.fixture(scope="module")
def corpus():
    return load_docstrings()


def test_there_are_several_thousand_distinct_documents_in_order_of_name(records):
    names = [record.name for record in records]
    assert len(records) > 2500
    assert names == sorted(names)
    assert len(set(names)) == len(names)
    assert len({record.text for record in records}) == len(records)
    assert min(len(record.text.split()) for record in records) >= 20


def test_collecting_again_gives_the_same(records):
    assert collect_docstrings() == records


def test_nothing_private_vendored_or_of_tests_is_collected(records):
    parts = {part for record in records for part in record.name.split(".")}
    assert not [part for part in parts if part.startswith("_")]
    assert not parts & {"tests", "testing", "externals", "array_api_compat", "f2py"}
    assert not [part for part in parts if part.endswith("_request")]


@pytest.mark.parametrize(
    ("name", "module", "kind", "n_parameters"),
    [
        ("scipy.stats.ttest_rel", "scipy.stats", "function", None),
        ("scipy.stats.qmc.Sobol", "scipy.stats", "class", None),
        ("sklearn.cluster.KMeans.fit", "sklearn.cluster", "method", 3),
        ("sklearn.cluster.KMeans", "sklearn.cluster", "class", None),
        ("numpy.linalg.solve", "numpy.linalg", "function", 2),
        ("numpy.sin", "numpy", "function", None),
        ("numpy.random.Generator.poisson", "numpy.random", "method", 2),
    ],
)
def test_well_known_objects_are_labelled(by_name, name, module, kind, n_parameters):
    record = by_name[name]
    assert record.package == name.split(".")[0]
    assert (record.module, record.kind) == (module, kind)
    if n_parameters is not None:
        assert record.n_parameters == n_parameters


def test_an_alias_is_listed_under_its_shortest_name_only(by_name):
    assert "numpy.absolute" not in by_name or "numpy.abs" not in by_name
    assert "scipy.stats.distributions.rv_continuous" not in by_name


SENTENCE = "words " * 25


@pytest.fixture
def sample_package(tmp_path, monkeypatch):
    """Write the modules of a package and collect its docstrings, by short name."""

    def collect(name, **modules):
        folder = tmp_path / name
        folder.mkdir()
        for module, source in modules.items():
            (folder / f"{module}.py").write_text(textwrap.dedent(source))
        monkeypatch.syspath_prepend(tmp_path)
        return {
            record.name.removeprefix(f"{name}."): record for record in collect_docstrings([name])
        }

    return collect


def test_classes_own_methods_and_functions_are_collected_once(sample_package):
    found = sample_package(
        "hdsp_sample_kinds",
        __init__=f'''
            class Known:
                """Class {SENTENCE}"""
                def method(self, a, b):
                    """Method {SENTENCE}"""
                @classmethod
                def build(cls, a):
                    """Build {SENTENCE}"""
                @property
                def size(self):
                    """Property {SENTENCE}"""
                def set_fit_request(self):
                    """Generated {SENTENCE}"""
                def short(self):
                    """Too short."""
            class Child(Known):
                """Child {SENTENCE}"""
            def opaque():
                """Opaque {SENTENCE}"""
            opaque.__signature__ = "unreadable"
            def twin():
                """Opaque {SENTENCE}"""
            def _private():
                """Private {SENTENCE}"""
            ''',
    )
    assert {name: (record.kind, record.n_parameters) for name, record in found.items()} == {
        "Child": ("class", 0),
        "Known": ("class", 0),
        "Known.build": ("method", 1),
        "Known.method": ("method", 2),
        "opaque": ("function", None),
    }


def test_broken_modules_are_left_out_and_warning_ones_are_read(sample_package):
    found = sample_package(
        "hdsp_sample_modules",
        __init__="",
        broken="import hdsp_no_such_module",
        deprecated=f'''
            import warnings
            warnings.warn("old", DeprecationWarning)
            def documented():
                """Function {SENTENCE}"""
            def __getattr__(name):
                raise AssertionError("no name is looked up by attribute access")
            __all__ = ["documented", "alias"]
            ''',
        externals=f'''
            def vendored():
                """Vendored {SENTENCE}"""
            ''',
    )
    assert set(found) == {"deprecated.documented"}


def test_lines_that_very_many_docstrings_share_are_left_out(sample_package):
    functions = "".join(
        f'def f{i}():\n    """Alone {i} {SENTENCE}\n\n    Template.\n    """\n' for i in range(21)
    )
    found = sample_package("hdsp_sample_templates", __init__=functions)
    assert len(found) == 21
    assert found["f7"].text == f"Alone 7 {SENTENCE}".strip()


def test_collecting_neither_plots_nor_tests_nor_talks():
    script = """
        import sys, warnings
        from hdsp.datasets import collect_docstrings
        warnings.simplefilter("always")
        collect_docstrings()
        print(sorted({"matplotlib", "pytest", "hypothesis"} & set(sys.modules)))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")


def test_the_corpus_carries_the_four_labels(corpus, records):
    assert len(corpus) == len(records)
    assert [(block.name, block.kind) for block in corpus.labels.blocks] == [
        ("package", "category"),
        ("module", "category"),
        ("kind", "category"),
        ("n_parameters", "number"),
    ]
    assert set(corpus.labels.block("package").columns) == {"numpy", "scipy", "sklearn"}
    known = sum(record.n_parameters is not None for record in records)
    assert corpus.labels.block("n_parameters").values.nnz == known


def test_the_vocabulary_is_of_subjects_not_of_docstrings(corpus):
    words = set(corpus.words)
    assert {"matrix", "distribution", "cluster", "filter", "spline"} <= words
    assert not words & {"parameters", "returns", "ndarray", "optional", "versionadded", "https"}
    assert 1000 < len(words) < 10_000


@pytest.mark.parametrize(
    ("module", "subject"),
    [
        ("scipy.stats", "distribution"),
        ("scipy.signal", "filter"),
        ("scipy.linalg", "matrix"),
        ("sklearn.cluster", "cluster"),
        ("numpy.random", "samples"),
    ],
)
def test_the_leading_words_of_a_module_name_its_subject(corpus, module, subject):
    block = corpus.labels.block("module")
    carries = block.values[:, [block.columns.index(module)]].toarray().ravel() > 0
    totals = np.asarray(corpus.counts[np.flatnonzero(carries)].sum(axis=0)).ravel()
    assert subject in {corpus.words[i] for i in np.argsort(-totals)[:5]}
