"""What the figures of held-out perplexity share."""

from collections.abc import Sequence
from typing import Any

from hdsp.reproduction import drawing
from hdsp.reproduction.study import Row, Settings, distinct, mean, select

# The paper's measure, and the library's own where a model has it.
MEASURES = {"perplexity": "-", "calibrated": "--"}
# Those that findings count: the exact mean of the normalised proportions besides.
JUDGED = ("perplexity", "calibrated", "exact")


def average(rows: Sequence[Row], measure: str, **wanted: Any) -> float:
    """The mean of a measure over the rows with these values; NaN where a model has it not."""
    values = [row.get(measure, "") for row in select(rows, **wanted)]
    return mean([float(value) for value in values if value != ""])


def draw_lines(rows: Sequence[Row], key: str, label: str, **limits: Any) -> Any:
    """Perplexity against `key`: a panel a corpus, a colour a model, a dash a measure."""
    corpora, models = distinct(rows, "corpus"), distinct(rows, "model")
    figure, panels = drawing.axes(1, len(corpora), 3.4, 3.0)
    for place, corpus in zip(panels.flat, corpora, strict=True):
        for position, model in enumerate(models):
            own = select(rows, corpus=corpus, model=model)
            values = sorted(distinct(own, key))
            for measure, style in MEASURES.items():
                place.plot(
                    values,
                    [average(own, measure, **{key: value}) for value in values],
                    style,
                    color=drawing.colour(model, position),
                    marker="o" if style == "-" else None,
                    ms=3,
                )
        place.set(title=corpus, xlabel=label, **limits)
    first = panels.flat[0]
    first.set_ylabel("held-out perplexity given labels")
    handles = [
        first.plot([], [], color=drawing.colour(model, position), label=model)[0]
        for position, model in enumerate(models)
    ]
    handles += [
        first.plot([], [], style, color="#999999", label=name)[0]
        for name, style in (("the paper's measure", "-"), ("calibrated", "--"))
    ]
    # Narrow figures take the legend in several lines.
    figure.legend(handles=handles, loc="outside lower center", ncols=2 * len(corpora))
    return figure


def times_below(
    rows: Sequence[Row], measure: str, first: str, others: Sequence[str], key: str, values: Any
) -> tuple[int, int]:
    """In how many of the settings a model is below all others, and in how many it was compared."""
    below = total = 0
    for corpus in distinct(rows, "corpus"):
        own = select(rows, corpus=corpus)
        for value in values:
            at = {key: value}
            against = min(average(own, measure, model=other, **at) for other in others)
            below += average(own, measure, model=first, **at) < against
            total += 1
    return below, total


def fits_by_topic_prior(settings: Settings) -> list[dict[str, Any]]:
    """One fit a corpus, model, eta and seed; models follow one another on the same start."""
    return [
        {"corpus": corpus, "model": model, "topic_prior": eta, "seed": seed}
        for seed in settings["seeds"]
        for corpus in settings["corpora"]
        for eta in settings["topic_priors"]
        for model in settings["models"]
    ]
