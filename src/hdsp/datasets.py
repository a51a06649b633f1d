"""A labelled corpus on every machine: the docstrings of NumPy, SciPy and scikit-learn."""

import importlib
import inspect
import pkgutil
import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from hdsp.corpus import Corpus, Labels

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["load_docstrings"]

# Test helpers, vendored code, build tools, and modules whose import changes or reports something.
_SKIPPED_MODULES = (
    *("array_api_compat", "array_api_extra", "conftest", "core", "distutils", "estimator_checks"),
    *("experimental", "externals", "f2py", "matlib", "setup", "testing", "tests", "testutils"),
    "typing",
)
# scikit-learn generates these for every estimator.
_GENERATED_METHOD = re.compile(r"set_\w+_request")
# Shorter docstrings are stubs ("Alias of ...").
_MIN_WORDS = 20
# Docstrings that may share a line.
_MAX_SHARED = 20

# Code, references, and text that is the same for many objects.
_DROPPED_SECTIONS = frozenset(
    {"array api standard support", "example", "examples", "references", "see also"}
)
_UNDERLINE = re.compile(r"^\s*([-=~^])\1{2,}\s*$")
_BOLD_LINE = re.compile(r"^\*\*[^*]+\*\*$")
_DECLARATION = re.compile(r"^(\s*[*\w][\w*, ]*) : .*$", re.MULTILINE)
# Signatures, directives, addresses, roles, LaTeX.
_MARKUP = re.compile(
    r"\A[\w.]+\(.*\)\]?(?: ->.*)?$|^\s*\.\. .*$|\bhttps?://\S+|\bwww\.\S+"
    r"|:[a-zA-Z][\w:+-]*:(?=`)|\\[a-zA-Z]+(?:\{[a-zA-Z*]*\})?",
    re.MULTILINE,
)

# Frequent in docstrings on any subject: types, signatures, references to documentation.
_FORMAL_WORDS = """
according added additional allowed api applied apply appropriate argument arguments array arrays
assumed attribute attributes auto automatically available based behavior bool boolean calculate
calculated callable called calling calls case cases changed chosen code compute computed computes
computing consider considered contain containing contains controls converted corresponding
corresponds created default defaults defined defines depending deprecated desired details
determined determines dict dictionary different directly documentation does dtype equivalent
example examples expected false float floating floats following follows function functions general
given gives guide ignored implementation implemented information input inputs instance instead int
integer integers ints keyword known kwargs large larger len like list make means method methods
ndarray necessary need new non note notes numpy object objects obtained option optional options
output outputs parameter parameters params pass passed passing perform performed place possible
present provide provided provides python raise raised raises read refer represent representing
represents required respectively result resulting results return returned returning returns routine
scalar scalars scipy section self set sets setting similar single sklearn small smaller specified
specifies specify str string support supported taken treated true tuple type types underlying
unless use used useful user uses using usually valid value valueerror values version want way work
works
""".split()  # noqa: SIM905


@overload
def load_docstrings(*, as_frame: Literal[False] = False) -> Corpus: ...


@overload
def load_docstrings(*, as_frame: Literal[True]) -> "pd.DataFrame": ...


def load_docstrings(*, as_frame: bool = False) -> "Corpus | pd.DataFrame":
    """Load the docstrings of NumPy, SciPy and scikit-learn as a labelled corpus.

    Several thousand short English documents that are already on this machine. Their number depends
    on the installed versions.

    Parameters
    ----------
    as_frame : bool, default=False
        Return texts and labels as a pandas table.

    Returns
    -------
    Corpus or pandas.DataFrame
        The labels are the categories `package`, `module` (such as ``scipy.stats``) and `kind`
        (function, class, method), and the number `n_parameters`, missing if Python cannot read the
        signature. The table also has the columns `name` and `text`; row m is document m.

    Examples
    --------
    >>> corpus = load_docstrings()
    >>> [block.name for block in corpus.labels.blocks]
    ['package', 'module', 'kind', 'n_parameters']
    """
    frame = collect_docstrings(("numpy", "scipy", "sklearn"))
    if as_frame:
        return frame
    labels = Labels.from_frame(
        frame, categories=["package", "module", "kind"], numeric=["n_parameters"]
    )
    vectorizer = CountVectorizer(
        stop_words=sorted(ENGLISH_STOP_WORDS.union(_FORMAL_WORDS)),
        token_pattern="[a-zA-Z][a-zA-Z]{2,}",
        min_df=10,
        max_df=0.3,
    )
    return Corpus.from_texts(frame["text"].tolist(), labels=labels, text_settings=vectorizer)


