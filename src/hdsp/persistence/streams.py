"""Where a stochastic fit goes on, in files: the stream, and the sample of its documents."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hdsp.analysis.fitted import FittedModel
from hdsp.fit import OpenStream, PassSoFar, Sample, Stream
from hdsp.model import BoundTerms, GlobalState
from hdsp.persistence import manifest as get
from hdsp.scaling.functions import DesignLimits
from hdsp.storage import AnyArray, StoredArrays, put_sparse, put_texts, require

_BY_LABEL = ("label_total", "carriers", "label_steps")
_MOST_DOCUMENTS = 2**62


def put_stream(arrays: dict[str, AnyArray], stream: Stream) -> dict[str, Any]:
    """Add a stream to `arrays`, without its state, and return its numbers for the manifest."""
    for name in ("log_proportion", *_BY_LABEL):
        arrays[f"stream.{name}"] = getattr(stream, name)
    arrays["stream.largest"] = stream.limits.largest
    return {
        "batch_size": stream.batch_size,
        "steps": stream.steps,
        "n_documents": stream.n_documents,
        "labels_per_document": stream.limits.labels_per_document,
    }


def take_stream(
    numbers: Mapping[str, Any], arrays: StoredArrays, state: GlobalState, n_labels: int
) -> tuple[Stream, PassSoFar]:
    """The stream that `put_stream` wrote, and the pass it was in."""
    by_label = {name: arrays.numbers(f"stream.{name}", (n_labels,)) for name in _BY_LABEL}
    for name in ("carriers", "label_steps"):
        require((by_label[name] >= 0).all(), f"its {name} are negative")
    limits = DesignLimits(
        get.whole(numbers, "labels_per_document", 1), arrays.numbers("stream.largest", (n_labels,))
    )
    stream = Stream(
        state,
        get.whole(numbers, "batch_size", 1),
        get.positive(numbers, "steps"),
        get.whole(numbers, "n_documents", 1),
        arrays.numbers("stream.log_proportion", (state.n_topics,)),
        **by_label,
        limits=limits,
    )
    done = numbers.get("pass", {})
    so_far = PassSoFar(
        batches=get.whole({"batches": 0, **done}, "batches", 0),
        bound=BoundTerms(**{name: float(of) for name, of in done.get("bound", {}).items()}),
        inner_iterations=int(done.get("inner_iterations", 0)),
    )
    return stream, so_far


def put_open_stream(arrays: dict[str, AnyArray], opened: OpenStream) -> dict[str, Any]:
    """Add a stream to `arrays` that can go on, without the model, and return its numbers."""
    put_sparse(arrays, "stream.counts", opened.sample.counts)
    put_sparse(arrays, "stream.design", opened.sample.design)
    arrays["stream.keys"] = opened.sample.keys
    put_texts(arrays, "stream.waiting", opened.waiting)
    arrays["stream.waiting.documents"] = np.array(list(opened.waiting.values()), dtype=np.int64)
    return {
        **put_stream(arrays, opened.stream),
        "different_documents": opened.n_documents,
        "seed": opened.seed,
        "searched": opened.learned,
    }


def take_open_stream(
    numbers: Mapping[str, Any], arrays: StoredArrays, model: FittedModel
) -> OpenStream:
    """The stream that `put_open_stream` wrote beside a model."""
    n_labels, n_words = model.space.n_columns, len(model.source.words)
    stream, _ = take_stream(numbers, arrays, model.state, n_labels)
    keys = arrays.numbers("stream.keys", (None,), least=0.0, most=1.0)
    words = arrays.texts("stream.waiting")
    documents = arrays.whole("stream.waiting.documents", (len(words),), _MOST_DOCUMENTS)
    new = len(set(words)) == len(words) and set(words).isdisjoint(model.source.words)
    require(new, "its waiting words are in the model already")
    return OpenStream(
        stream,
        Sample(
            arrays.sparse("stream.counts", (len(keys), n_words + len(words)), least=0.0),
            arrays.sparse("stream.design", (len(keys), n_labels)),
            keys,
        ),
        get.whole(numbers, "different_documents", max(len(keys), 1), _MOST_DOCUMENTS),
        model.source.words,
        model.space,
        model.priors,
        get.whole(numbers, "seed", 0, 2**63),
        get.whole(numbers, "searched", 1, _MOST_DOCUMENTS),
        dict(zip(words, documents.tolist(), strict=True)),
    )
