"""A sample that stands for all documents, whatever the order and the parts they come in."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from hdsp.fit import sample as module
from hdsp.fit.sample import Sample, SurveyDocuments, document_keys
from hdsp.model.data import make_block


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(module, "MOST_DOCUMENTS", 40)
    monkeypatch.setattr(module, "_PER_LABEL", 5)


def documents(n, seed=0):
    rng = np.random.default_rng(seed)
    counts = csr_array(rng.poisson(0.3, (n, 7)).astype(np.float32))
    carried = np.zeros((n, 3), np.float32)
    carried[:, 0] = rng.random(n) < 0.5
    carried[rng.permutation(n)[:8], 1] = 1.0
    return counts, csr_array(carried), rng.random(n)


def drawn_by(parts):
    counts, design, keys = documents(500)
    sample = Sample.empty(7, 3)
    for rows in parts:
        sample = sample.add(counts[rows], csr_array(design[rows]), keys[rows])
    order = np.argsort(sample.keys)
    return sample.keys[order], sample.counts[order].toarray(), sample.design[order].toarray()


def test_the_sample_does_not_depend_on_parts_or_their_order():
    whole = drawn_by([np.arange(500)])
    shuffled = np.random.default_rng(1).permutation(500)
    for parts in (np.array_split(np.arange(500), 9), np.array_split(shuffled, 4)):
        for one, other in zip(whole, drawn_by(parts), strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_smallest_keys_stay_and_so_do_the_first_of_a_rare_label():
    counts, design, keys = documents(500)
    sample = Sample.empty(7, 3).add(counts, design, keys)
    assert sample.uniform().sum() == 40
    np.testing.assert_array_equal(np.sort(sample.keys[sample.uniform()]), np.sort(keys)[:40])
    rare = np.sort(keys[design.toarray()[:, 1] > 0])[:5]
    assert np.isin(rare, sample.keys).all()
    assert len(sample) <= 40 + 5


def test_surveys_of_blocks_add_up_to_that_of_the_corpus():
    counts, design, _ = documents(500)
    parts = []
    for first in range(0, 500, 100):
        rows = slice(first, first + 100)
        block = make_block(csr_array(counts[rows]), csr_array(design[rows]), first)
        parts.append(SurveyDocuments(3, 500)(block, None)[1])
    total = parts[0] + parts[1] + (parts[2] + (parts[3] + parts[4]))
    np.testing.assert_allclose(total.word_tokens, counts.sum(axis=0))
    np.testing.assert_array_equal(total.carriers, (design.toarray() != 0).sum(axis=0))
    keys = np.concatenate([document_keys(3, first, 100) for first in range(0, 500, 100)])
    np.testing.assert_array_equal(
        np.sort(total.sample.keys[total.sample.uniform()]), np.sort(keys)[:40]
    )


def test_an_older_sample_keeps_fewer_documents():
    counts, design, keys = documents(30)
    sample = Sample.empty(7, 3).add(counts, design, keys)
    older = sample.aged(2.0)
    assert np.sort(older.keys).tolist() == np.sort(2.0 * keys[keys <= 0.5]).tolist()
    # It goes on being a uniform sample: the larger the key, the sooner a document goes.
    assert older.aged(2.0).keys.tolist() == sample.aged(4.0).keys.tolist()
