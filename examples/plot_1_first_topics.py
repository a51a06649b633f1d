"""
Topics, and what labels do to them
==================================

The documents are the docstrings of NumPy, SciPy and scikit-learn, which are installed anyway.
Their labels are the module, the kind of object (function, class, method) and the number of
parameters.
"""

import matplotlib.pyplot as plt

from hdsp import HDSP, plots
from hdsp.datasets import load_docstrings

corpus = load_docstrings()
corpus

# %%
# A formula says which labels scale topics. The number of topics is fixed here to keep the example
# short; without it the fit searches for one.

model = HDSP(30, scaling="~ module + kind + n_parameters", init="nmf", random_state=0).fit(corpus)
model.topics(n_words=6)[["topic", "share", "words", "coherence"]].head(8)

# %%
# What a label does to topics, with 90% intervals: here the change of a topic's expected share in
# the documents of ``scipy.stats``, against documents of other modules.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
plots.effects(model, "scipy.stats", n=8, ax=ax)

# %%
# The same question for many labels at once, similar labels and similar topics side by side.

fig, ax = plt.subplots(figsize=(9, 7), layout="constrained")
plots.heatmap(model, n_labels=20, n_topics=20, ax=ax)

# %%
# Topics to expect from labels alone, before a word is read.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
classes = {"module": "sklearn.cluster", "kind": "class", "n_parameters": 8}
functions = {"module": "scipy.linalg", "kind": "function", "n_parameters": 3}
plots.expected_topics(
    model, {"a class of sklearn.cluster": classes, "a function of scipy.linalg": functions}, ax=ax
)
