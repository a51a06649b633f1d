"""What tests of the command line share: reviews, and a command run in this process."""

import io
import json
import shlex
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

import numpy as np
import pandas as pd

from hdsp.cli import main

PLACES = {
    "shoes": ["sole", "heel", "lace", "leather", "walk"],
    "dresses": ["skirt", "waist", "silk", "hem", "sleeve"],
    "bags": ["strap", "zip", "pocket", "handle", "clasp"],
}
MOODS = {1: "awful broken refund", 5: "lovely perfect gift"}
# On a slow machine, too, nothing takes so long that it would leave a line: see conftest.py.
PROGRAM = (
    "import sys; from hdsp.cli import main; from hdsp.progress import Lines; "
    "Lines.seconds = 1e9; sys.exit(main())"
)


class Ran(NamedTuple):
    """What a command printed."""

    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return self.out.splitlines()


def reviews(n_documents=150, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n_documents):
        place, rating = rng.choice(list(PLACES)), int(rng.choice(list(MOODS)))
        words = [*rng.choice(PLACES[place], size=12), *rng.choice(MOODS[rating].split(), size=6)]
        tags = [tag for tag in ("sale", "new") if rng.random() < 0.3]
        rows.append(
            {
                "text": " ".join(rng.permutation(words)),
                "labels": tags,
                "department": place,
                "rating": float(rating),
                "reviewer": f"reviewer {len(rows) // 3}",
            }
        )
    return pd.DataFrame(rows)


class Terminal(io.StringIO):
    """Standard output that is a terminal."""

    def isatty(self):
        return True


def hdsp(line, status=0, terminal=False):
    """Run `hdsp` with a line of arguments, in this process, since importing takes seconds."""
    out, err = Terminal() if terminal else io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        found = main(shlex.split(line))
    assert found == status, err.getvalue() or out.getvalue()
    return Ran(out.getvalue(), err.getvalue())


def check_refused(line, message):
    """Check that a command is refused by one sentence, with status 2."""
    out, err = hdsp(line, status=2)
    assert out == ""
    assert err.startswith("hdsp: ")
    assert err.count("\n") == 1
    assert "`" not in err
    assert message in err, err
