"""Methods, tables, figures and references for an article, in a folder."""

import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from hdsp import progress
from hdsp.analysis import label_effects
from hdsp.analysis.documents import check_text_of_each, training_problem, typical_columns
from hdsp.analysis.levels import curve_columns
from hdsp.analysis.topics import Columns, topic_columns
from hdsp.article.methods import curve_labels, methods_text, read_asset
from hdsp.article.tables import effect_table, results_text, strongest_effects, topic_table
from hdsp.corpus import Corpus
from hdsp.corpus.frames import as_series, is_frame, open_columns
from hdsp.numerics import IntArray
from hdsp.plots import curve, drawing, search
from hdsp.storage.container import replacing
from hdsp.storage.delimited import guarded, write_delimited

_OWNER = "HDSP.article"
# What was written, with checksums.
_RECORD = "provenance.json"
_WORDS, _TYPICAL = 10, 2
# Panels of a figure.
_PANELS = 6


def write_article(
    model: Any,
    folder: str | os.PathLike[str],
    corpus: Corpus | None = None,
    *,
    texts: Sequence[str] | None = None,
    stability: Any = False,
    refits: int | None = None,
) -> None:
    """Write the files of `HDSP.article`. Effects pool `refits` to resampled documents."""
    path, fitted = Path(folder), model._model
    former = check_article_folder(path)
    drawing.check_installed()
    if corpus is not None:
        training_problem(fitted, corpus, _OWNER)
        check_text_of_each(texts, corpus, _OWNER)
    elif texts is not None or stability is True:
        needs = "stability" if texts is None else "texts"
        raise ValueError(
            f"`{needs}` of {_OWNER} needs the training documents: pass them as `corpus`."
        )
    fits = _stability(model, corpus, stability)
    again = None if refits is None else label_effects.Refits(refits, corpus, model)
    effects = label_effects.effect_columns(fitted, refits=again)
    with progress.task("Writing the article"):
        files = _describe_topics(model, corpus, texts, effects)
        facts = None if fits is None else label_effects.stability_facts(fits, effects)
        methods = methods_text(model, corpus, facts, refits)
        entries = read_asset("references.bib").split("\n\n")
        cited = [entry for entry in entries if f"[@{re.findall(r'{(.*),', entry)[0]}]" in methods]
        files |= {"methods.md": methods.encode(), "references.bib": "\n\n".join(cited).encode()}
        if effects["label"]:
            shown = strongest_effects(model, effects)
            files |= {
                "effects.csv": _csv(effects),
                "effects.pdf": draw_effects(model, effects, shown),
                "effects.tex": effect_table(model, effects, shown).encode(),
                "results.md": results_text(model, effects, shown).encode(),
            }
        if labels := curve_labels(fitted):
            tables = [curve_columns(label_effects.own_regression(fitted), name) for name in labels]
            drawn = labels[:_PANELS]
            pdf = _figure(len(drawn), 3.2, lambda panel, ax: curve(model, drawn[panel], ax=ax))
            files |= {"curves.csv": _csv(*tables), "curves.pdf": pdf}
        if "selection.pdf" in methods:
            files["selection.pdf"] = _figure(1, 3.4, lambda panel, ax: search(model, ax=ax))
        if fits is not None:
            files["stability.csv"] = _csv(fits)
        record = {"hdsp": version("hdsp"), "documents": fitted.source.fingerprint}
        sums = {name: _checksum(content) for name, content in files.items()}
        files[_RECORD] = json.dumps({**record, "files": sums}, indent=2).encode()
        path.mkdir(parents=True, exist_ok=True)
        for name in set(former) - set(files):
            (path / name).unlink(missing_ok=True)
        for name, content in files.items():
            with replacing(path / name) as file:
                file.write(content)


