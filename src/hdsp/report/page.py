"""The page: plain data, a style sheet and scripts in one file that asks for nothing else.

Its ES modules are one script, since a page from disk can load no others. A browser takes modules
from nowhere but a server, or from `data:` and `blob:` addresses, which the page's policy would have
to allow to whatever could write into the page.
"""

import base64
import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from hdsp import progress
from hdsp.report.names import read_names
from hdsp.report.packing import to_json
from hdsp.report.view import make_view
from hdsp.storage.container import replacing

_VENDOR = ("vendor/d3.min.js", "vendor/plot.umd.min.js")
# Each after those that it imports names of.
_MODULES = (
    *("dom", "data", "effects", "topics", "address", "charts", "side-words", "view-topics"),
    *("view-explorer", "view-effects", "view-map", "view-heat", "view-documents", "view-fit"),
    "main",
)
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./[\w-]+\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let) )", re.MULTILINE)


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    corpus: Any = None,
    *,
    names: str | os.PathLike[str] | None = None,
    **shown: Any,
) -> None:
    """Write the report of a fitted `HDSP`; `shown` is for `make_view`. See `HDSP.report`."""
    known = {} if names is None else read_names(names, model)
    with progress.task("Writing the report"):
        page = render(make_view(model, corpus, names=known, **shown)).encode("utf-8")
        with replacing(Path(path)) as file:
            file.write(page)


def render(view: Mapping[str, Any]) -> str:
    """The page of a view, as HTML."""
    library, script = "\n".join(map(read_asset, _VENDOR)), bundle()
    fit, documents = view["fit"], view["documents"]
    policy = (
        "default-src 'none'; "
        f"script-src '{_hash(library)}' '{_hash(script)}'; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "title": escape(str(view["title"])),
        "summary": escape(fit["summary"]),
        "facts": _table("Corpus and model", fit["facts"]),
        "concentrations": _table("Concentrations in the end", fit["concentrations"]),
        "settings": _table("Settings", fit["settings"]),
        "versions": _table("Versions", fit["versions"]),
        "style": read_asset("style.css"),
        "data": to_json({**view, "documents": None}),
        "documents": "" if documents is None else to_json(documents),
        "library": library,
        "script": script,
    }
    # In one go, so that what is put in is never looked at again.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], read_asset("page.html"))


def _table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A table of facts, as HTML."""
    cells = (f'<th scope="row">{escape(name)}</th><td>{escape(value)}</td>' for name, value in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f'<div class="card"><h2>{title}</h2><table class="facts-table">{body}</table></div>'


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def read_asset(name: str) -> str:
    """A file of the page."""
    return (files("hdsp.report") / "assets" / name).read_text(encoding="utf-8")


def bundle() -> str:
    """All modules in one scope.

    A name at the top of a module must be at the top of no other: a test lints the result.
    """
    text = "\n".join(_IMPORT.sub("", read_asset(f"{name}.js")) for name in _MODULES)
    return '(() => {\n"use strict";\n' + _EXPORT.sub("", text) + "})();\n"
