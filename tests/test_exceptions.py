import ast
from pathlib import Path

import hdsp
from hdsp import exceptions

SOURCE = Path(hdsp.__file__).parent
CLASSES = {name: value for name, value in vars(exceptions).items() if isinstance(value, type)}


def test_every_class_is_public_and_described():
    page = (SOURCE.parents[1] / "docs" / "errors.md").read_text(encoding="utf-8")
    for name, value in CLASSES.items():
        assert getattr(hdsp, name) is value
        assert name in hdsp.__all__
        assert f"| `hdsp.{name}` | `{value.__base__.__name__}` |" in page


def test_every_warning_has_a_class_of_its_own():
    general = {"UserWarning", "RuntimeWarning", "Warning"}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "warnings.warn":
                category = ast.unparse(node.args[1])
                assert category not in general, f"{path}, line {node.lineno}"
