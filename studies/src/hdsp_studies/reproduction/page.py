"""Pages made from results: the README of a study, and all claims in one page."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import get_args

from hdsp_studies.reproduction.intervals import NOTE
from hdsp_studies.reproduction.provenance import is_stale
from hdsp_studies.reproduction.results import (
    COMMIT,
    RESULTS,
    finished_rows,
    is_quick,
    missing_units,
    read_rows,
    read_settings,
    wanted_rows,
    with_seeds,
)
from hdsp_studies.reproduction.study import FITS, Finding, Row, Study, Verdict, distinct


def readme(
    study: Study, rows: Sequence[Row], units: Sequence[Row], missing: Sequence[Row], folder: Path
) -> str:
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
    folder : Path
        Folder of the study, with its figure.

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
    numbers = _numbers(study, rows)
    for shown in study.tables(rows):
        numbers += f"\n\n**{shown.title}**\n\n{table(shown.header, shown.body)}"
    keys = {tuple(row[key] for key in units[0]): float(row["seconds"]) for row in rows}
    quick = " --quick" if is_quick(rows) else ""
    return (
        f"# {study.title}\n\n{notes}{_verdicts(study, rows)}\n\n{_picture(study, folder, '')}"
        f"{_folded('The numbers', numbers)}\n\n{study.about} {NOTE}\n\n"
        f"Made by `hdsp reproduce {study.name}{quick}` in {sum(keys.values()):,.0f} seconds, all "
        f"fits added up; the numbers are in `{RESULTS}`, and this page is written from them. "
        f"{_seeds(rows)} Commit: {', '.join(commits_of(rows))}.\n"
    )


def study_rows(study: Study, folder: Path) -> tuple[list[Row], str]:
    """The finished rows of a study in the folder of all studies, and a note on its run."""
    rows: list[Row] = list(read_rows(folder / study.name / RESULTS))
    if not rows:
        return rows, ""
    quick = is_quick(rows)
    settings = with_seeds(read_settings(study, quick, folder / study.name), 1, rows)
    rows = wanted_rows(study, settings, rows)
    missing = missing_units(study, settings, rows)
    note = " (quick run)" if quick else ""
    note += f" (still to come: {still_to_come(missing)})" if missing else ""
    return finished_rows(study, settings, rows), note


def all_findings(study: Study, folder: Path) -> list[tuple[str, Finding]]:
    """Every claim of a study by every fit, with the fit and a note on the run."""
    rows, note = study_rows(study, folder)
    return [
        (f"{title}{note}{_stale(rows)}", found)
        for fit, title in _fits(rows).items()
        for found in study.findings(rows, fit)
    ]


def still_to_come(missing: Sequence[Row]) -> str:
    """Missing units in short: the corpora they belong to with their seeds, or their number."""
    corpora: dict[str, dict[object, None]] = {}
    for unit in missing:
        if "corpus" in unit:
            corpora.setdefault(unit["corpus"], {})[unit["seed"]] = None
    parts = [f"{corpus} ({_listed('seed', seeds)})" for corpus, seeds in corpora.items()]
    return ", ".join(parts) or str(len(missing))


def claims_by_study(studies: Mapping[str, Study], folder: Path, link: str) -> str:
    """All claims with their verdicts, and the figure of each study.

    Parameters
    ----------
    studies : mapping of str to Study
        Studies by name.
    folder : Path
        Folder of the studies' results.
    link : str
        The same folder as seen from the page that shows them.

    Returns
    -------
    str
        Markdown.
    """
    parts = []
    for name, study in studies.items():
        rows, note = study_rows(study, folder)
        title, _, shows = study.title.partition(": ")
        parts += [
            f"### [{title}]({link}/{name}/README.md): {shows}{note}",
            _verdicts(study, rows),
            *([_picture(study, folder / name, f"{link}/{name}/").strip()] if rows else []),
        ]
    return "\n\n".join(part for part in parts if part)


def in_short(studies: Mapping[str, Study], folder: Path) -> str:
    """The claims by verdict at the paper's tolerance, and other verdicts of converged fits."""
    lists: dict[str, list[str]] = {}
    others = []
    for study in studies.values():
        rows, _ = study_rows(study, folder)
        fits = list(_fits(rows))
        for one, last in zip(*(study.findings(rows, f) for f in (fits[0], fits[-1])), strict=True):
            claim = f"{one.claim} ({study.title.partition(':')[0]})"
            agreed = "" if " of " not in one.conclusion else f" [{one.conclusion}]"
            lists.setdefault(one.verdict, []).append(f"{claim}{agreed}")
            if last.verdict != one.verdict:
                others.append(f"{claim}: {last.verdict}")
    total = sum(map(len, lists.values()))
    parts = [
        f"**{verdict.capitalize()}** ({len(lists[verdict])} of {total} claims): "
        f"{'; '.join(lists[verdict])}."
        for verdict in get_args(Verdict)
        if verdict in lists
    ]
    differ = (
        f"Fits that converged have another verdict on {len(others)} claims: {'; '.join(others)}."
    )
    return "\n\n".join([*parts, *([differ] if others else [])])


