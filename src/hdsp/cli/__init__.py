"""The command line: one module per subcommand."""

from hdsp.cli.main import main

__all__ = ["main"]
