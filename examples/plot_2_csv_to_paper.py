"""
From a CSV to a paper
=====================

One analysis from a file to a figure, a table and a paragraph. The file has two columns: 1,500
reviews of businesses, and the stars that their writers gave. The question: *what do people write
about when they are unhappy?* The file comes with topica (``pip install topica``); figures need
``pip install '.[plots]'``.
"""

import tempfile
from pathlib import Path
from textwrap import fill

import matplotlib.pyplot as plt
import pandas as pd
import topica

import hdsp
from hdsp import HDSP, plots

path = topica.datasets.load_reviews(return_path=True)  # a CSV file: text,stars
corpus = hdsp.read_table(path, text="text", numeric="stars")
corpus

# %%
# How many topics?
# ----------------
# Without instructions a fit finds the number by how well topics predict held-out words, and says
# how sure it is.

searched = HDSP(random_state=0, init="nmf").fit(corpus)
print(searched.number_summary_)

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
plots.search(searched, ax=ax)

# %%
# These reviews have eighteen words each, and thirty topics are more than a reader wants. We take
# eight, and ask instead which of them do not depend on the start: ``found_in`` counts the fits
# from four other seeds that have the topic, too. ``o(stars)`` gives each number of stars its own
# effect.

model = HDSP(8, scaling="~ o(stars)", init="words", random_state=0).fit(corpus)
stability = model.stability(corpus)[["topic", "similarity", "found_in"]]
topics = model.topics(n_words=6)[["topic", "share", "distinctive_words"]]
topics.merge(stability).round(2)

# %%
# Read before naming
# ------------------
# Typical documents decide what a topic is about; words alone mislead. Then give names, which all
# later tables and figures have.

texts = pd.read_csv(path)["text"]
effects = model.label_effects("stars", contrast=(1, 5))
worst = int(effects.loc[effects["effect"].idxmin(), "topic"])
best = int(effects.loc[effects["effect"].idxmax(), "topic"])
typical = model.typical_documents(corpus, n=2).query("topic == @worst")
for row in typical.itertuples():
    print(f"{row.proportion:.0%}: {texts[row.document][:220]} …\n")

model = model.name_topics({worst: "Waiting and rudeness", best: "Pleasant places"})
# %%
# The figure
# ----------
# Expected shares of the two topics by stars with 90% intervals, and the means observed in the
# reviews. ``fig.savefig("stars.pdf")`` writes the figure as vectors.

regression = model.estimate_effects("~ o(stars)")
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
plots.curve(regression, "stars", topics=[worst, best], ax=ax)

# %%
# Does the form fit? ``check`` compares what is expected with what is found, cell by cell.

print((regression.check()["verdict"] != "").sum(), "cells where the form does not fit")

# %%
# The files
# ---------
# One call writes a methods section, the table of topics in LaTeX and CSV, effects and curves as
# tables and vector figures, and the references.

folder = Path(tempfile.mkdtemp()) / "paper"
texts = pd.read_csv(path)["text"]
model.article(folder, corpus, texts=texts)
print(*sorted(file.name for file in folder.iterdir()), sep="\n")

# %%
# The methods come from the fit's own record.

for part in (folder / "methods.md").read_text().split("\n\n"):
    print(fill(part, 95), end="\n\n")

# %%
# The paragraph
# -------------
# What was found is yours to say; every number comes from the fit.

effect = effects.set_index("topic").loc[worst]
points = 100 * effect[["effect", "lower", "upper"]]
share = regression.levels("stars").query("topic == @worst").set_index("value")["observed"]
paragraph = (
    f"In reviews with one star, {share[1]:.0%} of the words are about waiting and "
    f"rudeness, and {share[5]:.0%} in reviews with five stars, a difference of "
    f"{points['effect']:.0f} points (90% interval {points['lower']:.0f} to {points['upper']:.0f})."
)
print(fill(paragraph, 95))
