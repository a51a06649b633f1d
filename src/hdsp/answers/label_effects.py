"""The table of label effects."""

from collections.abc import Sequence
from typing import Any, Literal

from hdsp.answers.effect_refits import Resampling, refit_sides
from hdsp.answers.new_documents import read_documents
from hdsp.answers.topic_tables import Columns, name_column
from hdsp.corpus import Corpus, StoredCorpus
from hdsp.model import Problem, make_problem
from hdsp.persistence import fingerprint
from hdsp.prediction import FittedModel, make_contrasts, over_refits
from hdsp.validation import check_choice, check_share, check_whole

_OWNER = "HDSP.label_effects"


def effect_columns(
    fitted: FittedModel,
    level: float = 0.9,
    labels: str | Sequence[str] | None = None,
    contrast: tuple[Any, Any] | None = None,
    method: Literal["calibrated", "ratio"] = "calibrated",
    random_state: int = 0,
    resampling: Resampling | None = None,
) -> Columns:
    """The columns of `HDSP.label_effects`."""
    problem = None if resampling is None else _resampled(fitted, method, resampling)
    check_share(level, "level", _OWNER)
    check_choice(method, ("calibrated", "ratio"), "method", _OWNER)
    contrasts = make_contrasts(fitted.schema, fitted.used, labels, contrast, fitted.missing())
    found = fitted.effects(contrasts, level, method, random_state)
    if resampling is not None and problem is not None and contrasts:
        sides = refit_sides(fitted, problem, contrasts, resampling, random_state)
        found = over_refits(found, fitted.groups.sum(sides), level)
    n_topics = len(fitted.groups)
    columns: Columns = {
        "label": [c.label for c in contrasts for _ in range(n_topics)],
        "contrast": [c.description for c in contrasts for _ in range(n_topics)],
        "topic": list(range(n_topics)) * len(contrasts),
    }
    columns |= name_column(fitted, columns["topic"])
    for name in ("effect", "lower", "upper", "expected", "otherwise"):
        columns[name] = getattr(found, name).ravel().tolist()
    return columns


def _resampled(fitted: FittedModel, method: str, resampling: Resampling) -> Problem:
    """The documents that are resampled: those of training."""
    corpus = resampling.corpus
    check_whole(resampling.n_refits, "refits", 2)
    if method != "calibrated":
        raise ValueError(f'`refits` of {_OWNER} go with `method="calibrated"`. Got {method!r}.')
    if corpus is None:
        raise ValueError(
            f"`refits` of {_OWNER} needs the training documents, which a model does not hold: pass "
            "them as `corpus`."
        )
    if not isinstance(corpus, Corpus):
        raise TypeError(
            f"`corpus` of {_OWNER} must be a Corpus. Got {type(corpus).__name__}: of counts make "
            "Corpus(X, words=model.words_, labels=labels)."
        )
    counts, design = read_documents(fitted, corpus, None, _OWNER)
    problem = make_problem(
        counts, design, fitted.scaling, fitted.priors, content=fitted.state.content
    )
    if isinstance(corpus, StoredCorpus) and corpus.fingerprint == fitted.source.fingerprint:
        return problem
    if fingerprint(counts, problem.design) != fitted.source.fingerprint:
        raise ValueError(
            f"`corpus` of {_OWNER} must be the documents that the model was fitted to, with the "
            f"same labels and in the same order. Got {len(corpus)} documents, where training had "
            f"{fitted.training.n_documents}, or others."
        )
    return problem
