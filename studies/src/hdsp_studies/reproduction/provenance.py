"""The code that results come from: its commit, and whether it has changed since."""

import ast
import subprocess
from functools import lru_cache
from pathlib import Path

import hdsp

# Sources that decide what is measured. Pages, figures and verdicts are made anew from the rows.
_HDSP = ("analysis", "corpus", "fit", "kernels", "model", "scaling")
_FILES = ("estimator.py", "metrics.py", "numerics.py", "pipeline.py")
_STUDIES = ("comparison", "peers", "reproduction/models.py", "reproduction/synthetic.py")
_DECISIVE = (
    *(f"src/hdsp/{name}" for name in (*_HDSP, *_FILES)),
    *(f"studies/src/hdsp_studies/{name}" for name in _STUDIES),
    # Studies fit in batch.
    *(f":(exclude)src/hdsp/fit/{name}.py" for name in ("stochastic", "stream")),
)
UNCOMMITTED = "uncommitted"


def code_commit() -> str:
    """The commit of the sources; the version outside a checkout, or ``"uncommitted"``."""
    top = _checkout()
    if top is None:
        return f"version {hdsp.__version__}"
    if _git(top, "status", "--porcelain", "--", *_DECISIVE):
        return UNCOMMITTED
    return str(_git(top, "rev-parse", "--short=10", "HEAD"))


def check_known(commit: str, path: Path) -> None:
    """Raise if results name a commit that this checkout, with its history, does not have."""
    top = _checkout()
    if top is None or _git(top, "rev-parse", "--is-shallow-repository") == "true":
        return
    if not _is_known(top, commit):
        raise ValueError(
            f"{str(path)!r} has rows of the commit {commit!r}, which git does not know: measure "
            "them with --again."
        )


@lru_cache
def is_stale(commit: str) -> bool:
    """Whether code that decides results has changed since a commit, comments and docs aside."""
    top = _checkout()
    if top is None or not _is_known(top, commit):
        return False
    changed = str(_git(top, "diff", "--name-only", commit, "--", *_DECISIVE)).split()
    for name in changed:
        before, now = _git(top, "show", f"{commit}:{name}"), top / name
        if before is None or not now.is_file() or _plain(before) != _plain(now.read_text("utf-8")):
            return True
    return False


def _is_known(top: Path, commit: str) -> bool:
    return _git(top, "cat-file", "-e", f"{commit}^{{commit}}") is not None


def _plain(source: str) -> str:
    """The code of a module without comments and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def _checkout() -> Path | None:
    """The checkout that this module lies in, if any."""
    here = Path(__file__).resolve()
    top = _git(here.parent, "rev-parse", "--show-toplevel")
    # An environment may lie in a checkout of something else.
    if top and here.is_relative_to(Path(top) / "studies" / "src"):
        return Path(top)
    return None


def _git(folder: Path, *command: str) -> str | None:
    """What git prints; None if it fails."""
    try:
        run = subprocess.run(
            ["git", "-C", str(folder), *command], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return run.stdout.strip()
