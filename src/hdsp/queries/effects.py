"""The table of label effects."""

from collections.abc import Sequence
from typing import Any, Literal

from sklearn.utils.validation import check_is_fitted

from hdsp.corpus import Corpus, StoredCorpus
from hdsp.model import Problem, make_problem
from hdsp.persistence import fingerprint
from hdsp.prediction import make_contrasts, over_refits
from hdsp.queries.attributes import Columns, FittedAttributes
from hdsp.resampling import refit_sides
from hdsp.validation import check_choice, check_share, check_whole


def effect_columns(
    model: FittedAttributes,
    level: float = 0.9,
    labels: str | Sequence[str] | None = None,
    contrast: tuple[Any, Any] | None = None,
    method: Literal["calibrated", "ratio"] = "calibrated",
    random_state: int = 0,
    refits: int | None = None,
    corpus: Corpus | None = None,
) -> Columns:
    """The columns of `HDSP.label_effects`."""
    check_is_fitted(model)
    problem = _refitted(model, method, refits, corpus)
    check_share(level, "level", "HDSP.label_effects")
    check_choice(method, ("calibrated", "ratio"), "method", "HDSP.label_effects")
    fitted = model._model
    contrasts = make_contrasts(fitted.schema, model._used(), labels, contrast, fitted.missing())
    found = fitted.effects(contrasts, level, method, random_state)
    if refits is not None and problem is not None and contrasts:
        sides = refit_sides(
            fitted,
            problem,
            contrasts,
            refits,
            max_iter=model.max_iter,
            tol=model.tol,
            n_jobs=model._executor().n_threads,
            seed=random_state,
        )
        found = over_refits(found, fitted.groups.sum(sides), level)
    n_topics = len(model.components_)
    columns: Columns = {
        "label": [c.label for c in contrasts for _ in range(n_topics)],
        "contrast": [c.description for c in contrasts for _ in range(n_topics)],
        "topic": list(range(n_topics)) * len(contrasts),
    }
    if fitted.topic_names:
        columns["name"] = [fitted.topic_names.get(k, "") for k in columns["topic"]]
    for name in ("effect", "lower", "upper", "expected", "otherwise"):
        columns[name] = getattr(found, name).ravel().tolist()
    return columns


def _refitted(
    model: FittedAttributes, method: str, refits: int | None, corpus: Corpus | None
) -> Problem | None:
    """What refits are of, or None without refits."""
    if refits is None:
        return None
    owner = "HDSP.label_effects"
    check_whole(refits, "refits", 2)
    if method != "calibrated":
        raise ValueError(f'`refits` of {owner} go with `method="calibrated"`. Got {method!r}.')
    if corpus is None:
        raise ValueError(
            f"`refits` of {owner} needs the training documents, which a model does not hold: pass "
            "them as `corpus`."
        )
    if not isinstance(corpus, Corpus):
        raise TypeError(
            f"`corpus` of {owner} must be a Corpus. Got {type(corpus).__name__}: of counts make "
            "Corpus(X, words=model.words_, labels=labels)."
        )
    fitted = model._model
    counts, design = model._read_new(corpus, None, "label_effects")
    problem = make_problem(counts, design, fitted.scaling, fitted.priors)
    if isinstance(corpus, StoredCorpus) and corpus.fingerprint == fitted.source.fingerprint:
        return problem
    if fingerprint(counts, problem.design) != fitted.source.fingerprint:
        raise ValueError(
            f"`corpus` of {owner} must be the documents that the model was fitted to, with the "
            f"same labels and in the same order. Got {len(corpus)} documents, where training had "
            f"{fitted.training.n_documents}, or others."
        )
    return problem
