"""Corpora from files: one module per format; every `read_*` function returns a `Corpus`.

To add a format, write its module and enter its reader here; `hdsp fit --format` and `hdsp.corpus`
have it then. The command line passes those of its options that the reader has parameters for.
"""

from collections.abc import Callable

from hdsp.corpus.corpus import Corpus
from hdsp.corpus.readers.folder import read_folder
from hdsp.corpus.readers.ldac import read_ldac
from hdsp.corpus.readers.mallet import read_mallet
from hdsp.corpus.readers.matrix_market import read_matrix_market
from hdsp.corpus.readers.memory import from_gensim, from_vectorizer
from hdsp.corpus.readers.svmlight import read_svmlight
from hdsp.corpus.readers.table import read_table
from hdsp.corpus.readers.table_formats import TABLE_FORMATS, table_columns
from hdsp.corpus.readers.uci import read_uci
from hdsp.exceptions import ReadError

# The reader of every format, by the format's name on the command line.
FORMATS: dict[str, Callable[..., Corpus]] = {
    **dict.fromkeys(TABLE_FORMATS, read_table),
    "folder": read_folder,
    "ldac": read_ldac,
    "mallet": read_mallet,
    "mtx": read_matrix_market,
    "svmlight": read_svmlight,
    "uci": read_uci,
}

__all__ = [
    "FORMATS",
    "ReadError",
    "from_gensim",
    "from_vectorizer",
    "read_folder",
    "read_ldac",
    "read_mallet",
    "read_matrix_market",
    "read_svmlight",
    "read_table",
    "read_uci",
    "table_columns",
]
