"""The docstrings of installed packages as a corpus."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from hdsp.datasets import collect_docstrings, load_docstrings, prose


@pytest.fixture(scope="module")
def frame():
    return load_docstrings(as_frame=True)


def test_there_are_several_thousand_distinct_documents_in_order_of_name(frame):
    assert len(frame) > 2500
    assert frame["name"].is_monotonic_increasing
    assert frame["name"].is_unique
    assert frame["text"].is_unique
    assert frame["text"].str.split().str.len().min() >= 20
    assert load_docstrings(as_frame=True).equals(frame)


def test_private_vendored_and_generated_objects_and_aliases_are_left_out(frame):
    parts = {part for name in frame["name"] for part in name.split(".")}
    assert not [part for part in parts if part.startswith("_") or part.endswith("_request")]
    assert not parts & {"tests", "testing", "externals", "array_api_compat", "f2py"}
    assert not {"numpy.absolute", "numpy.abs"} <= set(frame["name"])
    assert "scipy.stats.distributions.rv_continuous" not in set(frame["name"])


def test_well_known_objects_are_labelled(frame):
    rows = frame.set_index("name")
    for name, *expected in (
        ("scipy.stats.qmc.Sobol", "scipy", "scipy.stats", "class"),
        ("sklearn.cluster.KMeans.fit", "sklearn", "sklearn.cluster", "method", 3),
        ("numpy.linalg.solve", "numpy", "numpy.linalg", "function", 2),
        ("numpy.sin", "numpy", "numpy", "function"),
        ("numpy.random.Generator.poisson", "numpy", "numpy.random", "method", 2),
    ):
        columns = ["package", "module", "kind", "n_parameters"][: len(expected)]
        assert rows.loc[name, columns].tolist() == expected


def test_the_corpus_has_the_labels_and_the_words_of_subjects(frame):
    corpus = load_docstrings()
    assert len(corpus) == len(frame)
    assert [(block.name, block.kind) for block in corpus.labels.blocks] == [
        *((name, "category") for name in ("package", "module", "kind")),
        ("n_parameters", "number"),
    ]
    assert set(corpus.labels.block("package").columns) == {"numpy", "scipy", "sklearn"}
    assert corpus.labels.block("n_parameters").values.nnz == frame["n_parameters"].notna().sum()
    words = set(corpus.words)
    assert {"matrix", "distribution", "cluster", "filter", "spline"} <= words
    assert not words & {"parameters", "returns", "ndarray", "optional", "versionadded", "https"}
    block = corpus.labels.block("module")
    for module, subject in (("scipy.stats", "distribution"), ("scipy.signal", "filter")):
        members = block.values[:, [block.columns.index(module)]].toarray().ravel() > 0
        totals = np.asarray(corpus.counts[np.flatnonzero(members)].sum(axis=0)).ravel()
        assert subject in {corpus.words[i] for i in np.argsort(-totals)[:5]}


SENTENCE = "words " * 25


def test_a_package_with_broken_modules_templates_and_stubs(tmp_path, monkeypatch):
    functions = "\n".join(
        f'def f{i}():\n    """Alone {i} {SENTENCE}\n\n    Template.\n    """' for i in range(21)
    )
    modules = {
        "__init__": f'''
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
        "broken": "import hdsp_no_such_module",
        "deprecated": f'''
            import warnings
            warnings.warn("old", DeprecationWarning)
            def documented():
                """Function {SENTENCE}"""
            def __getattr__(name):
                raise AssertionError("no name is looked up by attribute access")
            __all__ = ["documented", "alias"]
            ''',
        "externals": f'def vendored():\n    """Vendored {SENTENCE}"""',
        "templates": functions,
    }
    folder = tmp_path / "hdsp_sample"
    folder.mkdir()
    for module, source in modules.items():
        (folder / f"{module}.py").write_text(textwrap.dedent(source))
    monkeypatch.syspath_prepend(tmp_path)
    found = collect_docstrings(["hdsp_sample"])
    found["name"] = found["name"].str.removeprefix("hdsp_sample.")
    found = found.set_index("name")
    assert found.loc["templates.f7", "text"] == f"Alone 7 {SENTENCE}".strip()
    rest = found[~found.index.str.startswith("templates.")]
    assert list(rest[["kind", "n_parameters"]].itertuples(name=None)) == [
        ("Child", "class", 0),
        ("Known", "class", 0),
        ("Known.build", "method", 1),
        ("Known.method", "method", 2),
        ("deprecated.documented", "function", 0),
        ("opaque", "function", pytest.approx(np.nan, nan_ok=True)),
    ]


def test_loading_imports_no_plots_or_tests_and_prints_and_warns_about_nothing():
    script = """
        import sys, warnings
        from hdsp.datasets import load_docstrings
        warnings.simplefilter("always")
        load_docstrings()
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


def test_prose_keeps_sentences_and_drops_code_references_and_markup():
    text = prose(
        r"""
        welch(x, fs=1.0)

        Estimate power spectral density using Welch's method.

        The density is :math:`\frac{a}{b}`, see :func:`numpy.fft.rfft` or https://example.org/welch.

        .. versionadded:: 0.12.0

        >>> welch(signal)
        array([4, 5])

        Parameters
        ----------
        tapering : str or tuple, optional
            Desired window to use.

        See Also
        --------
        periodogram : A simple estimate.

        Notes
        -----
        An appropriate amount of overlap.

        **Array API Standard Support**

        `welch` has experimental support for CuPy.

        References
        ----------
        .. [1] P. Bartlett, Biometrika.
        """
    )
    kept = ("Estimate power", "Desired window", "amount of overlap", "tapering", "rfft")
    dropped = (
        *("fs=1.0", ">>>", "array([", "tuple", "----", "versionadded", "https", "example.org"),
        *("func", "math", "frac", "Parameters", "Notes", "periodogram", "CuPy", "Bartlett"),
    )
    assert [part for part in kept if part not in text] == []
    assert [part for part in dropped if part in text] == []
    assert prose("") == ""
    assert prose("Sum.\n\nExamples\n--------\n>>> 1\n1\n\nNotes\n-----\nKept.") == "Sum.\n\nKept."
