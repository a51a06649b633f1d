"""What changes if a constant of the library is half or twice as large? One at a time.

    python benchmarks/sensitivity.py [PART ...] --data FOLDER

Writes benchmarks/results/sensitivity.csv, from which docs/constants.md is made; of parts that are
not named, the rows that are there stay. The parts are the keys of `CONSTANTS`. Each row is made in
a process of its own, which imports the library anew with one constant changed where it is defined.
A whole number stays one, and is 1 at least. The first rows of a part have the constants as they
are, with several seeds: what moves by no more than they do, moves nothing.

The part `kernels` is left out unless it is named: it compiles everything anew for each row.
"""

import ast
import csv
import importlib.util
import sys
import tempfile
import warnings
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder, SourceFileLoader
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

import numba
import numpy as np
from common import RESULTS, digits, load, parser, write

CONSTANTS = {
    "fit": (
        "hdsp.fit.start:_SMOOTHING",
        "hdsp.fit.start:_SEEDING_DOCUMENTS",
        "hdsp.fit.start:_KMEANS_PASSES",
        "hdsp.fit.start:_SWEEPS",
        "hdsp.fit.start:_EXTRAPOLATION",
        "hdsp.fit.passes:RESTARTS",
        "hdsp.model.updates:_LARGEST_LOGIT",
        "hdsp.model.completion:_LEAST",
        "hdsp.model.completion:_MOST",
        "hdsp.model.completion:_MAX_ITER",
        "hdsp.model.completion:_TOL",
        "hdsp.analysis.concentration:_MOST_HELD_OUT",
        "hdsp.analysis.concentration:_MOST_OTHERS",
        "hdsp.analysis.concentration:_PASSES",
    ),
    "analysis": (
        "hdsp.analysis.reading:FOLDS",
        "hdsp.analysis.reading:_PASSES",
        "hdsp.analysis.softmax:RIDGES",
        "hdsp.analysis.softmax:_TOL",
        "hdsp.analysis.softmax:_LOOSE",
        "hdsp.analysis.softmax:_GAIN",
        "hdsp.analysis.softmax:_MOST_STEPS",
        "hdsp.analysis.softmax:_ITER_OF_STEP",
        "hdsp.analysis.softmax:_LEAST",
        "hdsp.analysis.label_regression:STRENGTH",
        "hdsp.analysis.label_regression:_PENALTY",
        "hdsp.analysis.label_regression:_EVIDENCE_UNIT",
        "hdsp.analysis.label_regression:_MAX_ITER",
        "hdsp.analysis.label_regression:_TOL",
        "hdsp.analysis.label_words:_SWEEPS",
        "hdsp.analysis.label_words:_LEAST_GAIN",
    ),
    "number": (
        "hdsp.fit.number:ELASTICITY",
        "hdsp.fit.number:_DRAWS",
        "hdsp.fit.search:_SHARE",
        "hdsp.fit.search:_FEWEST_HELD_OUT",
        "hdsp.fit.search:_LARGEST_SHARE",
        "hdsp.fit.search:_PASSES",
        "hdsp.fit.search:_FIRST",
        "hdsp.fit.search:_STEP",
        "hdsp.fit.search:_CLOSE",
        "hdsp.fit.search:_SURE",
        "hdsp.fit.search:_CONCENTRATION",
        "hdsp.fit.passes:_EXACT_UPDATES",
        "hdsp.fit.merge:_PAIRS_PER_TOPIC",
        "hdsp.fit.merge:_LEAST_GAIN",
        "hdsp.fit.merge:_LEAST_SHARE",
        "hdsp.fit.merge:_ROUNDS",
    ),
    "prediction": ("hdsp.fit.number:_CLEARLY",),
    "stochastic": (
        "hdsp.fit.stochastic:_DELAY",
        "hdsp.fit.stochastic:_DECAY",
        "hdsp.fit.stochastic:_STEPS",
        "hdsp.fit.stochastic:_SHARE",
        "hdsp.fit.stochastic:_SMALLEST",
    ),
    "shards": ("hdsp.fit.passes:_LABEL_ROUNDS",),
    "stream": ("hdsp.fit.stream:WORD_DOCUMENTS", "hdsp.fit.relearn:_FACTOR"),
    "kernels": (
        "hdsp.model.completion:_ACTIVE_SHARE",
        "hdsp.kernels.reading:_ACTIVE_R",
        "hdsp.kernels.reading:_TURNS",
        "hdsp.kernels.reading:_FIRST_TURN",
        "hdsp.kernels.reading:_LONGEST_STEP",
        "hdsp.kernels.reading:_LEAST_SHARE",
        "hdsp.kernels.reading:_EXTRAPOLATED",
        "hdsp.kernels.documents:_NEWTON_STEPS",
        "hdsp.kernels.terms:_SMALL_SHARE",
    ),
}
# Shares near 1 and factors above it: what is halved and doubled is their distance from 1.
FROM_ONE = {"hdsp.fit.search:_STEP", "hdsp.fit.search:_CLOSE", "hdsp.kernels.reading:_ACTIVE_R"}
NOT_BY_DEFAULT = ("kernels",)
CORPORA = {"rcv1_subset": 30, "clothing_reviews": 20}
N_TRAIN, N_TEST, N_SEEDS = 1_000, 400, 4
PLACES = {"completion": 2, "given labels": 2, "label loss": 4, "topics": 0, "range": 0}
FORK = get_context("fork")


