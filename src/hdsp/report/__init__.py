"""The report: a fitted model, and documents, in one page that opens from disk.

`make_view` turns a model into plain data, `render` makes a page of the data.
"""

from hdsp.report.names import read_names
from hdsp.report.page import render, write_report
from hdsp.report.view import make_view

__all__ = ["make_view", "read_names", "render", "write_report"]