def check_article_folder(folder: Path) -> Mapping[str, str]:
    """The files of an earlier article in a folder, with their checksums.

    Raise if there is another file, or one that was changed.
    """
    try:
        known = dict(json.loads((folder / _RECORD).read_bytes())["files"])
    except (OSError, ValueError, TypeError, KeyError):
        known = {}
    present = sorted(os.listdir(folder)) if folder.is_dir() else []
    paths = [folder / name for name in present if name != _RECORD]
    for path in [folder] if folder.is_file() else paths:
        if not path.is_file() or _checksum(path.read_bytes()) != known.get(path.name):
            raise FileExistsError(
                f"{_OWNER} replaces only files that it wrote, and {str(path)!r} is another or was "
                "changed since: choose another folder, or move it away."
            )
    # Not what a forged record says of other folders.
    return {name: known[name] for name in present if name in known}


def _describe_topics(
    model: Any, corpus: Corpus | None, texts: Sequence[str] | None, effects: Columns
) -> dict[str, bytes]:
    """The tables of topics, with typical documents if there are any."""
    topics, quotes = topic_columns(model._model, _WORDS, effects), []
    if corpus is not None:
        found = typical_columns(model._model, corpus, None, None, _TYPICAL, model.n_jobs, texts)
        documents = next(found[name] for name in ("text", "id", "document") if name in found)
        n = min(_TYPICAL, len(corpus))
        typical = {f"typical_{rank + 1}": documents[rank::n] for rank in range(n)}
        topics |= typical
        quotes = list(typical) if texts is not None else []
    topics = {name: values[: model.n_topics_] for name, values in topics.items()}
    table = topic_table(model._model, topics, _WORDS, quotes)
    return {"topics.csv": _csv(topics), "topics.tex": table.encode()}


def _stability(model: Any, corpus: Corpus | None, stability: Any) -> Columns | None:
    """The columns of `HDSP.stability` per fit, computed or from a table; None if not asked for."""
    if stability is False:
        return None
    if stability is True:
        numbers = label_effects.usual_numbers(model._model, model)
        asked = (model._model, model, corpus, numbers)
        return label_effects.stability_columns(*asked, seeds=2, per_fit=True)[1]
    read = open_columns(stability, f"`stability` of {_OWNER}") if is_frame(stability) else {}
    if not {"number", "seed", "topic", "found"} <= set(read):
        raise ValueError(
            f"`stability` of {_OWNER} must be True, False or a table that "
            f"HDSP.stability(per_fit=True) returned. Got {type(stability).__name__}."
        )
    return {name: as_series(column).tolist() for name, column in read.items()}


def draw_effects(model: Any, effects: Columns, shown: Sequence[IntArray]) -> bytes:
    """A panel for each label, with the effects in some rows of a table."""
    names = drawing.topic_names(model, range(len(model.components_)))

    def draw(panel: int, ax: Any) -> None:
        rows = shown[panel]
        limits = [np.array(effects[name])[rows] for name in ("effect", "lower", "upper")]
        drawing.draw_effects(ax, [names[effects["topic"][row]] for row in rows], limits, 0.9)
        ax.set_title(f"{effects['label'][rows[0]]} ({effects['contrast'][rows[0]]})")

    return _figure(len(shown), 0.9 + 0.24 * max(map(len, shown)), draw)


def _figure(n_panels: int, height: float, draw: Callable[[int, Any], Any]) -> bytes:
    """A PDF of panels in two columns, without its creation date."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    shape = -(-n_panels // 2), min(n_panels, 2)
    # Names of topics and labels are no formulas, and their letters are to be found by a search.
    with rc_context({"text.parse_math": False, "pdf.fonttype": 42}):
        figure = Figure(figsize=(5.5 * shape[1], height * shape[0]), layout="constrained")
        for panel in range(n_panels):
            draw(panel, figure.add_subplot(*shape, panel + 1))
        file = io.BytesIO()
        figure.savefig(file, format="pdf", metadata={"CreationDate": None})
    return file.getvalue()


def _csv(*tables: Columns) -> bytes:
    file = io.StringIO()
    write_delimited(tables, file, ",", guarded)
    return file.getvalue().encode()


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
