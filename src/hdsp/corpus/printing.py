"""Tables of pandas that a terminal shows from their first column on.

In a file of its own, because commands print without pandas, which takes long to import.
"""

from shutil import get_terminal_size
from typing import Any

import pandas as pd

# As pandas does by default.
_CELL, _ROWS = 50, 60


class Table(pd.DataFrame):
    """A table that prints as many of its first columns as fit, where pandas prints both ends."""

    @property
    def _constructor(self) -> Any:
        """What is made of a table is an ordinary one."""
        return pd.DataFrame

    def __repr__(self) -> str:
        plain, width = pd.DataFrame(self), get_terminal_size().columns
        ends = pd.concat([plain.head(_ROWS), plain.tail(_ROWS)])
        # A column takes at least two characters.
        n_shown = min(len(self.columns), width // 2)
        while n_shown > 1 and _width(ends.iloc[:, :n_shown]) > width:
            n_shown -= 1
        text = plain.iloc[:, :n_shown].to_string(max_rows=_ROWS, max_colwidth=_CELL)
        hidden = ", ".join(map(str, self.columns[n_shown:]))
        size = f"{len(self)} rows x {len(self.columns)} columns"
        return f"{text}\n\n[{size}{hidden and f', also {hidden}'}]"


def _width(frame: pd.DataFrame) -> int:
    return max(map(len, frame.to_string(max_colwidth=_CELL).splitlines()))
