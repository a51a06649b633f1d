"""What the figures of held-out perplexity share."""

from collections.abc import Hashable, Sequence
from typing import Any

from hdsp_studies.reproduction import drawing
from hdsp_studies.reproduction.intervals import interval
from hdsp_studies.reproduction.models import SHARING_STARTS
from hdsp_studies.reproduction.study import (
    Row,
    Settings,
    Study,
    Verdict,
    distinct,
    graded,
    mean,
    select,
)

# The paper's measure, and the calibrated one where a model has it, with their lines. A claim must
# hold by both.
MEASURES = {"perplexity": "-", "calibrated": "--"}


class TopicPriorStudy(Study):
    """A study of fits with several values of eta, the Dirichlet parameter of topics."""

    spans = ("models", "models_of", "corpora", "topic_priors", "seeds")

    def units(self, settings: Settings) -> list[dict[str, Any]]:
        """One fit for each corpus, model, eta and seed.

        Models with the same start follow one another. A corpus has the models of `models`, or its
        own of `models_of`.
        """
        return [
            {"corpus": corpus, "model": model, "topic_prior": eta, "seed": seed}
            for seed in settings["seeds"]
            for corpus in settings["corpora"]
            for eta in settings["topic_priors"]
            for model in settings.get("models_of", {}).get(corpus, settings["models"])
        ]

    def group(self, unit: Row) -> Hashable:
        """Fits that share a start."""
        return of_one_start(unit)


def average(rows: Sequence[Row], measure: str, **wanted: Any) -> float:
    """The mean of a measure over the rows with these values; NaN if a model does not have it."""
    return mean(over_seeds(rows, measure, **wanted))


def over_seeds(rows: Sequence[Row], measure: str, **wanted: Any) -> list[float]:
    """The values of a measure in the rows with these values; none if a model does not have it."""
    values = [row.get(measure, "") for row in select(rows, **wanted)]
    return [float(value) for value in values if value != ""]


def draw_lines(rows: Sequence[Row], key: str, label: str) -> Any:
    """Perplexity against `key`: a panel per corpus, a colour per model, a dash per measure."""
    corpora, models = distinct(rows, "corpus"), distinct(rows, "model")
    n_columns = min(2, len(corpora))
    figure, panels = drawing.axes(-(-len(corpora) // n_columns), n_columns, 4.6, 3.4)
    for place in panels.flat[len(corpora) :]:
        place.set_visible(False)
    for place, corpus in zip(panels.flat, corpora, strict=False):
        for model in distinct(select(rows, corpus=corpus), "model"):
            own = select(rows, corpus=corpus, model=model)
            values = sorted(distinct(own, key))
            for measure, style in MEASURES.items():
                ends = [interval(over_seeds(own, measure, **{key: value})) for value in values]
                drawing.band(place, values, ends, drawing.colour(model))
                place.plot(
                    values,
                    [average(own, measure, **{key: value}) for value in values],
                    style,
                    color=drawing.colour(model),
                    marker="o" if style == "-" else None,
                    ms=3,
                )
        place.set(title=corpus, xlabel=label)
    for place in panels[:, 0]:
        place.set_ylabel("held-out perplexity given labels")
    first = panels.flat[0]
    handles = [first.plot([], [], color=drawing.colour(model), label=model)[0] for model in models]
    handles += [
        first.plot([], [], style, color="#999999", label=name)[0]
        for name, style in (("the paper's measure", "-"), ("calibrated", "--"))
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2 * n_columns)
    return figure


def times_below(
    rows: Sequence[Row], measure: str, first: str, others: Sequence[str], key: str, values: Any
) -> tuple[int, int]:
    """In how many settings a model is below all others, and in how many it was compared."""
    below = total = 0
    for corpus in distinct(rows, "corpus"):
        own = select(rows, corpus=corpus)
        for value in values:
            at = {key: value}
            against = min(measured(own, measure, other, at) for other in others)
            below += average(own, measure, model=first, **at) < against
            total += 1
    return below, total


def measured(rows: Sequence[Row], measure: str, model: str, at: Row) -> float:
    """A model's measure of this name, or for ATM the only one that it has."""
    found = average(rows, measure, model=model, **at)
    return found if found == found else average(rows, "perplexity", model=model, **at)


def by_both(counted: Sequence[tuple[int, int]]) -> Verdict:
    """The verdict on a claim from how often it held, and could have held, by each measure."""
    return graded(
        all(won == total for won, total in counted), any(won > total / 2 for won, total in counted)
    )


def of_one_start(unit: Row) -> Hashable:
    """Equal for units whose fits start from the same topics; those of other models stand alone."""
    names = [name for name in ("corpus", "topic_prior", "seed") if name in unit]
    if unit["model"] not in SHARING_STARTS:
        return tuple(unit.values())
    return tuple(unit[name] for name in names)