def _fits(rows: Sequence[Row]) -> dict[str, str]:
    """The fits that rows have, with their titles; the paper's if there are no rows."""
    present = {row.get("fit", "published") for row in rows} or {"published"}
    return {fit: title for fit, title in FITS.items() if fit in present}


def _verdicts(study: Study, rows: Sequence[Row]) -> str:
    """The claims, and whether they hold, by each fit; why not, where they do not."""
    fits = _fits(rows)
    found = {fit: study.findings(rows, fit) for fit in fits}
    body = []
    for place, claim in enumerate(study.claims):
        own = [found[fit][place] for fit in fits]
        held = all(re.match(r"holds( \(|$)|not yet run", one.conclusion) for one in own)
        reason = "" if held or not study.reasons else study.reasons[place]
        body.append([claim, *[f"{one.conclusion}{_stale(rows)}" for one in own], reason])
    titles = [title.capitalize() for title in fits.values()] if len(fits) > 1 else ["Verdict"]
    return table(["The paper", *titles, "Likely reason"], body)


def _stale(rows: Sequence[Row]) -> str:
    """A note if code that decides results has changed since some of the rows."""
    old = [commit for commit in _by(rows, COMMIT) if is_stale(str(commit))]
    return f" (stale: the code has changed since {', '.join(map(str, old))})" if old else ""


def _numbers(study: Study, rows: Sequence[Row]) -> str:
    """What was measured for each claim."""
    parts = []
    for fit, title in _fits(rows).items():
        lines = [
            f"- {one.claim}: *{one.measured or one.verdict}*" for one in study.findings(rows, fit)
        ]
        parts.append("\n".join([f"{title.capitalize()}:\n", *lines]))
    return "\n\n".join(parts)


def _picture(study: Study, folder: Path, link: str) -> str:
    """The figure of a study, if it has one."""
    if not (folder / "figure.svg").is_file():
        return ""
    return f"![{study.title}]({link}figure.svg)\n\n"


def _folded(title: str, body: str) -> str:
    """Text that a reader may open; Markdown needs the empty lines."""
    return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>"


def _seeds(rows: Sequence[Row]) -> str:
    """How many seeds there are, by corpus where that differs, and of which models fewer."""
    if not rows or "seed" not in rows[0]:
        return ""
    n = {c: len(distinct(own, "seed")) for c, own in _by(rows, "corpus").items()}
    same = len(set(n.values())) == 1
    text = str(max(n.values())) if same else ", ".join(f"{c} {k}" for c, k in n.items())
    models = {m: len(distinct(own, "seed")) for m, own in _by(rows, "model").items()}
    fewer = [f"{model} {k}" for model, k in models.items() if k < max(models.values())]
    return f"Seeds: {text}{'; slow models fewer: ' + ', '.join(fewer) if fewer else ''}."


def commits_of(rows: Sequence[Row]) -> list[str]:
    """The commits that measured the rows."""
    return [str(commit) for commit in _by(rows, COMMIT)]


def _by(rows: Sequence[Row], name: str) -> dict[object, list[Row]]:
    result: dict[object, list[Row]] = {}
    for row in rows:
        result.setdefault(row.get(name, ""), []).append(row)
    return result


def _listed(name: str, values: Iterable[object]) -> str:
    shown = [str(value) for value in values]
    return f"{name}{'s' if len(shown) > 1 else ''} {', '.join(shown)}"


def table(header: Sequence[str], body: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *body]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
