"""A study without a model: squares of numbers, in groups of two."""

from hdsp_studies.reproduction import Finding, Study, drawing

CONFIG = "[full]\nnumbers = [1, 2, 3, 4, 5, 6]\npower = 2\n"


class Squares(Study):
    """Stops at a number that the folder of the corpora holds a file of."""

    name = "squares"
    title = "Squares"
    about = "Of numbers."
    needs_corpora = False
    spans = ("numbers",)

    def units(self, settings):
        return [{"number": number} for number in settings["numbers"]]

    def group(self, unit):
        return (unit["number"] - 1) // 2

    def measure(self, unit, settings, corpora):
        if corpora.path and (corpora.path / str(unit["number"])).is_file():
            raise ArithmeticError(f"stopped at {unit['number']}")
        return [{"value": unit["number"] ** p} for p in range(settings["power"] + 1)]

    def draw(self, rows):
        figure, panels = drawing.axes(1, 1, 2.0, 2.0)
        panels[0, 0].plot([row["value"] for row in rows])
        return figure

    def assess(self, rows):
        return [Finding(claim, "holds") for claim in self.claims]