def source_file(constant):
    """The file that should define a constant."""
    module = constant.partition(":")[0].split(".")
    (root,) = importlib.util.find_spec(module[0]).submodule_search_locations
    path = Path(root).joinpath(*module[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def definition(tree, name):
    """The list or field that holds the value of a constant, as (owner, key); None without one."""
    for statement in tree.body:
        if isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets, owner, keys = [statement.target], vars(statement), ["value"]
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            (target,) = statement.targets
            targets, owner, keys = [target], vars(statement), ["value"]
            if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
                targets, owner = target.elts, statement.value.elts
                keys = list(range(len(owner)))
        else:
            continue
        for target, key in zip(targets, keys, strict=True):
            if isinstance(target, ast.Name) and target.id == name:
                return owner, key
    return None


def check_names(parts):
    """Every constant is where the list says it is."""
    missing = []
    for constant in (constant for part in parts for constant in CONSTANTS[part]):
        path, name = source_file(constant), constant.partition(":")[2]
        if not path.exists() or definition(ast.parse(path.read_text()), name) is None:
            missing.append(constant)
    if missing:
        raise SystemExit(
            f"There are no constants {', '.join(missing)}: say in CONSTANTS of "
            "benchmarks/sensitivity.py where they are now, or take them out."
        )


def reason(constant):
    """The comment above a constant, or above the constants that it follows."""
    source = source_file(constant).read_text()
    owner, key = definition(ast.parse(source), constant.partition(":")[2])
    lines, row = source.splitlines(), owner[key].lineno - 2
    while lines[row] and not lines[row].startswith("#"):
        row -= 1
    words = []
    while lines[row].startswith("#"):
        words.insert(0, lines[row].lstrip("# "))
        row -= 1
    return " ".join(words)


def changed(value, times, from_one=False):
    """A constant, `times` as large; of whole numbers the nearest one."""
    if isinstance(value, tuple):
        return tuple(changed(one, times, from_one) for one in value)
    if isinstance(value, int):
        return max(round(value * times), 1)
    return 1.0 + (value - 1.0) * times if from_one else value * times


class WithConstant(MetaPathFinder):
    """Imports one module with one constant changed."""

    def __init__(self, constant, times):
        self.module, self.name = constant.split(":")
        self.times, self.from_one = times, constant in FROM_ONE

    def find_spec(self, fullname, path, target=None):
        if fullname != self.module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        spec.loader = _Loader(fullname, spec.origin, self)
        return spec

    def code(self, source, path):
        tree = ast.parse(source)
        owner, key = definition(tree, self.name)
        call = ast.parse("constant_changed(0, 0, 0)", mode="eval").body
        call.args = [owner[key], ast.Constant(self.times), ast.Constant(self.from_one)]
        owner[key] = call
        return compile(ast.fix_missing_locations(tree), path, "exec")


class _Loader(SourceFileLoader):
    def __init__(self, fullname, path, finder):
        super().__init__(fullname, path)
        self.finder = finder

    def get_code(self, fullname):
        return self.finder.code(self.get_data(self.path), self.path)

    def exec_module(self, module):
        module.constant_changed = changed
        super().exec_module(module)


def apart(part, constant, times, seed, data):
    """The value of a constant and the measures of a part, from a process of its own."""
    receiver, sender = FORK.Pipe(duplex=False)
    child = FORK.Process(target=_child, args=(sender, part, constant, times, seed, data))
    child.start()
    sender.close()
    try:
        value, measures = receiver.recv()
    except EOFError:
        raise SystemExit(f"{constant or part} times {times}: its process has ended.") from None
    child.join()
    return value, measures


def _child(sender, part, constant, times, seed, data):
    warnings.simplefilter("ignore")
    for name in [name for name in sys.modules if name.partition(".")[0] == "hdsp"]:
        del sys.modules[name]
    with tempfile.TemporaryDirectory() as folder:
        if part == "kernels":
            numba.config.CACHE_DIR = folder
        value = None
        if constant:
            sys.meta_path.insert(0, WithConstant(constant, times))
            module, name = constant.split(":")
            value = getattr(importlib.import_module(module), name)
        measures = {}
        try:
            for probe in PROBES[part]:
                measures |= probe(data, seed)
        except Exception as error:
            # That a value fails is a result, unless it is the library's own.
            if not constant:
                raise
            measures = {"fails": type(error).__name__}
        sender.send((shown(value) if constant else "", measures))


def shown(value):
    """A value for a table: of several, the first and the last."""
    texts = [f"{number:.6g}" for number in np.ravel(value).tolist()]
    return texts[0] if len(texts) == 1 else f"{texts[0]} to {texts[-1]}"


def plain(corpus, n):
    """Counts, words and tags of the first documents, without objects of the library."""
    block = corpus.labels.block("labels")
    tags = [
        [block.columns[i] for i in row.indices] for row in (block.values[[m]] for m in range(n))
    ]
    return corpus.counts[:n], corpus.words, tags


def read(data):
    """Training and test documents of every corpus, as the processes take them."""
    found = {}
    for name in CORPORA:
        train, test = load(data, name)
        found[name] = plain(train, N_TRAIN), plain(test, N_TEST)
    return found


def fitted(data, name, seed, **options):
    """A model of the training documents, and the test documents."""
    from hdsp import HDSP, Corpus

    train, test = (Corpus(*part) for part in data[name])
    settings = {"n_components": CORPORA[name], **options}
    model = HDSP(**settings, random_state=seed, n_jobs=1)
    return model, train, test


def predictions(data, seed, begin=lambda model, train: model.fit(train), **options):
    """Perplexities, and the log loss of a tag; means over corpora."""
    found = []
    for name in CORPORA:
        model, train, test = fitted(data, name, seed, **options)
        begin(model, train)
        counts, labels = test.counts, test.labels
        chance = model.predict_labels(counts, labels.blocks[0].name)
        carried = data[name][1][2]
        truth = np.array([[tag in tags for tag in chance.columns] for tags in carried])
        p = np.clip(chance.to_numpy(), 1e-9, 1.0 - 1e-9)
        loss = -np.where(truth, np.log(p), np.log1p(-p)).mean()
        completion = model.perplexity(counts, labels=labels, given="completion")
        found.append((completion, model.perplexity(counts, labels=labels), loss))
    names = ("completion", "given labels", "label loss")
    return dict(zip(names, np.exp(np.log(found).mean(axis=0)), strict=True))


def by_batches(data, seed):
    return predictions(data, seed, inference="stochastic")


def by_shards(data, seed):
    def begin(model, train):
        from hdsp import open_corpus

        with tempfile.TemporaryDirectory() as folder:
            train.write(Path(folder) / "corpus")
            model.fit(open_corpus(Path(folder) / "corpus"))

    return predictions(data, seed, begin)


def by_stream(data, seed):
    def begin(model, train):
        for first in range(0, N_TRAIN, N_TRAIN // 5):
            model.partial_fit(train[first : first + N_TRAIN // 5])

    return predictions(data, seed, begin, fixed_number=False, n_components=60)


def numbers(data, seed, number_by="elbow"):
    """The numbers of topics that are found, in real text and where twenty are drawn."""
    from hdsp import HDSP
    from hdsp_studies.synthetic import make_corpus

    models = []
    for name in CORPORA:
        model, train, _ = fitted(
            data, name, seed, n_components=150, fixed_number=False, number_by=number_by
        )
        models.append(model.fit(train))
    corpus, _ = make_corpus(
        N_TRAIN, n_topics=20, topic_weights="zipf", overlap=0.3, document_length=100, random_state=0
    )
    models.append(
        HDSP(max_components=150, number_by=number_by, random_state=seed, n_jobs=1).fit(corpus)
    )
    return {
        "topics": " ".join(str(model.n_topics_) for model in models),
        "range": " ".join("{}-{}".format(*model.n_topics_range_) for model in models),
    }


def numbers_by_prediction(data, seed):
    return numbers(data, seed, "prediction")


PROBES = {
    "fit": (predictions,),
    "analysis": (predictions,),
    "number": (numbers,),
    "prediction": (numbers_by_prediction,),
    "stochastic": (by_batches,),
    "shards": (by_shards,),
    "stream": (by_stream,),
    "kernels": (predictions,),
}


def row(part, constant, times, seed, data):
    value, found = apart(part, constant, times, seed, data)
    measures = {
        name: found[name] if isinstance(found.get(name), str) else digits(found.get(name), places)
        for name, places in PLACES.items()
    }
    return {
        "part": part,
        "constant": constant,
        "times": times,
        "value": value,
        "seed": seed,
        **measures,
        "fails": found.get("fails", ""),
        "reason": reason(constant) if constant else "",
    }


def earlier(parts):
    """The rows of other parts that an earlier run has made."""
    path = RESULTS / "sensitivity.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["part"] not in parts]


def rows(parts, data):
    for part in parts:
        for seed in range(N_SEEDS):
            yield row(part, "", 1, seed, data)
        for constant in CONSTANTS[part]:
            for times in (0.5, 2.0):
                yield row(part, constant, times, 0, data)


def main():
    options = parser(__doc__)
    default = [part for part in CONSTANTS if part not in NOT_BY_DEFAULT]
    options.add_argument("parts", nargs="*", default=default, help=", ".join(CONSTANTS))
    chosen = options.parse_args()
    check_names(chosen.parts)
    made = rows(chosen.parts, read(chosen.data))
    write("sensitivity", chain(earlier(chosen.parts), made))


if __name__ == "__main__":
    main()
