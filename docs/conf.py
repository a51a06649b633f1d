"""The site: pages of this folder, the API from docstrings, and a gallery of examples that run."""

import re
import warnings
from importlib.metadata import version as installed
from pathlib import Path

import pandas as pd

project = "hdsp"
author = "the hdsp developers"
release = version = installed("hdsp")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery/*.py", "gallery/*.ipynb", "gallery/sg_execution_times.rst"]
templates_path = ["templates"]
# Single backticks in docstrings are names, many of them of arguments, to which nothing links.
default_role = "literal"

# Links to headings as GitHub makes them; a link that leads nowhere is a warning, and so an error.
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"own_scaling",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "matplotlib_animations": False,
    "ignore_repr_types": r"matplotlib\.",
}
# Warnings of examples without the path of the machine that built the site.
warnings.formatwarning = lambda message, category, *_: f"{category.__name__}: {message}\n"
# Words of topics in full.
pd.set_option("display.max_colwidth", None)
# Fitted attributes are described by their class and have no place of their own.
nitpick_ignore_regex = [("py:obj", r".*_")]

html_theme = "pydata_sphinx_theme"
html_title = "hdsp"
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
project_copyright = f"{author}. Apache-2.0 licence"


ROOT = Path(__file__).parents[1]
STUDIES = ROOT / "docs" / "generated"
# The pages of the paper's figures, which are written where their results are.
STUDIES.mkdir(exist_ok=True)
for folder in sorted(path.parent for path in ROOT.glob("reproduction/*/README.md")):
    page = f"../../reproduction/{folder.name}"
    (STUDIES / f"{folder.name}.md").write_text(
        f"---\norphan: true\n---\n```{{include}} {page}/README.md\n:relative-images:\n```\n"
    )


def link_within(app, name, source):
    """Let links to files beside this folder lead to the pages that include them."""
    text = re.sub(r"\]\(\.\./reproduction/([\w-]+)/README\.md\)", r"](generated/\1.md)", source[0])
    source[0] = text.replace("](../CONTRIBUTING.md", "](contributing.md")


def skip_member(app, what, name, member, skip, options):
    """Leave out fitted attributes, which their class describes, and scikit-learn's requests."""
    fitted = name.endswith("_") and not name.startswith("_")
    return True if fitted or name.endswith("_request") else None


def setup(app):
    """Register what this file defines."""
    app.connect("autodoc-skip-member", skip_member)
    app.connect("source-read", link_within)
