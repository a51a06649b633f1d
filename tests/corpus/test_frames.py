import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hdsp.corpus import library_of, make_frame

COLUMNS = {
    "label": ("Dresses", None),
    "tags": [["a", "b"], []],
    "effect": np.array([0.5, -1.0]),
    "topic": np.array([3, 4]),
}


@pytest.mark.parametrize(
    ("like", "kind"), [(None, pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_make_frame(like, kind):
    frame = make_frame(COLUMNS, like=like)
    assert isinstance(frame, kind)
    assert library_of(frame) == (like or "pandas")
    assert library_of(np.zeros(2)) is library_of(None) is None
    table = frame if like == "pyarrow" else pa.table(frame)
    assert table.column_names == list(COLUMNS)
    assert table["label"].to_pylist() == ["Dresses", None]
    assert table["tags"].to_pylist() == [["a", "b"], []]
    assert table["effect"].to_pylist() == [0.5, -1.0]
    assert table["topic"].to_pylist() == [3, 4]


def test_importing_the_package_imports_no_table_library():
    program = (
        # What scikit-learn imports by itself is not ours to save.
        "import sys, sklearn.base, sklearn.utils.validation; "
        "before = set(sys.modules); from hdsp import HDSP, datasets, read_table; "
        "heavy = ('pandas', 'polars', 'pyarrow', 'numba'); "
        "print([name for name in heavy if name in set(sys.modules) - before])"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(path for path in sys.path if path)},
    )
    assert result.stdout.strip() == "[]"
