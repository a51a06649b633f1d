"""The command line: one module a subcommand."""

import argparse
import sys
from collections.abc import Sequence

from hdsp.cli import demo


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `hdsp`; the exit status is 0, 2 for bad input or 1 for any other failure."""
    parser = argparse.ArgumentParser(
        prog="hdsp", description="Topic models that documents' labels drive."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo.add_parser(commands)
    parsed = parser.parse_args(arguments)
    try:
        parsed.run(parsed)
    except ValueError as error:
        print(f"hdsp: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("hdsp: interrupted.", file=sys.stderr)
        return 1
    return 0
