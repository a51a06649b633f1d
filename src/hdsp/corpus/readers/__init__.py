"""Corpora from files, one module a format; every `read_*` function returns a `Corpus`."""

from hdsp.corpus.readers.folder import read_folder
from hdsp.corpus.readers.header import table_columns
from hdsp.corpus.readers.ldac import read_ldac
from hdsp.corpus.readers.mallet import read_mallet
from hdsp.corpus.readers.matrix_market import read_matrix_market
from hdsp.corpus.readers.memory import from_gensim, from_vectorizer
from hdsp.corpus.readers.svmlight import read_svmlight
from hdsp.corpus.readers.table import read_table
from hdsp.corpus.readers.uci import read_uci
from hdsp.exceptions import ReadError

__all__ = [
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
