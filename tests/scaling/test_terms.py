"""Terms keep their contract, and a model takes them everywhere."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.special import softmax

from hdsp import HDSP, Categorical, Factor, Interaction, LogLinear, Ordered, Pooled, Spline, Term
from hdsp.analysis.design import Setting, make_design
from hdsp.metrics import match_topics
from hdsp.scaling.terms import TERMS, Levels, Number, Ramps, Slots, Tags
from hdsp.testing import check_term
from tests.problems import bind, draw_documents, failures

EXAMPLES = {
    "Factor": Factor("year"),
    "Interaction": Interaction("dept", "rating"),
    "Ordered": Ordered("rating", levels=["rating1", "rating0", "rating2", "rating3", "rating4"]),
    "Pooled": Pooled("author"),
    "Ramps": Ramps("day"),
    "Spline": Spline("day"),
}


OTHERS = [
    Tags("t"),
    Levels("c"),
    Number("x"),
    Slots("x", n=2),
    Ramps("x", n_knots=2),
    Spline("x", n_knots=1),
    Spline("x", period=1.5),
]


def test_every_term_of_the_registry_is_checked():
    assert EXAMPLES.keys() == TERMS.keys()


@pytest.mark.parametrize("term", [*EXAMPLES.values(), *OTHERS], ids=repr)
def test_terms_keep_the_contract(term):
    assert failures(check_term(term)) == {}


class Square(Term):
    """A term of a user: a number and its square."""

    kinds = frozenset({"number"})
    wrong = False

    @property
    def names(self):
        """One name."""
        return (f"{self.columns[0]}²",)

    def expand(self, parts):
        """The square of the number, about its mean."""
        square = csr_array(parts[0], copy=True)
        square.data = square.data**2 - 1.0
        return square


class Forgetful(Square):
    """Does not leave out what is missing."""

    def expand(self, parts):
        """As if missing numbers were 1."""
        return csr_array(np.where(parts[0].toarray() == 0, 1.0, parts[0].toarray()))


def test_a_term_of_ones_own_is_checked_by_what_it_does():
    assert failures(check_term(Square("x"))) == {}
    found = failures(check_term(Forgetful("x")))
    assert any(name.startswith("Nothing is stored where a label is missing") for name in found)


N_TOPICS = 5


def table(n_documents=600):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"dept": rng.choice(["a", "b"], n_documents), "day": rng.uniform(-2.0, 2.0, n_documents)}
    )


SCALING = Categorical("dept") * LogLinear(Spline("day"), Interaction("dept", "day"))


def curved(frame):
    """Counts, mean proportions, topics: the first bends with the day, the second turns by dept."""
    day, sign = frame["day"].to_numpy(), np.where(frame["dept"] == "a", 1.0, -1.0)
    share = np.zeros((len(frame), N_TOPICS))
    share[:, 0], share[:, 1] = 1.2 * np.cos(1.5 * day), sign * day
    share = softmax(share, axis=1)
    counts, topics = draw_documents(share, n_words=80)
    return counts, share, topics


@pytest.fixture(scope="module")
def model():
    frame = table()
    return HDSP(N_TOPICS, scaling=SCALING, random_state=0, n_jobs=1).fit(
        curved(frame)[0], labels=frame
    )


def test_expected_topics_follow_curves_and_interactions(model):
    grid = pd.DataFrame({"dept": np.repeat(["a", "b"], 9), "day": [*np.linspace(-1.9, 1.9, 9)] * 2})
    _, share, topics = curved(grid)
    partner, _ = match_topics(topics, model.components_)
    # Lines in the place of curves are off by .25.
    error = np.abs(model.expected_topics(grid)[:, partner] - share)
    assert np.quantile(error, 0.9) < 0.07


def test_the_effect_of_a_label_without_interactions_needs_no_documents():
    """Differences of a single row's columns are those of means over all documents."""
    space, values = bind(table(), Categorical("dept") * LogLinear(Spline("day")))
    everybody = np.ones(values.shape[0], dtype=np.bool_)
    design = make_design(space, values, everybody, everybody.astype(float))
    places = {
        "day": [(Setting(2, -0.7),), (Setting(2, 1.3),)],
        "dept": [(Setting(0),), (Setting(1),)],
    }
    for name, settings in places.items():
        one, other = (design.means_at(settings, block).toarray() for block in (name, None))
        np.testing.assert_allclose(one[0] - one[1], other[0] - other[1], atol=1e-12)


def test_a_term_that_a_file_cannot_hold(tmp_path):
    frame = table(60)
    model = HDSP(2, scaling=LogLinear(Square("day")), random_state=0)
    model.fit(curved(frame)[0], labels=frame)
    with pytest.raises(ValueError, match=r"HDSP\.save cannot store the term Square"):
        model.save(tmp_path / "model.hdsp")


def test_a_spline_of_few_values_is_a_line():
    term = Spline("x")
    learned = term.learn([csr_array(np.array([[-1.0], [0.0], [1.0]] * 5))])
    assert term.bound([["x"]], learned).names == ()


def test_functions_of_a_spline_are_uncorrelated_and_smoothest_first():
    x = np.random.default_rng(0).normal(size=(500, 1))
    term = Spline("x")
    bound = term.bound([["x"]], term.learn([csr_array(x)]))
    bends = bound.expand([csr_array(x)]).toarray()
    np.testing.assert_allclose(bends.mean(axis=0), 0.0, atol=1e-6)
    correlation = np.corrcoef(np.column_stack([x, bends]).T)
    np.testing.assert_allclose(correlation, np.eye(len(correlation)), atol=1e-6)
    size = bends.std(axis=0)
    assert size[0] == pytest.approx(1.0)
    assert (np.diff(size) < 0).all()
