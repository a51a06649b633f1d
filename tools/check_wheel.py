"""Install the wheels of a folder in a fresh environment, and run the lines of the README there.

    python tools/check_wheel.py dist

Nothing of the checkout is seen: everything runs in an empty folder.
"""

import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]


def fenced(text: str, language: str) -> list[str]:
    """The fenced blocks of a language in a Markdown text."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def commands(text: str) -> list[tuple[str, list[str]]]:
    """The lines that follow `$ `, each with the lines that it prints."""
    found: list[tuple[str, list[str]]] = []
    for line in "".join(fenced(text, "console")).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def first_words(lines: list[str]) -> list[str]:
    """How lines begin, without numbers, which versions of libraries change; `…` is any line."""
    return [re.sub(r"[\d.,+%-]+", "", line)[:12] for line in lines if line != "…"]


def main(folder: str) -> None:
    own, studies = (
        next(Path(folder).resolve().glob(f"{name}-*.whl")) for name in ("hdsp", "hdsp_studies")
    )
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        venv.create(home / "venv", with_pip=True)
        programs = home / "venv" / ("Scripts" if os.name == "nt" else "bin")
        work = home / "work"
        work.mkdir()
        unseen = ("PYTHONPATH", "VIRTUAL_ENV")
        environment = {name: value for name, value in os.environ.items() if name not in unseen}
        environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"

        def run(*command: str, shell: bool = False) -> str:
            print("$", *command, flush=True)
            done = subprocess.run(
                command[0] if shell else command,
                shell=shell,
                cwd=work,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                check=True,
            )
            return done.stdout

        python = str(programs / "python")
        run(python, "-m", "pip", "install", "-q", str(own))
        run(python, "-c", "\n".join(fenced(text, "python")))
        for line, expected in commands(text):
            printed = first_words(run(line, shell=True).splitlines())
            missing = [start for start in first_words(expected) if start not in printed]
            if missing:
                sys.exit(
                    f"{line} printed no line that begins with {missing[0]!r}, as the README has it."
                )
        run(python, "-m", "pip", "install", "-q", str(own), str(studies))
        run("hdsp compare --help", shell=True)
        run("hdsp reproduce figure-2 --quick", shell=True)
    print("The wheels install alone, and the lines of the README work.")


if __name__ == "__main__":
    main(*sys.argv[1:])
