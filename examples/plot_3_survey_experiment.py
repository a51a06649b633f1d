"""
A survey experiment, as published with stm
==========================================

Gadarian and Albertson asked half of their respondents what worries them about immigration, and the
other half what they think of it. Roberts et al. (2014, *American Journal of Political Science*)
introduced the structural topic model with these answers: who was asked to worry writes more about
crime, welfare and jobs. This page repeats the analysis, figure by figure, with the interaction of
the treatment and party identification, and ends with a placebo.
"""

import matplotlib.pyplot as plt
import numpy as np
import topica

from hdsp import HDSP, Corpus, plots

survey = topica.datasets.load_gadarian()
survey["asked"] = np.where(survey["treatment"] == 1, "worry", "think")
labels = survey[["asked", "pid_rep"]]
corpus = Corpus.from_texts(survey["open.ended.response"], labels=labels)
model = HDSP(3, scaling="~ asked * s(pid_rep)", random_state=0).fit(corpus)

# %%
# The warning deserves attention: 341 answers of six counted words are few, and topics may differ in
# another survey. What follows holds for *these* topics.
#
# The topics
# ----------

model.topics(n_words=10)[["topic", "share", "words"]]

# %%
# Two answers that are typical of the topic of crime, welfare and jobs:

worries = model.top_words(10).index(next(w for w in model.top_words(10) if "welfare" in w))
model.name_topics({worries: "Jobs, welfare, crime"})
typical = model.typical_documents(corpus, n=2).query("topic == @worries")
for row in typical.itertuples():
    print("–", survey["open.ended.response"][row.document][:200].replace("\n", " "))

# %%
# The effect of the treatment
# ---------------------------

contrast = {"labels": "asked", "contrast": ("think", "worry")}
effects = model.label_effects(**contrast)
effects[["topic", "words", "effect", "lower", "upper", "p", "q"]].round(3)

# %%
# By party
# --------
# Expected share of the topic by party identification (0 strong Democrat, 1 strong Republican), for
# both forms of the question.

regression = model.estimate_effects("~ asked * s(pid_rep)")
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
plots.curve(regression, "pid_rep", by="asked", topics=worries, ax=ax)

# %%
# Whether the treatment works *differently* by party is a question about a difference of effects,
# which overlapping bands do not answer. An interval that contains 0 leaves it open.

differences = regression.differences("pid_rep", by="asked").tail(3)
differences[["by", "topic", "words", "difference", "lower", "upper"]].round(3)

# %%
# The placebo
# -----------
# Deal the treatment out at random, so that it can have no effect, and repeat the whole analysis,
# topics included. Nine tenths of 90% intervals should contain 0.

rng = np.random.default_rng(0)
found, excluded = [], 0
for _ in range(40):
    shuffled = labels.assign(asked=rng.permutation(labels["asked"]))
    placebo = HDSP(3, init="words", random_state=0)
    table = placebo.fit(corpus.counts, labels=shuffled).label_effects(**contrast)
    found.append(table["effect"].abs().max())
    excluded += ((table["lower"] > 0) | (table["upper"] < 0)).sum()
print(f"{excluded} of {40 * 3} intervals of effects that do not exist exclude 0.")

# %%
# The largest effect of each of the forty placebos, and that of the real treatment:

fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.hist(100 * np.array(found), bins=12, color="lightgrey", label="placebo")
ax.axvline(100 * effects["effect"].abs().max(), color="C3", label="treatment")
ax.set(xlabel="largest effect, in points", ylabel="number of placebos")
ax.legend()
