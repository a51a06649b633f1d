"""
Topics that go together
=======================

Correlations of topics over documents, corrected for the lengths of documents and for proportions
that sum to 1, with what labels explain taken out. Related topics stand side by side; a blank cell
has an interval that contains 0.
"""

import matplotlib.pyplot as plt

from hdsp import HDSP, plots
from hdsp.datasets import load_docstrings

model = HDSP(30, scaling="~ module + kind", init="nmf", random_state=0).fit(load_docstrings())
fig, ax = plt.subplots(figsize=(9, 8), layout="constrained")
plots.correlations(model, n=20, ax=ax)

# %%
# The strongest pairs:

pairs = model.topic_correlations()
strongest = pairs.reindex(pairs["correlation"].abs().sort_values(ascending=False).index).head(4)
words = [" ".join(own) for own in model.top_words(4)]
strongest.assign(
    topic=strongest["topic"].map(words.__getitem__), other=strongest["other"].map(words.__getitem__)
).round(2)
