"""Seed words that steer topics: do they find what is wanted, and what do they cost?

    python benchmarks/seeds.py --data FOLDER

Two words for each of ten subjects of rcv1_subset. The model sees no labels; the average precision
of a subject's topic tells how well its proportions in test documents find those that carry the
subject's code. Without seeds, its topic is the one that holds most of the two words. Means over
three starts. Writes benchmarks/results/seeds.csv.
"""

import warnings

import numpy as np
from common import load, parser, write
from sklearn.metrics import average_precision_score

from hdsp import HDSP, Corpus
from hdsp.corpus import LabelSchema

SUBJECTS = {
    "E21": ["budget", "deficit"],
    "GCRIM": ["murder", "court"],
    "GSPO": ["soccer", "cup"],
    "M143": ["crude", "barrel"],
    "GVIO": ["rebels", "troops"],
    "GVOTE": ["election", "vote"],
    "GWEA": ["storm", "rain"],
    "GJOB": ["union", "strike"],
    "GHEA": ["disease", "hospital"],
    "GREL": ["church", "pope"],
}


def topics_of(model):
    """The topic of each subject."""
    if model.seeds:
        return {name: topic for topic, name in model.topic_names_.items()}
    share = model.components_ / model.components_.sum(axis=0)
    return {
        name: int(share[:, [model.words_.index(word) for word in words]].sum(axis=1).argmax())
        for name, words in SUBJECTS.items()
    }


def measured(model, test, carried):
    proportions, topics = model.transform(test), topics_of(model)
    found = [average_precision_score(carried[k], proportions[:, topics[k]]) for k in SUBJECTS]
    completion = model.perplexity(test, given="completion")
    return np.mean(found), completion, np.mean(model.topics()["coherence"])


def rows(data):
    train, test = load(data, "rcv1_subset")
    schema = LabelSchema.of(test.labels)
    design = schema.encode(test.labels).toarray() > 0
    carried = {name: design[:, schema.names.index(name)] for name in SUBJECTS}
    train, test = (Corpus(part.counts, part.words) for part in (train, test))
    for n_topics in (20, 50, 100):
        for strength in (None, 0.001, 0.1, 1.0, 5.0):
            options = {} if strength is None else {"seeds": SUBJECTS, "seed_strength": strength}
            found = [
                measured(HDSP(n_topics, random_state=seed, **options).fit(train), test, carried)
                for seed in range(3)
            ]
            precision, completion, npmi = np.mean(found, axis=0)
            yield {
                "topics": n_topics,
                "seed_strength": "no seeds" if strength is None else strength,
                "average precision": f"{precision:.3f}",
                "completion": f"{completion:.1f}",
                "npmi": f"{npmi:.3f}",
            }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write("seeds", rows(parser(__doc__).parse_args().data))
