"""The page's script: its ES modules in one script, since a page from disk can load no others.

A browser takes modules from nowhere but a server, or from `data:` and `blob:` addresses, which the
page's policy would have to allow to whatever could write into the page.
"""

import re
from functools import cache
from importlib.resources import files

# What modules may import: names, of a module in the same folder.
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let) )", re.MULTILINE)


def read_asset(name: str) -> str:
    """A file of the page."""
    return (files("hdsp.report") / "assets" / name).read_text(encoding="utf-8")


@cache
def bundle(entry: str = "main.js") -> str:
    """A module and all that it imports, each before those that import it, in one scope.

    A name at the top of a module must be at the top of no other: a test lints the result.
    """
    modules: dict[str, str] = {}
    _add(entry, modules)
    return '(() => {\n"use strict";\n' + "\n".join(modules.values()) + "})();\n"


def _add(name: str, modules: dict[str, str]) -> None:
    text = read_asset(name)
    for imported in _IMPORT.findall(text):
        if imported not in modules:
            _add(imported, modules)
    modules[name] = _EXPORT.sub("", _IMPORT.sub("", text))