def collect_docstrings(packages: Sequence[str]) -> "pd.DataFrame":
    """Return distinct docstrings of all public functions, classes and methods, sorted by name."""
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [
            row
            for package in packages
            for module in _public_modules(package)
            for name, member in _public_members(module)
            for row in _documented(f"{module.__name__}.{name}", module, member)
        ]
    frame = pd.DataFrame(rows).astype({"n_parameters": float})
    # The shortest name of an object is listed first; the others are aliases.
    depth = frame["name"].str.count(r"\.")
    frame = _distinct(
        frame.assign(depth=depth).sort_values(["depth", "name"]).drop(columns="depth")
    )
    # A line that many share is a template, such as on `out` of every ufunc.
    lines = frame["text"].str.split("\n").explode().str.strip()
    shared = lines.reset_index().drop_duplicates()["text"].value_counts()
    own = lines[(lines != "") & (lines.map(shared) <= _MAX_SHARED)]
    frame = _distinct(frame.assign(text=own.groupby(level=0).agg("\n".join)))
    return frame.sort_values("name", ignore_index=True)


def _distinct(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the first row of each text that is no stub."""
    return frame[frame["text"].str.count(r"\S+") >= _MIN_WORDS].drop_duplicates("text")


def _public_modules(name: str) -> Iterator[ModuleType]:
    """Yield a module and all public modules below it that can be imported."""
    try:
        module = importlib.import_module(name)
    except Exception:
        return
    yield module
    for entry in pkgutil.iter_modules(vars(module).get("__path__", ())):
        if not entry.name.startswith("_") and entry.name not in _SKIPPED_MODULES:
            yield from _public_modules(f"{name}.{entry.name}")


def _public_members(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield public functions and classes, without `getattr`, which finds deprecated aliases."""
    exported = vars(module).get("__all__")
    for name, member in vars(module).items():
        if name.startswith("_") or isinstance(member, ModuleType):
            continue
        defined_there = getattr(member, "__module__", None) == module.__name__
        if name in exported if exported is not None else defined_there:
            yield name, member


def _documented(qualified: str, module: ModuleType, member: Any) -> Iterator[dict[str, Any]]:
    """Yield the row of a function, or of a class and the methods that it defines."""
    package, *below = module.__name__.split(".")

    def row(name: str, kind: str, documented: Any, *, has_self: bool = False) -> dict[str, Any]:
        place = {"name": name, "package": package, "module": ".".join([package, *below[:1]])}
        text = prose(documented.__doc__) if isinstance(documented.__doc__, str) else ""
        n_parameters = _n_parameters(documented, has_self)
        return {**place, "kind": kind, "n_parameters": n_parameters, "text": text}

    if inspect.isclass(member):
        yield row(qualified, "class", member)
        for name, raw in vars(member).items():
            is_bound = isinstance(raw, classmethod | staticmethod)
            if name.startswith("_") or _GENERATED_METHOD.fullmatch(name):
                continue
            if is_bound or inspect.isroutine(raw):
                method = getattr(member, name)
                yield row(f"{qualified}.{name}", "method", method, has_self=not is_bound)
    elif inspect.isroutine(member) or isinstance(member, np.ufunc):
        yield row(qualified, "function", member)


def _n_parameters(documented: Any, has_self: bool) -> int | None:
    try:
        return max(len(inspect.signature(documented).parameters) - has_self, 0)
    except (TypeError, ValueError):
        return None


def prose(docstring: str) -> str:
    r"""Return the sentences of a docstring without code, references, markup or addresses.

    Examples
    --------
    >>> prose("Sum.\n\nNotes\n-----\nSee :func:`add`.\n\nExamples\n--------\n>>> sum([1, 2])\n3\n")
    'Sum.\n\nSee `add`.'
    """
    kept: list[str] = []
    in_dropped = in_code = False
    lines = inspect.cleandoc(docstring).splitlines()
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        title = line.strip()
        if title and (_UNDERLINE.match(following) or _BOLD_LINE.match(title)):
            in_dropped = title.strip("*: ").lower() in _DROPPED_SECTIONS
        elif not in_dropped and not _UNDERLINE.match(line):
            # A prompt opens code, a blank line closes it.
            in_code = title.startswith(">>>") or (in_code and bool(title))
            if not in_code:
                kept.append(line)
    # "tol : float, optional" becomes "tol": a name may mean something, a type does not.
    return _MARKUP.sub("", _DECLARATION.sub(r"\1", "\n".join(kept))).strip()
