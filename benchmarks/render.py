"""Write the tables of README.md and docs/ from benchmarks/results/ and reproduction/.

    python benchmarks/render.py

A page names a table by a pair of comments: <!-- table NAME --> and <!-- end -->.
"""

import csv
import re
from pathlib import Path
from statistics import mean

from common import RESULTS

from hdsp_studies.comparison import ORIGINS
from hdsp_studies.reproduction import STUDIES, claims_by_study
from hdsp_studies.reproduction.page import commits_of, in_short, table
from hdsp_studies.reproduction.results import read_rows, read_settings

ROOT = Path(__file__).parent.parent


def rows(name):
    with (RESULTS / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def effects():
    """One row per design and case, with the means of its measures over seeds."""
    cases = {}
    for row in rows("effects"):
        case = cases.setdefault((row["design"], row["case"]), {})
        case.setdefault(row["measure"], []).append(float(row["value"]))
    measures = ["covered", "excludes 0", "half width"]
    intervals = {key: found for key, found in cases.items() if "covered" in found}
    return table(
        ["design", "case", *measures],
        [
            [
                *key,
                *[
                    f"{mean(found[measure]):.{3 if measure == 'half width' else 2}f}"
                    for measure in measures
                ],
            ]
            for key, found in intervals.items()
        ],
    )


def plain(name, columns=None):
    found = rows(name)
    columns = columns or list(found[0])
    return table(columns, [[row[column] for column in columns] for row in found])


def reproduction():
    return claims_by_study(STUDIES, ROOT / "reproduction", "../reproduction")


def short():
    return in_short(STUDIES, ROOT / "reproduction")


def reproduction_time():
    body = []
    for name in STUDIES:
        path = ROOT / "reproduction" / name / "results.csv"
        if path.is_file():
            found = times(name)
            measured = read_rows(path)
            n_seeds = len({row["seed"] for row in measured if "seed" in row}) or ""
            code = ", ".join(commits_of(measured))
            body.append([name, n_seeds, len(found), f"{sum(found):,.0f}", code])
    total = ["together", "", sum(row[2] for row in body)]
    total += [f"{sum(float(row[3].replace(',', '')) for row in body):,.0f}", ""]
    return table(["", "seeds", "fits", "seconds", "commit"], [*body, total])


def times(name):
    """The seconds of every unit of a study; all rows of a unit repeat them."""
    path = ROOT / "reproduction" / name / "results.csv"
    keys = list(STUDIES[name].units(read_settings(STUDIES[name], quick=False))[0])
    found = {tuple(row[key] for key in keys): row["seconds"] for row in read_rows(path)}
    return [float(seconds) for seconds in found.values()]


def corpora():
    return table(["file", "from"], [[f"`{name}.parquet`", text] for name, text in ORIGINS.items()])


def main():
    made = {
        "in_short": short,
        "reproduction": reproduction,
        "reproduction_time": reproduction_time,
        "corpora": corpora,
        "effects": effects,
        # Seconds of other libraries depend on the machine.
        "fits": lambda: plain("fits", ["corpus", "model", "completion", "npmi"]),
    }
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = page.read_text()

        def replace(match):
            name = match[1]
            content = made[name]() if name in made else plain(name)
            return f"<!-- table {name} -->\n\n{content}\n\n<!-- end -->"

        page.write_text(re.sub(r"<!-- table (\w+) -->.*?<!-- end -->", replace, text, flags=re.S))


if __name__ == "__main__":
    main()
