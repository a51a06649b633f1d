"""A corpus from the texts of a file."""

from collections.abc import Callable, Iterator

from hdsp.corpus.corpus import Corpus
from hdsp.corpus.labels import Labels
from hdsp.corpus.readers.common import read_error
from hdsp.corpus.text import NoWordsError, TextSettings
from hdsp.exceptions import ReadError


def corpus_of_texts(
    name: str,
    texts: Iterator[str],
    rules: tuple[TextSettings, tuple[str, ...] | None],
    describe: Callable[[], tuple[Labels, tuple[str, ...] | None]],
    what: str,
) -> Corpus:
    """Count texts while they are read, and add what was read beside them.

    Parameters
    ----------
    name : str
        The file's name, for messages.
    texts : iterator of str
        The texts, which can be iterated over once.
    rules : (TextSettings, tuple of str or None)
        Settings and words, from `counting_rules`.
    describe : callable
        Called after the last text; returns the documents' labels and ids.
    what : str
        Where the texts are from, for messages.

    Returns
    -------
    Corpus
        The counts with their labels and ids.
    """
    settings, words = rules
    try:
        counts, words = settings.count(texts, words)
    except NoWordsError as error:
        labels, _ = describe()
        if not len(labels):
            raise _no_documents(name) from error
        raise read_error(
            name,
            f"no word of {what} is left to count",
            "check that this is text, or pass `text_settings` that keep more words",
        ) from error
    labels, ids = describe()
    if not len(labels):
        raise _no_documents(name)
    return Corpus(counts, words, labels, text_settings=settings, ids=ids)


def _no_documents(name: str) -> ReadError:
    return read_error(name, "it has no documents", "check that it was written in full")
