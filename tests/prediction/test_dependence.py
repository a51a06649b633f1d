"""Documents that are alike by a category inside another are told, and others are not."""

import numpy as np
import pandas as pd
import pytest

from hdsp import HDSP
from hdsp.corpus import LabelSchema, as_labels
from hdsp.exceptions import DependentDocumentsWarning
from hdsp.prediction.dependence import find_dependence
from hdsp.scaling import bind_labels


def blogs(seed, spread, n_blogs=12, each=30):
    """Proportions of documents in blogs, of two sides, that differ by `spread`."""
    rng = np.random.default_rng(seed)
    blog = np.repeat(np.arange(n_blogs), each)
    score = spread * rng.normal(size=(n_blogs, 8))[blog] + rng.normal(size=(len(blog), 8))
    share = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    frame = pd.DataFrame(
        {"side": np.where(blog % 2, "left", "right"), "blog": [f"blog {b}" for b in blog]}
    )
    return frame, share


def found(frame, share):
    labels = as_labels(frame, len(frame), "a test")
    schema = LabelSchema.of(labels)
    return find_dependence(bind_labels("auto", schema), schema.encode(labels), share)


def test_blogs_that_differ_are_told():
    for seed in range(10):
        one = found(*blogs(seed, 0.5))
        assert (one.inner, one.outer, one.n_inner) == ("blog", "side", 12)


def test_independent_documents_are_not_told():
    assert not any(found(*blogs(seed, 0.0)) for seed in range(60))


def test_categories_that_cross_or_have_single_documents_are_not_asked():
    frame, share = blogs(0, 1.0)
    crossed = frame.assign(side=np.resize(["left", "right"], len(frame)))
    assert found(crossed, share) is None
    single = frame.assign(blog=[f"blog {m}" for m in range(len(frame))])
    assert found(single, share) is None


@pytest.mark.filterwarnings("ignore::hdsp.OverlappingLabelsWarning")
def test_a_fit_tells():
    frame, share = blogs(0, 2.0, each=15)
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(40, 0.1), size=8)
    counts = np.array([rng.multinomial(60, row @ topics) for row in share])
    model = HDSP(8, fixed_number=True, tol=0.01, random_state=0, n_jobs=1)
    with pytest.warns(DependentDocumentsWarning, match="rest on 12 values of 'blog' and not on"):
        model.fit(counts, labels=frame)
    model.fit(counts, labels=frame[["side"]])
    model.fit(counts, labels=frame, groups=frame["blog"])
