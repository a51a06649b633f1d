"""`hdsp prepare` and `hdsp fit`: from files to a stored corpus or a model."""

from argparse import Namespace
from pathlib import Path
from tempfile import TemporaryDirectory

from hdsp.cli import options as opt
from hdsp.cli.output import answer
from hdsp.cli.reading import is_table, prepare_files, read_file

# Of the seconds of a fit, those of the longest stages are printed.
_STAGES_SHOWN = 4
_READING = (opt.FILES, opt.LABELS, opt.FILE, opt.TEXT)


@opt.command(
    *_READING,
    opt.output("FOLDER", "the folder to write", opt.output_folder, required=True),
    opt.option("--like", "MODEL", "count the words of a model, in its order"),
)
def prepare(options: Namespace) -> None:
    """Write documents to a corpus on disk, which commands read part by part.

    hdsp prepare data/*.parquet --tags labels -o corpus/
    hdsp prepare new/*.parquet --tags labels --like model.hdsp -o new-corpus/
    zcat dump.jsonl.gz | hdsp prepare - --format jsonl -o corpus/
    """
    from hdsp.corpus import open_corpus
    from hdsp.corpus.preparing import check_replaceable
    from hdsp.estimator import HDSP

    check_replaceable(Path(options.output))
    like = {} if options.like is None else {"like": HDSP.load(options.like)}
    first, *others = options.files
    if others or is_table(first, options.format):
        prepare_files(options, options.output, **like)
    else:
        read_file(first, options, **like).write(options.output)
    stored = open_corpus(options.output)
    facts = {
        "corpus": options.output,
        "documents": len(stored),
        "words": stored.n_words,
        "tokens": stored.n_tokens,
        "labels": stored.schema.n_labels,
        "parts": len(stored.shards),
    }
    answer(
        options,
        facts,
        f"{options.output}: {len(stored):,} documents, {stored.n_words:,} words, "
        f"{stored.n_tokens:,.0f} tokens, {stored.schema.n_labels:,} labels. Fit them: hdsp fit "
        f"{options.output} -o model.hdsp",
    )


@opt.command(
    *_READING, opt.output("MODEL", "the file to write", opt.output_file, required=True), opt.MODEL
)
def fit(options: Namespace) -> None:
    """Fit a model to documents and write it to a file.

    hdsp fit reviews.parquet --categories department --numeric rating -o model.hdsp
    hdsp fit papers.csv --text abstract --tags keywords --tag-separator ';' -o a.hdsp
    hdsp fit reviews.parquet --categories department --groups reviewer -o model.hdsp
    hdsp fit reviews.parquet --numeric rating --scaling '~ s(rating)' -o curves.hdsp
    hdsp fit reviews.parquet --seeds seeds.json -o steered.hdsp
    hdsp fit reviews.parquet --categories department --content department -o sides.hdsp
    hdsp fit corpus/ -o model.hdsp
    hdsp fit letters/ --metadata letters.csv --categories sender -o letters.hdsp
    hdsp fit corpus/ --inference stochastic -o model.hdsp
    hdsp fit papers.csv --text abstract --categories department --as-published HDSP -o p.hdsp
    """
    from hdsp.checks import count_of
    from hdsp.estimator import HDSP

    first, *others = options.files
    # Several files become a stored corpus next to the output.
    with TemporaryDirectory(prefix=".hdsp-", dir=Path(options.output).resolve().parent) as aside:
        corpus = prepare_files(options, f"{aside}/corpus") if others else read_file(first, options)
        given = opt.chosen(options, opt.MODEL)
        name = given.pop("as_published", None)
        model = (HDSP() if name is None else HDSP.as_published(name)).set_params(**given)
        model.fit(corpus)
        model.save(options.output)
    seconds = {row["stage"]: row["seconds"] for row in model.stages_}
    longest = sorted(seconds, key=lambda stage: -seconds[stage])[:_STAGES_SHOWN]
    stages = ", ".join(f"{stage} {seconds[stage]:.1f}" for stage in longest)
    facts = {
        "model": options.output,
        "documents": len(corpus),
        "words": len(corpus.words),
        "tokens": corpus.n_tokens,
        "labels": len(model.label_names_),
        "topics": model.n_topics_,
        "number": model.number_summary_,
        "passes": model.n_iter_,
        "converged": model.converged_,
        "bound": model.history_[-1]["bound"],
        "seconds": sum(seconds.values()),
        "stages": seconds,
    }
    answer(
        options,
        facts,
        f"{options.output}: {count_of(model.n_topics_, 'topic')} in use, "
        f"{count_of(len(model.label_names_), 'label')}, {model.n_iter_} passes, "
        f"{facts['seconds']:.1f} s (longest: {stages}). See them: hdsp topics {options.output}",
        model.number_summary_,
    )
