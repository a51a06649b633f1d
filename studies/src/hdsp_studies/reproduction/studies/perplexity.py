"""What the figures of held-out perplexity share."""

from collections.abc import Hashable, Sequence
from typing import Any

from hdsp import HDSP
from hdsp_studies.reproduction import drawing
from hdsp_studies.reproduction.intervals import interval
from hdsp_studies.reproduction.models import DEFAULT, PUBLISHED, fits_of
from hdsp_studies.reproduction.study import (
    FITS,
    Row,
    Settings,
    Study,
    Verdict,
    distinct,
    graded,
    mean,
    of_fit,
    select,
)

# What a model expects by default (HDSP: the paper's predictor), and HDSP's exact mean, with their
# lines.
MEASURES = {"perplexity": "-", "exact": "--"}


class TopicPriorStudy(Study):
    """A study of fits with several values of eta, the Dirichlet parameter of topics."""

    spans = ("models", "models_of", "corpora", "topic_priors", "others_topic_priors")

    def units(self, settings: Settings) -> list[dict[str, Any]]:
        """One fit for each corpus, model, eta, tolerance and seed.

        Models with the same start follow one another. A corpus has the models of `models`, or its
        own of `models_of`. The library's default fit has its own eta; other models have those of
        `others_topic_priors`, and the first eta alone is fitted until convergence.
        """
        etas: list[float] = settings["topic_priors"]
        others: list[float] = settings.get("others_topic_priors", etas)
        own = HDSP().topic_prior

        def chosen(key: dict[str, str]) -> list[float]:
            if key["model"] == DEFAULT:
                return [own]
            if key["fit"] == "converged":
                return etas[:1]
            return etas if key["model"] in PUBLISHED else others

        return [
            {"corpus": corpus, **key, "topic_prior": eta, "seed": seed}
            for seed in settings["seeds"]
            for corpus in settings["corpora"]
            for eta in [own, *etas]
            for key in fits_of(
                settings.get("models_of", {}).get(corpus, settings["models"]), settings
            )
            if eta in chosen(key)
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
    """Perplexity against `key`: a row of panels per tolerance, a column per corpus."""
    corpora, models = distinct(rows, "corpus"), distinct(rows, "model")
    fits = [fit for fit in FITS if any(row["fit"] == fit for row in rows)]
    figure, panels = drawing.axes(len(fits), len(corpora), 3.6, 2.9, sharey="col")
    for line, fit in zip(panels, fits, strict=True):
        for place, corpus in zip(line, corpora, strict=True):
            for model in models:
                own = select(of_fit(rows, fit), corpus=corpus, model=model)
                values = sorted(distinct(own, key))
                for measure, style in MEASURES.items():
                    if not own or (measure == "exact" and model not in PUBLISHED):
                        continue
                    found = [over_seeds(own, measure, **{key: value}) for value in values]
                    if not any(found):
                        continue
                    colour = drawing.colour(model)
                    drawing.band(place, values, [interval(each) for each in found], colour)
                    dots = "o" if style == "-" else "x"
                    means = [mean(each) for each in found]
                    place.plot(values, means, style, color=colour, marker=dots, ms=3)
            place.set(title=f"{corpus}, {FITS[fit]}", xlabel=label)
        line[0].set_ylabel("held-out perplexity given labels")
    first = panels.flat[0]
    handles = [first.plot([], [], color=drawing.colour(model), label=model)[0] for model in models]
    handles += [
        first.plot([], [], style, color="#999999", label=name)[0]
        for name, style in (("the model's own predictor", "-"), ("HDSP's exact mean", "--"))
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2 * len(corpora))
    return figure


def times_below(
    rows: Sequence[Row], measure: str, first: str, others: Sequence[str], key: str
) -> tuple[int, int]:
    """In how many settings a model is below all others, and in how many it was compared.

    Others have their own predictor where they have no such measure.
    """
    below = total = 0
    for corpus in distinct(rows, "corpus"):
        own = select(rows, corpus=corpus)
        for value in distinct(select(own, model=first), key):
            at = {key: value}
            found = [measured(own, measure, other, at) for other in others]
            found = [value for value in found if value == value]
            if found:
                below += average(own, measure, model=first, **at) < min(found)
                total += 1
    return below, total


def measured(rows: Sequence[Row], measure: str, model: str, at: Row) -> float:
    """A model's measure of this name, or by its own predictor if it has no other."""
    found = average(rows, measure, model=model, **at)
    return found if found == found else average(rows, "perplexity", model=model, **at)


def counted(won: int, total: int) -> Verdict:
    """The verdict on a claim from how often it held, and could have held."""
    return graded(won == total, won > total / 2)


def of_one_start(unit: Row) -> Hashable:
    """Equal for units whose fits start from the same topics; those of other models stand alone."""
    names = [name for name in ("corpus", "topic_prior", "seed", "start") if name in unit]
    if unit["model"] not in PUBLISHED:
        return tuple(unit.values())
    return tuple(unit[name] for name in names)
