"""Pages made from results: the README of a study, and the table of all claims."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from hdsp.reproduction.results import RESULTS, is_quick, read_rows
from hdsp.reproduction.study import Finding, Row, Study


def readme(study: Study, rows: Sequence[Row], keys: Sequence[str]) -> str:
    """What the paper claims, what was measured, whether it holds.

    Parameters
    ----------
    keys : the columns that name a unit, whose rows all give its seconds
    """
    quick = (
        "**Quick run.** The numbers below come from the small settings of `--quick`, not from the "
        "full ones.\n\n"
        if is_quick(rows)
        else ""
    )
    body = table(
        ["The paper", "Here", "Verdict"],
        [[found.claim, found.measured, found.verdict] for found in study.judge(rows)],
    )
    units = {tuple(row[key] for key in keys): float(row["seconds"]) for row in rows}
    seconds = sum(units.values())
    return (
        f"# {study.title}\n\n{quick}![{study.title}](figure.png)\n\n{body}\n\n{study.about}\n\n"
        f"Made by `hdsp reproduce {study.name}{' --quick' if quick else ''}` with the settings in "
        f"`config.toml`, in {seconds:,.0f} seconds of fitting; the numbers are in `{RESULTS}`, and "
        "this page is written from them.\n"
    )


def findings(studies: Mapping[str, Study], folder: Path) -> list[tuple[Study, bool, Finding]]:
    """Every claim of every study, and whether its numbers are of a quick run."""
    result = []
    for name, study in studies.items():
        rows = read_rows(folder / name / RESULTS)
        result += [(study, is_quick(rows), finding) for finding in study.judge(rows)]
    return result


def claims_table(studies: Mapping[str, Study], folder: Path, link: str) -> str:
    """The table of all claims.

    Parameters
    ----------
    folder : of the studies' results
    link : the folder as the page that shows the table refers to it
    """
    return table(
        ["", "The paper", "Here", "Verdict"],
        [
            [
                f"[{study.name}]({link}/{study.name}/README.md)",
                found.claim,
                found.measured + (" (quick run)" if quick else ""),
                found.verdict,
            ]
            for study, quick, found in findings(studies, folder)
        ],
    )


def table(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
