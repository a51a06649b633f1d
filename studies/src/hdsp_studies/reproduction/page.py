"""Pages made from results: the README of a study, and all claims in one page."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hdsp_studies.reproduction.intervals import NOTE
from hdsp_studies.reproduction.results import (
    CODE,
    RESULTS,
    finished_rows,
    is_quick,
    missing_units,
    read_rows,
    read_settings,
    wanted_rows,
    with_seeds,
)
from hdsp_studies.reproduction.study import Finding, Row, Study, distinct


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
    found = study.findings(rows)
    numbers = _numbers([(one, "") for one in found])
    for shown in study.tables(rows):
        numbers += f"\n\n**{shown.title}**\n\n{table(shown.header, shown.body)}"
    spent = {tuple(row[key] for key in units[0]): float(row["seconds"]) for row in rows}
    seconds = sum(spent.values())
    quick = " --quick" if is_quick(rows) else ""
    return (
        f"# {study.title}\n\n{notes}{_verdicts(found)}\n\n![{study.title}](figure.png)\n\n"
        f"{_folded('The numbers', numbers)}\n\n{study.about} {NOTE}\n\n"
        f"Made by `hdsp reproduce {study.name}{quick}` in {seconds:,.0f} seconds, all fits added "
        f"up; the numbers are in `{RESULTS}`, and this page is written from them. "
        f"{_seeds(rows)} {_code(rows)}\n"
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
    """Missing units in short: the corpora they belong to with their seeds, or their number."""
    corpora: dict[str, dict[object, None]] = {}
    for unit in missing:
        if "corpus" in unit:
            corpora.setdefault(unit["corpus"], {})[unit["seed"]] = None
    parts = [f"{corpus} ({_listed('seed', seeds)})" for corpus, seeds in corpora.items()]
    return ", ".join(parts) or str(len(missing))


def claims_by_study(studies: Mapping[str, Study], folder: Path, link: str) -> str:
    """All claims with their verdicts, and the figure and the numbers of each study.

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
        found = [(one, note) for _, note, one in all_findings({name: study}, folder)]
        title, _, shows = study.title.partition(": ")
        picture = f"![{study.title}]({link}/{name}/figure.png)"
        parts += [
            f"## [{title}]({link}/{name}/README.md): {shows}",
            _verdicts([one for one, _ in found]),
            *([picture] if (folder / name / "figure.png").is_file() else []),
            _folded("The numbers", _numbers(found)),
        ]
    return "\n\n".join(parts)


def _verdicts(found: Sequence[Finding]) -> str:
    return table(["The paper", "Verdict"], [[one.claim, one.conclusion] for one in found])


def _numbers(found: Sequence[tuple[Finding, str]]) -> str:
    """What was measured for each claim, with a note."""
    return "\n".join(f"- {one.claim}: *{one.measured or one.verdict}*{note}" for one, note in found)


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


def _code(rows: Sequence[Row]) -> str:
    """The versions of the code that measured the rows, with their seeds if there are several."""
    by_code = _by(rows, CODE)
    parts = code_names(rows)
    if len(parts) > 1 and "seed" in rows[0]:
        seeds = [_listed("seed", distinct(own, "seed")) for own in by_code.values()]
        parts = [f"{part} ({own})" for part, own in zip(parts, seeds, strict=True)]
    return f"Code: {'; '.join(parts)}."


def code_names(rows: Sequence[Row]) -> list[str]:
    """The versions of hdsp that measured the rows."""
    return [f"hdsp {code}" if code else "not recorded" for code in _by(rows, CODE)]


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
