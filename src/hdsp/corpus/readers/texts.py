"""A corpus from the texts of a file."""

from collections.abc import Callable, Iterator

from hdsp.corpus.corpus import Corpus
from hdsp.corpus.labels import Labels
from hdsp.corpus.readers.common import no_documents, read_error
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
    counted, cause = None, None
    try:
        counted = settings.count(texts, words)
    except NoWordsError as error:
        cause = error
    labels, ids = describe()
    if not len(labels):
        raise no_documents(name) from cause
    if counted is None:
        raise no_words(name, what) from cause
    return Corpus(*counted, labels, text_settings=settings, ids=ids)


def no_words(name: str, what: str) -> ReadError:
    """Return the error of texts of which no word is counted."""
    return read_error(
        name,
        f"no word of {what} is left to count",
        "check that this is text, or pass `text_settings` that keep more words",
    )
