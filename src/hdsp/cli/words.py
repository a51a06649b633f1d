"""`hdsp words`: which words labels use beyond their topics, or otherwise in the same topics."""

import argparse
from typing import Any

from hdsp import progress
from hdsp.cli import common
from hdsp.cli.tables import records
from hdsp.progress import printable


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = common.add_command(
        commands,
        "words",
        "print words that labels use beyond their topics",
        (
            "hdsp words model.hdsp --label department",
            "hdsp words sides.hdsp --topic 0",
            "hdsp words sides.hdsp -o words.csv",
        ),
        run,
    )
    common.add_model(parser)
    parser.add_argument(
        "--label", metavar="LABEL", help="a tag or a level, or a column of them (default: all)"
    )
    parser.add_argument("--topic", type=int, metavar="K", help="a topic of a fit with --content")
    parser.add_argument("--level", type=float, default=0.9, help="of the intervals (default 0.9)")
    parser.add_argument("--most", type=int, default=8, help="words printed per label (default 8)")
    common.add_output(parser, None)
    common.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the words that differ most, or write all."""
    common.check_table_output(options.output)
    common.check_counts(options, "most")
    fitted = common.load_fitted(options)
    with progress.task("Comparing words"):
        from hdsp.analysis.topics import top_words
        from hdsp.analysis.words import label_word_columns

        table = label_word_columns(fitted, options.label, options.topic, options.level)
    if common.is_answered(options, table, "words", level=options.level):
        return
    rows = records(table)
    if not rows:
        print("No word differs between groups, as far as the corpus tells.")
        return
    top = [" ".join(own) for own in top_words(fitted, 5)]
    # Without --content, words are those of a label in all topics.
    for topic in dict.fromkeys(row.get("topic") for row in rows):
        indent = "" if topic is None else "  "
        if topic is not None:
            print(printable(f"{topic} · {fitted.topic_names.get(topic) or top[topic]}"))
        here = [row for row in rows if row.get("topic") == topic]
        for label in dict.fromkeys(row["label"] for row in here):
            own = [row for row in here if row["label"] == label]
            more = [row for row in own if row["ratio"] > 1.0][: options.most]
            shown = ", ".join(f"{row['word']} ({row['ratio']:.1f} times)" for row in more)
            print(printable(f"{indent}{label}: {shown or 'no words of its own'}"))
