"""The docstrings of the scientific Python packages that are installed anyway."""

import importlib
import inspect
import pkgutil
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import ModuleType
from typing import Any, Literal

import numpy as np

from hdsp.corpus import Corpus, Labels
from hdsp.datasets.prose import prose
from hdsp.datasets.vocabulary import docstring_vectorizer

Kind = Literal["function", "class", "method"]

PACKAGES = ("numpy", "scipy", "sklearn")

# Test helpers, vendored code, build tools, and modules whose import changes or reports something.
_SKIPPED_MODULES = (
    *("array_api_compat", "array_api_extra", "conftest", "core", "distutils", "estimator_checks"),
    *("experimental", "externals", "f2py", "matlib", "setup", "testing", "tests", "testutils"),
    "typing",
)

# scikit-learn writes these from one template for every estimator.
_GENERATED_METHOD = re.compile(r"set_\w+_request")

# Shorter ones are stubs ("Alias of ...") without a subject.
_MIN_WORDS = 20

# A line found in more docstrings than this was not written for any of them.
_MAX_SHARED = 20


@dataclass(frozen=True)
class DocstringRecord:
    """One documented public object.

    Attributes
    ----------
    name : str
        Qualified name, such as ``"scipy.stats.ttest_ind"``: the shortest public one.
    package : str
        ``"numpy"``, ``"scipy"`` or ``"sklearn"``.
    module : str
        At most two levels, such as ``"scipy.stats"``; ``"numpy"`` for NumPy's own namespace.
    kind : {"function", "class", "method"}
        What it is.
    n_parameters : int or None
        Parameters of the signature without `self`; None where Python can not tell.
    text : str
        English prose of the docstring.
    """

    name: str
    package: str
    module: str
    kind: Kind
    n_parameters: int | None
    text: str


def collect_docstrings(packages: Sequence[str] = PACKAGES) -> tuple[DocstringRecord, ...]:
    """Read the docstrings of all public functions, classes and methods.

    Parameters
    ----------
    packages : sequence of str, default=("numpy", "scipy", "sklearn")
        Top-level packages. Submodules that fail to import are left out.

    Returns
    -------
    tuple of DocstringRecord
        Sorted by name, each text once, none under twenty words. Lines that more than twenty
        docstrings share are left out of all of them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        records = [
            record
            for package in packages
            for module in _public_modules(package)
            for name, member in _public_members(module)
            for record in _records(f"{module.__name__}.{name}", module, member)
        ]
    # Shorter names first: what comes again under a longer one is an alias.
    records.sort(key=lambda record: (record.name.count("."), record.name))
    distinct = _first_of_each_text(_without_templates(_first_of_each_text(records)))
    return tuple(sorted(distinct, key=lambda record: record.name))


def load_docstrings() -> Corpus:
    """Load the docstrings of NumPy, SciPy and scikit-learn as a labelled corpus.

    Several thousand short English documents that are already on this machine: nothing is
    downloaded. The exact number depends on the installed versions.

    Returns
    -------
    Corpus
        Labels are the categories `package`, `module` (such as ``scipy.stats``) and `kind`
        (function, class, method), and the number `n_parameters`, missing where Python can not
        tell an object's signature.

    Examples
    --------
    >>> corpus = load_docstrings()
    >>> [block.name for block in corpus.labels.blocks]
    ['package', 'module', 'kind', 'n_parameters']
    """
    import pandas as pd

    frame = pd.DataFrame(map(vars, collect_docstrings())).astype({"n_parameters": float})
    labels = Labels.from_frame(
        frame, categories=["package", "module", "kind"], numeric=["n_parameters"]
    )
    return Corpus.from_texts(
        frame["text"].tolist(), labels=labels, text_settings=docstring_vectorizer()
    )


def _public_modules(name: str) -> Iterator[ModuleType]:
    """Yield a module and everything public below it."""
    try:
        module = importlib.import_module(name)
    except Exception:
        # A submodule may need an optional dependency, or fail in ways of its own.
        return
    yield module
    for entry in pkgutil.iter_modules(vars(module).get("__path__", ())):
        if not entry.name.startswith("_") and entry.name not in _SKIPPED_MODULES:
            yield from _public_modules(f"{name}.{entry.name}")


def _public_members(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield functions and classes that a module offers as its own.

    Looking in the module's dictionary, not through `getattr`, leaves out names that exist only as
    deprecated aliases.
    """
    exported = vars(module).get("__all__")
    for name, member in vars(module).items():
        if name.startswith("_") or isinstance(member, ModuleType):
            continue
        own = getattr(member, "__module__", None) == module.__name__
        if name in exported if exported is not None else own:
            yield name, member


def _records(qualified: str, module: ModuleType, member: Any) -> Iterator[DocstringRecord]:
    """Yield the record of a function, or of a class and its methods; nothing for other things."""
    package, *below = module.__name__.split(".")

    def record(name: str, kind: Kind, documented: Any, *, bound: bool = True) -> DocstringRecord:
        doc = documented.__doc__
        return DocstringRecord(
            name=name,
            package=package,
            module=".".join([package, *below[:1]]),
            kind=kind,
            n_parameters=_n_parameters(documented, bound=bound),
            text=prose(doc) if isinstance(doc, str) else "",
        )

    if inspect.isclass(member):
        yield record(qualified, "class", member)
        # The class's own dictionary: an inherited method belongs to the class that wrote it.
        for name, raw in vars(member).items():
            if _is_public_method(name, raw):
                bound = isinstance(raw, classmethod | staticmethod)
                yield record(f"{qualified}.{name}", "method", getattr(member, name), bound=bound)
    elif inspect.isroutine(member) or isinstance(member, np.ufunc):
        yield record(qualified, "function", member)


def _first_of_each_text(records: Iterable[DocstringRecord]) -> list[DocstringRecord]:
    """Return the records with enough text that none before them has."""
    by_text: dict[str, DocstringRecord] = {}
    for record in records:
        if len(record.text.split()) >= _MIN_WORDS:
            by_text.setdefault(record.text, record)
    return list(by_text.values())


def _without_templates(records: Sequence[DocstringRecord]) -> Iterator[DocstringRecord]:
    """Yield the records without lines that very many share.

    Such lines come from a template, as on the `out` of every ufunc or the `n_jobs` of every
    estimator. Left in, they would make topics of their own.
    """
    pages = [[line.strip() for line in record.text.splitlines()] for record in records]
    shared = Counter(chain.from_iterable(set(page) for page in pages))
    for record, page in zip(records, pages, strict=True):
        own = [line for line in page if line and shared[line] <= _MAX_SHARED]
        yield replace(record, text="\n".join(own))


def _is_public_method(name: str, raw: Any) -> bool:
    """Tell whether an entry of a class's dictionary is a method that somebody documented."""
    if name.startswith("_") or _GENERATED_METHOD.fullmatch(name):
        return False
    return isinstance(raw, classmethod | staticmethod) or inspect.isroutine(raw)


def _n_parameters(documented: Any, *, bound: bool) -> int | None:
    """Count the parameters a caller may pass: `self` is none of them."""
    try:
        count = len(inspect.signature(documented).parameters)
    except (TypeError, ValueError):
        return None
    return count if bound else max(count - 1, 0)
