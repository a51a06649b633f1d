"""
Two groups, one topic, different words
======================================

NumPy and scikit-learn both speak of randomness, in different words: one has generators, the other
a ``random_state``. With ``content`` every package has its own version of each topic's words, so
that a difference of words is not taken for a difference of topics.
"""

import matplotlib.pyplot as plt

from hdsp import HDSP, plots
from hdsp.datasets import load_docstrings

corpus = load_docstrings()
model = HDSP(30, scaling="~ package + kind", content="package", init="nmf", random_state=0).fit(
    corpus
)
topic = int(model.topics_of_word("seed")["topic"].iloc[0])
print(" ".join(model.top_words(12)[topic]))

# %%
# Words of the topic, to the side that uses them more.

fig, ax = plt.subplots(figsize=(9, 5), layout="constrained")
plots.perspectives(model, topic, "package", levels=("numpy", "sklearn"), ax=ax)

# %%
# The same as a table: how much more often a package uses a word in this topic than the others do,
# with 90% intervals.

words = model.label_words(topic=topic)
words[words["n"] >= 20].sort_values("lower", ascending=False).head(8).round(2)
