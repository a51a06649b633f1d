import numpy as np
import pytest

from hdsp.metrics import topic_diversity


def test_diversity_runs_from_one_to_one_over_the_number_of_topics():
    assert topic_diversity(np.arange(12).reshape(3, 4)) == 1
    assert topic_diversity(np.tile(np.arange(4), (3, 1))) == pytest.approx(1 / 3)
    assert topic_diversity(np.array([[0, 1, 2], [2, 3, 4]])) == pytest.approx(5 / 6)


@pytest.mark.parametrize("top_words", [np.arange(3), np.empty((0, 5), dtype=int)])
def test_diversity_explains_what_it_refuses(top_words):
    with pytest.raises(ValueError, match=r"`top_words` of topic_diversity must be a matrix"):
        topic_diversity(top_words)
