"""Commands of other packages, which name them as entry points of the group `hdsp.commands`.

An entry point has the name of its command and leads to a module with `add_parser`, as the modules
beside this one have it.
"""

import sys
from importlib.metadata import entry_points
from typing import Any

from hdsp.cli.output import one_line

_GROUP = "hdsp.commands"
# Commands of a package that may not be installed.
_STUDIES = ("compare", "reproduce")


def add_plugins(commands: Any, asked: str | None) -> None:
    """Add the commands of other packages, where they may be asked for.

    With a command of hdsp no other package is imported, so that none can be in its way.

    Parameters
    ----------
    commands : object
        What `ArgumentParser.add_subparsers` returned, with the commands of hdsp.
    asked : str or None
        The command that is asked for; None adds all.
    """
    if asked in commands.choices:
        return
    found = {p.name: p for p in entry_points(group=_GROUP) if p.name not in commands.choices}
    if asked in found:
        found = {asked: found[asked]}
    elif asked in _STUDIES:
        raise ImportError(
            f"`hdsp {asked}` is in another package: install hdsp-studies (from a checkout: "
            "pip install ./studies)."
        )
    for name, point in sorted(found.items()):
        try:
            point.load().add_parser(commands)
        except (Exception, SystemExit) as error:
            reason = f"`hdsp {name}` cannot be loaded from {point.value}: {error!r}."
            if name == asked:
                raise ImportError(reason) from error
            print(f"hdsp: warning: {one_line(reason)}", file=sys.stderr)
