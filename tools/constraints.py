"""Print constraints for pip: nothing for `newest`, the floors of pyproject.toml for `oldest`."""

import sys
import tomllib
from pathlib import Path


def floors(requirements: list[str]) -> list[str]:
    """The oldest versions that requirements such as `numpy>=2.0` allow."""
    return [requirement.replace(">=", "==") for requirement in requirements]


def main(which: str) -> None:
    if which not in ("newest", "oldest"):
        sys.exit(f"DEPENDENCIES must be newest or oldest. Got {which!r}.")
    if which == "oldest":
        text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
        sys.stdout.write("\n".join(floors(tomllib.loads(text)["project"]["dependencies"])) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
