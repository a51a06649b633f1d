"""The command line: one module a subcommand."""

from hdsp.cli.main import main

__all__ = ["main"]
