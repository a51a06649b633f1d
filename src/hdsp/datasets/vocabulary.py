"""The words that tell docstrings apart."""

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

# Frequent in docstrings on any subject. Chosen from the list of frequencies: words for types,
# signatures and references to documentation. One paragraph is easier to read and to change than a
# column of quoted words, hence the noqa.
_FORMAL_WORDS = """
according added additional allowed api applied apply appropriate argument arguments array arrays
assumed attribute attributes auto automatically available based behavior bool boolean calculate
calculated callable called calling calls case cases changed chosen code compute computed computes
computing consider considered contain containing contains controls converted corresponding
corresponds created default defaults defined defines depending deprecated desired details
determined determines dict dictionary different directly documentation does dtype equivalent
example examples expected false float floating floats following follows function functions general
given gives guide ignored implementation implemented information input inputs instance instead int
integer integers ints keyword known kwargs large larger len like list make means method methods
ndarray necessary need new non note notes numpy object objects obtained option optional options
output outputs parameter parameters params pass passed passing perform performed place possible
present provide provided provides python raise raised raises read refer represent representing
represents required respectively result resulting results return returned returning returns routine
scalar scalars scipy section self set sets setting similar single sklearn small smaller specified
specifies specify str string support supported taken treated true tuple type types underlying
unless use used useful user uses using usually valid value valueerror values version want way work
works
""".split()  # noqa: SIM905


def docstring_vectorizer() -> CountVectorizer:
    """Return an unfitted vectoriser for `load_docstrings`: words of a subject, in ten documents."""
    return CountVectorizer(
        stop_words=sorted(ENGLISH_STOP_WORDS.union(_FORMAL_WORDS)),
        token_pattern="[a-zA-Z][a-zA-Z]{2,}",
        min_df=10,
        max_df=0.3,
    )
