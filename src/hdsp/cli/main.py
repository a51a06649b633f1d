"""`hdsp`: the parser of all commands, and how errors end it."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points, version
from typing import Any, NoReturn

from hdsp import progress
from hdsp.cli import demo, documents, effects, fit, topics
from hdsp.cli.options import Command
from hdsp.cli.output import named_options, one_line, printed_warnings
from hdsp.exceptions import ClusterError

_EXAMPLES = """\
examples:
  hdsp fit reviews.parquet --text text --categories department --numeric rating -o model.hdsp
  hdsp topics model.hdsp
  hdsp effects model.hdsp --label rating
  hdsp predict model.hdsp new.csv --target department -o departments.csv
"""
# The modules of the commands, in the order of the help.
_MODULES = (demo, fit, topics, effects, documents)
# Where other packages name their commands, and those of one that may not be installed.
_GROUP, _STUDIES = "hdsp.commands", ("compare", "reproduce")
_BAD_PATH = (FileExistsError, FileNotFoundError, IsADirectoryError)
_BAD_INPUT = (ValueError, TypeError, ImportError, *_BAD_PATH)
# What shells report of a program that Ctrl-C ended: 128 and the number of the signal.
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `hdsp`; the exit status is 0, 2 for bad input, 130 after Ctrl-C, 1 for other failures."""
    for name in ("stdout", "stderr"):
        # Python leaves None where the caller has closed a stream.
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    parsed = None
    try:
        parsed = _parse(sys.argv[1:] if arguments is None else arguments)
        with progress.display(quiet=parsed.quiet or parsed.json), printed_warnings(parsed):
            parsed.run(parsed)
        sys.stdout.flush()
    except SystemExit as stop:
        return int(stop.code or 0)
    except BrokenPipeError:
        # The reader of a pipe has seen enough.
        _drop_output()
    except _BAD_INPUT as error:
        print(_sentence(error, parsed), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("hdsp: interrupted.", file=sys.stderr)
        return _INTERRUPTED
    except (OSError, MemoryError, ClusterError) as error:
        print(_sentence(error, parsed), file=sys.stderr)
        _drop_output()
        return 1
    return 0


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"hdsp: {one_line(message)}. See {self.prog} --help.\n")


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse arguments; documents may come after options, too, which argparse does not allow."""
    asked = next((argument for argument in arguments if not argument.startswith("-")), None)
    parser = make_parser(asked)
    parsed, others = parser.parse_known_args(arguments)
    if len(others) == 1 and not others[0].startswith("--") and getattr(parsed, "file", "") is None:
        parsed.file = others.pop()
    if others:
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    return parsed


def make_parser(asked: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands; those of other packages only where hdsp lacks `asked`."""
    import shtab

    parser = _Parser(
        prog="hdsp",
        description="Topic models with labels: effects, predictions, reports.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"hdsp {version('hdsp')}")
    shtab.add_argument_to(parser, ["--print-completion"], help="print a shell's completion script")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in _MODULES:
        for member in vars(module).values():
            if isinstance(member, Command):
                member.add_parser(commands)
    _add_plugins(commands, asked)
    return parser


def _add_plugins(commands: Any, asked: str | None) -> None:
    """Add commands of other packages, which name modules with `add_parser` as entry points.

    With a command of hdsp no other package is imported, so that none can be in its way.
    """
    if asked in commands.choices:
        return
    points = {p.name: p for p in entry_points(group=_GROUP) if p.name not in commands.choices}
    if asked in _STUDIES and asked not in points:
        raise ImportError(
            f"`hdsp {asked}` is in another package: install hdsp-studies (from a checkout: "
            "pip install ./studies)."
        )
    for name in [asked] if asked in points else sorted(points):
        try:
            points[name].load().add_parser(commands)
        except (Exception, SystemExit) as error:
            reason = f"`hdsp {name}` cannot be loaded from {points[name].value}: {error!r}."
            if name == asked:
                raise ImportError(reason) from error
            print(f"hdsp: warning: {one_line(reason)}", file=sys.stderr)


def _drop_output() -> None:
    """Drop what could not be written; Python would complain of it once more when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _sentence(error: BaseException, options: argparse.Namespace | None) -> str:
    if isinstance(error, UnicodeEncodeError):
        return f"hdsp: {error}. Set PYTHONUTF8=1 in the environment, or write to a file with -o."
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        # Without the system's number of the error.
        return f"hdsp: {error.strerror}: {one_line(repr(os.fspath(error.filename)))}."
    return f"hdsp: {named_options(one_line(error), options) or type(error).__name__}"
