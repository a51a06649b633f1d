"""The page: plain data, a style sheet and scripts in one file that asks for nothing else."""

import base64
import hashlib
import html
import re
from functools import cache

from hdsp.report.packing import to_json
from hdsp.report.script import bundle, read_asset
from hdsp.report.view import View

_VENDOR = ("vendor/d3.min.js", "vendor/plot.umd.min.js")


def render(view: View) -> str:
    """The page of a view, as HTML."""
    library, script = _library(), bundle()
    policy = (
        "default-src 'none'; "
        f"script-src '{_hash(library)}' '{_hash(script)}'; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    documents = "" if view.documents is None else to_json(view.documents)
    parts = {
        "policy": policy,
        "title": html.escape(str(view.model["title"])),
        "style": read_asset("style.css"),
        "data": to_json(view.model),
        "documents": documents,
        "library": library,
        "script": script,
    }
    # In one go, so that what is put in is never looked at again.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], read_asset("page.html"))


@cache
def _library() -> str:
    return "\n".join(read_asset(name) for name in _VENDOR)


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
