"""The page: plain data, a style sheet and scripts in one file that asks for nothing else."""

import base64
import hashlib
import html
import re
from functools import cache
from importlib.resources import files

from hdsp.report.packing import to_json
from hdsp.report.view import View

_VENDOR = ("vendor/d3.min.js", "vendor/plot.umd.min.js")
# In the order in which they build on each other.
_SCRIPTS = (
    *("data.js", "intervals.js", "topics-model.js", "dom.js", "charts.js", "map-names.js"),
    *("address.js", "view-topics.js", "view-explorer.js", "view-effects.js", "view-map.js"),
    *("view-heat.js", "view-documents.js", "view-fit.js", "main.js"),
)


def render(view: View) -> str:
    """The page of a view, as HTML."""
    library, script = _library(), _script()
    policy = (
        "default-src 'none'; "
        f"script-src '{_hash(library)}' '{_hash(script)}'; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    documents = "" if view.documents is None else to_json(view.documents)
    parts = {
        "policy": policy,
        "title": html.escape(str(view.model["title"])),
        "style": _read("style.css"),
        "data": to_json(view.model),
        "documents": documents,
        "library": library,
        "script": script,
    }
    # In one go, so that what is put in is never looked at again.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _read("page.html"))


@cache
def _library() -> str:
    return "\n".join(_read(name) for name in _VENDOR)


@cache
def _script() -> str:
    """The page's own scripts, which share one scope."""
    own = "\n".join(_read(name) for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{own}\n}})();\n'


@cache
def _read(name: str) -> str:
    return (files("hdsp.report") / "assets" / name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
