"""How figures look: one size of type, few colours, no frame that says nothing."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = {
    "HDSP": "#0072B2",
    "wHDSP": "#D55E00",
    "HDP": "#555555",
    "HDSP default": "#8C1515",
    "L-LDA": "#009E73",
    "PLDA-2": "#CC79A7",
    "PLDA-5": "#E69F00",
    "ATM-50": "#56B4E9",
    "ATM-100": "#F0E442",
    "ATM-150": "#000000",
}
# For further models.
_OTHERS = ("#882255", "#44AA99", "#999933", "#332288")
_STYLE: dict[Any, Any] = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "figure.constrained_layout.use": True,
    "font.size": 9,
    "legend.frameon": False,
    "savefig.dpi": 150,
    # Text stays text in SVG, and the same run gives the same file.
    "svg.fonttype": "none",
    "svg.hashsalt": "hdsp",
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in the style of these figures, and leave that of other figures alone."""
    from matplotlib import rc_context

    with rc_context(_STYLE):
        yield


def axes(n_rows: int, n_columns: int, width: float, height: float, **options: Any) -> Any:
    """A figure and its array of axes; width and height are those of one panel, in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(n_columns * width, n_rows * height))
    FigureCanvasAgg(figure)
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **options)


def band(place: Any, at: Sequence[float], ends: Sequence[tuple[float, float]], shade: str) -> None:
    """Shade intervals along a line."""
    low, high = zip(*ends, strict=True)
    place.fill_between(at, low, high, color=shade, alpha=0.2, lw=0)


def colour(name: str) -> str:
    """The colour of a model, the same in every figure."""
    return COLOURS.get(name, _OTHERS[sum(name.encode()) % len(_OTHERS)])


def save(figure: Any, folder: Path) -> None:
    """Write the figure as SVG."""
    figure.savefig(folder / "figure.svg", metadata={"Date": None})
