"""
A trend that bends, and differs by side
=======================================

Simulated documents, so the truth is known: in thirty blogs, one topic peaks in the middle of a
year, another rises on the left and falls on the right.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from hdsp import HDSP, Corpus, plots

rng = np.random.default_rng(0)
blog = np.arange(1200) % 30
posts = pd.DataFrame(
    {
        "side": np.where(blog % 2 == 0, "left", "right"),
        "day": rng.uniform(0, 365, size=1200),
        "blog": [f"blog {n}" for n in blog],
    }
)


def score(day, side):
    time = day / 365 - 0.5
    turn = np.where(side == "left", 1.0, -1.0)
    return np.column_stack([2 * np.exp(-30 * time**2), 2 * turn * time, 0 * time, 0 * time])


def shares(score):
    return np.exp(score) / np.exp(score).sum(axis=-1, keepdims=True)


noise = 0.3 * rng.normal(size=(30, 4))[blog] + rng.normal(size=(1200, 4))
words = rng.dirichlet(np.full(200, 0.05), size=4)
means = shares(score(posts["day"], posts["side"]) + noise) @ words
counts = np.array([rng.multinomial(60, row / row.sum()) for row in means])
corpus = Corpus(counts, labels=posts)

# %%
# Topics are found without labels, and effects are estimated afterwards. Posts of one blog are
# correlated, so the blogs are ``groups``.

model = HDSP(4, init="nmf", random_state=0).fit(corpus.counts)
effects = model.estimate_effects("~ side * s(day)", labels=posts, groups="blog")

# %%
# Curves with 90% bands; points are means of documents, dashed lines the truth.

fitted = model.components_ / model.components_.sum(axis=1, keepdims=True)
day = np.linspace(0, 365, 50)
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
for number, ax in enumerate(axes):
    topic = int(np.abs(fitted - words[number]).sum(axis=1).argmin())
    plots.curve(effects, "day", by="side", topics=topic, ax=ax)
    for side in ("left", "right"):
        curve = score(day, np.full(50, side))[:, None] + noise
        ax.plot(day, shares(curve)[..., number].mean(axis=1), "k--", linewidth=1)

# %%
# Straight lines without an interaction miss all of this, and ``check`` shows it:

straight = model.estimate_effects("~ side + day", labels=posts, groups="blog")
print("straight:", straight.check()["verdict"].value_counts().to_dict())
print("curves by side:", effects.check()["verdict"].value_counts().to_dict())
