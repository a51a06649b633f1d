"""Pages made from results: the README of a study, and the table of all claims."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from hdsp_studies.reproduction.results import (
    RESULTS,
    finished_rows,
    is_quick,
    missing_units,
    read_rows,
    read_settings,
    wanted_rows,
    with_seeds,
)
from hdsp_studies.reproduction.study import Finding, Row, Study


def readme(study: Study, rows: Sequence[Row], units: Sequence[Row], missing: Sequence[Row]) -> str:
    """The page of a study: what the paper claims, what was measured, and whether it holds.

    Parameters
    ----------
    study : Study
        The study.
    rows : sequence of Row
        Its results; all rows of a unit repeat its seconds.
    units : sequence of Row
        All units of the settings.
    missing : sequence of Row
        Those that are not yet measured.

    Returns
    -------
    str
        Markdown.
    """
    notes = ""
    if is_quick(rows):
        notes += (
            "**Quick run.** The numbers below come from the small settings of `--quick`, not from "
            "the full ones.\n\n"
        )
    if missing:
        notes += (
            f"**Unfinished.** {len(units) - len(missing)} of {len(units)} units are measured; "
            f"still to come: {still_to_come(missing)}.\n\n"
        )
    body = table(
        ["The paper", "Here", "Verdict"],
        [[found.claim, found.measured, found.verdict] for found in study.findings(rows)],
    )
    for shown in study.tables(rows):
        body += f"\n\n## {shown.title}\n\n{table(shown.header, shown.body)}"
    spent = {tuple(row[key] for key in units[0]): float(row["seconds"]) for row in rows}
    seconds = sum(spent.values())
    quick = " --quick" if is_quick(rows) else ""
    return (
        f"# {study.title}\n\n{notes}![{study.title}](figure.png)\n\n{body}\n\n{study.about}\n\n"
        f"Made by `hdsp reproduce {study.name}{quick}` in {seconds:,.0f} seconds, all fits added "
        f"up; the numbers are in `{RESULTS}`, and this page is written from them.\n"
    )


def all_findings(studies: Mapping[str, Study], folder: Path) -> list[tuple[Study, str, Finding]]:
    """Every claim of every study, and a note on its run."""
    result = []
    for name, study in studies.items():
        rows: list[Row] = list(read_rows(folder / name / RESULTS))
        note = ""
        if rows:
            quick = is_quick(rows)
            settings = with_seeds(read_settings(study, quick, folder / name), 1, rows)
            rows = wanted_rows(study, settings, rows)
            missing = missing_units(study, settings, rows)
            note += " (quick run)" if quick else ""
            note += f" (still to come: {still_to_come(missing)})" if missing else ""
            rows = finished_rows(study, settings, rows)
        result += [(study, note, finding) for finding in study.findings(rows)]
    return result


def still_to_come(missing: Sequence[Row]) -> str:
    """Missing units in short: the corpora they belong to, or their number."""
    corpora = dict.fromkeys(str(unit["corpus"]) for unit in missing if "corpus" in unit)
    return ", ".join(corpora) or str(len(missing))


def claims_table(studies: Mapping[str, Study], folder: Path, link: str) -> str:
    """The table of all claims.

    Parameters
    ----------
    studies : mapping of str to Study
        Studies by name.
    folder : Path
        Folder of the studies' results.
    link : str
        The same folder as seen from the page that shows the table.

    Returns
    -------
    str
        Markdown.
    """
    return table(
        ["", "The paper", "Here", "Verdict"],
        [
            [
                f"[{study.name}]({link}/{study.name}/README.md)",
                found.claim,
                found.measured + note if found.measured else "",
                found.verdict,
            ]
            for study, note, found in all_findings(studies, folder)
        ],
    )


def table(header: Sequence[str], body: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *body]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
