"""The report: a fitted model, and documents, in one page that opens from disk.

`make_view` turns a model into plain data, `render` makes a page of the data.
"""

import os
from pathlib import Path
from typing import Any

from hdsp import progress
from hdsp.corpus import Corpus
from hdsp.report.names import read_names
from hdsp.report.page import render
from hdsp.report.view import View, make_view
from hdsp.storage.container import replacing

__all__ = ["View", "make_view", "read_names", "render", "write_report"]


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    corpus: Corpus | None = None,
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
